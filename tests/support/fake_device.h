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
    char load[16]; /* the opcode found in the text */
};

struct device_kernel {
    char name[32];
    struct device_module *module;
};

struct fake_call {
    char kernel[32], load[16];
    uint32_t blocks, threads, shared;
    uint64_t args[8];
};

struct fake {
    struct device device;
    struct {
        uint64_t address, bytes;
    } allocations[FAKE_ALLOCATIONS];
    struct fake_call calls[FAKE_CALLS];
    size_t call_count, modules, kernels, copies_to;
    uint64_t carveout;
    /* What a test breaks. */
    uint64_t memory_limit; /* 0: none */
    bool refuse_launch, refuse_carveout, lie;
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

static int fake_mem_alloc(struct device *device, uint64_t *address, uint64_t bytes)
{
    struct fake *fake = fake_of(device);
    if (fake->memory_limit && bytes > fake->memory_limit) {
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
    memcpy(fake_memory(fake_of(device), dst, bytes), src, bytes);
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
    const char *load = strstr(ptx, "ld.global.c");
    *out = calloc(1, sizeof(**out));
    snprintf((*out)->name, sizeof((*out)->name), "%s", name);
    snprintf((*out)->load, sizeof((*out)->load), "%.12s", load ? load : "none");
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

/* args: elements, out, touch_bytes, touch_stride, start, warm, preroll, window */
static void fake_chase(struct fake *fake, const struct fake_call *call)
{
    uint64_t elements = call->args[0], window = call->args[7];
    uint32_t offset = (uint32_t)call->args[4];
    for (uint64_t at = 0; at < call->args[2]; at += call->args[3]) {
        fake_load(fake, elements + at);
    }
    for (uint64_t i = 0; i < call->args[5] + call->args[6]; i++) {
        offset = fake_load(fake, elements + offset);
    }
    uint32_t *out = fake_memory(fake, call->args[1], 16 + 12 * window);
    uint32_t *clocks = out + 4, *next = clocks + 2 * window;
    for (uint64_t i = 0; i < window; i++) {
        clocks[2 * i] = fake->clock;
        fake->clock += fake_latency(offset);
        clocks[2 * i + 1] = fake->clock;
        offset = fake_load(fake, elements + offset);
        next[i] = fake->lie && i == 3 ? offset + 4 : offset;
    }
    out[0] = 7;
    out[1] = offset;
    assert_int_equal(call->shared, 12 * window);
    assert_int_equal(call->blocks, 1);
}

static void fake_overhead(struct fake *fake, const struct fake_call *call)
{
    uint32_t *clocks = (uint32_t *)fake_memory(fake, call->args[0], 16 + 12 * call->args[2]) + 4;
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
    for (uint64_t i = call->args[2]; i < call->args[3]; i++) {
        uint64_t next = (i + 1) * call->args[1] + (width == 8 ? call->args[0] : 0);
        memcpy(fake_memory(fake, call->args[0] + i * call->args[1], width), &next, width);
    }
}

static void fake_ring(struct fake *fake, const struct fake_call *call, uint32_t width)
{
    uint64_t count = call->args[2];
    for (uint64_t i = 0; i < count; i++) {
        uint64_t next = fake_load(fake, call->args[1] + (i + 1) % count * 4);
        next += width == 8 ? call->args[0] : 0;
        memcpy(fake_memory(fake, call->args[0] + fake_load(fake, call->args[1] + i * 4), width),
               &next, width);
    }
}

static void fake_clock(struct fake *fake, const struct fake_call *call)
{
    uint64_t *out = fake_memory(fake, call->args[0], 32);
    out[0] = call->args[1] + 100;
    out[1] = (call->args[1] + 100) * 2;
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
    fake->calls[fake->call_count++ % FAKE_CALLS] = call;
    if (strcmp(kernel->name, "chase") == 0) {
        assert_int_equal(launch->arg_count, 8);
        fake_chase(fake, &call);
    } else if (strcmp(kernel->name, "average") == 0) {
        assert_int_equal(launch->arg_count, 7);
        fake_average(fake, &call);
    } else if (strcmp(kernel->name, "overhead") == 0) {
        fake_overhead(fake, &call);
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

static const struct device_ops fake_ops = {.module_load = fake_module_load,
                                           .module_unload = fake_module_unload,
                                           .kernel_get = fake_kernel_get,
                                           .mem_alloc = fake_mem_alloc,
                                           .mem_free = fake_mem_free,
                                           .copy_to = fake_copy_to,
                                           .copy_from = fake_copy_from,
                                           .set_carveout = fake_set_carveout,
                                           .launch = fake_launch};

static struct fake *fake_open(void)
{
    struct fake *fake = calloc(1, sizeof(*fake));
    fake->device.ops = &fake_ops;
    fake->device.info = (struct device_info){.name = "fake",
                                             .memory_bytes = UINT64_C(8) << 20,
                                             .l2_bytes_reported = 4096,
                                             .shared_per_block_bytes = 48 << 10,
                                             .max_threads_per_block = 1024};
    fake->clock = UINT32_MAX - 1000;
    return fake;
}

/* Everything must have been given back. */
static void fake_close(struct fake *fake)
{
    assert_int_equal(fake->modules, 0);
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
