/* rows_of.c - see rows_of.h.
 *
 * Sentences are taken in batches: threads make the keys of a batch, each in memory of its own; then each thread counts
 * the keys of one part of all keys, or all rows are added in their order. */
#include "sentence/rows_of.h"

#include "base/parallel.h"
#include "sentence/key.h"
#include "sentence/relation.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#define BATCH ((uint64_t)1 << 14) /* rows for each thread, about; a sentence is not divided */

/* A growing array. */
typedef struct list {
    void *at;
    uint64_t count, bytes;
} list;

static bool list_room(list *l, uint64_t more, uint64_t size, bda_error *err)
{
    const uint64_t need = (l->count + more) * size;
    if (need <= l->bytes)
        return true;
    const uint64_t bytes = need > 2 * l->bytes ? need + need / 4 : 2 * l->bytes;
    void *at = mem_resize(l->at, l->bytes, bytes, "features of sentences", err);
    if (!at)
        return false;
    l->at = at;
    l->bytes = bytes;
    return true;
}

/* What one thread works with. */
typedef struct worker {
    tag_view tag;
    edge_view edge;
    relation_view relation;
    list keys, rows; /* counting: keys, and the hash of each one's row */
    list columns;    /* filling: of all rows of the batch */
    list ends;       /* end of each row among the columns */
    list begin, end; /* parsing: keys of each head of a child */
    bool ok;
    bda_error err;
} worker;

static void worker_free(worker *w)
{
    list *const lists[] = {&w->keys, &w->rows, &w->columns, &w->ends, &w->begin, &w->end};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        mem_free(lists[i]->at, lists[i]->bytes);
    tag_view_free(&w->tag);
    edge_view_free(&w->edge);
    relation_view_free(&w->relation);
}

typedef struct job {
    const sentences *s;
    rows_kind kind;
    worker *worker; /* [threads] */
    int threads;
    uint64_t first_token;
    const key_table *table; /* filling */
    float *value;           /* [columns] where some stand for several features, else NULL */
    struct place {
        int worker;
        uint64_t row; /* among the worker's ends */
    } * place;        /* [sentences] of the batch */
    arena memory;
} job;

static uint64_t length_of(const sentences *s, uint64_t sentence)
{
    return s->corpus.first[sentence + 1] - s->corpus.first[sentence];
}

static uint64_t rows_of(const sentences *s, rows_kind kind, uint64_t sentence)
{
    const uint64_t n = length_of(s, sentence);
    return kind == ROWS_OF_EDGES ? n * (n + 1) : n;
}

/* Looks at a sentence; *most: keys of a row. */
static bool look(const job *j, worker *w, uint64_t sentence, uint64_t *most)
{
    const sentences *s = j->s;
    const corpus *c = &s->corpus;
    bool ok = false;
    switch (j->kind) {
    case ROWS_OF_TOKENS:
        ok = tag_look(&s->tag, &w->tag, c, s->words, sentence, &w->err);
        *most = s->tag.most;
        break;
    case ROWS_OF_EDGES:
        ok = edge_look(&s->edge, &w->edge, c, s->words, sentence, &w->err);
        *most = w->edge.most;
        break;
    case ROWS_OF_RELATIONS:
        ok = relation_look(&s->edge, &w->relation, c, s->words, sentence, c->head + c->first[sentence], &w->err);
        *most = w->relation.most;
        break;
    }
    return ok;
}

/* The keys of token t, or of its gold edge. */
static uint64_t token_keys(const job *j, worker *w, uint64_t sentence, uint64_t t, uint64_t *key)
{
    const corpus *c = &j->s->corpus;
    switch (j->kind) {
    case ROWS_OF_TOKENS:
        return tag_keys(&j->s->tag, &w->tag, t, key);
    case ROWS_OF_EDGES:
        return edge_keys(&j->s->edge, &w->edge, (int)t + 1, c->head[c->first[sentence] + t], key);
    case ROWS_OF_RELATIONS:
        return relation_keys(&w->relation, t, key);
    }
    return 0;
}

/* ---- counting ------------------------------------------------------------------------------------------------------ */

static bool count_keys(const job *j, worker *w, uint64_t sentence)
{
    const uint64_t n = length_of(j->s, sentence);
    const bool hashed = j->kind == ROWS_OF_TOKENS;
    uint64_t most;
    if (!look(j, w, sentence, &most) || !list_room(&w->keys, n * most, sizeof(uint64_t), &w->err) ||
        (hashed && !list_room(&w->rows, n * most, sizeof(uint64_t), &w->err)))
        return false;
    for (uint64_t t = 0; t < n; t++) {
        uint64_t *key = (uint64_t *)w->keys.at + w->keys.count;
        const uint64_t keys = token_keys(j, w, sentence, t, key);
        const uint64_t row = key_mix(j->first_token + j->s->corpus.first[sentence] + t);
        for (uint64_t i = 0; hashed && i < keys; i++)
            ((uint64_t *)w->rows.at)[w->keys.count + i] = row;
        w->keys.count += keys;
        w->rows.count = hashed ? w->keys.count : 0;
    }
    return true;
}

/* ---- filling ------------------------------------------------------------------------------------------------------- */

/* In increasing order, each once; returns how many are left. */
uint64_t rows_sort_columns(uint32_t *column, uint64_t count)
{
    uint64_t kept = 0;
    for (uint64_t i = 1; i < count; i++) {
        const uint32_t x = column[i];
        uint64_t k = i;
        for (; k > 0 && column[k - 1] > x; k--)
            column[k] = column[k - 1];
        column[k] = x;
    }
    for (uint64_t i = 0; i < count; i++)
        if (kept == 0 || column[kept - 1] != column[i])
            column[kept++] = column[i];
    return kept;
}

static void end_row(worker *w)
{
    ((uint64_t *)w->ends.at)[w->ends.count++] = w->columns.count;
}

static bool fill_tokens(const job *j, worker *w, uint64_t sentence, uint64_t most)
{
    const uint64_t n = length_of(j->s, sentence);
    if (!list_room(&w->keys, most, sizeof(uint64_t), &w->err) ||
        !list_room(&w->columns, n * (most + 1), sizeof(uint32_t), &w->err))
        return false;
    for (uint64_t t = 0; t < n; t++) {
        uint32_t *column = (uint32_t *)w->columns.at + w->columns.count;
        const uint64_t keys = token_keys(j, w, sentence, t, w->keys.at);
        w->columns.count += rows_sort_columns(column, key_table_columns(j->table, w->keys.at, keys, column));
        end_row(w);
    }
    return true;
}

static bool fill_edges(const job *j, worker *w, uint64_t sentence, uint64_t most)
{
    const uint64_t n = length_of(j->s, sentence);
    if (!list_room(&w->keys, n * most, sizeof(uint64_t), &w->err) ||
        !list_room(&w->begin, n + 1, sizeof(uint32_t), &w->err) ||
        !list_room(&w->end, n + 1, sizeof(uint32_t), &w->err))
        return false;
    const uint32_t *begin = w->begin.at, *end = w->end.at;
    for (uint64_t child = 1; child <= n; child++) {
        edge_keys_of_child(&j->s->edge, &w->edge, (int)child, w->keys.at, w->begin.at, w->end.at);
        for (uint64_t head = 0; head <= n; head++) {
            const uint64_t keys = end[head] - begin[head];
            if (!list_room(&w->columns, keys + 1, sizeof(uint32_t), &w->err))
                return false;
            uint32_t *column = (uint32_t *)w->columns.at + w->columns.count;
            w->columns.count += key_table_columns(j->table, (uint64_t *)w->keys.at + begin[head], keys, column);
            end_row(w);
        }
    }
    return true;
}

static bool fill(const job *j, worker *w, uint64_t sentence)
{
    uint64_t most;
    return look(j, w, sentence, &most) &&
           list_room(&w->ends, rows_of(j->s, j->kind, sentence), sizeof(uint64_t), &w->err) &&
           (j->kind == ROWS_OF_EDGES ? fill_edges : fill_tokens)(j, w, sentence, most);
}

/* Adds the rows of a sentence that a worker has made. */
static bool add_rows(const job *j, uint64_t sentence, struct place place, double *value, builder *to, bda_error *err)
{
    const worker *w = &j->worker[place.worker];
    const uint64_t *ends = w->ends.at, rows = rows_of(j->s, j->kind, sentence);
    for (uint64_t r = place.row; r < place.row + rows; r++) {
        const uint64_t from = r ? ends[r - 1] : 0, cells = ends[r] - from;
        const uint32_t *column = (const uint32_t *)w->columns.at + from;
        for (uint64_t i = 0; j->value && i < cells; i++)
            value[i] = (double)j->value[column[i]];
        if (!builder_reserve(to, 1, cells, err) || !builder_add(to, 0, column, j->value ? value : NULL, cells, err))
            return false;
    }
    return true;
}

/* ---- batches ------------------------------------------------------------------------------------------------------- */

static bool open_job(job *j, const sentences *s, rows_kind kind, int threads, bda_error *err)
{
    *j = (job){.s = s, .kind = kind, .threads = threads};
    j->worker = ARENA_TAKE(&j->memory, worker, (uint64_t)threads, err);
    j->place = ARENA_TAKE(&j->memory, struct place, s->corpus.sentences + 1, err);
    for (int t = 0; j->worker && t < threads; t++)
        j->worker[t].ok = true;
    return j->worker && j->place;
}

static void close_job(job *j)
{
    for (int t = 0; j->worker && t < j->threads; t++)
        worker_free(&j->worker[t]);
    arena_free(&j->memory);
}

/* The sentences from `first` on that make a batch. */
static uint64_t batch_end(const job *j, uint64_t first)
{
    uint64_t end = first, rows = 0;
    while (end < j->s->corpus.sentences && (end == first || rows < BATCH * (uint64_t)j->threads))
        rows += rows_of(j->s, j->kind, end++);
    return end;
}

/* Has every thread do its sentences of the batch. */
static bool run_batch(job *j, uint64_t first, uint64_t end, bool (*make)(const job *, worker *, uint64_t),
                      bda_error *err)
{
    for (int t = 0; t < j->threads; t++) {
        worker *w = &j->worker[t];
        w->keys.count = w->rows.count = w->columns.count = w->ends.count = 0;
    }
    FOR_BLOCKS (i, end - first, j->threads) {
        const int mine = j->threads > 1 ? omp_get_thread_num() : 0;
        worker *w = &j->worker[mine];
        j->place[first + i] = (struct place){mine, w->ends.count};
        w->ok = w->ok && make(j, w, first + i);
    }
    for (int t = 0; t < j->threads; t++)
        if (!j->worker[t].ok)
            return err_set(err, j->worker[t].err.status, "%s", j->worker[t].err.text);
    return true;
}

bool rows_count(const sentences *s, rows_kind kind, uint64_t first_token, int threads, key_counts *counts,
                bda_error *err)
{
    job j;
    bool ok = open_job(&j, s, kind, threads, err);
    j.first_token = first_token;
    for (uint64_t first = 0, end; ok && first < s->corpus.sentences; first = end) {
        end = batch_end(&j, first);
        ok = run_batch(&j, first, end, count_keys, err);
        FOR_BLOCKS (part, ok ? (uint64_t)counts->parts : 0, threads) {
            worker *mine = &j.worker[part];
            for (int t = 0; t < threads; t++)
                mine->ok = mine->ok && counts_add(counts, (int)part, j.worker[t].keys.at,
                                                  counts->sums ? j.worker[t].rows.at : NULL, NULL,
                                                  j.worker[t].keys.count, &mine->err);
        }
        for (int t = 0; ok && t < threads; t++)
            if (!j.worker[t].ok)
                ok = err_set(err, j.worker[t].err.status, "%s", j.worker[t].err.text);
    }
    close_job(&j);
    return ok;
}

/* The values of columns: sqrt(m) of those that stand for m features. */
static bool take_values(job *j, bda_error *err)
{
    const dictionary *d = &j->s->dictionary;
    if (j->kind != ROWS_OF_TOKENS || !d->merged)
        return true;
    j->value = ARENA_TAKE(&j->memory, float, d->columns, err);
    for (uint64_t i = 0; j->value && i < d->count; i++)
        if (d->column[i] != DICTIONARY_NONE)
            j->value[d->column[i]] = sqrtf((float)d->members[i]);
    return j->value != NULL;
}

/* Units, and the classes of their rows. */
static bool take_classes(const sentences *s, rows_kind kind, uint32_t **class, uint64_t **unit_row, arena *memory,
                         bda_error *err)
{
    const corpus *c = &s->corpus;
    uint64_t rows = 0;
    *unit_row = ARENA_TAKE(memory, uint64_t, c->sentences + 1, err);
    for (uint64_t i = 0; *unit_row && i < c->sentences; i++)
        (*unit_row)[i + 1] = rows += rows_of(s, kind, i);
    *class = *unit_row ? ARENA_TAKE(memory, uint32_t, rows + 1, err) : NULL;
    if (!*class)
        return false;
    if (kind != ROWS_OF_EDGES) {
        memcpy(*class, s->class, rows * sizeof **class);
        return true;
    }
    for (uint64_t i = 0; i < c->sentences; i++)
        for (uint64_t t = c->first[i], n = length_of(s, i), k = 0; k < n; k++, t++)
            (*class)[(*unit_row)[i] + k * (n + 1) + c->head[t]] = 1;
    return true;
}

bool rows_fill(const sentences *s, rows_kind kind, const key_table *table, int threads, builder *to, uint32_t **class,
               uint64_t **unit_row, arena *memory, bda_error *err)
{
    job j;
    bool ok = open_job(&j, s, kind, threads, err) && take_values(&j, err) &&
              take_classes(s, kind, class, unit_row, memory, err);
    j.table = table;
    double *value = ok ? ARENA_TAKE(&j.memory, double, s->tag.most + 1, err) : NULL;
    ok = value && builder_reserve(to, (*unit_row)[s->corpus.sentences], 0, err);
    for (uint64_t first = 0, end; ok && first < s->corpus.sentences; first = end) {
        end = batch_end(&j, first);
        ok = run_batch(&j, first, end, fill, err);
        for (uint64_t i = first; ok && i < end; i++)
            ok = add_rows(&j, i, j.place[i], value, to, err);
    }
    close_job(&j);
    return ok;
}
