/* pulse.c - see pulse.h. The ranks are a ring. Each sends a datagram to the next one twice a second, from a thread of its own
 * that does nothing else, and listens to the one before. MPI plays no part but to tell the addresses at the beginning.
 *
 * Nobody is missed who was never heard: where datagrams do not get through, all is as it would be without. A rank that was
 * itself stopped for a while, as batch systems do with whole jobs, starts to count anew. Who misses a rank tells the next
 * one, so that also those end that can no longer reach the launcher. */
#include "comm/pulse.h"

#include "base/clock.h"
#include "comm/guard.h"
#include "comm/operations.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#define BEAT 0.5         /* seconds between two signs of life */
#define FIRST_SIGN 1.0   /* seconds until which it has to come, if datagrams come through at all */
#define OWN_SLEEP 2.0    /* a turn of the thread that takes longer: this process was stopped */
#define MOST_ADDRESSES 5 /* of a host */
#define LEAVES 3         /* times that the last datagram is sent: some get lost */

/* Where a rank listens; whole words, so that ranks can add theirs up. */
typedef struct place {
    char host[64];
    uint32_t address[MOST_ADDRESSES]; /* IPv4, in network order; 0: none */
    uint32_t port;                    /* 0: it does not listen */
} place;

_Static_assert(sizeof(place) % sizeof(uint64_t) == 0, "places are added up as words");

typedef enum sign { SIGN_ALIVE, SIGN_LEAVES, SIGN_LOST } sign;

typedef struct datagram {
    uint64_t token;
    int32_t rank; /* of the sender; SIGN_LOST: of who is missed */
    int32_t sign;
} datagram;

struct pulse {
    int fd, rank, size;
    uint64_t token;
    place next;
    double patience;
    void (*lost)(void *self, int rank, bool first);
    void *self;
    bool ever; /* was the rank before heard of? */
    _Atomic bool stopping;
    pthread_t thread;
};

static int before(const pulse *p)
{
    return (p->rank + p->size - 1) % p->size;
}

static void tell(const pulse *p, sign sign, int rank)
{
    const datagram d = {.token = p->token, .rank = rank, .sign = sign};
    for (int i = 0; p->next.port && i < MOST_ADDRESSES; i++) {
        const struct sockaddr_in to = {
            .sin_family = AF_INET, .sin_port = htons((uint16_t)p->next.port), .sin_addr.s_addr = p->next.address[i]};
        if (p->next.address[i])
            (void)!sendto(p->fd, &d, sizeof d, MSG_DONTWAIT | MSG_NOSIGNAL, (const struct sockaddr *)&to, sizeof to);
    }
}

static void give_up(const pulse *p, int rank, bool first)
{
    for (int i = 0; i < LEAVES; i++)
        tell(p, SIGN_LOST, rank);
    p->lost(p->self, rank, first);
}

/* What came in, if anything: *heard is set where it is from the rank before. */
static void listen_to(const pulse *p, bool *heard, bool *left)
{
    datagram d;
    while (recv(p->fd, &d, sizeof d, MSG_DONTWAIT) == (ssize_t)sizeof d) {
        if (d.token != p->token)
            continue;
        if (d.sign == SIGN_LOST)
            give_up(p, d.rank, false);
        *heard |= d.rank == before(p);
        *left |= d.rank == before(p) && d.sign == SIGN_LEAVES;
    }
}

static void *beat(void *self)
{
    pulse *p = self;
    bool left = false;
    double last = clock_now(), turn = last, sent = 0;
    while (!atomic_load(&p->stopping)) {
        struct pollfd in = {.fd = p->fd, .events = POLLIN};
        poll(&in, 1, (int)(1000 * BEAT / 2));
        const double now = clock_now();
        bool heard = false;
        listen_to(p, &heard, &left);
        p->ever |= heard;
        if (heard || now - turn > OWN_SLEEP)
            last = now;
        turn = now;
        if (now - sent >= BEAT) {
            tell(p, SIGN_ALIVE, p->rank);
            sent = now;
        }
        if (p->ever && !left && now - last > p->patience)
            give_up(p, before(p), true);
    }
    return NULL;
}

/* The addresses of this machine that others may reach; where there are more, the first. */
static void list_addresses(place *own)
{
    struct ifaddrs *all = NULL;
    int count = 0;
    if (getifaddrs(&all) != 0)
        return;
    for (const struct ifaddrs *a = all; a && count < MOST_ADDRESSES; a = a->ifa_next)
        if (a->ifa_addr && a->ifa_addr->sa_family == AF_INET && (a->ifa_flags & IFF_UP) &&
            !(a->ifa_flags & IFF_LOOPBACK))
            own->address[count++] = ((const struct sockaddr_in *)(const void *)a->ifa_addr)->sin_addr.s_addr;
    freeifaddrs(all);
}

static int open_socket(place *own)
{
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_ANY)};
    socklen_t length = sizeof any;
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    if (bind(fd, (struct sockaddr *)&any, sizeof any) != 0 ||
        getsockname(fd, (struct sockaddr *)&any, &length) != 0) {
        close(fd);
        return -1;
    }
    gethostname(own->host, sizeof own->host - 1);
    own->port = ntohs(any.sin_port);
    list_addresses(own);
    return fd;
}

/* Whoever is lost once all ranks have come through here is missed. */
static void hear_first(pulse *p)
{
    bool left = false;
    for (double start = clock_now(); !p->ever && clock_now() - start < FIRST_SIGN;) {
        struct pollfd in = {.fd = p->fd, .events = POLLIN};
        tell(p, SIGN_ALIVE, p->rank);
        poll(&in, 1, (int)(1000 * BEAT / 2));
        listen_to(p, &p->ever, &left);
    }
}

static void meet(pulse *p, comm *c, place *all)
{
    place own = {0};
    p->fd = open_socket(&own);
    if (c->rank == 0 && getrandom(&p->token, sizeof p->token, GRND_NONBLOCK) != (ssize_t)sizeof p->token)
        p->token = (uint64_t)(clock_now() * 1e9) ^ (uint64_t)getpid() << 40;
    comm_broadcast(c, 0, &p->token, sizeof p->token);
    all[c->rank] = own;
    comm_sum_long(c, all, (uint64_t)c->size * sizeof *all / sizeof(uint64_t));
    p->next = all[(c->rank + 1) % c->size];
    if (strcmp(p->next.host, own.host) == 0) { /* nothing leaves the machine */
        memset(p->next.address, 0, sizeof p->next.address);
        p->next.address[0] = htonl(INADDR_LOOPBACK);
    }
}

bool bda_comm_watch(bda_comm *c, double patience, void (*lost)(void *self, int rank, bool first), void *self,
                    bda_error *err)
{
    err_clear(err);
    if (c->size == 1 || c->pulse)
        return true;
    comm_broadcast(c, 0, &patience, sizeof patience); /* launchers may hand variables to some ranks alone */
    if (!(patience > 0))
        return true;
    arena memory = {0};
    pulse *p = ARENA_TAKE(&c->memory, pulse, 1, err);
    place *all = ARENA_TAKE(&memory, place, (uint64_t)c->size, err);
    const bool ok = comm_agree(c, p && all, err);
    if (ok) {
        *p = (pulse){.rank = c->rank, .size = c->size, .patience = patience, .lost = lost, .self = self};
        meet(p, c, all);
        if (p->fd >= 0)
            hear_first(p);
        if (p->fd >= 0 && quiet_thread(&p->thread, beat, p))
            c->pulse = p;
        else if (p->fd >= 0)
            close(p->fd);
    }
    arena_free(&memory);
    return ok && comm_agree(c, true, err);
}

void pulse_stop(pulse *p)
{
    if (!p)
        return;
    for (int i = 0; i < LEAVES; i++)
        tell(p, SIGN_LEAVES, p->rank);
    atomic_store(&p->stopping, true);
    pthread_join(p->thread, NULL);
    close(p->fd);
}
