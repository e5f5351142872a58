/*
 * A device of nothing but memory, on which tests run PTX text functionally. Tests fill in
 * parameters with arg_...(), run, and look at memory.
 */
#ifndef SONDE_TESTS_SUPPORT_EXEC_DEVICE_H
#define SONDE_TESTS_SUPPORT_EXEC_DEVICE_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "exec/exec.h"
#include "exec/memory/memory.h"
#include "util/error.h"

#define PTX_HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"

struct device {
    struct exec_memory *memory;
    struct ptx_module *module;
    struct exec_program *program;
    struct exec_launch launch;
    struct exec_run_options options;
    uint64_t next; /* where the next allocation goes */
    struct {
        const struct ptx_var *var;
        uint64_t address;
    } vars[16];
    uint32_t var_count;
    _Alignas(16) uint8_t params[1024];
};

static inline uint64_t device_alloc(struct device *dev, uint64_t bytes)
{
    uint64_t address = dev->next;
    dev->next += (bytes + 4095) / 4096 * 4096 + 4096;
    assert_int_equal(exec_memory_map(dev->memory, address, bytes), SONDE_OK);
    return address;
}

static inline void *device_pointer(uint64_t address)
{
    return (void *)(uintptr_t)address;
}

static inline uint64_t device_var(void *ctx, const struct ptx_var *var)
{
    struct device *dev = ctx;
    for (uint32_t i = 0; i < dev->var_count; i++)
        if (dev->vars[i].var == var)
            return dev->vars[i].address;
    uint64_t address = device_alloc(dev, var->size ? var->size : 1);
    if (var->init)
        memcpy(device_pointer(address), var->init, var->size);
    for (uint32_t i = 0; i < var->reloc_count; i++) {
        const struct ptx_reloc *reloc = &var->relocs[i];
        uint64_t value = reloc->func ? exec_function_address(dev->module, reloc->func)
                                     : device_var(ctx, reloc->var);
        value += (uint64_t)reloc->addend;
        memcpy((uint8_t *)device_pointer(address) + reloc->offset, &value, 8);
    }
    dev->vars[dev->var_count].var = var;
    dev->vars[dev->var_count++].address = address;
    return address;
}

static inline void device_close(struct device *dev)
{
    exec_program_destroy(dev->program);
    ptx_module_destroy(dev->module);
    exec_memory_destroy(dev->memory);
}

/* The code of exec_program_create; the text must parse. */
static inline int device_try_open(struct device *dev, const char *text, const char *kernel)
{
    memset(dev, 0, sizeof *dev);
    assert_int_equal(exec_memory_create(&dev->memory, UINT64_C(1) << 30), SONDE_OK);
    dev->next = exec_memory_base(dev->memory) + 65536;
    int rc = ptx_parse(&dev->module, "test.ptx", text, strlen(text));
    if (rc != SONDE_OK)
        fail_msg("the test's PTX does not parse: %s\n%s", error_text(), text);
    struct ptx_func *func = ptx_find_func(dev->module, kernel);
    assert_non_null(func);
    struct exec_resolver resolver = {.var_address = device_var, .ctx = dev};
    rc = exec_program_create(&dev->program, dev->module, func, &resolver);
    dev->launch = (struct exec_launch){.program = dev->program,
                                       .memory = dev->memory,
                                       .params = dev->params,
                                       .grid = {1, 1, 1},
                                       .block = {32, 1, 1}};
    dev->options.max_warp_insns = 10000000;
    return rc;
}

static inline void device_open(struct device *dev, const char *text, const char *kernel)
{
    if (device_try_open(dev, text, kernel) != SONDE_OK)
        fail_msg("%s", error_text());
}

static inline void device_arg(struct device *dev, const void *value, uint32_t bytes)
{
    uint32_t at = (dev->launch.param_bytes + bytes - 1) / bytes * bytes;
    assert_true(at + bytes <= sizeof dev->params);
    memcpy(dev->params + at, value, bytes);
    dev->launch.param_bytes = at + bytes;
}

static inline void device_arg_u64(struct device *dev, uint64_t value)
{
    device_arg(dev, &value, 8);
}

static inline void device_arg_u32(struct device *dev, uint32_t value)
{
    device_arg(dev, &value, 4);
}

static inline int device_try_run(struct device *dev, uint32_t grid, uint32_t block)
{
    dev->launch.grid[0] = grid;
    dev->launch.block[0] = block;
    return exec_run_launch_with(&dev->launch, &dev->options);
}

static inline void device_run(struct device *dev, uint32_t grid, uint32_t block)
{
    if (device_try_run(dev, grid, block) != SONDE_OK)
        fail_msg("%s", error_text());
}

/*
 * Most tests: one kernel `k` of one parameter, an array with a place for each thread. `body` finds
 * the address of the thread's place in %out and its number in %t, and may use %r0-19, %l0-19,
 * %p0-9, %h0-9, %f0-9, %d0-9.
 */
#define KERNEL_TEXT(globals)                                                                       \
    globals ".visible .entry k(.param .u64 out) {\n"                                               \
            ".reg .b32 %r<20>; .reg .b64 %l<20>; .reg .pred %p<10>; .reg .b16 %h<10>;\n"           \
            ".reg .f32 %f<10>; .reg .f64 %d<10>; .reg .b32 %t; .reg .b64 %out;\n"                  \
            "mov.u32 %t, %tid.x;\n"                                                                \
            "ld.param.u64 %out, [out];\n"                                                          \
            "mad.wide.u32 %out, %t, 8, %out;\n"
#define KERNEL_BEGIN(globals) PTX_HEAD KERNEL_TEXT(globals)
#define KERNEL_END "\nret;\n}\n"
#define KERNEL(globals, body) KERNEL_BEGIN(globals) body KERNEL_END

static inline uint64_t *device_kernel(struct device *dev, const char *text, uint32_t threads)
{
    device_open(dev, text, "k");
    uint64_t out = device_alloc(dev, threads * 8);
    device_arg_u64(dev, out);
    return device_pointer(out);
}

/* Run it and return what each thread left. */
static inline uint64_t *device_results(struct device *dev, const char *text, uint32_t threads)
{
    uint64_t *out = device_kernel(dev, text, threads);
    device_run(dev, 1, threads);
    return out;
}

static inline void assert_error_has(const char *part)
{
    if (!strstr(error_text(), part))
        fail_msg("'%s' is not in: %s", part, error_text());
}

#endif
