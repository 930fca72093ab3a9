/* checkpoint.c - see checkpoint.h: when a state is kept, what it is recognised by, and how a run takes it up. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/digest.h"
#include "data/paths.h"
#include "run/checkpoint_run.h"
#include "run/files.h"

void checkpoint_note(const checkpoint *c, bool grave, const char *format, ...)
{
    const bda_observer *o = c->watch->observer;
    char text[1500];
    if (!o || !o->note || bda_comm_rank(c->comm) > 0)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    o->note(o->note_self, grave, text);
}

void checkpoint_walk(archive *a, checkpoint *c, const method_state *state)
{
    watch_archive(a, c->watch);
    if (c->watch->watch.stage)
        stage_archive(a, c->watch->watch.stage);
    state->whole(a, state->run);
}

/* ---- in the rounds --------------------------------------------------------------------------------------------- */

static bool is_due(const checkpoint *c, bool stop)
{
    const bda_progress *now = &c->watch->now;
    if (stop)
        return true;
    if (c->every_rounds > 0)
        return now->round >= c->last_round + c->every_rounds;
    return now->seconds >= c->last_seconds + c->every_seconds;
}

/* Messages about it are not those of the training. */
static void keep(keeper *self, const method_state *state, uint64_t t, bool stop)
{
    checkpoint *c = (checkpoint *)self;
    training_watch *w = c->watch;
    if (w->error.status != BDA_OK)
        return;
    const comm_stats said = *comm_said(c->comm);
    if (c->write.under_way && (stop || checkpoint_is_written(c)))
        checkpoint_finish(c);
    if (is_due(c, stop) && !c->write.under_way && !w->lost) {
        c->last_round = w->now.round;
        c->last_seconds = w->now.seconds;
        checkpoint_take(c, state, t, stop);
    }
    w->vectors_before += comm_said(c->comm)->vectors - said.vectors;
    w->bytes_before += comm_said(c->comm)->bytes - said.bytes;
}

static bool resume(keeper *self, const method_state *state, uint64_t *t)
{
    checkpoint *c = (checkpoint *)self;
    training_watch *w = c->watch;
    archive *whole = &c->keeper.whole;
    c->keeper.resuming = false;
    state->whole(whole, state->run);
    const char *wrong = archive_ended(whole) ? NULL : whole->wrong ? whole->wrong : "its length";
    for (uint64_t k = 0; k < c->p->data->local_blocks; k++) {
        archive a = archive_loading(c->from.block[k], c->from.length[k]);
        if (state->block && !wrong)
            state->block(&a, state->run, k);
        if (!wrong && !archive_ended(&a))
            wrong = a.wrong ? a.wrong : "its length";
    }
    *t = c->from.method_round;
    const bool last = c->from.stopped;
    checkpoint_forget(&c->from);
    if (wrong)
        err_set(&w->error, BDA_FAILED, "'%.300s' does not hold the state of this training: '%.100s' is another",
                c->name.now, wrong);
    if (!comm_agree(c->comm, !wrong, &w->error))
        return true;
    return watch_resume(w, last) || w->error.status != BDA_OK;
}

/* ---- what it is recognised by ---------------------------------------------------------------------------------- */

/* Options that may be others where a training goes on. What K is and which data these are is told otherwise. */
static bool may_change(const char *option)
{
    static const char *const free[] = {"threads",        "log",        "output",   "quiet",      "progress",
                                       "progress-every", "force",      "resume",   "checkpoint", "checkpoint-every",
                                       "blocks",         "max-rounds", "max-time", "validate",   NULL};
    for (const char *const *name = free; *name; name++)
        if (strcmp(*name, option) == 0)
            return true;
    return false;
}

static bool add_trait(checkpoint *c, const char *name, const char *value, bda_error *err)
{
    char *copy = ARENA_TAKE(&c->memory, char, strlen(value) + 1, err);
    if (!copy || c->head.traits == CHECKPOINT_TRAITS)
        return false;
    strcpy(copy, value);
    c->trait[c->head.traits++] = (checkpoint_trait){name, copy};
    return true;
}

static bool add_count(checkpoint *c, const char *name, uint64_t value, bda_error *err)
{
    char text[30];
    snprintf(text, sizeof text, "%" PRIu64, value);
    return add_trait(c, name, text, err);
}

/* The methods that a run consists of, and whether blocks share memory. */
static bool add_plan(checkpoint *c, const plan *plan, bda_error *err)
{
    char names[200] = "";
    for (int k = 0; plan->method[k]; k++) {
        const size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", k ? ", then " : "", plan->method[k]->name);
    }
    return add_trait(c, " method", names, err) &&
           add_trait(c, " memory", method_shares(&plan->options) ? "shared by blocks" : "not shared by blocks", err);
}

/* Collective, for the digest. */
static bool find_traits(checkpoint *c, const plan *plan, bda_error *err)
{
    const data *d = c->p->data;
    const bda_settings *s = c->watch->start.settings;
    char digest[40];
    snprintf(digest, sizeof digest, "%016" PRIx64, data_digest(c->comm, d, c->p->threads));
    bool ok = add_trait(c, " version of bda", bda_version(), err) && add_trait(c, "task", s->task, err) &&
              add_trait(c, " loss", c->watch->start.training->loss->name, err) &&
              add_count(c, " number of instances", d->instances, err) &&
              add_trait(c, " digest of the data", digest, err);
    for (const bda_option *o = s->options; ok && o->name; o++)
        if (!may_change(o->name) && strcmp(o->name, "task") != 0)
            ok = add_trait(c, o->name, bda_get(s, o->name), err);
    ok = ok && add_count(c, "blocks", d->blocks, err) && add_plan(c, plan, err) &&
         add_count(c, " number of weights", c->p->n, err);
    c->head.trait = c->trait;
    return ok || err_memory(err, sizeof c->trait, "a checkpoint");
}

/* ---- before and after ------------------------------------------------------------------------------------------ */

bool checkpoint_name(checkpoint_names *to, const char *path, int rank, bda_error *err)
{
    arena memory = {0};
    const char *own = path_of_rank(&memory, path, rank, err);
    const bool fits = own && strlen(own) + 5 < PATH_MAX;
    if (fits) {
        snprintf(to->now, sizeof to->now, "%s", own);
        snprintf(to->old, sizeof to->old, "%.*s.old", PATH_MAX - 10, own);
        snprintf(to->new, sizeof to->new, "%.*s.new", PATH_MAX - 10, own);
    }
    arena_free(&memory);
    return fits || err_set(err, BDA_USAGE, "the name of --checkpoint is too long");
}

/* FILE.old and FILE.new are written without being asked for, so they must not be anything else; and the name is tried
 * before the work begins. */
static bool can_write(const checkpoint *c, bool force, bda_error *err)
{
    const char *const names[] = {c->name.now, c->name.old, c->name.new};
    if (!c->of_rank && bda_comm_rank(c->comm) > 0)
        return true;
    for (int i = 0; i < 3; i++) {
        bda_file_kind kind = BDA_FILE_NONE;
        if (!force && !file_kind(names[i], &kind, err))
            return false;
        if (!force && kind != BDA_FILE_NONE && kind != BDA_FILE_CHECKPOINT)
            return err_set(err, BDA_USAGE,
                           "'%.300s' exists and seems to be no checkpoint; --force replaces it by one", names[i]);
    }
    struct stat there;
    const bool is_there = stat(c->name.new, &there) == 0;
    const int file = open(c->name.new, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0)
        return err_set(err, BDA_FAILED, "cannot write '%.300s': %s", c->name.new, strerror(errno));
    close(file);
    if (!is_there)
        (void)unlink(c->name.new);
    return true;
}

static bool take_memory(checkpoint *c, bda_error *err)
{
    c->head.pieces = (uint64_t)bda_comm_size(c->comm);
    c->head.blocks = c->p->data->blocks;
    c->head.length = ARENA_TAKE(&c->head.memory, uint64_t, c->head.pieces + c->head.blocks + 1, err);
    return c->head.length != NULL;
}

/* What the watch saw comes first; stages and the method take the rest. */
static bool begin_resuming(checkpoint *c, bda_error *err)
{
    c->keeper.resuming = true;
    c->keeper.whole = archive_loading(c->from.whole, c->from.count);
    watch_archive(&c->keeper.whole, c->watch);
    c->last_round = c->watch->now.round;
    c->last_seconds = c->watch->now.seconds;
    return !c->keeper.whole.wrong ||
           err_set(err, BDA_FAILED, "'%.300s' does not hold the state of this training: '%.100s' is another",
                   c->name.now, c->keeper.whole.wrong);
}

static bool prepare(checkpoint *c, const bda_settings *s, const plan *plan, bda_error *err)
{
    bool found = false;
    bool ok = checkpoint_name(&c->name, s->checkpoint, bda_comm_rank(c->comm), err) &&
              settings_every(s->checkpoint_every, &c->every_rounds, &c->every_seconds, err) && take_memory(c, err) &&
              can_write(c, s->force, err);
    if (!comm_agree(c->comm, ok, err) || !comm_agree(c->comm, find_traits(c, plan, err), err) ||
        !checkpoint_load(c, s->resume, &found, err))
        return false;
    return !found || begin_resuming(c, err);
}

bool checkpoint_open(checkpoint **kept, training_watch *w, const plan *plan, bda_error *err)
{
    const bda_settings *s = w->start.settings;
    arena memory = {0};
    *kept = NULL;
    if (!s->checkpoint[0])
        return true;
    problem *p = (problem *)w->start.problem;
    checkpoint *c = ARENA_TAKE(&memory, checkpoint, 1, err);
    if (!comm_agree(p->comm, c != NULL, err)) {
        arena_free(&memory);
        return false;
    }
    *c = (checkpoint){
        .keeper = {.resume = resume, .keep = keep}, .watch = w, .p = p, .comm = p->comm, .memory = memory};
    c->of_rank = path_is_of_rank(s->checkpoint);
    *kept = c;
    const comm_stats said = *comm_said(p->comm);
    if (!prepare(c, s, plan, err))
        return false;
    if (!c->keeper.resuming) {
        w->vectors_before += comm_said(p->comm)->vectors - said.vectors;
        w->bytes_before += comm_said(p->comm)->bytes - said.bytes;
    }
    w->watch.keeper = &c->keeper;
    return true;
}

void checkpoint_close(checkpoint *c)
{
    if (!c)
        return;
    if (c->write.under_way)
        checkpoint_finish(c);
    checkpoint_forget(&c->from);
    checkpoint_head_free(&c->head);
    bytes_free(&c->write.head);
    mem_free(c->write.region, c->write.room);
    arena memory = c->memory;
    arena_free(&memory);
}
