/* common.c - messages and checks that several commands need. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd.h"

void say(const invocation *v, const char *format, ...)
{
    if (!v->first)
        return;
    char text[2000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "bda %s: %s\n", v->command->name, text);
}

int fail(const invocation *v, const bda_error *err)
{
    say(v, "%s", err->text);
    return err->status == BDA_USAGE ? EXIT_USAGE : EXIT_FAILED;
}

static bool refuse(bda_error *err, const char *path, int reason)
{
    err->status = BDA_FAILED;
    snprintf(err->text, sizeof err->text, "cannot write '%.400s': %s", path, strerror(reason));
    return false;
}

static bool could_write(const char *path, bda_error *err)
{
    struct stat there;
    if (strcmp(path, "-") == 0)
        return true;
    if (stat(path, &there) == 0) {
        if (S_ISDIR(there.st_mode))
            return refuse(err, path, EISDIR);
        if (access(path, W_OK) != 0)
            return refuse(err, path, errno);
        if (!S_ISREG(there.st_mode))
            return true;
    }
    char *directory = strdup(path);
    if (!directory)
        return refuse(err, path, ENOMEM);
    char *slash = strrchr(directory, '/');
    if (slash)
        slash[slash == directory] = 0;
    int reason = 0;
    if (access(slash ? directory : ".", W_OK | X_OK) != 0)
        reason = errno;
    else if (stat(slash ? directory : ".", &there) == 0 && !S_ISDIR(there.st_mode))
        reason = ENOTDIR;
    free(directory);
    return reason ? refuse(err, path, reason) : true;
}

static bool is_same_file(const struct stat *one, const char *path)
{
    struct stat other;
    return stat(path, &other) == 0 && one->st_dev == other.st_dev && one->st_ino == other.st_ino;
}

/* Is the file that of another argument than the one at `place`, or one that an option reads? */
static bool is_other_argument(const invocation *v, const char *path, int place)
{
    struct stat one;
    if (stat(path, &one) != 0 || !S_ISREG(one.st_mode))
        return false;
    for (int i = 0; i < MOST_ARGUMENTS; i++)
        if (v->argument[i] && i != place && is_same_file(&one, v->argument[i]))
            return true;
    const char *penalty = bda_get(v->settings, "feature-penalty");
    return penalty && penalty[0] && is_same_file(&one, penalty);
}

bool can_write(const invocation *v, const char *path, int place, bda_error *err)
{
    bool ok = true;
    if (v->first && is_other_argument(v, path, place)) {
        err->status = BDA_USAGE;
        snprintf(err->text, sizeof err->text, "'%.400s' would be written over another file of the command line",
                 path);
        ok = false;
    } else if (v->first) {
        ok = could_write(path, err);
    }
    return bda_comm_agree(v->comm, ok, err);
}

bool is_set(const invocation *v, const char *flag)
{
    return strcmp(bda_get(v->settings, flag), "1") == 0;
}

void note_data(const invocation *v, const bda_data *data, const char *path)
{
    bda_data_summary summary;
    bda_data_summarise(data, &summary);
    if (summary.reordered && !is_set(v, "quiet"))
        say(v, "note: %s has rows whose indices are not in order; they were sorted", path);
}
