/* checkpoint_load.c - the state to go on from: the newest that every rank finds whole, of FILE and FILE.old.
 *
 * Where ranks have files of their own, some may have a newer one than others, as they appear one after the other. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "run/checkpoint_run.h"

/* A file as this rank sees it. */
typedef struct candidate {
    const char *path;
    checkpoint_head head;
    bool missing, good;
    bda_error why; /* it is not good */
} candidate;

#define CANDIDATES 2

static void look(checkpoint *c, candidate of[CANDIDATES])
{
    of[0] = (candidate){.path = c->name.now};
    of[1] = (candidate){.path = c->name.old};
    for (int i = 0; i < CANDIDATES; i++)
        of[i].good = checkpoint_read_head(&of[i].head, of[i].path, &of[i].missing, &of[i].why);
}

/* The newest that is good, or NULL. */
static candidate *newest(candidate of[CANDIDATES])
{
    candidate *best = NULL;
    for (int i = 0; i < CANDIDATES; i++)
        if (of[i].good && (!best || of[i].head.number > best->head.number))
            best = &of[i];
    return best;
}

/* The newest that each rank has one as new as; 0: some have none. */
static candidate *common(checkpoint *c, candidate of[CANDIDATES])
{
    const candidate *mine = newest(of);
    double number = mine ? -(double)mine->head.number : 0;
    comm_max_reals(c->comm, &number, 1);
    for (int i = 0; i < CANDIDATES && number < 0; i++)
        if (of[i].good && (double)of[i].head.number == -number)
            return &of[i];
    return NULL;
}

/* ---- is it of this training? ----------------------------------------------------------------------------------- */

/* Names of traits that are no options begin with a blank. */
static bool refuse_trait(const candidate *x, const checkpoint_trait *own, const char *theirs, bda_error *err)
{
    const char *name = own->name, *was = theirs ? theirs : "", *is = own->value;
    if (name[0] == ' ')
        return err_set(err, BDA_FAILED,
                       "'%.300s' is the checkpoint of another training: its%s is %.200s, and here it is %.200s",
                       x->path, name, was, is);
    char before[300], now[300];
    snprintf(before, sizeof before, was[0] ? "with --%s=%.200s" : "without --%s", name, was);
    snprintf(now, sizeof now, is[0] ? "has --%s=%.200s" : "has no --%s", name, is);
    return err_set(err, BDA_FAILED, "'%.300s' is the checkpoint of another training: that was %s, and this one %s",
                   x->path, before, now);
}

static bool is_of_this(const checkpoint *c, const candidate *x, bda_error *err)
{
    for (uint64_t i = 0; i < c->head.traits; i++) {
        const char *theirs = checkpoint_trait_of(&x->head, c->trait[i].name);
        if (!theirs || strcmp(theirs, c->trait[i].value) != 0)
            return refuse_trait(x, &c->trait[i], theirs, err);
    }
    if (x->head.blocks != c->p->data->blocks)
        return err_set(err, BDA_FAILED, "'%.300s' has %" PRIu64 " blocks, and this training has %" PRIu64, x->path,
                       x->head.blocks, c->p->data->blocks);
    if (c->of_rank && x->head.pieces != (uint64_t)bda_comm_size(c->comm))
        return err_set(err, BDA_FAILED,
                       "'%.300s' is one of the files of %" PRIu64
                       " ranks; where the name has {rank} in it, as many are needed to go on",
                       x->path, x->head.pieces);
    return true;
}

/* ---- its bytes ------------------------------------------------------------------------------------------------- */

static bool take_memory(checkpoint *c, const checkpoint_head *h, bda_error *err)
{
    checkpoint_state *s = &c->from;
    const data *d = c->p->data;
    for (uint64_t r = 0; r < h->pieces; r++)
        s->count += h->length[r];
    if (!(s->whole = ARENA_TAKE(&s->memory, unsigned char, s->count + 1, err)) ||
        !(s->block = ARENA_TAKE(&s->memory, unsigned char *, d->local_blocks + 1, err)) ||
        !(s->length = ARENA_TAKE(&s->memory, uint64_t, d->local_blocks + 1, err)))
        return false;
    for (uint64_t k = 0; k < d->local_blocks; k++) {
        s->length[k] = h->length[h->pieces + d->first_block + k];
        if (!(s->block[k] = ARENA_TAKE(&s->memory, unsigned char, s->length[k] + 1, err)))
            return false;
    }
    return true;
}

/* A rank reads its blocks; the pieces rank 0, or each rank the one in its file. */
static bool read_parts(checkpoint *c, const candidate *x, bda_error *err)
{
    const checkpoint_head *h = &x->head;
    const uint64_t rank = (uint64_t)bda_comm_rank(c->comm);
    const int file = open(x->path, O_RDONLY | O_CLOEXEC);
    bool ok = file >= 0 || err_set(err, BDA_FAILED, "it cannot be opened");
    uint64_t at = 0;
    for (uint64_t r = 0; ok && r < h->pieces; at += h->length[r++])
        if (c->of_rank ? r == rank : rank == 0)
            ok = checkpoint_read_part(h, file, r, c->from.whole + at, err);
    for (uint64_t k = 0; ok && k < c->p->data->local_blocks; k++)
        ok = checkpoint_read_part(h, file, h->pieces + c->p->data->first_block + k, c->from.block[k], err);
    if (file >= 0)
        close(file);
    return ok;
}

static void share_whole(checkpoint *c, const checkpoint_head *h)
{
    uint64_t at = 0;
    for (uint64_t r = 0; r < h->pieces; at += h->length[r++])
        comm_broadcast(c->comm, c->of_rank ? (int)r : 0, c->from.whole + at, h->length[r]);
}

void checkpoint_forget(checkpoint_state *from)
{
    arena_free(&from->memory);
    *from = (checkpoint_state){0};
}

/* ---------------------------------------------------------------------------------------------------------------- */

/* Why there is nothing to go on from though there are files; the same on all ranks. */
static bool refuse_all(checkpoint *c, const candidate of[CANDIDATES], bda_error *err)
{
    const int rank = bda_comm_rank(c->comm);
    bool ok = true;
    for (int i = 0; i < CANDIDATES && ok; i++)
        if (!of[i].missing && !of[i].good)
            ok = err_set(err, BDA_FAILED, "'%.300s' is damaged: %.200s", of[i].path, of[i].why.text);
    if (ok && of[0].missing && of[1].missing)
        ok = err_set(err, BDA_FAILED, "rank %d sees no checkpoint '%.300s', which others do", rank, c->name.now);
    if (!comm_agree(c->comm, ok, err))
        return false;
    return err_set(err, BDA_FAILED, "the files of '%.300s' are not of one checkpoint", c->name.now);
}

/* The state of x, if all ranks find it whole; otherwise x is good no more. False: there is no memory, or it is of another
 * training. */
static bool try(checkpoint *c, candidate *x, bda_error *err)
{
    bda_error why = {0};
    if (!comm_agree(c->comm, is_of_this(c, x, err), err) || !comm_agree(c->comm, take_memory(c, &x->head, err), err))
        return false;
    const bool whole = read_parts(c, x, &why);
    if (comm_agree(c->comm, whole, &why)) {
        share_whole(c, &x->head);
        c->from.round = x->head.round;
        c->from.method_round = x->head.method_round;
        c->from.stopped = x->head.stopped;
        return true;
    }
    checkpoint_forget(&c->from);
    x->good = false;
    x->why = why;
    return true;
}

static void say_which(const checkpoint *c, const candidate of[CANDIDATES], const candidate *x)
{
    const unsigned long long round = x->head.round;
    if (x != &of[0] && !of[0].missing && !of[0].good)
        checkpoint_note(c, true, "'%.300s' is damaged (%.200s); going on after round %llu from '%.300s'", of[0].path,
                        of[0].why.text, round, x->path);
    else
        checkpoint_note(c, false, "going on after round %llu from '%.300s'", round, x->path);
}

static bool choose(checkpoint *c, candidate of[CANDIDATES], bool *found, bda_error *err)
{
    while (!*found) {
        candidate *x = common(c, of);
        if (!comm_agree(c->comm, x != NULL, &(bda_error){0}))
            return refuse_all(c, of, err);
        if (!try(c, x, err))
            return false;
        *found = x->good;
        if (*found)
            say_which(c, of, x);
    }
    return true;
}

bool checkpoint_load(checkpoint *c, bool resume, bool *found, bda_error *err)
{
    candidate of[CANDIDATES];
    bool ok = true;
    *found = false;
    look(c, of);
    const candidate *mine = newest(of);
    double most[2] = {mine ? (double)mine->head.number : 0, !of[0].missing || !of[1].missing};
    comm_max_reals(c->comm, most, 2);
    c->head.number = (uint64_t)most[0];
    if (resume && most[1] > 0)
        ok = choose(c, of, found, err);
    else if (resume)
        checkpoint_note(c, false, "there is no checkpoint '%.300s' yet: the training begins anew", c->name.now);
    c->damaged = !of[0].missing && !of[0].good;
    for (int i = 0; i < CANDIDATES; i++)
        checkpoint_head_free(&of[i].head);
    return ok;
}

uint64_t checkpoint_blocks(comm *c, const bda_settings *s)
{
    uint64_t blocks = 0;
    if (!s->resume || !s->checkpoint[0] || settings_given(s, "blocks"))
        return 0;
    if (bda_comm_rank(c) == 0) {
        checkpoint_names name;
        bda_error ignored = {0};
        for (int i = 0; i < CANDIDATES && blocks == 0 && checkpoint_name(&name, s->checkpoint, 0, &ignored); i++) {
            checkpoint_head h;
            bool missing;
            if (checkpoint_read_head(&h, i == 0 ? name.now : name.old, &missing, &ignored))
                blocks = h.blocks;
            checkpoint_head_free(&h);
            ignored = (bda_error){0};
        }
    }
    comm_broadcast(c, 0, &blocks, sizeof blocks);
    return blocks;
}
