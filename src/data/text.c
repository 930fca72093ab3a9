/* text.c - text of any format, read by one rank or by all.
 *
 * All ranks together: the bytes of all files are laid end to end and cut into R equal shares. Of a plain file a rank
 * parses the units that begin in its share; of packed files, which can only be read from their beginning, those whose
 * middle is in it. Then all know how many units there are and which of them are whose; a rank drops what it has too
 * much at either end and reads what it lacks. Where units are of about the same length that is a few, and hardly a
 * byte is read twice. Units never travel between ranks.
 *
 * A packed file that is larger than a share is only counted at first, so that no rank holds much more than its own.
 *
 * The threads of a rank share its bytes in the same way. A place in the text is found by marks: every block of text
 * that was read leaves its offset and how many units came before it. */
#include "data/text.h"

#include "data/shard.h"

#include <string.h>

#define STRIP ((uint64_t)1 << 20) /* bytes that are worth a thread */

typedef struct mark {
    uint64_t part, offset;
    uint64_t units; /* of those of this rank, so many begin before */
} mark;

typedef struct marks {
    mark *at;
    uint64_t count, bytes;
} marks;

static bool marks_add(marks *m, mark x, bda_error *err)
{
    if ((m->count + 1) * sizeof *m->at > m->bytes) {
        uint64_t bytes = m->bytes ? m->bytes * 2 : 4096;
        mark *at = mem_resize(m->at, m->bytes, bytes, "places in the text", err);
        if (!at)
            return false;
        m->at = at;
        m->bytes = bytes;
    }
    m->at[m->count++] = x;
    return true;
}

/* The last mark that is not behind the unit. */
static mark marks_find(const marks *m, uint64_t unit)
{
    uint64_t low = 0, high = m->count;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (m->at[middle].units <= unit)
            low = middle;
        else
            high = middle;
    }
    return m->at[low];
}

/* What one thread reads, and where it puts it. */
typedef struct reader {
    const format *format;
    const parts *parts;
    void *sink;
    marks *places; /* NULL: none are kept */
    uint64_t bytes_read;
} reader;

/* ---- one file --------------------------------------------------------------------------------------------- */

/* A block of text, and how many lines came before it (known only where the source cannot be read again). */
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

/* What to parse of a part: `most` units behind the first `skip` of those that begin in [from, to). */
typedef struct range {
    uint64_t part, from, to, skip, most;
} range;

static bool parse_block(reader *r, source *s, const block *b, range *of, uint64_t end, bda_error *err)
{
    const format *f = r->format;
    const char *wanted = b->text, *stop = b->text + b->length, *where = NULL;
    if (of->skip > 0) {
        uint64_t held = f->count(b->text, b->length), passed = held < of->skip ? held : of->skip;
        wanted = f->skip(b->text, stop, passed);
        of->skip -= passed;
    }
    bool ok =
        wanted == stop || f->parse(r->sink, wanted, (uint64_t)(stop - wanted), end - f->held(r->sink), &where, err);
    return ok || (where ? blame(s, b, where, err) : false);
}

/* Tells the sink the header, which is the first line of the block, and takes it off. */
static bool take_header(reader *r, source *s, block *b, bda_error *err)
{
    const char *behind = lines_after(b->text, b->text + b->length), *where = NULL;
    const uint64_t length = (uint64_t)(behind - b->text);
    if (!r->format->header(r->sink, b->text, length, &where, err))
        return where ? blame(s, b, where, err) : false;
    b->text = behind;
    b->length -= length;
    b->offset += length;
    b->lines_before++;
    return true;
}

/* Opens the text behind the header, where the format has one. That of a stream comes with its first block. */
static bool open_lines(reader *r, source *s, range of, lines *l, bda_error *err)
{
    if (r->format->header && s->seekable) {
        block head = {0};
        bool ok = lines_open(l, s, LINES_ONE, 0, 1, err) &&
                  lines_next(l, &head.text, &head.length, &head.offset, err) &&
                  (head.length == 0 || take_header(r, s, &head, err));
        lines_close(l);
        if (!ok)
            return false;
        of.from = of.from > head.offset ? of.from : head.offset;
    }
    return lines_open(l, s, r->format->cut_at, of.from, of.to, err);
}

static bool parse_source(reader *r, source *s, range of, bda_error *err)
{
    lines l = {0};
    block here = {0};
    const uint64_t begun = s->bytes_read;
    bool ok = open_lines(r, s, of, &l, err), heads = r->format->header && !s->seekable;
    uint64_t first = r->format->held(r->sink), end = of.most < UINT64_MAX - first ? first + of.most : UINT64_MAX;
    while (ok && r->format->held(r->sink) < end &&
           (ok = lines_next(&l, &here.text, &here.length, &here.offset, err)) && here.length > 0) {
        mark place = {of.part, here.offset, r->format->held(r->sink)};
        ok = !heads || take_header(r, s, &here, err);
        heads = false;
        ok = ok && (!r->places || marks_add(r->places, place, err)) && parse_block(r, s, &here, &of, end, err);
        here.lines_before += s->seekable ? 0 : lines_count(here.text, here.length);
    }
    lines_close(&l);
    r->bytes_read += s->bytes_read - begun;
    return ok;
}

static bool parse(reader *r, range of, bda_error *err)
{
    source own = {.fd = -1}, *s = parts_source(r->parts, of.part, &own, err);
    bool ok = s && parse_source(r, s, of, err);
    source_close(&own);
    return ok;
}

/* Adds the units of a range to those counted so far. */
static bool count(reader *r, range of, uint64_t *units, bda_error *err)
{
    source own = {.fd = -1}, *s = parts_source(r->parts, of.part, &own, err);
    lines l = {0};
    bool ok = s && open_lines(r, s, of, &l, err);
    const char *text;
    uint64_t length, offset;
    while (ok && (ok = lines_next(&l, &text, &length, &offset, err)) && length > 0) {
        ok = marks_add(r->places, (mark){of.part, offset, *units}, err);
        *units += r->format->count(text, length);
    }
    lines_close(&l);
    r->bytes_read += own.bytes_read;
    source_close(&own);
    return ok;
}

/* ---- a share of all files --------------------------------------------------------------------------------- */

/* Is a part read as a whole, from its beginning? */
static bool is_whole(const part *x)
{
    return x->stream || x->packing != SOURCE_PLAIN;
}

/* What of a part is in the share [from, to) of all bytes. */
static bool part_of_share(const parts *p, uint64_t k, uint64_t from, uint64_t to, range *of)
{
    const part *x = &p->at[k];
    const uint64_t end = x->begin + x->bytes, middle = x->begin + x->bytes / 2;
    if (is_whole(x)) {
        *of = (range){k, 0, UINT64_MAX, 0, UINT64_MAX};
        return middle >= from && middle < to;
    }
    const uint64_t first = from > x->begin ? from : x->begin, last = to < end ? to : end;
    *of = (range){k, first - x->begin, last - x->begin, 0, UINT64_MAX};
    return first < last;
}

static bool parse_share(reader *r, uint64_t from, uint64_t to, bda_error *err)
{
    range of;
    for (uint64_t k = 0; k < r->parts->count; k++)
        if (part_of_share(r->parts, k, from, to, &of) && !parse(r, of, err))
            return false;
    return true;
}

/* What one of several threads reads. */
typedef struct strip {
    reader reader;
    marks places;
    bool ok;
    bda_error err;
} strip;

/* Puts what a strip has read behind what r has; the first one has read into r->sink itself. */
static bool join_strip(reader *r, strip *x, bool first, bda_error *err)
{
    if (!x->ok)
        return err_set(err, x->err.status, "%s", x->err.text);
    const uint64_t before = first ? 0 : r->format->held(r->sink);
    for (uint64_t i = 0; r->places && i < x->places.count; i++) {
        const mark m = x->places.at[i];
        if (!marks_add(r->places, (mark){m.part, m.offset, before + m.units}, err))
            return false;
    }
    return first || r->format->join(r->sink, x->reader.sink, false, err);
}

/* The share [from, to): threads share it out among them as ranks do. */
static bool parse_strips(reader *r, uint64_t from, uint64_t to, int threads, bda_error *err)
{
    const format *f = r->format;
    arena memory = {0};
    strip *x = ARENA_TAKE(&memory, strip, (uint64_t)threads, err);
    char *sink = ARENA_TAKE(&memory, char, (uint64_t)threads * f->sink_bytes, err);
    bool ok = x && sink;
    if (ok) {
#pragma omp parallel for num_threads(threads) schedule(static, 1)
        for (int t = 0; t < threads; t++) {
            strip *own = &x[t];
            own->reader = (reader){f, r->parts, t == 0 ? r->sink : sink + (uint64_t)t * f->sink_bytes,
                                   r->places ? &own->places : NULL, 0};
            if (t > 0)
                f->like(own->reader.sink, r->sink);
            own->ok = parse_share(&own->reader, from + comm_first_block(to - from, t, threads),
                                  from + comm_first_block(to - from, t + 1, threads), &own->err);
        }
        for (int t = 0; t < threads; t++) {
            ok = ok && join_strip(r, &x[t], t == 0, err);
            r->bytes_read += x[t].reader.bytes_read;
            if (t > 0)
                f->close(x[t].reader.sink);
            mem_free(x[t].places.at, x[t].places.bytes);
        }
    }
    arena_free(&memory);
    return ok;
}

/* A stream can be read by one thread only, and comes in its turn. */
static bool has_stream(const parts *p)
{
    for (uint64_t k = 0; k < p->count; k++)
        if (p->at[k].stream)
            return true;
    return false;
}

static bool parse_threaded(reader *r, uint64_t from, uint64_t to, int threads, bda_error *err)
{
    if (threads < 2 || has_stream(r->parts) || to - from < (uint64_t)threads * STRIP)
        return parse_share(r, from, to, err);
    return parse_strips(r, from, to, threads, err);
}

bool text_look(const format *f, parts *from, int rank, int size, int threads, void *sink, bda_error *err)
{
    reader r = {f, from, sink, NULL, 0};
    bool ok = parse_threaded(&r, comm_first_block(from->bytes, rank, size),
                             comm_first_block(from->bytes, rank + 1, size), threads, err);
    from->bytes_read += r.bytes_read;
    return ok;
}

bool text_read(const format *f, parts *from, int threads, void *sink, bda_error *err)
{
    return text_look(f, from, 0, 1, threads, sink, err);
}

/* ---- all ranks together ----------------------------------------------------------------------------------- */

/* Does this rank only count at first, for a packed file that is larger than a share is in its own? */
static bool only_counts(const parts *p, int rank, int size)
{
    const uint64_t from = comm_first_block(p->bytes, rank, size), to = comm_first_block(p->bytes, rank + 1, size);
    range of;
    for (uint64_t k = 0; k < p->count; k++)
        if (is_whole(&p->at[k]) && p->at[k].bytes > p->bytes / (uint64_t)size && part_of_share(p, k, from, to, &of))
            return true;
    return false;
}

static bool count_share(reader *r, uint64_t from, uint64_t to, uint64_t *units, bda_error *err)
{
    range of;
    for (uint64_t k = 0; k < r->parts->count; k++)
        if (part_of_share(r->parts, k, from, to, &of) && !count(r, of, units, err))
            return false;
    return true;
}

/* What a rank holds and what it wants, as everybody can work out from the counts. */
typedef struct shares {
    uint64_t held[2], wanted[2]; /* units [0] up to [1] */
} shares;

static shares shares_of(const parts *p, const uint64_t *counts, uint64_t blocks, int rank, int size)
{
    shares x = {0};
    uint64_t before = 0, all = 0;
    for (int r = 0; r < size; r++) {
        before += r < rank ? counts[r] : 0;
        all += counts[r];
    }
    data_share(all, blocks, rank, size, &x.wanted[0], &x.wanted[1]);
    bool none = counts[rank] == 0 || only_counts(p, rank, size);
    x.held[0] = none ? x.wanted[0] : before;
    x.held[1] = none ? x.wanted[0] : before + counts[rank];
    return x;
}

/* Units before and behind what is held. */
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

/* Where units are that a rank lacks: `skip` units behind a mark. */
typedef struct place {
    uint64_t part, offset, skip;
} place;

/* Where every rank's missing units begin: the rank that read them knows. at: [size][2], front and back. */
static void locate(comm *c, const parts *p, const uint64_t *counts, uint64_t blocks, const marks *mine, place *at)
{
    int rank = bda_comm_rank(c), size = bda_comm_size(c);
    uint64_t first = 0;
    for (int r = 0; r < rank; r++)
        first += counts[r];
    memset(at, 0, 2 * (uint64_t)size * sizeof *at);
    for (int r = 0; r < size; r++) {
        shares x = shares_of(p, counts, blocks, r, size);
        uint64_t wants[2] = {x.wanted[0], back_begins(&x)}, missing[2] = {missing_front(&x), missing_back(&x)};
        for (int side = 0; side < 2; side++) {
            if (missing[side] == 0 || wants[side] < first || wants[side] >= first + counts[rank])
                continue;
            mark m = marks_find(mine, wants[side] - first);
            at[2 * r + side] = (place){m.part, m.offset, wants[side] - first - m.units};
        }
    }
    comm_sum_counts(c, (uint64_t *)at, 2 * size * (int)(sizeof *at / sizeof(uint64_t)));
}

/* So many units from a place on, from as many parts as it takes. */
static bool parse_from(reader *r, place at, uint64_t units, bda_error *err)
{
    const uint64_t end = r->format->held(r->sink) + units;
    for (uint64_t k = at.part; k < r->parts->count && r->format->held(r->sink) < end; k++) {
        const bool first = k == at.part;
        range of = {k, first ? at.offset : 0, UINT64_MAX, first ? at.skip : 0, end - r->format->held(r->sink)};
        if (!parse(r, of, err))
            return false;
    }
    return true;
}

/* Drops and reads, until the units are those of the rank. */
static bool settle(reader *r, const shares *x, const place *at, bda_error *err)
{
    const format *f = r->format;
    uint64_t first = x->wanted[0] > x->held[0] ? x->wanted[0] : x->held[0];
    uint64_t end = x->wanted[1] < x->held[1] ? x->wanted[1] : x->held[1];
    if (f->held(r->sink) > 0)
        f->cut(r->sink, first < end ? first - x->held[0] : 0, first < end ? end - x->held[0] : 0);
    bool ok = true;
    if (missing_front(x) > 0) {
        arena memory = {0};
        reader front = {f, r->parts, ARENA_TAKE(&memory, char, f->sink_bytes, err), NULL, 0};
        ok = front.sink != NULL;
        if (ok) {
            f->like(front.sink, r->sink);
            ok = parse_from(&front, at[0], missing_front(x), err) && f->join(r->sink, front.sink, true, err);
            f->close(front.sink);
            r->bytes_read += front.bytes_read;
        }
        arena_free(&memory);
    }
    r->places = NULL;
    if (ok && missing_back(x) > 0)
        ok = parse_from(r, at[1], missing_back(x), err);
    if (ok && f->held(r->sink) != x->wanted[1] - x->wanted[0])
        ok = err_set(err, BDA_FAILED, "%s: changed while it was read", r->parts->at[at[1].part].path);
    return ok;
}

bool text_read_shared(comm *c, const format *f, parts *from, uint64_t blocks, int threads, void *sink, bda_error *err)
{
    int rank = bda_comm_rank(c), size = bda_comm_size(c);
    marks places = {0};
    reader r = {f, from, sink, &places, 0};
    arena memory = {0};
    uint64_t *counts = ARENA_TAKE(&memory, uint64_t, (uint64_t)size, err);
    place *at = ARENA_TAKE(&memory, place, 2 * (uint64_t)size, err);
    uint64_t mine = 0, begin = comm_first_block(from->bytes, rank, size);
    const uint64_t end = comm_first_block(from->bytes, rank + 1, size);
    bool ok = counts && at;
    if (ok && only_counts(from, rank, size)) {
        ok = count_share(&r, begin, end, &mine, err);
    } else if (ok) {
        if (rank > 0 && f->expect)
            f->expect(sink, end - begin);
        ok = parse_threaded(&r, begin, end, threads, err);
        mine = f->held(sink);
    }
    ok = comm_agree(c, ok, err);
    if (ok) {
        comm_gather_counts(c, mine, counts);
        locate(c, from, counts, blocks, &places, at);
        shares x = shares_of(from, counts, blocks, rank, size);
        ok = settle(&r, &x, at + 2 * rank, err);
    }
    from->bytes_read += r.bytes_read;
    mem_free(places.at, places.bytes);
    arena_free(&memory);
    return ok;
}
