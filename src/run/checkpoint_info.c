/* checkpoint_info.c - what a checkpoint says about itself. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "run/checkpoint_file.h"

/* Reads every part that is there; where ranks have files of their own, others are not. */
static bool check_parts(const checkpoint_head *h, const char *path, uint64_t *present, bda_error *err)
{
    bool ok = true;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    *present = 0;
    if (file < 0)
        return err_set(err, BDA_FAILED, "it cannot be opened");
    for (uint64_t k = 0; ok && k < h->pieces + h->blocks; k++) {
        if (!checkpoint_has_part(h, file, k))
            continue;
        unsigned char *bytes = mem_resize(NULL, 0, h->length[k] + 1, "a part of a checkpoint", err);
        ok = bytes && checkpoint_read_part(h, file, k, bytes, err);
        mem_free(bytes, h->length[k] + 1);
        ++*present;
    }
    close(file);
    return ok && (*present > 0 || err_set(err, BDA_FAILED, "it has no parts"));
}

static void copy_text(const checkpoint_head *h, const char *name, char *to, size_t size)
{
    const char *text = checkpoint_trait_of(h, name);
    snprintf(to, size, "%s", text ? text : "");
}

static void summarise(const checkpoint_head *h, uint64_t present, bda_checkpoint_summary *s)
{
    char count[30];
    *s = (bda_checkpoint_summary){.round = h->round,
                                  .seconds = h->seconds,
                                  .primal = h->primal,
                                  .relative_gap = h->gap,
                                  .ended = h->stopped,
                                  .blocks = h->blocks,
                                  .ranks = h->pieces,
                                  .parts = h->pieces + h->blocks,
                                  .parts_here = present,
                                  .bytes = h->bytes};
    copy_text(h, " version of bda", s->version, sizeof s->version);
    copy_text(h, "task", s->task, sizeof s->task);
    copy_text(h, " loss", s->loss, sizeof s->loss);
    copy_text(h, " method", s->method, sizeof s->method);
    copy_text(h, " number of instances", count, sizeof count);
    if (sscanf(count, "%" SCNu64, &s->instances) != 1)
        s->instances = 0;
}

static bool read_summary(const char *path, checkpoint_head *h, bda_checkpoint_summary *s, bda_error *err)
{
    bda_error why = {0};
    bool missing;
    uint64_t present = 0;
    if (!checkpoint_read_head(h, path, &missing, &why) || !check_parts(h, path, &present, &why))
        return err_set(err, BDA_FAILED, "'%.300s' is no checkpoint that one could go on from: %.200s", path,
                       why.text);
    summarise(h, present, s);
    return true;
}

bool bda_checkpoint_summarise(const char *path, bda_checkpoint_summary *summary, bda_error *err)
{
    err_clear(err);
    checkpoint_head h;
    bda_checkpoint_summary s;
    const bool ok = read_summary(path, &h, &s, err);
    checkpoint_head_free(&h);
    if (ok) {
        s.size = summary->size;
        memcpy(summary, &s, summary->size < sizeof s ? summary->size : sizeof s);
    }
    return ok;
}

static bool write_json(const checkpoint_head *h, const bda_checkpoint_summary *s, const char *to, bda_error *err)
{
    output *out = out_open(to, err);
    if (!out)
        return false;
    json j;
    json_open(&j, out);
    json_text(&j, "file", "checkpoint");
    json_text(&j, "version", s->version);
    json_text(&j, "task", s->task);
    json_text(&j, "loss", s->loss);
    json_text(&j, "method", s->method);
    json_count(&j, "round", s->round);
    json_real(&j, "seconds", s->seconds);
    json_real(&j, "primal", s->primal);
    json_real(&j, "relative_gap", s->relative_gap);
    json_count(&j, "ended", s->ended);
    json_count(&j, "instances", s->instances);
    json_count(&j, "blocks", s->blocks);
    json_count(&j, "ranks", s->ranks);
    json_count(&j, "parts", s->parts);
    json_count(&j, "parts_here", s->parts_here);
    json_count(&j, "bytes", s->bytes);
    json_enter(&j, "options", '{');
    for (uint64_t i = 0; i < h->traits; i++)
        if (h->trait[i].name[0] != ' ')
            json_text(&j, h->trait[i].name, h->trait[i].value);
    json_leave(&j, '{');
    json_close(&j);
    return out_commit(out, err);
}

bool bda_checkpoint_describe(const char *path, const char *output, bda_error *err)
{
    err_clear(err);
    checkpoint_head h;
    bda_checkpoint_summary s;
    const bool ok = read_summary(path, &h, &s, err) && write_json(&h, &s, output, err);
    checkpoint_head_free(&h);
    return ok;
}
