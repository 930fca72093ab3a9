/* processors.c - how many processors a rank may keep busy without taking those of others on its machine. */
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "comm/comm.h"

/* FNV-1a of the machine's name. */
static uint64_t machine(void)
{
    char name[256] = "";
    uint64_t hash = 14695981039346656037u;
    gethostname(name, sizeof name - 1);
    for (const char *c = name; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 1099511628211u;
    return hash;
}

/* Those this process is bound to, and no more than its share of the machine's: several ranks may be bound to the same
 * ones, or none to any. */
static int own_processors(uint64_t ranks_here)
{
    cpu_set_t bound;
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    const long allowed = sched_getaffinity(0, sizeof bound, &bound) == 0 ? CPU_COUNT(&bound) : online;
    const long share = online / (long)ranks_here;
    const long own = share < allowed ? share : allowed;
    return own < 1 ? 1 : (int)own;
}

int bda_comm_processors(bda_comm *c)
{
    const int size = bda_comm_size(c);
    bda_error ignored = {0};
    uint64_t *all = calloc((size_t)size, sizeof *all), here = 0;
    if (!comm_agree(c, all != NULL, &ignored)) {
        free(all);
        return 1;
    }
    comm_gather_counts(c, machine(), all);
    for (int r = 0; r < size; r++)
        here += all[r] == all[bda_comm_rank(c)];
    free(all);
    double most = -own_processors(here);
    comm_max_reals(c, &most, 1);
    return (int)-most;
}
