/*
 * A device of a model, a module on it, and a buffer whose words count from 0: for tests of what
 * kernels of one parameter, the buffer's address, take. Whatever goes wrong fails the test.
 */
#ifndef SONDE_TEST_RT_BENCH_H
#define SONDE_TEST_RT_BENCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "rt/rt.h"
#include "util/error.h"

struct rt_bench {
    struct model *model;
    struct rt *rt;
    struct rt_module *module;
    uint64_t out; /* the buffer */
};

static inline void rt_bench_open(struct rt_bench *bench, const char *yaml, const char *ptx,
                                 uint32_t buffer_bytes)
{
    uint32_t *words = malloc(buffer_bytes);
    assert_non_null(words);
    for (uint32_t i = 0; i < buffer_bytes / 4; i++)
        words[i] = i;
    assert_int_equal(model_parse(&bench->model, "bench.yaml", yaml, strlen(yaml)), 0);
    assert_int_equal(rt_create(&bench->rt, bench->model), 0);
    if (rt_module_load(bench->rt, &bench->module, "bench.ptx", ptx, strlen(ptx)) < 0)
        fail_msg("%s", error_text());
    assert_int_equal(rt_mem_alloc(bench->rt, &bench->out, buffer_bytes), 0);
    assert_int_equal(rt_copy_to_device(bench->rt, bench->out, words, buffer_bytes), 0);
    free(words);
}

/* Runs a kernel; its first words of the buffer come back. */
static inline void rt_bench_run(struct rt_bench *bench, uint32_t *words, size_t bytes,
                                const char *name, uint32_t ctas, uint32_t threads)
{
    struct rt_kernel *kernel;
    const void *args[] = {&bench->out};
    struct rt_launch request = {
        .grid = {ctas, 1, 1}, .block = {threads, 1, 1}, .args = args, .arg_count = 1};
    assert_int_equal(rt_kernel_get(bench->module, &kernel, name), 0);
    if (rt_launch(bench->rt, kernel, &request, NULL) < 0)
        fail_msg("%s: %s", name, error_text());
    assert_int_equal(rt_copy_from_device(bench->rt, words, bench->out, bytes), 0);
}

/* Also of a bench that is not open. */
static inline void rt_bench_close(struct rt_bench *bench)
{
    rt_destroy(bench->rt);
    model_destroy(bench->model);
    *bench = (struct rt_bench){0};
}

#endif
