/* fuzz_corpus.c - text of sentences with bytes changed, cut and doubled must be read or refused with a sentence that
 * names a line, and what was read must be written again as it was. CoNLL-U and plain columns in turn. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "sentence/corpus.h"
#include "sentence/edge.h"
#include "sentence/tag.h"
#include "sentence/write.h"

enum { CASES = 4000, ROOM = 4096 };

static const char conllu[] = "# c\n1-2\tde\xc3\xb8m\t_\t_\t_\t_\t_\t_\t_\t_\n1\tde\tx\tA\tB\tF=1\t2\tr\t_\t_\n"
                             "2\tm\xe6\x9c\xa8\tx\tB\tB\t_\t0\tr\t_\tA=b\n2.1\te\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
                             "1\t.\t_\tC\t_\t_\t0\tr\t_\t_\n\n";
static const char plain[] = "Wo rd B-N\nx y O\n\n\xd0\xbc 1 I-N\nA b O\n\n";

static const char *const paths[] = {"F"};

static void fail(const char *what, uint64_t seed, int number)
{
    fprintf(stderr, "seed %llu, case %d: %s\n", (unsigned long long)seed, number, what);
    exit(1);
}

static uint64_t mutate(rng *r, char *text, uint64_t length)
{
    for (uint32_t changes = rng_below(r, 6); changes > 0 && length > 1; changes--) {
        const uint32_t at = rng_below(r, (uint32_t)length);
        static const char often[] = "\t\n #_-.0129 \r\xff\0";
        switch (rng_below(r, 4)) {
        case 0:
            text[at] = often[rng_below(r, sizeof often)];
            break;
        case 1:
            text[at] = (char)rng_u32(r);
            break;
        case 2:
            memmove(text + at, text + at + 1, length - at - 1);
            length--;
            break;
        default:
            if (length + 40 < ROOM && at + 40 < length) {
                memmove(text + at + 40, text + at, length - at);
                length += 40;
            }
        }
    }
    if (text[length - 1] != '\n')
        text[length++] = '\n';
    return length;
}

typedef struct copy {
    char text[2 * ROOM];
    uint64_t length;
} copy;

static void keep(void *self, const char *bytes, uint64_t count)
{
    copy *to = self;
    memcpy(to->text + to->length, bytes, count);
    to->length += count;
}

/* Features of all tokens and edges can be made. */
static void look(const corpus *c, uint64_t seed, int number)
{
    bda_error err = {0};
    arena memory = {0};
    tag_scheme tag;
    tag_view tags = {0};
    edge_view edges = {0};
    const edge_scheme edge = {EDGE_FINE | EDGE_EXTRA, CONLLU_UPOS, CONLLU_XPOS, false};
    const int column = c->form == CORPUS_CONLLU ? CONLLU_UPOS : c->width - 1;
    word *words = words_make(&c->strings[c->form == CORPUS_CONLLU ? CONLLU_FORM : 0], 1, &memory, &err);
    if (!words || !tag_scheme_make(&tag, c->form, c->width, column, NULL, "", &memory, &err))
        fail(err.text, seed, number);
    uint64_t *key = ARENA_TAKE(&memory, uint64_t, tag.most + 4096, &err);
    for (uint64_t s = 0; s < c->sentences; s++) {
        tag_look(&tag, &tags, c, words, s, &err);
        for (uint64_t t = 0; t < tags.length; t++)
            if (tag_keys(&tag, &tags, t, key) > tag.most)
                fail("more keys than announced", seed, number);
        if (c->form == CORPUS_PLAIN)
            continue;
        edge_look(&edge, &edges, c, words, s, &err);
        for (int child = 1; child <= edges.n; child++)
            for (int head = 0; head <= edges.n; head++)
                if (head != child && edge_keys(&edge, &edges, child, head, key) > edges.most)
                    fail("more keys than announced", seed, number);
    }
    tag_view_free(&tags);
    edge_view_free(&edges);
    arena_free(&memory);
}

static void one_case(uint64_t seed, int number)
{
    static copy again;
    char text[ROOM];
    rng r;
    rng_open(&r, seed, 0, (uint64_t)number);
    const bool columns = number % 2;
    uint64_t length = columns ? sizeof plain - 1 : sizeof conllu - 1;
    memcpy(text, columns ? plain : conllu, length);
    length = mutate(&r, text, length);
    bda_error err = {0};
    corpus c = {.form = columns ? CORPUS_PLAIN : CORPUS_CONLLU,
                .path = paths,
                .wanted = columns ? UINT64_MAX : 0xFE,
                .heads = true,
                .trees = rng_below(&r, 2),
                .length = length,
                .text_bytes = length};
    c.text = mem_resize(NULL, 0, length, "text", &err);
    memcpy(c.text, text, length);
    if (!corpus_parse(&c, &err)) {
        if (strncmp(err.text, "F, line ", 8) != 0)
            fail(err.text, seed, number);
    } else if (c.tokens > 0) {
        again.length = 0;
        corpus_write(&c, &(new_columns){0}, keep, &again);
        if (again.length != length || memcmp(again.text, text, length) != 0)
            fail("is written in another way than it was read", seed, number);
        if (c.width > 1)
            look(&c, seed, number);
    }
    corpus_free(&c);
}

int main(int count, char **arguments)
{
    const uint64_t seed = count > 1 ? strtoull(arguments[1], NULL, 10) : 1;
    for (int number = 0; number < CASES; number++)
        one_case(seed, number);
    return 0;
}
