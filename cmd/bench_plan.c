/* bench_plan.c - the runs of a comparison: every combination of what the lists name, with a name of its own. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

static void out_of_memory(void)
{
    fputs("bda bench: out of memory\n", stderr);
    exit(EXIT_FAILED);
}

static char *write_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
static char *write_text(const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    const int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0)
        out_of_memory();
    return text;
}

char *bench_path(const invocation *v, const char *name, const char *ending)
{
    return write_text("%s/%s%s", bda_get(v->settings, "output"), name, ending);
}

/* ---- lists ---------------------------------------------------------------------------------------------------------- */

#define MOST_ITEMS 64

typedef struct list {
    char *item[MOST_ITEMS]; /* "" alone where the option is not given: the default of train */
    int count;
} list;

static void free_list(list *l)
{
    for (int i = 0; i < l->count; i++)
        free(l->item[i]);
}

static bool refuse(bda_error *err, const char *option, const char *why)
{
    err->status = BDA_USAGE;
    snprintf(err->text, sizeof err->text, "--%s must be a list with commas between its items%s", option, why);
    return false;
}

static bool read_list(list *l, const invocation *v, const char *option, bda_error *err)
{
    const char *text = bda_get(v->settings, option);
    l->count = 0;
    for (;;) {
        const size_t length = strcspn(text, ",");
        if (length == 0 && (*text || l->count > 0))
            return refuse(err, option, ", none of them empty");
        if (l->count == MOST_ITEMS)
            return refuse(err, option, ", at most 64");
        l->item[l->count++] = write_text("%.*s", (int)length, text);
        if (!text[length])
            return true;
        text += length + 1;
    }
}

/* ---- runs ----------------------------------------------------------------------------------------------------------- */

typedef struct choice {
    const char *loss, *cost, *method, *blocks, *ranks, *threads;
    int repeat;
} choice;

static void add_word(bench_run *r, const char *name, const char *value)
{
    if (value && !value[0])
        return;
    if (r->words + 1 >= BENCH_WORDS) {
        fprintf(stderr, "bda bench: a run has more than %d options\n", BENCH_WORDS);
        exit(EXIT_USAGE);
    }
    r->word[r->words++] = value ? write_text("--%s=%s", name, value) : write_text("%s", name);
}

/* Every --with=NAME=VALUE; a name alone is a flag. */
static void add_others(bench_run *r, const invocation *v)
{
    for (const char *text = bda_get(v->settings, "with"); *text;) {
        const size_t length = strcspn(text, "\n");
        char *word = write_text("--%.*s", (int)length, text);
        add_word(r, word, NULL);
        free(word);
        text += length + (text[length] == '\n');
    }
}

static bench_run *new_run(bench_plan *plan)
{
    if (plan->count == plan->room) {
        plan->room = plan->room ? 2 * plan->room : 16;
        plan->run = realloc(plan->run, (size_t)plan->room * sizeof *plan->run);
        if (!plan->run)
            out_of_memory();
    }
    bench_run *r = &plan->run[plan->count++];
    *r = (bench_run){0};
    return r;
}

#define REFERENCE_TIMES 4 /* as long as other runs may take */

static void add_run(bench_plan *plan, const invocation *v, const choice *c, bool reference)
{
    bench_run *r = new_run(plan);
    const char *loss = c->loss[0] ? c->loss : "loss", *blocks = c->blocks[0] ? c->blocks : "";
    r->reference = reference;
    r->ranks = atoi(c->ranks);
    r->name = reference ? write_text("%s-c%s-reference", loss, c->cost)
                        : write_text("%s-c%s-%s%s%s-r%s-t%s", loss, c->cost, c->method, blocks[0] ? "-k" : "", blocks,
                                     c->ranks, c->threads);
    if (c->repeat) {
        char *numbered = write_text("%s-%d", r->name, c->repeat + 1);
        free(r->name);
        r->name = numbered;
    }
    const char *most = bda_get(v->settings, "max-time");
    r->most_seconds = most[0] ? strtod(most, NULL) : NAN;
    add_word(r, "loss", c->loss);
    add_word(r, "cost", c->cost);
    add_word(r, "method", c->method);
    add_word(r, "blocks", c->blocks);
    add_word(r, "threads", c->threads);
    add_word(r, "gap", reference ? "2e-8" : strcmp(c->method, "perceptron") == 0 ? "" : bda_get(v->settings, "gap"));
    add_word(r, "max-rounds", reference ? "100000" : bda_get(v->settings, "max-rounds"));
    if (reference && most[0]) {
        char *longer = write_text("%.17g", REFERENCE_TIMES * r->most_seconds);
        add_word(r, "max-time", longer);
        free(longer);
    } else {
        add_word(r, "max-time", most);
    }
    add_others(r, v);
    char *log = bench_path(v, r->name, ".log");
    add_word(r, "log", log);
    free(log);
    add_word(r, "-q", NULL);
    add_word(r, "--progress=never", NULL);
    add_word(r, v->argument[0], NULL);
    r->word[r->words] = NULL;
}

enum { LOSSES, COSTS, METHODS, BLOCKS, RANKS, THREADS, LISTS };

/* The run at each place of the lists; place: [LISTS], counted like an odometer. */
static void add_all(bench_plan *plan, const invocation *v, list *lists)
{
    const int repeats = atoi(bda_get(v->settings, "repeat"));
    int place[LISTS] = {0};
    for (;;) {
        choice c = {.loss = lists[LOSSES].item[place[LOSSES]],
                    .cost = lists[COSTS].item[place[COSTS]],
                    .method = lists[METHODS].item[place[METHODS]],
                    .blocks = lists[BLOCKS].item[place[BLOCKS]],
                    .ranks = lists[RANKS].item[place[RANKS]],
                    .threads = lists[THREADS].item[place[THREADS]]};
        for (c.repeat = 0; c.repeat < repeats; c.repeat++)
            add_run(plan, v, &c, false);
        int last = LISTS - 1;
        while (last >= 0 && ++place[last] == lists[last].count)
            place[last--] = 0;
        /* all runs of a problem are there */
        if (last <= COSTS && !bda_get(v->settings, "optimum")[0] && !is_set(v, "no-reference")) {
            c = (choice){
                .loss = c.loss, .cost = c.cost, .method = "auto", .blocks = "", .ranks = "1", .threads = "1"};
            add_run(plan, v, &c, true);
        }
        if (last < 0)
            return;
    }
}

static bool are_ranks(const list *l, bda_error *err)
{
    for (int i = 0; i < l->count; i++) {
        char *end;
        const long ranks = strtol(l->item[i], &end, 10);
        if (*end || ranks < 1 || ranks > 1000000)
            return refuse(err, "ranks", ", each a number of at least 1");
    }
    return true;
}

bool bench_plan_make(bench_plan *plan, const invocation *v, bda_error *err)
{
    static const char *const options[LISTS] = {"losses", "cost", "methods", "blocks", "ranks", "threads"};
    list lists[LISTS] = {0};
    bool ok = true;
    for (int i = 0; ok && i < LISTS; i++)
        ok = read_list(&lists[i], v, options[i], err);
    ok = ok && are_ranks(&lists[RANKS], err);
    *plan = (bench_plan){0};
    if (ok)
        add_all(plan, v, lists);
    for (int i = 0; i < LISTS; i++)
        free_list(&lists[i]);
    return ok;
}

void bench_plan_free(bench_plan *plan)
{
    for (int i = 0; i < plan->count; i++) {
        free(plan->run[i].name);
        for (int k = 0; k < plan->run[i].words; k++)
            free(plan->run[i].word[k]);
    }
    free(plan->run);
}
