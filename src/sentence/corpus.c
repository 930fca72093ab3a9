/* corpus.c - see corpus.h. */
#include "sentence/corpus.h"

#include "sentence/unicode.h"
#include "structure/tree.h"

#include <stdio.h>
#include <string.h>

typedef struct field {
    const char *text;
    uint64_t length;
} field;

/* One pass over the text. */
typedef struct reader {
    corpus *c;
    uint64_t line; /* of the text, from 1 */
    uint64_t room; /* of tokens and sentences */
    uint16_t *work;
    bda_error *err;
} reader;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

bool corpus_blank_line(const char *p)
{
    while (is_blank(*p))
        p++;
    return *p == '\n';
}

static const char *line_end(const char *p, const char *end)
{
    return memchr(p, '\n', (size_t)(end - p));
}

const char *corpus_skip_sentence(const char *p, const char *end, corpus_form form, bool *tokens)
{
    *tokens = false;
    while (p < end) {
        bool blank = corpus_blank_line(p), comment = form == CORPUS_CONLLU && *p == '#';
        if (!blank && !comment)
            *tokens = true;
        p = line_end(p, end) + 1;
        if (blank && *tokens)
            return p;
    }
    return end;
}

static uint64_t count_fields(const char *p, const char *end, char separator)
{
    uint64_t count = 1;
    for (; p < end; p++)
        count += *p == separator;
    return count;
}

bool corpus_form_of(const char *p, const char *end, corpus_form *form)
{
    bool commented = false;
    for (const char *stop; p < end && (stop = line_end(p, end)); p = stop + 1) {
        if (corpus_blank_line(p))
            continue;
        if (*p == '#' && count_fields(p, stop, '\t') != CONLLU_COLUMNS) {
            commented = true;
            continue;
        }
        bool tabs = count_fields(p, stop, '\t') == CONLLU_COLUMNS;
        bool first = (*p == '0' || *p == '1') && (p[1] == '\t' || p[1] == '-' || p[1] == '.');
        bool sentence = commented && count_fields(p, stop, '\t') > 1 && first; /* some column is missing */
        *form = (tabs && first) || sentence ? CORPUS_CONLLU : CORPUS_PLAIN;
        return true;
    }
    return false;
}

static bool blame_line(const corpus *c, uint64_t line, const char *sentence, bda_error *err)
{
    uint64_t number = c->lines_before + line, file = 0;
    for (; file + 1 < c->files && number > c->lines[file]; file++)
        number -= c->lines[file];
    return err_set(err, BDA_FAILED, "%s, line %llu: %s", c->path[file], (unsigned long long)number, sentence);
}

static uint64_t lines_to(const corpus *c, uint64_t offset)
{
    uint64_t lines = 1;
    for (uint64_t i = 0; i < offset; i++)
        lines += c->text[i] == '\n';
    return lines;
}

bool corpus_blame(const corpus *c, uint64_t token, const char *sentence, bda_error *err)
{
    return blame_line(c, lines_to(c, c->line[token]), sentence, err);
}

static bool wrong(reader *r, const char *sentence)
{
    return blame_line(r->c, r->line, sentence, r->err);
}

/* ---- the columns of a line ------------------------------------------------------------------------------------- */

/* Fields separated by single tabs; how many there are, of which the first CONLLU_COLUMNS are filled in. */
static int split_tabs(const char *p, const char *end, field *f)
{
    int count = 0;
    for (;; p++) {
        const char *tab = memchr(p, '\t', (size_t)(end - p));
        const char *stop = tab ? tab : end;
        if (count < CONLLU_COLUMNS)
            f[count] = (field){p, (uint64_t)(stop - p)};
        count++;
        if (!tab)
            return count;
        p = stop;
    }
}

/* Fields between blanks; the first CORPUS_COLUMNS are filled in. */
static int split_blanks(const char *p, const char *end, field *f)
{
    int count = 0;
    for (;;) {
        while (p < end && is_blank(*p))
            p++;
        if (p == end)
            return count;
        const char *from = p;
        while (p < end && !is_blank(*p))
            p++;
        if (count < CORPUS_COLUMNS)
            f[count] = (field){from, (uint64_t)(p - from)};
        count++;
    }
}

static const char *without_return(const char *p, const char *end)
{
    return end > p && end[-1] == '\r' ? end - 1 : end;
}

static int split(const corpus *c, const char *p, const char *end, field *f)
{
    end = without_return(p, end);
    return c->form == CORPUS_CONLLU ? split_tabs(p, end, f) : split_blanks(p, end, f);
}

string_entry corpus_cell(const corpus *c, uint64_t token, int column)
{
    field f[CORPUS_COLUMNS];
    const char *p = c->text + c->line[token];
    int count = split(c, p, line_end(p, c->text + c->length), f);
    if (column >= count)
        return (string_entry){.text = ""};
    return (string_entry){.text = f[column].text, .length = (uint32_t)f[column].length};
}

/* A whole number of up to five digits; -1: it is none. */
static int whole(const char *p, uint64_t length)
{
    int x = 0;
    if (length == 0 || length > 5)
        return -1;
    for (uint64_t i = 0; i < length; i++) {
        if (p[i] < '0' || p[i] > '9')
            return -1;
        x = 10 * x + p[i] - '0';
    }
    return x;
}

/* "3-4" and "5.1" are no tokens. */
static bool is_extra(field id)
{
    for (uint64_t i = 1; i + 1 < id.length; i++)
        if (id.text[i] == '-' || id.text[i] == '.')
            return whole(id.text, i) >= 0 && whole(id.text + i + 1, id.length - i - 1) >= 0;
    return false;
}

static bool check_id(reader *r, field id, uint64_t expected)
{
    char text[160];
    if (whole(id.text, id.length) == (int)expected)
        return true;
    snprintf(text, sizeof text, "the number of the token is '%.*s', and %llu was expected",
             id.length < 20 ? (int)id.length : 20, id.text, (unsigned long long)expected);
    return wrong(r, text);
}

static bool take_head(reader *r, field f, uint64_t token)
{
    corpus *c = r->c;
    if (f.length == 1 && f.text[0] == '_' && !c->trees) {
        c->head[token] = CORPUS_NO_HEAD;
        c->headless++;
        return true;
    }
    int head = whole(f.text, f.length);
    char text[160];
    if (head >= 0 && head <= CORPUS_LONGEST) {
        c->head[token] = (uint16_t)head;
        return true;
    }
    snprintf(text, sizeof text, "the head must be the number of a token or 0, not '%.*s'",
             f.length < 20 ? (int)f.length : 20, f.text);
    return wrong(r, text);
}

static bool check_width(reader *r, int width)
{
    corpus *c = r->c;
    char text[160];
    if (c->form == CORPUS_CONLLU) {
        if (width == CONLLU_COLUMNS)
            return true;
        snprintf(text, sizeof text, "CoNLL-U has %d columns separated by tabs, and this line has %d", CONLLU_COLUMNS,
                 width);
        return wrong(r, text);
    }
    if (width > CORPUS_COLUMNS)
        snprintf(text, sizeof text, "%d columns are too many; there may be %d", width, CORPUS_COLUMNS);
    else if (width == c->width)
        return true;
    else
        snprintf(text, sizeof text, "the line has %d column%s, and the lines before it have %d", width,
                 width == 1 ? "" : "s", c->width);
    return wrong(r, text);
}

static bool take_token(reader *r, const char *p, const field *f)
{
    corpus *c = r->c;
    uint64_t t = c->tokens, begins = c->first[c->sentences];
    if (t - begins == CORPUS_LONGEST)
        return wrong(r, "the sentence has more than 65534 tokens");
    if (c->form == CORPUS_CONLLU && !check_id(r, f[CONLLU_ID], t - begins + 1))
        return false;
    if (c->form == CORPUS_CONLLU && f[CONLLU_FORM].length == 0)
        return wrong(r, "the column FORM is empty");
    c->line[t] = (uint64_t)(p - c->text);
    for (int k = 0; k < c->width; k++)
        if (c->id[k] && !strings_add(&c->strings[k], f[k].text, f[k].length, &c->id[k][t], r->err))
            return false;
    if (c->head && !take_head(r, f[CONLLU_HEAD], t))
        return false;
    c->tokens++;
    return true;
}

/* ---- sentences -------------------------------------------------------------------------------------------------- */

static bool check_tree(reader *r, uint64_t first, int n)
{
    static const char *const faults[] = {
        [TREE_NO_SUCH_HEAD] = "the head is beyond the end of the sentence",
        [TREE_CYCLE] = "the token is its own head, or part of a cycle of heads",
        [TREE_NO_ROOT] = "no token of the sentence has 0, the root, as its head",
        [TREE_SECOND_ROOT] = "a second token of the sentence has 0, the root, as its head",
    };
    int token = 0;
    tree_fault fault = tree_check(n, r->c->head + first, &token, r->work);
    return fault == TREE_FINE || corpus_blame(r->c, first + (uint64_t)token, faults[fault], r->err);
}

/* Heads that are given must be in the sentence, also where they need not be trees. */
static bool check_heads(reader *r, uint64_t first, uint64_t end)
{
    const corpus *c = r->c;
    for (uint64_t t = first; t < end; t++)
        if (c->head[t] != CORPUS_NO_HEAD && c->head[t] > end - first)
            return corpus_blame(c, t, "the head is beyond the end of the sentence", r->err);
    return true;
}

static bool end_sentence(reader *r)
{
    corpus *c = r->c;
    uint64_t first = c->first[c->sentences];
    if (first == c->tokens)
        return true;
    c->first[++c->sentences] = c->tokens;
    if (!c->head)
        return true;
    return c->trees ? check_tree(r, first, (int)(c->tokens - first)) : check_heads(r, first, c->tokens);
}

/* Arrays for as many tokens as there are lines, now that the width is known. */
static bool take_columns(reader *r, int width)
{
    corpus *c = r->c;
    c->width = width;
    for (int k = 0; k < width && k < CORPUS_COLUMNS; k++)
        if (c->wanted >> k & 1 && !(c->id[k] = ARENA_TAKE(&c->memory, uint32_t, r->room, r->err)))
            return false;
    if (c->form == CORPUS_CONLLU && c->heads && !(c->head = ARENA_TAKE(&c->memory, uint16_t, r->room, r->err)))
        return false;
    return true;
}

static bool take_line(reader *r, const char *p, const char *end)
{
    corpus *c = r->c;
    field f[CORPUS_COLUMNS];
    if (corpus_blank_line(p))
        return end_sentence(r);
    if (c->form == CORPUS_CONLLU && *p == '#')
        return true;
    int width = split(c, p, end, f);
    if (c->width == 0 && !take_columns(r, width))
        return false;
    if (!check_width(r, width))
        return false;
    if (c->form == CORPUS_CONLLU && is_extra(f[CONLLU_ID]))
        return true;
    return take_token(r, p, f);
}

static bool check_text(reader *r)
{
    const corpus *c = r->c;
    uint64_t bad = unicode_invalid(c->text, c->length);
    if (bad == c->length)
        return true;
    r->line = lines_to(c, bad);
    return wrong(r, c->text[bad] == 0 ? "a NUL byte" : "the text is not valid UTF-8");
}

bool corpus_parse(corpus *c, bda_error *err)
{
    reader r = {.c = c, .line = 1, .room = lines_to(c, c->length) + 1, .err = err};
    arena temporary = {0};
    c->first = ARENA_TAKE(&c->memory, uint64_t, r.room, err);
    c->line = ARENA_TAKE(&c->memory, uint64_t, r.room, err);
    r.work = ARENA_TAKE(&temporary, uint16_t, CORPUS_LONGEST + 1, err);
    bool ok = c->first && c->line && r.work && check_text(&r);
    const char *end = c->length > 0 ? c->text + c->length : c->text; /* NULL where there is no text */
    for (const char *p = c->text, *stop; ok && p < end; p = stop + 1, r.line++) {
        stop = line_end(p, end);
        ok = take_line(&r, p, stop);
    }
    ok = ok && end_sentence(&r);
    arena_free(&temporary);
    return ok;
}

void corpus_free(corpus *c)
{
    for (int k = 0; k < CORPUS_COLUMNS; k++)
        strings_free(&c->strings[k]);
    mem_free(c->text, c->text_bytes);
    arena_free(&c->memory);
    *c = (corpus){0};
}
