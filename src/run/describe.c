/* describe.c - what data hold, as JSON. */
#include "base/json.h"
#include "data/data.h"

static bool write_data(const data *d, const uint64_t *count, uint64_t listed, const char *path, bda_error *err)
{
    output *out = out_open(path, err);
    if (!out)
        return false;
    bda_data_summary s = {.size = sizeof s};
    bda_data_summarise(d, &s);
    json j;
    json_open(&j, out);
    json_text(&j, "file", "data");
    json_text(&j, "name", d->name);
    json_text(&j, "format", s.format);
    json_count(&j, "instances", s.instances);
    json_count(&j, "features", s.features);
    json_count(&j, "nonzeros", s.nonzeros);
    json_text(&j, "values", s.values);
    json_count(&j, "bytes_read", s.bytes_read);
    json_real(&j, "seconds", s.seconds);
    json_enter(&j, "labels", '[');
    for (uint64_t k = 0; k < listed; k++) {
        json_enter(&j, NULL, '{');
        json_text(&j, "label", d->labels.name[k]);
        json_count(&j, "count", count[k]);
        json_leave(&j, '{');
    }
    json_leave(&j, '[');
    json_close(&j);
    return out_commit(out, err);
}

bool bda_data_describe(bda_comm *c, const bda_data *d, const char *path, bda_error *err)
{
    err_clear(err);
    arena memory = {0};
    const uint64_t known = d->labels.name && !d->unlabelled ? d->labels.count : 0;
    uint64_t *count = ARENA_TAKE(&memory, uint64_t, known + 1, err);
    bool ok = comm_agree(c, count != NULL, err);
    if (ok) {
        const uint64_t listed = bda_data_labels(c, d, known, NULL, count);
        ok = comm_agree(c, bda_comm_rank(c) != 0 || write_data(d, count, listed, path, err), err);
    }
    arena_free(&memory);
    return ok;
}
