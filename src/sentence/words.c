/* words.c - see words.h. */
#include "sentence/words.h"

#include "base/parallel.h"
#include "sentence/unicode.h"

/* The lower-cased word, and where its first and last few code points begin. */
typedef struct lowered {
    const char *text;
    uint64_t length;
    uint64_t begins[WORD_AFFIX + 1]; /* offset behind the first k code points */
    uint64_t last[WORD_AFFIX];       /* ring: offset of the code points, by number modulo WORD_AFFIX */
} lowered;

static void lower_word(word *w, const char *text, uint64_t length, char *room, lowered *l)
{
    char *to = room;
    uint32_t count = 0;
    for (const char *p = text, *end = text + length; p < end; count++) {
        l->last[count % WORD_AFFIX] = (uint64_t)(to - room);
        to += unicode_put(unicode_lower(unicode_next(&p)), to);
        if (count < WORD_AFFIX)
            l->begins[count + 1] = (uint64_t)(to - room);
    }
    w->length = count;
    l->text = room;
    l->length = (uint64_t)(to - room);
}

static void take_affixes(word *w, const lowered *l)
{
    w->lower = strings_hash(l->text, l->length);
    for (uint32_t k = 1; k <= WORD_AFFIX && k <= w->length; k++) {
        uint64_t from = l->last[(w->length - k) % WORD_AFFIX];
        w->prefix[k] = strings_hash(l->text, l->begins[k]);
        w->suffix[k] = strings_hash(l->text + from, l->length - from);
    }
    w->ending = w->length < 3 ? w->lower : w->suffix[3];
}

static void take_shape(word *w, const char *text, uint64_t length, char *room)
{
    static const char letters[] = {[UNICODE_UPPER] = 'X', [UNICODE_LOWER] = 'x', [UNICODE_DIGIT] = 'd'};
    char *to = room, *run = room + UNICODE_MOST_BYTES * length, *run_to = run;
    uint32_t kinds[4] = {0};
    char before = 0;
    for (const char *p = text, *end = text + length; p < end;) {
        const char *from = p;
        uint32_t code = unicode_next(&p);
        unicode_kind kind = unicode_kind_of(code);
        kinds[kind]++;
        if (kind == UNICODE_UPPER)
            w->flags |= from == text ? WORD_CAPS_FIRST : WORD_CAPS_INNER;
        w->flags |= code == '-' || (code >= 0x2010 && code <= 0x2014) ? WORD_HYPHEN : 0;
        if (kind == UNICODE_OTHER) {
            to += unicode_put(code, to);
            run_to += unicode_put(code, run_to);
            before = 0;
            continue;
        }
        *to++ = letters[kind];
        if (before != letters[kind])
            *run_to++ = before = letters[kind];
    }
    w->flags |= kinds[UNICODE_DIGIT] > 0 ? WORD_DIGIT : 0;
    w->flags |= kinds[UNICODE_UPPER] > 0 && kinds[UNICODE_LOWER] == 0 ? WORD_CAPS_ALL : 0;
    w->flags |= kinds[UNICODE_OTHER] == w->length ? WORD_PUNCTUATION : 0;
    w->shape = strings_hash(room, (uint64_t)(to - room));
    w->short_shape = strings_hash(run, (uint64_t)(run_to - run));
}

void word_make(word *w, const string_entry *e)
{
    char room[2 * UNICODE_MOST_BYTES * (WORD_LOOKED_AT + 1)];
    *w = (word){.whole = e->hash};
    uint64_t length = e->length;
    if (length > WORD_LOOKED_AT) /* cut where a code point begins */
        for (length = WORD_LOOKED_AT; (e->text[length] & 0xC0) == 0x80;)
            length--;
    lowered l;
    lower_word(w, e->text, length, room, &l);
    take_affixes(w, &l);
    take_shape(w, e->text, length, room);
    if (w->length > WORD_AFFIX) {
        const char *p = e->text;
        for (int k = 0; k < WORD_AFFIX; k++)
            unicode_next(&p);
        w->stem = strings_hash(e->text, (uint64_t)(p - e->text));
    }
}

word *words_make(const strings *s, int threads, arena *memory, bda_error *err)
{
    word *words = ARENA_TAKE(memory, word, s->count + 1, err);
    if (!words)
        return NULL;
    FOR_NUMBERS (k, s->count, threads)
        word_make(&words[k], &s->at[k]);
    return words;
}
