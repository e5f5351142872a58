/*
 * A device for tests of the live source: it does in C what each kernel says it does, over memory of
 * the host, and checks what it is given: argument sizes, shared memory, that every access lies
 * inside an allocation. Latencies are made up from the address, so that a test can tell which load
 * a record belongs to.
 */
#ifndef TESTS_SUPPORT_FAKE_DEVICE_H
#define TESTS_SUPPORT_FAKE_DEVICE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "util/error.h"

enum { FAKE_ALLOCATIONS = 16, FAKE_CALLS = 64 };

struct device_module {
    char name[48];
    char load[24]; /* the opcode of the timed load */
};

struct device_kernel {
    char name[32];
    struct device_module *module;
};

struct fake_call {
    char kernel[32], load[24];
    uint32_t blocks, threads, shared;
    uint64_t args[DEVICE_MAX_ARGS];
    uint32_t arg_count;
};

struct fake {
    struct device device;
    struct {
        uint64_t address, bytes;
    } allocations[FAKE_ALLOCATIONS];
    struct fake_call calls[FAKE_CALLS];
    size_t call_count, modules, kernels, copies_to;
    uint64_t carveout, texture, texture_bytes;
    uint32_t bank_bytes, constants[16384];
    size_t textures, mapped;
    /* What a test breaks. */
    uint64_t memory_limit; /* of an allocation; 0: none */
    uint64_t memory_total; /* of all together; 0: no limit */
    bool refuse_launch, refuse_carveout, refuse_paths, refuse_texture_end, lie;
    uint32_t clock; /* where the cycle counter stands */
};

static struct fake *fake_of(struct device *device)
{
    return (struct fake *)device;
}

/* Host memory behind a range of the device's, which must lie in one allocation. */
static void *fake_memory(struct fake *fake, uint64_t address, uint64_t bytes)
{
    for (size_t i = 0; i < FAKE_ALLOCATIONS; i++) {
        uint64_t start = fake->allocations[i].address;
        if (fake->allocations[i].bytes && address >= start &&
            address + bytes <= start + fake->allocations[i].bytes) {
            return (void *)(uintptr_t)address;
        }
    }
    fail_msg("access to %llu bytes outside of every allocation", (unsigned long long)bytes);
    return NULL;
}

static uint64_t fake_memory_used(const struct fake *fake)
{
    uint64_t used = 0;
    for (size_t i = 0; i < FAKE_ALLOCATIONS; i++) {
        used += fake->allocations[i].bytes;
    }
    return used;
}

static int fake_mem_alloc(struct device *device, uint64_t *address, uint64_t bytes)
{
    struct fake *fake = fake_of(device);
    bool is_full = fake->memory_total && fake_memory_used(fake) + bytes > fake->memory_total;
    if (is_full || (fake->memory_limit && bytes > fake->memory_limit)) {
        return error_set(SONDE_ENOMEM, "the fake has no more");
    }
    for (size_t i = 0; i < FAKE_ALLOCATIONS; i++) {
        if (fake->allocations[i].bytes == 0) {
            /* Not cleared: a read of what was never written should differ from 0. */
            *address = (uint64_t)(uintptr_t)aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
            fake->allocations[i].address = *address;
            fake->allocations[i].bytes = bytes;
            return 0;
        }
    }
    fail_msg("too many allocations");
    return -1;
}

static int fake_mem_free(struct device *device, uint64_t address)
{
    struct fake *fake = fake_of(device);
    for (size_t i = 0; i < FAKE_ALLOCATIONS; i++) {
        if (fake->allocations[i].bytes && fake->allocations[i].address == address) {
            free((void *)(uintptr_t)address);
            fake->allocations[i].bytes = 0;
            return 0;
        }
    }
    fail_msg("free of what was not allocated");
    return -1;
}

static int fake_copy_to(struct device *device, uint64_t dst, const void *src, uint64_t bytes)
{
    fake_of(device)->copies_to++;
    struct fake *fake = fake_of(device);
    bool is_constant = dst == (uint64_t)(uintptr_t)fake->constants;
    memcpy(is_constant ? (void *)fake->constants : fake_memory(fake, dst, bytes), src, bytes);
    return 0;
}

static int fake_copy_from(struct device *device, void *dst, uint64_t src, uint64_t bytes)
{
    memcpy(dst, fake_memory(fake_of(device), src, bytes), bytes);
    return 0;
}

static int fake_module_load(struct device *device, struct device_module **out, const char *name,
                            const char *ptx, size_t length)
{
    static const struct {
        const char *begin;
        int length;
    } loads[] = {{"tex.1d.v4.u32.s32", 17},
                 {"ld.const.u32", 12},
                 {"ld.local.ca", 11},
                 {"ld.global.", 12},
                 {"ld.shared.b", 13}};
    const char *load = NULL, *timed = strstr(ptx, "\nRECORD:");
    int length_of_load = 4;
    for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]) && !load; i++) {
        load = strstr(timed ? timed : ptx, loads[i].begin);
        length_of_load = load ? loads[i].length : 4;
    }
    *out = calloc(1, sizeof(**out));
    snprintf((*out)->name, sizeof((*out)->name), "%s", name);
    snprintf((*out)->load, sizeof((*out)->load), "%.*s", length_of_load, load ? load : "none");
    assert_int_equal(strlen(ptx), length);
    fake_of(device)->modules++;
    return 0;
}

/* Kernels belong to their module in the contract; the fake has few and frees them at close. */
static struct device_kernel *fake_kernels[32];
static size_t fake_kernel_count;

static void fake_module_unload(struct device *device, struct device_module *module)
{
    fake_of(device)->modules--;
    free(module);
}

static int fake_kernel_get(struct device *device, struct device_kernel **out,
                           struct device_module *module, const char *name)
{
    *out = calloc(1, sizeof(**out));
    snprintf((*out)->name, sizeof((*out)->name), "%s", name);
    (*out)->module = module;
    fake_of(device)->kernels++;
    assert_true(fake_kernel_count < 32);
    fake_kernels[fake_kernel_count++] = *out;
    return 0;
}

static int fake_set_carveout(struct device *device, struct device_kernel *kernel, uint64_t bytes)
{
    (void)kernel;
    if (fake_of(device)->refuse_carveout) {
        return error_set(SONDE_EUNSUPPORTED, "the fake has no carve-out");
    }
    fake_of(device)->carveout = bytes;
    return 0;
}

static uint32_t fake_latency(uint32_t offset)
{
    return 100 + offset % 97;
}

static uint32_t fake_load(struct fake *fake, uint64_t address)
{
    uint32_t value;
    memcpy(&value, fake_memory(fake, address, 4), 4);
    return value;
}

/* One step of a walk, along the path of the call's variant. */
static uint32_t fake_step(struct fake *fake, const struct fake_call *call, const uint32_t *local,
                          uint32_t offset)
{
    uint64_t at = call->args[0] + offset * call->args[8];
    if (strcmp(call->load, "ld.const.u32") == 0) {
        assert_true(at + 4 <= sizeof(fake->constants));
        return fake->constants[at / 4];
    }
    if (strcmp(call->load, "ld.local.ca") == 0) {
        assert_true(at + 4 <= 16384);
        return local[at / 4];
    }
    if (strcmp(call->load, "tex.1d.v4.u32.s32") == 0) {
        uint64_t texel = call->args[0] + offset / 4;
        assert_int_equal(call->args[9], 7000 + fake->textures);
        assert_true(texel * 4 + 4 <= fake->texture_bytes);
        return fake_load(fake, fake->texture + texel * 4);
    }
    return fake_load(fake, at);
}

/* args: elements, out, touch_bytes, touch_stride, start, warm, preroll, window, scale; then the
 * texture's handle, or (local) the ring and its length; then what is read beside it: address or
 * texture, bytes, stride */
static void fake_chase(struct fake *fake, const struct fake_call *call)
{
    static uint32_t local[4096];
    uint64_t elements = call->args[0], window = call->args[7];
    uint32_t offset = (uint32_t)call->args[4];
    bool is_local = strcmp(call->load, "ld.local.ca") == 0;
    uint32_t own = is_local ? 11 : call->load[0] == 't' ? 10 : 9;
    assert_true(call->arg_count == own || call->arg_count == own + 3);
    for (uint64_t i = 0; is_local && i < call->args[10]; i++) {
        uint64_t at = fake_load(fake, call->args[9] + i * 4) + call->args[0];
        local[at / 4] = fake_load(fake, call->args[9] + (i + 1) % call->args[10] * 4);
    }
    for (uint64_t at = 0; at < call->args[2]; at += call->args[3]) {
        fake_load(fake, elements + at);
    }
    for (uint64_t i = 0; i < call->args[5] + call->args[6]; i++) {
        offset = fake_step(fake, call, local, offset);
    }
    uint32_t *out = fake_memory(fake, call->args[1], 32 + 12 * window);
    uint32_t *clocks = out + 8, *next = clocks + 2 * window;
    for (uint64_t i = 0; i < window; i++) {
        clocks[2 * i] = fake->clock;
        fake->clock += fake_latency(offset);
        clocks[2 * i + 1] = fake->clock;
        offset = fake_step(fake, call, local, offset);
        next[i] = fake->lie && i == 3 ? offset + 4 : offset;
    }
    memcpy(out, (uint32_t[]){7, offset, 5000, 1, 2500, 0, 0, 0}, 32);
    assert_int_equal(call->shared, 12 * window);
    assert_int_equal(call->blocks, 1);
}

static void fake_overhead(struct fake *fake, const struct fake_call *call)
{
    uint32_t *clocks = (uint32_t *)fake_memory(fake, call->args[0], 32 + 12 * call->args[2]) + 8;
    for (uint32_t i = 0; i < call->args[2]; i++) {
        clocks[2 * i] = UINT32_MAX - 10 + 3 * i; /* the counter wraps */
        clocks[2 * i + 1] = clocks[2 * i] + 20 + i;
    }
}

/* args: elements, out, touch_bytes, touch_stride, start, warm_turns, turns */
static void fake_average(struct fake *fake, const struct fake_call *call)
{
    uint64_t pointer = call->args[0] + call->args[4];
    for (uint64_t at = 0; at < call->args[2]; at += call->args[3]) {
        fake_load(fake, call->args[0] + at);
    }
    for (uint64_t i = 0; i < 16 * (call->args[5] + call->args[6]); i++) {
        memcpy(&pointer, fake_memory(fake, pointer, 8), 8);
    }
    uint64_t *out = fake_memory(fake, call->args[1], 24);
    out[0] = 16 * call->args[6] * 33 + 5;
    out[1] = pointer;
    out[2] = 7;
}

static void fake_chain(struct fake *fake, const struct fake_call *call, uint32_t width)
{
    /* With offsets there is one argument more: what a value grows by. */
    uint64_t step = width == 8 ? call->args[1] : call->args[2];
    const uint64_t *range = width == 8 ? call->args + 2 : call->args + 3;
    for (uint64_t i = range[0]; i < range[1]; i++) {
        uint64_t next = (i + 1) * step + (width == 8 ? call->args[0] : 0);
        memcpy(fake_memory(fake, call->args[0] + i * call->args[1], width), &next, width);
    }
}

static void fake_ring(struct fake *fake, const struct fake_call *call, uint32_t width)
{
    uint64_t count = call->args[2];
    for (uint64_t i = 0; i < count; i++) {
        uint64_t next = fake_load(fake, call->args[1] + (i + 1) % count * 4);
        next += width == 8 ? call->args[0] : 0;
        uint64_t at = fake_load(fake, call->args[1] + i * 4) * (width == 8 ? 1 : call->args[3]);
        memcpy(fake_memory(fake, call->args[0] + at, width), &next, width);
    }
}

static void fake_clock(struct fake *fake, const struct fake_call *call)
{
    uint64_t *out = fake_memory(fake, call->args[0], 32);
    out[0] = call->args[1] + 100;
    out[1] = (call->args[1] + 100) * 2;
    out[2] = 0;
    out[3] = 7;
}

/* args: out, step, keep, turns; the clock wraps in between */
static void fake_shared(struct fake *fake, const struct fake_call *call)
{
    uint32_t *out = fake_memory(fake, call->args[0], 12);
    assert_true(call->args[2] >= 31 * call->args[1] + (call->load[12] == '4' ? 4 : 8));
    assert_true(call->args[2] % 8 == 0 && call->shared >= call->args[2] + 256);
    out[0] = UINT32_MAX;
    out[1] = (uint32_t)(call->args[3] * 64 * (call->args[1] + 50) - 1);
    out[2] = 0;
}

static int fake_launch(struct device *device, struct device_kernel *kernel,
                       const struct device_launch *launch)
{
    struct fake *fake = fake_of(device);
    if (fake->refuse_launch) {
        return error_set(SONDE_EDEVICE, "too much shared memory");
    }
    struct fake_call call = {.blocks = launch->grid[0],
                             .threads = launch->block[0],
                             .shared = launch->dynamic_shared_bytes};
    snprintf(call.kernel, sizeof(call.kernel), "%s", kernel->name);
    snprintf(call.load, sizeof(call.load), "%s", kernel->module->load);
    for (uint32_t i = 0; i < launch->arg_count; i++) {
        memcpy(&call.args[i], launch->args[i], launch->arg_sizes[i]);
    }
    call.arg_count = launch->arg_count;
    fake->calls[fake->call_count++ % FAKE_CALLS] = call;
    if (strcmp(kernel->name, "chase") == 0) {
        fake_chase(fake, &call);
    } else if (strcmp(kernel->name, "average") == 0) {
        assert_int_equal(launch->arg_count, 7);
        fake_average(fake, &call);
    } else if (strcmp(kernel->name, "overhead") == 0) {
        fake_overhead(fake, &call);
    } else if (strcmp(kernel->name, "shared") == 0) {
        fake_shared(fake, &call);
    } else if (strcmp(kernel->name, "clock") == 0) {
        fake_clock(fake, &call);
    } else if (strncmp(kernel->name, "chain_", 6) == 0) {
        fake_chain(fake, &call, strcmp(kernel->name, "chain_pointers") == 0 ? 8 : 4);
    } else if (strncmp(kernel->name, "ring_", 5) == 0) {
        fake_ring(fake, &call, strcmp(kernel->name, "ring_pointers") == 0 ? 8 : 4);
    } else if (strcmp(kernel->name, "flush") == 0) {
        fake_memory(fake, call.args[0], call.args[1]);
    } else {
        fail_msg("unknown kernel %s", kernel->name);
    }
    return 0;
}

static int fake_refusal(struct device *device, const char *what)
{
    return fake_of(device)->refuse_paths ? error_set(SONDE_EUNSUPPORTED, "the fake has no %s", what)
                                         : 0;
}

static int fake_module_global(struct device *device, struct device_module *module, const char *name,
                              uint64_t *address, uint64_t *bytes)
{
    (void)module;
    assert_string_equal(name, "constants");
    *address = (uint64_t)(uintptr_t)fake_of(device)->constants;
    *bytes = sizeof(fake_of(device)->constants);
    return fake_refusal(device, "constants");
}

/* Grows by moving, as it may. */
static int fake_mem_map(struct device *device, uint64_t *address, uint64_t bytes,
                        uint64_t *page_bytes)
{
    struct fake *fake = fake_of(device);
    uint64_t old = *address;
    int rc =
        fake->refuse_paths ? fake_refusal(device, "pages") : fake_mem_alloc(device, address, bytes);
    if (rc == 0) {
        fake->mapped += old == 0;
        rc = old ? device->ops->mem_free(device, old) : 0;
    }
    *page_bytes = 4096;
    return rc;
}

static int fake_mem_unmap(struct device *device, uint64_t address)
{
    fake_of(device)->mapped--;
    return fake_mem_free(device, address);
}

static int fake_texture_create(struct device *device, uint64_t *handle, uint64_t address,
                               uint64_t bytes)
{
    struct fake *fake = fake_of(device);
    int rc = fake_refusal(device, "textures");
    if (rc == 0) {
        fake_memory(fake, address, bytes);
        fake->texture = address;
        fake->texture_bytes = bytes;
        *handle = 7000 + ++fake->textures;
    }
    return rc;
}

static int fake_texture_destroy(struct device *device, uint64_t handle)
{
    assert_int_equal(handle, 7000 + fake_of(device)->textures);
    fake_of(device)->textures--;
    return fake_of(device)->refuse_texture_end
               ? error_set(SONDE_EDEVICE, "the texture cannot be destroyed")
               : 0;
}

static int fake_set_bank_bytes(struct device *device, struct device_kernel *kernel, uint32_t bytes)
{
    (void)kernel;
    fake_of(device)->bank_bytes = bytes;
    return fake_refusal(device, "choice of banks");
}

static const struct device_ops fake_ops = {.module_load = fake_module_load,
                                           .module_unload = fake_module_unload,
                                           .kernel_get = fake_kernel_get,
                                           .mem_alloc = fake_mem_alloc,
                                           .mem_free = fake_mem_free,
                                           .copy_to = fake_copy_to,
                                           .copy_from = fake_copy_from,
                                           .set_carveout = fake_set_carveout,
                                           .module_global = fake_module_global,
                                           .mem_map = fake_mem_map,
                                           .mem_unmap = fake_mem_unmap,
                                           .texture_create = fake_texture_create,
                                           .texture_destroy = fake_texture_destroy,
                                           .set_shared_bank_bytes = fake_set_bank_bytes,
                                           .launch = fake_launch};

static struct fake *fake_open(void)
{
    struct fake *fake = calloc(1, sizeof(*fake));
    fake->device.ops = &fake_ops;
    fake->device.info = (struct device_info){.name = "fake",
                                             .memory_bytes = UINT64_C(8) << 20,
                                             .l2_bytes_reported = 4096,
                                             .compute_major = 9,
                                             .shared_per_block_bytes = 48 << 10,
                                             .max_threads_per_block = 1024};
    fake->clock = UINT32_MAX - 1000;
    return fake;
}

/* Everything must have been given back. */
static void fake_close(struct fake *fake)
{
    assert_int_equal(fake->modules, 0);
    assert_int_equal(fake->textures, 0);
    assert_int_equal(fake->mapped, 0);
    for (size_t i = 0; i < FAKE_ALLOCATIONS; i++) {
        assert_int_equal(fake->allocations[i].bytes, 0);
    }
    for (size_t i = 0; i < fake_kernel_count; i++) {
        free(fake_kernels[i]);
    }
    fake_kernel_count = 0;
    free(fake);
}

#endif
