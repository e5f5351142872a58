/* Streams that write words of memory and wait for them. */
#include "host.h"

int cuStreamWriteValue32_v2(handle, address, uint32_t, unsigned);
int cuStreamWriteValue64_v2(handle, address, uint64_t, unsigned);
int cuStreamWaitValue32_v2(handle, address, uint32_t, unsigned);
int cuStreamWaitValue64_v2(handle, address, uint64_t, unsigned);
int cuStreamBatchMemOp_v2(handle, unsigned, const void *, unsigned);
int cuStreamWaitValue32(handle, address, uint32_t, unsigned);
int cuStreamQuery(handle);
int cuStreamBeginCapture_v2(handle, int);
int cuStreamEndCapture(handle, handle *);
int cuMemHostAlloc(void **, size_t, unsigned);
int cuMemAllocAsync(address *, size_t, handle);
int cuMemFreeAsync(address, handle);

enum { GEQ, EQ, AND, NOR, INVALID = 1, NOT_READY = 600, UNSUPPORTED = 900, SPOILT = 901 };
enum { NONBLOCKING = 1 };

static handle first, second, count;

/* What an H200's driver says of those of the first version. */
static void the_first_version(address words)
{
    GIVES(801, cuStreamWaitValue32(first, words, 7, EQ));
}

/* What follows a wait does not begin before another stream has written the word. */
static void another_stream_writes(address words)
{
    address counter = words + 16;
    void *args[] = {&counter};
    OK(cuStreamWaitValue32_v2(first, words, 7, EQ));
    OK(launch(count, 1, 32, first, args));
    GIVES(NOT_READY, cuStreamQuery(first));
    EXPECT(word(words, 4) == 1);
    OK(cuStreamWriteValue32_v2(second, words, 7, 0));
    OK(cuStreamSynchronize(first));
    EXPECT(word(words, 0) == 7 && word(words, 4) == 33);
}

static void a_kernel_writes(address words)
{
    address flag = words + 32;
    void *args[] = {&flag};
    OK(cuStreamWaitValue32_v2(first, flag, 33, GEQ));
    OK(cuStreamWriteValue64_v2(first, words + 8, 0x500000004, 0));
    OK(launch(count, 1, 32, second, args));
    OK(cuStreamSynchronize(first));
    EXPECT(word(words, 2) == 4 && word(words, 3) == 5);
}

static void the_host_writes(void)
{
    volatile uint32_t *words;
    OK(cuMemHostAlloc((void **)&words, 64, 0));
    words[0] = words[1] = 0;
    OK(cuStreamWaitValue32_v2(first, (address)(uintptr_t)words, 6, AND));
    OK(cuStreamWriteValue32_v2(first, (address)(uintptr_t)(words + 1), 1, 0));
    GIVES(NOT_READY, cuStreamQuery(first));
    words[0] = 1;
    GIVES(NOT_READY, cuStreamQuery(first));
    words[0] = 2;
    OK(cuStreamSynchronize(first));
    EXPECT(words[1] == 1);
}

/* Only the stream's queue knows where that is. */
static void memory_of_a_pool(void)
{
    address words;
    OK(cuMemAllocAsync(&words, 64, first));
    OK(cuStreamWriteValue32_v2(first, words, 9, 0));
    OK(cuStreamWaitValue32_v2(first, words, 9, EQ));
    OK(cuStreamSynchronize(first));
    EXPECT(word(words, 0) == 9);
    OK(cuMemFreeAsync(words, first));
    OK(cuStreamSynchronize(first));
}

/* -1 >= 1 where words wrap around, but not the other way; NOR looks for a bit that neither has. */
static void comparisons(address words)
{
    OK(cuMemsetD32_v2(words, 3, 1));
    OK(cuCtxSynchronize());
    OK(cuStreamWaitValue32_v2(first, words, UINT32_MAX, GEQ));
    OK(cuStreamWaitValue64_v2(first, words + 8, 0x500000003, GEQ));
    OK(cuStreamSynchronize(first));
    OK(cuStreamWaitValue32_v2(first, words, ~7u, NOR));
    OK(cuStreamSynchronize(first));
    OK(cuStreamWaitValue32_v2(first, words, ~3u, NOR));
    GIVES(NOT_READY, cuStreamQuery(first));
    OK(cuStreamWriteValue32_v2(second, words, 1, 0));
    OK(cuStreamSynchronize(first));
}

static void several_at_once(address words)
{
    uint64_t ops[3][6] = {{2, words + 20, 77}, {1, words + 20, 77, EQ}, {6}};
    OK(cuStreamBatchMemOp_v2(second, 3, ops, 0));
    OK(cuStreamSynchronize(second));
    EXPECT(word(words, 5) == 77);
    ops[0][0] = 9;
    GIVES(INVALID, cuStreamBatchMemOp_v2(second, 1, ops, 0));
}

static void refused(address words)
{
    handle graph;
    address gone = take(1);
    OK(cuMemFree_v2(gone));
    GIVES(INVALID, cuStreamWriteValue32_v2(first, gone, 1, 0));
    GIVES(INVALID, cuStreamWaitValue32_v2(first, gone, 1, EQ));
    GIVES(INVALID, cuStreamWaitValue32_v2(first, words + 2, 1, EQ));
    GIVES(INVALID, cuStreamWaitValue32_v2(first, words, 1, 4));
    GIVES(INVALID, cuStreamWriteValue32_v2(first, 16, 1, 0));
    GIVES(INVALID, cuStreamWriteValue32_v2(first, words, 1, 2));
    OK(cuStreamBeginCapture_v2(first, 0));
    GIVES(UNSUPPORTED, cuStreamWriteValue32_v2(first, words, 1, 0));
    GIVES(SPOILT, cuStreamEndCapture(first, &graph));
}

int main(int argc, char **argv)
{
    handle module = argc == 2 ? begin(argv, "kernels.ptx") : NULL;
    address words = take(16);
    count = function(module, "count");
    OK(cuStreamCreate(&first, NONBLOCKING));
    OK(cuStreamCreate(&second, NONBLOCKING));
    the_first_version(words);
    another_stream_writes(words);
    a_kernel_writes(words);
    the_host_writes();
    memory_of_a_pool();
    comparisons(words);
    several_at_once(words);
    refused(words);
    OK(cuStreamWaitValue32_v2(first, words, 12345, EQ)); /* the program ends all the same */
    return 0;
}
