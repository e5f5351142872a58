/*
 * Kernels in streams of their own, drawn: sizes, shared memory, priorities. Where they run and
 * when, and what they leave in memory, is the same on one and two host threads; and they are on the
 * GPU together where all of their blocks fit beside each other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "rt/queue/queue.h"
#include "util/error.h"
#include "util/rng.h"

#define DRAWS 24
#define KERNELS 3
#define WORDS 8192

/* data[i] += what shared memory holds after `rounds` of sums of neighbours, read and written back.
 */
static const char *const text =
    ".version 7.0\n.target sm_70\n.address_size 64\n.extern .shared .align 4 .b8 room[];\n"
    ".visible .entry work(.param .u64 data, .param .u32 rounds)\n{\n"
    ".reg .b32 %r<12>; .reg .b64 %rd<4>; .reg .pred %p;\n"
    "ld.param.u64 %rd1, [data]; ld.param.u32 %r1, [rounds];\n"
    "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;\n"
    "mad.lo.u32 %r5, %r2, %r3, %r4; mul.wide.u32 %rd2, %r5, 4; add.u64 %rd1, %rd1, %rd2;\n"
    "shl.b32 %r6, %r4, 2; mov.u32 %r7, room; add.u32 %r6, %r6, %r7;\n"
    "LOOP: ld.global.u32 %r8, [%rd1]; st.shared.u32 [%r6], %r8; bar.sync 0;\n"
    "ld.shared.u32 %r9, [%r7]; bar.sync 0; mad.lo.u32 %r8, %r8, 3, %r9; add.u32 %r8, %r8, %r4;\n"
    "st.global.u32 [%rd1], %r8; sub.u32 %r1, %r1, 1; setp.ne.u32 %p, %r1, 0; @%p bra LOOP;\n"
    "ret;\n}\n";

struct drawn {
    uint32_t blocks, threads, shared_bytes, rounds;
    int priority;
};

struct outcome {
    uint32_t count, shared[KERNELS];
    uint64_t stream[KERNELS], begin_ps[KERNELS], end_ps[KERNELS], insns[KERNELS];
    uint64_t dram_reads[KERNELS];
    uint32_t words[KERNELS][WORDS];
};

static void tell(void *ctx, const struct rt_done *done)
{
    struct outcome *out = ctx;
    uint32_t i = out->count++;
    out->shared[i] = done->shared;
    out->stream[i] = done->stream_id;
    out->begin_ps[i] = done->begin_ps;
    out->end_ps[i] = done->end_ps;
    out->insns[i] = done->warp_insns;
    out->dram_reads[i] = done->stats.dram_reads;
}

static void draw(struct drawn *d, struct rng *rng)
{
    uint32_t warps = 1 + (uint32_t)rng_below(rng, 8);
    d->threads = warps * 32;
    d->blocks = 1 + (uint32_t)rng_below(rng, WORDS / 8 / d->threads * 2);
    d->shared_bytes = d->threads * 4 + (uint32_t)rng_below(rng, 8) * 1024;
    d->rounds = 1 + (uint32_t)rng_below(rng, 12);
    d->priority = -(int)rng_below(rng, 3);
}

static void run(struct outcome *out, const struct model *model, const struct drawn *drawn,
                uint32_t threads)
{
    struct rt *rt;
    struct rt_module *module;
    struct rt_kernel *kernel;
    uint64_t data[KERNELS];
    memset(out, 0, sizeof *out);
    assert_int_equal(rt_create(&rt, model), 0);
    assert_int_equal(rt_set_threads(rt, threads), 0);
    assert_int_equal(rt_module_load(rt, &module, "work.ptx", text, strlen(text)), 0);
    assert_int_equal(rt_kernel_get(module, &kernel, "work"), 0);
    rt_set_done(rt, tell, out);
    for (int i = 0; i < KERNELS; i++) {
        assert_int_equal(rt_mem_alloc(rt, &data[i], sizeof out->words[i]), 0);
        assert_int_equal(rt_memset(rt, data[i], 0, sizeof out->words[i]), 0);
    }
    for (int i = 0; i < KERNELS; i++) {
        struct rt_stream *stream;
        const void *args[] = {&data[i], &drawn[i].rounds};
        struct rt_launch launch = {.grid = {drawn[i].blocks, 1, 1},
                                   .block = {drawn[i].threads, 1, 1},
                                   .dynamic_shared_bytes = drawn[i].shared_bytes,
                                   .args = args,
                                   .arg_count = 2};
        assert_int_equal(rt_stream_create(rt, &stream, RT_STREAM_NONBLOCKING, drawn[i].priority),
                         0);
        assert_int_equal(rt_enqueue_launch(stream, kernel, &launch), 0);
    }
    assert_int_equal(rt_sync(rt), 0);
    for (int i = 0; i < KERNELS; i++) {
        assert_int_equal(rt_copy_from_device(rt, out->words[i], data[i], sizeof out->words[i]), 0);
    }
    rt_destroy(rt);
}

/* What the kernel computes, thread by thread. */
static void check_words(const uint32_t *words, const struct drawn *d)
{
    for (uint32_t block = 0; block < d->blocks; block++) {
        uint32_t value[256] = {0};
        for (uint32_t round = 0; round < d->rounds; round++) {
            uint32_t first = value[0];
            for (uint32_t t = 0; t < d->threads; t++) {
                value[t] = value[t] * 3 + first + t;
            }
        }
        assert_memory_equal(words + (size_t)block * d->threads, value, d->threads * 4);
    }
}

/* One block an SM, of all kernels together: there is room for all at once. */
static bool all_fit(const struct drawn *drawn, const struct model *model)
{
    uint32_t blocks = 0;
    for (int i = 0; i < KERNELS; i++) {
        blocks += drawn[i].blocks;
    }
    return blocks <= model->sms;
}

static void drawn_kernels_run_beside_each_other_alike_on_any_threads(void **state)
{
    (void)state;
    static struct outcome one, two;
    const char *source = "inherits: gtx780\n";
    struct model *model;
    struct rng rng;
    uint32_t together = 0;
    rng_seed(&rng, 20131);
    assert_int_equal(model_parse(&model, "m.yaml", source, strlen(source)), 0);
    for (int i = 0; i < DRAWS; i++) {
        struct drawn drawn[KERNELS];
        for (int k = 0; k < KERNELS; k++) {
            draw(&drawn[k], &rng);
            if (i % 3 == 0) {
                drawn[k].blocks = 1 + drawn[k].blocks % (model->sms / KERNELS);
            }
        }
        run(&one, model, drawn, 1);
        run(&two, model, drawn, 2);
        assert_memory_equal(&one, &two, sizeof one);
        assert_int_equal(one.count, KERNELS);
        for (int k = 0; k < KERNELS; k++) {
            check_words(one.words[k], &drawn[k]);
            together += one.shared[k];
        }
        if (all_fit(drawn, model)) {
            for (int k = 0; k < KERNELS; k++) {
                assert_true(one.shared[k]);
                assert_int_equal(one.begin_ps[k], one.begin_ps[0]);
            }
        }
    }
    assert_in_range(together, DRAWS, DRAWS * KERNELS);
    model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drawn_kernels_run_beside_each_other_alike_on_any_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
