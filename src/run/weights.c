/* weights.c - reads a weight a line. Every rank reads the file and keeps the lines of its own instances.
 *
 * '#' begins a comment, but a line must have its number: lines are counted. Blank lines may follow the last one. */
#include "run/weights.h"

#include <math.h>
#include <string.h>

#include "data/lines.h"
#include "data/number.h"
#include "data/paths.h"

typedef struct reading {
    const char *path;
    uint64_t first, end, all; /* instances whose weights are wanted; how many lines there must be */
    double *weight;           /* [end - first] */
    uint64_t line;            /* so many are read */
    uint64_t blank;           /* of these, at the end */
} reading;

static bool refuse(const reading *r, const char *p, bda_error *err)
{
    const lines_word seen = lines_word_at(p, "");
    const char *quote = seen.length ? "'" : "";
    return err_set(err, BDA_FAILED, "%.400s, line %llu: expected a weight, a number from 0 on, not %s%s%s", r->path,
                   (unsigned long long)r->line, quote, seen.length ? seen.shown : "the end of the line", quote);
}

static bool read_line(reading *r, const char *text, bda_error *err)
{
    const char *p = lines_skip_blanks(text);
    double weight = 0;
    r->line++;
    if (*p == '\n') {
        r->blank++;
        return true;
    }
    if (r->blank > 0) {
        r->line -= r->blank;
        return refuse(r, "\n", err);
    }
    const char *behind = number_read_any(p, &weight);
    if (!behind || !(lines_is_blank(*behind) || lines_is_end(*behind)) || !(weight >= 0 && isfinite(weight)))
        return refuse(r, p, err);
    p = lines_skip_blanks(behind);
    if (!lines_is_end(*p))
        return err_set(err, BDA_FAILED, "%.400s, line %llu: expected nothing behind the weight", r->path,
                       (unsigned long long)r->line);
    if (r->line > r->first && r->line <= r->end)
        r->weight[r->line - 1 - r->first] = weight;
    return true;
}

static bool read_file(reading *r, bda_error *err)
{
    source s = {0};
    lines l = {0};
    const char *text = NULL;
    uint64_t length = 0, offset;
    bool ok = source_open(&s, r->path, err) && lines_open(&l, &s, LINES_ONE, 0, UINT64_MAX, err);
    while (ok && (ok = lines_next(&l, &text, &length, &offset, err)) && length > 0)
        for (const char *p = text; ok && p < text + length; p = lines_after(p, text + length))
            ok = read_line(r, p, err);
    lines_close(&l);
    source_close(&s);
    const uint64_t count = r->line - r->blank;
    if (ok && count != r->all)
        return err_set(err, BDA_FAILED, "%.400s has %llu weight%s, and there are %llu instances", r->path,
                       (unsigned long long)count, count == 1 ? "" : "s", (unsigned long long)r->all);
    return ok;
}

bool weights_read(comm *c, const char *path, data *d, bda_error *err)
{
    arena memory = {0};
    const bool own = path_is_of_rank(path);
    reading r = {.path = path, .first = d->first_instance, .all = d->instances};
    bool ok = !own || path_check_parts(path, bda_comm_size(c), err);
    if (ok && own) {
        r.path = path_of_rank(&memory, path, bda_comm_rank(c), err);
        r.first = 0;
        r.all = d->units;
        ok = r.path != NULL;
    }
    r.end = r.first + d->units;
    r.weight = ARENA_TAKE(&memory, double, d->units, err);
    if (ok && d->unit_row)
        ok = err_set(err, BDA_USAGE, "--weights is for rows, not for sentences");
    ok = comm_agree(c, ok && r.weight && read_file(&r, err), err) && data_weigh(c, d, r.weight, err);
    arena_free(&memory);
    return ok;
}
