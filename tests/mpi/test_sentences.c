/* test_sentences.c - sentences have the same features, columns and values on any number of ranks and threads, as data
 * of tagging and of parsing; every rank makes the expectation itself, alone. What makes no sense is refused by all. */
#include "mpi/check.h"
#include "sentence/sentences.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bda_comm *c, *single;
static int rank, size;
static char path[200];

static uint32_t state;

static uint32_t draw(uint32_t n)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % n;
}

static void meet(void)
{
    bda_error err = {0};
    bda_comm_agree(c, true, &err);
}

/* Sentences of words with tags, and trees whose tokens hang on the one before or behind. */
static void write_corpus(int sentences, bool conllu, bool constant)
{
    meet();
    if (rank == 0) {
        FILE *f = fopen(path, "w");
        CHECK(f != NULL);
        state = 7;
        for (int s = 0; s < sentences; s++) {
            int n = 1 + (int)draw(9), root = 1 + (int)draw((uint32_t)n);
            for (int t = 1; t <= n; t++) {
                unsigned word = draw(draw(2) ? 12 : 200), tag = constant ? 0 : (word + draw(2)) % 5;
                int head = t == root ? 0 : t < root ? t + 1 : t - 1;
                if (conllu)
                    fprintf(f, "%d\tW\xc3\xb6rt%u\t_\tT%u\tX%u\t_\t%d\tr%u\t_\t_\n", t, word, tag, word % 7, head,
                            tag);
                else
                    fprintf(f, "W\xc3\xb6rt%u X%u T%u\n", word, word % 7, tag);
            }
            fputs("\n", f);
        }
        CHECK(fclose(f) == 0);
    }
    meet();
}

static sentences_request request(bool parse, int threads, uint64_t min_count)
{
    return (sentences_request){.path = path,
                               .blocks = 7,
                               .threads = threads,
                               .parse = parse,
                               .template = "",
                               .groups = EDGE_FINE | EDGE_EXTRA,
                               .min_count = min_count};
}

/* Row i of mine is row j of the whole. */
static void check_row(const rows *x, uint64_t i, const rows *y, uint64_t j)
{
    const uint64_t cells = x->start[i + 1] - x->start[i];
    CHECK(y->start[j + 1] - y->start[j] == cells);
    for (uint64_t k = 0; k < cells; k++) {
        const uint64_t a = x->start[i] + k, b = y->start[j] + k;
        if (x->form == ROWS_FLOAT)
            CHECK(x->pair[a].column == y->pair[b].column && x->pair[a].value == y->pair[b].value);
        else
            CHECK(x->column[a] == y->column[b]);
    }
}

static void check_same(bool parse, int threads, uint64_t min_count)
{
    bda_error err = {0};
    sentences_request q = request(parse, threads, min_count);
    data *mine = sentences_read(c, &q, &err);
    CHECK(mine != NULL);
    q.threads = 1;
    data *all = sentences_read(single, &q, &err);
    CHECK(all != NULL);
    CHECK(mine->instances == all->instances && mine->features == all->features && mine->nonzeros == all->nonzeros);
    CHECK(mine->rows_all == all->rows_all && mine->rows.form == all->rows.form);
    CHECK(mine->rows.form == (parse || min_count > 3 ? mine->rows.form : ROWS_FLOAT));
    CHECK(mine->labels.count == all->labels.count && mine->labels.count == (parse ? 2 : 5));
    CHECK(mine->sentences->crossings == all->sentences->crossings);
    CHECK(mine->units == mine->block_start[mine->local_blocks]);
    for (uint64_t u = 0; u < mine->units; u++) {
        uint64_t i = mine->unit_row[u], j = all->unit_row[mine->first_instance + u], n = mine->unit_row[u + 1] - i;
        CHECK(all->unit_row[mine->first_instance + u + 1] - j == n);
        for (uint64_t r = 0; r < n; r++) {
            CHECK(mine->target.class[i + r] == all->target.class[j + r]);
            check_row(&mine->rows, i + r, &all->rows, j + r);
        }
    }
    arena memory = {0};
    uint64_t *key, *all_key;
    uint32_t *column, *all_column;
    CHECK(dictionary_gather(c, &mine->sentences->dictionary, &memory, &key, &column, &err));
    CHECK(dictionary_gather(single, &all->sentences->dictionary, &memory, &all_key, &all_column, &err));
    CHECK(mine->sentences->dictionary.features == all->sentences->dictionary.features);
    CHECK(memcmp(key, all_key, all->sentences->dictionary.features * sizeof *key) == 0);
    CHECK(memcmp(column, all_column, all->sentences->dictionary.features * sizeof *column) == 0);
    arena_free(&memory);
    data_free(mine);
    data_free(all);
}

/* Columns are by falling count, and merged ones have the value sqrt(m): the sum of squares of a row is the number of
 * its features. */
static void check_columns(void)
{
    bda_error err = {0};
    sentences_request q = request(false, 1, 1);
    data *d = sentences_read(single, &q, &err);
    CHECK(d != NULL && d->rows.form == ROWS_FLOAT && d->sentences->dictionary.merged);
    uint64_t *count = calloc(d->features, sizeof *count);
    tag_view v = {0};
    uint64_t key[200];
    for (uint64_t s = 0; s < d->units; s++) {
        CHECK(tag_look(&d->sentences->tag, &v, &d->sentences->corpus, d->sentences->words, s, &err));
        for (uint64_t i = d->unit_row[s]; i < d->unit_row[s + 1]; i++) {
            double squares = 0;
            for (uint64_t k = d->rows.start[i]; k < d->rows.start[i + 1]; k++) {
                squares += (double)d->rows.pair[k].value * (double)d->rows.pair[k].value;
                count[d->rows.pair[k].column]++;
                CHECK(k == d->rows.start[i] || d->rows.pair[k].column > d->rows.pair[k - 1].column);
            }
            CHECK(fabs(squares - (double)tag_keys(&d->sentences->tag, &v, i - d->unit_row[s], key)) < 1e-3);
        }
    }
    for (uint64_t j = 0; j < d->features; j++)
        CHECK(count[j] > 0 && (j == 0 || count[j] <= count[j - 1]));
    free(count);
    tag_view_free(&v);
    data_free(d);
}

/* Each edge of a sentence has the columns of its features, and a gold edge has them all. */
static void check_edges(void)
{
    bda_error err = {0};
    sentences_request q = request(true, 1, 1);
    data *d = sentences_read(single, &q, &err);
    CHECK(d != NULL && d->rows.form == ROWS_ONES);
    const sentences *s = d->sentences;
    edge_view v = {0};
    uint64_t key[1000];
    for (uint64_t u = 0; u < d->units; u++) {
        const uint64_t first = s->corpus.first[u], n = s->corpus.first[u + 1] - first;
        CHECK(edge_look(&s->edge, &v, &s->corpus, s->words, u, &err));
        CHECK(d->unit_row[u + 1] - d->unit_row[u] == n * (n + 1));
        for (uint64_t t = 0; t < n; t++)
            for (uint64_t h = 0; h <= n; h++) {
                const uint64_t r = d->unit_row[u] + t * (n + 1) + h, cells = d->rows.start[r + 1] - d->rows.start[r];
                const bool gold = s->corpus.head[first + t] == h;
                CHECK(d->target.class[r] == gold);
                CHECK(h != t + 1 || cells == 0);
                CHECK(!gold || cells == edge_keys(&s->edge, &v, (int)t + 1, (int)h, key));
            }
    }
    edge_view_free(&v);
    data_free(d);
}

static void check_refusals(void)
{
    bda_error err = {0};
    sentences_request q = request(true, 1, 1);
    write_corpus(20, false, false);
    CHECK(!sentences_read(c, &q, &err) && strstr(err.text, "dependency trees are read from CoNLL-U"));
    q = request(false, 1, 1);
    q.xpos = q.column_given = true;
    err = (bda_error){0};
    CHECK(!sentences_read(c, &q, &err) && strstr(err.text, "--column is for CoNLL-U"));
    q = request(false, 1, 100000);
    err = (bda_error){0};
    CHECK(!sentences_read(c, &q, &err) && strstr(err.text, "no feature occurs 100000 times"));
    write_corpus(20, true, true);
    q = request(false, 1, 1);
    err = (bda_error){0};
    CHECK(!sentences_read(c, &q, &err) && strstr(err.text, "the column UPOS is 'T0' in all lines"));
}

int main(void)
{
    bda_error err = {0};
    c = bda_comm_launch(&err);
    single = bda_comm_single(&err);
    CHECK(c && single);
    rank = bda_comm_rank(c);
    size = bda_comm_size(c);
    uint64_t process = (uint64_t)getpid();
    comm_broadcast(c, 0, &process, sizeof process);
    snprintf(path, sizeof path, "%s/bda-sentences-%llu", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp",
             (unsigned long long)process);
    for (int conllu = 0; conllu < 2; conllu++)
        for (int sentences = 3; sentences < 200; sentences += 120) {
            write_corpus(sentences, conllu, false);
            check_same(false, 1, 1);
            check_same(false, 3, 2);
            if (conllu) {
                check_same(true, 1, 1);
                check_same(true, 3, 2);
                check_edges();
            }
            check_columns();
        }
    check_refusals();
    meet();
    if (rank == 0)
        unlink(path);
    bda_comm_free(c);
    bda_comm_free(single);
    return 0;
}
