/* wraps.c - see faults.h. A stream of stdio reads and writes through the wrapped calls as well, so that its errors are
 * those that stdio makes of theirs. */
#include "fault/faults.h"

#include <dirent.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

const char *const fault_kind_names[] = {"memory", "open",  "look",   "read", "write",
                                        "sync",   "close", "rename", "map",  "share"};
const char *const fault_manner_names[] = {"fails", "fails from there on", "is short", "is interrupted"};

static bool on;
static fault_kind armed;
static fault_manner how;
static uint64_t which;
static _Atomic uint64_t *counted; /* [FAULT_KINDS] shared with the process that started this one */
void (*fault_exit)(int status);
static void (*at_end[8])(void);
static int ends;

void *__real_mmap(void *address, size_t n, int protection, int flags, int fd, off_t offset);

static void __attribute__((constructor)) share_counters(void)
{
    counted =
        __real_mmap(NULL, FAULT_KINDS * sizeof *counted, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (counted == MAP_FAILED)
        abort();
}

bool fault_has(fault_kind kind, fault_manner manner)
{
    if (manner == FAULT_SHORT)
        return kind == FAULT_READ || kind == FAULT_WRITE;
    if (manner == FAULT_INTERRUPTED)
        return kind == FAULT_READ || kind == FAULT_WRITE || kind == FAULT_SHARE;
    return true;
}

void fault_arm(fault_kind kind, fault_manner manner, uint64_t call)
{
    for (int k = 0; k < FAULT_KINDS; k++)
        atomic_store(&counted[k], 0);
    armed = kind;
    how = manner;
    which = call;
    on = true;
}

void fault_off(void)
{
    on = false;
}

uint64_t fault_counted(fault_kind kind)
{
    return atomic_load(&counted[kind]);
}

static bool strikes(fault_kind kind)
{
    if (!on)
        return false;
    const uint64_t n = atomic_fetch_add(&counted[kind], 1) + 1;
    const bool now = kind == armed && which > 0 && (n == which || (how == FAULT_KEEPS_ON && n > which));
    if (now && n == which && getenv("BDA_FAULT_TRACE")) {
        void *place[30];
        backtrace_symbols_fd(place, backtrace(place, 30), STDERR_FILENO);
    }
    return now;
}

/* True: the call is to fail, and errno says why. */
static bool fails(fault_kind kind, int reason)
{
    if (!strikes(kind))
        return false;
    errno = reason;
    return true;
}

#define WRAP(result, name, parameters)                                                                               \
    result __real_##name parameters;                                                                                 \
    result __wrap_##name parameters;                                                                                 \
    result __wrap_##name parameters

/* ---- memory ------------------------------------------------------------------------------------------------------ */

WRAP(void *, malloc, (size_t n))
{
    return fails(FAULT_MEMORY, ENOMEM) ? NULL : __real_malloc(n);
}

WRAP(void *, calloc, (size_t n, size_t size))
{
    return fails(FAULT_MEMORY, ENOMEM) ? NULL : __real_calloc(n, size);
}

WRAP(void *, realloc, (void *p, size_t n))
{
    return fails(FAULT_MEMORY, ENOMEM) ? NULL : __real_realloc(p, n);
}

WRAP(void *, aligned_alloc, (size_t alignment, size_t n))
{
    return fails(FAULT_MEMORY, ENOMEM) ? NULL : __real_aligned_alloc(alignment, n);
}

WRAP(char *, strdup, (const char *text))
{
    return fails(FAULT_MEMORY, ENOMEM) ? NULL : __real_strdup(text);
}

WRAP(char *, strndup, (const char *text, size_t n))
{
    return fails(FAULT_MEMORY, ENOMEM) ? NULL : __real_strndup(text, n);
}

int __wrap_asprintf(char **to, const char *format, ...) __attribute__((format(printf, 2, 3)));
int __wrap_asprintf(char **to, const char *format, ...)
{
    if (fails(FAULT_MEMORY, ENOMEM))
        return -1;
    va_list arguments;
    va_start(arguments, format);
    const int length = vasprintf(to, format, arguments);
    va_end(arguments);
    return length;
}

WRAP(void *, mmap, (void *address, size_t n, int protection, int flags, int fd, off_t offset))
{
    if (fd < 0 ? fails(FAULT_MEMORY, ENOMEM) : fails(FAULT_MAP, ENODEV))
        return MAP_FAILED;
    return __real_mmap(address, n, protection, flags, fd, offset);
}

void *__real_mremap(void *old, size_t old_n, size_t n, int flags, ...);
void *__wrap_mremap(void *old, size_t old_n, size_t n, int flags, ...);
void *__wrap_mremap(void *old, size_t old_n, size_t n, int flags, ...)
{
    void *place = NULL;
    if (flags & MREMAP_FIXED) {
        va_list arguments;
        va_start(arguments, flags);
        place = va_arg(arguments, void *);
        va_end(arguments);
    }
    return n > old_n && fails(FAULT_MEMORY, ENOMEM) ? MAP_FAILED : __real_mremap(old, old_n, n, flags, place);
}

WRAP(int, inflateInit2_, (z_stream * s, int bits, const char *version, int size))
{
    return fails(FAULT_MEMORY, ENOMEM) ? Z_MEM_ERROR : __real_inflateInit2_(s, bits, version, size);
}

WRAP(int, deflateInit2_,
     (z_stream * s, int level, int method, int bits, int memory, int strategy, const char *version, int size))
{
    return fails(FAULT_MEMORY, ENOMEM)
               ? Z_MEM_ERROR
               : __real_deflateInit2_(s, level, method, bits, memory, strategy, version, size);
}

WRAP(ZSTD_DStream *, ZSTD_createDStream, (void))
{
    return fails(FAULT_MEMORY, ENOMEM) ? NULL : __real_ZSTD_createDStream();
}

WRAP(ZSTD_CStream *, ZSTD_createCStream, (void))
{
    return fails(FAULT_MEMORY, ENOMEM) ? NULL : __real_ZSTD_createCStream();
}

WRAP(ZSTD_CCtx *, ZSTD_createCCtx, (void))
{
    return fails(FAULT_MEMORY, ENOMEM) ? NULL : __real_ZSTD_createCCtx();
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
    mode_t mode = 0;
    if (flags & O_CREAT) {
        va_list arguments;
        va_start(arguments, flags);
        mode = va_arg(arguments, mode_t);
        va_end(arguments);
    }
    return fails(FAULT_OPEN, EMFILE) ? -1 : __real_open(path, flags, mode);
}

WRAP(int, dup, (int fd))
{
    return fails(FAULT_OPEN, EMFILE) ? -1 : __real_dup(fd);
}

WRAP(DIR *, opendir, (const char *path))
{
    return fails(FAULT_OPEN, EMFILE) ? NULL : __real_opendir(path);
}

WRAP(int, stat, (const char *path, struct stat *to))
{
    return fails(FAULT_LOOK, EACCES) ? -1 : __real_stat(path, to);
}

WRAP(int, fstat, (int fd, struct stat *to))
{
    return fails(FAULT_LOOK, EIO) ? -1 : __real_fstat(fd, to);
}

WRAP(int, access, (const char *path, int mode))
{
    return fails(FAULT_LOOK, EACCES) ? -1 : __real_access(path, mode);
}

WRAP(ssize_t, readlink, (const char *path, char *to, size_t n))
{
    return fails(FAULT_LOOK, EIO) ? -1 : __real_readlink(path, to, n);
}

/* -1: it fails; otherwise how many bytes are to be asked for. */
static ssize_t allowed(fault_kind kind, int reason, size_t n)
{
    if (!strikes(kind))
        return (ssize_t)n;
    if (how == FAULT_SHORT)
        return n > 0;
    errno = how == FAULT_INTERRUPTED ? EINTR : reason;
    return -1;
}

WRAP(ssize_t, read, (int fd, void *to, size_t n))
{
    const ssize_t some = allowed(FAULT_READ, EIO, n);
    return some < 0 ? -1 : __real_read(fd, to, (size_t)some);
}

WRAP(ssize_t, pread, (int fd, void *to, size_t n, off_t at))
{
    const ssize_t some = allowed(FAULT_READ, EIO, n);
    return some < 0 ? -1 : __real_pread(fd, to, (size_t)some, at);
}

/* The disk, or what this user may have of it; in turn. */
static int full(void)
{
    return which % 2 ? ENOSPC : EDQUOT;
}

WRAP(ssize_t, write, (int fd, const void *from, size_t n))
{
    const ssize_t some = allowed(FAULT_WRITE, full(), n);
    return some < 0 ? -1 : __real_write(fd, from, (size_t)some);
}

WRAP(ssize_t, pwrite, (int fd, const void *from, size_t n, off_t at))
{
    const ssize_t some = allowed(FAULT_WRITE, full(), n);
    return some < 0 ? -1 : __real_pwrite(fd, from, (size_t)some, at);
}

WRAP(int, fsync, (int fd))
{
    return fails(FAULT_SYNC, EIO) ? -1 : __real_fsync(fd);
}

/* The descriptor is free also where closing it says that data were lost. */
WRAP(int, close, (int fd))
{
    const int result = __real_close(fd);
    return fails(FAULT_CLOSE, EIO) ? -1 : result;
}

WRAP(int, rename, (const char *from, const char *to))
{
    return fails(FAULT_RENAME, EACCES) ? -1 : __real_rename(from, to);
}

WRAP(int, shm_open, (const char *name, int flags, mode_t mode))
{
    return fails(FAULT_SHARE, ENOSPC) ? -1 : __real_shm_open(name, flags, mode);
}

WRAP(int, posix_fallocate, (int fd, off_t offset, off_t n))
{
    if (strikes(FAULT_SHARE))
        return how == FAULT_INTERRUPTED ? EINTR : ENOSPC;
    return __real_posix_fallocate(fd, offset, n);
}

/* ---- streams ----------------------------------------------------------------------------------------------------- */

static ssize_t stream_read(void *cookie, char *to, size_t n)
{
    return __wrap_read((int)(intptr_t)cookie, to, n);
}

static ssize_t stream_write(void *cookie, const char *from, size_t n)
{
    const ssize_t wrote = __wrap_write((int)(intptr_t)cookie, from, n);
    return wrote < 0 ? 0 : wrote; /* as fopencookie wants its errors */
}

static int stream_close(void *cookie)
{
    return __wrap_close((int)(intptr_t)cookie);
}

WRAP(FILE *, fopen, (const char *path, const char *mode))
{
    if (fails(FAULT_OPEN, EMFILE))
        return NULL;
    const bool reads = mode[0] == 'r';
    const int fd = __real_open(path, (reads ? O_RDONLY : O_WRONLY | O_CREAT | O_TRUNC) | O_CLOEXEC, 0666);
    if (fd < 0)
        return NULL;
    FILE *file = fopencookie((void *)(intptr_t)fd, reads ? "r" : "w",
                             (cookie_io_functions_t){stream_read, stream_write, NULL, stream_close});
    if (!file)
        __real_close(fd);
    return file;
}

/* ---- the end of the program -------------------------------------------------------------------------------------- */

WRAP(int, atexit, (void (*function)(void)))
{
    if (!fault_exit)
        return __real_atexit(function);
    if (ends < (int)(sizeof at_end / sizeof *at_end))
        at_end[ends++] = function;
    return 0;
}

void fault_run_atexit(void)
{
    while (ends > 0)
        at_end[--ends]();
}

_Noreturn void __real_exit(int status);
_Noreturn void __wrap_exit(int status);
_Noreturn void __wrap_exit(int status)
{
    if (fault_exit)
        fault_exit(status);
    __real_exit(status);
}
