/* text.c - see text.h. */
#include "run/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int text_real(char to[TEXT_REAL], double x)
{
    int length = 0;
    for (int digits = 15; digits <= 17; digits++) {
        length = snprintf(to, TEXT_REAL, "%.*g", digits, x);
        if (strtod(to, NULL) == x)
            break;
    }
    /* Another locale's decimal point may be any bytes but these. */
    size_t whole = strspn(to, "+-0123456789einfa");
    if (to[whole] && to[whole] != '.') {
        size_t point = strcspn(to + whole, "0123456789");
        memmove(to + whole + 1, to + whole + point, strlen(to + whole + point) + 1);
        to[whole] = '.';
        length = (int)strlen(to);
    }
    return length;
}
