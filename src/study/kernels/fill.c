/*
 * What buffers hold before a launch, and a check of what they hold after it. Numbers are hashes of
 * their places, so that a buffer is the same on every machine and in any order of work.
 */
#include "study/kernels/kernels.h"

#include <math.h>
#include <string.h>

/* The finisher of splitmix64, on a place in one of several buffers. */
static uint64_t hash(uint32_t which, uint64_t at)
{
    uint64_t z = (at + 1) * 0x9e3779b97f4a7c15ull + (uint64_t)which * 0xd1b54a32d192ed03ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

static uint64_t below(uint32_t which, uint64_t at, uint64_t bound)
{
    return (hash(which, at) >> 32) * bound >> 32;
}

uint64_t kernel_row_length(uint64_t row, uint64_t mean)
{
    return below(KERNEL_ARGS, row, 2 * mean + 1);
}

/* A half of 11 bits from 0 up to 1: exponents are found by counting. */
static uint16_t half_below_one(uint64_t bits)
{
    uint32_t number = (uint32_t)bits & 0x7ff, exponent = 14;
    if (number == 0) {
        return 0;
    }
    while (!(number & 0x400)) {
        number <<= 1;
        exponent--;
    }
    return (uint16_t)(exponent << 10 | (number & 0x3ff));
}

/* One cycle through all places (Sattolo), kept as offsets at the places themselves. */
static void fill_ring(char *to, uint64_t bytes, uint64_t stride, uint32_t which)
{
    uint64_t count = bytes / stride;
    memset(to, 0, bytes);
    for (uint64_t i = 0; i < count; i++) {
        uint32_t offset = (uint32_t)(i * stride);
        memcpy(to + i * stride, &offset, sizeof(offset));
    }
    for (uint64_t i = count - 1; i > 0; i--) {
        uint64_t j = below(which, i, i);
        uint32_t a, b;
        memcpy(&a, to + i * stride, sizeof(a));
        memcpy(&b, to + j * stride, sizeof(b));
        memcpy(to + i * stride, &b, sizeof(b));
        memcpy(to + j * stride, &a, sizeof(a));
    }
}

static void fill_words(uint32_t *to, const struct kernel_arg *arg, uint32_t which)
{
    uint64_t count = arg->bytes / sizeof(*to), argument = arg->fill_argument, sum = 0;
    for (uint64_t i = 0; i < count; i++) {
        switch (arg->fill) {
        case FILL_BELOW:
            to[i] = (uint32_t)below(which, i, argument);
            break;
        case FILL_NEAR:
            to[i] = (uint32_t)(i - i % argument + below(which, i, argument));
            break;
        case FILL_SORTED:
            sum += below(which, i, 2 * argument);
            to[i] = (uint32_t)sum;
            break;
        case FILL_ROWS:
            to[i] = (uint32_t)sum;
            sum += kernel_row_length(i, argument);
            break;
        default:
            to[i] = (uint32_t)hash(which, i);
        }
    }
}

/* From 0 up to 1, of as many bits as all of the types hold exactly. */
static void fill_numbers(void *to, const struct kernel_arg *arg, uint32_t which)
{
    uint64_t size = arg->fill == FILL_DOUBLES ? 8 : arg->fill == FILL_FLOATS ? 4 : 2;
    for (uint64_t i = 0; i < arg->bytes / size; i++) {
        uint64_t bits = hash(which, i);
        if (arg->fill == FILL_DOUBLES) {
            ((double *)to)[i] = (double)(bits >> 11) * 0x1p-53;
        } else if (arg->fill == FILL_FLOATS) {
            ((float *)to)[i] = (float)(bits >> 40) * 0x1p-24f;
        } else {
            ((uint16_t *)to)[i] = half_below_one(bits);
        }
    }
}

void kernel_fill(void *to, const struct kernel_arg *arg, uint32_t which)
{
    switch (arg->fill) {
    case FILL_ZERO:
        memset(to, 0, arg->bytes);
        break;
    case FILL_RING:
        fill_ring(to, arg->bytes, arg->fill_argument, which);
        break;
    case FILL_LETTERS:
        for (uint64_t i = 0; i < arg->bytes; i++) {
            ((unsigned char *)to)[i] = (unsigned char)('a' + below(which, i, arg->fill_argument));
        }
        break;
    case FILL_FLOATS:
    case FILL_DOUBLES:
    case FILL_HALVES:
        fill_numbers(to, arg, which);
        break;
    default:
        fill_words(to, arg, which);
    }
}

static double number_at(const void *bytes, enum kernel_check check, uint64_t i)
{
    return check == CHECK_DOUBLES  ? ((const double *)bytes)[i]
           : check == CHECK_FLOATS ? (double)((const float *)bytes)[i]
                                   : (double)((const uint32_t *)bytes)[i];
}

void kernel_check(struct kernel_result *result, const struct kernel_arg *arg, uint32_t which,
                  const void *bytes)
{
    const uint32_t *words = bytes;
    uint64_t count = arg->bytes / (arg->check == CHECK_DOUBLES ? 8 : 4), sum = 0;
    for (uint64_t i = 0; i < count; i++) {
        if (arg->check == CHECK_WORDS) {
            sum += hash(which, i) * words[i];
        } else if (arg->check == CHECK_SET) {
            sum += hash(which, words[i]);
        } else {
            /* Weights that change from place to place, lest an exchange of two goes unseen. */
            result->about += fabs(number_at(bytes, arg->check, i)) * (1 + (double)(i % 7));
        }
    }
    result->exact += sum;
}

bool kernel_result_agrees(const struct kernel_result *a, const struct kernel_result *b)
{
    return a->exact == b->exact && fabs(a->about - b->about) <= 1e-3 * fabs(a->about);
}
