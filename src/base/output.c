/* output.c - see output.h. The temporary file is in the directory of the file itself, because only there a rename is
 * one step; it carries the permissions of the file it replaces, or what the umask leaves. Symbolic links are
 * followed, also those that lead to no file yet. The names of temporary files are kept where a signal handler finds
 * them; only a process that is killed without a chance (SIGKILL) leaves one behind, and nothing reads it. */
#include "base/output.h"

#include "base/clock.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER ((size_t)1 << 18)
#define STEM 200 /* bytes of the file's own name in the temporary one: a directory limits the length of names */

struct output {
    int fd;
    int failure;           /* errno of the first error, 0: none */
    bool renamed;          /* the file is written as `temporary` until it is committed */
    uint64_t sent;         /* bytes that left the buffer */
    size_t used;           /* bytes in it */
    char name[PATH_MAX];   /* as it was given, for sentences */
    char target[PATH_MAX]; /* where links lead */
    char temporary[PATH_MAX];
    char buffer[BUFFER];
};

static bool refuse(const char *path, int reason, bda_error *err)
{
    return err_set(err, BDA_FAILED, "cannot write '%.400s': %s", path, strerror(reason));
}

bool out_target(const char *path, char target[PATH_MAX])
{
    if (strlen(path) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    strcpy(target, path);
    for (int links = 0; links < 40; links++) {
        char link[PATH_MAX], joined[2 * PATH_MAX];
        ssize_t length = readlink(target, link, sizeof link - 1);
        if (length < 0)
            return errno == EINVAL || errno == ENOENT;
        link[length] = 0;
        const char *slash = strrchr(target, '/');
        int directory = link[0] == '/' || !slash ? 0 : (int)(slash - target) + 1;
        snprintf(joined, sizeof joined, "%.*s%s", directory, target, link);
        if (strlen(joined) >= PATH_MAX) {
            errno = ENAMETOOLONG;
            return false;
        }
        strcpy(target, joined);
    }
    errno = ELOOP;
    return false;
}

/* ---- temporary files that a signal handler would have to remove ---------------------------------------------- */

#define UNFINISHED 64 /* outputs at a time; the program has three */

static _Atomic(const char *) unfinished[UNFINISHED]; /* names of temporary files; NULL: a free place */

static void change_place(const char *from, const char *to)
{
    for (int i = 0; i < UNFINISHED; i++) {
        const char *expected = from;
        if (atomic_compare_exchange_strong(&unfinished[i], &expected, to))
            return;
    }
}

void bda_discard_outputs(void)
{
    int kept = errno;
    for (int i = 0; i < UNFINISHED; i++) {
        const char *temporary = atomic_load(&unfinished[i]);
        if (temporary)
            unlink(temporary);
    }
    errno = kept;
}

/* Creates the file and notes its name, with no signal in between. */
static int create_noted(const char *temporary)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int fd = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666), reason = errno;
    if (fd >= 0)
        change_place(NULL, temporary);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = reason;
    return fd;
}

/* Creates the temporary file beside the target. `replaced`: the file that is there, or NULL. */
static bool create_temporary(output *o, const struct stat *replaced)
{
    if (replaced && access(o->target, W_OK) != 0)
        return false;
    const char *slash = strrchr(o->target, '/');
    const char *stem = slash ? slash + 1 : o->target;
    if (*stem == 0) {
        errno = EISDIR;
        return false;
    }
    int directory = (int)(stem - o->target);
    uint64_t mark = (uint64_t)(clock_now() * 1e9);
    for (int attempt = 0; attempt < 100; attempt++, mark++) {
        int length = snprintf(o->temporary, sizeof o->temporary, "%.*s%.*s.tmp%ld-%llx", directory, o->target, STEM,
                              stem, (long)getpid(), (unsigned long long)mark);
        if (length < 0 || (size_t)length >= sizeof o->temporary) {
            errno = ENAMETOOLONG;
            return false;
        }
        o->fd = create_noted(o->temporary);
        if (o->fd >= 0) {
            o->renamed = true;
            /* Where the permissions cannot be kept (a file system without them) the content matters more. */
            if (replaced)
                (void)!fchmod(o->fd, replaced->st_mode & 0777);
            return true;
        }
        if (errno != EEXIST)
            return false;
    }
    return false;
}

bool out_is_stdout(const char *path)
{
    return strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0;
}

static bool open_file(output *o, bool in_place)
{
    if (out_is_stdout(o->name)) {
        o->fd = STDOUT_FILENO;
        return true;
    }
    struct stat there;
    bool exists = stat(o->name, &there) == 0;
    if (!exists && errno != ENOENT)
        return false;
    if (in_place || (exists && !S_ISREG(there.st_mode))) {
        o->fd = open(o->name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
        return o->fd >= 0;
    }
    return out_target(o->name, o->target) && create_temporary(o, exists ? &there : NULL);
}

static output *open_output(const char *path, bool in_place, bda_error *err)
{
    if (strlen(path) >= PATH_MAX || path[0] == 0) {
        refuse(path, path[0] ? ENAMETOOLONG : ENOENT, err);
        return NULL;
    }
    output *o = mem_resize(NULL, 0, sizeof *o, "an output buffer", err);
    if (!o)
        return NULL;
    o->fd = -1;
    o->failure = 0;
    o->renamed = false;
    o->sent = 0;
    o->used = 0;
    strcpy(o->name, path);
    if (!open_file(o, in_place)) {
        refuse(path, errno, err);
        mem_free(o, sizeof *o);
        return NULL;
    }
    return o;
}

output *out_open(const char *path, bda_error *err)
{
    return open_output(path, false, err);
}

output *out_open_log(const char *path, bda_error *err)
{
    return open_output(path, true, err);
}

bool out_try(const char *path, bool log, bda_error *err)
{
    struct stat there;
    bool exists = path[0] && stat(path, &there) == 0;
    if (out_is_stdout(path))
        return true;
    if (exists && S_ISDIR(there.st_mode))
        return refuse(path, EISDIR, err);
    if (exists && (log || !S_ISREG(there.st_mode)))
        return access(path, W_OK) == 0 || refuse(path, errno, err);
    output *o = open_output(path, false, err);
    out_abandon(o);
    return o != NULL;
}

/* Writes all of it, at `offset` or, with offset < 0, where the file stands. */
static void write_all(output *o, const char *bytes, uint64_t count, int64_t offset)
{
    while (count > 0 && !o->failure) {
        ssize_t done = offset < 0 ? write(o->fd, bytes, count) : pwrite(o->fd, bytes, count, offset);
        if (done < 0) {
            o->failure = errno == EINTR ? 0 : errno;
            continue;
        }
        bytes += done;
        count -= (uint64_t)done;
        offset += offset < 0 ? 0 : done;
    }
}

static void empty_buffer(output *o)
{
    write_all(o, o->buffer, o->used, -1);
    o->sent += o->used;
    o->used = 0;
}

void out_write(output *o, const void *bytes, uint64_t count)
{
    if (count > BUFFER - o->used)
        empty_buffer(o);
    if (count >= BUFFER) {
        write_all(o, bytes, count, -1);
        o->sent += count;
    } else if (count > 0) {
        memcpy(o->buffer + o->used, bytes, count);
        o->used += count;
    }
}

void out_printf(output *o, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(o->buffer + o->used, BUFFER - o->used, format, arguments);
    va_end(arguments);
    if (length < 0) {
        o->failure = o->failure ? o->failure : errno;
        return;
    }
    if ((size_t)length < BUFFER - o->used) {
        o->used += (size_t)length;
        return;
    }
    char *text = malloc((size_t)length + 1);
    if (!text) {
        o->failure = o->failure ? o->failure : ENOMEM;
        return;
    }
    va_start(arguments, format);
    vsnprintf(text, (size_t)length + 1, format, arguments);
    va_end(arguments);
    out_write(o, text, (uint64_t)length);
    free(text);
}

uint64_t out_offset(const output *o)
{
    return o->sent + o->used;
}

void out_patch(output *o, uint64_t offset, const void *bytes, uint64_t count)
{
    uint64_t written = out_offset(o);
    if (count > written || offset > written - count) {
        o->failure = o->failure ? o->failure : EINVAL;
        return;
    }
    const char *from = bytes;
    uint64_t outside = offset >= o->sent ? 0 : o->sent - offset < count ? o->sent - offset : count;
    write_all(o, from, outside, (int64_t)offset);
    if (outside < count)
        memcpy(o->buffer + (offset + outside - o->sent), from + outside, count - outside);
}

bool out_reader_left(const output *o)
{
    return o->failure == EPIPE;
}

bool out_flush(output *o, bda_error *err)
{
    empty_buffer(o);
    return o->failure ? refuse(o->name, o->failure, err) : true;
}

/* A rename is durable once its directory is; where a directory cannot be synchronised, the file still is there. */
static void synchronise_directory(const char *path)
{
    char directory[PATH_MAX];
    strcpy(directory, path);
    char *slash = strrchr(directory, '/');
    if (slash)
        slash[slash == directory] = 0;
    int fd = open(slash ? directory : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
}

static void close_file(output *o)
{
    if (o->fd != STDOUT_FILENO && close(o->fd) != 0 && !o->failure)
        o->failure = errno;
    o->fd = STDOUT_FILENO;
}

bool out_commit(output *o, bda_error *err)
{
    empty_buffer(o);
    if (o->renamed && !o->failure && fsync(o->fd) != 0)
        o->failure = errno;
    close_file(o);
    if (o->renamed && !o->failure && rename(o->temporary, o->target) != 0)
        o->failure = errno;
    if (o->renamed && o->failure)
        unlink(o->temporary);
    if (o->renamed)
        change_place(o->temporary, NULL);
    if (o->renamed && !o->failure)
        synchronise_directory(o->target);
    bool ok = o->failure == 0 || refuse(o->name, o->failure, err);
    mem_free(o, sizeof *o);
    return ok;
}

void out_abandon(output *o)
{
    if (!o)
        return;
    close_file(o);
    if (o->renamed) {
        unlink(o->temporary);
        change_place(o->temporary, NULL);
    }
    mem_free(o, sizeof *o);
}
