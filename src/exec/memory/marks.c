/* The bits lie in a mapping that the host fills on first touch; see marks.h. */
#define _GNU_SOURCE
#include "exec/memory/marks.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "exec/memory/image.h"
#include "exec/ops.h"
#include "util/error.h"

#define PAGE_BYTES ((uint64_t)MARKS_PAGE_WORDS * 4) /* of device memory */
#define PAGE_BITS_BYTES (MARKS_PAGE_WORDS / 8)

int marks_roles_create(struct marks_roles **out, const struct exec_memory *image)
{
    struct marks_roles *roles = calloc(1, sizeof *roles + image->count);
    *out = roles;
    if (!roles)
        return error_memory();
    roles->count = image->count;
    return SONDE_OK;
}

int marks_create(struct marks **out, struct marks_roles *roles, const struct exec_memory *image)
{
    struct marks *marks = calloc(1, sizeof *marks);
    *out = marks;
    if (!marks)
        return error_memory();
    marks->roles = roles;
    marks->image = image;
    marks->known = calloc(image->count + 1, 1);
    if (!marks->known)
        return error_memory();
    if (image->count == 0)
        return SONDE_OK;
    marks->base = image->extents[0].start / PAGE_BYTES * PAGE_BYTES;
    marks->pages =
        (image->extents[image->count - 1].end - marks->base + PAGE_BYTES - 1) / PAGE_BYTES;
    marks->mapped_bytes = marks->pages * (PAGE_BITS_BYTES + 1);
    void *mapped = mmap(NULL, marks->mapped_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED)
        return error_memory();
    marks->written = mapped;
    marks->touched = (uint8_t *)mapped + marks->pages * PAGE_BITS_BYTES;
    return SONDE_OK;
}

void marks_destroy(struct marks *marks)
{
    if (!marks)
        return;
    if (marks->written)
        munmap(marks->written, marks->mapped_bytes);
    free(marks->known);
    free(marks);
}

bool marks_meets(const struct marks *one, const struct marks *other)
{
    enum { PAGE_UNITS = MARKS_PAGE_WORDS / 64 };
    for (size_t page = 0; page < one->pages; page++) {
        uint64_t both = 0;
        if (!one->touched[page] || !other->touched[page])
            continue;
        for (size_t i = page * PAGE_UNITS; i < (page + 1) * PAGE_UNITS; i++)
            both |= one->written[i] & other->written[i];
        if (both)
            return true;
    }
    return false;
}

bool marks_ask(struct marks *marks, size_t extent, uint8_t role)
{
    unsigned char was = MARKS_NONE;
    if (marks->is_over)
        return false;
    if (!atomic_compare_exchange_strong(&marks->roles->role[extent], &was, role) && was != role) {
        atomic_store(&marks->roles->refused, true);
        marks->is_over = true;
        memset(marks->known, MARKS_NONE, marks->roles->count);
        return false;
    }
    marks->known[extent] = role;
    return true;
}

void marks_words(struct marks *marks, uint64_t address, uint32_t words)
{
    uint64_t first = (address - marks->base) / 4, end = first + words;
    marks->touched[first / MARKS_PAGE_WORDS] = 1;
    marks->touched[(end - 1) / MARKS_PAGE_WORDS] = 1;
    while (first < end) {
        uint64_t offset = first % 64, room = 64 - offset;
        uint64_t count = end - first < room ? end - first : room;
        marks->written[first / 64] |= UINT64_MAX >> (64 - count) << offset;
        first += count;
    }
}

bool marks_bytes(const struct exec_warp *warp, uint32_t pc, uint64_t address, uint64_t bytes,
                 bool writes)
{
    struct marks *marks = warp->env->marks;
    size_t *hint = &warp->state->extents[pc % EXTENT_HINTS];
    /* What lies nowhere is a fault, or an array's, which no program with marks writes. */
    if (bytes == 0 || !image_valid_near(marks->image, hint, address, bytes))
        return true;
    if (!marks_allows(marks, *hint, writes))
        return false;
    if (writes)
        marks_words(marks, address, (uint32_t)((address % 4 + bytes + 3) / 4));
    return true;
}

bool marks_commits(const struct exec_warp *warp, const struct exec_access *access)
{
    uint64_t bytes = (uint64_t)access->bytes * access->vec;
    bool allowed = true;
    if (access->kind != ACCESS_LOAD && access->kind != ACCESS_STORE)
        return true;
    for (uint32_t rest = access->mask; allowed && rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        uint32_t space = access->space == SPACE_NONE ? access->lane_space[lane] : access->space;
        if (space == SPACE_GLOBAL || space == SPACE_CONST)
            allowed = marks_bytes(warp, access->pc, access->address[lane], bytes,
                                  access->kind == ACCESS_STORE);
    }
    return allowed;
}
