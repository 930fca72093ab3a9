/* chunks.c - see chunks.h. */
#include "run/chunks.h"

#include <string.h>

bool chunks_are(const label_table *labels)
{
    for (uint64_t k = 0; k < labels->count; k++) {
        const char *name = labels->name[k];
        if (strcmp(name, "O") != 0 && !(name[0] && strchr("BIES", name[0]) && name[1] == '-' && name[2]))
            return false;
    }
    return labels->count > 0;
}

static const char *type_of(const char *tag)
{
    return tag[0] == 'O' ? "" : tag + 2;
}

/* Does a chunk end between two tags? */
static bool ends(const char *before, const char *tag)
{
    if (before[0] == 'O')
        return false;
    return before[0] == 'E' || before[0] == 'S' || strchr("BSO", tag[0]) ||
           strcmp(type_of(before), type_of(tag)) != 0;
}

/* Does one begin with the tag? */
static bool begins(const char *before, const char *tag)
{
    if (tag[0] == 'O')
        return false;
    return tag[0] == 'B' || tag[0] == 'S' || strchr("ESO", before[0]) || strcmp(type_of(before), type_of(tag)) != 0;
}

void chunks_add(chunk_counts *counts, uint64_t n, const char *const *actual, const char *const *guessed)
{
    const char *a = "O", *g = "O"; /* of the token before */
    bool same = false;             /* chunks have begun together and are of one type so far */
    for (uint64_t t = 0; t <= n; t++) {
        const char *a_next = t < n ? actual[t] : "O", *g_next = t < n ? guessed[t] : "O";
        const bool a_ends = ends(a, a_next), g_ends = ends(g, g_next);
        counts->right += same && a_ends && g_ends;
        same = same && !a_ends && !g_ends;
        const bool a_begins = begins(a, a_next), g_begins = begins(g, g_next);
        counts->actual += a_begins;
        counts->guessed += g_begins;
        if (a_begins && g_begins && strcmp(type_of(a_next), type_of(g_next)) == 0)
            same = true;
        a = a_next;
        g = g_next;
    }
}
