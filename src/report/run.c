/* run.c - see run.h. Logs are hostile input: every line is checked, and what is wrong is told with its line. */
#include "report/run.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_read.h"

const char *const run_columns[RUN_COLUMNS] = {
    "round",        "seconds",
    "primal",       "best_primal",
    "plain_primal", "dual",
    "step",         "line_search_steps",
    "epochs",       "vectors_sent",
    "bytes_sent",   "local_seconds",
    "comm_seconds", "line_search_seconds",
    "eval_seconds", "other_seconds",
};

const char *const run_measures[RUN_MEASURES] = {
    "accuracy", "token_accuracy", "uas", "mse", "sentence_accuracy", "chunk_f1", "las", "auc", "f1",
    "macro_f1", "log_loss",       "mae", "r2",
};

/* ---- growing arrays --------------------------------------------------------------------------------------------- */

/* Room for one more of `size` bytes. */
static bool make_room(void **array, uint64_t count, uint64_t *room, size_t size, bda_error *err)
{
    if (count < *room)
        return true;
    const uint64_t next = *room ? 2 * *room : 16;
    void *grown = realloc(*array, next * size);
    if (!grown)
        return err_memory(err, next * size, "run logs");
    *array = grown;
    *room = next;
    return true;
}

static void run_free(run *r)
{
    for (uint64_t i = 0; i < r->setting_count; i++) {
        free(r->settings[i].name);
        free(r->settings[i].value);
    }
    free(r->settings);
    free(r->rounds);
    free(r->scores);
    free(r->path);
}

static void shorten(run_list *list, uint64_t count)
{
    while (list->count > count)
        run_free(&list->run[--list->count]);
}

void run_list_free(run_list *list)
{
    shorten(list, 0);
    free(list->run);
    *list = (run_list){0};
}

uint64_t run_round_at(const run *r, double round)
{
    uint64_t low = 0, high = r->round_count - 1;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (run_at(r, middle, RUN_ROUND) < round)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int run_main_measure(const run *r)
{
    for (int k = 0; k < RUN_MEASURES; k++)
        for (uint64_t i = 0; i < r->score_count; i++)
            if (!isnan(r->scores[i].measure[k]))
                return k;
    return -1;
}

const char *run_text(const run *r, const char *name)
{
    for (uint64_t i = 0; i < r->setting_count; i++)
        if (strcmp(r->settings[i].name, name) == 0)
            return r->settings[i].value;
    return "";
}

double run_number(const run *r, const char *name)
{
    for (uint64_t i = 0; i < r->setting_count; i++)
        if (strcmp(r->settings[i].name, name) == 0)
            return r->settings[i].number;
    return NAN;
}

/* ---- the lines of a log ------------------------------------------------------------------------------------------- */

typedef struct log_file {
    const char *path;
    uint64_t line;
    run_list *list;
    run *now; /* the last of the list; NULL before the first start line */
} log_file;

static bool broken(const log_file *f, bda_error *err, const char *why)
{
    return err_set(err, BDA_FAILED, "'%.400s' line %llu %s", f->path, (unsigned long long)f->line, why);
}

static bool foreign(const log_file *f, bda_error *err, const char *why)
{
    return err_set(err, BDA_FAILED, "'%.400s' is no run log of bda: its first line %s", f->path, why);
}

/* As people write it: 0.1 for 0.10000000000000001. */
static char *copy_value(const json_member *m)
{
    char text[40];
    if (m->type != JSON_NUMBER || m->length <= 12)
        return strndup(m->text, m->length);
    snprintf(text, sizeof text, "%.15g", m->number);
    char *comma = strchr(text, ','); /* of the host program's locale */
    if (comma)
        *comma = '.';
    return strdup(text);
}

static bool add_setting(run *r, const json_member *m, bda_error *err)
{
    if (!make_room((void **)&r->settings, r->setting_count, &r->setting_room, sizeof *r->settings, err))
        return false;
    run_setting s = {
        .name = strdup(m->name), .value = copy_value(m), .number = m->type == JSON_NUMBER ? m->number : NAN};
    if (!s.name || !s.value) {
        free(s.name);
        free(s.value);
        return err_memory(err, m->length, "run logs");
    }
    r->settings[r->setting_count++] = s;
    return true;
}

static bool add_run(log_file *f, bda_error *err)
{
    run_list *list = f->list;
    if (!make_room((void **)&list->run, list->count, &list->room, sizeof *list->run, err))
        return false;
    f->now = &list->run[list->count];
    *f->now = (run){.path = strdup(f->path), .peak_bytes = NAN};
    if (!f->now->path)
        return err_memory(err, strlen(f->path), "run logs");
    list->count++;
    return true;
}

static bool read_start(log_file *f, json_reader *r, bda_error *err)
{
    json_member m;
    if (!add_run(f, err))
        return false;
    while (json_next(r, &m))
        if (m.type != JSON_NESTED && m.type != JSON_NULL && !add_setting(f->now, &m, err))
            return false;
    if (r->wrong)
        return true;
    static const char *const needed[] = {"task", "loss", "method", "blocks", "ranks"};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        char why[80];
        snprintf(why, sizeof why, "is a start without \"%s\"", needed[i]);
        if (!run_text(f->now, needed[i])[0])
            return f->line == 1 ? foreign(f, err, why) : broken(f, err, why);
    }
    return true;
}

static int find_name(const char *const *names, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

static bool read_round(log_file *f, json_reader *r, bda_error *err)
{
    run *now = f->now;
    if (!make_room((void **)&now->rounds, now->round_count, &now->round_room, sizeof(double) * RUN_COLUMNS, err))
        return false;
    double *row = now->rounds + now->round_count * RUN_COLUMNS;
    for (int k = 0; k < RUN_COLUMNS; k++)
        row[k] = NAN;
    json_member m;
    int guess = 0; /* columns mostly come in their order */
    while (json_next(r, &m)) {
        if (m.type != JSON_NUMBER)
            continue;
        int k = guess < RUN_COLUMNS && strcmp(run_columns[guess], m.name) == 0
                    ? guess
                    : find_name(run_columns, RUN_COLUMNS, m.name);
        if (k < 0)
            continue;
        row[k] = m.number;
        guess = k + 1;
    }
    if (r->wrong)
        return true;
    if (isnan(row[RUN_ROUND]) || isnan(row[RUN_SECONDS]))
        return broken(f, err, "is a round without \"round\" or \"seconds\"");
    if (now->round_count && row[RUN_ROUND] <= run_at(now, now->round_count - 1, RUN_ROUND))
        return broken(f, err, "goes back to an earlier round: two trainings wrote this log");
    now->round_count++;
    return true;
}

/* That of the round, among those before it. Of a method without a dual it is always the last one. */
static bool model_is_best(const run *r, double round)
{
    if (r->score_count == 0 || r->round_count == 0)
        return true;
    const uint64_t t = run_round_at(r, round);
    return isnan(run_at(r, t, RUN_DUAL)) || !(run_at(r, t, RUN_PRIMAL) > run_at(r, t, RUN_BEST_PRIMAL));
}

static bool read_score(log_file *f, json_reader *r, bda_error *err)
{
    run *now = f->now;
    if (!make_room((void **)&now->scores, now->score_count, &now->score_room, sizeof *now->scores, err))
        return false;
    run_score s = {.round = NAN, .seconds = NAN};
    for (int k = 0; k < RUN_MEASURES; k++)
        s.measure[k] = NAN;
    json_member m;
    while (json_next(r, &m)) {
        const int k = find_name(run_measures, RUN_MEASURES, m.name);
        double *to = strcmp(m.name, "round") == 0     ? &s.round
                     : strcmp(m.name, "seconds") == 0 ? &s.seconds
                     : k >= 0                         ? &s.measure[k]
                                                      : NULL;
        if (to && m.type == JSON_NUMBER)
            *to = m.number;
    }
    if (!r->wrong) {
        s.best = model_is_best(now, s.round) ? now->score_count : now->scores[now->score_count - 1].best;
        now->scores[now->score_count++] = s;
    }
    return true;
}

static void read_end(log_file *f, json_reader *r)
{
    json_member m;
    f->now->ended = true;
    while (json_next(r, &m)) {
        if (strcmp(m.name, "reason") == 0 && m.type == JSON_STRING)
            snprintf(f->now->reason, sizeof f->now->reason, "%s", m.text);
        if (strcmp(m.name, "peak_rss_bytes") == 0 && m.type == JSON_NUMBER)
            f->now->peak_bytes = m.number;
    }
}

static bool read_event(log_file *f, json_reader *r, const char *event, bda_error *err)
{
    if (strcmp(event, "start") == 0)
        return read_start(f, r, err);
    if (!f->now)
        return foreign(f, err, "is not its start");
    if (strcmp(event, "round") == 0)
        return read_round(f, r, err);
    if (strcmp(event, "validate") == 0)
        return read_score(f, r, err);
    if (strcmp(event, "end") == 0) {
        read_end(f, r);
        return true;
    }
    json_member ignored;
    while (json_next(r, &ignored)) {
    }
    return true;
}

static bool read_line(log_file *f, char *text, size_t length, bda_error *err)
{
    json_reader r;
    json_member event;
    const bool first = f->line == 1;
    if (strlen(text) != length)
        return first ? foreign(f, err, "is not text") : broken(f, err, "is not text");
    json_begin(&r, text);
    if (json_next(&r, &event)) {
        if (strcmp(event.name, "event") != 0 || event.type != JSON_STRING)
            return first ? foreign(f, err, "does not begin with \"event\"")
                         : broken(f, err, "does not begin with \"event\"");
        if (!read_event(f, &r, event.text, err))
            return false;
    } else if (!r.wrong) {
        r.wrong = "\"event\"";
    }
    if (!r.wrong)
        return true;
    char why[200];
    snprintf(why, sizeof why, "is no JSON object: %s was expected at byte %zu", r.wrong,
             (size_t)(r.at - r.begin) + 1);
    return first ? foreign(f, err, why) : broken(f, err, why);
}

static bool read_lines(log_file *f, FILE *file, bool growing, bda_error *err)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    bool ok = true;
    int c = getc(file);
    if (c != EOF && c != '{') /* before a line of any length is read: it may be anything */
        ok = foreign(f, err, "does not begin with '{'");
    else if (c != EOF)
        ungetc(c, file);
    while (ok && (length = getline(&line, &room, file)) > 0) {
        f->line++;
        const bool whole = line[length - 1] == '\n';
        if (!whole && growing)
            break;
        if (!whole)
            ok = broken(f, err, "has no end: the log was cut off");
        else
            ok = read_line(f, line, (size_t)length, err);
    }
    if (ok && ferror(file))
        ok = err_set(err, BDA_FAILED, "cannot read '%.400s': %s", f->path, strerror(errno));
    if (ok && !f->now && !growing)
        ok = err_set(err, BDA_FAILED, "'%.400s' is no run log of bda: it is empty", f->path);
    free(line);
    return ok;
}

bool run_list_read(run_list *list, const char *path, bool growing, bda_error *err)
{
    log_file f = {.path = path, .list = list};
    const uint64_t before = list->count;
    FILE *file = fopen(path, "re");
    if (!file)
        return err_set(err, BDA_FAILED, "cannot read '%.400s': %s", path, strerror(errno));
    bool ok = read_lines(&f, file, growing, err);
    fclose(file);
    if (!ok)
        shorten(list, before);
    return ok;
}
