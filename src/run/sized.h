/* sized.h - public structures that begin with their size: callers may have been compiled with an older or a newer
 * header than the library. */
#ifndef RUN_SIZED_H
#define RUN_SIZED_H

#include <stdint.h>
#include <string.h>

/* Fills the caller's structure as far as it goes, and says in its size how far that was. */
static inline void sized_fill(void *to, const void *from, uint32_t known)
{
    uint32_t size;
    memcpy(&size, to, sizeof size);
    if (size < sizeof size)
        return;
    size = size < known ? size : known;
    memcpy(to, from, size);
    memcpy(to, &size, sizeof size);
}

/* Takes what the caller's structure has; `to` holds the defaults of the rest. */
static inline void sized_take(void *to, const void *from, uint32_t known)
{
    uint32_t size;
    memcpy(&size, from, sizeof size);
    memcpy(to, from, size < known ? size : known);
}

#endif
