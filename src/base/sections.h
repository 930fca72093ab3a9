/* sections.h - files made of named sections, each with its length and its checksum (docs/model-format.md has the
 * bytes). A part of the program that keeps something in such a file writes and reads a section of its own and need not
 * know the others.
 *
 * A section may be needed: a reader that does not know its kind must refuse the file, for it would misunderstand the
 * rest. Others may be passed over. */
#ifndef BASE_SECTIONS_H
#define BASE_SECTIONS_H

#include "base/bytes.h"

#define SECTIONS_MAGIC 8
#define SECTION_KIND 24  /* bytes of a kind's name in the file, at least one final zero included */
#define SECTIONS_MOST 64 /* sections of a file */

/* Where bytes go: a file, a growing array. */
typedef void (*section_put)(void *self, const void *bytes, uint64_t count);

typedef struct section_writer {
    section_put put;
    void *self;
    struct XXH3_state_s *hash; /* of the section begun */
    unsigned padding;          /* behind its bytes */
} section_writer;

/* Writes the head of the file. False and a sentence where there is no memory; sections_end is due in any case. */
bool sections_begin(section_writer *w, section_put put, void *self, const char magic[SECTIONS_MAGIC],
                    uint32_t version, bda_error *err);
/* A section of `count` bytes, which follow in pieces of any length. */
void section_begin(section_writer *w, const char *kind, bool needed, uint64_t count);
void section_add(section_writer *w, const void *bytes, uint64_t count);
void section_end(section_writer *w);
/* The three of them for bytes that are there. */
void section_write(section_writer *w, const char *kind, bool needed, const void *bytes, uint64_t count);
void sections_end(section_writer *w); /* writes the end of the file */

typedef struct section {
    const char *kind; /* printable */
    bool needed;
    const unsigned char *bytes; /* [count] */
    uint64_t count;
} section;

typedef struct sections {
    section *list; /* [count], room for SECTIONS_MOST; NULL: none yet */
    uint64_t count;
    arena memory;
} sections;

/* Keeps a copy of the bytes; instead of those of the same kind, if there are any. Takes what is zeroed for empty. */
bool sections_keep(sections *s, const char *kind, bool needed, const void *bytes, uint64_t count, bda_error *err);

/* Does the source begin with the magic, and which version follows? 0 and a sentence where it does not, or ends. */
uint32_t sections_version(byte_source *from, const char magic[SECTIONS_MAGIC], const char *what, bda_error *err);
/* Reads and checks the whole file behind its head. The sections' bytes are those of the source, which must stay. */
bool sections_read(sections *s, byte_source *from, bda_error *err);
const section *sections_find(const sections *s, const char *kind); /* NULL: there is none */
byte_reader section_reader(const section *s);                      /* of no bytes where s is NULL */
void sections_free(sections *s);

#endif
