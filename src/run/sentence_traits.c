/* sentence_traits.c - what a model of sentences looks at, in words for people. */
#include <stdio.h>
#include <string.h>

#include "run/sentence_model.h"

#define TRAITS 6
#define SHOWN 12 /* templates, relations */
#define LINE 600

typedef struct lister {
    bda_model *m;
    model_option *list;
    bda_error *err;
    bool ok;
} lister;

static void add(lister *l, const char *name, const char *value)
{
    const char *copy = l->ok ? model_copy_text(l->m, value, l->err) : NULL;
    l->ok = copy != NULL;
    if (l->ok)
        l->list[l->m->traits++] = (model_option){name, copy};
}

/* Adds "a, b, c" to the line: the k-th of count. */
static void enumerate(char *line, uint64_t k, uint64_t count, const char *what, int length)
{
    const size_t used = strlen(line);
    if (k < SHOWN)
        snprintf(line + used, LINE - used, "%s%.*s", k ? ", " : "", length < 40 ? length : 40, what);
    else if (k == count - 1)
        snprintf(line + used, LINE - used, ", ...");
}

/* The templates of a file: lines that are not empty and no comments. */
static void list_templates(lister *l, const char *text)
{
    uint64_t count = 0;
    char line[LINE] = "", all[LINE + 40];
    for (int pass = 0; pass < 2; pass++) {
        uint64_t k = 0;
        for (const char *p = text; *p;) {
            const int length = (int)strcspn(p, "\r\n");
            if (length > 0 && *p != '#') {
                if (pass)
                    enumerate(line, k, count, p, length);
                k++;
            }
            p += length + strspn(p + length, "\r\n");
        }
        count = k;
    }
    snprintf(all, sizeof all, "%llu: %s", (unsigned long long)count, line);
    add(l, "templates", all);
}

static void list_tagging(lister *l, const tag_scheme *t)
{
    char line[LINE];
    if (t->form == CORPUS_CONLLU)
        add(l, "column", t->column == CONLLU_XPOS ? "XPOS of CoNLL-U" : "UPOS of CoNLL-U");
    else {
        snprintf(line, sizeof line, "the last of %d", t->width);
        add(l, "column", line);
    }
    if (t->text)
        list_templates(l, t->text);
    else
        add(l, "templates", "the program's own");
}

static void list_parsing(lister *l, const sentence_model *s)
{
    const edge_scheme *e = &s->edge;
    const char *fine = !(e->groups & EDGE_FINE) ? ""
                       : e->feats               ? ", and with FEATS"
                       : e->fine == e->tag      ? ""
                       : e->fine == CONLLU_XPOS ? ", fine ones of XPOS"
                                                : ", fine ones of UPOS";
    char line[LINE] = "";
    add(l, "trees", s->projective ? "projective" : "any");
    snprintf(line, sizeof line, "%s%s", e->tag == CONLLU_XPOS ? "XPOS" : "UPOS", fine);
    add(l, "tags", line);
    add(l, "templates", e->groups & EDGE_EXTRA ? "the program's own" : "the program's basic ones");
    if (s->relations.count == 0) {
        add(l, "relations", "none");
        return;
    }
    snprintf(line, sizeof line, "%llu: ", (unsigned long long)s->relations.count);
    for (uint64_t k = 0; k < s->relations.count; k++)
        enumerate(line, k, s->relations.count, s->relations.name[k], (int)strlen(s->relations.name[k]));
    add(l, "relations", line);
}

bool sentence_model_look(bda_model *m, const sentence_model *s, bda_error *err)
{
    lister l = {m, ARENA_TAKE(&m->memory, model_option, TRAITS, err), err, true};
    if (!l.list)
        return false;
    m->trait = l.list;
    if (s->parse)
        list_parsing(&l, s);
    else
        list_tagging(&l, &s->tag);
    return l.ok;
}
