/* tag.c - see tag.h. */
#include "sentence/tag.h"

#include "sentence/key.h"

#include <stdio.h>
#include <string.h>

/* The numbers are part of model files: new templates go to the end. */
enum template_name {
    ONE = 1,
    WORD, /* + 0 .. 4: at -2 .. +2 */
    WORD_PAIR_BEFORE = WORD + 5,
    WORD_PAIR_BEHIND,
    WORD_PAIR_AROUND,
    LOWER,              /* + 0 .. 2: at -1 .. +1 */
    PREFIX = LOWER + 3, /* + length */
    SUFFIX = PREFIX + WORD_AFFIX + 1,
    SHAPE = SUFFIX + WORD_AFFIX + 1,
    SHORT_SHAPE, /* + 0 .. 2: at -1 .. +1 */
    SHAPE_PAIR_BEFORE = SHORT_SHAPE + 3,
    SHAPE_PAIR_BEHIND,
    CAPS, /* + bit */
    ENDING_BEFORE = CAPS + 8,
    ENDING_BEHIND,
    SUFFIX_BEFORE, /* + length - 2, of 2 and 3 */
    SUFFIX_BEHIND = SUFFIX_BEFORE + 2,
    GIVEN = 64, /* templates of a column that is given; its number is mixed in */
    GIVEN_PAIR = GIVEN + 5,
    GIVEN_TRIPLE = GIVEN_PAIR + 4,
    GIVEN_WORD = GIVEN_TRIPLE + 3,
    GIVEN_TEMPLATES = 17,
    OWN_TEMPLATES = 48, /* at most that many keys without given columns */
};

#define NAME(number) key_mix((uint64_t)(number) << 32)

/* What stands `row` tokens before the first or behind the last token. */
static uint64_t outside(int row)
{
    return key_mix((uint64_t)(0x10000 + row));
}

/* Beyond the sentence: two words in front, two behind. */
static word beyond(int row)
{
    uint64_t name = outside(row);
    return (word){.whole = name, .lower = name, .ending = name, .shape = name, .short_shape = name};
}

/* ---- the program's templates --------------------------------------------------------------------------------------- */

static uint64_t given_string(const tag_view *v, int column, int64_t t)
{
    if (t < 0)
        return outside((int)t);
    if (t >= (int64_t)v->length)
        return outside((int)(t - (int64_t)v->length) + 1);
    return v->corpus->strings[column].at[v->corpus->id[column][v->first + (uint64_t)t]].hash;
}

/* Tags -2 .. +2, pairs and triples of them, and with words. */
static uint64_t given_keys(const tag_view *v, int column, int64_t t, uint64_t *key)
{
    const uint64_t which = key_mix((uint64_t)column);
    const word *const *w = v->word + t + 2;
    uint64_t tag[5], *k = key;
    for (int i = 0; i < 5; i++)
        tag[i] = given_string(v, column, t + i - 2);
    for (int i = 0; i < 5; i++)
        *k++ = key1(NAME(GIVEN + i) + which, tag[i]);
    for (int i = 0; i < 4; i++)
        *k++ = key2(NAME(GIVEN_PAIR + i) + which, tag[i], tag[i + 1]);
    for (int i = 0; i < 3; i++)
        *k++ = key3(NAME(GIVEN_TRIPLE + i) + which, tag[i], tag[i + 1], tag[i + 2]);
    static const int at[5][2] = {{0, 0}, {0, 1}, {0, -1}, {-1, 0}, {1, 0}}; /* word, tag */
    for (int i = 0; i < 5; i++)
        *k++ = key2(NAME(GIVEN_WORD + i) + which, w[at[i][0]]->whole, tag[at[i][1] + 2]);
    return (uint64_t)(k - key);
}

static uint64_t *word_keys(const word *const *w, uint64_t *k)
{
    *k++ = NAME(ONE);
    for (int i = -2; i <= 2; i++)
        *k++ = key1(NAME(WORD + 2 + i), w[i]->whole);
    *k++ = key2(NAME(WORD_PAIR_BEFORE), w[-1]->whole, w[0]->whole);
    *k++ = key2(NAME(WORD_PAIR_BEHIND), w[0]->whole, w[1]->whole);
    *k++ = key2(NAME(WORD_PAIR_AROUND), w[-1]->lower, w[1]->lower);
    for (int i = -1; i <= 1; i++)
        *k++ = key1(NAME(LOWER + 1 + i), w[i]->lower);
    *k++ = key2(NAME(ENDING_BEFORE), w[0]->ending, w[-1]->whole);
    *k++ = key2(NAME(ENDING_BEHIND), w[0]->ending, w[1]->whole);
    return k;
}

static uint64_t *form_keys(const word *const *w, uint64_t *k)
{
    for (uint32_t i = 1; i <= WORD_AFFIX && i <= w[0]->length; i++) {
        *k++ = key1(NAME(PREFIX + i), w[0]->prefix[i]);
        *k++ = key1(NAME(SUFFIX + i), w[0]->suffix[i]);
    }
    for (uint32_t i = 2; i <= 3; i++) {
        if (i <= w[-1]->length)
            *k++ = key1(NAME(SUFFIX_BEFORE + i - 2), w[-1]->suffix[i]);
        if (i <= w[1]->length)
            *k++ = key1(NAME(SUFFIX_BEHIND + i - 2), w[1]->suffix[i]);
    }
    *k++ = key1(NAME(SHAPE), w[0]->shape);
    for (int i = -1; i <= 1; i++)
        *k++ = key1(NAME(SHORT_SHAPE + 1 + i), w[i]->short_shape);
    *k++ = key2(NAME(SHAPE_PAIR_BEFORE), w[-1]->short_shape, w[0]->short_shape);
    *k++ = key2(NAME(SHAPE_PAIR_BEHIND), w[0]->short_shape, w[1]->short_shape);
    for (int bit = 0; bit < 5; bit++)
        if (w[0]->flags >> bit & 1)
            *k++ = NAME(CAPS + bit);
    return k;
}

static uint64_t own_keys(const tag_scheme *s, const tag_view *v, uint64_t t, uint64_t *key)
{
    const word *const *w = v->word + t + 2;
    uint64_t *k = form_keys(w, word_keys(w, key));
    for (int c = 0; c < s->width; c++)
        if (c != s->word && c != s->column && (s->wanted >> c & 1))
            k += given_keys(v, c, (int64_t)t, k);
    return (uint64_t)(k - key);
}

/* ---- templates of a file ----------------------------------------------------------------------------------------- */

static uint64_t template_key(const tag_template *m, const tag_view *v, uint64_t t)
{
    uint64_t key = m->name;
    for (int i = 0; i < m->macros; i++)
        key += given_string(v, m->macro[i].column, (int64_t)t + m->macro[i].row) * (key_mix((uint64_t)i + 1) | 1);
    return key;
}

static bool complain(const char *path, int line, const char *text, bda_error *err)
{
    return err_set(err, BDA_FAILED, "%s, line %d: %s", path, line, text);
}

/* %x[row,column] at p; returns what is behind it, NULL if it is none. */
static const char *parse_macro(const char *p, tag_macro *m)
{
    int used = 0;
    if (sscanf(p, "%%x[%d,%d]%n", &m->row, &m->column, &used) != 2 || used == 0)
        return NULL;
    return p + used;
}

/* A line that begins with U. */
static bool parse_template(tag_template *t, const char *p, const char *end, const char *path, int line,
                           bda_error *err)
{
    char rest[1024];
    uint64_t length = 0;
    *t = (tag_template){0};
    while (p < end) {
        if (length + 4 > sizeof rest)
            return complain(path, line, "the template is longer than 1000 bytes", err);
        if (*p != '%') {
            rest[length++] = *p++;
            continue;
        }
        tag_macro m;
        const char *behind = parse_macro(p, &m);
        if (!behind || behind > end)
            return complain(path, line, "expected %x[ROW,COLUMN] behind '%'", err);
        if (m.row < -TAG_REACH || m.row > TAG_REACH)
            return complain(path, line, "rows may be up to 100 away", err);
        if (m.column < 0 || m.column >= CORPUS_COLUMNS)
            return complain(path, line, "columns count from 0 to 63", err);
        if (t->macros == TAG_MACROS)
            return complain(path, line, "a template may have 16 macros", err);
        t->macro[t->macros++] = m;
        rest[length++] = '%';
        p = behind;
    }
    t->name = strings_hash(rest, length);
    return true;
}

static bool parse_line(tag_scheme *s, const char *p, const char *end, const char *path, int line, bda_error *err)
{
    if (*p == 'U') {
        tag_template *t = &s->list[s->templates++];
        if (!parse_template(t, p, end, path, line, err))
            return false;
        for (int i = 0; i < t->macros; i++)
            s->wanted |= (uint64_t)1 << t->macro[i].column;
        return true;
    }
    if (*p != 'B')
        return complain(path, line, "a template begins with U, or is the single letter B", err);
    if (memchr(p, '%', (size_t)(end - p)))
        return complain(path, line, "templates of pairs of tags that look at words are not supported; B alone is",
                        err);
    return true;
}

#define BYTE_ORDER_MARK "\xef\xbb\xbf" /* some editors begin files with it */

bool tag_templates_parse(tag_scheme *s, const char *text, const char *path, arena *memory, bda_error *err)
{
    uint64_t lines = 1;
    text += strncmp(text, BYTE_ORDER_MARK, strlen(BYTE_ORDER_MARK)) == 0 ? strlen(BYTE_ORDER_MARK) : 0;
    for (const char *p = text; *p; p++)
        lines += *p == '\n';
    s->list = ARENA_TAKE(memory, tag_template, lines, err);
    if (!s->list)
        return false;
    s->text = text;
    int line = 1;
    for (const char *p = text, *end; *p; p = *end ? end + 1 : end, line++) {
        end = strchrnul(p, '\n');
        const char *stop = end;
        while (stop > p && (stop[-1] == '\r' || stop[-1] == ' ' || stop[-1] == '\t'))
            stop--;
        if (stop > p && *p != '#' && !parse_line(s, p, stop, path, line, err))
            return false;
    }
    if (s->templates > 0)
        return true;
    return err_set(err, BDA_FAILED, "%s: has no template that begins with U", path);
}

/* ---- both ---------------------------------------------------------------------------------------------------------- */

bool tag_scheme_make(tag_scheme *s, corpus_form form, int width, int column, const char *text, const char *path,
                     arena *memory, bda_error *err)
{
    *s =
        (tag_scheme){.form = form, .width = width, .column = column, .word = form == CORPUS_CONLLU ? CONLLU_FORM : 0};
    if (text) {
        if (!tag_templates_parse(s, text, path, memory, err))
            return false;
        s->most = (uint64_t)s->templates;
        for (int c = 0; c < CORPUS_COLUMNS; c++)
            if (s->wanted >> c & 1 && (c >= width || c == column))
                return err_set(err, BDA_FAILED,
                               c == column ? "%s: looks at column %d, which has the tags to predict"
                                           : "%s: looks at column %d, which the data do not have",
                               path, c);
        return true;
    }
    s->wanted = (uint64_t)1 << s->word;
    for (int c = 1; form == CORPUS_PLAIN && c < width; c++)
        s->wanted |= c == column ? 0 : (uint64_t)1 << c;
    s->most = OWN_TEMPLATES + (uint64_t)(form == CORPUS_PLAIN ? width : 0) * GIVEN_TEMPLATES;
    return true;
}

bool tag_look(const tag_scheme *s, tag_view *v, const corpus *c, const word *words, uint64_t sentence, bda_error *err)
{
    static const int before[] = {-2, -1}, behind[] = {1, 2};
    const uint64_t n = c->first[sentence + 1] - c->first[sentence];
    v->corpus = c;
    v->first = c->first[sentence];
    v->length = n;
    if (s->text)
        return true;
    if (n + 4 > v->room) {
        arena_free(&v->memory);
        v->room = 2 * (n + 4);
        v->word = ARENA_TAKE(&v->memory, const word *, v->room, err);
        if (!v->word) {
            v->room = 0;
            return false;
        }
    }
    for (int i = 0; i < 2; i++) {
        v->edge[i] = beyond(before[i]);
        v->edge[2 + i] = beyond(behind[i]);
        v->word[i] = &v->edge[i];
        v->word[n + 2 + (uint64_t)i] = &v->edge[2 + i];
    }
    for (uint64_t t = 0; t < n; t++)
        v->word[t + 2] = &words[c->id[s->word][v->first + t]];
    return true;
}

uint64_t tag_keys(const tag_scheme *s, const tag_view *v, uint64_t t, uint64_t *key)
{
    if (!s->text)
        return own_keys(s, v, t, key);
    uint64_t keys = 0; /* templates of one name may have the same key */
    for (int i = 0; i < s->templates; i++) {
        const uint64_t x = template_key(&s->list[i], v, t);
        uint64_t same = 0;
        while (same < keys && key[same] != x)
            same++;
        key[same] = x;
        keys += same == keys;
    }
    return keys;
}

uint64_t tag_word_key(const tag_scheme *s, uint64_t word)
{
    if (!s->text)
        return key1(NAME(WORD + 2), word);
    for (int i = 0; i < s->templates; i++) {
        const tag_template *m = &s->list[i];
        if (m->macros == 1 && m->macro[0].row == 0 && m->macro[0].column == s->word)
            return m->name + word * (key_mix(1) | 1);
    }
    return 0;
}

void tag_view_free(tag_view *v)
{
    arena_free(&v->memory);
    *v = (tag_view){0};
}
