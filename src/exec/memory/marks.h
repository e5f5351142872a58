/*
 * What a host thread has touched of device memory, where several run CTAs of one launch: whether
 * what they do is what one thread would have done, CTA after CTA.
 *
 * While they run, an allocation is either read or written, never both; who would do the other is
 * refused, and the launch has failed to be shared out. So what CTAs read does not depend on others,
 * and whatever they did can be done again. What each thread has written is kept, a bit a word of 4
 * bytes. Where two threads have written the same word, the last one's value is there, not the
 * last CTA's.
 */
#ifndef SONDE_EXEC_MARKS_H
#define SONDE_EXEC_MARKS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct exec_access;
struct exec_memory;
struct exec_warp;

enum marks_role { MARKS_NONE, MARKS_READ, MARKS_WRITTEN };

/* Of all threads: what is done to each allocation. */
struct marks_roles {
    size_t count;
    atomic_bool refused; /* to somebody: the launch cannot be shared out */
    atomic_uchar role[]; /* enum marks_role, of each allocation of the image */
};

/* Of one thread. */
struct marks {
    struct marks_roles *roles;
    const struct exec_memory *image;
    uint8_t *known; /* what this thread has asked for, of each allocation: a role */
    bool is_over;   /* it was refused: what it works with since may be wrong, and is not stored */
    uint64_t base;  /* where the first allocation begins, down to a word of `written` */
    uint64_t *written; /* a bit a word of 4 bytes; mapped, zero where nothing was written */
    uint8_t *touched;  /* whether anything was written, of each MARKS_PAGE_WORDS words */
    size_t pages, mapped_bytes;
};

#define MARKS_PAGE_WORDS 32768u /* 4 KiB of bits */

/* Both are of the image's allocations as they are now: of no use when some have come or gone.
 * SONDE_ENOMEM. */
int marks_roles_create(struct marks_roles **out, const struct exec_memory *image);
/* Borrows the roles. SONDE_ENOMEM: also where the host has no room for so many bits. */
int marks_create(struct marks **out, struct marks_roles *roles, const struct exec_memory *image);
void marks_destroy(struct marks *marks); /* NULL is allowed */

/* Have the two written a word in common? */
bool marks_meets(const struct marks *one, const struct marks *other);

/* The way of marks_allows() the first time. */
bool marks_ask(struct marks *marks, size_t extent, uint8_t role);

/* Whether the thread may read or write the allocation of this index. */
static inline bool marks_allows(struct marks *marks, size_t extent, bool writes)
{
    uint8_t role = writes ? MARKS_WRITTEN : MARKS_READ;
    return marks->known[extent] == role || marks_ask(marks, extent, role);
}

/* Words from the one that `address` lies in on are written, in an allocation that allows it. */
void marks_words(struct marks *marks, uint64_t address, uint32_t words);

/* Bytes of device memory are about to be read or written by the instruction at `pc`; false: that is
 * refused, and is not to happen. For warps that have marks. */
bool marks_bytes(const struct exec_warp *warp, uint32_t pc, uint64_t address, uint64_t bytes,
                 bool writes);

/* The same of a load or store that is about to be committed; others ask for themselves. */
bool marks_commits(const struct exec_warp *warp, const struct exec_access *access);

#endif
