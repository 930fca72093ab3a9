/* text.h - numbers as text, in the C locale whatever the host program has set. */
#ifndef RUN_TEXT_H
#define RUN_TEXT_H

#define TEXT_REAL 40 /* enough for any double */

/* The fewest digits, at most 17, that read back as the same double: "1", "0.1", "1e-300". Returns the length. */
int text_real(char to[TEXT_REAL], double x);

#endif
