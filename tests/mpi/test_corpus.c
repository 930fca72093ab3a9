/* test_corpus.c - sentences of a file come to all ranks in order, each rank's own blocks of them, whatever the ranks,
 * the packing and the places where bytes are cut; and an error on one rank is an error on all, with the line of the
 * file. */
#include "data/data.h"
#include "mpi/check.h"
#include "sentence/read.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bda_comm *c;
static int rank, size;
static uint64_t process; /* of rank 0: other numbers of ranks are tested at the same time */

enum { BLOCKS = 7 };

static const corpus_request conllu = {
    .blocks = BLOCKS, .wanted = {1 << CONLLU_FORM | 1 << CONLLU_UPOS, 7}, .heads = true, .trees = true};

static char *path_for(const char *name)
{
    static char path[200];
    snprintf(path, sizeof path, "%s/bda-%llu-%s", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp",
             (unsigned long long)process, name);
    return path;
}

static void put(const char *path, const char *text)
{
    if (rank == 0) {
        FILE *f = fopen(path, "w");
        CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
    }
    bda_error err = {0};
    bda_comm_agree(c, true, &err);
}

static void pack(const char *path)
{
    char command[900];
    bda_error err = {0};
    snprintf(command, sizeof command, "gzip -kf %s", path);
    CHECK(rank > 0 || system(command) == 0);
    bda_comm_agree(c, true, &err);
}

/* Sentence i has i % 5 + 1 tokens (sentence 20: 400), comments before some, empty lines behind some. */
static char *made(int sentences)
{
    char *text = malloc(1 << 20), *to = text;
    for (int i = 0; i < sentences; i++) {
        int n = i == 20 ? 400 : i % 5 + 1;
        to += i % 3 ? 0 : sprintf(to, "# sent_id = %d\n", i);
        to += i % 7 ? 0 : sprintf(to, "# alone\n\n# again\n");
        for (int t = 0; t < n; t++) {
            to += i % 4 || t ? 0 : sprintf(to, "1-2\tab\t_\t_\t_\t_\t_\t_\t_\t_\n");
            to += sprintf(to, "%d\tw%d\t_\tT%d\t_\t_\t%d\tx\t_\t_\n", t + 1, i, t % 3, t);
        }
        to += sprintf(to, i % 2 ? "\n" : "\n \t\n");
    }
    sprintf(to, "# the end\n");
    return text;
}

static void take(void *self, const void *bytes, uint64_t count)
{
    char **to = self;
    memcpy(*to, bytes, count);
    *to += count;
}

/* Everybody's text together is the file, and sentence i is where it should be. */
static void check_read(const char *path, const char *text, int sentences)
{
    bda_error err = {0};
    corpus mine;
    corpus_request q = conllu;
    bool shared;
    uint64_t bytes;
    q.path = path;
    CHECK(corpus_read(c, &q, &mine, &shared, &bytes, &err));
    CHECK(shared == (size > 1));
    uint64_t first = comm_first_block(BLOCKS, rank, size) * (uint64_t)sentences / BLOCKS;
    uint64_t end = comm_first_block(BLOCKS, rank + 1, size) * (uint64_t)sentences / BLOCKS;
    CHECK(mine.sentences == end - first);
    for (uint64_t s = 0; s < mine.sentences; s++) {
        char word[20];
        sprintf(word, "w%d", (int)(first + s));
        uint64_t t = mine.first[s], n = mine.first[s + 1] - t;
        string_entry e = mine.strings[CONLLU_FORM].at[mine.id[CONLLU_FORM][t]];
        CHECK(e.length == strlen(word) && memcmp(e.text, word, e.length) == 0);
        CHECK(n == (first + s == 20 ? 400 : (first + s) % 5 + 1));
        CHECK(mine.head[t + n - 1] == n - 1);
    }
    char *all = malloc(strlen(text) + 1), *to = all;
    comm_collect(c, mine.text, mine.length, take, &to);
    CHECK(rank > 0 || ((uint64_t)(to - all) == strlen(text) && memcmp(all, text, strlen(text)) == 0));
    free(all);
    corpus_free(&mine);
}

static void check_forms(void)
{
    char *path = path_for("good.conllu"), packed[220];
    for (int sentences = 1; sentences < 60; sentences += sentences < 4 ? 1 : 13) {
        char *text = made(sentences);
        put(path, text);
        check_read(path, text, sentences);
        pack(path);
        snprintf(packed, sizeof packed, "%s.gz", path);
        check_read(packed, text, sentences);
        free(text);
    }
    if (rank == 0)
        unlink(path), unlink(packed);
}

/* The wrong head is in line `line` of the file. */
static void check_blame(void)
{
    char *text = made(40), *place = strstr(text, "\tw33\t_\tT1"), *path = path_for("bad.conllu"), expected[300];
    unsigned line = 1;
    for (char *p = text; p < place; p++)
        line += *p == '\n';
    memcpy(strstr(place, "\t1\tx"), "\t9\tx", 4);
    put(path, text);
    snprintf(expected, sizeof expected, "%s, line %u: the head is beyond the end of the sentence", path, line);
    for (int packed = 0; packed < 2; packed++) {
        bda_error err = {0};
        corpus mine;
        corpus_request q = conllu;
        bool shared;
        uint64_t bytes;
        q.path = path;
        CHECK(!corpus_read(c, &q, &mine, &shared, &bytes, &err));
        CHECK(strcmp(err.text, expected) == 0);
        corpus_free(&mine);
        if (packed == 0) {
            pack(path);
            strcat(path, ".gz");
            snprintf(expected, sizeof expected, "%s, line %u: the head is beyond the end of the sentence", path,
                     line);
        }
    }
    if (rank == 0) {
        unlink(path);
        path[strlen(path) - 3] = 0;
        unlink(path);
    }
    free(text);
}

int main(void)
{
    bda_error err = {0};
    c = bda_comm_launch(&err);
    CHECK(c != NULL);
    rank = bda_comm_rank(c);
    size = bda_comm_size(c);
    process = (uint64_t)getpid();
    comm_broadcast(c, 0, &process, sizeof process);
    check_forms();
    check_blame();
    bda_comm_free(c);
    return 0;
}
