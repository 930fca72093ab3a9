/* lines.c - see lines.h. */
#include "run/lines.h"

#include <string.h>

#include "base/json.h"
#include "run/text.h"

static void put_text(bytes *to, const char *text)
{
    bytes_put(to, text, strlen(text));
}

static void put_real(bytes *to, double x)
{
    char text[TEXT_REAL];
    bytes_put(to, text, (uint64_t)text_real(text, x));
}

/* RFC 4180: in quotes where a comma, a quote or a newline is in it. */
static char *quote_csv(char *to, const char *text)
{
    if (!text[strcspn(text, ",\"\r\n")])
        return stpcpy(to, text);
    *to++ = '"';
    for (; *text; text++) {
        if (*text == '"')
            *to++ = '"';
        *to++ = *text;
    }
    *to++ = '"';
    *to = 0;
    return to;
}

/* Labels that are numbers are written as such. */
static bool encode_labels(line_writer *w, bda_error *err)
{
    const label_table *labels = &w->model->labels;
    for (uint64_t k = 0; k < labels->count; k++) {
        char number[TEXT_REAL];
        const char *name = labels->name[k];
        if (labels->number) {
            text_real(number, labels->number[k]);
            name = number;
        }
        char *text = ARENA_TAKE(&w->memory, char, JSON_TEXT_ROOM(strlen(name)), err);
        if (!text)
            return false;
        if (w->format == LINES_CSV)
            quote_csv(text, name);
        else if (w->format == LINES_JSON && !labels->number)
            json_encode(text, name);
        else
            strcpy(text, name);
        w->label[k] = text;
    }
    return true;
}

bool lines_open_writer(line_writer *w, const bda_model *m, const bda_settings *s, bda_error *err)
{
    *w = (line_writer){.model = m, .scores = s->scores, .probabilities = s->probability};
    w->format = strcmp(s->format, "json") == 0 ? LINES_JSON : strcmp(s->format, "csv") == 0 ? LINES_CSV : LINES_TEXT;
    w->label = ARENA_TAKE(&w->memory, const char *, m->classes + 1, err);
    w->probability = ARENA_TAKE(&w->memory, double, m->classes + 1, err);
    return w->label && w->probability && encode_labels(w, err);
}

void lines_close_writer(line_writer *w)
{
    arena_free(&w->memory);
    *w = (line_writer){0};
}

/* ---- columns ------------------------------------------------------------------------------------------------- */

/* ,NAME_LABEL; in quotes as a whole where the label is. */
static void put_column(bytes *to, const char *name, const char *label)
{
    const bool quoted = label[0] == '"';
    put_text(to, quoted ? ",\"" : ",");
    put_text(to, name);
    put_text(to, "_");
    put_text(to, quoted ? label + 1 : label);
}

void lines_head(const line_writer *w, bytes *to)
{
    const bda_model *m = w->model;
    if (w->format == LINES_TEXT && m->classes > 0 && (w->scores || w->probabilities)) {
        put_text(to, "labels");
        for (uint64_t k = 0; k < m->classes; k++) {
            put_text(to, " ");
            put_text(to, w->label[k]);
        }
        put_text(to, "\n");
    }
    if (w->format != LINES_CSV)
        return;
    put_text(to, m->classes > 0 ? "label" : "prediction");
    if (w->scores && m->outputs == 1)
        put_text(to, ",score");
    for (uint64_t k = 0; w->scores && m->outputs > 1 && k < m->outputs; k++)
        put_column(to, "score", w->label[k]);
    for (uint64_t k = 0; w->probabilities && k < m->classes; k++)
        put_column(to, "probability", w->label[k]);
    put_text(to, "\n");
}

/* {"a":0.5,"b":2} */
static void put_object(const line_writer *w, const char *name, const double *x, uint64_t count, bytes *to)
{
    const bool number = w->model->labels.number;
    put_text(to, ",\"");
    put_text(to, name);
    put_text(to, "\":{");
    for (uint64_t k = 0; k < count; k++) {
        put_text(to, k ? "," : "");
        put_text(to, number ? "\"" : "");
        put_text(to, w->label[k]);
        put_text(to, number ? "\":" : ":");
        put_real(to, x[k]);
    }
    put_text(to, "}");
}

static void put_json(const line_writer *w, const double *score, const double *p, bytes *to)
{
    const bda_model *m = w->model;
    put_text(to, m->classes > 0 ? "{\"label\":" : "{\"prediction\":");
    if (m->classes > 0)
        put_text(to, w->label[bda_class_of(m, score)]);
    else
        put_real(to, score[0]);
    if (w->scores && m->outputs == 1) {
        put_text(to, ",\"score\":");
        put_real(to, score[0]);
    } else if (w->scores) {
        put_object(w, "scores", score, m->outputs, to);
    }
    if (p)
        put_object(w, "probabilities", p, m->classes, to);
    put_text(to, "}\n");
}

void lines_row(const line_writer *w, const double *score, bytes *to)
{
    const bda_model *m = w->model;
    const char *between = w->format == LINES_CSV ? "," : " ";
    bda_error none = {0};
    const bool probable = w->probabilities && bda_probabilities(m, score, w->probability, &none);
    if (w->format == LINES_JSON) {
        put_json(w, score, probable ? w->probability : NULL, to);
        return;
    }
    if (m->classes > 0)
        put_text(to, w->label[bda_class_of(m, score)]);
    else
        put_real(to, score[0]);
    for (uint64_t k = 0; w->scores && k < m->outputs; k++) {
        put_text(to, between);
        put_real(to, score[k]);
    }
    for (uint64_t k = 0; probable && k < m->classes; k++) {
        put_text(to, between);
        put_real(to, w->probability[k]);
    }
    put_text(to, "\n");
}
