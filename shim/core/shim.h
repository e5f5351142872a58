/*
 * What libcuda and libcudart share: the one simulated device of the process, made when it is first
 * needed, and everything that programs hold handles to. It lies in libcuda.so.1; the libraries of
 * the runtime call it through the functions marked SHIM_SHARED, which take and give CUDA's error
 * codes (one numbering for driver and runtime, errors.def). Nothing here is part of CUDA's
 * interface.
 *
 * Threads: the tables here are guarded by the device's own lock (rt_lock()), which is given back
 * while work runs and host functions are called. A thread uses one device from the first
 * shim_device() of a call to its end, shim_call_ends(): it stays until then, though another thread
 * resets it.
 */
#ifndef SONDE_SHIM_CORE_SHIM_H
#define SONDE_SHIM_CORE_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rt/queue/queue.h"

#define SHIM_SHARED __attribute__((visibility("default")))

enum shim_error {
    SHIM_OK = 0,
    SHIM_INVALID = 1,
    SHIM_NO_MEMORY = 2,
    SHIM_NOT_INITIALISED = 3,
    SHIM_BAD_CONFIGURATION = 9,
    SHIM_BAD_SYMBOL = 13,
    SHIM_BAD_DIRECTION = 21,
    SHIM_UNAVAILABLE = 46,
    SHIM_BAD_FUNCTION = 98,
    SHIM_NO_DEVICE = 100,
    SHIM_BAD_DEVICE = 101,
    SHIM_BAD_IMAGE = 200,
    SHIM_BAD_CONTEXT = 201,
    SHIM_NO_IMAGE = 209,
    SHIM_NO_PEER = 217,
    SHIM_BAD_PTX = 218,
    SHIM_NO_FILE = 301,
    SHIM_SYSTEM = 304,
    SHIM_BAD_HANDLE = 400,
    SHIM_ILLEGAL_STATE = 401,
    SHIM_NOT_FOUND = 500,
    SHIM_NOT_READY = 600,
    SHIM_ILLEGAL_ADDRESS = 700,
    SHIM_OUT_OF_RESOURCES = 701,
    SHIM_TIMEOUT = 702,
    SHIM_PEER_ENABLED = 704,
    SHIM_PEER_NOT_ENABLED = 705,
    SHIM_CONTEXT_DESTROYED = 709,
    SHIM_ASSERT = 710,
    SHIM_REGISTERED = 712,
    SHIM_NOT_REGISTERED = 713,
    SHIM_BAD_INSTRUCTION = 715,
    SHIM_MISALIGNED = 716,
    SHIM_BAD_SPACE = 717,
    SHIM_BAD_PC = 718,
    SHIM_LAUNCH_FAILED = 719,
    SHIM_TOO_LARGE = 720,
    SHIM_NOT_PERMITTED = 800,
    SHIM_NOT_SUPPORTED = 801,
    SHIM_CAPTURE_UNSUPPORTED = 900,
    SHIM_CAPTURE_INVALID = 901,
    SHIM_CAPTURE_UNMATCHED = 903,
    SHIM_CAPTURE_UNJOINED = 904,
    SHIM_CAPTURE_IMPLICIT = 906,
    SHIM_CAPTURED_EVENT = 907,
    SHIM_UPDATE_FAILED = 910,
    SHIM_BAD_CLUSTER = 912,
    SHIM_UNKNOWN = 999,
};

/*
 * The device, made if there is none yet. Every entry point that needs it begins here: *rt is
 * locked until shim_leave(). After an error nothing is.
 */
SHIM_SHARED int shim_enter(struct rt **rt);
SHIM_SHARED void shim_leave(struct rt *rt);
/* The same without the lock, for functions of the queue, which lock by themselves. */
SHIM_SHARED int shim_device(struct rt **rt);
SHIM_SHARED const struct model *shim_model(void); /* NULL: it cannot be read */
/* Ends everything on the device; what needs it next makes a new one, but not after a fault. */
SHIM_SHARED int shim_reset(void);
/* Waits for all work; when the program ends, only for so much of it (rt_finish()). */
int shim_settle(struct rt *rt);
/* Of the device that this call uses; counts resets: what was made before one is gone. */
SHIM_SHARED unsigned shim_generation(void);
/* The CUDA code that a result of rt stands for; what it was is told on standard error where a
 * program cannot find it out. */
SHIM_SHARED int shim_code(int rc);
SHIM_SHARED int shim_launch_code(int rc); /* the same for a launch that was refused */

SHIM_SHARED const char *shim_error_name(int code, bool driver); /* NULL: there is none */
SHIM_SHARED const char *shim_error_text(int code);
/* A line on standard error, "sonde: ...". */
SHIM_SHARED void shim_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* What a program asks for and does not get, once for each. */
SHIM_SHARED void shim_leave_out(const char *what);
/* An entry point that is not there was called: says so once for each name. */
SHIM_SHARED int shim_missing(const char *name);
/* Every function of the interface ends here, with the counting of calls before it. */
SHIM_SHARED void shim_call_ends(void);
SHIM_SHARED void shim_count_call(void);

SHIM_SHARED void shim_runtime_begins(void); /* the first call of the runtime */

/*
 * Handles that programs hold. A pointer is what it is taken for only if it has been given out as
 * that.
 */
enum shim_kind {
    SHIM_NOTHING,
    SHIM_STREAM,
    SHIM_EVENT,
    SHIM_MODULE,
    SHIM_FUNCTION,
    SHIM_ARRAY,
    SHIM_MIPMAP,
    SHIM_POOL,
    SHIM_GRAPH,
    SHIM_NODE,
    SHIM_GRAPH_EXEC,
    SHIM_LINK,
    SHIM_CONTEXT,
    SHIM_PHYSICAL,
    SHIM_HOST_RANGE,
    SHIM_USER_OBJECT,
    SHIM_REFERENCE,
};
SHIM_SHARED int shim_handle_add(const void *handle, enum shim_kind kind);
SHIM_SHARED bool shim_handle_is(const void *handle, enum shim_kind kind);
SHIM_SHARED void shim_handle_remove(const void *handle);

/* Streams: 0 and 1 mean the null stream, 2 the calling thread's own. NULL: no such stream. */
SHIM_SHARED struct rt_stream *shim_stream(struct rt *rt, void *handle, bool per_thread);

/* user.c: what is to be destroyed when nobody refers to it. Owners (graphs) hold references; one
 * may inherit another's, and drops them, all (UINT_MAX of NULL) or `count` of one object. */
SHIM_SHARED int shim_user_create(void **out, void *object, void (*destroy)(void *object),
                                 unsigned count);
SHIM_SHARED int shim_user_retain(void *handle, unsigned count);
SHIM_SHARED int shim_user_release(void *handle, unsigned count);
SHIM_SHARED int shim_user_hold(const void *owner, void *handle, unsigned count, bool move);
SHIM_SHARED int shim_user_inherit(const void *owner, const void *from);
SHIM_SHARED bool shim_user_holds(const void *owner);
SHIM_SHARED void shim_user_drop(const void *owner, const void *handle, unsigned count);

/* code.c: modules and functions. A module may be loaded when one of its functions is needed. */
struct shim_module;
struct shim_function;
/* `image`: PTX, a fat binary, its wrapper; `bytes` 0: as many as it says. `name` stands in
 * messages. Its text is kept, not the image. */
SHIM_SHARED int shim_module_create(struct shim_module **out, const char *name, const void *image,
                                   size_t bytes, bool lazy);
SHIM_SHARED int shim_module_load_file(struct shim_module **out, const char *path, bool lazy);
/* Its kernels' functions, up to `room` of them, and how many there are. */
SHIM_SHARED int shim_module_kernels(struct shim_module *module, struct shim_function **out,
                                    size_t room, size_t *count);
SHIM_SHARED int shim_module_destroy(struct shim_module *module);
SHIM_SHARED int shim_module_need(struct shim_module *module); /* loads it */
SHIM_SHARED struct rt_module *shim_module_rt(struct shim_module *module);
/* The function of that name, made at the first call; whether it exists is asked when it is
 * needed. */
SHIM_SHARED int shim_function_get(struct shim_function **out, struct shim_module *module,
                                  const char *name);
SHIM_SHARED int shim_function_need(struct shim_function *function, struct rt_kernel **kernel);
SHIM_SHARED const char *shim_function_name(const struct shim_function *function);
SHIM_SHARED struct shim_module *shim_function_module(const struct shim_function *function);
SHIM_SHARED int shim_global_get(struct shim_module *module, const char *name, uint64_t *address,
                                uint64_t *bytes);
/* The function that a kernel of the device was made of; NULL: none. */
SHIM_SHARED struct shim_function *shim_function_of(const struct rt_kernel *kernel);
SHIM_SHARED int shim_file_read(char **data, size_t *bytes, const char *path);
/* link.c: texts that are to be one module. What is handed out at the end is loaded like PTX. */
struct shim_link;
/* Where a program wants to read what was wrong; what is not wanted is NULL. */
struct shim_log {
    char *text;
    size_t room;
    void **used; /* gets the bytes of the text */
};
SHIM_SHARED int shim_link_create(struct shim_link **out);
SHIM_SHARED struct shim_log *shim_link_log(struct shim_link *link); /* the driver's to use */
SHIM_SHARED int shim_link_add(struct shim_link *link, const char *name, const void *image,
                              size_t bytes);
SHIM_SHARED int shim_link_complete(struct shim_link *link, void **image, size_t *bytes);
SHIM_SHARED int shim_link_destroy(struct shim_link *link);
struct shim_text {
    char *text;
    size_t length;
};
/* The texts behind such an image; 0: it is none. */
size_t link_texts(const struct shim_text **texts, const char *image);
/* PTX of an image, for linkers. free() it. */
SHIM_SHARED int shim_image_text(char **text, size_t *length, const void *image, size_t bytes);

/* What programs may set on a function. */
enum shim_setting {
    SHIM_SET_DYNAMIC_SHARED,
    SHIM_SET_CARVEOUT,
    SHIM_SET_CLUSTER_REQUIRED,
    SHIM_SET_CLUSTER_WIDTH,
    SHIM_SET_CLUSTER_HEIGHT,
    SHIM_SET_CLUSTER_DEPTH,
    SHIM_SET_CLUSTER_NON_PORTABLE,
    SHIM_SET_CLUSTER_POLICY,
    SHIM_SET_CACHE,
    SHIM_SET_COUNT
};
SHIM_SHARED int shim_function_set(struct shim_function *function, enum shim_setting what,
                                  int value);
SHIM_SHARED int shim_function_setting(const struct shim_function *function, enum shim_setting what);
struct shim_function_info {
    uint32_t registers, shared_bytes, const_bytes, local_bytes, max_threads;
    uint32_t ptx_version, target, params;
};
SHIM_SHARED int shim_function_info(struct shim_function *function, struct shim_function_info *info);
SHIM_SHARED int shim_function_param(struct shim_function *function, size_t i, size_t *offset,
                                    size_t *bytes);

/* occupancy.c */
SHIM_SHARED int shim_occupancy(int *blocks, struct shim_function *function, unsigned threads,
                               uint64_t shared);
SHIM_SHARED int shim_available_shared(size_t *bytes, struct shim_function *function, int blocks,
                                      int threads);
SHIM_SHARED int shim_occupancy_best(int *grid, int *threads, struct shim_function *function,
                                    size_t (*shared)(int threads), uint64_t constant, int limit);

/* launch.c */
struct shim_launch {
    struct shim_function *function;
    uint32_t grid[3], block[3], cluster[3];
    uint64_t dynamic_shared_bytes;
    void *const *args;  /* one pointer a parameter, or */
    const void *packed; /* all parameters as the kernel has them */
    size_t packed_bytes;
    bool cooperative;
    /* Recorded behind the launch: programs may rely on its blocks having begun, or said so. */
    void *event[2];
};
/* Fills what the queue wants of it, borrowed; `pointers` holds 1024. */
SHIM_SHARED int shim_launch_fill(struct rt *rt, struct rt_launch *out, struct rt_kernel **kernel,
                                 const void **pointers, const struct shim_launch *launch);
SHIM_SHARED int shim_launch(struct rt_stream *stream, const struct shim_launch *launch);
/* What the attributes of a launch's configuration ask for; others are passed over. */
struct abi_attribute;
SHIM_SHARED void shim_launch_attributes(struct shim_launch *launch,
                                        const struct abi_attribute *attributes, unsigned count);
#define SHIM_PARAMS_MAX 1024
/* The launch's clusters, or else the function's settings. */
void launch_clusters(struct rt_launch *out, const struct shim_launch *launch);
/* occupancy.c: how many clusters are resident at once, of how many blocks each; and of how many
 * blocks one may be. */
SHIM_SHARED int shim_active_clusters(int *clusters, int *size, const struct shim_launch *launch);
SHIM_SHARED int shim_largest_cluster(int *blocks, const struct shim_launch *launch);

/* memory.c: what an address is. */
enum shim_memory {
    SHIM_MEMORY_OTHER, /* of the host, not known here */
    SHIM_MEMORY_DEVICE,
    SHIM_MEMORY_PINNED,
    SHIM_MEMORY_MANAGED,
    SHIM_MEMORY_REGISTERED,
};
struct shim_range {
    uint64_t address, bytes;
    enum shim_memory kind;
    unsigned flags;
    uint64_t host; /* of registered memory: where the program has it */
};
SHIM_SHARED int shim_memory_take(uint64_t *address, uint64_t bytes, enum shim_memory kind,
                                 unsigned flags);
SHIM_SHARED int shim_memory_give(uint64_t address, bool host);
SHIM_SHARED int shim_memory_give_later(uint64_t address, struct rt_stream *stream);
SHIM_SHARED void shim_memory_note(uint64_t address, uint64_t bytes, enum shim_memory kind);
/* False: of the host. */
SHIM_SHARED bool shim_memory_find(struct shim_range *out, uint64_t address);
SHIM_SHARED int shim_memory_info(uint64_t *free_bytes, uint64_t *total_bytes);
SHIM_SHARED int shim_memory_register(void *host, uint64_t bytes, unsigned flags);
SHIM_SHARED int shim_memory_unregister(void *host);
SHIM_SHARED int shim_memory_device_pointer(uint64_t *out, const void *host);
SHIM_SHARED uint64_t shim_pitch(uint64_t width_bytes);
/* The bytes of rows that far apart; UINT64_MAX: more than 64 bits count, which is a bad value. */
SHIM_SHARED uint64_t shim_pitched(size_t *pitch, uint64_t width_bytes, uint64_t height,
                                  uint64_t depth);
SHIM_SHARED int shim_memory_forget(uint64_t address);

/* hints.c: what programs say of managed memory, by the numbers that they say it with. `place` is a
 * device or, -1, the host. */
enum shim_hint {
    SHIM_HINT_READ_MOSTLY = 1,
    SHIM_HINT_NOT_READ_MOSTLY,
    SHIM_HINT_PREFERRED,
    SHIM_HINT_NOT_PREFERRED,
    SHIM_HINT_ACCESSED,
    SHIM_HINT_NOT_ACCESSED,
    SHIM_HINT_PREFETCHED, /* cudaMemPrefetchAsync() */
};
SHIM_SHARED int shim_hint(uint64_t address, uint64_t bytes, enum shim_hint what, int place);
SHIM_SHARED int shim_hint_place(int *place, int type, int id); /* of a cudaMemLocation */
/* cudaMemRangeGetAttributes() */
SHIM_SHARED int shim_hints_of(void **data, const size_t *sizes, const int *attributes, size_t count,
                              uint64_t address, uint64_t bytes);

/* copy.c: one end by its address, whatever kind it is. */
SHIM_SHARED void shim_end(struct rt *rt, struct rt_end *end, const void *address);
SHIM_SHARED int shim_copy(struct rt_stream *stream, struct rt_copy *copy);
SHIM_SHARED int shim_copy_linear(struct rt_stream *stream, void *dst, const void *src,
                                 uint64_t bytes, bool waits);
SHIM_SHARED int shim_memset(struct rt_stream *stream, const struct rt_memset *set, bool waits);

/* limits.c: by cudaLimit's numbers. */
SHIM_SHARED int shim_limit_set(int number, size_t value);
SHIM_SHARED int shim_limit_get(size_t *value, int number);

/* device.c: properties. */
SHIM_SHARED int shim_attribute(int *value, int attribute); /* CU_DEVICE_ATTRIBUTE_... */
SHIM_SHARED uint64_t shim_total_memory(void);
SHIM_SHARED void shim_uuid(unsigned char uuid[16]);
#define SHIM_DRIVER_VERSION 13000

/* The device goes: handle.c, code.c, memory.c, hints.c */
bool device_is_there(void); /* without making one */
bool device_is_gone(void);  /* that of the call which this thread is in */
void handles_clear(void);
void code_forget_all(void);
void memory_forget_all(void);
void hints_forget(uint64_t begin, uint64_t bytes);
void hints_forget_all(void);

/* checking.c: nothing where `sonde run` was not asked to check. */
int checking_begin(struct rt *rt);
void checking_reset(struct rt *rt);
bool checking_end(struct rt *rt, bool with_leaks); /* whether nothing was found, and that told */
/* profiling.c: the profile of the process's device */
int profiling_begin(struct rt *rt, const struct model *model);
void profiling_launched(const struct rt_done *launch, struct rt *rt);
void profiling_reset(void);                      /* the device goes */
bool profiling_end(void);                        /* whether all was written */
SHIM_SHARED void shim_check_site(struct rt *rt); /* of what is allocated or freed until .._ends() */
SHIM_SHARED void shim_check_site_ends(struct rt *rt);
void shim_check_refused(struct rt *rt, uint64_t address); /* a free */
SHIM_SHARED void shim_check_copy_refused(struct rt *rt, uint64_t address, uint64_t bytes);
void shim_check_written(struct rt *rt, uint64_t address, uint64_t bytes);

/* errors.c: how far a kernel is, for a person at a terminal; NULL: there is none */
struct progress;
const struct progress *shim_progress(void);
void shim_progress_ends(void); /* before anything else is printed, and when the kernel has ended */

/* report.c */
uint64_t report_calls(void); /* that have ended */
void report_start(struct rt *rt);
void report_done(void *ctx, const struct rt_done *launch);
void report_end(void);
bool report_wants_timing(const char *kernel);
void report_fault(const char *text);
/* A launch found no code that can be run, which has been told: `sonde run` ends with 1. */
void report_not_run(void);
void report_copy(uint64_t bytes, int way);
/* What was asked for as FORMAT[:FILE], on standard error or in the file; frees the text. Says so
 * and returns false where it cannot be written. */
bool report_write(const char *spec, char *text);

#endif
