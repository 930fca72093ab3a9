/* listing.c - see listing.h. */
#include "data/listing.h"

#include "data/paths.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LEAST_ROOM 16

/* A list of paths that grows; the text of the paths is the listing's. */
typedef struct growing {
    listing *to;
    uint64_t room;
} growing;

/* "directory/name", or "name" where directory is "". */
static bool add(growing *g, const char *directory, const char *name, bda_error *err)
{
    listing *l = g->to;
    if (l->count == g->room) {
        const uint64_t room = g->room ? g->room * 2 : LEAST_ROOM;
        const char **path = ARENA_TAKE(&l->memory, const char *, room, err);
        if (!path)
            return false;
        if (l->count > 0)
            memcpy(path, l->path, l->count * sizeof *path);
        l->path = path;
        g->room = room;
    }
    const size_t length = strlen(directory);
    char *path = ARENA_TAKE(&l->memory, char, length + 1 + strlen(name) + 1, err);
    if (!path)
        return false;
    strcpy(path, directory);
    if (length > 0 && directory[length - 1] != '/')
        strcat(path, "/");
    strcat(path, name);
    l->path[l->count++] = path;
    return true;
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool list_directory(growing *g, const char *path, bda_error *err)
{
    DIR *directory = opendir(path);
    if (!directory)
        return err_set(err, BDA_FAILED, "%s: cannot be opened: %s", path, strerror(errno));
    const uint64_t first = g->to->count;
    bool ok = true;
    for (const struct dirent *entry; ok && (entry = readdir(directory));)
        if (entry->d_name[0] != '.' && entry->d_name[0] != '_')
            ok = add(g, path, entry->d_name, err);
    closedir(directory);
    if (ok && g->to->count == first)
        return err_set(err, BDA_FAILED, "%s: is a directory without data files", path);
    if (ok)
        qsort(g->to->path + first, g->to->count - first, sizeof *g->to->path, by_bytes);
    return ok;
}

static bool list_pattern(growing *g, const char *pattern, bda_error *err)
{
    glob_t found = {0};
    const int code = glob(pattern, GLOB_NOSORT, NULL, &found);
    bool ok = code == 0 || code == GLOB_NOMATCH || err_set(err, BDA_FAILED, "%s: cannot be listed", pattern);
    const uint64_t first = g->to->count;
    for (size_t k = 0; ok && code == 0 && k < found.gl_pathc; k++)
        ok = add(g, "", found.gl_pathv[k], err);
    if (code == 0)
        globfree(&found);
    if (ok && g->to->count == first)
        return err_set(err, BDA_FAILED, "%s: no file has such a name", pattern);
    if (ok)
        qsort(g->to->path + first, g->to->count - first, sizeof *g->to->path, by_bytes);
    return ok;
}

/* Anything that is neither a directory nor a pattern is taken for a file; opening it finds out. */
static bool list_name(growing *g, const char *name, bda_error *err)
{
    struct stat about;
    const bool there = strcmp(name, "-") == 0 || stat(name, &about) == 0;
    if (there && strcmp(name, "-") != 0 && S_ISDIR(about.st_mode))
        return list_directory(g, name, err);
    if (!there && strpbrk(name, "*?["))
        return list_pattern(g, name, err);
    return add(g, "", name, err);
}

bool listing_of_rank(listing *l, const char *name, const char *const *others, uint64_t other_count, int rank,
                     int size, bda_error *err)
{
    *l = (listing){0};
    growing g = {.to = l};
    const bool of_rank = path_is_of_rank(name);
    for (uint64_t k = 0; k <= other_count; k++) {
        const char *one = k == 0 ? name : others[k - 1];
        if (path_is_of_rank(one) != of_rank)
            return err_set(err, BDA_USAGE,
                           "'%.300s' and '%.300s': {rank} has to be in all names of data files or in none", name,
                           one);
        const char *own = path_of_rank(&l->memory, one, rank, err);
        if (!own || (of_rank && !path_check_parts(one, size, err)) || !list_name(&g, own, err))
            return false;
    }
    return true;
}

/* Rank 0 tells its paths, one behind the other, each with its final zero. */
static bool tell(listing *l, comm *c, bda_error *err)
{
    const bool first = bda_comm_rank(c) == 0;
    uint64_t about[2] = {l->count, 0};
    for (uint64_t k = 0; k < l->count; k++)
        about[1] += strlen(l->path[k]) + 1;
    comm_broadcast(c, 0, about, sizeof about);
    char *text = ARENA_TAKE(&l->memory, char, about[1], err);
    const char **path = ARENA_TAKE(&l->memory, const char *, about[0], err);
    if (!comm_agree(c, text && path, err))
        return false;
    char *to = text;
    for (uint64_t k = 0; first && k < l->count; k++)
        to = stpcpy(to, l->path[k]) + 1;
    comm_broadcast(c, 0, text, about[1]);
    for (uint64_t k = 0; k < about[0]; k++, text += strlen(text) + 1)
        path[k] = text;
    l->path = path;
    l->count = about[0];
    return true;
}

bool listing_open(listing *l, comm *c, const char *name, const char *const *others, uint64_t other_count,
                  bda_error *err)
{
    const bool own = path_is_of_rank(name);
    const int rank = bda_comm_rank(c), size = bda_comm_size(c);
    *l = (listing){0};
    bool ok = (!own && rank > 0) || listing_of_rank(l, name, others, other_count, rank, size, err);
    return comm_agree(c, ok, err) && (own || size == 1 || tell(l, c, err));
}

void listing_close(listing *l)
{
    arena_free(&l->memory);
    *l = (listing){0};
}
