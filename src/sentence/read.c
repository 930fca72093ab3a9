/* read.c - see read.h.
 *
 * All files are one text, one behind the other; the end of a file ends a sentence, as an empty line does, and where
 * there is none one is added. A rank's part of a plain file ends with the first empty line that begins at its share of
 * the bytes or later, so that the next rank's begins there. Then all know how many sentences everybody has, and the text
 * of those that another rank wants goes there: the text alone, before anything of it is parsed. Packed text has to be
 * unpacked from its beginning: every rank does so twice, to count and to take its own. */
#include "sentence/read.h"

#include "data/data.h"
#include "data/lines.h"
#include "data/listing.h"
#include "data/parts.h"
#include "data/paths.h"

#include <stdio.h>
#include <string.h>

typedef struct text {
    char *at;
    uint64_t length, bytes;
} text;

static bool text_room(text *t, uint64_t more, bda_error *err)
{
    if (t->length + more <= t->bytes)
        return true;
    uint64_t bytes = t->bytes * 2 > t->length + more ? t->bytes * 2 : t->length + more;
    char *at = mem_resize(t->at, t->bytes, bytes, "text", err);
    if (!at)
        return false;
    t->at = at;
    t->bytes = bytes;
    return true;
}

static bool text_add(text *t, const char *from, uint64_t length, bda_error *err)
{
    if (!text_room(t, length, err))
        return false;
    memcpy(t->at + t->length, from, length);
    t->length += length;
    return true;
}

static void text_free(text *t)
{
    mem_free(t->at, t->bytes);
    *t = (text){0};
}

/* Behind the first empty line that begins at least `skip` bytes into the block; NULL: there is none. */
static const char *behind_blank_line(const char *block, uint64_t length, uint64_t skip)
{
    const char *end = block + length, *p = block;
    if (skip > 0) {
        const char *newline = skip <= length ? memchr(block + skip - 1, '\n', length - skip + 1) : NULL;
        if (!newline)
            return NULL;
        p = newline + 1;
    }
    for (; p < end; p = (const char *)memchr(p, '\n', (size_t)(end - p)) + 1)
        if (corpus_blank_line(p))
            return (const char *)memchr(p, '\n', (size_t)(end - p)) + 1;
    return NULL;
}

/* The text from behind the first empty line at or after `from` (0: from the beginning) to that at or after `to`. */
static bool read_part(source *s, uint64_t from, uint64_t to, text *t, bda_error *err)
{
    lines l;
    const char *block;
    uint64_t length, offset;
    bool ok = lines_open(&l, s, LINES_ONE, from, UINT64_MAX, err), begun = from == 0, ended = from >= to;
    while (ok && !ended && (ok = lines_next(&l, &block, &length, &offset, err)) && length > 0) {
        const char *p = block, *end = block + length, *stop = end;
        if (!begun && !(p = behind_blank_line(block, length, 0)))
            continue;
        const char *last = to < UINT64_MAX && offset + length > to
                               ? behind_blank_line(block, length, to > offset ? to - offset : 0)
                               : NULL;
        begun = true;
        if (last) {
            stop = last;
            ended = true;
        }
        ok = stop <= p || text_add(t, p, (uint64_t)(stop - p), err);
    }
    lines_close(&l);
    return ok;
}

/* Sentences of a text that comes in blocks of lines. */
typedef struct counter {
    corpus_form form;
    bool known, tokens;  /* known: the form; tokens: of the sentence that has begun */
    uint64_t first, end; /* sentences to keep: [first, end); those before the last are complete */
    uint64_t count;      /* sentences that have ended */
    uint64_t lines;      /* before the first that is kept */
} counter;

/* A line belongs to the sentence that has begun or will begin next. */
static bool count_line(counter *k, const char *p, const char *stop)
{
    bool blank = corpus_blank_line(p), mine = k->count >= k->first && k->count < k->end;
    k->lines += k->count < k->first;
    if (!blank && !k->known)
        k->known = corpus_form_of(p, stop + 1, &k->form);
    if (!blank && !(k->form == CORPUS_CONLLU && *p == '#'))
        k->tokens = true;
    if (blank && k->tokens) {
        k->count++;
        k->tokens = false;
    }
    return mine;
}

/* What of the text this rank has, and how many lines each file has: [files], here or altogether. */
typedef struct reading {
    parts from;
    text text;
    uint64_t *lines;
    uint64_t lines_before; /* the text, in all files */
} reading;

/* Counts the lines of a block, and adds to t those that are wanted: they follow each other. */
static bool take_block(counter *k, const char *block, uint64_t length, text *t, bda_error *err)
{
    const char *stop, *end = block + length, *from = NULL, *behind = NULL;
    for (const char *p = block; p < end; p = stop + 1) {
        stop = memchr(p, '\n', (size_t)(end - p));
        if (!count_line(k, p, stop))
            continue;
        from = from ? from : p;
        behind = stop + 1;
    }
    return !t || !from || text_add(t, from, (uint64_t)(behind - from), err);
}

/* Is the last line of a text that ends in a newline empty? */
static bool ends_empty(const char *text, uint64_t length)
{
    uint64_t at = length - 1;
    while (at > 0 && text[at - 1] != '\n')
        at--;
    return corpus_blank_line(text + at);
}

/* Unpacks everything of a file. */
static bool take_packed(reading *r, uint64_t file, counter *k, text *t, bda_error *err)
{
    source own = {.fd = -1}, *s = parts_source(&r->from, file, &own, err);
    lines l;
    const char *block;
    uint64_t length, offset;
    bool closed = true, ok = s && source_seek(s, 0, err) && lines_open(&l, s, LINES_ONE, 0, UINT64_MAX, err);
    if (ok) {
        r->lines[file] = 0;
        while (ok && (ok = lines_next(&l, &block, &length, &offset, err)) && length > 0) {
            ok = take_block(k, block, length, t, err);
            closed = ends_empty(block, length);
            r->lines[file] += lines_count(block, length);
        }
        if (ok && !closed && file + 1 < r->from.count) {
            ok = take_block(k, "\n", 1, t, err);
            r->lines[file]++;
        }
        lines_close(&l);
    }
    r->from.bytes_read += own.bytes_read;
    source_close(&own);
    return ok;
}

/* Adds to t what belongs to the sentences [first, end), and what comes behind the last. */
static bool read_packed(reading *r, counter *k, text *t, bda_error *err)
{
    for (uint64_t file = 0; file < r->from.count; file++)
        if (!take_packed(r, file, k, t, err))
            return false;
    k->count += k->tokens;
    return true;
}

static void range_of(uint64_t sentences, uint64_t blocks, int rank, int size, uint64_t *first, uint64_t *end)
{
    *first = (uint64_t)((unsigned __int128)comm_first_block(blocks, rank, size) * sentences / blocks);
    *end = (uint64_t)((unsigned __int128)comm_first_block(blocks, rank + 1, size) * sentences / blocks);
}

static bool packed_share(comm *c, reading *r, const corpus_request *q, bda_error *err)
{
    counter all = {.first = UINT64_MAX};
    if (!read_packed(r, &all, NULL, err))
        return false;
    counter mine = {0};
    range_of(all.count, q->blocks, bda_comm_rank(c), bda_comm_size(c), &mine.first, &mine.end);
    if (mine.end == all.count && mine.first < mine.end)
        mine.end = UINT64_MAX; /* what is behind the last sentence is its rank's */
    if (mine.first < mine.end && !read_packed(r, &mine, &r->text, err))
        return false;
    r->lines_before = mine.lines;
    return true;
}

/* ---- dealing plain text ------------------------------------------------------------------------------------------ */

/* Who gets which bytes of this rank's text: bytes: [size]. The first sentence here is number `before` of `all`. */
static void deal(const text *t, corpus_form form, uint64_t before, uint64_t all, uint64_t blocks, int size,
                 uint64_t *bytes)
{
    const char *p = t->at, *end = t->at + t->length;
    uint64_t number = before, first, behind;
    int owner = 0;
    memset(bytes, 0, (uint64_t)size * sizeof *bytes);
    while (p < end) {
        bool tokens;
        const char *next = corpus_skip_sentence(p, end, form, &tokens);
        uint64_t sentence = number < all ? number : all - 1; /* comments at the end go with the last */
        for (range_of(all, blocks, owner, size, &first, &behind); all > 0 && sentence >= behind;)
            range_of(all, blocks, ++owner, size, &first, &behind);
        bytes[owner] += (uint64_t)(next - p);
        number += tokens;
        p = next;
    }
}

static uint64_t count_sentences(const text *t, corpus_form form)
{
    uint64_t count = 0;
    const char *end = t->at + t->length;
    for (const char *p = t->at; p < end;) {
        bool tokens;
        p = corpus_skip_sentence(p, end, form, &tokens);
        count += tokens;
    }
    return count;
}

/* Sends every sentence to its rank. */
static bool exchange(comm *c, const corpus_request *q, corpus_form form, text *t, bda_error *err)
{
    int size = bda_comm_size(c);
    arena memory = {0};
    text mine = {0};
    uint64_t *out = ARENA_TAKE(&memory, uint64_t, (uint64_t)size, err);
    uint64_t *in = ARENA_TAKE(&memory, uint64_t, (uint64_t)size, err);
    bool ok = comm_agree(c, out && in, err);
    if (ok) {
        uint64_t here = count_sentences(t, form), all = here, before = comm_count_before(c, here), total = 0;
        comm_sum_counts(c, &all, 1);
        deal(t, form, before, all, q->blocks, size, out);
        comm_exchange_counts(c, out, in);
        for (int r = 0; r < size; r++)
            total += in[r];
        ok = comm_agree(c, text_room(&mine, total + 1, err), err);
        mine.length = total;
    }
    if (ok) {
        comm_exchange(c, t->at, out, mine.at, in);
        text_free(t);
        *t = mine;
    } else {
        text_free(&mine);
    }
    arena_free(&memory);
    return ok;
}

/* ---- all together -------------------------------------------------------------------------------------------------- */

/* What of a file is in the share [from, to) of the bytes of all; of what is not plain, everything. */
static bool read_file(reading *r, uint64_t file, uint64_t from, uint64_t to, bda_error *err)
{
    const part *x = &r->from.at[file];
    const uint64_t end = x->begin + x->bytes, first = from > x->begin ? from : x->begin, last = to < end ? to : end;
    const uint64_t before = r->text.length;
    if (first >= last)
        return true;
    source own = {.fd = -1}, *s = parts_source(&r->from, file, &own, err);
    bool ok = s && read_part(s, first - x->begin, last == end ? UINT64_MAX : last - x->begin, &r->text, err);
    const uint64_t length = r->text.length - before;
    if (ok && length > 0 && file + 1 < r->from.count && !ends_empty(r->text.at + before, length))
        ok = text_add(&r->text, "\n", 1, err);
    r->lines[file] = lines_count(r->text.at + before, r->text.length - before);
    r->from.bytes_read += s ? s->bytes_read : 0;
    source_close(&own);
    return ok;
}

static bool is_packed(const parts *p)
{
    for (uint64_t k = 0; k < p->count; k++)
        if (p->at[k].packing != SOURCE_PLAIN)
            return true;
    return false;
}

/* Reads this rank's text. A failure may be one of this rank alone: the caller agrees. */
static bool take_text(comm *c, reading *r, const corpus_request *q, bool shared, bda_error *err)
{
    const int rank = shared ? bda_comm_rank(c) : 0, size = shared ? bda_comm_size(c) : 1;
    if (shared && is_packed(&r->from))
        return packed_share(c, r, q, err);
    const uint64_t from = comm_first_block(r->from.bytes, rank, size);
    const uint64_t to = comm_first_block(r->from.bytes, rank + 1, size);
    for (uint64_t k = 0; k < r->from.count; k++)
        if (!read_file(r, k, from, to, err))
            return false;
    return true;
}

/* The form of the first text that has a token; without any, one that is wanted. */
static bool agree_on_form(comm *c, const text *t, const corpus_request *q, corpus_form *form, bda_error *err)
{
    const int size = bda_comm_size(c);
    arena memory = {0};
    uint64_t *seen = ARENA_TAKE(&memory, uint64_t, (uint64_t)size, err);
    bool ok = comm_agree(c, seen != NULL, err);
    if (ok) {
        const bool known = t->length > 0 && corpus_form_of(t->at, t->at + t->length, form);
        comm_gather_counts(c, known ? 1 + (uint64_t)*form : 0, seen);
        *form = q->wanted[CORPUS_CONLLU] ? CORPUS_CONLLU : CORPUS_PLAIN;
        for (int r = size; r-- > 0;)
            *form = seen[r] ? (corpus_form)(seen[r] - 1) : *form;
    }
    arena_free(&memory);
    return ok && (q->wanted[*form] || err_set(err, BDA_FAILED, "%s: %s", q->path, q->refusal));
}

/* The files, with their names in memory of the corpus. Collective. */
static bool open_files(comm *c, const corpus_request *q, corpus *to, reading *r, bda_error *err)
{
    listing files = {0};
    bool ok = listing_open(&files, c, q->path, q->others, q->other_count, err);
    if (!ok)
        return false;
    const char **path = ARENA_TAKE(&to->memory, const char *, files.count + 1, err);
    r->lines = ARENA_TAKE(&to->memory, uint64_t, files.count + 1, err);
    ok = path && r->lines;
    for (uint64_t k = 0; ok && k < files.count; k++) {
        char *copy = ARENA_TAKE(&to->memory, char, strlen(files.path[k]) + 1, err);
        ok = copy != NULL;
        path[k] = ok ? strcpy(copy, files.path[k]) : NULL;
    }
    ok = comm_agree(c, ok, err) && parts_open(&r->from, c, !path_is_of_rank(q->path), files.count, path, err);
    if (ok && r->from.at[0].binary)
        ok = err_set(err, BDA_FAILED, "%s: is binary data of bda, and sentences are text", path[0]);
    to->path = path;
    to->files = files.count;
    listing_close(&files);
    return ok;
}

bool corpus_read(comm *c, const corpus_request *q, corpus *to, bool *shared, uint64_t *bytes_read, bda_error *err)
{
    reading r = {.lines = NULL};
    corpus_form form = CORPUS_CONLLU;
    *to = (corpus){0};
    *shared = bda_comm_size(c) > 1 && !path_is_of_rank(q->path);
    bool ok = open_files(c, q, to, &r, err);
    ok = ok && comm_agree(c, take_text(c, &r, q, *shared, err) && parts_unchanged(&r.from, err), err) &&
         agree_on_form(c, &r.text, q, &form, err);
    if (ok && *shared && !is_packed(&r.from)) {
        ok = exchange(c, q, form, &r.text, err);
        if (ok) {
            r.lines_before = comm_count_before(c, lines_count(r.text.at, r.text.length));
            comm_sum_counts(c, r.lines, (int)to->files);
        }
    }
    *bytes_read = r.from.bytes_read;
    to->form = form;
    to->lines = r.lines;
    to->lines_before = r.lines_before;
    to->wanted = q->wanted[form];
    to->heads = q->heads;
    to->trees = q->trees;
    to->text = r.text.at;
    to->length = r.text.length;
    to->text_bytes = r.text.bytes;
    parts_close(&r.from);
    return ok && comm_agree(c, corpus_parse(to, err), err);
}
