/* Tensor maps: what the driver refuses, and that each request is a field of what it writes. */
#include <stdalign.h>

#include "host.h"

int cuTensorMapEncodeTiled(uint32_t *, int, unsigned, uint64_t, const uint64_t *, const uint64_t *,
                           const uint32_t *, const uint32_t *, int, int, int, int);
int cuTensorMapEncodeIm2col(uint32_t *, int, unsigned, uint64_t, const uint64_t *, const uint64_t *,
                            const int *, const int *, unsigned, unsigned, const uint32_t *, int,
                            int, int, int);
int cuTensorMapReplaceAddress(uint32_t *, uint64_t);

enum { FLOATS = 7, BYTES = 0, PLACE = 1 << 20 };

static const uint64_t sizes[5] = {64, 32, 16, 8, 4}, strides[4] = {256, 8192, 131072, 1048576};
static const uint32_t box[5] = {8, 4, 2, 1, 1}, steps[5] = {1, 1, 1, 1, 1};

struct tiled {
    int type;
    unsigned rank;
    uint64_t address;
    int interleave, swizzle, promotion, fill;
};
static const struct tiled usual = {FLOATS, 3, PLACE, 0, 0, 0, 0};

static int encode(uint32_t *words, struct tiled t)
{
    return cuTensorMapEncodeTiled(words, t.type, t.rank, t.address, sizes, strides, box, steps,
                                  t.interleave, t.swizzle, t.promotion, t.fill);
}

/* The words that two maps differ in, a bit each. */
static uint32_t difference(struct tiled t)
{
    alignas(64) uint32_t a[32] = {0}, b[32] = {0};
    uint32_t words = 0;
    OK(encode(a, usual));
    OK(encode(b, t));
    for (int i = 0; i < 32; i++) {
        words |= (uint32_t)(a[i] != b[i]) << i;
    }
    return words;
}

static void fields(void)
{
    struct tiled t = usual;
    EXPECT(difference(t) == 0);
    t.swizzle = 1;
    EXPECT(difference(t) ==
           (4 | 1 << 18)); /* the third word, and after how many bytes it repeats */
    t = usual;
    t.promotion = 2;
    EXPECT(difference(t) == 4);
    t = usual;
    t.fill = 1;
    EXPECT(difference(t) == 4);
    t = usual;
    t.interleave = 1;
    EXPECT(difference(t) == 4);
    t = usual;
    t.address += 16;
    EXPECT(difference(t) == 1);
    t = usual;
    t.rank = 2;
    EXPECT(difference(t) & 4);
}

static void refused(void)
{
    alignas(64) uint32_t words[32 + 16];
    struct tiled t = usual;
    t.rank = 6;
    GIVES(1, encode(words, t));
    t.rank = 0;
    GIVES(1, encode(words, t));
    t = usual;
    t.type = 13;
    GIVES(1, encode(words, t));
    t.type = -1;
    GIVES(1, encode(words, t));
    t = usual;
    t.swizzle = 4;
    GIVES(1, encode(words, t));
    t = usual;
    t.promotion = 4;
    GIVES(1, encode(words, t));
    t = usual;
    t.fill = 2;
    GIVES(1, encode(words, t));
    t = usual;
    t.type = 2; /* of integers there is no NaN to fill with */
    OK(encode(words, t));
    t.fill = 1;
    GIVES(1, encode(words, t));
    t = usual;
    t.type = BYTES; /* rows of a box are multiples of 16 bytes */
    GIVES(1, encode(words, t));
    t = usual;
    t.address += 8;
    GIVES(1, encode(words, t));
    GIVES(1, encode(words + 8, usual)); /* maps lie at multiples of 64 bytes */
    OK(encode(words + 16, usual));
    t = usual;
    t.interleave = 2; /* takes no swizzle or one of 32 bytes, and addresses at multiples of 32 */
    OK(encode(words, t));
    t.swizzle = 2;
    GIVES(1, encode(words, t));
    t.swizzle = 1;
    OK(encode(words, t));
    t.address += 16;
    GIVES(1, encode(words, t));
    t = usual;
    t.rank = 2;
    t.interleave = 1;
    GIVES(1, encode(words, t));
    GIVES(1,
          cuTensorMapEncodeTiled(words, FLOATS, 3, PLACE, sizes, strides, NULL, steps, 0, 0, 0, 0));
    GIVES(1,
          cuTensorMapEncodeTiled(words, FLOATS, 3, PLACE, NULL, strides, box, steps, 0, 0, 0, 0));
    GIVES(1, cuTensorMapEncodeTiled(words, FLOATS, 3, PLACE, sizes, NULL, box, steps, 0, 0, 0, 0));
    OK(cuTensorMapEncodeTiled(words, FLOATS, 1, PLACE, sizes, NULL, box, steps, 0, 0, 0, 0));
}

/* A box: at most 256 elements a side and less than 256 KiB; a step from 1 to 8; strides in units.
 */
static void borders(void)
{
    alignas(64) uint32_t words[32];
    const uint32_t wide[3] = {256, 1, 1}, wider[3] = {260, 1, 1}, none[3] = {8, 0, 1};
    const uint32_t large[3] = {256, 255, 1}, larger[3] = {256, 256, 1};
    const uint32_t eight[3] = {1, 8, 1}, nine[3] = {1, 9, 1}, zero[3] = {1, 0, 1};
    const uint64_t crooked[2] = {264, 8192}, far[2] = {UINT64_C(1) << 40, 8192};
    const uint64_t empty[3] = {64, 0, 16}, huge[3] = {(UINT64_C(1) << 32) + 1, 32, 16};
    const uint64_t most[3] = {UINT64_C(1) << 32, 32, 16};
#define TILED(sizes, strides, box, steps)                                                          \
    cuTensorMapEncodeTiled(words, FLOATS, 3, PLACE, sizes, strides, box, steps, 0, 0, 0, 0)
    OK(TILED(sizes, strides, wide, steps));
    GIVES(1, TILED(sizes, strides, wider, steps));
    GIVES(1, TILED(sizes, strides, none, steps));
    OK(TILED(sizes, strides, large, steps));
    GIVES(1, TILED(sizes, strides, larger, steps));
    OK(TILED(sizes, strides, box, eight));
    GIVES(1, TILED(sizes, strides, box, nine));
    GIVES(1, TILED(sizes, strides, box, zero));
    GIVES(1, TILED(sizes, crooked, box, steps));
    GIVES(1, TILED(sizes, far, box, steps));
    GIVES(1, TILED(empty, strides, box, steps));
    GIVES(1, TILED(huge, strides, box, steps));
    OK(TILED(most, strides, box, steps));
}

/* Boxes of pixels between two corners. */
static void pixels(void)
{
    alignas(64) uint32_t words[32] = {0}, other[32] = {0};
    const int lower[3] = {-1, -2, 0}, upper[3] = {-1, -2, 0}, past[3] = {32, -2, 0};
    const int low[1] = {-(1 << 15)}, lowest[1] = {-(1 << 15) - 1}, top[1] = {(1 << 15) - 1};
    const int over[1] = {1 << 15};
#define IM2COL(words, rank, lower, upper, channels, pixels)                                        \
    cuTensorMapEncodeIm2col(words, FLOATS, rank, PLACE, sizes, strides, lower, upper, channels,    \
                            pixels, steps, 0, 0, 0, 0)
    OK(IM2COL(words, 4, lower, upper, 16, 64));
    EXPECT(words[15] == 63 && words[16] == 16 * 64 * 4);
    OK(IM2COL(other, 4, lower, upper, 16, 65));
    EXPECT(other[15] == 64 && memcmp(words, other, 56) == 0);
    GIVES(1, IM2COL(words, 2, lower, upper, 16, 64));
    GIVES(1, IM2COL(words, 4, NULL, upper, 16, 64));
    GIVES(1, IM2COL(words, 4, lower, NULL, 16, 64));
    GIVES(1, IM2COL(words, 4, past, upper, 16, 64)); /* no pixel between them */
    OK(IM2COL(words, 4, lower, upper, 16, 1024));
    GIVES(1, IM2COL(words, 4, lower, upper, 16, 1025));
    GIVES(1, IM2COL(words, 4, lower, upper, 0, 64));
    GIVES(1, IM2COL(words, 3, lowest, top, 16, 64));
    OK(IM2COL(words, 3, low, top, 16, 64));
    GIVES(1, IM2COL(words, 3, low, over, 16, 64));
    /* A map's address can be another, and nothing else changes. */
    memcpy(other, words, sizeof other);
    OK(cuTensorMapReplaceAddress(other, UINT64_C(0x123456700)));
    EXPECT(other[0] == 0x23456700 && other[1] == 1 && memcmp(words + 2, other + 2, 120) == 0);
    GIVES(1, cuTensorMapReplaceAddress(other, 8));
    GIVES(1, cuTensorMapReplaceAddress(other + 4, 16));
    GIVES(1, cuTensorMapReplaceAddress(NULL, 16));
}

int main(int argc, char **argv)
{
    (void)argc;
    begin(argv, NULL);
    fields();
    refused();
    borders();
    pixels();
    return 0;
}
