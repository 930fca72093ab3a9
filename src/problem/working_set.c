/* working_set.c - see working_set.h. */
#include "problem/working_set.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

#define ROOM_FIRST 4
#define SWEEPS_MOST 10     /* over the set, in a visit */
#define SWEEPS_ENOUGH 0.01 /* or once one changes slopes by no more than this part of what the first one did */

static uint64_t bytes_of(uint32_t room, uint32_t length)
{
    const uint64_t outputs = ((uint64_t)room * length * sizeof(uint16_t) + 7) / 8 * 8;
    return room * sizeof(member) + (uint64_t)room * room * sizeof(double) + outputs;
}

void working_set_free(working_set *w)
{
    mem_free(w->member, bytes_of(w->room, w->length));
    *w = (working_set){0};
}

bool working_set_reserve(working_set *w, uint32_t length)
{
    if (w->used < w->room)
        return true;
    bda_error ignored = {0};
    working_set more = {.used = w->used, .room = w->room ? 2 * w->room : ROOM_FIRST, .length = length};
    void *piece = mem_resize(NULL, 0, bytes_of(more.room, length), "outputs with dual variables", &ignored);
    if (!piece)
        return false;
    more.member = piece;
    more.gram = (double *)(more.member + more.room);
    more.output = (uint16_t *)(more.gram + (uint64_t)more.room * more.room);
    if (w->used > 0) {
        memcpy(more.member, w->member, w->used * sizeof *w->member);
        memcpy(more.output, w->output, (uint64_t)w->used * length * sizeof *w->output);
    }
    for (uint32_t y = 0; y < w->used; y++)
        memcpy(more.gram + (uint64_t)y * more.room, w->gram + (uint64_t)y * w->room, w->used * sizeof *w->gram);
    working_set_free(w);
    *w = more;
    return true;
}

uint32_t working_set_find(const working_set *w, const uint16_t *y)
{
    uint32_t at = 0;
    while (at < w->used && memcmp(working_set_output(w, at), y, w->length * sizeof *y) != 0)
        at++;
    return at;
}

void working_set_add(working_set *w, const uint16_t *y, uint32_t wrong, const double *product)
{
    const uint32_t at = w->used++;
    w->member[at] = (member){.wrong = wrong};
    memcpy(w->output + (uint64_t)at * w->length, y, w->length * sizeof *y);
    for (uint32_t k = 0; k <= at; k++)
        w->gram[(uint64_t)at * w->room + k] = w->gram[(uint64_t)k * w->room + at] = product[k];
}

void working_set_drop_idle(working_set *w, uint32_t rounds)
{
    uint32_t kept = 0;
    for (uint32_t y = 0; y < w->used; y++) {
        member *m = &w->member[y];
        const bool idle = m->now == 0 && m->start == 0;
        m->rounds_idle = idle ? m->rounds_idle + 1 : 0;
        if (idle && m->rounds_idle >= rounds)
            continue;
        if (kept < y) {
            w->member[kept] = *m;
            memcpy(w->output + (uint64_t)kept * w->length, working_set_output(w, y), w->length * sizeof *w->output);
            double *row = w->gram + (uint64_t)kept * w->room;
            memmove(row, w->gram + (uint64_t)y * w->room, w->used * sizeof *row);
            for (uint32_t k = 0; k < w->used; k++)
                w->gram[(uint64_t)k * w->room + kept] = w->gram[(uint64_t)k * w->room + y];
        }
        kept++;
    }
    w->used = kept;
}

/* Few of the numbers of most sets are worth a name of their own. */
void working_set_state(working_set *w, uint32_t length, archive *a)
{
    uint32_t used = w->used;
    ARCHIVE(a, used);
    if (used == 0 || !archive_has(a, "w->member", used, sizeof *w->member))
        return;
    if (archive_loads(a)) {
        working_set_free(w);
        while (w->room < used) {
            w->used = w->room;
            if (!working_set_reserve(w, length)) {
                archive_refuse(a, "outputs with dual variables, for which there is no memory");
                w->used = 0;
                return;
            }
        }
        w->used = used;
    }
    ARCHIVE_ARRAY(a, w->member, used);
    for (uint32_t y = 0; y < used; y++)
        ARCHIVE_ARRAY(a, w->gram + (uint64_t)y * w->room, used);
    ARCHIVE_ARRAY(a, w->output, (uint64_t)used * length);
}

double working_set_sum(const working_set *w)
{
    double all = 0;
    for (uint32_t y = 0; y < w->used; y++)
        all += w->member[y].now;
    return all;
}

/* alpha_y += d; keeps the slopes of all members. */
static void move_one(working_set *w, const set_problem *p, uint32_t y, double d)
{
    const double *row = w->gram + (uint64_t)y * w->room, step = p->a1 * d;
    for (uint32_t k = 0; k < w->used; k++)
        w->member[k].slope += step * row[k];
    w->member[y].now += d;
}

/* Squared hinge: a coordinate at a time; xi* = A^2 / 4C with A the sum of all. Returns the largest change of a slope. */
static double sweep_squared(working_set *w, const set_problem *p, double *all)
{
    double largest = 0;
    for (uint32_t y = 0; y < w->used; y++) {
        const member *m = &w->member[y];
        const double own = w->gram[(uint64_t)y * w->room + y];
        const double G = m->slope + *all / (2 * p->C) + p->a2 * (m->now - m->start);
        const double H = p->a1 * own + 1 / (2 * p->C) + p->a2, d = fmax(-G / H, -m->now);
        if (d == 0)
            continue;
        move_one(w, p, y, d);
        *all += d;
        largest = fmax(largest, fabs(d) * H);
    }
    return largest;
}

/* Hinge: the pair that promises most moves, C - sum alpha being one more variable, with slope 0. Returns the change of
 * their slopes. */
static double step_pair(working_set *w, const set_problem *p, double *slack)
{
    const uint32_t none = w->used;
    uint32_t up = none, down = none;
    double least = 0, most = *slack > 0 ? 0 : -INFINITY;
    for (uint32_t y = 0; y < w->used; y++) {
        const member *m = &w->member[y];
        const double G = m->slope + p->a2 * (m->now - m->start);
        if (G < least) {
            least = G;
            up = y;
        }
        if (m->now > 0 && G > most) {
            most = G;
            down = y;
        }
    }
    if (up == down || most <= least)
        return 0;
    double H = 0, room = down == none ? *slack : w->member[down].now;
    if (up != none)
        H += p->a1 * w->gram[(uint64_t)up * w->room + up] + p->a2;
    if (down != none)
        H += p->a1 * w->gram[(uint64_t)down * w->room + down] + p->a2;
    if (up != none && down != none)
        H -= 2 * p->a1 * w->gram[(uint64_t)up * w->room + down];
    const double d = H > 0 ? fmin(room, (most - least) / H) : room;
    if (down == none)
        *slack -= d;
    else if (d == room) {
        move_one(w, p, down, -d);
        w->member[down].now = 0;
    } else
        move_one(w, p, down, -d);
    if (up == none)
        *slack += d;
    else
        move_one(w, p, up, d);
    return most - least;
}

bool working_set_solve(working_set *w, const set_problem *p)
{
    double all = 0, first = 0;
    for (uint32_t y = 0; y < w->used; y++) {
        w->member[y].was = w->member[y].now;
        all += w->member[y].now;
    }
    double slack = fmax(0, p->C - all);
    const uint32_t most = p->squared ? SWEEPS_MOST : SWEEPS_MOST * (w->used + 1);
    for (uint32_t k = 0; k < most; k++) {
        const double change = p->squared ? sweep_squared(w, p, &all) : step_pair(w, p, &slack);
        first = k == 0 ? change : first;
        if (change <= SWEEPS_ENOUGH * first)
            break;
    }
    bool moved = false;
    for (uint32_t y = 0; y < w->used; y++)
        moved |= w->member[y].now != w->member[y].was;
    return moved;
}
