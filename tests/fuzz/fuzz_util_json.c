/*
 * Any bytes as a JSON document: refused with a text, or read; and what was read, written and read
 * again is the same document.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/glue/json_glue.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_t *value = NULL, *again = NULL;
    char *text = NULL;
    error_clear();
    if (json_from_text(&value, (const char *)data, size, "fuzz.json") < 0) {
        if (value || error_text()[0] == '\0') {
            abort();
        }
        return 0;
    }
    if (json_to_text(&text, value) == 0) {
        if (json_from_text(&again, text, strlen(text), "again.json") < 0 ||
            !json_equal(value, again)) {
            abort();
        }
    }
    free(text);
    json_decref(again);
    json_decref(value);
    return 0;
}
