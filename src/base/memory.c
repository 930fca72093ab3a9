/* memory.c - see memory.h. Small pieces come from the C library, large ones (LARGE and more) from the kernel: mapped
 * at a multiple of a huge page and in whole huge pages, so that the last one can be huge as well. Which of the two a
 * piece is follows from its size alone. */
#include "base/memory.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LARGE ((uint64_t)1 << 20)
#define HUGE_PAGE ((uint64_t)2 << 20)
#define ALIGNMENT 64 /* of small pieces: a cache line */

struct arena_piece {
    struct arena_piece *previous;
    void *address;
    uint64_t bytes;
};

static _Atomic uint64_t requests_to_failure;

void mem_fail_at(uint64_t k)
{
    atomic_store(&requests_to_failure, k);
}

static bool made_to_fail(void)
{
    uint64_t left = atomic_load(&requests_to_failure);
    while (left > 0)
        if (atomic_compare_exchange_weak(&requests_to_failure, &left, left - 1))
            return left == 1;
    return false;
}

static bool is_large(uint64_t bytes)
{
    return bytes >= LARGE;
}

/* The length of the mapping of a large piece. */
static uint64_t mapped_bytes(uint64_t bytes)
{
    return (bytes + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
}

/* Address space for a large piece, at a multiple of HUGE_PAGE: maps one huge page more and cuts off both ends. */
static void *map_aligned(uint64_t length, int protection)
{
    char *start = mmap(NULL, length + HUGE_PAGE, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED)
        return NULL;
    uint64_t before = -(uintptr_t)start & (HUGE_PAGE - 1);
    if (before > 0)
        munmap(start, before);
    if (before < HUGE_PAGE)
        munmap(start + before + length, HUGE_PAGE - before);
    return start + before;
}

void mem_advise_huge(void *p, uint64_t bytes)
{
    uintptr_t page = 4096, first = ((uintptr_t)p + page - 1) & ~(page - 1),
              end = ((uintptr_t)p + bytes) & ~(page - 1);
    if (end > first && end - first >= HUGE_PAGE)
        madvise((void *)first, end - first, MADV_HUGEPAGE);
}

/* Beyond half the address space no request can be met, and sizes below never overflow. */
static bool is_absurd(uint64_t bytes)
{
    return bytes > UINT64_MAX / 4;
}

static void *take(uint64_t bytes, bool zeroed)
{
    if (is_absurd(bytes) || made_to_fail())
        return NULL;
    if (is_large(bytes)) {
        void *p = map_aligned(mapped_bytes(bytes), PROT_READ | PROT_WRITE);
        if (p)
            mem_advise_huge(p, mapped_bytes(bytes));
        return p;
    }
    void *p = aligned_alloc(ALIGNMENT, (bytes / ALIGNMENT + 1) * ALIGNMENT);
    if (p && zeroed)
        memset(p, 0, bytes);
    return p;
}

void mem_free(void *p, uint64_t bytes)
{
    if (p && is_large(bytes))
        munmap(p, mapped_bytes(bytes));
    else
        free(p);
}

void *arena_take(arena *a, uint64_t count, uint64_t size, const char *what, bda_error *err)
{
    uint64_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        bytes = UINT64_MAX;
    struct arena_piece *piece = malloc(sizeof *piece);
    void *address = piece ? take(bytes, true) : NULL;
    if (!address) {
        free(piece);
        err_memory(err, bytes, what);
        return NULL;
    }
    *piece = (struct arena_piece){.previous = a->last, .address = address, .bytes = bytes};
    a->last = piece;
    a->bytes += bytes;
    return address;
}

void arena_free(arena *a)
{
    while (a->last) {
        struct arena_piece *piece = a->last;
        a->last = piece->previous;
        mem_free(piece->address, piece->bytes);
        free(piece);
    }
    a->bytes = 0;
}

/* The kernel is called directly: some MPI libraries replace the C library's mremap by one that takes four arguments and
 * drops the fifth (UCX, below MPICH), so that the pages would land anywhere. */
bool mem_move_pages(void *old, uint64_t old_length, uint64_t length, void *place)
{
    return syscall(SYS_mremap, old, old_length, length, MREMAP_MAYMOVE | MREMAP_FIXED, place) == (long)place;
}

/* Grows or shrinks a mapping: in place, or else its pages are moved to a new aligned range. */
static void *remap(void *old, uint64_t old_length, uint64_t length)
{
    if (length == old_length || mremap(old, old_length, length, 0) != MAP_FAILED)
        return old;
    void *place = map_aligned(length, PROT_NONE);
    if (!place)
        return NULL;
    if (!mem_move_pages(old, old_length, length, place)) {
        munmap(place, length);
        return NULL;
    }
    mem_advise_huge(place, length);
    return place;
}

void *mem_resize(void *old, uint64_t old_bytes, uint64_t bytes, const char *what, bda_error *err)
{
    void *p;
    if (old && is_large(old_bytes) && is_large(bytes)) {
        bool fails = is_absurd(bytes) || made_to_fail();
        p = fails ? NULL : remap(old, mapped_bytes(old_bytes), mapped_bytes(bytes));
    } else {
        p = take(bytes, false);
        if (p && old) {
            memcpy(p, old, old_bytes < bytes ? old_bytes : bytes);
            mem_free(old, old_bytes);
        }
    }
    if (!p)
        err_memory(err, bytes, what);
    return p;
}

/* The number after `name` at the start of a line of a file such as /proc/meminfo; `name` "" takes the first word.
 * False where there is none, or a word ("max") in its place. */
static bool read_number(const char *path, const char *name, uint64_t *number)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    char line[256];
    size_t length = strlen(name);
    bool found = false;
    while (!found && fgets(line, sizeof line, file)) {
        if (strncmp(line, name, length) != 0)
            continue;
        char *end;
        unsigned long long value = strtoull(line + length, &end, 10);
        found = end > line + length;
        *number = value;
    }
    fclose(file);
    return found;
}

uint64_t mem_peak_bytes(void)
{
    /* Not ru_maxrss at first: it starts at what the parent held. */
    uint64_t kilobytes;
    if (read_number("/proc/self/status", "VmHWM:", &kilobytes))
        return kilobytes * 1024;
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss * 1024 : 0;
}

/* Where the memory numbers of control groups are, in version 2 and version 1. */
typedef struct group_files {
    const char *line; /* of /proc/self/cgroup, before the group's path */
    const char *root, *limit, *used, *cache;
} group_files;

static const group_files group_versions[] = {
    {"0::", "/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file "},
    {":memory:", "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file "},
};

/* Limit less use of one group; file cache that nobody used lately can be had and is not counted as use. */
static uint64_t group_left(const group_files *files, const char *group)
{
    char path[4096 + 256];
    uint64_t limit, used = 0, cache = 0;
    snprintf(path, sizeof path, "%s%s/%s", files->root, group, files->limit);
    if (!read_number(path, "", &limit))
        return UINT64_MAX;
    snprintf(path, sizeof path, "%s%s/%s", files->root, group, files->used);
    read_number(path, "", &used);
    snprintf(path, sizeof path, "%s%s/memory.stat", files->root, group);
    read_number(path, files->cache, &cache);
    used -= cache < used ? cache : used;
    return limit > used ? limit - used : 0;
}

/* The least that is left over this process's group and all groups above it. */
static uint64_t groups_left(const group_files *files)
{
    FILE *file = fopen("/proc/self/cgroup", "re");
    if (!file)
        return UINT64_MAX;
    char line[4096], *group = NULL;
    while (!group && fgets(line, sizeof line, file)) {
        group = strstr(line, files->line);
        if (group)
            group += strlen(files->line);
    }
    fclose(file);
    if (!group)
        return UINT64_MAX;
    group[strcspn(group, "\n")] = 0;
    uint64_t least = UINT64_MAX;
    for (;;) {
        uint64_t left = group_left(files, group);
        least = left < least ? left : least;
        char *slash = strrchr(group, '/');
        if (!slash)
            return least;
        *slash = 0;
    }
}

uint64_t mem_available_bytes(void)
{
    uint64_t kilobytes, least = UINT64_MAX;
    if (read_number("/proc/meminfo", "MemAvailable:", &kilobytes))
        least = kilobytes * 1024;
    for (size_t i = 0; i < sizeof group_versions / sizeof group_versions[0]; i++) {
        uint64_t left = groups_left(&group_versions[i]);
        least = left < least ? left : least;
    }
    return least;
}
