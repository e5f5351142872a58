/*
 * What is allocated and what was: a freed allocation stays in the table until another one takes its
 * addresses, so that a late access is told from one that is out of bounds.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check/bits.h"
#include "check/state.h"
#include "exec/fault.h"
#include "exec/program.h"

/* The place of the first allocation behind `address`. */
static size_t upper(const struct check *check, uint64_t address)
{
    size_t low = 0, high = check->allocations.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (check->allocations.data[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void remove_at(struct check *check, size_t at)
{
    struct allocation *a = &check->allocations.data[at];
    free(a->made);
    free(a->freed);
    memmove(a, a + 1, (check->allocations.count - at - 1) * sizeof *a);
    check->allocations.count--;
}

static struct allocation *exact(const struct check *check, uint64_t address)
{
    size_t at = upper(check, address);
    struct allocation *a = at > 0 ? &check->allocations.data[at - 1] : NULL;
    return a && a->address == address ? a : NULL;
}

bool check_is_live(const struct check *check, uint64_t address)
{
    const struct allocation *a = exact(check, address);
    return a && a->live;
}

static uint64_t distance(const struct allocation *a, uint64_t address)
{
    if (address < a->address)
        return a->address - address;
    return address - a->address < a->bytes ? 0 : address - a->address - a->bytes + 1;
}

struct allocation *allocation_near(const struct check *check, uint64_t address)
{
    size_t at = upper(check, address);
    struct allocation *below = at > 0 ? &check->allocations.data[at - 1] : NULL;
    struct allocation *above = at < check->allocations.count ? &check->allocations.data[at] : NULL;
    if (!below || !above)
        return below ? below : above;
    return distance(below, address) <= distance(above, address) ? below : above;
}

/* Bytes that nobody has written. Whole pages of the map are given back. */
static void forget_written(const struct check *check, uint64_t address, uint64_t bytes)
{
    uint64_t first = address - check->base, page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t begin = (first / 8 + page - 1) / page * page, end = (first + bytes) / 8 / page * page;
    if (end <= begin || madvise(check->written + begin, end - begin, MADV_DONTNEED) != 0) {
        bits_clear(check->written, first, bytes);
        return;
    }
    bits_clear(check->written, first, begin * 8 - first);
    bits_clear(check->written, end * 8, first + bytes - end * 8);
}

/* The kernel's instruction that calls the driver now. */
static char *heap_site(const struct check *check)
{
    char text[256];
    const struct exec_warp *warp = check->caller;
    if (!warp)
        return NULL;
    const struct exec_program *program = warp->state->program;
    snprintf(text, sizeof text, "kernel '%s' at %s:%d", program->functions[0]->func->name,
             fault_file(program, warp->pc), insn_line(program, warp->pc));
    return strdup(text);
}

void check_allocated(struct check *check, uint64_t address, uint64_t bytes, enum check_owner owner)
{
    struct allocation *a = exact(check, address);
    if (a && a->live && a->bytes == bytes) {
        a->owner = owner;
        return;
    }
    size_t at = upper(check, address);
    while (at > 0 &&
           check->allocations.data[at - 1].address + check->allocations.data[at - 1].bytes >
               address)
        remove_at(check, --at);
    while (at < check->allocations.count && check->allocations.data[at].address < address + bytes)
        remove_at(check, at);
    struct allocation new = {.address = address,
                             .bytes = bytes,
                             .number = ++check->made,
                             .owner = owner,
                             .live = true,
                             .made = owner == CHECK_HEAP ? heap_site(check)
                                     : check->site       ? strdup(check->site)
                                                         : NULL};
    if (vec_push(&check->allocations, new) < 0) {
        check->failed = true;
        free(new.made);
        return;
    }
    memmove(&check->allocations.data[at + 1], &check->allocations.data[at],
            (check->allocations.count - 1 - at) * sizeof new);
    check->allocations.data[at] = new;
    if (owner == CHECK_HEAP) /* whoever had it before is not who races for it */
        memset(check->words + (address - check->base) / 4, 0, (bytes + 3) / 4 * 4);
    forget_written(check, address, bytes);
}

void check_freed(struct check *check, uint64_t address)
{
    struct allocation *a = exact(check, address);
    if (!a || !a->live)
        return;
    a->live = false;
    a->freed = a->owner == CHECK_HEAP ? heap_site(check) : check->site ? strdup(check->site) : NULL;
    if (a->owner == CHECK_DRIVER)
        remove_at(check, (size_t)(a - check->allocations.data));
}

void check_free_refused(struct check *check, uint64_t address, bool again)
{
    struct allocation *near = allocation_near(check, address);
    again |= near && near->address == address && !near->live;
    enum fault_kind kind = again ? FAULT_DOUBLE_FREE : FAULT_BAD_FREE;
    struct finding *f = check->caller ? finding_at(check, kind, check->caller, check->caller->pc,
                                                   (uint32_t)__builtin_ctz(check->caller_mask),
                                                   near ? near->number : 0)
                                      : finding_of_host(check, kind, near ? near->number : 0);
    if (!f || f->count > 1)
        return;
    f->has_address = true;
    f->address = address;
    finding_text(check, &f->what, "free");
    if (check->site)
        finding_text(check, &f->detail, "called by %s", check->site);
    allocation_describe(check, &f->where, near, address);
}

void check_copy_refused(struct check *check, const char *what, uint64_t address, uint64_t bytes)
{
    struct allocation *near = allocation_near(check, address);
    bool freed = near && !near->live && address - near->address < near->bytes;
    struct finding *f =
        finding_of_host(check, freed ? FAULT_FREED : FAULT_BOUNDS, near ? near->number : 0);
    if (!f || f->count > 1)
        return;
    f->has_address = true;
    f->address = address;
    if (bytes > 0)
        finding_text(check, &f->what, "%s of %" PRIu64 " bytes", what, bytes);
    else
        finding_text(check, &f->what, "%s", what);
    if (check->site)
        finding_text(check, &f->detail, "called by %s", check->site);
    allocation_describe(check, &f->where, near, address);
}

void check_written(struct check *check, uint64_t address, uint64_t bytes)
{
    if (address - check->base < check->range_bytes)
        bits_set(check->written, address - check->base, bytes);
}

void check_heap(struct check *check, uint64_t address, uint64_t bytes)
{
    check->heap = address;
    check->heap_bytes = bytes;
}

void allocation_describe(struct check *check, char **text, const struct allocation *near,
                         uint64_t address)
{
    if (!near) {
        finding_text(check, text, "nothing is allocated");
        return;
    }
    char place[96], made[320] = "", freed[320] = "";
    uint64_t offset = address - near->address;
    if (address < near->address)
        snprintf(place, sizeof place, "%" PRIu64 " bytes before the", near->address - address);
    else if (offset >= near->bytes)
        snprintf(place, sizeof place, "%" PRIu64 " bytes behind the", offset - near->bytes);
    else
        snprintf(place, sizeof place, "byte %" PRIu64 " of the", offset);
    if (near->made)
        snprintf(made, sizeof made, ", made by %s", near->made);
    if (!near->live)
        snprintf(freed, sizeof freed, "; freed by %s", near->freed ? near->freed : "the program");
    finding_text(check, text, "%s %" PRIu64 " bytes of %s %u%s%s", place, near->bytes,
                 near->owner == CHECK_HEAP ? "heap allocation" : "allocation", near->number, made,
                 freed);
}

uint32_t allocation_key(const struct allocation *a)
{
    return !a ? 0 : a->owner == CHECK_HEAP ? a->number | OF_HEAP : a->number;
}

#define SITES_MAX 64

/* Where kernels have allocated what is not freed, each with the first of its allocations. */
struct sites {
    uint32_t count, number[SITES_MAX];
    const char *made[SITES_MAX];
};

/* Threads that allocate at one place are one report. */
static uint32_t leak_number(struct sites *sites, const struct allocation *a)
{
    if (a->owner != CHECK_HEAP || !a->made)
        return a->number;
    for (uint32_t i = 0; i < sites->count; i++)
        if (strcmp(sites->made[i], a->made) == 0)
            return sites->number[i];
    if (sites->count < SITES_MAX) {
        sites->number[sites->count] = a->number;
        sites->made[sites->count++] = a->made;
    }
    return a->number;
}

void check_ended(struct check *check)
{
    struct sites sites = {0};
    for (size_t i = 0; i < check->allocations.count; i++) {
        const struct allocation *a = &check->allocations.data[i];
        if (!a->live || a->owner == CHECK_DRIVER || a->owner == CHECK_POOL)
            continue;
        struct finding *f = finding_of_host(check, FAULT_LEAK, leak_number(&sites, a));
        if (!f || f->count > 1)
            continue;
        f->has_address = true;
        f->address = a->address;
        finding_text(check, &f->what, "%" PRIu64 " bytes were not freed", a->bytes);
        allocation_describe(check, &f->where, a, a->address);
    }
}

void allocations_free(struct check *check)
{
    while (check->allocations.count > 0)
        remove_at(check, check->allocations.count - 1);
    vec_free(&check->allocations);
}
