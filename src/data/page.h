/* page.h - a piece of text under construction, which grows. */
#ifndef DATA_PAGE_H
#define DATA_PAGE_H

#include "base/error.h"

typedef struct page {
    char *bytes;
    uint64_t used, room;
} page;

bool page_reserve(page *t, uint64_t more, bda_error *err); /* room for so many bytes */
void page_free(page *t);

#endif
