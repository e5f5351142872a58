/* A context on a simulated GPU, kernels from this folder, and what they print. */
#ifndef SONDE_TESTS_DRIVER_BENCH_H
#define SONDE_TESTS_DRIVER_BENCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rt/rt.h"
#include "util/error.h"
#include "util/container/strbuf.h"

struct bench {
    struct rt *rt;
    struct rt_module *module;
    struct strbuf printed;
    bool functional;
};

/* Fails the test when the file or a kernel is not there. */
void bench_open(struct bench *bench, const char *file, bool functional);
void bench_open_text(struct bench *bench, const char *ptx, bool functional);
void bench_close(struct bench *bench);
struct rt_kernel *bench_kernel(struct bench *bench, const char *name);
char *bench_read(const char *file); /* free() it */

/* The launch's code. Arguments: pointers, as many as the kernel has parameters. */
int bench_try(struct bench *bench, const char *kernel, uint32_t grid, uint32_t block,
              const void *const *args);
/* The same, which must succeed. */
void bench_run(struct bench *bench, const char *kernel, uint32_t grid, uint32_t block,
               const void *const *args);
#define ARGS(...) ((const void *const[]){__VA_ARGS__})

uint64_t bench_alloc(struct bench *bench, uint64_t bytes); /* zeroed */
void bench_get(struct bench *bench, void *to, uint64_t from, uint64_t bytes);
void bench_put(struct bench *bench, uint64_t to, const void *from, uint64_t bytes);

void assert_error_has(const char *part);

/* Runs a test body in both modes. */
#define IN_BOTH_MODES(body)                                                                        \
    static void body##_functionally(void **state)                                                  \
    {                                                                                              \
        (void)state;                                                                               \
        body(true);                                                                                \
    }                                                                                              \
    static void body##_with_timing(void **state)                                                   \
    {                                                                                              \
        (void)state;                                                                               \
        body(false);                                                                               \
    }
#define BOTH_MODES(body) cmocka_unit_test(body##_functionally), cmocka_unit_test(body##_with_timing)

#endif
