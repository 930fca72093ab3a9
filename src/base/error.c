/* error.c - see error.h. Sentences may quote what a file or a person said, so control characters, which could break
 * the line or steer a terminal, are replaced here, once for all. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

void err_clear(bda_error *err)
{
    err->status = BDA_OK;
    err->text[0] = 0;
}

bool err_set(bda_error *err, bda_status status, const char *format, ...)
{
    if (err->status != BDA_OK)
        return false;
    err->status = status;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(err->text, sizeof err->text, format, arguments);
    va_end(arguments);
    for (char *c = err->text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            *c = '?';
    return false;
}

bool err_memory(bda_error *err, uint64_t bytes, const char *what)
{
    static const char *const unit[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
    if (bytes < 1000)
        return err_set(err, BDA_FAILED, "out of memory: needed %d bytes for %s", (int)bytes, what);
    int u = 0;
    double amount = (double)bytes / 1000;
    for (; amount >= 999.95 && u < 5; u++)
        amount /= 1000;
    return err_set(err, BDA_FAILED, "out of memory: needed %.1f %s for %s", amount, unit[u], what);
}
