/* page.c - see page.h. */
#include "data/page.h"

#include "base/memory.h"

bool page_reserve(page *t, uint64_t more, bda_error *err)
{
    if (t->used + more <= t->room)
        return true;
    uint64_t room = 2 * (t->used + more);
    char *bytes = mem_resize(t->bytes, t->room, room, "text", err);
    if (!bytes)
        return false;
    t->bytes = bytes;
    t->room = room;
    return true;
}

void page_free(page *t)
{
    mem_free(t->bytes, t->room);
    *t = (page){0};
}
