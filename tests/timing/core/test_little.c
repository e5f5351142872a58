/*
 * Little's law on an SM's queues: the mean number of accesses in the load/store unit's queue, the
 * constant caches' and the texture unit, seen by looking into the SM once a cycle, is the rate of
 * accesses times the mean time that one spends there. Times are seen outside: an access begins when
 * the SM counts it as issued; it leaves a queue with its request, which the bench's memory logs,
 * and the texture unit with its answer and those before it. Warps load now this and now that, at
 * random distances, a request each.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/state.h"
#include "support/sm_bench.h"
#include "support/tolerance.h"
#include "util/rng.h"

enum { SAMPLER_SOURCE = 5000, WARPS = 8 };

static struct bench b;

struct look {
    enum pipe pipe;
    enum isa_space space;
    double number, issued_at; /* sums: over cycles, over accesses */
    uint64_t issued, cycles, most;
};

static struct look look;

static void look_on(void *ctx, uint64_t arg)
{
    (void)ctx;
    (void)arg;
    const struct sm *sm = b.sm;
    uint64_t cycle = engine_now_ps(b.engine) / BENCH_PERIOD_PS;
    uint64_t number = sm->lsu.queue[look.pipe].count, issued = sm->stats.space[look.space];
    look.number += (double)number;
    look.most = number > look.most ? number : look.most;
    look.issued_at += (double)(issued - look.issued) * (double)cycle;
    look.issued = issued;
    look.cycles++;
    if (b.ctas_ended == 0 && b.error == 0) {
        engine_at(b.engine, engine_now_ps(b.engine) + BENCH_PERIOD_PS, SAMPLER_SOURCE, look_on,
                  NULL, 0);
    }
}

/* Each warp loads now from this and now from that segment, with arithmetic in between. */
static void draw_body(char *body, size_t size, uint64_t seed, const char *load)
{
    struct rng rng;
    rng_seed(&rng, seed);
    size_t n = (size_t)snprintf(body, size,
                                "mov.u64 %%rd6, 0xfe00000000;\nmov.u32 %%r2, %%tid.x;\n"
                                "mov.u32 %%r3, 1;\nmov.u32 %%r30, 0;\nL:\n");
    for (uint32_t i = 0; i < 24; i++) {
        uint32_t segment = (uint32_t)rng_below(&rng, 64);
        n += (size_t)snprintf(body + n, size - n, "mov.u32 %%r1, %u;\nadd.u64 %%rd1, %%rd0, %u;\n",
                              segment * 32, segment * 128);
        n += (size_t)snprintf(body + n, size - n, load, 4 * (1 + i % 6));
        for (uint64_t k = rng_below(&rng, 12); k > 0; k--) {
            n += (size_t)snprintf(body + n, size - n, "mul.lo.u32 %%r3, %%r3, %%r2;\n");
        }
    }
    snprintf(body + n, size - n,
             "add.u32 %%r30, %%r30, 1;\nsetp.lt.u32 %%p1, %%r30, 6;\n@%%p1 bra L;\n");
}

static void start(enum pipe pipe, enum isa_space space)
{
    bench_defaults(&b);
    b.with_l1 = b.with_texture = b.with_constant = true;
    b.texture_at = 0;
    b.texture_bytes = 1 << 16;
    b.spec.lsu_queue_entries = 12;
    b.spec.texture.queue_entries = 12;
    look = (struct look){.pipe = pipe, .space = space};
}

/* The bench builds the SM and runs; the sampler starts with it. */
static void run(const char *body)
{
    b.watch = look_on;
    if (!bench_run(&b, body, 1, WARPS * WARP_LANES)) {
        fail_msg("%s", b.error < 0 ? error_text() : b.stall);
    }
    assert_true(b.log_count < BENCH_LOG);
}

/* `left_at`: the sum of the cycles in which accesses left. */
static void expect_little(const char *what, double left_at)
{
    double cycles = (double)look.cycles, count = (double)look.issued;
    double number = look.number / cycles;
    double product = count / cycles * ((left_at - look.issued_at) / count);
    assert_true(look.most > 2 && look.issued > 500);
    if (number < product * (1 - TOLERANCE_LITTLE) || number > product * (1 + TOLERANCE_LITTLE)) {
        fail_msg("%s: %g in it on average, rate times time are %g", what, number, product);
    }
}

static void a_queue_obeys(enum pipe pipe, enum isa_space space, const char *load, bool answers)
{
    static char body[1 << 14];
    for (uint64_t seed = 1; seed <= 3; seed++) {
        start(pipe, space);
        draw_body(body, sizeof body, seed, load);
        run(body);
        double left_at = 0;
        uint64_t last = 0;
        assert_int_equal(b.log_count, look.issued);
        for (uint32_t i = 0; i < b.log_count; i++) {
            uint64_t cycle = b.log[i].cycle + (answers ? b.memory_cycles : 0);
            last = cycle > last ? cycle : last;
            left_at += (double)last;
        }
        expect_little(load, left_at);
        bench_free(&b);
    }
}

static void the_load_store_units_queue_obeys(void **state)
{
    (void)state;
    a_queue_obeys(PIPE_LSU, SPACE_GLOBAL, "ld.global.u32 %%r%u, [%%rd1];\n", false);
}

static void the_constant_caches_queue_obeys(void **state)
{
    (void)state;
    a_queue_obeys(PIPE_CONSTANT, SPACE_CONST, "ld.const.u32 %%r%u, [%%rd1];\n", false);
}

static void the_texture_unit_obeys(void **state)
{
    (void)state;
    a_queue_obeys(PIPE_TEXTURE, SPACE_TEX,
                  "tex.1d.v4.u32.s32 {%%r%u, %%r5, %%r6, %%r7}, [%%rd6, {%%r1}];\n", true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_load_store_units_queue_obeys),
        cmocka_unit_test(the_constant_caches_queue_obeys),
        cmocka_unit_test(the_texture_unit_obeys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
