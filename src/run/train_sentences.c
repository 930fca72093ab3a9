/* train_sentences.c - see train_sentences.h. */
#include "run/train_sentences.h"

#include <stdio.h>
#include <string.h>

#include "problem/structured.h"
#include "run/sentence_model.h"

#define FEW_CROSSINGS 0.01 /* of the edges: below that trees are projective unless --trees says otherwise */

bool is_sentence_task(const char *task)
{
    return strcmp(task, "tag") == 0 || strcmp(task, "parse") == 0;
}

data *read_for_training(comm *c, const bda_settings *s, uint64_t count, const char *const *path, uint64_t blocks,
                        bda_error *err)
{
    const sentences_request request = {.path = path[0],
                                       .others = path + 1,
                                       .other_count = count - 1,
                                       .blocks = blocks,
                                       .threads = (int)s->threads,
                                       .parse = strcmp(s->task, "parse") == 0,
                                       .xpos = strcmp(s->column, "xpos") == 0,
                                       .column_given = s->column[0],
                                       .template = s->template_file,
                                       .groups = EDGE_FINE | EDGE_EXTRA,
                                       .min_count = (uint64_t)s->min_count};
    return sentences_read(c, &request, err);
}

static bool projective(const bda_settings *s, const sentences *x)
{
    const bool few = (double)x->crossings < FEW_CROSSINGS * (double)x->tokens_all;
    return strcmp(s->trees, "projective") == 0 || (strcmp(s->trees, "any") != 0 && few);
}

bool choose_structure(const bda_settings *s, const data *d, const struct structure **structure, bda_error *err)
{
    const bool parse = strcmp(s->task, "parse") == 0;
    *structure = NULL;
    if (!is_sentence_task(s->task))
        return !d->sentences ||
               err_set(err, BDA_USAGE, "%s has sentences, which --task=%s does not take", d->name, s->task);
    if (!d->sentences || !d->sentences->dictionary.columns || d->sentences->parse != parse)
        return err_set(err, BDA_USAGE, "%s was not read for --task=%s", d->name, s->task);
    if (!parse)
        *structure = &chain_structure;
    else
        *structure = projective(s, d->sentences) ? &tree_projective_structure : &tree_any_structure;
    return true;
}

void note_trees(comm *c, const bda_settings *s, const data *d, const bda_observer *o)
{
    const sentences *x = d->sentences;
    const bool given = strcmp(s->trees, "projective") == 0;
    char text[200];
    if (!o || !o->note || bda_comm_rank(c) > 0 || !x || !x->parse || !given || x->crossings == 0)
        return;
    snprintf(text, sizeof text,
             "%llu of %llu edges cross others; with --trees=projective no such edges are ever found, and --trees=any "
             "would find some",
             (unsigned long long)x->crossings, (unsigned long long)x->tokens_all);
    o->note(o->note_self, false, text);
}

/* ---- relations ------------------------------------------------------------------------------------------------- */

#define RELATION_COST "0.1"
#define RELATION_GAP "1e-2"

/* A training of its own, with the data in the same blocks. */
static bda_model *train_relations(comm *c, const data *d, const bda_settings *s, bda_error *err)
{
    char blocks[30], threads[30], seed[30];
    snprintf(blocks, sizeof blocks, "%llu", (unsigned long long)d->blocks);
    snprintf(threads, sizeof threads, "%lld", (long long)s->threads);
    snprintf(seed, sizeof seed, "%lld", (long long)s->seed);
    const char *const options[][2] = {{"loss", "hinge"},  {"cost", RELATION_COST}, {"gap", RELATION_GAP},
                                      {"blocks", blocks}, {"threads", threads},    {"seed", seed}};
    bda_settings *own = bda_settings_new("train", err);
    bool ok = own != NULL;
    for (size_t i = 0; ok && i < sizeof options / sizeof *options; i++)
        ok = bda_set(own, options[i][0], options[i][1], err);
    bda_outcome outcome = {.size = sizeof outcome};
    bda_model *m = comm_agree(c, ok, err) ? bda_train(c, d, own, NULL, &outcome, err) : NULL;
    bda_settings_free(own);
    return m;
}

/* Weights that are not 0, by column. Relations are in the order of the data's labels; of two, the model's one output
 * is the second's where it is positive, and the first's where it is negative. */
static bool take_weights(const bda_model *m, relation_weights *w, arena *memory, bda_error *err)
{
    const uint64_t width = m->outputs;
    uint64_t count = 0;
    for (uint64_t j = 0; j < m->features * width; j++)
        count += m->w[j] != 0;
    w->columns = m->features;
    w->start = ARENA_TAKE(memory, uint64_t, w->columns + 1, err);
    w->relation = ARENA_TAKE(memory, uint32_t, count + 1, err);
    w->weight = ARENA_TAKE(memory, double, count + 1, err);
    if (!w->start || !w->relation || !w->weight)
        return false;
    uint64_t at = 0;
    for (uint64_t j = 0; j < w->columns; j++) {
        for (uint64_t k = 0; k < width; k++)
            if (m->w[j * width + k] != 0) {
                w->relation[at] = width > 1 ? (uint32_t)k : 1;
                w->weight[at++] = m->w[j * width + k];
            }
        w->start[j + 1] = at;
    }
    return true;
}

static bool make_relations(comm *c, const data *d, const bda_settings *s, sentence_model *to, bda_error *err)
{
    dictionary words = {0};
    bda_model *m = NULL;
    data *edges = relations_data(c, d, (int)s->threads, &words, err);
    bool ok = edges && (m = train_relations(c, edges, s, err)) &&
              dictionary_gather(c, &words, &to->memory, &to->relation_keys.key, &to->relation_keys.column, err);
    to->relation_keys.features = words.features;
    to->relations = d->sentences->labels;
    ok = ok && comm_agree(c, take_weights(m, &to->relation_weights, &to->memory, err), err);
    bda_model_free(m);
    data_free(edges);
    dictionary_free(&words);
    return ok;
}

static bool wants_relations(const bda_settings *s, const sentences *x, bool *wanted, bda_error *err)
{
    *wanted = strcmp(s->labels, "no") != 0 && x->labels.count > 1;
    return strcmp(s->labels, "yes") != 0 || *wanted ||
           err_set(err, BDA_FAILED, "--labels=yes needs relations in the data, and DEPREL is the same in all lines");
}

bool keep_sentences(comm *c, const data *d, const bda_settings *s, const struct structure *structure, bda_model *m,
                    bda_error *err)
{
    if (!structure)
        return true;
    const sentences *x = d->sentences;
    sentence_model to = {
        .parse = x->parse, .projective = structure == &tree_projective_structure, .tag = x->tag, .edge = x->edge};
    bool relations = false;
    bool ok = dictionary_gather(c, &x->dictionary, &to.memory, &to.keys.key, &to.keys.column, err);
    to.keys.features = x->dictionary.features;
    if (ok && x->parse)
        ok = wants_relations(s, x, &relations, err) && (!relations || make_relations(c, d, s, &to, err));
    ok = ok && comm_agree(c, sentence_model_put(m, &to, err), err);
    sentence_model_free(&to);
    return ok;
}
