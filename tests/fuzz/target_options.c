/* target_options.c - a command line, its words on lines of their own, read as main does it: options_parse either fills the
 * invocation, and then the library looks at the settings, or leaves by exit(), which is wrapped. */
#include "fuzz/target.h"

#include "cmd.h"

#include <setjmp.h>

#define MOST_WORDS 64

static jmp_buf left;
static bool parsing;

_Noreturn void __real_exit(int status);
_Noreturn void __wrap_exit(int status);
_Noreturn void __wrap_exit(int status)
{
    if (!parsing)
        __real_exit(status);
    target_require(status == EXIT_DONE || status == EXIT_USAGE, "a status that is none of a command line");
    longjmp(left, 1);
}

static const command *chosen(const char *name)
{
    for (const command *const *c = commands; *c; c++)
        if (strcmp((*c)->name, name) == 0)
            return *c;
    return &train_command;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static char *word[MOST_WORDS + 1];
    static invocation v; /* longjmp leaves it alone */
    static char *text;
    if (!alone)
        target_put("d", "", 0);
    if (memchr(bytes, 0, size))
        return 0; /* no command line has such a byte */
    free(text);
    text = malloc(size + 1);
    target_require(text != NULL, "no memory");
    memcpy(text, bytes, size);
    text[size] = 0;
    int words = 0;
    for (char *rest = text, *one; words < MOST_WORDS && (one = strsep(&rest, "\n"));)
        word[words++] = one;
    word[words] = NULL;
    v = (invocation){.comm = alone, .command = chosen(word[0])}; /* not the first rank: nothing is printed */
    parsing = true;
    if (setjmp(left) == 0) {
        options_parse(&v, words, word);
        parsing = false;
        bda_error err = {0};
        target_sentence(bda_check(v.settings, &err), &err);
        bda_settings_free(v.settings);
        free(v.argument);
    }
    parsing = false;
    return 0;
}
