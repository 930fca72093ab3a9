/* read.c - see read.h.
 *
 * A rank's part of plain text ends with the first empty line that begins at its share of the bytes or later, so that
 * the next rank's begins there. Then all know how many sentences everybody has, and the text of those that another
 * rank wants goes there: the text alone, before anything of it is parsed. Packed text has to be unpacked from its
 * beginning: every rank does so twice, to count and to take its own. */
#include "sentence/read.h"

#include "data/data.h"
#include "data/lines.h"
#include "data/listing.h"
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

/* Unpacks everything; adds to t what belongs to the sentences [first, end), and what comes behind the last. */
static bool read_packed(source *s, counter *k, text *t, bda_error *err)
{
    lines l;
    const char *block;
    uint64_t length, offset;
    bool ok = source_seek(s, 0, err) && lines_open(&l, s, LINES_ONE, 0, UINT64_MAX, err);
    if (!ok)
        return false;
    while (ok && (ok = lines_next(&l, &block, &length, &offset, err)) && length > 0) {
        const char *stop, *end = block + length, *from = NULL, *behind = NULL;
        for (const char *p = block; p < end; p = stop + 1) {
            stop = memchr(p, '\n', (size_t)(end - p));
            if (!count_line(k, p, stop))
                continue;
            from = from ? from : p;
            behind = stop + 1;
        }
        ok = !t || !from || text_add(t, from, (uint64_t)(behind - from), err);
    }
    k->count += k->tokens;
    lines_close(&l);
    return ok;
}

static void range_of(uint64_t sentences, uint64_t blocks, int rank, int size, uint64_t *first, uint64_t *end)
{
    *first = (uint64_t)((unsigned __int128)comm_first_block(blocks, rank, size) * sentences / blocks);
    *end = (uint64_t)((unsigned __int128)comm_first_block(blocks, rank + 1, size) * sentences / blocks);
}

static bool packed_share(comm *c, source *s, const corpus_request *q, text *t, uint64_t *lines, bda_error *err)
{
    counter all = {.first = UINT64_MAX};
    if (!read_packed(s, &all, NULL, err))
        return false;
    counter mine = {0};
    range_of(all.count, q->blocks, bda_comm_rank(c), bda_comm_size(c), &mine.first, &mine.end);
    if (mine.end == all.count && mine.first < mine.end)
        mine.end = UINT64_MAX; /* what is behind the last sentence is its rank's */
    if (mine.first < mine.end && !read_packed(s, &mine, t, err))
        return false;
    *lines = mine.lines;
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

/* The one file that the name stands for, in memory of the arena. */
static const char *find_file(comm *c, const char *name, arena *memory, bda_error *err)
{
    listing files = {0};
    char *path = NULL;
    bool ok = listing_open(&files, c, name, NULL, 0, err);
    if (ok && files.count > 1)
        err_set(err, BDA_USAGE, "%s stands for %llu files, and sentences are read from one", name,
                (unsigned long long)files.count);
    else if (ok && (path = ARENA_TAKE(memory, char, strlen(files.path[0]) + 1, err)))
        strcpy(path, files.path[0]);
    listing_close(&files);
    return comm_agree(c, path != NULL, err) ? path : NULL;
}

/* Reads this rank's text. A failure may be one of this rank alone: the caller agrees. */
static bool take_text(comm *c, source *s, const corpus_request *q, bool shared, text *t, uint64_t *lines,
                      bda_error *err)
{
    if (!shared)
        return read_part(s, 0, UINT64_MAX, t, err);
    if (!s->seekable)
        return err_set(err, BDA_FAILED, "%s: is not a regular file, so that several ranks cannot share it", s->path);
    if (s->packing != SOURCE_PLAIN)
        return packed_share(c, s, q, t, lines, err);
    int rank = bda_comm_rank(c), size = bda_comm_size(c);
    return read_part(s, comm_first_block(s->size, rank, size),
                     rank + 1 == size ? UINT64_MAX : comm_first_block(s->size, rank + 1, size), t, err);
}

/* The form of the first text that has a token; without any, CoNLL-U. */
static bool agree_on_form(comm *c, const text *t, const corpus_request *q, corpus_form *form, bda_error *err)
{
    const int size = bda_comm_size(c);
    arena memory = {0};
    uint64_t *seen = ARENA_TAKE(&memory, uint64_t, (uint64_t)size, err);
    bool ok = comm_agree(c, seen != NULL, err);
    if (ok) {
        const bool known = t->length > 0 && corpus_form_of(t->at, t->at + t->length, form);
        comm_gather_counts(c, known ? 1 + (uint64_t)*form : 0, seen);
        *form = CORPUS_CONLLU;
        for (int r = size; r-- > 0;)
            *form = seen[r] ? (corpus_form)(seen[r] - 1) : *form;
    }
    arena_free(&memory);
    return ok && (q->wanted[*form] || err_set(err, BDA_FAILED, "%s: %s", q->path, q->refusal));
}

bool corpus_read(comm *c, const corpus_request *q, corpus *to, bool *shared, uint64_t *bytes_read, bda_error *err)
{
    source file = {.fd = -1};
    text t = {0};
    corpus_form form = CORPUS_CONLLU;
    uint64_t lines = 0;
    *to = (corpus){0};
    *shared = bda_comm_size(c) > 1 && !path_is_of_rank(q->path);
    const char *path = find_file(c, q->path, &to->memory, err);
    if (!path)
        return false;
    bool ok = source_open(&file, path, err) && take_text(c, &file, q, *shared, &t, &lines, err);
    const bool dealt = *shared && file.packing == SOURCE_PLAIN;
    *bytes_read = file.bytes_read;
    source_close(&file);
    ok = comm_agree(c, ok, err) && agree_on_form(c, &t, q, &form, err);
    if (ok && dealt && (ok = exchange(c, q, form, &t, err)))
        lines = comm_count_before(c, lines_count(t.at, t.length));
    to->form = form;
    to->path = path;
    to->lines_before = lines;
    to->wanted = q->wanted[form];
    to->heads = q->heads;
    to->trees = q->trees;
    to->text = t.at;
    to->length = t.length;
    to->text_bytes = t.bytes;
    return ok && comm_agree(c, corpus_parse(to, err), err);
}
