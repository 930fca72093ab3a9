/* test_corpus.c - text of sentences: what is read, what is refused and with which sentence; words and templates. */
#include <stdlib.h>
#include <string.h>

#include "sentence/corpus.h"
#include "sentence/tag.h"
#include "sentence/unicode.h"
#include "unit/cmocka_all.h"

#define EMPTY "\t_\t_\t_\t_\t"
#define REST "\tx\t_\t_\n"

static const char *const paths[] = {"F"};

static bool parse(corpus *c, corpus_form form, bool trees, const char *text, bda_error *err)
{
    *c = (corpus){.form = form, .path = paths, .wanted = 0x8Fu, .heads = true, .trees = trees};
    c->length = strlen(text);
    c->text_bytes = c->length + 1;
    c->text = mem_resize(NULL, 0, c->text_bytes, "text", err);
    memcpy(c->text, text, c->text_bytes);
    return corpus_parse(c, err);
}

static void sentences_are_read(void **state)
{
    (void)state;
    bda_error err = {0};
    corpus c;
    assert_true(parse(&c, CORPUS_CONLLU, true,
                      "# a comment\n1-2\tab" EMPTY "_\t_\t_\t_\n1\ta" EMPTY "2" REST "2\tb" EMPTY "0" REST
                      "2.1\tb" EMPTY "_\t_\t_\t_\n\n \t\n# another\n1\tb" EMPTY "0" REST,
                      &err));
    assert_int_equal(c.sentences, 2);
    assert_int_equal(c.tokens, 3);
    assert_int_equal(c.first[1], 2);
    assert_int_equal(c.head[0], 2);
    assert_int_equal(c.id[CONLLU_FORM][1], c.id[CONLLU_FORM][2]);
    assert_null(c.id[CONLLU_XPOS]);
    string_entry cell = corpus_cell(&c, 2, CONLLU_DEPREL);
    assert_true(string_is(&cell, 'x'));
    corpus_free(&c);
}

static void blanks_separate_plain_columns(void **state)
{
    (void)state;
    bda_error err = {0};
    corpus c;
    assert_true(parse(&c, CORPUS_PLAIN, false, "# \tN  O\r\n1 N O\r\n\r\n2 N O\n", &err));
    assert_int_equal(c.sentences, 2);
    assert_int_equal(c.width, 3);
    assert_true(string_is(&c.strings[0].at[c.id[0][0]], '#'));
    string_entry cell = corpus_cell(&c, 1, 2);
    assert_true(string_is(&cell, 'O'));
    corpus_free(&c);
}

static void what_is_wrong_is_said(void **state)
{
    (void)state;
    static const struct {
        corpus_form form;
        const char *text, *expected;
    } cases[] = {
        {CORPUS_CONLLU, "1\ta" EMPTY "0" REST "3\tb" EMPTY "0" REST, "F, line 2: the number of the token is '3'"},
        {CORPUS_CONLLU, "# x\n1\ta\t_\n", "F, line 2: CoNLL-U has 10 columns separated by tabs, and this line has 3"},
        {CORPUS_CONLLU, "1\ta" EMPTY "7" REST, "F, line 1: the head is beyond the end"},
        {CORPUS_CONLLU, "1\ta" EMPTY "x" REST, "F, line 1: the head must be the number of a token"},
        {CORPUS_CONLLU, "1\ta" EMPTY "_" REST, "F, line 1: the head must be"},
        {CORPUS_CONLLU, "1\ta" EMPTY "70000" REST, "F, line 1: the head must be"},
        {CORPUS_CONLLU, "1\ta" EMPTY "1" REST, "F, line 1: the token is its own head"},
        {CORPUS_CONLLU, "1\ta" EMPTY "0" REST "2\ta" EMPTY "3" REST "3\ta" EMPTY "2" REST, "part of a cycle"},
        {CORPUS_CONLLU, "1\ta" EMPTY "0" REST "2\ta" EMPTY "0" REST, "F, line 2: a second token"},
        {CORPUS_CONLLU, "1\t" EMPTY "0" REST, "F, line 1: the column FORM is empty"},
        {CORPUS_CONLLU, "1\ta\xff" EMPTY "0" REST, "F, line 1: the text is not valid UTF-8"},
        {CORPUS_CONLLU, "a\n", "and this line has 1"},
        {CORPUS_PLAIN, "a b\n\na b c\n", "F, line 3: the line has 3 columns, and the lines before it have 2"},
        {CORPUS_PLAIN, "a\nb\xc3\n", "F, line 2: the text is not valid UTF-8"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bda_error err = {0};
        corpus c;
        assert_false(parse(&c, cases[i].form, true, cases[i].text, &err));
        if (!strstr(err.text, cases[i].expected))
            fail_msg("'%s' lacks '%s'", err.text, cases[i].expected);
        corpus_free(&c);
    }
}

static void forms_are_told_apart(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool known;
        corpus_form form;
    } cases[] = {
        {"", false, CORPUS_CONLLU},
        {"# only\n\n", false, CORPUS_CONLLU},
        {"# x = y\n1\ta" EMPTY "0" REST, true, CORPUS_CONLLU},
        {"1-2\ta" EMPTY "0" REST, true, CORPUS_CONLLU},
        {"# x = y\n1\ta\t_\n", true, CORPUS_CONLLU},
        {"Rockwell NNP B-NP\n", true, CORPUS_PLAIN},
        {"1\tCD\tO\n", true, CORPUS_PLAIN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        corpus_form form = CORPUS_CONLLU;
        assert_int_equal(corpus_form_of(cases[i].text, cases[i].text + strlen(cases[i].text), &form), cases[i].known);
        assert_int_equal(form, cases[i].form);
    }
}

static void long_sentences_are_refused(void **state)
{
    (void)state;
    bda_error err = {0};
    corpus c;
    char *text = malloc(2 * (CORPUS_LONGEST + 1) + 1);
    for (int i = 0; i <= CORPUS_LONGEST; i++)
        strcpy(text + 2 * i, "x\n");
    assert_false(parse(&c, CORPUS_PLAIN, false, text, &err));
    assert_non_null(strstr(err.text, "F, line 65535: the sentence has more than 65534 tokens"));
    corpus_free(&c);
    free(text);
}

static word word_of(const char *text)
{
    word w;
    string_entry e = {strings_hash(text, strlen(text)), text, (uint32_t)strlen(text), 1};
    word_make(&w, &e);
    return w;
}

static void words_have_letters_of_any_script(void **state)
{
    (void)state;
    assert_true(word_of("ÉTÉ").lower == word_of("été").whole);
    assert_true(word_of("ΑΒΓ").lower == word_of("αβγ").whole);
    assert_true(word_of("Жизнь").lower == word_of("жизнь").whole);
    word w = word_of("Österreich");
    assert_int_equal(w.length, 10);
    assert_true(w.prefix[2] == word_of("ös").whole && w.suffix[3] == word_of("ich").whole);
    assert_true(w.stem == word_of("Öster").whole);
    assert_int_equal(w.flags, WORD_CAPS_FIRST);
    assert_true(w.short_shape == word_of("Paris").short_shape && w.shape != word_of("Paris").shape);
    assert_int_equal(word_of("ÉTÉ").flags, WORD_CAPS_FIRST | WORD_CAPS_INNER | WORD_CAPS_ALL);
    assert_int_equal(word_of("٣٤").flags, WORD_DIGIT);
    assert_int_equal(word_of("—").flags, WORD_HYPHEN | WORD_PUNCTUATION);
    assert_int_equal(word_of("「").flags, WORD_PUNCTUATION);
    assert_int_equal(word_of("木").flags, 0);
    assert_true(word_of("a").ending == word_of("A").ending && word_of("a").stem == 0);
}

static void utf8_is_checked(void **state)
{
    (void)state;
    assert_int_equal(unicode_invalid("abcdefghij", 10), 10);
    assert_int_equal(unicode_invalid("abcdefgh\0j", 10), 8);
    assert_int_equal(unicode_invalid("\0bcdefghij", 10), 0);
    static const char *const bad[] = {"\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                                      "\xc3",     "\x80",         "\xff",         "\xe2\x82"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(unicode_invalid(bad[i], strlen(bad[i])), 0);
    for (uint32_t code = 1; code < 0x110000; code += code < 0x3000 ? 1 : 37) {
        if (code >= 0xD800 && code < 0xE000)
            continue;
        char text[8];
        const char *p = text;
        int bytes = unicode_put(code, text);
        assert_int_equal(unicode_invalid(text, (uint64_t)bytes), bytes);
        assert_int_equal(unicode_next(&p), code);
        assert_ptr_equal(p, text + bytes);
        assert_int_equal(unicode_lower(unicode_lower(code)), unicode_lower(code));
    }
}

static void templates_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text, *expected; /* NULL: fine */
    } cases[] = {
        {"# c\nU00:%x[0,0]\r\n\nU01:%x[-1,0]/%x[1,1]\n\nB\n", NULL},
        {"U00:%x[0,0]", NULL},
        {"B\n", "T: has no template"},
        {"U00:%x[0,2]\n", "T: looks at column 2, which has the tags"},
        {"U00:%x[0,3]\n", "T: looks at column 3, which the data do not have"},
        {"U00:%x[0]\n", "T, line 1: expected %x[ROW,COLUMN]"},
        {"\nU00:%d\n", "T, line 2: expected %x[ROW,COLUMN]"},
        {"U00:%x[0,\n0]\n", "T, line 1: expected"},
        {"U00:%x[101,0]\n", "T, line 1: rows may be up to 100 away"},
        {"U00:%x[0,64]\n", "T, line 1: columns count from 0 to 63"},
        {"U:%x[0,0]\nX\n", "T, line 2: a template begins with U"},
        {"B01:%x[0,0]\n", "T, line 1: templates of pairs of tags"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bda_error err = {0};
        arena memory = {0};
        tag_scheme s;
        bool ok = tag_scheme_make(&s, CORPUS_PLAIN, 3, 2, cases[i].text, "T", &memory, &err);
        if (cases[i].expected ? !strstr(err.text, cases[i].expected) : !ok)
            fail_msg("%d: '%s' lacks '%s'", (int)i, err.text, cases[i].expected);
        if (i == 0) {
            assert_int_equal(s.templates, 2);
            assert_int_equal(s.list[1].macros, 2);
            assert_int_equal(s.list[1].macro[0].row, -1);
            assert_int_equal(s.wanted, 3);
        }
        arena_free(&memory);
    }
}

/* Features of both kinds of templates, at the ends of a sentence of one token too. */
static void tokens_have_features(void **state)
{
    (void)state;
    bda_error err = {0};
    arena memory = {0};
    corpus c;
    assert_true(parse(&c, CORPUS_PLAIN, false, "x A O\n\nx A O\ny B O\n", &err));
    word *words = words_make(&c.strings[0], 1, &memory, &err);
    for (int own = 0; own < 2; own++) {
        tag_scheme s;
        tag_view v = {0};
        uint64_t key[3][200], keys[3];
        assert_true(
            tag_scheme_make(&s, CORPUS_PLAIN, 3, 2, own ? NULL : "U0:%x[0,0]\nU1:%x[1,1]\n", "T", &memory, &err));
        assert_true(s.most <= 200);
        for (uint64_t t = 0; t < 3; t++) {
            assert_true(tag_look(&s, &v, &c, words, t > 0, &err));
            keys[t] = tag_keys(&s, &v, t - c.first[t > 0], key[t]);
            assert_true(keys[t] <= s.most && keys[t] > 0);
        }
        if (!own) {
            assert_true(key[0][0] == key[1][0] && key[0][0] != key[2][0]);
            assert_true(key[0][1] != key[1][1] && key[0][1] == key[2][1]);
        }
        int same = 0;
        for (uint64_t i = 0; i < keys[0]; i++)
            same += key[0][i] == key[1][i];
        assert_true(same > 0 && same < (int)keys[0]);
        tag_view_free(&v);
    }
    arena_free(&memory);
    corpus_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sentences_are_read),
        cmocka_unit_test(blanks_separate_plain_columns),
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(forms_are_told_apart),
        cmocka_unit_test(long_sentences_are_refused),
        cmocka_unit_test(words_have_letters_of_any_script),
        cmocka_unit_test(utf8_is_checked),
        cmocka_unit_test(templates_are_read),
        cmocka_unit_test(tokens_have_features),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
