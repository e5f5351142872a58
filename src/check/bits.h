/* Maps of one bit a byte, 64 at a time. A map is 8 bytes longer than its bits need. */
#ifndef SONDE_CHECK_BITS_H
#define SONDE_CHECK_BITS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Up to 57 bits from any place. */
#define BITS_STEP 56u

static inline uint64_t bits_ones(uint64_t count)
{
    return (UINT64_C(1) << count) - 1;
}

static inline bool bits_all(const uint8_t *map, uint64_t first, uint64_t count)
{
    while (count > 0) {
        uint64_t step = count < BITS_STEP ? count : BITS_STEP, word;
        memcpy(&word, map + first / 8, 8);
        if (~(word >> first % 8) & bits_ones(step))
            return false;
        first += step;
        count -= step;
    }
    return true;
}

static inline void bits_set(uint8_t *map, uint64_t first, uint64_t count)
{
    while (count > 0 && (first % 8 || count < 8)) {
        uint64_t room = 8 - first % 8, step = count < room ? count : room;
        map[first / 8] |= (uint8_t)(bits_ones(step) << first % 8);
        first += step;
        count -= step;
    }
    memset(map + first / 8, 0xff, count / 8);
    first += count / 8 * 8;
    if (count % 8)
        map[first / 8] |= (uint8_t)bits_ones(count % 8);
}

static inline void bits_clear(uint8_t *map, uint64_t first, uint64_t count)
{
    while (count > 0 && (first % 8 || count < 8)) {
        uint64_t room = 8 - first % 8, step = count < room ? count : room;
        map[first / 8] &= (uint8_t) ~(bits_ones(step) << first % 8);
        first += step;
        count -= step;
    }
    memset(map + first / 8, 0, count / 8);
    first += count / 8 * 8;
    if (count % 8)
        map[first / 8] &= (uint8_t)~bits_ones(count % 8);
}

#endif
