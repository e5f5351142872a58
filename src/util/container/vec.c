/* The typeless half of vec.h: growing and freeing. */
#include "util/container/vec.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"

_Static_assert((int)VEC_OUT_OF_MEMORY == (int)SONDE_ENOMEM, "vec_push returns SONDE_ENOMEM");

/*
 * `data` is the address of a `type *` seen as a `void **`; memcpy reads and writes the pointer, as
 * an access through `void **` would break the aliasing rule.
 */
int vec_grow(void **data, size_t *capacity, size_t wanted, size_t element_bytes)
{
    if (wanted <= *capacity) {
        return SONDE_OK;
    }
    size_t most = SIZE_MAX / 2 / element_bytes;
    if (wanted > most) {
        return error_memory();
    }
    size_t grown = *capacity < 8 ? 8 : *capacity > most / 2 ? most : *capacity * 2;
    if (grown < wanted) {
        grown = wanted;
    }
    void *old;
    memcpy(&old, data, sizeof(old));
    void *memory = realloc(old, grown * element_bytes);
    if (!memory) {
        return error_memory();
    }
    memcpy(data, &memory, sizeof(memory));
    *capacity = grown;
    /* cppcheck-suppress memleak ; memcpy has just stored it */
    return SONDE_OK;
}

void vec_release(void **data, size_t *count, size_t *capacity)
{
    void *memory;
    memcpy(&memory, data, sizeof(memory));
    free(memory);
    memory = NULL;
    memcpy(data, &memory, sizeof(memory));
    *count = 0;
    *capacity = 0;
}
