/* web.h - the files of web/ and the chart library, put into the program when it is built (web/embed.cmake). */
#ifndef REPORT_WEB_H
#define REPORT_WEB_H

#include <stddef.h>

typedef struct web_file {
    const char *name;
    const unsigned char *bytes;
    size_t length;
} web_file;

extern const web_file web_files[]; /* ends with a NULL name; styles and scripts in the order in which they go in */

#endif
