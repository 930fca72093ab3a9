/* paths.c - see paths.h. */
#include "data/paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MARK "{rank"
#define WIDEST 20        /* digits that W may ask for */
#define MOST_PARTS 10000 /* that are counted for a sentence */

/* The next place of a number in the path, or NULL. width: 0, or what W says; *end: behind it, NULL where it is
 * neither "{rank}" nor "{rank:0W}". */
static const char *find_place(const char *path, int *width, const char **end)
{
    for (const char *at = path; (at = strstr(at, MARK)); at++) {
        const char *next = at + strlen(MARK);
        *width = 0;
        *end = NULL;
        if (*next == '}') {
            *end = next + 1;
            return at;
        }
        if (*next != ':')
            continue; /* another word, such as {ranking} */
        const char *digits = next + 2;
        size_t count = strspn(digits, "0123456789");
        *width = next[1] == '0' && count >= 1 && count <= 2 ? atoi(digits) : 0;
        if (*width >= 1 && *width <= WIDEST && digits[count] == '}')
            *end = digits + count + 1;
        return at;
    }
    return NULL;
}

bool path_is_of_rank(const char *path)
{
    int width;
    const char *end;
    return find_place(path, &width, &end) != NULL;
}

char *path_of_rank(arena *memory, const char *path, int rank, bda_error *err)
{
    uint64_t room = strlen(path) + 1;
    int width;
    const char *end;
    for (const char *p = path, *at; (at = find_place(p, &width, &end)); p = end) {
        if (!end) {
            err_set(
                err, BDA_USAGE,
                "'%.400s': the number of a rank is written {rank}, or {rank:05} for 5 digits with zeros in front; "
                "'%.20s' is neither",
                path, at);
            return NULL;
        }
        room += WIDEST;
    }
    char *own = ARENA_TAKE(memory, char, room, err), *to = own;
    if (!own)
        return NULL;
    for (const char *at; (at = find_place(path, &width, &end)); path = end) {
        memcpy(to, path, (size_t)(at - path));
        to += at - path;
        to += sprintf(to, "%0*d", width, rank);
    }
    strcpy(to, path);
    return own;
}

static bool exists(arena *memory, const char *path, int rank, bda_error *err)
{
    const char *own = path_of_rank(memory, path, rank, err);
    return own && access(own, F_OK) == 0;
}

static bool refuse_parts(arena *memory, const char *path, int size, bda_error *err)
{
    int parts = size + 1;
    while (parts < MOST_PARTS && exists(memory, path, parts, err))
        parts++;
    const char *next = path_of_rank(memory, path, size, err);
    if (!next)
        return false;
    if (!exists(memory, path, 0, err))
        return err_set(
            err, BDA_USAGE,
            "'%.300s' exists and the file of rank 0 does not: {rank} counts from 0, so that the file of the "
            "last of %d ranks has the number %d",
            next, size, size - 1);
    return err_set(err, BDA_USAGE,
                   "'%.300s' would be left out: there is a part for each of %d ranks, and %d rank%s started; "
                   "mpirun -np %d reads all of them",
                   next, parts, size, size == 1 ? " was" : "s were", parts);
}

bool path_check_parts(const char *path, int size, bda_error *err)
{
    arena memory = {0};
    bool ok = !exists(&memory, path, size, err);
    if (!ok)
        refuse_parts(&memory, path, size, err);
    arena_free(&memory);
    return ok && err->status == BDA_OK;
}
