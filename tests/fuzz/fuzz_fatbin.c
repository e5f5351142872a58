/* Fuzzes fat binaries: any bytes are read or refused, for targets old and new. */
#include <stdint.h>
#include <stdlib.h>

#include "fatbin/fatbin.h"
#include "util/error.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fatbin_walk walk;
    struct fatbin_entry entry;
    char *text;
    size_t length;
    int rc = fatbin_walk_start(&walk, data, size);
    while (rc >= 0 && (rc = fatbin_walk_next(&walk, &entry)) > 0) {
        if (entry.bytes <= 1 << 20 && fatbin_text(&text, &length, &entry) == 0) {
            free(text);
        }
    }
    if (rc < 0 && error_text()[0] == '\0') {
        abort();
    }
    fatbin_choose(&entry, data, size, size % 2 ? 35 : 90);
    return 0;
}
