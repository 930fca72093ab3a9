/* shared.c - memory that all ranks see, where they run on one machine (POSIX shared memory).
 *
 * Whether they do is not asked of MPI but tried: rank 0 makes an object and writes a token into it, the others open
 * it by name and look for the token. Ranks on other machines, or in containers of their own, do not find it. Room is
 * asked for before anyone writes, so a machine whose shared memory is full is known in time. The name is taken away
 * as soon as all have seen it: nothing stays behind when ranks end, however they do. */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "comm/operations.h"

/* How the others find what rank 0 made. */
typedef struct invitation {
    char name[64]; /* empty: rank 0 could not make it */
    uint64_t token;
} invitation;

static bool has_room(int file, uint64_t bytes)
{
    int why;
    do
        why = posix_fallocate(file, 0, (off_t)bytes);
    while (why == EINTR);
    return why == 0;
}

static void *map(int file, uint64_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return p == MAP_FAILED ? NULL : p;
}

/* On rank 0. */
static void *make(invitation *to, uint64_t bytes)
{
    static unsigned made;
    to->token = (uint64_t)(clock_now() * 1e9) ^ (uint64_t)getpid() << 40;
    snprintf(to->name, sizeof to->name, "/bda-%ld-%u-%llx", (long)getpid(), made++, (unsigned long long)to->token);
    int file = shm_open(to->name, O_RDWR | O_CREAT | O_EXCL, 0600);
    void *p = file >= 0 && has_room(file, bytes) ? map(file, bytes) : NULL;
    if (p)
        memcpy(p, &to->token, sizeof to->token);
    else if (file >= 0)
        shm_unlink(to->name);
    if (file >= 0)
        close(file);
    if (!p)
        to->name[0] = 0;
    return p;
}

/* On the others. */
static void *join(const invitation *to, uint64_t bytes)
{
    struct stat about;
    uint64_t token = 0;
    int file = to->name[0] ? shm_open(to->name, O_RDWR, 0) : -1;
    void *p = file >= 0 && fstat(file, &about) == 0 && (uint64_t)about.st_size >= bytes ? map(file, bytes) : NULL;
    if (file >= 0)
        close(file);
    if (p)
        memcpy(&token, p, sizeof token);
    if (p && token != to->token) {
        munmap(p, bytes);
        p = NULL;
    }
    return p;
}

/* Less than a token is no memory. */
static uint64_t at_least(uint64_t bytes)
{
    return bytes < sizeof(uint64_t) ? sizeof(uint64_t) : bytes;
}

void *comm_share_alone(uint64_t bytes)
{
    void *p = mmap(NULL, at_least(bytes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

void *comm_share(comm *c, uint64_t bytes)
{
    bda_error ignored = {0};
    bytes = at_least(bytes);
    if (c->size == 1)
        return comm_share_alone(bytes);
    invitation to = {0};
    void *p = c->rank == 0 && !c->apart ? make(&to, bytes) : NULL;
    comm_broadcast(c, 0, &to, sizeof to);
    if (c->rank > 0)
        p = join(&to, bytes);
    bool all = comm_agree(c, p != NULL, &ignored);
    if (c->rank == 0 && p) {
        shm_unlink(to.name);
        memset(p, 0, sizeof to.token);
    }
    if (all)
        return p;
    comm_unshare(p, bytes);
    return NULL;
}

void *comm_view(void *shared, uint64_t bytes, uint64_t own)
{
    char *view = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (view == MAP_FAILED)
        return NULL;
    if (mem_move_pages((char *)shared + own, 0, bytes - own, view + own))
        return view;
    munmap(view, bytes);
    return NULL;
}

void comm_unshare(void *p, uint64_t bytes)
{
    if (p)
        munmap(p, at_least(bytes));
}

void comm_meet(comm *c)
{
    int64_t nothing = 0;
    double start = clock_now();
    atomic_thread_fence(memory_order_seq_cst);
    c->operations->max(c, &nothing, 1);
    atomic_thread_fence(memory_order_seq_cst);
    c->said.seconds += clock_now() - start;
    c->said.bytes += sizeof nothing;
}
