/* hull_state.c - what a run of hull holds after a round was reported, by one walk over it. What has memory comes first,
 * so that a run that goes on from it can take the same; z_now, slopes and what the momentum works with are made anew
 * in each round. */
#include "dual/hull.h"

const char *hull_choice(const hull_run *r)
{
    static const char *const forms[][4] = {
        {"momentum-sparing", "fused", "one-vector", "momentum"},
        {"momentum-sparing-lock-free", "fused-lock-free", "one-vector-lock-free", "momentum-lock-free"},
    };
    static const char *const plain[][2] = {{"plain", "bda"}, {"plain-lock-free", "bda-lock-free"}};
    const bool shared = pool_is_open(&r->d.pool);
    return r->phase == HULL_WARM_UP ? plain[shared][r->d.model.count > 1]
                                    : forms[shared][r->phase == HULL_FEWER_IMAGES ? 0 : r->form];
}

static void choice_of_form(archive *a, hull_run *r)
{
    ARCHIVE(a, r->form);
    ARCHIVE(a, r->asked_epochs);
    ARCHIVE(a, r->epoch_cell_share);
    ARCHIVE(a, r->phase);
    ARCHIVE(a, r->times.messages);
    ARCHIVE(a, r->times.passes);
    if (r->form == HULL_MOMENTUM && pool_is_open(&r->d.pool) && r->d.model.count > 1)
        archive_refuse(a, "momentum of one model");
}

static void plain_rounds(archive *a, hull_run *r)
{
    ARCHIVE(a, r->plain.next);
    ARCHIVE(a, r->plain.a1);
    ARCHIVE(a, r->plain.visited);
    ARCHIVE(a, r->plain.epochs);
    ARCHIVE(a, r->plain.judgement);
}

static void points(archive *a, hull_run *r)
{
    const uint64_t n = r->d.p->n;
    ARCHIVE(a, r->points.used);
    ARCHIVE(a, r->points.count);
    ARCHIVE(a, r->points.solutions);
    ARCHIVE(a, r->points.images);
    ARCHIVE(a, r->points.product);
    ARCHIVE(a, r->points.linear);
    ARCHIVE(a, r->points.newest_solution);
    ARCHIVE(a, r->turn.solution_gain);
    ARCHIVE(a, r->turn.image_gain);
    ARCHIVE(a, r->turn.since_image);
    for (int k = 0; k < 2 * r->points.ring; k++)
        ARCHIVE_ARRAY(a, r->points.image[k], n);
}

static void primal_side(archive *a, hull_run *r)
{
    const uint64_t n = r->d.p->n;
    ARCHIVE(a, r->primal.newest_image);
    ARCHIVE(a, r->primal.best_value);
    ARCHIVE(a, r->primal.now_value);
    ARCHIVE(a, r->primal.stepped);
    ARCHIVE(a, r->primal.stretch);
    ARCHIVE(a, r->primal.rounds_since_length);
    ARCHIVE(a, r->primal.length_patience);
    ARCHIVE_ARRAY(a, r->primal.best, n);
    if (r->primal.last_step)
        ARCHIVE_ARRAY(a, r->primal.last_step, n);
    if (r->primal.aim)
        ARCHIVE_ARRAY(a, r->primal.aim, n);
}

static void momentum(archive *a, hull_run *r)
{
    ARCHIVE(a, r->momentum.t);
    ARCHIVE(a, r->momentum.a1);
    ARCHIVE(a, r->momentum.moved);
    if (r->momentum.v_before)
        ARCHIVE_ARRAY(a, r->momentum.v_before, r->d.p->n);
}

static void hull_whole(archive *a, void *run)
{
    hull_run *r = run;
    bool has_best = r->primal.best, has_points = r->slopes;
    int ring = r->points.ring;
    bda_error err = {0};
    ARCHIVE(a, has_best);
    ARCHIVE(a, has_points);
    ARCHIVE(a, ring);
    choice_of_form(a, r);
    if (ring < 0 || ring > HULL_RING)
        archive_refuse(a, "ring");
    if (archive_loads(a) && !a->wrong)
        if ((has_best && !hull_begin_primal(r, &err)) || (has_points && !hull_take_points(r, ring, &err)))
            archive_refuse(a, "the points of hull, for which there is no memory");
    dual_whole(a, &r->d);
    plain_rounds(a, r);
    if (has_best && !a->wrong)
        primal_side(a, r);
    if (has_points && !a->wrong) {
        points(a, r);
        momentum(a, r);
    }
}

static void margins(archive *a, const hull_run *r, double *const *z, uint64_t k)
{
    if (z)
        ARCHIVE_ARRAY(a, z[k], r->primal.part[k].size);
}

static void hull_block(archive *a, void *run, uint64_t k)
{
    hull_run *r = run;
    if (r->primal.best) {
        margins(a, r, r->primal.z_best, k);
        margins(a, r, r->primal.z_step, k);
        margins(a, r, r->primal.z_aim, k);
    }
    dual_block(a, &r->d, k);
}

static method_state state_of(hull_run *r)
{
    return (method_state){r, hull_whole, hull_block};
}

bool hull_resume(hull_run *r, uint64_t *t, bool *stop)
{
    const method_state state = state_of(r);
    return stage_resume(r->d.watch, &state, t, stop);
}

bool hull_keep(hull_run *r, uint64_t t, bool stop)
{
    const method_state state = state_of(r);
    return stage_keep(r->d.watch, &state, t, stop);
}
