/*
 * A growable array of any type:
 *
 *     VEC(int) numbers = {0};
 *     if (vec_push(&numbers, 7) < 0) return error_memory();
 *     for (size_t i = 0; i < numbers.count; i++) use(numbers.data[i]);
 *     vec_free(&numbers);
 *
 * A type that is passed between functions needs a name: `struct int_vec VEC_FIELDS(int);` or a
 * typedef of VEC(int). Growth doubles; pointers into `data` die when it grows.
 */
#ifndef SONDE_UTIL_VEC_H
#define SONDE_UTIL_VEC_H

#include <stddef.h>

#define VEC_FIELDS(type)                                                                           \
    {                                                                                              \
        type *data;                                                                                \
        size_t count, capacity;                                                                    \
    }
#define VEC(type) struct VEC_FIELDS(type)

/* Appends by value. 0 or SONDE_ENOMEM, and then the array is as before. */
#define vec_push(vec, ...)                                                                         \
    ((vec)->count < (vec)->capacity || vec_reserve((vec), (vec)->count + 1) == 0                   \
         ? ((vec)->data[(vec)->count++] = (__VA_ARGS__), 0)                                        \
         : VEC_OUT_OF_MEMORY)

/* Room for at least `wanted` elements in all. 0 or SONDE_ENOMEM. */
#define vec_reserve(vec, wanted)                                                                   \
    vec_grow((void **)&(vec)->data, &(vec)->capacity, (wanted), sizeof(*(vec)->data))

#define vec_clear(vec) ((void)((vec)->count = 0))
#define vec_free(vec) vec_release((void **)&(vec)->data, &(vec)->count, &(vec)->capacity)
#define vec_last(vec) ((vec)->data[(vec)->count - 1])
#define vec_pop(vec) ((vec)->data[--(vec)->count])

enum { VEC_OUT_OF_MEMORY = -1 }; /* is SONDE_ENOMEM; vec.c checks */

/* What the macros stand on. */
int vec_grow(void **data, size_t *capacity, size_t wanted, size_t element_bytes);
void vec_release(void **data, size_t *count, size_t *capacity);

#endif
