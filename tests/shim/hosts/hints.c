/* What is said of managed memory is told again. */
#include "host.h"

int cuMemAllocManaged(address *, size_t, unsigned);
int cuMemAdvise(address, size_t, int, int);
int cuMemAdvise_v2(address, size_t, int, struct abi_location);
int cuMemPrefetchAsync(address, size_t, int, handle);
int cuMemPrefetchAsync_v2(address, size_t, struct abi_location, unsigned, handle);
int cuMemRangeGetAttribute(void *, size_t, int, address, size_t);
int cuMemRangeGetAttributes(void **, const size_t *, const int *, size_t, address, size_t);
int cuStreamAttachMemAsync(handle, address, size_t, unsigned);
int cuStreamGetCtx(handle, handle *);
int cuCtxGetCurrent(handle *);

enum { READ_MOSTLY = 1, PREFERRED, ACCESSED_BY, LAST_PREFETCH, PREFERRED_TYPE }; /* attributes */
enum {
    SET_READ_MOSTLY = 1,
    UNSET_READ_MOSTLY,
    SET_PREFERRED,
    UNSET_PREFERRED,
    SET_ACCESSED,
    UNSET_ACCESSED
};
enum { HOST = -1, NOWHERE = -2, INVALID = 1, BAD_DEVICE = 101 };
enum { BYTES = 1 << 20, HALF = BYTES / 2 };

static int of(int attribute, address p, size_t bytes)
{
    int value = 99;
    OK(cuMemRangeGetAttribute(&value, sizeof value, attribute, p, bytes));
    return value;
}

int main(int argc, char **argv)
{
    handle none = argc == 2 ? begin(argv, NULL) : NULL, stream, context, current;
    const struct abi_location device = {1, 0}, host = {2, 0}, other = {1, 5};
    address p, plain = take(64);
    OK(cuMemAllocManaged(&p, BYTES, 1));
    EXPECT(of(READ_MOSTLY, p, BYTES) == 0 && of(PREFERRED, p, BYTES) == NOWHERE);
    EXPECT(of(LAST_PREFETCH, p, BYTES) == NOWHERE);
    OK(cuMemAdvise_v2(p, BYTES, SET_READ_MOSTLY, device));
    OK(cuMemAdvise_v2(p, BYTES, SET_PREFERRED, host));
    OK(cuMemAdvise(p + HALF, HALF, SET_PREFERRED, 0));
    EXPECT(of(READ_MOSTLY, p, BYTES) == 1 && of(PREFERRED, p, BYTES) == NOWHERE);
    EXPECT(of(PREFERRED, p, HALF) == HOST && of(PREFERRED_TYPE, p, HALF) == 2);
    EXPECT(of(PREFERRED, p + HALF, HALF) == 0 && of(PREFERRED_TYPE, p + HALF, HALF) == 1);
    OK(cuMemAdvise(p + 4096, 4096, UNSET_READ_MOSTLY, 0));
    EXPECT(of(READ_MOSTLY, p, BYTES) == 0 && of(READ_MOSTLY, p + 8192, HALF) == 1);
    OK(cuMemAdvise_v2(p, BYTES, UNSET_PREFERRED, host));
    EXPECT(of(PREFERRED, p, HALF) == NOWHERE);
    OK(cuMemAdvise(p, BYTES, SET_ACCESSED, HOST));
    OK(cuMemAdvise(p, BYTES, SET_ACCESSED, 0));
    OK(cuMemPrefetchAsync(p, BYTES, HOST, NULL));
    OK(cuMemPrefetchAsync_v2(p, HALF, device, 0, NULL));
    int by[3], last = 99, attributes[] = {ACCESSED_BY, LAST_PREFETCH};
    void *data[] = {by, &last};
    const size_t sizes[] = {sizeof by, sizeof last};
    OK(cuMemRangeGetAttributes(data, sizes, attributes, 2, p, HALF));
    EXPECT(by[0] == 0 && by[1] == HOST && by[2] == NOWHERE && last == 0);
    EXPECT(of(LAST_PREFETCH, p + HALF, HALF) == HOST);
    OK(cuMemAdvise(p, BYTES, UNSET_ACCESSED, HOST));
    OK(cuMemRangeGetAttributes(data, sizes, attributes, 1, p, BYTES));
    EXPECT(by[0] == 0 && by[1] == NOWHERE);
    GIVES(INVALID, cuMemAdvise(plain, 64, SET_READ_MOSTLY, 0));
    GIVES(INVALID, cuMemAdvise(p, 2 * BYTES, SET_READ_MOSTLY, 0));
    GIVES(INVALID, cuMemAdvise(p, BYTES, 7, 0));
    GIVES(INVALID, cuMemAdvise_v2(p, BYTES, SET_PREFERRED, other));
    GIVES(BAD_DEVICE, cuMemPrefetchAsync(p, BYTES, 3, NULL));
    GIVES(INVALID, cuMemRangeGetAttribute(&last, 3, READ_MOSTLY, p, BYTES));
    GIVES(INVALID, cuMemRangeGetAttribute(&last, sizeof last, 20, p, BYTES));
    OK(cuStreamCreate(&stream, 1));
    OK(cuStreamAttachMemAsync(stream, p, 0, 4));
    OK(cuStreamGetCtx(stream, &context));
    OK(cuCtxGetCurrent(&current));
    EXPECT(context == current);
    OK(cuMemFree_v2(p));
    OK(cuMemAllocManaged(&p, BYTES, 1)); /* may lie where the other one lay */
    EXPECT(of(READ_MOSTLY, p, BYTES) == 0 && of(LAST_PREFETCH, p, BYTES) == NOWHERE);
    return none != NULL;
}
