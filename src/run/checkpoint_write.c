/* checkpoint_write.c - a state from the copy to the file. The copy holds the rounds up; checksums, writing and waiting for the
 * disk are a thread's. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/parallel.h"
#include "run/checkpoint_run.h"

static bool writes_head(const checkpoint *c)
{
    return c->of_rank || bda_comm_rank(c->comm) == 0;
}

static uint64_t own_piece(const checkpoint *c)
{
    return (uint64_t)bda_comm_rank(c->comm);
}

/* ---- the copy -------------------------------------------------------------------------------------------------- */

/* This rank's piece of the whole: [*first, *end). */
static void share_of(const checkpoint *c, uint64_t bytes, uint64_t *first, uint64_t *end)
{
    const uint64_t size = c->head.pieces, rank = own_piece(c), each = bytes / size, rest = bytes % size;
    *first = rank * each + (rank < rest ? rank : rest);
    *end = *first + each + (rank < rest);
}

/* The lengths of all parts, and a tag that no other checkpoint has: one message. Returns the bytes of the whole. */
static uint64_t measure(checkpoint *c, const method_state *state)
{
    checkpoint_head *h = &c->head;
    const data *d = c->p->data;
    uint64_t first, end;
    archive whole = archive_counting();
    checkpoint_walk(&whole, c, state);
    memset(h->length, 0, (h->pieces + h->blocks + 1) * sizeof *h->length);
    share_of(c, whole.at, &first, &end);
    h->length[own_piece(c)] = end - first;
    for (uint64_t k = 0; k < d->local_blocks; k++) {
        archive a = archive_counting();
        if (state->block)
            state->block(&a, state->run, k);
        h->length[h->pieces + d->first_block + k] = a.at;
    }
    if (bda_comm_rank(c->comm) == 0) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        const uint64_t seed[] = {(uint64_t)now.tv_sec, (uint64_t)now.tv_nsec, (uint64_t)getpid(), h->number};
        h->length[h->pieces + h->blocks] = XXH3_64bits(seed, sizeof seed);
    }
    comm_sum_long(c->comm, h->length, h->pieces + h->blocks + 1);
    h->tag = h->length[h->pieces + h->blocks];
    return whole.at;
}

static bool make_room(checkpoint *c, bda_error *err)
{
    checkpoint_writing *w = &c->write;
    uint64_t end;
    checkpoint_region(&c->head, own_piece(c), &w->first, &end);
    w->count = end - w->first;
    if (w->count <= w->room)
        return true;
    unsigned char *region = mem_resize(NULL, 0, w->count, "the copy of the state for a checkpoint", err);
    if (!region)
        return false;
    mem_free(w->region, w->room);
    w->region = region;
    w->room = w->count;
    return true;
}

static unsigned char *place_of(const checkpoint *c, uint64_t part)
{
    unsigned char *at = c->write.region + (c->head.place[part] - c->write.first);
    memset(at + CHECKPOINT_PART + c->head.length[part] / 8 * 8, 0, c->head.length[part] % 8 ? 8 : 0);
    return at + CHECKPOINT_PART;
}

static void copy(checkpoint *c, const method_state *state, uint64_t bytes)
{
    const data *d = c->p->data;
    uint64_t first, end;
    share_of(c, bytes, &first, &end);
    archive whole = archive_saving(place_of(c, own_piece(c)), first, end);
    checkpoint_walk(&whole, c, state);
    FOR_BLOCKS (k, d->local_blocks, c->p->threads) {
        const uint64_t part = c->head.pieces + d->first_block + k;
        archive a = archive_saving(place_of(c, part), 0, c->head.length[part]);
        if (state->block)
            state->block(&a, state->run, k);
    }
}

/* ---- the file -------------------------------------------------------------------------------------------------- */

static bool write_parts(checkpoint *c, int file, bda_error *err)
{
    checkpoint_writing *w = &c->write;
    const checkpoint_head *h = &c->head;
    const uint64_t first = c->p->data->first_block, end = first + c->p->data->local_blocks;
    checkpoint_seal(h, own_piece(c), w->region + (h->place[own_piece(c)] - w->first));
    for (uint64_t k = first; k < end; k++)
        checkpoint_seal(h, h->pieces + k, w->region + (h->place[h->pieces + k] - w->first));
    if (writes_head(c) && (ftruncate(file, (off_t)h->bytes) != 0 ||
                           !checkpoint_write(file, w->head.at, w->head.count, 0, c->name.new, err)))
        return err_set(err, BDA_FAILED, "cannot write '%.300s': %s", c->name.new, strerror(errno));
    return checkpoint_write(file, w->region, w->count, w->first, c->name.new, err);
}

static void *write_all(void *self)
{
    checkpoint *c = self;
    checkpoint_writing *w = &c->write;
    const int file = open(c->name.new, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    w->ok = file >= 0 || err_set(&w->error, BDA_FAILED, "cannot write '%.300s': %s", c->name.new, strerror(errno));
    w->ok = w->ok && write_parts(c, file, &w->error);
    if (w->ok && fsync(file) != 0)
        w->ok = err_set(&w->error, BDA_FAILED, "cannot write '%.300s': %s", c->name.new, strerror(errno));
    if (file >= 0 && close(file) != 0 && w->ok)
        w->ok = err_set(&w->error, BDA_FAILED, "cannot write '%.300s': %s", c->name.new, strerror(errno));
    w->done = true;
    return NULL;
}

/* Signals are for the thread that trains. Without a thread it is written at once. */
static void begin(checkpoint *c)
{
    checkpoint_writing *w = &c->write;
    sigset_t all, before;
    w->error = (bda_error){0};
    w->done = false;
    w->under_way = true;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    w->threaded = pthread_create(&w->thread, NULL, write_all, c) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!w->threaded)
        write_all(c);
}

void checkpoint_take(checkpoint *c, const method_state *state, uint64_t t, bool last)
{
    checkpoint_head *h = &c->head;
    const bda_progress *now = &c->watch->now;
    bda_error err = {0};
    h->number++;
    h->round = now->round;
    h->method_round = t;
    h->stopped = last;
    h->seconds = now->seconds;
    h->primal = now->best_primal;
    h->gap = now->relative_gap;
    const uint64_t bytes = measure(c, state);
    c->write.head.count = 0;
    bool ok = checkpoint_lay_out(h, &err) && make_room(c, &err) && checkpoint_encode(h, &c->write.head, &err);
    if (!comm_agree(c->comm, ok, &err)) {
        checkpoint_note(c, true, "no checkpoint after round %llu: %s", (unsigned long long)h->round, err.text);
        return;
    }
    copy(c, state, bytes);
    begin(c);
    if (last)
        checkpoint_finish(c);
}

bool checkpoint_is_written(checkpoint *c)
{
    double waits = !c->write.done;
    comm_max_reals(c->comm, &waits, 1);
    return waits == 0;
}

/* Where a rank has written to a file of the same name on a disk of its own, its parts are not there. */
static bool has_all_parts(const checkpoint *c, bda_error *err)
{
    if (c->of_rank || bda_comm_rank(c->comm) > 0)
        return true;
    const int file = open(c->name.new, O_RDONLY | O_CLOEXEC);
    bool ok = file >= 0;
    uint64_t r = 0;
    while (ok && r < c->head.pieces && (ok = checkpoint_has_part(&c->head, file, r)))
        r++;
    if (file >= 0)
        close(file);
    return ok ||
           err_set(err, BDA_FAILED,
                   "what rank %llu wrote is not in '%.300s' as rank 0 sees it; where ranks have disks of their own, "
                   "--checkpoint needs {rank} in its name",
                   (unsigned long long)r, c->name.new);
}

static void synchronise_directory(const char *path)
{
    char directory[PATH_MAX];
    snprintf(directory, sizeof directory, "%s", path);
    char *slash = strrchr(directory, '/');
    if (slash)
        slash[slash == directory] = 0;
    const int file = open(slash ? directory : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file >= 0) {
        (void)fsync(file); /* some file systems have no such thing */
        close(file);
    }
}

static bool appear(checkpoint *c, bda_error *err)
{
    if (!writes_head(c))
        return true;
    if (!c->damaged && rename(c->name.now, c->name.old) != 0 && errno != ENOENT)
        return err_set(err, BDA_FAILED, "cannot rename '%.300s' to '%.300s': %s", c->name.now, c->name.old,
                       strerror(errno));
    if (rename(c->name.new, c->name.now) != 0)
        return err_set(err, BDA_FAILED, "cannot rename '%.300s' to '%.300s': %s", c->name.new, c->name.now,
                       strerror(errno));
    c->damaged = false;
    synchronise_directory(c->name.now);
    return true;
}

void checkpoint_finish(checkpoint *c)
{
    checkpoint_writing *w = &c->write;
    bda_error err = {0};
    if (w->threaded)
        pthread_join(w->thread, NULL);
    w->under_way = false;
    if (!w->ok)
        err = w->error;
    bool ok = comm_agree(c->comm, w->ok, &err) && comm_agree(c->comm, has_all_parts(c, &err), &err);
    ok = ok && comm_agree(c->comm, appear(c, &err), &err);
    if (ok)
        return;
    (void)unlink(c->name.new);
    checkpoint_note(c, true, "no checkpoint after round %llu: %s", (unsigned long long)c->head.round, err.text);
}
