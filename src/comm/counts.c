/* counts.c - comm_sum_small: most counts are small, and travel in a byte or two. A rank sends at most `cap` in such a
 * field, so that a sum below cap is exact; what reaches it is sent once more, in 32 bits. */
#include "comm/comm.h"
#include "comm/operations.h"

#include <string.h>

#define BYTE_RANKS 16 /* up to which a field is a byte; so most counts below 16 are sent once */
#define SHORT_RANKS 4096

/* 32: fields would save nothing. */
static unsigned bits_for(int ranks)
{
    return ranks == 1 || ranks > SHORT_RANKS ? 32 : ranks > BYTE_RANKS ? 16 : 8;
}

uint64_t comm_small_words(const comm *c, uint64_t count)
{
    const unsigned bits = bits_for(c->size);
    return bits == 32 ? 1 : (count + 64 / bits - 1) / (64 / bits);
}

static void sum_fields(comm *c, const uint32_t *x, uint64_t count, uint64_t *word, unsigned bits, uint64_t cap)
{
    const uint64_t fields = 64 / bits, words = comm_small_words(c, count);
    memset(word, 0, words * sizeof *word);
    for (uint64_t j = 0; j < count; j++)
        word[j / fields] |= (x[j] < cap ? x[j] : cap) << j % fields * bits;
    comm_sum_long(c, word, words);
}

void comm_sum_small(comm *c, uint32_t *x, uint64_t count, uint64_t *word)
{
    const unsigned bits = bits_for(c->size);
    if (bits == 32) {
        comm_sum_long(c, x, (count + 1) / 2);
        return;
    }
    const uint64_t fields = 64 / bits, mask = ((uint64_t)1 << bits) - 1, cap = mask / (uint64_t)c->size;
    sum_fields(c, x, count, word, bits, cap);
#define SUM(j) (word[(j) / fields] >> (j) % fields * bits & mask)
    uint64_t large = 0; /* they gather at the front of x, and go back from there */
    for (uint64_t j = 0; j < count; j++)
        if (SUM(j) >= cap)
            x[large++] = x[j];
    if (large % 2)
        x[large] = 0;
    comm_sum_long(c, x, (large + 1) / 2);
    for (uint64_t j = count; j-- > 0;)
        x[j] = SUM(j) >= cap ? x[--large] : (uint32_t)SUM(j);
#undef SUM
}
