/*
 * The runtime's state, shared by the files of this room: rt.c (creation, copies, carve-out), vmem.c
 * (addresses, frames, page table), module.c (modules, variables, kernels), launch.c.
 */
#ifndef SONDE_RT_STATE_H
#define SONDE_RT_STATE_H

#include "exec/exec.h"
#include "exec/memory/memory.h"
#include "exec/texture/texture.h"
#include "ptx/ir.h"
#include "rt/heap.h"
#include "rt/rt.h"
#include "util/container/map.h"
#include "util/container/strbuf.h"
#include "util/container/vec.h"

#define RT_ALIGN_BYTES 256 /* of every allocation: the driver API's promise */
#define RT_NO_FRAME UINT32_MAX
#define RT_BLOCK_THREADS_MAX 1024 /* of all that are modelled, since compute capability 2.0 */

struct vmem_page {
    uint32_t frame; /* RT_NO_FRAME: not mapped */
    uint32_t users; /* allocations that touch it */
};

struct vmem_range {
    uint64_t address, bytes;
};

/*
 * Virtual addresses and the page table. A page has a frame as long as an allocation touches it;
 * small allocations share pages, large ones begin on a page of their own.
 */
struct vmem {
    uint64_t base, range_bytes, page_bytes;
    uint32_t frame_count; /* of the device's memory */
    uint32_t frames_used;
    uint64_t *frame_taken;         /* one bit a frame */
    uint32_t frame_hint;           /* no frame below is free */
    VEC(struct vmem_range) ranges; /* sorted by address */
    VEC(struct vmem_page) pages;   /* by page number from base */
    /* The page table's frames, by level, in the order of the addresses they stand for. */
    struct walker_level_spec level[WALKER_MAX_LEVELS];
    uint32_t levels;
    VEC(uint32_t) tables[WALKER_MAX_LEVELS];
    uint32_t top_hint; /* no frame above is free: tables lie at the top of memory */
    bool full;         /* the last allocation did not fit */
    /* Where somebody checks accesses: bytes between ranges, and the end of the last one, behind
     * which the next lies. 0: ranges are given out first fit. */
    uint64_t red_zone_bytes, last_end;
};

/* Calls of printf that wait to be handed over, and their texts one behind the other. */
struct print_call {
    size_t text_bytes, record_bytes;
};
struct print_fifo {
    VEC(struct print_call) calls;
    size_t first; /* calls before it have been overwritten */
    struct strbuf text;
    size_t text_start; /* of the first call */
    uint64_t used_bytes, lost_calls;
};

struct rt {
    struct model *model;
    struct exec_memory *memory;
    struct gpu *gpu;
    struct vmem vmem;
    struct rt_module *modules;
    uint32_t preferred_carveout;
    bool prefers_carveout; /* it was asked for */
    uint64_t launches;
    uint64_t warp_insns, thread_insns; /* of functional launches */
    const volatile int *cancel;
    const struct progress *progress;
    bool tells_cancelled, cold;
    struct rt_image *images;           /* all that were created */
    VEC(struct exec_texture) textures; /* by handle; of no image: given back */
    VEC(const struct exec_image *) surfaces;
    uint64_t local_address, local_bytes; /* where local memory lies; 0: nowhere yet */
    struct exec_services services;
    int (*attribute)(int *value, int number); /* NULL: nobody has provided it */
    struct exec_services queued_services;     /* of launches in the queue: they may launch */
    uint64_t limits[RT_LIMIT_COUNT];
    struct print_fifo print;
    void (*print_out)(void *ctx, const char *text, size_t bytes);
    void *print_ctx;
    struct heap *heap; /* NULL: no launch has needed it */
    uint64_t heap_address;
    uint64_t grid_workspace; /* of cooperative launches; 0: none yet */
    struct queue *queue;
    struct check *check;      /* NULL: nobody checks */
    struct sampler *sampler;  /* NULL: every launch is simulated as a whole */
    struct trail *trail;      /* of the launch that is sampled */
    uint64_t sampled_kernels; /* that have been looked at */
    int fault_code;           /* of the first error that sticks; 0: none */
    bool fault_told;          /* to the host: from then on it is an earlier one */
    char *fault;              /* its text */
};

struct rt_module {
    struct rt *rt;
    struct rt_module *next, **link;
    struct ptx_module *ptx;
    struct u64_map addresses;  /* of a variable (its pointer as key) */
    struct rt_kernel *kernels; /* those that have been asked for */
};

struct cta_needs;

struct rt_kernel {
    struct rt_kernel *next;
    struct rt_module *module;
    const struct ptx_func *func;
    struct exec_program *program;
    enum { KERNEL_NOT_LOOKED_AT, KERNEL_SAMPLED, KERNEL_NOT_SAMPLED } sampled;
    uint64_t sampled_id; /* of those that are looked at: its own, 1 and up */
};

/* occupancy.c: the choice with the least shared memory that is at least this much */
bool carveout_that_holds(const struct model *model, uint64_t shared_bytes, uint32_t *choice);
/* the choice that a launch of such blocks gets on an idle GPU, where the model has any */
uint32_t carveout_for(const struct rt *rt, const struct cta_needs *needs);

/*
 * launch.c. A launch step by step: checks, arguments (the caller's to free), what the driver
 * provides before it begins, and what its end does to the context.
 */
void launch_cool(struct rt *rt); /* before a timed one */
int launch_check(struct rt *rt, const struct rt_kernel *kernel, const struct rt_launch *launch);
int launch_pack(uint8_t **out, const struct ptx_func *func, const struct rt_launch *launch);
/* `shares`: others may come to the GPU while it is there; GPU_LATER: what it needs cannot be
 * provided beside those that are there. */
int launch_prepare(struct rt *rt, struct exec_launch *run, struct rt_kernel *kernel,
                   const struct rt_launch *launch, const uint8_t *params, bool shares);
/* Whether a block's shared memory is more than a kernel may have. */
int launch_shared_check(const struct rt *rt, const struct rt_kernel *kernel,
                        const struct rt_launch *launch);
int launch_ended(struct rt *rt, const struct rt_kernel *kernel, int rc);
/* Textures and surfaces as they are now. */
void launch_see_objects(const struct rt *rt, struct exec_launch *run);

/* module.c: takes the parsed module over, also when it fails */
int module_create(struct rt *rt, struct rt_module **out, struct ptx_module *ptx);
/* The kernel whose code address that is; NULL: none. */
struct rt_kernel *kernel_at(struct rt_module *module, uint64_t code_address);
bool modules_hold(const struct rt *rt, uint64_t address); /* does a variable begin there? */

/* paths.c: local memory has its place before the launch */
int local_memory_provide(struct rt *rt, const struct exec_launch *launch, bool shares);

/* checking.c: nothing where nobody checks; `rc` is how the free ended, or the launch */
void checking_allocated(struct rt *rt, uint64_t address, uint64_t bytes, bool program);
void checking_pooled(struct rt *rt, uint64_t address, uint64_t bytes); /* taken from a pool */
void checking_freed(struct rt *rt, uint64_t address, int rc);
void checking_freed_twice(struct rt *rt, uint64_t address);
void checking_refused(struct rt *rt, const char *what, uint64_t address, uint64_t bytes);
void checking_site(struct rt *rt, const char *site); /* of the next ones; NULL: none */
/* What comes to pass between the two is of no call. */
char *checking_site_aside(struct rt *rt);
void checking_site_back(struct rt *rt, char *site);
void checking_written(struct rt *rt, uint64_t address, uint64_t bytes);
void checking_ended(struct rt *rt, const struct rt_kernel *kernel, int rc);

/* services.c */
void services_create(struct rt *rt);
void services_destroy(struct rt *rt);
int services_heap_provide(struct rt *rt); /* the heap is there before the launch */
void services_flush(struct rt *rt);       /* hands over what was printed */

/* memory.c: rt_mem_alloc() on a multiple of a power of two; frees an allocation, whoever made it */
int memory_take(struct rt *rt, uint64_t *address, uint64_t bytes, uint64_t least_align);
int memory_give(struct rt *rt, uint64_t address);
/* The error of what leaves an allocation; tells the checker as well. */
int range_refuse(struct rt *rt, const char *what, uint64_t address, uint64_t bytes);

/* context.c: the first error that sticks (context_spoil() takes the one that is set), or 0. */
int context_check(struct rt *rt);
void context_spoil(struct rt *rt, int code);

/* queue/stream.c: after an allocation of `bytes` that gave `rc`. Where memory is full, what streams
 * are still to free is waited for, and what pools keep goes back; not within a function of the
 * host, for which the queue waits. True: there may be more than before. */
bool queue_make_room(struct rt *rt, uint64_t bytes, int rc);

/* queue/queue.c */
int queue_create(struct rt *rt);
void device_provide(struct rt *rt); /* queue/device.c: kernels of the queue may launch */
/* Whether it waits to be freed, or lies with a pool. */
bool queue_has_freed(const struct queue *queue, uint64_t address);
bool queue_runs(const struct queue *queue);            /* kernels, with timing or without */
int queue_give_later(struct rt *rt, uint64_t address); /* memory_give() when no kernel runs */
void queue_destroy(struct rt *rt);

/* image.c */
struct rt_image {
    struct exec_image image;
    struct rt_image *next;
    uint64_t memory; /* of an array: the range that it took; 0: linear memory of the program's */
    bool of_texture; /* made for one texture, with which it goes */
    const struct rt_image *whole; /* of a level's image: what it is a level of */
    uint32_t level;
};
void images_destroy(struct rt *rt);

/* vmem.c */
int vmem_create(struct vmem *vmem, const struct model *model, const struct exec_memory *memory);
void vmem_destroy(struct vmem *vmem);
int vmem_take(struct vmem *vmem, uint64_t *address, uint64_t bytes);
/* The same on a multiple of a power of two, if that is more than the alignment anyway. */
int vmem_take_aligned(struct vmem *vmem, uint64_t *address, uint64_t bytes, uint64_t least_align);
void vmem_give(struct vmem *vmem, const struct vmem_range *range);
/* The range that begins at `address`, borrowed until the next take or give; NULL if none does. */
const struct vmem_range *vmem_find(const struct vmem *vmem, uint64_t address);
/* Where the entry of a level of the page table lies that stands for `vaddr`. */
bool vmem_entry(const struct vmem *vmem, uint32_t level, uint64_t vaddr, uint64_t *paddr);
bool vmem_physical(const struct vmem *vmem, uint64_t vaddr, uint64_t *paddr);

#endif
