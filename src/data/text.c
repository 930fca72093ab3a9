/* text.c - LIBSVM text, read by one rank or by all.
 *
 * All ranks of one plain file: each parses the lines that begin in its 1/R of the bytes, in one pass. Then all know
 * how many instances there are and which of them are whose; a rank drops what it has too much at either end and reads
 * what it lacks. Where rows are of about the same length that is a few, and no byte but theirs is read twice. Rows
 * never travel between ranks.
 *
 * Packed text can only be read from its beginning. Rank 0 unpacks and counts first, then every rank unpacks up to the
 * end of its own rows and parses those.
 *
 * The threads of a rank share its bytes in the same way. A place in the text is found by marks: every block of lines
 * that was read leaves its offset and how many instances came before it. */
#include "base/memory.h"
#include "data/libsvm.h"
#include "data/lines.h"
#include "data/shard.h"

#include <string.h>

#define STRIP ((uint64_t)1 << 20) /* bytes that are worth a thread */

/* With rows of about the same length a rank's instances begin close to its bytes. If they begin before, the cells
 * that it lacks find room in front of those it has read: for a 32nd of what so many bytes can hold, at 4 bytes a
 * cell, in whole huge pages, so that no memory is taken unless it is used. Little text is moved as fast. */
#define BYTES_PER_GAP_CELL 128
#define GAP_STEP ((uint64_t)1 << 19) /* cells in a huge page, 4 bytes each */

typedef struct mark {
    uint64_t offset, instances; /* of the instances of this part, so many begin before */
} mark;

typedef struct marks {
    mark *at;
    uint64_t count, bytes;
} marks;

static bool marks_add(marks *m, uint64_t offset, uint64_t instances, bda_error *err)
{
    if ((m->count + 1) * sizeof *m->at > m->bytes) {
        uint64_t bytes = m->bytes ? m->bytes * 2 : 4096;
        mark *at = mem_resize(m->at, m->bytes, bytes, "places in the text", err);
        if (!at)
            return false;
        m->at = at;
        m->bytes = bytes;
    }
    m->at[m->count++] = (mark){offset, instances};
    return true;
}

/* The last mark that is not behind the instance. */
static mark marks_find(const marks *m, uint64_t instance)
{
    uint64_t low = 0, high = m->count;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (m->at[middle].instances <= instance)
            low = middle;
        else
            high = middle;
    }
    return m->at[low];
}

/* A block of lines, and how many lines came before it (known only where the source cannot be read again). */
typedef struct block {
    const char *text;
    uint64_t length, offset, lines_before;
} block;

/* Puts file and line before the sentence. */
static bool blame(source *s, const block *b, const char *where, bda_error *err)
{
    bda_error reason = *err, unreadable = {0};
    uint64_t inside = (uint64_t)(where - b->text), number = b->lines_before + lines_count(b->text, inside) + 1;
    err_clear(err);
    if (s->seekable && !lines_number(s, b->offset + inside, &number, &unreadable))
        return err_set(err, BDA_FAILED, "%s", unreadable.text);
    return err_set(err, BDA_FAILED, "%s, line %llu: %s", s->path, (unsigned long long)number, reason.text);
}

/* What to parse: `most` instances behind the first `skip` of the lines that begin in [from, to). */
typedef struct range {
    uint64_t from, to, skip, most;
} range;

static bool parse(source *s, libsvm *parser, builder *b, range r, marks *places, bda_error *err)
{
    lines l;
    block here = {0};
    bool ok = lines_open(&l, s, r.from, r.to, err);
    uint64_t first = b->count, end = r.most < UINT64_MAX - first ? first + r.most : UINT64_MAX;
    while (ok && b->count < end && (ok = lines_next(&l, &here.text, &here.length, &here.offset, err)) &&
           here.length > 0) {
        ok = !places || marks_add(places, here.offset, b->count - first, err);
        const char *wanted = here.text, *stop = here.text + here.length;
        if (r.skip > 0) {
            uint64_t held = libsvm_count(here.text, here.length), passed = held < r.skip ? held : r.skip;
            wanted = libsvm_skip(here.text, stop, passed);
            r.skip -= passed;
        }
        if (ok && wanted < stop)
            ok = libsvm_parse(parser, b, wanted, (uint64_t)(stop - wanted), end - b->count, err);
        if (!ok && parser->where)
            blame(s, &here, parser->where, err);
        here.lines_before += s->seekable ? 0 : lines_count(here.text, here.length);
    }
    lines_close(&l);
    return ok;
}

/* What one thread reads. */
typedef struct strip {
    source source;
    libsvm parser;
    builder rows;
    marks places;
    bool ok;
    bda_error err;
} strip;

static bool join_strip(strip *x, libsvm *parser, builder *b, marks *places, bda_error *err)
{
    if (!x->ok)
        return err_set(err, x->err.status, "%s", x->err.text);
    parser->features = x->parser.features > parser->features ? x->parser.features : parser->features;
    parser->reordered |= x->parser.reordered;
    for (uint64_t i = 0; places && i < x->places.count; i++)
        if (!marks_add(places, x->places.at[i].offset, b->count + x->places.at[i].instances, err))
            return false;
    return builder_join(b, &x->rows, false, err);
}

/* All lines that begin in [from, to): threads share them as ranks share a file, by bytes. */
static bool parse_strips(source *s, libsvm *parser, builder *b, uint64_t from, uint64_t to, int threads,
                         marks *places, bda_error *err)
{
    if (threads < 2 || s->packing != SOURCE_PLAIN || !s->seekable || to - from < (uint64_t)threads * STRIP)
        return parse(s, parser, b, (range){from, to, 0, UINT64_MAX}, places, err);
    arena memory = {0};
    strip *x = ARENA_TAKE(&memory, strip, (uint64_t)threads, err);
    if (!x)
        return false;
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int t = 0; t < threads; t++) {
        range r = {from + comm_first_block(to - from, t, threads), from + comm_first_block(to - from, t + 1, threads),
                   0, UINT64_MAX};
        x[t].source = *s;
        x[t].parser.zero_based = parser->zero_based;
        x[t].rows.gap_cells = t == 0 ? b->gap_cells : 0; /* its rows will be the first of b */
        x[t].ok = parse(&x[t].source, &x[t].parser, &x[t].rows, r, places ? &x[t].places : NULL, &x[t].err);
    }
    bool ok = true;
    for (int t = 0; t < threads; t++) {
        ok = ok && join_strip(&x[t], parser, b, places, err);
        s->bytes_read += x[t].source.bytes_read;
        libsvm_free(&x[t].parser);
        builder_free(&x[t].rows);
        mem_free(x[t].places.at, x[t].places.bytes);
    }
    arena_free(&memory);
    return ok;
}

static bool count(source *s, marks *places, uint64_t *instances, bda_error *err)
{
    lines l;
    bool ok = lines_open(&l, s, 0, UINT64_MAX, err);
    const char *text;
    uint64_t length, offset;
    *instances = 0;
    while (ok && (ok = lines_next(&l, &text, &length, &offset, err)) && length > 0) {
        ok = marks_add(places, offset, *instances, err);
        *instances += libsvm_count(text, length);
    }
    lines_close(&l);
    return ok;
}

static void take_parser(shard *to, libsvm *parser, const source *s)
{
    to->features = parser->features;
    to->reordered = parser->reordered;
    to->bytes_read += s->bytes_read;
    libsvm_free(parser);
}

bool text_read(source *s, const data_request *request, shard *to, bda_error *err)
{
    libsvm parser = {.zero_based = request->zero_based};
    bool plain = s->seekable && s->packing == SOURCE_PLAIN;
    bool ok = parse_strips(s, &parser, &to->rows, 0, plain ? s->size : UINT64_MAX, request->threads, NULL, err);
    take_parser(to, &parser, s);
    return ok;
}

/* What a rank holds and what it wants, as everybody can work out from the counts. */
typedef struct shares {
    uint64_t held[2], wanted[2]; /* instances [0] up to [1] */
} shares;

static shares shares_of(const source *s, const uint64_t *counts, uint64_t blocks, int rank, int size)
{
    shares x = {0};
    uint64_t before = 0, all = 0;
    for (int r = 0; r < size; r++) {
        before += r < rank ? counts[r] : 0;
        all += counts[r];
    }
    shard_range(all, blocks, rank, size, &x.wanted[0], &x.wanted[1]);
    bool packed = s->packing != SOURCE_PLAIN;
    x.held[0] = packed ? x.wanted[0] : before;
    x.held[1] = packed ? x.wanted[0] : before + counts[rank];
    return x;
}

/* Instances before and behind what is held. */
static uint64_t missing_front(const shares *x)
{
    uint64_t end = x->held[0] < x->wanted[1] ? x->held[0] : x->wanted[1];
    return end > x->wanted[0] ? end - x->wanted[0] : 0;
}

static uint64_t back_begins(const shares *x)
{
    return x->held[1] > x->wanted[0] ? x->held[1] : x->wanted[0];
}

static uint64_t missing_back(const shares *x)
{
    return x->wanted[1] > back_begins(x) ? x->wanted[1] - back_begins(x) : 0;
}

/* Where every rank's missing instances begin: the rank that read them knows. place: [size][4], offset and instances
 * to skip, of the front and of the back. */
static void locate(comm *c, const source *s, const uint64_t *counts, uint64_t blocks, const marks *mine,
                   uint64_t *place)
{
    int rank = bda_comm_rank(c), size = bda_comm_size(c);
    uint64_t first = 0;
    for (int r = 0; r < rank; r++)
        first += counts[r];
    memset(place, 0, 4 * (uint64_t)size * sizeof *place);
    for (int r = 0; r < size; r++) {
        shares x = shares_of(s, counts, blocks, r, size);
        uint64_t wants[2] = {x.wanted[0], back_begins(&x)}, missing[2] = {missing_front(&x), missing_back(&x)};
        for (int side = 0; side < 2; side++) {
            if (missing[side] == 0 || wants[side] < first || wants[side] >= first + counts[rank])
                continue;
            mark m = marks_find(mine, wants[side] - first);
            place[4 * r + 2 * side] = m.offset;
            place[4 * r + 2 * side + 1] = wants[side] - first - m.instances;
        }
    }
    comm_sum_counts(c, place, 4 * size);
}

/* Drops and reads, until the rows are those of the rank. */
static bool settle(source *s, libsvm *parser, builder *b, const shares *x, const uint64_t *place, bda_error *err)
{
    uint64_t first = x->wanted[0] > x->held[0] ? x->wanted[0] : x->held[0];
    uint64_t end = x->wanted[1] < x->held[1] ? x->wanted[1] : x->held[1];
    if (b->count > 0)
        builder_cut(b, first < end ? first - x->held[0] : 0, first < end ? end - x->held[0] : 0);
    builder front = {0};
    bool ok = true;
    if (missing_front(x) > 0)
        ok = parse(s, parser, &front, (range){place[0], UINT64_MAX, place[1], missing_front(x)}, NULL, err) &&
             builder_join(b, &front, true, err);
    if (ok && missing_back(x) > 0)
        ok = parse(s, parser, b, (range){place[2], UINT64_MAX, place[3], missing_back(x)}, NULL, err);
    builder_free(&front);
    if (ok && b->count != x->wanted[1] - x->wanted[0])
        ok = err_set(err, BDA_FAILED, "%s: changed while it was read", s->path);
    return ok;
}

bool text_read_shared(comm *c, source *s, const data_request *request, shard *to, bda_error *err)
{
    int rank = bda_comm_rank(c), size = bda_comm_size(c);
    libsvm parser = {.zero_based = request->zero_based};
    marks places = {0};
    arena memory = {0};
    uint64_t *counts = ARENA_TAKE(&memory, uint64_t, (uint64_t)size, err);
    uint64_t *place = ARENA_TAKE(&memory, uint64_t, 4 * (uint64_t)size, err);
    uint64_t mine = 0;
    bool ok = counts && place;
    if (ok && !s->seekable)
        ok = err_set(err, BDA_FAILED, "%s: is not a regular file, so that several ranks cannot share it", s->path);
    if (ok && s->packing != SOURCE_PLAIN) {
        ok = rank > 0 || count(s, &places, &mine, err);
    } else if (ok) {
        uint64_t from = comm_first_block(s->size, rank, size), end = comm_first_block(s->size, rank + 1, size);
        to->rows.gap_cells = rank > 0 ? (end - from) / BYTES_PER_GAP_CELL / GAP_STEP * GAP_STEP : 0;
        ok = parse_strips(s, &parser, &to->rows, from, end, request->threads, &places, err);
        mine = to->rows.count;
    }
    ok = comm_agree(c, ok, err);
    if (ok) {
        comm_gather_counts(c, mine, counts);
        locate(c, s, counts, request->blocks, &places, place);
        shares x = shares_of(s, counts, request->blocks, rank, size);
        ok = settle(s, &parser, &to->rows, &x, place + 4 * rank, err);
    }
    take_parser(to, &parser, s);
    mem_free(places.at, places.bytes);
    arena_free(&memory);
    return ok;
}
