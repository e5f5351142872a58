/* See quantity.h. */
#include "page/quantity.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* At most four digits, no zeros behind the point. */
static void put_number(char text[QUANTITY_BYTES], double value)
{
    int whole = fabs(value) >= 1 ? (int)floor(log10(fabs(value))) + 1 : 1;
    snprintf(text, QUANTITY_BYTES, "%.*f", whole >= 4 ? 0 : 4 - whole, value);
    if (strchr(text, '.')) {
        size_t length = strlen(text);
        while (text[length - 1] == '0') {
            text[--length] = '\0';
        }
        if (text[length - 1] == '.') {
            text[length - 1] = '\0';
        }
    }
}

const char *quantity(char text[QUANTITY_BYTES], double value, const char *unit)
{
    static const char *const binary[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    static const char *const decimal[] = {"B/s", "kB/s", "MB/s", "GB/s", "TB/s"};
    const char *const *scale = strcmp(unit, "B") == 0     ? binary
                               : strcmp(unit, "B/s") == 0 ? decimal
                                                          : NULL;
    double step = scale == decimal ? 1000 : 1024;
    size_t i = 0;
    while (scale && i < 4 && fabs(value) >= step) {
        value /= step;
        i++;
    }
    put_number(text, value);
    const char *word = scale                                                   ? scale[i]
                       : strcmp(unit, "1") == 0                                ? ""
                       : strcmp(unit, "cycles") == 0 && strcmp(text, "1") == 0 ? "cycle"
                                                                               : unit;
    size_t length = strlen(text);
    snprintf(text + length, QUANTITY_BYTES - length, "%s%s", *word ? " " : "", word);
    return text;
}
