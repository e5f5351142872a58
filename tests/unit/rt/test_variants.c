/*
 * Models drawn by chance: whatever stands in front of memory, and however it is scheduled,
 * coalesced, cached, translated and routed, a program leaves what it leaves without timing, and not
 * a count of the launch depends on the number of host threads. The program reads by every path (L1,
 * past it, read-only, constant, local, shared), adds to common words and uses what its atomics
 * return.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rt/rt.h"
#include "util/error.h"
#include "util/rng.h"
#include "util/container/strbuf.h"

#define BLOCKS 12
#define THREADS 72 /* the third warp of a block is not full */
#define WORDS (1u << 14)
#ifdef __SANITIZE_ADDRESS__ /* ten times as slow */
#define MODELS 16
#else
#define MODELS 60
#endif

static const char program[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".const .align 4 .u32 table[16] = {3,1,4,1,5,9,2,6,5,3,5,8,9,7,9,3};\n"
    ".visible .entry k(.param .u64 in, .param .u64 out, .param .u64 sum)\n{\n"
    ".reg .b64 %rd<12>; .reg .b32 %r<32>; .reg .pred %p<4>;\n"
    ".shared .align 4 .b32 shared[128]; .local .align 4 .b32 local[32];\n"
    "ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; ld.param.u64 %rd3, [sum];\n"
    "mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x;\n"
    "mad.lo.u32 %r5, %r3, %r4, %r2; mov.u32 %r6, 0; mov.u32 %r10, 0; mov.u32 %r11, %r5;\n"
    "LOOP:\nmad.lo.u32 %r11, %r11, 1664525, 1013904223; bfe.u32 %r12, %r11, 8, 14;\n"
    "mul.wide.u32 %rd4, %r12, 4; add.u64 %rd5, %rd1, %rd4;\n"
    "ld.global.u32 %r13, [%rd5]; ld.global.nc.u32 %r14, [%rd5]; ld.global.cg.u32 %r15, [%rd5];\n"
    "xor.b32 %r13, %r13, %r14; add.u32 %r13, %r13, %r15;\n"
    "and.b32 %r16, %r11, 15; mul.wide.u32 %rd6, %r16, 4; mov.u64 %rd7, table;\n"
    "add.u64 %rd7, %rd7, %rd6; ld.const.u32 %r17, [%rd7]; add.u32 %r13, %r13, %r17;\n"
    "and.b32 %r18, %r11, 31; shl.b32 %r18, %r18, 2; mov.u32 %r19, local;\n"
    "add.u32 %r19, %r19, %r18; st.local.u32 [%r19], %r13; ld.local.u32 %r20, [%r19];\n"
    "add.u32 %r10, %r10, %r20; and.b32 %r21, %r13, 3; setp.ne.u32 %p1, %r21, 0; @%p1 bra SKIP;\n"
    "red.global.add.u32 [%rd3], 1; mul.wide.u32 %rd8, %r5, 4; add.u64 %rd9, %rd2, %rd8;\n"
    "atom.global.add.u32 %r22, [%rd9+32768], %r13; add.u32 %r10, %r10, %r22;\n"
    "SKIP:\nadd.u32 %r6, %r6, 1; setp.lt.u32 %p2, %r6, 3; @%p2 bra LOOP;\n"
    "shl.b32 %r23, %r2, 2; mov.u32 %r24, shared; add.u32 %r25, %r24, %r23;\n"
    "st.shared.u32 [%r25], %r10; bar.sync 0; xor.b32 %r26, %r23, 4; add.u32 %r26, %r26, %r24;\n"
    "ld.shared.u32 %r27, [%r26]; add.u32 %r10, %r10, %r27;\n"
    "mul.wide.u32 %rd8, %r5, 4; add.u64 %rd9, %rd2, %rd8; st.global.u32 [%rd9], %r10;\n"
    "ld.global.u32 %r28, [%rd9]; membar.gl; add.u32 %r28, %r28, 1; st.global.u32 [%rd9], %r28;\n"
    "st.global.u8 [%rd9+1], %r6; ret;\n}\n";

static const char *const bases[] = {"gtx780", "gtx560ti", "bakhoda2009", "k20-prt44",
                                    "gtx280", "8600gts",  "gtx480"};

/* Of each row one setting, or none: then it is as in the base. */
static const struct {
    const char *section, *setting[6];
} rows[] = {
    {"", {"sms: 2\nclusters: 1", "sms: 3\nclusters: 3", "sms: 8\nclusters: 2", "clock: 2 GHz"}},
    {"sm", {"max_ctas: 1", "max_ctas: 3"}},
    {"sm", {"schedulers: 1", "schedulers: 3", "issue_interval: 4 cycles"}},
    {"sm", {"scheduler: greedy_then_oldest", "scheduler: two_level, fetch_group: 2"}},
    {"sm", {"divergence: independent", "divergence: independent, yield_after: 1"}},
    {"sm", {"cta_start_latency: 1 cycle", "cta_start_latency: 9 cycles"}},
    {"sm",
     {"lsu: {queue: 1}", "lsu: {parallel: 3, request_interval: 2 cycles}",
      "lsu: {latency: 0 cycles, writeback_interval: 3 cycles}",
      "lsu: {queue: 2, parallel: 8, instruction_interval: 4 cycles}"}},
    {"sm",
     {"outstanding: {structure: prt, entries: 1}",
      "outstanding: {structure: prt, entries: 6, retry_interval: 5 cycles}",
      "outstanding: {structure: request_limit, entries: 64, hold_instruction: true}",
      "outstanding: {structure: request_limit, entries: 1}",
      "outstanding: {structure: none, entries: 0}"}},
    {"sm", {"loads_per_warp: 1", "loads_per_warp: 2"}},
    {"sm",
     {"coalesce: {segment: 32 B, inter_warp_entries: 1}",
      "coalesce: {segment: 128 B, inter_warp_entries: 64}",
      "coalesce: {lanes_per_pass: 16, halving: true}", "coalesce: {lanes_per_pass: 1}"}},
    {"sm", {"readonly: none", "readonly: l1", "readonly: texture"}},
    {"sm", {"l1_caches_global: true", "l1_caches_global: false"}},
    {"sm", {"texture: {queue: 1, address_latency: 0 cycles}", "constant: {queue: 1}"}},
    {"l1_data",
     {"enabled: false", "enabled: true, address: physical",
      "queue: 1, miss: {entries: 1, mergers: 0}", "accesses_per_cycle: 0, write: write_back",
      "write: write_through_update, invalidate_on_launch: false", "replacement: {policy: srrip}"}},
    {"l2",
     {"enabled: false", "queue: 1, miss: {entries: 1, mergers: 0}",
      "write: write_through_invalidate, accesses_per_cycle: 0", "copies_allocate: false",
      "data_width: 48 B/cycle, read_passes: 13"}},
    {"texture_l1", {"miss: {entries: 1, mergers: 0, separate: true}", "queue: 1"}},
    {"constant_l1", {"miss: {entries: 1, mergers: 0}, queue: 1"}},
    {"tlb_l1",
     {"enabled: false", "enabled: true, queue: 1, miss: {entries: 1, mergers: 0}",
      "enabled: true, scope: sm, ways: 1, sets: 1", "enabled: true, scope: cluster"}},
    {"tlb_l2", {"enabled: false", "scope: gpu, queue: 1, miss: {entries: 1, mergers: 0}"}},
    {"vm", {"page: 64 KiB", "page: 4 KiB"}},
    {"noc",
     {"kind: links, queue: 1", "kind: perfect, request_latency: 0 cycles",
      "kind: links, request_width: 1 B/cycle, reply_width: 2 B/cycle, reply_latency: 9 cycles",
      "kind: flits, topology: crossbar, width: 64, virtual_channels: 2, buffer: 1",
      "kind: flits, topology: torus, width: 8, height: 8, vc_allocator: pim, reply_queue: 1",
      "kind: links, reply_latency: 1000 cycles"}},
    {"dram",
     {"queue: 1", "scheduler: fifo, command_bus: split", "closed_page: true, bank_hash: true",
      "subchannels: 2, t_faw: 40 cycles, overtakes: 1", "t_refi: 3000 cycles, t_rfc: 60 cycles",
      "t_refi: 3000 cycles, t_rfc: 60 cycles, refresh_by_bank: true, refresh_in_turn: true"}},
};

static char *draw(uint64_t seed)
{
    struct rng rng;
    struct strbuf text = {0};
    rng_seed(&rng, seed);
    strbuf_printf(&text, "name: drawn\ninherits: %s", bases[rng_below(&rng, 7)]);
    const char *section = "";
    bool open = false;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (open && strcmp(section, rows[i].section) != 0) {
            strbuf_printf(&text, "}");
            open = false;
        }
        size_t count = 0;
        while (count < 6 && rows[i].setting[count]) {
            count++;
        }
        const char *setting = rows[i].setting[rng_below(&rng, count)];
        if (rng_below(&rng, 3) > 0) {
            continue;
        }
        section = rows[i].section;
        if (*section == '\0') {
            strbuf_printf(&text, "\n%s", setting);
        } else if (open) {
            strbuf_printf(&text, ", %s", setting);
        } else {
            strbuf_printf(&text, "\n%s: {%s", section, setting);
            open = true;
        }
    }
    strbuf_printf(&text, "%s\n", open ? "}" : "");
    return strbuf_take(&text);
}

struct outcome {
    uint64_t cycles;
    struct gpu_stats stats;
    uint32_t memory[WORDS + 2];
};

/* `threads` 0: without timing. */
static void run(struct outcome *out, const struct model *model, uint32_t threads)
{
    static uint32_t words[WORDS];
    struct rt *rt;
    struct rt_module *module;
    struct rt_kernel *kernel;
    uint64_t in, memory, sum;
    memset(out, 0, sizeof *out);
    for (uint32_t i = 0; i < WORDS; i++) {
        words[i] = i * 2654435761u;
    }
    assert_int_equal(rt_create(&rt, model), 0);
    assert_int_equal(threads ? rt_set_threads(rt, threads) : 0, 0);
    assert_int_equal(rt_module_load(rt, &module, "k.ptx", program, sizeof program - 1), 0);
    assert_int_equal(rt_kernel_get(module, &kernel, "k"), 0);
    assert_int_equal(rt_mem_alloc(rt, &in, sizeof words), 0);
    assert_int_equal(rt_mem_alloc(rt, &memory, sizeof words + 8), 0);
    assert_int_equal(rt_copy_to_device(rt, in, words, sizeof words), 0);
    assert_int_equal(rt_memset(rt, memory, 0, sizeof words + 8), 0);
    sum = memory + sizeof words;
    const void *args[] = {&in, &memory, &sum};
    struct rt_launch launch = {.grid = {BLOCKS, 1, 1},
                               .block = {THREADS, 1, 1},
                               .args = args,
                               .arg_count = 3,
                               .functional = threads == 0};
    if (rt_launch(rt, kernel, &launch, &out->cycles) < 0) {
        fail_msg("%s", error_text());
    }
    gpu_stats(rt_gpu(rt), &out->stats);
    assert_int_equal(rt_copy_from_device(rt, out->memory, memory, sizeof words + 8), 0);
    rt_destroy(rt);
}

static void a_drawn_model_computes_the_same_on_any_number_of_threads(void **state)
{
    (void)state;
    static struct outcome functional, one, many;
    uint32_t ran = 0;
    for (uint64_t seed = 1; seed <= MODELS; seed++) {
        struct model *model;
        char *text = draw(seed);
        if (model_parse(&model, "drawn.yaml", text, strlen(text)) == 0) { /* else it may not be */
            run(&functional, model, 0);
            run(&one, model, 1);
            run(&many, model, 2 + seed % 3);
            bool same = memcmp(one.memory, functional.memory, sizeof one.memory) == 0;
            if (!same || memcmp(&one, &many, sizeof one) != 0) {
                fail_msg("%s on\n%s", same ? "counts differ" : "memory differs", text);
            }
            ran++;
            model_destroy(model);
        }
        free(text);
    }
    assert_true(ran >= MODELS / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_drawn_model_computes_the_same_on_any_number_of_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
