/* outputs.c - may the files that a command is about to write be written? Rank 0 writes all of them, so rank 0 looks.
 *
 * Files are compared by device and inode, which all their names and links share. A file that does not exist yet has
 * neither: what identifies it is the directory that its links lead to, and its name there. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/output.h"
#include "comm/comm.h"
#include "data/listing.h"
#include "data/paths.h"
#include "run/files.h"

typedef struct place {
    bool known; /* a regular file, or where one could be; not a device, a pipe or what cannot be found */
    dev_t device;
    ino_t inode;             /* of the file, or of its directory where it does not exist */
    char name[NAME_MAX + 1]; /* "" where it exists */
} place;

static place place_of_new(const char *path)
{
    char target[PATH_MAX];
    struct stat directory;
    place p = {0};
    if (!out_target(path, target))
        return p;
    char *slash = strrchr(target, '/'), *name = slash ? slash + 1 : target;
    if (*name == 0 || strlen(name) > NAME_MAX)
        return p;
    strcpy(p.name, name);
    if (slash)
        slash[slash == target] = 0;
    if (stat(slash ? target : ".", &directory) == 0) {
        p.known = true;
        p.device = directory.st_dev;
        p.inode = directory.st_ino;
    }
    return p;
}

static place place_of(const char *path)
{
    struct stat there;
    place p = {0};
    if ((out_is_stdout(path) ? fstat(STDOUT_FILENO, &there) : stat(path, &there)) != 0)
        return out_is_stdout(path) ? p : place_of_new(path);
    if (S_ISREG(there.st_mode)) {
        p.known = true;
        p.device = there.st_dev;
        p.inode = there.st_ino;
    }
    return p;
}

static bool same_place(const char *one, const char *other)
{
    place p = place_of(one), q = place_of(other);
    return p.known && q.known && p.device == q.device && p.inode == q.inode && strcmp(p.name, q.name) == 0;
}

static bool is_given(const char *path)
{
    return path && path[0];
}

/* Is the output none of the files that `input` stands for, of however many ranks? What cannot be listed is refused when
 * it is read. */
static bool check_input(const char *path, const char *input, int size, bda_error *err)
{
    const int ranks = path_is_of_rank(input) ? size : 1;
    bool ok = true;
    for (int rank = 0; ok && rank < ranks; rank++) {
        listing files = {0};
        bda_error ignored = {0};
        if (!listing_of_rank(&files, input, NULL, 0, rank, size, &ignored))
            files.count = 0;
        for (uint64_t k = 0; ok && k < files.count; k++)
            ok = strcmp(files.path[k], "-") == 0 || !same_place(path, files.path[k]) ||
                 err_set(err, BDA_USAGE, "'%.300s' would be written over '%.300s', which is read", path,
                         files.path[k]);
        listing_close(&files);
    }
    return ok;
}

static const char *describe(bda_file_kind kind)
{
    static const char *const names[] = {
        [BDA_FILE_MODEL] = "a model",
        [BDA_FILE_BINARY] = "binary data",
        [BDA_FILE_TEXT] = "LIBSVM text",
        [BDA_FILE_LOG] = "a run log",
        [BDA_FILE_METRICS] = "metrics",
        [BDA_FILE_PREDICTIONS] = "predictions",
        [BDA_FILE_LIBLINEAR] = "a model of LIBLINEAR",
        [BDA_FILE_JSON] = "a model in JSON",
        [BDA_FILE_C] = "a model in C",
        [BDA_FILE_PAGE] = "the page of a report",
        [BDA_FILE_CSV] = "the table of a report",
        [BDA_FILE_CHECKPOINT] = "a checkpoint",
        [BDA_FILE_OTHER] = "nothing that bda writes",
    };
    return names[kind];
}

/* What is there may be replaced where it is of the same kind: that is what running a command again does. */
static bool check_kind(const bda_output *o, bool force, bda_error *err)
{
    if (force || out_is_stdout(o->path))
        return true;
    struct stat there;
    if (stat(o->path, &there) == 0 && S_ISDIR(there.st_mode))
        return true; /* out_try says so */
    bda_file_kind found;
    if (!file_kind(o->path, &found, err))
        return false;
    if (found == BDA_FILE_NONE || found == BDA_FILE_STREAM || found == o->kind)
        return true;
    return err_set(err, BDA_USAGE, "'%.400s' exists and seems to be %s; --force replaces it by %s", o->path,
                   describe(found), describe(o->kind));
}

static bool check(const bda_output *output, int outputs, const char *const *input, int inputs, int size, bool force,
                  bda_error *err)
{
    for (int i = 0; i < outputs; i++) {
        const char *path = output[i].path;
        if (!is_given(path))
            continue;
        for (int k = 0; k < inputs; k++)
            if (is_given(input[k]) && !check_input(path, input[k], size, err))
                return false;
        for (int k = 0; k < i; k++)
            if (is_given(output[k].path) && same_place(path, output[k].path))
                return err_set(err, BDA_USAGE, "'%.300s' would be written over '%.300s', which is written, too", path,
                               output[k].path);
    }
    for (int i = 0; i < outputs; i++) {
        const bda_output *o = &output[i];
        if (is_given(o->path) && !(check_kind(o, force, err) && out_try(o->path, o->kind == BDA_FILE_LOG, err)))
            return false;
    }
    return true;
}

bool bda_check_outputs(bda_comm *c, const bda_output *output, int outputs, const char *const *input, int inputs,
                       bool force, bda_error *err)
{
    err_clear(err);
    bool ok = bda_comm_rank(c) > 0 || check(output, outputs, input, inputs, bda_comm_size(c), force, err);
    return comm_agree(c, ok, err);
}
