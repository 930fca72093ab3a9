/* write.c - see write.h. */
#include "sentence/write.h"

#include <stdio.h>
#include <string.h>

typedef struct writer {
    const corpus *c;
    write_put put;
    void *self;
    char buffer[1 << 15];
    uint64_t used;
} writer;

static void flush(writer *w)
{
    w->put(w->self, w->buffer, w->used);
    w->used = 0;
}

static void add(writer *w, const char *bytes, uint64_t count)
{
    while (count > 0) {
        const uint64_t room = sizeof w->buffer - w->used, now = count < room ? count : room;
        memcpy(w->buffer + w->used, bytes, now);
        w->used += now;
        bytes += now;
        count -= now;
        if (w->used == sizeof w->buffer)
            flush(w);
    }
}

static const char *new_text(const new_columns *n, int column, uint64_t token)
{
    for (int i = 0; i < n->count; i++)
        if (n->column[i].column == column)
            return n->column[i].text[n->column[i].number[token]];
    return NULL;
}

static bool is_separator(const corpus *c, char x)
{
    return x == '\t' || (c->form == CORPUS_PLAIN && (x == ' ' || x == '\r'));
}

static void add_probability(writer *w, const char *old, uint64_t length, double p)
{
    char text[40];
    const bool blank = length == 1 && *old == '_';
    if (w->c->form == CORPUS_CONLLU && !blank) {
        add(w, old, length);
        add(w, "|", 1);
    }
    const int count = snprintf(text, sizeof text, "%s%.6f", w->c->form == CORPUS_CONLLU ? "Probability=" : "", p);
    add(w, text, (uint64_t)count);
}

/* A token's line, without its newline. What is between the columns stays. */
static void add_line(writer *w, const char *p, const char *end, const new_columns *n, uint64_t token)
{
    const corpus *c = w->c;
    char between = '\t';
    int column = 0;
    const char *stop = end;
    while (stop > p && (stop[-1] == '\r' || (c->form == CORPUS_PLAIN && is_separator(c, stop[-1]))))
        stop--;
    for (const char *at = p;; column++) {
        const char *from = at;
        while (c->form == CORPUS_PLAIN && at < stop && is_separator(c, *at))
            at++;
        add(w, from, (uint64_t)(at - from));
        from = at;
        while (at < stop && !is_separator(c, *at))
            at++;
        const char *text = new_text(n, column, token);
        if (text)
            add(w, text, strlen(text));
        else if (n->probability && c->form == CORPUS_CONLLU && column == CONLLU_MISC)
            add_probability(w, from, (uint64_t)(at - from), n->probability[token]);
        else
            add(w, from, (uint64_t)(at - from));
        if (at == stop)
            break;
        between = *at;
        if (c->form == CORPUS_CONLLU)
            add(w, at++, 1);
    }
    const char *text = new_text(n, column + 1, token);
    if (text) {
        add(w, &between, 1);
        add(w, text, strlen(text));
    }
    if (n->probability && c->form == CORPUS_PLAIN) {
        add(w, &between, 1);
        add_probability(w, "", 0, n->probability[token]);
    }
    add(w, stop, (uint64_t)(end - stop));
}

void corpus_write(const corpus *c, const new_columns *columns, write_put put, void *self)
{
    writer w = {.c = c, .put = put, .self = self};
    uint64_t at = 0;
    for (uint64_t t = 0; t < c->tokens; t++) {
        add(&w, c->text + at, c->line[t] - at);
        const char *p = c->text + c->line[t], *end = memchr(p, '\n', c->length - c->line[t]);
        add_line(&w, p, end, columns, t);
        at = (uint64_t)(end - c->text);
    }
    add(&w, c->text + at, c->length - at);
    flush(&w);
}
