/* target.h - what the fuzzing targets share. A target is a function that is given bytes; libFuzzer calls it with inputs of
 * its own making (`./dev fuzz`), replay.c with those of files, which is a test that needs no clang. It ends the process
 * where something is wrong, and returns where input was taken or refused with a sentence.
 *
 * Readers want files: the bytes are put into one in a directory in memory. */
#ifndef FUZZ_TARGET_H
#define FUZZ_TARGET_H

#include "bda.h"
#include "unit/data_support.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static inline void target_leave(void)
{
    char command[200];
    snprintf(command, sizeof command, "rm -rf '%s'", support_home);
    if (chdir("/") != 0 || system(command) != 0)
        fprintf(stderr, "%s is left\n", support_home);
}

static inline void target_require(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "wrong: %s\n", what);
    abort();
}

/* Into the file of that name. */
static inline void target_put(const char *name, const void *bytes, size_t size)
{
    static bool begun;
    if (!begun) {
        target_require(support_open(NULL) == 0, "no directory for the files");
        atexit(target_leave);
        begun = true;
    }
    const int file = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    target_require(file >= 0 && write(file, bytes, size) == (ssize_t)size && close(file) == 0,
                   "a file was not written");
}

/* What was refused has a sentence, on one line. */
static inline void target_sentence(bool taken, const bda_error *err)
{
    target_require(taken || (err->status != BDA_OK && err->text[0] && !strchr(err->text, '\n')),
                   "refused without a sentence");
}

static inline bda_settings *target_settings(const char *command)
{
    bda_error err = {0};
    bda_settings *s = bda_settings_new(command, &err);
    target_require(s != NULL, "no settings");
    return s;
}

static inline void target_set(bda_settings *s, const char *name, const char *value)
{
    bda_error err = {0};
    target_require(bda_set(s, name, value, &err), err.text);
}

#endif
