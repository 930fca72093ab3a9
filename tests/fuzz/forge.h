/* forge.h - checksums of changed files made right again, so that what stands behind them is reached; and what must hold
 * of anything that was read all the same. */
#ifndef FUZZ_FORGE_H
#define FUZZ_FORGE_H

#include "base/sections.h"
#include "data/binary.h"
#include "run/model.h"
#include "unit/data_support.h"

#include <math.h>
#include <stddef.h>
#include <string.h>
#include <xxhash.h>

#define FORGE_LARGE 100000 /* models with more features are not looked through */

static inline void forge_binary(char *bytes, size_t size)
{
    binary_header h;
    binary_layout layout;
    memcpy(&h, bytes, sizeof h);
    h.size = size;
    if (h.form <= ROWS_DOUBLE && binary_lay_out((rows_form)h.form, h.instances, h.nonzeros, &layout) &&
        layout.size == size && layout.blocks == 1) {
        uint64_t sum = XXH3_64bits(bytes + BINARY_HEADER, layout.checksum - BINARY_HEADER);
        memcpy(bytes + layout.checksum, &sum, 8);
        sum = XXH3_64bits(bytes + layout.checksum, 8);
        memcpy(bytes + layout.checksum + 8, &sum, 8);
    }
    h.checksum = XXH3_64bits(&h, offsetof(binary_header, checksum));
    memcpy(bytes, &h, sizeof h);
}

/* Every promise that loops rely on. */
static inline bool forge_sound(const data *d)
{
    const rows *r = &d->rows;
    for (uint64_t i = 0; i < r->count; i++) {
        if (!isfinite(d->target.real[i]) || r->start[i] > r->start[i + 1])
            return false;
        for (uint64_t k = r->start[i]; k < r->start[i + 1]; k++)
            if (support_column(r, k) >= d->features || !isfinite(support_value(r, i, k)) ||
                (k > r->start[i] && support_column(r, k) <= support_column(r, k - 1)))
                return false;
    }
    return r->start[r->count] - r->start[0] == d->nonzeros && r->count == d->instances;
}

/* Makes the checksums right, as far as the lengths of sections lead. */
static inline void forge_sections(unsigned char *bytes, size_t count)
{
    const uint64_t head = SECTION_KIND + 16;
    for (uint64_t at = 16; count > head && at < count - head;) {
        const uint64_t length = bytes_decode_u64(bytes + at + SECTION_KIND + 8);
        if (length > count - at - head)
            return;
        const uint64_t whole = head + (length + 7) / 8 * 8;
        if (whole + 8 > count - at)
            return;
        bytes_encode_u64(bytes + at + whole, XXH3_64bits(bytes + at, whole));
        at += whole + 8;
    }
}

static inline bool forge_makes_sense(const bda_model *m)
{
    if (m->features > FORGE_LARGE)
        return true;
    bda_model_summary s = {.size = sizeof s};
    bda_model_summarise(m, &s);
    uint64_t n = (s.features + (s.bias >= 0)) * s.outputs;
    for (uint64_t j = 0; j < n; j++)
        if (!isfinite(s.weights[j]))
            return false;
    for (uint64_t k = 0; s.labels && k < s.classes; k++) /* tags have names alone */
        if (!isfinite(s.labels[k]) || (k > 0 && (s.classes == 2) != (s.labels[k] < s.labels[k - 1])))
            return false;
    if (isinf(s.cost) || isinf(s.primal) || isinf(s.relative_gap))
        return false;
    if (strcmp(s.task, "tag") == 0 || strcmp(s.task, "parse") == 0)
        return s.outputs >= 1;
    return (strcmp(s.task, "regress") == 0) == (s.classes == 0) && s.outputs == (s.classes > 2 ? s.classes : 1);
}

#endif
