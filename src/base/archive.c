/* archive.c - see archive.h. */
#include "base/archive.h"

#include <string.h>
#include <xxhash.h>

typedef struct head {
    uint64_t name, bytes;
} head;

archive archive_counting(void)
{
    return (archive){.mode = ARCHIVE_COUNT};
}

archive archive_saving(unsigned char *to, uint64_t first, uint64_t end)
{
    return (archive){.mode = ARCHIVE_SAVE, .to = to, .first = first, .end = end};
}

archive archive_loading(const unsigned char *from, uint64_t count)
{
    return (archive){.mode = ARCHIVE_LOAD, .from = from, .end = count};
}

void archive_refuse(archive *a, const char *name)
{
    if (!a->wrong)
        a->wrong = name;
}

/* The part of these bytes that lies in [first, end). */
static void save(archive *a, const void *bytes, uint64_t count)
{
    const uint64_t begin = a->at, end = begin + count;
    const uint64_t from = begin > a->first ? begin : a->first, to = end < a->end ? end : a->end;
    if (from < to)
        memcpy(a->to + (from - a->first), (const unsigned char *)bytes + (from - begin), to - from);
}

void archive_bytes(archive *a, const char *name, void *x, uint64_t count, uint64_t size)
{
    const head expected = {.name = XXH3_64bits(name, strlen(name)), .bytes = count * size};
    if (a->mode == ARCHIVE_LOAD) {
        head found;
        if (a->wrong)
            return;
        if (a->end - a->at < sizeof found) {
            archive_refuse(a, name);
            return;
        }
        memcpy(&found, a->from + a->at, sizeof found);
        if (found.name != expected.name || found.bytes != expected.bytes ||
            a->end - a->at - sizeof found < found.bytes) {
            archive_refuse(a, name);
            return;
        }
        if (found.bytes > 0)
            memcpy(x, a->from + a->at + sizeof found, found.bytes);
    } else if (a->mode == ARCHIVE_SAVE) {
        save(a, &expected, sizeof expected);
        a->at += sizeof expected;
        save(a, x, expected.bytes);
        a->at -= sizeof expected;
    }
    a->at += sizeof expected + expected.bytes;
}

void archive_places(archive *a, const char *name, uint32_t *x, uint64_t count)
{
    archive_bytes(a, name, x, count, sizeof *x);
    for (uint64_t i = 0; archive_loads(a) && !a->wrong && i < count; i++)
        if (x[i] >= count)
            archive_refuse(a, name);
}

bool archive_has(archive *a, const char *name, uint64_t count, uint64_t size)
{
    if (a->wrong)
        return false;
    if (a->mode != ARCHIVE_LOAD || count <= (a->end - a->at) / size)
        return true;
    archive_refuse(a, name);
    return false;
}

bool archive_ended(const archive *a)
{
    return !a->wrong && a->at == a->end;
}
