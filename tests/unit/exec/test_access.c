/* Loads, stores and atomics in every state space, generic addresses, and the faults of bad ones. */
#include "support/exec_device.h"

#define STORE32(r) "cvt.u64.u32 %l19, " r "; st.global.u64 [%out], %l19;\n"
#define STORE64(r) "st.global.u64 [%out], " r ";\n"

static void check(const char *text, uint64_t (*want)(uint32_t t))
{
    struct device dev;
    uint64_t *out = device_results(&dev, text, 64);
    for (uint32_t t = 0; t < 64; t++)
        if (out[t] != want(t))
            fail_msg("thread %u: %" PRIx64 ", not %" PRIx64, t, out[t], want(t));
    device_close(&dev);
}

static uint64_t want_table(uint32_t t)
{
    return (uint64_t)(t % 4 + 1) * 11;
}

static void initialised_global_and_const_arrays_are_read(void **state)
{
    (void)state;
    check(KERNEL(".global .align 4 .u32 table[4] = {11, 22, 33, 44};\n",
                 "and.b32 %r0, %t, 3; mov.u64 %l0, table; mad.wide.u32 %l0, %r0, 4, %l0;\n"
                 "ld.global.u32 %r1, [%l0];\n" STORE32("%r1")),
          want_table);
    check(KERNEL(".const .align 4 .u32 table[4] = {11, 22, 33, 44};\n",
                 "and.b32 %r0, %t, 3; mov.u64 %l0, table; mad.wide.u32 %l0, %r0, 4, %l0;\n"
                 "ld.const.u32 %r1, [%l0];\n" STORE32("%r1")),
          want_table);
    check(KERNEL(".const .align 4 .u32 table[4] = {11, 22, 33, 44};\n",
                 "and.b32 %r0, %t, 3; mov.u64 %l1, table; cvta.const.u64 %l0, %l1;\n"
                 "mad.wide.u32 %l0, %r0, 4, %l0; ld.u32 %r1, [%l0];\n" STORE32("%r1")),
          want_table);
}

static uint64_t want_small(uint32_t t)
{
    uint8_t b = (uint8_t)(t * 9);
    return (uint64_t)b + (uint64_t)(int64_t)(int8_t)b * 1000 +
           (uint64_t)(uint16_t)(b * 257) * 1000000;
}

static void bytes_and_halves_are_extended_as_their_type_says(void **state)
{
    (void)state;
    check(
        KERNEL("",
               "mul.lo.u32 %r0, %t, 9; st.global.u8 [%out], %r0; st.global.u8 [%out+1], %r0;\n"
               "ld.global.u8 %r1, [%out]; ld.global.s8 %l1, [%out+1]; ld.global.u16 %h0, [%out];\n"
               "cvt.u64.u32 %l0, %r1; mad.lo.s64 %l0, %l1, 1000, %l0; cvt.u64.u16 %l2, %h0;\n"
               "mad.lo.s64 %l0, %l2, 1000000, %l0;\n" STORE64("%l0")),
        want_small);
}

static uint64_t want_vector(uint32_t t)
{
    return (uint64_t)t * 4 + 10;
}

static void vectors_are_loaded_and_stored_whole(void **state)
{
    (void)state;
    check(KERNEL(".global .align 16 .b8 room[1024];\n",
                 "mov.u64 %l0, room; mad.wide.u32 %l0, %t, 16, %l0; add.u32 %r0, %t, 1;\n"
                 "add.u32 %r1, %t, 2; add.u32 %r2, %t, 3; add.u32 %r3, %t, 4;\n"
                 "st.global.v4.u32 [%l0], {%r0, %r1, %r2, %r3};\n"
                 "ld.global.v2.u64 {%l1, %l2}, [%l0]; mov.b64 {%r4, %r5}, %l1;\n"
                 "mov.b64 {%r6, %r7}, %l2; add.u32 %r4, %r4, %r5; add.u32 %r6, %r6, %r7;\n"
                 "add.u32 %r4, %r4, %r6; ld.global.v4.u32 {_, %r8, _, _}, [%l0];\n"
                 "sub.u32 %r8, %r8, %r1; add.u32 %r4, %r4, %r8;\n" STORE32("%r4")),
          want_vector);
}

static uint64_t want_neighbour(uint32_t t)
{
    return (t + 1) % 64 * 3;
}

static void shared_memory_carries_values_between_warps(void **state)
{
    (void)state;
    check(KERNEL("", ".shared .align 4 .b32 room[64];\n"
                     "mov.u64 %l0, room; mad.wide.u32 %l1, %t, 4, %l0; mul.lo.u32 %r0, %t, 3;\n"
                     "st.shared.u32 [%l1], %r0; bar.sync 0;\n"
                     "add.u32 %r1, %t, 1; and.b32 %r1, %r1, 63; mad.wide.u32 %l1, %r1, 4, %l0;\n"
                     "ld.shared.u32 %r2, [%l1];\n" STORE32("%r2")),
          want_neighbour);
}

static void a_32_bit_register_is_a_shared_address(void **state)
{
    (void)state;
    check(KERNEL("", ".shared .align 4 .b32 pad[3]; .shared .align 4 .b32 room[64];\n"
                     "mov.u32 %r9, room; mad.lo.u32 %r8, %t, 4, %r9; mul.lo.u32 %r0, %t, 3;\n"
                     "st.shared.u32 [%r8], %r0; st.shared.u32 [pad], %r0; bar.sync 0;\n"
                     "add.u32 %r1, %t, 1; and.b32 %r1, %r1, 63; mad.lo.u32 %r8, %r1, 4, %r9;\n"
                     "ld.shared.u32 %r2, [%r8];\n" STORE32("%r2")),
          want_neighbour);
}

static uint64_t want_narrow(uint32_t t)
{
    (void)t;
    return 4 + 60 * 100 + 60 * 10000 + 5 * 1000000;
}

/* Word i of the room holds i; 0xf0 is -16 by a signed register, 240 by any other. */
static void a_base_register_of_8_or_16_bits_is_extended_by_its_own_sign(void **state)
{
    (void)state;
    check(KERNEL("",
                 ".shared .align 4 .b32 room[64]; .reg .s8 %sb; .reg .u8 %ub; .reg .b8 %bb;\n"
                 ".reg .s16 %sh; .reg .pred %never;\n"
                 "mov.u32 %r9, room; mad.lo.u32 %r8, %t, 4, %r9; st.shared.u32 [%r8], %t;\n"
                 "mov.u32 %r0, 0xf0; st.global.u32 [%out], %r0; bar.sync 0;\n"
                 "ld.global.s8 %sb, [%out]; ld.global.u8 %ub, [%out]; ld.global.b8 %bb, [%out];\n"
                 "mov.s16 %sh, -12; setp.ne.u32 %never, %r0, 0xf0; ld.shared.u32 %r1, [%sb+32];\n"
                 "ld.shared.u32 %r2, [%ub];\n"
                 "ld.shared.u32 %r3, [%bb]; ld.shared.u32 %r4, [%sh+32];\n"
                 "@%never ld.shared.u32 %r4, [%sh];\n"
                 "mad.lo.u32 %r1, %r2, 100, %r1; mad.lo.u32 %r1, %r3, 10000, %r1;\n"
                 "mad.lo.u32 %r1, %r4, 1000000, %r1;\n" STORE32("%r1")),
          want_narrow);
}

static void dynamic_shared_memory_lies_behind_the_static(void **state)
{
    (void)state;
    struct device dev;
    uint64_t *out = device_kernel(
        &dev,
        KERNEL(".extern .shared .align 16 .b8 dynamic[];\n",
               ".shared .align 4 .b32 fixed[5];\n"
               "mov.u64 %l0, dynamic; mov.u64 %l2, fixed; mad.wide.u32 %l1, %t, 4, %l0;\n"
               "st.shared.u32 [%l1], %t; st.shared.u32 [fixed+16], 5;\n"
               "ld.shared.u32 %r0, [%l1]; mov.u32 %r1, %dynamic_smem_size; add.u32 %r0, %r0, "
               "%r1;\n" STORE32("%r0")),
        32);
    assert_int_equal(exec_program_shared_bytes(dev.program), 32);
    dev.launch.dynamic_shared_bytes = 128;
    device_run(&dev, 1, 32);
    for (uint32_t t = 0; t < 32; t++)
        assert_int_equal(out[t], t + 128);
    dev.launch.dynamic_shared_bytes = 124;
    assert_int_equal(device_try_run(&dev, 1, 32), SONDE_EFAULT);
    assert_error_has("shared store of 4 bytes at 0x9c is out of bounds");
    assert_error_has("thread (31,0,0)");
    device_close(&dev);
}

/* Who asks for the system's shared memory has 1 KiB of it, apart from static and dynamic memory. */
static void reserved_shared_memory_is_nobody_elses(void **state)
{
    (void)state;
    struct device dev;
    uint64_t *out = device_kernel(
        &dev,
        KERNEL(
            ".extern .shared .align 16 .b8 dynamic[];\n",
            ".shared .align 4 .b32 fixed[32];\n"
            "mov.u32 %r0, %reserved_smem_offset_begin; mov.u32 %r1, %reserved_smem_offset_end;\n"
            "sub.u32 %r2, %r1, %r0; mov.u32 %r3, %reserved_smem_offset_cap;\n"
            "add.u32 %r2, %r2, %r3; mov.u32 %r4, %reserved_smem_offset_1;\n"
            "mov.u64 %l0, dynamic; mov.u64 %l1, fixed; mad.wide.u32 %l0, %t, 4, %l0;\n"
            "mad.wide.u32 %l1, %t, 4, %l1; mad.lo.u32 %r5, %t, 32, %r0;\n"
            "mad.lo.u32 %r4, %t, 16, %r4; st.shared.u32 [%l0], 7; st.shared.u32 [%l1], 8;\n"
            "st.shared.v4.u32 [%r5], {%r0, %r0, %r0, %r0};\n"
            "st.shared.v4.u32 [%r4], {%r0, %r0, %r0, %r0}; bar.sync 0;\n"
            "ld.shared.u32 %r6, [%l0]; ld.shared.u32 %r7, [%l1];\n"
            "mad.lo.u32 %r2, %r6, 10000, %r2; mad.lo.u32 %r2, %r7, 100000, %r2;\n" STORE32("%r2")),
        32);
    assert_int_equal(exec_program_shared_bytes(dev.program), 128 + 1024);
    dev.launch.dynamic_shared_bytes = 128;
    device_run(&dev, 1, 32);
    for (uint32_t t = 0; t < 32; t++)
        assert_int_equal(out[t], 870000 + 2048);
    device_close(&dev);
}

static uint64_t want_local(uint32_t t)
{
    return (uint64_t)t * 2 + t + 1;
}

static void local_memory_is_of_each_thread(void **state)
{
    (void)state;
    check(KERNEL("",
                 ".local .align 8 .b8 mine[48];\n"
                 "add.u32 %r0, %t, 1; st.local.u32 [mine+20], %t; st.local.u32 [mine+40], %r0;\n"
                 "mov.u64 %l0, mine; cvta.local.u64 %l1, %l0; ld.u32 %r1, [%l1+20];\n"
                 "ld.local.u32 %r2, [%l0+40]; mad.lo.u32 %r1, %r1, 2, %r2;\n" STORE32("%r1")),
          want_local);
}

static uint64_t want_generic(uint32_t t)
{
    return t % 3 * 100 + t;
}

static void a_generic_access_reaches_three_spaces_at_once(void **state)
{
    (void)state;
    check(KERNEL(
              ".global .align 4 .b8 g[256];\n",
              ".shared .align 4 .b8 s[256]; .local .align 4 .b8 l[16];\n"
              "mov.u64 %l0, g; cvta.global.u64 %l0, %l0; mad.wide.u32 %l0, %t, 4, %l0;\n"
              "mov.u64 %l1, s; cvta.shared.u64 %l1, %l1; mad.wide.u32 %l1, %t, 4, %l1;\n"
              "mov.u64 %l2, l; cvta.local.u64 %l2, %l2;\n"
              "rem.u32 %r0, %t, 3; setp.eq.u32 %p0, %r0, 1; setp.eq.u32 %p1, %r0, 2;\n"
              "mov.u64 %l3, %l0; @%p0 mov.u64 %l3, %l1; @%p1 mov.u64 %l3, %l2;\n"
              "mad.lo.u32 %r1, %r0, 100, %t; st.u32 [%l3], %r1; ld.u32 %r2, [%l3];\n"
              /* and it was there */
              "cvta.to.shared.u64 %l4, %l3; @%p0 ld.shared.u32 %r3, [%l4]; @%p0 mov.u32 %r2, %r3;\n"
              "isspacep.global %p2, %l3; setp.eq.u32 %p3, %r0, 0; xor.pred %p4, %p2, %p3;\n"
              "@%p4 mov.u32 %r2, 0; isspacep.local %p2, %l3; xor.pred %p4, %p2, %p1;\n"
              "@%p4 mov.u32 %r2, 0;\n" STORE32("%r2")),
          want_generic);
}

static void parameters_of_all_widths_lie_at_their_alignment(void **state)
{
    (void)state;
    struct device dev;
    device_open(
        &dev,
        PTX_HEAD
        ".visible .entry k(.param .u8 a, .param .u64 out, .param .s16 b, .param .align 8 .b8 "
        "s[16])\n"
        "{ .reg .b64 %l<9>; ld.param.u64 %l0, [out]; ld.param.u8 %l1, [a];\n"
        "ld.param.s16 %l2, [b]; ld.param.u64 %l3, [s]; ld.param.u64 %l4, [s+8]; mov.b64 %l5, s;\n"
        "ld.param.u64 %l6, [%l5+8]; add.u64 %l1, %l1, %l2; add.u64 %l1, %l1, %l3;\n"
        "add.u64 %l1, %l1, %l4; add.u64 %l1, %l1, %l6; st.global.u64 [%l0], %l1; ret; }",
        "k");
    uint64_t out = device_alloc(&dev, 8), pair[2] = {1000, 20000};
    int8_t a = 7;
    int16_t b = -100;
    device_arg(&dev, &a, 1);
    device_arg_u64(&dev, out);
    device_arg(&dev, &b, 2);
    device_arg_u64(&dev, pair[0]);
    device_arg_u64(&dev, pair[1]);
    device_run(&dev, 1, 1);
    assert_int_equal(*(uint64_t *)device_pointer(out), 7 - 100 + 1000 + 20000 + 20000);
    device_close(&dev);
}

static void parameters_have_generic_addresses_that_cannot_be_written(void **state)
{
    (void)state;
    struct device dev;
    uint64_t *out = device_results(&dev,
                                   KERNEL("", "mov.b64 %l0, out; cvta.param.u64 %l1, %l0;\n"
                                              "ld.u64 %l2, [%l1];\n" STORE64("%l2")),
                                   32);
    for (uint32_t t = 0; t < 32; t++)
        assert_int_equal(out[t], (uint64_t)(uintptr_t)out);
    device_close(&dev);
    device_kernel(&dev, KERNEL("", "mov.b64 %l0, out; cvta.param.u64 %l1, %l0; st.u64 [%l1], 1;"),
                  32);
    assert_int_equal(device_try_run(&dev, 1, 32), SONDE_EFAULT);
    assert_error_has("store in param memory at 0x0");
    device_close(&dev);
}

static void too_few_parameter_bytes_are_refused(void **state)
{
    (void)state;
    struct device dev;
    device_open(&dev, KERNEL("", ""), "k");
    assert_int_equal(device_try_run(&dev, 1, 1), SONDE_EINPUT);
    device_close(&dev);
}

/* Atomics: 64 threads on one counter; the old values must be a permutation. */
static void atomic_add_gives_every_thread_another_old_value(void **state)
{
    (void)state;
    struct device dev;
    uint64_t *out = device_results(
        &dev,
        KERNEL(".global .align 4 .u32 n = 5;\n",
               "mov.u64 %l0, n; atom.global.add.u32 %r0, [%l0], 3;\n" STORE32("%r0")),
        64);
    uint64_t seen = 0;
    for (uint32_t t = 0; t < 64; t++) {
        assert_int_equal((out[t] - 5) % 3, 0);
        seen |= UINT64_C(1) << (out[t] - 5) / 3;
    }
    assert_int_equal(seen, UINT64_MAX);
    device_close(&dev);
}

struct atomic_case {
    const char *op, *type;
    uint64_t old, b, c, want;
};

static void every_atomic_operation_gives_its_result(void **state)
{
    (void)state;
    static const struct atomic_case cases[] = {
        {"and", "b32", 0xff0f, 0x0ff0, 0, 0x0f00},
        {"or", "b32", 0xff0f, 0x0ff0, 0, 0xffff},
        {"xor", "b64", 0xff00000000000f0f, 0xf000000000000ff0, 0, 0x0f000000000000ff},
        {"exch", "b32", 1, 2, 0, 2},
        {"exch", "b64", 1, 0x200000000, 0, 0x200000000},
        {"cas", "b32", 5, 5, 9, 9},
        {"cas", "b32", 5, 6, 9, 5},
        {"cas", "b64", 0x500000000, 0x500000000, 9, 9},
        {"add", "u32", 0xffffffff, 3, 0, 2},
        {"add", "u64", 0xffffffff, 3, 0, 0x100000002},
        {"add", "f32", 0x3f800000, 0x40000000, 0, 0x40400000},
        {"add", "f64", 0x3ff0000000000000, 0x4000000000000000, 0, 0x4008000000000000},
        {"inc", "u32", 4, 5, 0, 5},
        {"inc", "u32", 5, 5, 0, 0},
        {"dec", "u32", 0, 5, 0, 5},
        {"dec", "u32", 6, 5, 0, 5},
        {"dec", "u32", 3, 5, 0, 2},
        {"min", "s32", 0xfffffffe, 1, 0, 0xfffffffe},
        {"min", "u32", 0xfffffffe, 1, 0, 1},
        {"max", "s32", 0xfffffffe, 1, 0, 1},
        {"max", "u32", 0xfffffffe, 1, 0, 0xfffffffe},
        {"min", "s64", 0xfffffffffffffffe, 1, 0, 0xfffffffffffffffe},
        {"max", "u64", 0xfffffffffffffffe, 1, 0, 0xfffffffffffffffe},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct atomic_case *c = &cases[i];
        bool wide = strcmp(c->type + 1, "64") == 0, has_c = strcmp(c->op, "cas") == 0;
        const char *r = c->type[0] == 'f' ? (wide ? "%d" : "%f") : wide ? "%l" : "%r";
        char text[2048];
        snprintf(text, sizeof text,
                 "%s ld.global.%s %s0, [%%out+8]; ld.global.%s %s1, [%%out+16];\n"
                 "atom.global.%s.%s %s2, [%%out], %s0%s%s; st.global.%s [%%out+24], %s2; %s",
                 KERNEL_BEGIN(""), c->type, r, c->type, r, c->op, c->type, r, r, has_c ? ", " : "",
                 has_c ? (wide ? "%l1" : "%r1") : "", c->type, r, KERNEL_END);
        struct device dev;
        uint64_t *out = device_kernel(&dev, text, 4);
        out[0] = c->old;
        out[1] = c->b;
        out[2] = c->c;
        device_run(&dev, 1, 1);
        if (out[0] != c->want || out[3] != c->old)
            fail_msg("atom.%s.%s of %" PRIx64 ": %" PRIx64 ", not %" PRIx64 " (old %" PRIx64 ")",
                     c->op, c->type, c->old, out[0], c->want, out[3]);
        device_close(&dev);
    }
}

static void reductions_and_shared_atomics_add_up(void **state)
{
    (void)state;
    struct device dev;
    uint64_t *out = device_results(
        &dev,
        KERNEL(".global .align 4 .u32 n;\n",
               ".shared .align 4 .u32 s; setp.eq.u32 %p0, %t, 0; @%p0 st.shared.u32 [s], 0;\n"
               "bar.sync 0; mov.u64 %l0, n; red.global.add.u32 [%l0], 2;\n"
               "atom.shared.add.u32 _, [s], 1; bar.sync 0;\n"
               "ld.global.u32 %r0, [%l0]; ld.shared.u32 %r1, [s]; mad.lo.u32 %r0, %r0, 1000, "
               "%r1;\n" STORE32("%r0")),
        64);
    for (uint32_t t = 0; t < 64; t++)
        assert_int_equal(out[t], 128064);
    device_close(&dev);
}

/* Faults. */

static void fault(const char *body, const char *part, const char *part2)
{
    struct device dev;
    device_kernel(&dev, body, 64);
    assert_int_equal(device_try_run(&dev, 1, 64), SONDE_EFAULT);
    assert_error_has(part);
    assert_error_has(part2);
    device_close(&dev);
}

static void an_access_outside_of_any_allocation_names_its_neighbour(void **state)
{
    (void)state;
    fault(KERNEL("", "setp.eq.u32 %p0, %t, 37;\n@%p0 ld.global.u32 %r0, [%out+216];\nst.global.u32 "
                     "[%out], %r0;"),
          "0 bytes after the allocation", "lane 5, thread (37,0,0) of CTA (0,0,0)");
    fault(KERNEL("", "\n\n\nld.u32 %r0, [%out+4096]; st.global.u32 [%out], %r0;"),
          "test.ptx:", "kernel 'k': global load of 4 bytes at 0x");
    fault(KERNEL("", "mov.u64 %l0, 0; st.u32 [%l0], 1;"),
          "global store of 4 bytes at 0x0 is out of bounds", "lane 0");
    fault(KERNEL("", ".reg .s16 %sh; mov.s16 %sh, -12; ld.global.u32 %r0, [%sh];"),
          "global load of 4 bytes at 0xfffffff4 is out of bounds", "lane 0");
}

static void a_misaligned_access_is_told_apart(void **state)
{
    (void)state;
    fault(KERNEL("", "add.u64 %out, %out, 2; st.global.u32 [%out], 1;"),
          "misaligned global store of 4 bytes", "lane 0");
    fault(KERNEL("", "ld.global.v2.u32 {%r0, %r1}, [%out+4]; st.global.u32 [%out], %r0;"),
          "misaligned global load of 8 bytes", "thread (0,0,0)");
}

static void the_ends_of_shared_and_local_memory_are_faults(void **state)
{
    (void)state;
    fault(KERNEL("", ".shared .b32 s[4]; mov.u64 %l0, s; st.shared.u32 [%l0+16], 1;"),
          "shared store of 4 bytes at 0x10 is out of bounds", "lane 0");
    fault(KERNEL("", ".local .b32 s[4]; mov.u64 %l0, s; st.local.u32 [%l0+16], 1;"),
          "local store of 4 bytes at 0x10 is out of bounds", "lane 0");
    fault(
        KERNEL("",
               ".shared .b32 s[4]; mov.u64 %l0, s; cvta.shared.u64 %l0, %l0; ld.u32 %r0, [%l0+-4];"
               "st.global.u32 [%out], %r0;"),
        "is out of bounds", "lane 0");
}

static void an_atomic_on_local_memory_is_a_fault(void **state)
{
    (void)state;
    fault(
        KERNEL("",
               ".local .b32 s; mov.u64 %l0, s; cvta.local.u64 %l0, %l0; atom.add.u32 %r0, [%l0], 1;"
               "st.global.u32 [%out], %r0;"),
        "atomic operation in local memory", "lane 0");
}

static void a_prefetch_of_nothing_does_nothing(void **state)
{
    (void)state;
    struct device dev;
    uint64_t *out =
        device_results(&dev,
                       KERNEL("", "mov.u64 %l0, 64; prefetch.global.L1 [%l0];\n"
                                  "prefetch.global.L2 [%out]; mov.u32 %r0, 3;\n" STORE32("%r0")),
                       32);
    assert_int_equal(out[31], 3);
    device_close(&dev);
}

static void a_trap_is_a_fault(void **state)
{
    (void)state;
    fault(KERNEL("", "setp.eq.u32 %p0, %t, 40; @%p0 trap;"), "kernel 'k': trap", "thread (40,0,0)");
}

static void loads_that_nobody_reads_still_fault(void **state)
{
    (void)state;
    fault(KERNEL("", "ld.global.u32 %r0, [%out+8192];"), "global load", "lane 0");
}

static uint64_t want_named(uint32_t t)
{
    return 4u * t + 7;
}

static void a_variable_named_without_a_space_is_accessed_in_its_own(void **state)
{
    (void)state;
    check(KERNEL("", ".shared .align 4 .b32 before, s; .local .align 4 .b32 l[2];\n"
                     "mul.lo.u32 %r1, %t, 3; st.b32 [l+4], %r1; st.shared.b32 [s], 5;\n"
                     "bar.sync 0; setp.ne.u32 %p0, %t, 0; @!%p0 atom.add.u32 %r2, [s], 1;\n"
                     "@!%p0 red.add.u32 [s], 1; bar.sync 0; ld.b32 %r3, [s];\n"
                     "add.u32 %r3, %r3, %t; ld.volatile.b32 %r4, [l+4];\n"
                     "add.u32 %r3, %r3, %r4;\n" STORE32("%r3")),
          want_named);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(initialised_global_and_const_arrays_are_read),
        cmocka_unit_test(bytes_and_halves_are_extended_as_their_type_says),
        cmocka_unit_test(vectors_are_loaded_and_stored_whole),
        cmocka_unit_test(a_variable_named_without_a_space_is_accessed_in_its_own),
        cmocka_unit_test(shared_memory_carries_values_between_warps),
        cmocka_unit_test(a_32_bit_register_is_a_shared_address),
        cmocka_unit_test(a_base_register_of_8_or_16_bits_is_extended_by_its_own_sign),
        cmocka_unit_test(dynamic_shared_memory_lies_behind_the_static),
        cmocka_unit_test(reserved_shared_memory_is_nobody_elses),
        cmocka_unit_test(local_memory_is_of_each_thread),
        cmocka_unit_test(a_generic_access_reaches_three_spaces_at_once),
        cmocka_unit_test(parameters_of_all_widths_lie_at_their_alignment),
        cmocka_unit_test(parameters_have_generic_addresses_that_cannot_be_written),
        cmocka_unit_test(too_few_parameter_bytes_are_refused),
        cmocka_unit_test(atomic_add_gives_every_thread_another_old_value),
        cmocka_unit_test(every_atomic_operation_gives_its_result),
        cmocka_unit_test(reductions_and_shared_atomics_add_up),
        cmocka_unit_test(an_access_outside_of_any_allocation_names_its_neighbour),
        cmocka_unit_test(a_misaligned_access_is_told_apart),
        cmocka_unit_test(the_ends_of_shared_and_local_memory_are_faults),
        cmocka_unit_test(an_atomic_on_local_memory_is_a_fault),
        cmocka_unit_test(a_prefetch_of_nothing_does_nothing),
        cmocka_unit_test(a_trap_is_a_fault),
        cmocka_unit_test(loads_that_nobody_reads_still_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
