/* Copies and memsets in all their forms: between host, device and arrays, in streams and out. */
#include <stdbool.h>

#include "host.h"

int cuArrayCreate_v2(handle *, const struct abi_array_desc *);
int cuArrayDestroy(handle);
int cuMemcpyHtoDAsync_v2(address, const void *, size_t, handle);
int cuMemcpyDtoHAsync_v2(void *, address, size_t, handle);
int cuMemcpyDtoD_v2(address, address, size_t);
int cuMemcpyDtoDAsync_v2(address, address, size_t, handle);
int cuMemcpyAsync(address, address, size_t, handle);
int cuMemcpyPeer(address, handle, address, handle, size_t);
int cuMemcpyPeerAsync(address, handle, address, handle, size_t, handle);
int cuMemcpyHtoA_v2(handle, size_t, const void *, size_t);
int cuMemcpyHtoAAsync_v2(handle, size_t, const void *, size_t, handle);
int cuMemcpyAtoH_v2(void *, handle, size_t, size_t);
int cuMemcpyAtoHAsync_v2(void *, handle, size_t, size_t, handle);
int cuMemcpyDtoA_v2(handle, size_t, address, size_t);
int cuMemcpyAtoD_v2(address, handle, size_t, size_t);
int cuMemcpy2DUnaligned_v2(const struct abi_copy2d_driver *);
int cuMemcpy2DAsync_v2(const struct abi_copy2d_driver *, handle);
int cuMemcpy3D_v2(const struct abi_copy3d_driver *);
int cuMemcpy3DAsync_v2(const struct abi_copy3d_driver *, handle);
int cuMemsetD8_v2(address, unsigned char, size_t);
int cuMemsetD8Async(address, unsigned char, size_t, handle);
int cuMemsetD16Async(address, unsigned short, size_t, handle);
int cuMemsetD32Async(address, unsigned, size_t, handle);
int cuMemsetD2D8Async(address, size_t, unsigned char, size_t, size_t, handle);
int cuMemsetD2D16_v2(address, size_t, unsigned short, size_t, size_t);
int cuMemsetD2D16Async(address, size_t, unsigned short, size_t, size_t, handle);
int cuMemsetD2D32_v2(address, size_t, unsigned, size_t, size_t);
int cuMemsetD2D32Async(address, size_t, unsigned, size_t, size_t, handle);

enum { INVALID = 1, BAD_HANDLE = 400, HOST = 1, DEVICE = 2, FORMAT_INT = 0x0a, WORDS = 16 };

/* Each function copies words 3 to 6 and nothing beside them. */
static void expect_copied(const int *words, int from)
{
    for (int i = 0; i < WORDS; i++) {
        if (words[i] != (i >= 3 && i < 7 ? from + i : -1)) {
            printf("word %d is %d, from %d\n", i, words[i], from);
            exit(1);
        }
    }
}

static void fill(int *words, int from)
{
    for (int i = 0; i < WORDS; i++) {
        words[i] = from < 0 ? -1 : from + i;
    }
}

static void read_all(int *words, address from)
{
    OK(cuMemcpyDtoH_v2(words, from, 4 * WORDS));
}

static void linear(handle stream)
{
    address a = take(WORDS), b = take(WORDS);
    int from[WORDS], to[WORDS];
    for (int way = 0; way < 6; way++) {
        fill(from, 100 * way);
        OK(cuMemcpyHtoD_v2(a, from, sizeof from));
        OK(cuMemsetD32_v2(b, ~0u, WORDS));
        OK(cuCtxSynchronize());
        switch (way) {
        case 0:
            OK(cuMemcpyHtoDAsync_v2(b + 12, from + 3, 16, stream));
            break;
        case 1:
            OK(cuMemcpyDtoD_v2(b + 12, a + 12, 16));
            break;
        case 2:
            OK(cuMemcpyDtoDAsync_v2(b + 12, a + 12, 16, stream));
            break;
        case 3:
            OK(cuMemcpyAsync(b + 12, a + 12, 16, stream));
            break;
        case 4:
            OK(cuMemcpyPeer(b + 12, NULL, a + 12, NULL, 16));
            break;
        default:
            OK(cuMemcpyPeerAsync(b + 12, NULL, a + 12, NULL, 16, stream));
        }
        OK(cuCtxSynchronize());
        read_all(to, b);
        expect_copied(to, 100 * way);
    }
    fill(to, -1);
    OK(cuMemcpyDtoHAsync_v2(to + 3, a + 12, 16, stream));
    OK(cuStreamSynchronize(stream));
    expect_copied(to, 500);
    /* A device's address is not taken for the host's, and the reverse. */
    GIVES(INVALID, cuMemcpyHtoD_v2((address)(uintptr_t)to, from, 4));
    GIVES(INVALID, cuMemcpyDtoH_v2(to, (address)(uintptr_t)from, 4));
    GIVES(INVALID, cuMemcpyDtoD_v2(a, (address)(uintptr_t)from, 4));
    GIVES(INVALID, cuMemcpyDtoD_v2((address)(uintptr_t)to, a, 4));
    GIVES(INVALID, cuMemcpyHtoD_v2(a, NULL, 4));
    OK(cuMemcpyHtoD_v2(0, NULL, 0));
    GIVES(BAD_HANDLE, cuMemcpyHtoDAsync_v2(a, from, 4, to));
    OK(cuMemFree_v2(a));
    OK(cuMemFree_v2(b));
}

static void arrays(handle stream)
{
    handle array;
    struct abi_array_desc desc = {WORDS, 0, FORMAT_INT, 1};
    int from[WORDS], to[WORDS];
    address a = take(WORDS);
    OK(cuArrayCreate_v2(&array, &desc));
    for (int way = 0; way < 3; way++) {
        fill(to, -1);
        OK(cuMemcpyHtoA_v2(array, 0, to, sizeof to));
        fill(from, 1000 * way);
        OK(cuMemcpyHtoD_v2(a, from, sizeof from));
        if (way == 0) {
            OK(cuMemcpyHtoA_v2(array, 12, from + 3, 16));
        } else if (way == 1) {
            OK(cuMemcpyHtoAAsync_v2(array, 12, from + 3, 16, stream));
        } else {
            OK(cuMemcpyDtoA_v2(array, 12, a + 12, 16));
        }
        OK(cuCtxSynchronize());
        OK(cuMemcpyAtoH_v2(to, array, 0, sizeof to));
        expect_copied(to, 1000 * way);
        fill(to, -1);
        OK(cuMemcpyAtoHAsync_v2(to + 3, array, 12, 16, stream));
        OK(cuStreamSynchronize(stream));
        expect_copied(to, 1000 * way);
        OK(cuMemsetD32_v2(a, ~0u, WORDS));
        OK(cuMemcpyAtoD_v2(a + 12, array, 12, 16));
        read_all(to, a);
        expect_copied(to, 1000 * way);
    }
    OK(cuArrayDestroy(array));
    OK(cuMemFree_v2(a));
}

/* Rows of two words from rows of four to rows of five, and planes of two rows. */
static void boxes(handle stream)
{
    address a = take(40), b = take(40);
    int from[40], to[40];
    for (int i = 0; i < 40; i++) {
        from[i] = i;
    }
    struct abi_copy2d_driver flat = {.src_x = 4,
                                     .src_y = 1,
                                     .src_type = HOST,
                                     .src_host = from,
                                     .src_pitch = 16,
                                     .dst_y = 2,
                                     .dst_type = DEVICE,
                                     .dst_device = b,
                                     .dst_pitch = 20,
                                     .width = 8,
                                     .height = 3};
    for (int way = 0; way < 2; way++) {
        OK(cuMemsetD32_v2(b, ~0u, 40));
        OK(cuCtxSynchronize());
        OK(way ? cuMemcpy2DAsync_v2(&flat, stream) : cuMemcpy2DUnaligned_v2(&flat));
        OK(cuStreamSynchronize(stream));
        OK(cuMemcpyDtoH_v2(to, b, sizeof to));
        for (int i = 0; i < 40; i++) {
            int row = i / 5 - 2, column = i % 5;
            EXPECT(to[i] == (row >= 0 && row < 3 && column < 2 ? 4 * (row + 1) + 1 + column : -1));
        }
    }
    OK(cuMemcpyHtoD_v2(a, from, sizeof from));
    struct abi_copy3d_driver deep = {
        .src = {.x = 4, .y = 1, .z = 1, .type = DEVICE, .device = a, .pitch = 16, .height = 3},
        .dst = {.type = DEVICE, .device = b, .pitch = 8, .height = 2},
        .width = 8,
        .height = 2,
        .depth = 2};
    for (int way = 0; way < 2; way++) {
        OK(cuMemsetD32_v2(b, ~0u, 40));
        OK(cuCtxSynchronize());
        OK(way ? cuMemcpy3DAsync_v2(&deep, stream) : cuMemcpy3D_v2(&deep));
        OK(cuStreamSynchronize(stream));
        OK(cuMemcpyDtoH_v2(to, b, sizeof to));
        for (int i = 0; i < 40; i++) {
            int plane = i / 4, row = i / 2 % 2, column = i % 2;
            EXPECT(to[i] == (i < 8 ? 12 * (plane + 1) + 4 * (row + 1) + 1 + column : -1));
        }
    }
    GIVES(INVALID, cuMemcpy2DUnaligned_v2(NULL));
    GIVES(INVALID, cuMemcpy3D_v2(NULL));
    OK(cuMemFree_v2(a));
    OK(cuMemFree_v2(b));
}

/* `rows` rows of `width` elements are set, 16 bytes apart, from byte 16 on, and nothing beside. */
static void expect_set(address a, const char *value, int element, int width, int rows)
{
    char to[4 * WORDS];
    OK(cuCtxSynchronize());
    OK(cuMemcpyDtoH_v2(to, a, sizeof to));
    for (int i = 0; i < 4 * WORDS; i++) {
        int row = i / 16 - 1, column = i % 16;
        bool is_set = row >= 0 && row < rows && column < width * element;
        EXPECT(to[i] == (is_set ? value[column % element] : 0));
    }
    OK(cuMemsetD8_v2(a, 0, 4 * WORDS));
    OK(cuCtxSynchronize());
}

static void sets(handle stream)
{
    address a = take(WORDS);
    unsigned short half = 0x2211;
    unsigned word_value = 0x44332211;
    const char *value = "\x11\x22\x33\x44";
    OK(cuMemsetD8_v2(a, 0, 4 * WORDS));
    OK(cuMemsetD8_v2(a + 16, 0x11, 3));
    expect_set(a, value, 1, 3, 1);
    OK(cuMemsetD8Async(a + 16, 0x11, 3, stream));
    expect_set(a, value, 1, 3, 1);
    OK(cuMemsetD16Async(a + 16, half, 3, stream));
    expect_set(a, value, 2, 3, 1);
    OK(cuMemsetD32Async(a + 16, word_value, 3, stream));
    expect_set(a, value, 4, 3, 1);
    OK(cuMemsetD2D8Async(a + 16, 16, 0x11, 3, 2, stream));
    expect_set(a, value, 1, 3, 2);
    OK(cuMemsetD2D16_v2(a + 16, 16, half, 3, 3));
    expect_set(a, value, 2, 3, 3);
    OK(cuMemsetD2D16Async(a + 16, 16, half, 3, 2, stream));
    expect_set(a, value, 2, 3, 2);
    OK(cuMemsetD2D32_v2(a + 16, 16, word_value, 3, 3));
    expect_set(a, value, 4, 3, 3);
    OK(cuMemsetD2D32Async(a + 16, 16, word_value, 3, 2, stream));
    expect_set(a, value, 4, 3, 2);
    GIVES(INVALID, cuMemsetD16Async(a + 1, half, 1, stream));
    GIVES(INVALID, cuMemsetD32_v2(a + 2, 1, 1));
    GIVES(BAD_HANDLE, cuMemsetD8Async(a, 1, 1, &half));
    OK(cuMemFree_v2(a));
}

int main(int argc, char **argv)
{
    handle stream;
    begin(argv, NULL);
    (void)argc;
    OK(cuStreamCreate(&stream, 1));
    linear(stream);
    arrays(stream);
    boxes(stream);
    sets(stream);
    OK(cuStreamDestroy_v2(stream));
    printf("copies: all right\n");
}
