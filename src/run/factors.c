/* factors.c - reads  INDEX FACTOR  a line; '#' begins a comment, blank lines do not count, the text may be packed.
 *
 * Indices are those of the data. An index beyond the data's features is passed over: such a feature has the weight 0
 * whatever its penalty, and one file serves many data sets. */
#include "run/factors.h"

#include <math.h>
#include <string.h>

#include "data/lines.h"
#include "data/number.h"

#define MOST_INDEX 4294967294u /* of data files */

typedef struct reading {
    const char *path;
    bool zero_based;
    uint64_t features;
    double *factor; /* [features] 0: not named yet */
    uint64_t line;
} reading;

/* An index from `least` on; NULL where there is none. */
static const char *read_index(const char *p, uint64_t least, uint64_t *index)
{
    const char *begin = p;
    *index = 0;
    for (; *p >= '0' && *p <= '9' && *index <= MOST_INDEX; p++)
        *index = *index * 10 + (uint64_t)(*p - '0');
    bool whole = p > begin && (lines_is_blank(*p) || lines_is_end(*p));
    return whole && *index >= least && *index <= MOST_INDEX ? p : NULL;
}

/* Says what stands at p, up to the next blank. */
static bool refuse(const reading *r, const char *p, const char *expected, bda_error *err)
{
    lines_word seen = lines_word_at(p, "");
    const char *quote = seen.length ? "'" : "", *nothing = *p ? "the end of the line" : "a NUL byte";
    return err_set(err, BDA_FAILED, "%.400s, line %llu: expected %s, not %s%s%s", r->path,
                   (unsigned long long)r->line, expected, quote, seen.length ? seen.shown : nothing, quote);
}

static bool read_line(reading *r, const char *text, bda_error *err)
{
    const char *p = lines_skip_blanks(text), *behind;
    uint64_t index;
    double factor;
    if (lines_is_end(*p))
        return true;
    if (!(behind = read_index(p, !r->zero_based, &index)))
        return refuse(r, p, r->zero_based ? "the index of a feature, from 0" : "the index of a feature, from 1", err);
    p = lines_skip_blanks(behind);
    behind = number_read_any(p, &factor);
    if (!behind || !(lines_is_blank(*behind) || lines_is_end(*behind)) || !(factor > 0 && isfinite(1 / factor)))
        return refuse(r, p, "a factor above 0", err);
    p = lines_skip_blanks(behind);
    if (!lines_is_end(*p))
        return refuse(r, p, "nothing behind the factor", err);
    uint64_t column = index - !r->zero_based;
    if (column >= r->features)
        return true;
    if (r->factor[column] != 0)
        return err_set(err, BDA_FAILED, "%.400s, line %llu: the feature %llu has a factor already", r->path,
                       (unsigned long long)r->line, (unsigned long long)index);
    r->factor[column] = factor;
    return true;
}

static bool read_file(reading *r, bda_error *err)
{
    source s = {0};
    lines l = {0};
    const char *text = NULL;
    uint64_t length = 0, offset;
    bool ok = source_open(&s, r->path, err) && lines_open(&l, &s, LINES_ONE, 0, UINT64_MAX, err);
    while (ok && (ok = lines_next(&l, &text, &length, &offset, err)) && length > 0) {
        for (const char *p = text; ok && p < text + length; p = (const char *)rawmemchr(p, '\n') + 1) {
            r->line++;
            ok = read_line(r, p, err);
        }
    }
    lines_close(&l);
    source_close(&s);
    for (uint64_t j = 0; j < r->features; j++)
        r->factor[j] = r->factor[j] != 0 ? r->factor[j] : 1;
    return ok;
}

bool factors_read(comm *c, const char *path, bool zero_based, uint64_t features, double *factor, bda_error *err)
{
    reading r = {.path = path, .zero_based = zero_based, .features = features, .factor = factor};
    if (bda_comm_rank(c) == 0)
        memset(factor, 0, features * sizeof *factor);
    if (!comm_agree(c, bda_comm_rank(c) > 0 || read_file(&r, err), err))
        return false;
    comm_broadcast(c, 0, factor, features * sizeof *factor);
    return true;
}
