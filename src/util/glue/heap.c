/*
 * The heap in huge pages. A model of an H200 is 67 MB in a hundred thousand pieces, most of them
 * too small for a mapping of their own: in pages of 4 KiB the kernel is asked for each of 14 000
 * pages before the first cycle, and the processor's table of pages does not hold them.
 *
 * glibc's own way is a tunable of the environment (glibc.malloc.hugetlb=1), which is too late here.
 * So a part of the heap is asked for at once, of which nothing is there before it is used, and the
 * kernel is told. Where this fails nothing changes.
 */
#include "util/glue/heap.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__GLIBC__) && defined(MADV_HUGEPAGE) && !defined(__SANITIZE_ADDRESS__) &&              \
    !defined(__SANITIZE_THREAD__)
static const struct {
    int ahead_bytes;   /* more than what models that are shipped and their first launches need */
    int own_map_bytes; /* from here on a block gets a mapping of its own: glibc's first value, which
                          the above would keep for ever, is 128 KiB, and buffers of walks come and
                          go */
    int usual_pad_bytes; /* glibc's own */
    uint64_t huge_bytes;
} heap = {.ahead_bytes = 256 << 20,
          .own_map_bytes = 4 << 20,
          .usual_pad_bytes = 128 << 10,
          .huge_bytes = 2 << 20};

void heap_in_huge_pages(void)
{
    uintptr_t begin = (uintptr_t)sbrk(0);
    if (mallopt(M_TOP_PAD, heap.ahead_bytes) == 0 ||
        mallopt(M_TRIM_THRESHOLD, 2 * heap.ahead_bytes) == 0 ||
        mallopt(M_MMAP_THRESHOLD, heap.own_map_bytes) == 0) {
        return;
    }
    /* Larger than what is free, and of the heap: it grows. Without volatile the compiler leaves
     * both calls out. */
    void *volatile block = malloc((size_t)heap.own_map_bytes / 2);
    free(block);
    mallopt(M_TOP_PAD, heap.usual_pad_bytes); /* later growth is as small as it was */
    uintptr_t end = (uintptr_t)sbrk(0);
    begin = (begin + heap.huge_bytes - 1) & ~(heap.huge_bytes - 1);
    if (begin < end) {
        madvise((void *)begin, end - begin, MADV_HUGEPAGE);
    }
}
#else
void heap_in_huge_pages(void)
{
}
#endif
