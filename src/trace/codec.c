/*
 * The byte planes and differences of codec.h, written without assumptions on the host's byte order.
 */
#include "trace/codec.h"

#include <stdint.h>
#include <string.h>

static uint64_t value_get(const void *values, size_t i, size_t width)
{
    if (width == 4) {
        uint32_t value;
        memcpy(&value, (const unsigned char *)values + 4 * i, 4);
        return value;
    }
    uint64_t value;
    memcpy(&value, (const unsigned char *)values + 8 * i, 8);
    return value;
}

static void value_set(void *values, size_t i, size_t width, uint64_t value)
{
    if (width == 4) {
        uint32_t narrow = (uint32_t)value;
        memcpy((unsigned char *)values + 4 * i, &narrow, 4);
    } else {
        memcpy((unsigned char *)values + 8 * i, &value, 8);
    }
}

void codec_encode(unsigned char *planes, const void *values, size_t count, size_t width, bool delta)
{
    uint64_t before = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t value = value_get(values, i, width);
        uint64_t stored = delta ? value - before : value;
        before = value;
        for (size_t k = 0; k < width; k++) {
            planes[k * count + i] = (unsigned char)(stored >> 8 * k);
        }
    }
}

void codec_decode(void *values, const unsigned char *planes, size_t count, size_t width, bool delta)
{
    uint64_t before = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t value = 0;
        for (size_t k = 0; k < width; k++) {
            value |= (uint64_t)planes[k * count + i] << 8 * k;
        }
        value += delta ? before : 0;
        before = value;
        value_set(values, i, width, value);
    }
}

bool codec_delta_pays(const void *values, size_t count, size_t width)
{
    size_t same_value = 0, same_step = 0;
    for (size_t i = 2; i < count; i++) {
        uint64_t a = value_get(values, i - 2, width), b = value_get(values, i - 1, width);
        uint64_t c = value_get(values, i, width);
        same_value += b == c;
        same_step += c - b == b - a;
    }
    return same_step > same_value;
}
