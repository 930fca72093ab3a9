/* words.c - was every rank started with the same command line? Ranks that were not would sooner or later wait for each
 * other in different places, for ever. Rank 0 tells its words, which are few, and each rank looks for the first that
 * differs. */
#include "base/memory.h"
#include "comm/comm.h"

#include <string.h>

static uint64_t joined_length(int count, char *const *words)
{
    uint64_t length = 0;
    for (int i = 0; i < count; i++)
        length += strlen(words[i]) + 1;
    return length;
}

/* theirs: the words of rank 0, each with its final zero, up to `end`. */
static bool compare(comm *c, int count, char *const *words, const char *theirs, const char *end, bda_error *err)
{
    static const char advice[] = "all ranks must be started with the same command line";
    for (int i = 0; i < count || theirs < end; i++) {
        const char *own = i < count ? words[i] : NULL, *other = theirs < end ? theirs : NULL;
        if (!own)
            return err_set(err, BDA_USAGE, "rank %d was started without the word '%.200s' of rank 0: %s",
                           bda_comm_rank(c), other, advice);
        if (!other)
            return err_set(err, BDA_USAGE, "rank %d was started with the word '%.200s', which rank 0 lacks: %s",
                           bda_comm_rank(c), own, advice);
        if (strcmp(own, other) != 0)
            return err_set(err, BDA_USAGE, "rank %d was started with '%.200s' where rank 0 has '%.200s': %s",
                           bda_comm_rank(c), own, other, advice);
        theirs += strlen(other) + 1;
    }
    return true;
}

bool bda_comm_same_words(bda_comm *c, int count, char *const *words, bda_error *err)
{
    err_clear(err);
    arena memory = {0};
    uint64_t length = joined_length(count, words);
    comm_broadcast(c, 0, &length, sizeof length);
    char *theirs = ARENA_TAKE(&memory, char, length + 1, err), *to = theirs;
    bool ok = comm_agree(c, theirs != NULL, err);
    if (ok) {
        for (int i = 0; bda_comm_rank(c) == 0 && i < count; i++)
            to = stpcpy(to, words[i]) + 1;
        comm_broadcast(c, 0, theirs, length);
        ok = comm_agree(c, compare(c, count, words, theirs, theirs + length, err), err);
    }
    arena_free(&memory);
    return ok;
}
