/*
 * The memory checker: launches without timing are observed (exec/observe.h), the host's side tells
 * what it allocates, frees and writes, and what is wrong is collected and written out.
 *
 * What it keeps beside the program's memory, touched only where that is touched: a bit for each
 * byte of device and shared memory that says whether it was ever written (Memcheck's validity bits:
 * N. Nethercote, J. Seward, VEE 2007, without propagation through registers); for each word of
 * device memory the last block that accessed it in this launch and how (global.c); for each word of
 * shared memory the last write and two reads with a time, held against vector clocks of the warps
 * (shared.c; FastTrack: C. Flanagan, S. Freund, PLDI 2009). That is 1.125 bytes for each byte that
 * is touched of device memory and 16 for each of the shared memory of blocks in flight.
 *
 * Left out: values in registers; races within a block on global memory; races of texture fetches;
 * which of two accesses that race came first on hardware.
 */
#ifndef SONDE_CHECK_CHECK_H
#define SONDE_CHECK_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct check;
struct exec_observer;

/*
 * `base` and `range_bytes`: where device memory lies (exec/memory/memory.h). `lockstep`: lanes of a
 * warp that run together stay together, as before Volta: their accesses are in the order of the
 * program.
 */
int check_create(struct check **out, uint64_t base, uint64_t range_bytes, bool lockstep);
void check_destroy(struct check *check); /* NULL is allowed */

/* For launches without timing; borrowed. */
const struct exec_observer *check_observer(const struct check *check);

/*
 * Not to be reported, separated by commas: "KIND", a key of faults.def or "*", or "KIND:KERNEL".
 * NULL: nothing. SONDE_EINPUT: there is no such kind.
 */
int check_suppress(struct check *check, const char *list);
/* Takes over what another one has found. */
void check_take(struct check *check, struct check *from);

/* ---- the host's side ---- */

/* Where the next allocation or free is made: "cudaMalloc, program+0x1234". Copied; NULL: unknown.
 */
void check_site(struct check *check, const char *site);
/* Takes it out, and puts it back: what comes to pass meanwhile is not of that call. */
char *check_site_aside(struct check *check);
void check_site_back(struct check *check, char *site);
enum check_owner {
    CHECK_PROGRAM, /* the program frees it, or it is a leak */
    CHECK_POOL,    /* the program frees it, or its pool is destroyed */
    CHECK_DRIVER,  /* not the program's to free: variables of modules, workspaces */
    CHECK_HEAP,    /* inside of the device's heap: a kernel's malloc */
};
/* Its bytes are uninitialised. What is there and has the same size gets another owner. */
void check_allocated(struct check *check, uint64_t address, uint64_t bytes, enum check_owner owner);
/* It has been freed: what is accessed there now is used after free. */
void check_freed(struct check *check, uint64_t address);
/* A free that was refused: of what was freed before (or is about to be: `again`), or of no
 * allocation. */
void check_free_refused(struct check *check, uint64_t address, bool again);
/* A copy or memset ("a copy") that was refused: it leaves its allocation, or goes to freed memory.
 * `bytes` 0: they are no matter. */
void check_copy_refused(struct check *check, const char *what, uint64_t address, uint64_t bytes);
/* The device's heap, whose bytes are out of bounds but for what kernels take of it. */
void check_heap(struct check *check, uint64_t address, uint64_t bytes);
bool check_is_live(const struct check *check,
                   uint64_t address); /* does an allocation begin here? */
/* The host has written there. */
void check_written(struct check *check, uint64_t address, uint64_t bytes);
/* A launch ended in a fault; its text names the place. */
void check_faulted(struct check *check, const char *kernel, const char *text);
/* The program is over: what it has not freed is leaked. */
void check_ended(struct check *check);

/* ---- what was found ---- */

size_t check_count(const struct check *check); /* reports, equal ones counted once */
/* The reports: for people, as JSON, as JUnit's XML. free() it. */
enum check_format { CHECK_TEXT, CHECK_JSON, CHECK_JUNIT, CHECK_FORMATS };
int check_write(char **text, const struct check *check, enum check_format format);
/* "text", "json", "junit"; false: there is no such format. */
bool check_format_parse(enum check_format *format, const char *name, size_t length);

#endif
