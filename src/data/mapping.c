/* mapping.c - see mapping.h. A signal handler looks into the table, so its places are taken and given back by one atomic
 * store, and never move. */
#include "data/mapping.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST 64 /* files mapped at a time; what is beyond is not watched */

typedef struct mapping {
    _Atomic(char *) begin; /* NULL: a free place */
    uint64_t bytes;
    _Atomic uint64_t vital;
    _Atomic bool lost;
    struct stat was;
    char path[400];
} mapping;

static char taken; /* its address marks a place that is being filled */
static mapping table[MOST];

static mapping *find(const void *map)
{
    for (int i = 0; map && i < MOST; i++)
        if (atomic_load(&table[i].begin) == map)
            return &table[i];
    return NULL;
}

static void watch(char *map, uint64_t bytes, const struct stat *now, const char *path)
{
    for (int i = 0; i < MOST; i++) {
        mapping *m = &table[i];
        char *expected = NULL;
        if (!atomic_compare_exchange_strong(&m->begin, &expected, &taken))
            continue;
        m->bytes = bytes;
        m->was = *now;
        snprintf(m->path, sizeof m->path, "%s", path);
        atomic_store(&m->vital, 0);
        atomic_store(&m->lost, false);
        atomic_store(&m->begin, map);
        return;
    }
}

void *mapping_open(int fd, const char *path, uint64_t bytes)
{
    struct stat now;
    if (fstat(fd, &now) != 0)
        return NULL;
    void *map = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    if (map == MAP_FAILED)
        return NULL;
    watch(map, bytes, &now, path);
    return map;
}

void mapping_close(void *map, uint64_t bytes)
{
    mapping *m = find(map);
    if (m)
        atomic_store(&m->begin, NULL);
    munmap(map, bytes);
}

void mapping_use(void *map, uint64_t vital)
{
    mapping *m = find(map);
    if (m)
        atomic_store(&m->vital, vital);
}

bool mapping_lost(const void *map)
{
    mapping *m = find(map);
    return m && atomic_load(&m->lost);
}

static bool same_time(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

bool mapping_intact(const void *map, bda_error *err)
{
    mapping *m = find(map);
    struct stat now;
    if (!m)
        return true;
    if (atomic_load(&m->lost))
        return err_set(err, BDA_FAILED, "%s: became shorter while it was used", m->path);
    const bool there = stat(m->path, &now) == 0 && now.st_dev == m->was.st_dev && now.st_ino == m->was.st_ino;
    if (!there || (now.st_size == m->was.st_size && same_time(&now.st_mtim, &m->was.st_mtim)))
        return true; /* what was removed or replaced stays as it was */
    return err_set(err, BDA_FAILED, "%s: was changed while it was used", m->path);
}

bool bda_data_changed(void)
{
    for (int i = 0; i < MOST; i++) {
        mapping *m = &table[i];
        struct stat now;
        const char *begin = atomic_load(&m->begin);
        if (begin && begin != &taken &&
            (atomic_load(&m->lost) ||
             (stat(m->path, &now) == 0 && now.st_dev == m->was.st_dev && now.st_ino == m->was.st_ino &&
              (now.st_size != m->was.st_size || !same_time(&now.st_mtim, &m->was.st_mtim)))))
            return true;
    }
    return false;
}

bool bda_replace_lost_page(void *address)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)address & ~(page - 1);
    for (int i = 0; i < MOST; i++) {
        mapping *m = &table[i];
        const uintptr_t begin = (uintptr_t)atomic_load(&m->begin);
        if (begin == 0 || begin == (uintptr_t)&taken || at < begin || at >= begin + m->bytes)
            continue;
        atomic_store(&m->lost, true);
        return at >= begin + atomic_load(&m->vital) &&
               mmap((void *)at, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
    }
    return false;
}
