/*
 * Launches by kernels (CUDA dynamic parallelism, second version), and the rest of the device's
 * runtime. What a kernel's threads put into streams are operations like the host's. They follow
 * each other in streams of the kernel's own; a launch is over when its grid is and all that it has
 * put in is, tail launches last.
 *
 *     grid of the parent  |=========|
 *     children, streams       |=====|=======|
 *     tail launches                         |===|====|
 *     the parent is over                             ^  what waits for it begins
 *
 * The NULL stream is each block's own, as the guide says of what may be relied on. Left out: a
 * limit on launches that wait; a kernel that is launched without the queue (rt_launch) launches
 * nothing. Source: CUDA C++ Programming Guide, "CUDA Dynamic Parallelism".
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "rt/queue/state.h"
#include "util/error.h"

/* cudaError_t, as the runtime's headers number them. */
enum {
    CODE_OK = 0,
    CODE_VALUE = 1,
    CODE_MEMORY = 2,
    CODE_CONFIGURATION = 9,
    CODE_FUNCTION = 98,
    CODE_DEVICE = 101,
    CODE_LIMIT = 215,
    CODE_HANDLE = 400,
    CODE_NOT_SUPPORTED = 801
};
/* cudaStream_t */
enum {
    STREAM_NULL,
    STREAM_LEGACY,
    STREAM_PER_THREAD,
    STREAM_TAIL,
    STREAM_FORGET,
    STREAM_FIRST = 16
};

struct device_stream {
    uint64_t handle;
    uint32_t cta;       /* of a handle that each block has one of */
    struct rt_op *tail; /* NULL: nothing is left */
};

struct device_event {
    uint64_t handle;
    struct rt_op *op; /* the last record, while it is not done */
};

struct device_buffer {
    uint64_t address;
    struct rt_kernel *kernel;
    struct rt_launch launch;
};

struct device_work {
    VEC(struct device_stream) streams;
    VEC(struct device_event) events;
    VEC(struct device_buffer) buffers;
    VEC(struct rt_op *) tails; /* that have not been submitted */
    size_t tails_begun;
    uint64_t next_handle;
    uint32_t children; /* that are not over */
    bool grid_is_over;
    uint64_t end_ps; /* of the grid, or of the last child */
};

static void work_free(struct device_work *work)
{
    for (size_t i = work->tails_begun; i < work->tails.count; i++) {
        op_destroy(work->tails.data[i]);
    }
    vec_free(&work->streams);
    vec_free(&work->events);
    vec_free(&work->buffers);
    vec_free(&work->tails);
    free(work);
}

/* ---- ends ---- */

bool device_holds(struct rt_op *op, uint64_t end_ps)
{
    struct device_work *work = op->kind == OP_LAUNCH ? op->launch.device : NULL;
    if (!work) {
        return false;
    }
    work->grid_is_over = true;
    work->end_ps = end_ps > work->end_ps ? end_ps : work->end_ps;
    if (work->children == 0 && work->tails_begun < work->tails.count) {
        struct rt_op *tail = work->tails.data[work->tails_begun++];
        tail->begin_ps = work->end_ps;
        work->children++;
        op_submit(tail);
    }
    return work->children > 0;
}

void device_forget(const struct rt_op *op)
{
    struct device_work *work = op->parent->launch.device;
    for (size_t i = 0; i < work->streams.count; i++) {
        if (work->streams.data[i].tail == op) {
            work->streams.data[i].tail = NULL;
        }
    }
    for (size_t i = 0; i < work->events.count; i++) {
        if (work->events.data[i].op == op) {
            work->events.data[i].op = NULL;
        }
    }
}

bool device_child_over(struct rt_op *parent, uint64_t *end_ps)
{
    struct device_work *work = parent->launch.device;
    work->children--;
    work->end_ps = *end_ps > work->end_ps ? *end_ps : work->end_ps;
    *end_ps = work->end_ps;
    return work->grid_is_over && work->children == 0;
}

/* ---- what threads put in ---- */

/* The operation of a launch that runs. */
static struct rt_op *op_of(const struct exec_launch *run)
{
    return (struct rt_op *)((uintptr_t)run - offsetof(struct rt_op, launch.run));
}

static uint64_t now_ps(const struct rt_op *parent)
{
    return parent->launch.grid ? gpu_now_ps(parent->stream->rt->gpu) : parent->begin_ps;
}

static bool of_each_block(uint64_t handle)
{
    return handle <= STREAM_PER_THREAD;
}

/* NULL: no such stream. Those that each block has are made when they are used. */
static struct device_stream *find_stream(struct device_work *work, uint64_t handle, uint32_t cta)
{
    handle = handle == STREAM_LEGACY ? STREAM_NULL : handle;
    for (size_t i = 0; i < work->streams.count; i++) {
        struct device_stream *stream = &work->streams.data[i];
        if (stream->handle == handle && (!of_each_block(handle) || stream->cta == cta)) {
            return stream;
        }
    }
    struct device_stream made = {.handle = handle, .cta = cta};
    if (!of_each_block(handle) || vec_push(&work->streams, made) < 0) {
        return NULL;
    }
    return &work->streams.data[work->streams.count - 1];
}

static struct device_event *find_event(struct device_work *work, uint64_t handle)
{
    for (size_t i = 0; i < work->events.count; i++) {
        if (work->events.data[i].handle == handle) {
            return &work->events.data[i];
        }
    }
    return NULL;
}

/* Takes `op` over. */
static uint32_t put(struct rt_op *parent, struct rt_op *op, const struct exec_device_call *call,
                    uint64_t handle)
{
    struct device_work *work = parent->launch.device;
    const struct model *model = parent->stream->rt->model;
    op->parent = parent;
    op->last = false;
    op->begin_ps = now_ps(parent);
    if (op->kind == OP_LAUNCH && !op->launch.launch.functional) {
        op->begin_ps += model->device_launch_cycles * model->core_period_ps;
    }
    if (handle == STREAM_TAIL) {
        if (vec_push(&work->tails, op) == 0) {
            return CODE_OK;
        }
        op_destroy(op);
        return CODE_MEMORY;
    }
    struct device_stream *stream =
        handle == STREAM_FORGET ? NULL : find_stream(work, handle, call->cta);
    if (handle != STREAM_FORGET && !stream) {
        op_destroy(op);
        return CODE_HANDLE;
    }
    if (stream && op_wait_for(op, stream->tail) < 0) {
        op_destroy(op);
        return CODE_MEMORY;
    }
    if (stream) {
        stream->tail = op;
    }
    work->children++;
    op_submit(op);
    gpu_return_soon(parent->stream->rt->gpu);
    return CODE_OK;
}

static uint32_t put_params(struct rt_op *parent, const struct rt_node_params *params,
                           const uint8_t *packed, const struct exec_device_call *call,
                           uint64_t handle)
{
    struct rt_op *op;
    if (op_load(&op, parent->stream, params, packed) < 0) {
        return CODE_MEMORY;
    }
    return put(parent, op, call, handle);
}

/* ---- launches ---- */

static uint32_t config_code(int rc)
{
    const char *text = error_text();
    if (rc == SONDE_EINPUT && strstr(text, "shared memory")) {
        return CODE_VALUE;
    }
    return rc == SONDE_EUNSUPPORTED ? CODE_NOT_SUPPORTED : CODE_CONFIGURATION;
}

/* A buffer for the arguments, which the thread fills. */
static uint32_t prepare(struct rt_op *parent, struct exec_device_call *call)
{
    struct rt *rt = parent->stream->rt;
    struct device_buffer buffer = {.kernel = kernel_at(parent->launch.kernel->module, call->arg[0]),
                                   .launch = {.dynamic_shared_bytes = (uint32_t)call->arg[3],
                                              .functional = parent->launch.launch.functional,
                                              .max_cycles = parent->launch.launch.max_cycles}};
    memcpy(buffer.launch.grid, call->grid, sizeof call->grid);
    memcpy(buffer.launch.block, call->block, sizeof call->block);
    if (!buffer.kernel) {
        return CODE_FUNCTION;
    }
    int rc = launch_check(rt, buffer.kernel, &buffer.launch);
    if (rc == 0) {
        rc = launch_shared_check(rt, buffer.kernel, &buffer.launch);
    }
    if (rc < 0) {
        return config_code(rc);
    }
    if (memory_take(rt, &buffer.address, buffer.kernel->func->param_bytes + 1u, 1) < 0 ||
        vec_push(&parent->launch.device->buffers, buffer) < 0) {
        return CODE_MEMORY;
    }
    call->value = buffer.address;
    return CODE_OK;
}

static uint32_t launch(struct rt_op *parent, const struct exec_device_call *call, uint64_t stream)
{
    struct device_work *work = parent->launch.device;
    size_t i = 0;
    while (i < work->buffers.count && work->buffers.data[i].address != call->arg[0]) {
        i++;
    }
    if (i == work->buffers.count) {
        return CODE_VALUE;
    }
    struct device_buffer buffer = work->buffers.data[i];
    work->buffers.data[i] = work->buffers.data[--work->buffers.count];
    struct rt_node_params params = {
        .kind = RT_NODE_LAUNCH, .kernel = buffer.kernel, .launch = buffer.launch};
    uint32_t code =
        put_params(parent, &params, (const uint8_t *)(uintptr_t)buffer.address, call, stream);
    return queue_give_later(parent->stream->rt, buffer.address) < 0 ? CODE_MEMORY : code;
}

/* ---- copies and memsets ---- */

static uint32_t copy(struct rt_op *parent, const struct exec_device_call *call, bool rows)
{
    const uint64_t *arg = call->arg;
    struct rt_node_params params = {
        .kind = RT_NODE_COPY,
        .copy = {.dst = {.kind = RT_END_DEVICE, .device = arg[0]},
                 .src = {.kind = RT_END_DEVICE, .device = rows ? arg[2] : arg[1]},
                 .width_bytes = rows ? arg[4] : arg[2],
                 .height = rows ? arg[5] : 1,
                 .depth = 1}};
    if (rows) {
        params.copy.dst.row_bytes = arg[1];
        params.copy.src.row_bytes = arg[3];
    }
    if (params_check(parent->stream->rt, &params) < 0) {
        return CODE_VALUE;
    }
    return put_params(parent, &params, NULL, call, arg[rows ? 7 : 4]);
}

static uint32_t set(struct rt_op *parent, const struct exec_device_call *call, bool rows)
{
    const uint64_t *arg = call->arg;
    struct rt_node_params params = {.kind = RT_NODE_MEMSET,
                                    .memset = {.address = arg[0],
                                               .row_bytes = rows ? arg[1] : 0,
                                               .value = (uint8_t)arg[rows ? 2 : 1],
                                               .element_bytes = 1,
                                               .width = arg[rows ? 3 : 2],
                                               .height = rows ? arg[4] : 1}};
    if (params_check(parent->stream->rt, &params) < 0) {
        return CODE_VALUE;
    }
    return put_params(parent, &params, NULL, call, arg[rows ? 5 : 3]);
}

/* ---- streams and events ---- */

static uint32_t create(struct rt_op *parent, struct exec_device_call *call, bool is_event)
{
    struct device_work *work = parent->launch.device;
    call->value = STREAM_FIRST + work->next_handle++;
    int rc = is_event ? vec_push(&work->events, ((struct device_event){.handle = call->value}))
                      : vec_push(&work->streams, ((struct device_stream){.handle = call->value}));
    return rc < 0 ? CODE_MEMORY : CODE_OK;
}

/* Work in it goes on. */
static uint32_t destroy_stream(struct device_work *work, uint64_t handle)
{
    struct device_stream *stream = of_each_block(handle) ? NULL : find_stream(work, handle, 0);
    if (!stream) {
        return CODE_HANDLE;
    }
    *stream = work->streams.data[--work->streams.count];
    return CODE_OK;
}

static uint32_t destroy_event(struct device_work *work, uint64_t handle)
{
    struct device_event *event = find_event(work, handle);
    if (!event) {
        return CODE_HANDLE;
    }
    *event = work->events.data[--work->events.count];
    return CODE_OK;
}

/* An operation that does nothing: what is recorded, or what waits for a record. */
static uint32_t mark(struct rt_op *parent, const struct exec_device_call *call, uint64_t stream,
                     uint64_t event, bool waits)
{
    struct device_work *work = parent->launch.device;
    struct device_event *found = find_event(work, event);
    struct rt_op *op = found ? op_create(parent->stream, OP_EMPTY) : NULL;
    if (!op) {
        return found ? CODE_MEMORY : CODE_HANDLE;
    }
    if (waits && op_wait_for(op, found->op) < 0) {
        op_destroy(op);
        return CODE_MEMORY;
    }
    uint32_t code = put(parent, op, call, stream);
    if (code == CODE_OK && !waits) {
        find_event(work, event)->op = op;
    }
    return code;
}

/* ---- */

static uint32_t error_words(struct rt *rt, struct exec_device_call *call)
{
    static const struct {
        uint32_t code;
        char text[48], name[48];
    } words[] = {
        {CODE_OK, "no error", "cudaSuccess"},
        {CODE_VALUE, "invalid argument", "cudaErrorInvalidValue"},
        {CODE_MEMORY, "out of memory", "cudaErrorMemoryAllocation"},
        {CODE_CONFIGURATION, "invalid configuration argument", "cudaErrorInvalidConfiguration"},
        {CODE_FUNCTION, "invalid device function", "cudaErrorInvalidDeviceFunction"},
        {CODE_LIMIT, "limit is not supported on this architecture", "cudaErrorUnsupportedLimit"},
        {CODE_HANDLE, "invalid resource handle", "cudaErrorInvalidResourceHandle"},
        {CODE_NOT_SUPPORTED, "operation not supported", "cudaErrorNotSupported"},
        {UINT32_MAX, "unrecognized error code", "unrecognized error code"}};
    size_t i = 0;
    while (words[i].code != call->arg[0] && words[i].code != UINT32_MAX) {
        i++;
    }
    const char *text = call->kind == EXEC_DEVICE_ERROR_NAME ? words[i].name : words[i].text;
    if (memory_take(rt, &call->value, sizeof words[i].text, 1) < 0) {
        return CODE_MEMORY;
    }
    memcpy((void *)(uintptr_t)call->value, text, sizeof words[i].text);
    checking_written(rt, call->value, sizeof words[i].text);
    return CODE_OK;
}

/* ---- what the device is ---- */

#define STACK_BYTES 1024 /* of a thread, as for the host */
#define VERSION 6000     /* as an H200 answers, with driver 580 */

static uint32_t attribute(const struct rt *rt, struct exec_device_call *call)
{
    int value = 0;
    if (!rt->attribute || call->arg[2] != 0) {
        return rt->attribute ? CODE_DEVICE : CODE_NOT_SUPPORTED;
    }
    uint32_t code = (uint32_t)rt->attribute(&value, (int)call->arg[1]);
    call->value = (uint32_t)value;
    return code;
}

static uint32_t limit(const struct rt *rt, struct exec_device_call *call)
{
    switch (call->arg[1]) { /* cudaLimit */
    case 0:
        call->value = STACK_BYTES;
        return CODE_OK;
    case 1:
        call->value = rt->limits[RT_LIMIT_PRINTF_FIFO];
        return CODE_OK;
    case 2:
        call->value = rt->limits[RT_LIMIT_MALLOC_HEAP];
        return CODE_OK;
    default:
        return CODE_LIMIT;
    }
}

static uint32_t occupancy(const struct rt_op *parent, struct exec_device_call *call)
{
    const uint64_t *arg = call->arg;
    struct rt *rt = parent->stream->rt;
    uint32_t blocks = 0;
    const struct rt_kernel *kernel = kernel_at(parent->launch.kernel->module, arg[1]);
    if (!kernel || rt_occupancy(rt, &blocks, kernel, (uint32_t)arg[2], arg[3]) < 0) {
        return kernel ? CODE_VALUE : CODE_FUNCTION;
    }
    call->value = blocks;
    return CODE_OK;
}

/* The head of cudaFuncAttributes. */
static uint32_t function_attributes(const struct rt_op *parent, struct exec_device_call *call)
{
    struct {
        uint64_t shared_bytes, const_bytes, local_bytes;
        int32_t max_threads, registers, ptx_version, binary_version, caches, dynamic_shared_bytes;
    } out = {.caches = 0};
    static_assert(sizeof out == sizeof call->bytes, "all is stored");
    const struct rt *rt = parent->stream->rt;
    const struct rt_kernel *kernel = kernel_at(parent->launch.kernel->module, call->arg[1]);
    uint32_t registers, shared, local;
    if (!kernel) {
        return CODE_FUNCTION;
    }
    rt_kernel_info(kernel, &registers, &shared, &local);
    out.shared_bytes = shared;
    out.local_bytes = local;
    out.registers = (int32_t)registers;
    out.max_threads = RT_BLOCK_THREADS_MAX;
    out.ptx_version = kernel->module->ptx->target_sm;
    out.binary_version =
        (int32_t)(10 * rt->model->driver.compute_major + rt->model->driver.compute_minor);
    out.dynamic_shared_bytes = 48 * 1024 - (int32_t)shared;
    memcpy(call->bytes, &out, sizeof out);
    return CODE_OK;
}

static uint32_t allocate(const struct rt *rt, struct exec_device_call *call)
{
    call->value = rt->services.heap_take(rt->services.ctx, call->arg[1], 16);
    return call->value ? CODE_OK : CODE_MEMORY;
}

static uint32_t set_condition(struct queue *queue, uint64_t handle, uint32_t value)
{
    if (handle == 0 || handle > queue->conditions.count) {
        return CODE_VALUE;
    }
    queue->conditions.data[handle - 1].value = value;
    return CODE_OK;
}

/* What needs no work of the kernel's own. */
static uint32_t query(struct rt *rt, const struct rt_op *parent, struct exec_device_call *call)
{
    const uint64_t *arg = call->arg;
    call->value = 0;
    switch (call->kind) {
    case EXEC_DEVICE_GET_DEVICE:
    case EXEC_DEVICE_CACHE_CONFIG:
        return CODE_OK;             /* device 0, no preference */
    case EXEC_DEVICE_SHARED_CONFIG: /* banks of four bytes */
    case EXEC_DEVICE_DEVICE_COUNT:
        call->value = 1;
        return CODE_OK;
    case EXEC_DEVICE_VERSION:
        call->value = VERSION;
        return CODE_OK;
    case EXEC_DEVICE_ATTRIBUTE:
        return attribute(rt, call);
    case EXEC_DEVICE_LIMIT:
        return limit(rt, call);
    case EXEC_DEVICE_SET_CONDITION:
        return set_condition(rt->queue, arg[0], (uint32_t)arg[1]);
    case EXEC_DEVICE_OCCUPANCY:
    case EXEC_DEVICE_OCCUPANCY_FLAGS:
        return occupancy(parent, call);
    case EXEC_DEVICE_FUNCTION_ATTRIBUTES:
        return function_attributes(parent, call);
    case EXEC_DEVICE_ERROR_TEXT:
    case EXEC_DEVICE_ERROR_NAME:
        return error_words(rt, call);
    case EXEC_DEVICE_MALLOC:
        return allocate(rt, call);
    case EXEC_DEVICE_FREE:
        return !arg[0] || rt->services.heap_give(rt->services.ctx, arg[0]) ? CODE_OK : CODE_VALUE;
    default:
        return CODE_NOT_SUPPORTED;
    }
}

/* Of exec_services; ctx is the rt. */
static uint32_t device_call(void *ctx, struct exec_device_call *call)
{
    struct rt *rt = ctx;
    struct rt_op *parent = op_of(call->launch);
    struct device_work **work = &parent->launch.device;
    const uint64_t *arg = call->arg;
    if (!*work && !(*work = calloc(1, sizeof **work))) {
        return CODE_MEMORY;
    }
    parent->launch.device_free = work_free;
    switch (call->kind) {
    case EXEC_DEVICE_PREPARE:
        return prepare(parent, call);
    case EXEC_DEVICE_LAUNCH:
        return launch(parent, call, arg[1]);
    case EXEC_DEVICE_LAUNCH_PER_THREAD:
        return launch(parent, call, arg[1] == STREAM_NULL ? STREAM_PER_THREAD : arg[1]);
    case EXEC_DEVICE_COPY:
    case EXEC_DEVICE_COPY_PER_THREAD:
        return copy(parent, call, false);
    case EXEC_DEVICE_COPY_2D:
    case EXEC_DEVICE_COPY_2D_PER_THREAD:
        return copy(parent, call, true);
    case EXEC_DEVICE_SET:
    case EXEC_DEVICE_SET_PER_THREAD:
        return set(parent, call, false);
    case EXEC_DEVICE_SET_2D:
    case EXEC_DEVICE_SET_2D_PER_THREAD:
        return set(parent, call, true);
    case EXEC_DEVICE_STREAM_CREATE:
        return create(parent, call, false);
    case EXEC_DEVICE_STREAM_DESTROY:
        return destroy_stream(*work, arg[0]);
    case EXEC_DEVICE_STREAM_WAIT:
    case EXEC_DEVICE_STREAM_WAIT_PER_THREAD:
        return mark(parent, call, arg[0], arg[1], true);
    case EXEC_DEVICE_EVENT_CREATE:
        return create(parent, call, true);
    case EXEC_DEVICE_EVENT_RECORD:
    case EXEC_DEVICE_EVENT_RECORD_PER_THREAD:
    case EXEC_DEVICE_EVENT_RECORD_FLAGS:
        return mark(parent, call, arg[1], arg[0], false);
    case EXEC_DEVICE_EVENT_DESTROY:
        return destroy_event(*work, arg[0]);
    default:
        return query(rt, parent, call);
    }
}

void rt_provide_attributes(struct rt *rt, int (*provided)(int *value, int number))
{
    rt->attribute = provided;
}

void device_provide(struct rt *rt)
{
    rt->queued_services = rt->services;
    rt->queued_services.device_call = device_call;
}
