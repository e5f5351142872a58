/* What steers a program: exec_steering_create(). */
#include "exec/program.h"
#include "support/exec_device.h"

/* Parameters: p at byte 0, n at 8, q at 16. */
static struct exec_steering of(struct device *dev, const char *body)
{
    char text[4096];
    struct exec_steering steering;
    snprintf(text, sizeof text,
             PTX_HEAD
             ".const .align 4 .b32 fixed;\n"
             ".visible .entry k(.param .u64 p, .param .u32 n, .param .u64 q) {\n"
             ".reg .b64 %%d<8>;\n.reg .b32 %%r<8>;\n.reg .f32 %%f<4>;\n.reg .pred %%p<3>;\n"
             ".shared .b32 s[64];\n%s\nret;\n}\n",
             body);
    device_open(dev, text, "k");
    assert_int_equal(exec_steering_create(&steering, dev->program), SONDE_OK);
    return steering;
}

static uint32_t count(const struct exec_steering *steering, uint32_t length)
{
    uint32_t loads = 0;
    for (uint32_t pc = 0; pc < length; pc++)
        loads += steering->loads[pc];
    return loads;
}

static void expect(const char *body, bool known, uint32_t loads, const char *params)
{
    struct device dev;
    struct exec_steering steering = of(&dev, body);
    assert_int_equal(steering.known, known);
    if (known) {
        assert_int_equal(count(&steering, exec_program_length(dev.program)), loads);
        assert_int_equal(steering.params[0], strchr(params, 'p') != NULL);
        assert_int_equal(steering.params[8], strchr(params, 'n') != NULL);
        assert_int_equal(steering.params[16], strchr(params, 'q') != NULL);
    }
    exec_steering_free(&steering);
    device_close(&dev);
}

#define AT_P "ld.param.u64 %d1, [p];\n"

static void addresses_steer_and_what_is_computed_does_not(void **state)
{
    (void)state;
    expect(AT_P "ld.param.u32 %r1, [n];\nld.global.u32 %r2, [%d1];\nmul.lo.u32 %r2, %r2, %r1;\n"
                "st.global.u32 [%d1], %r2;",
           true, 0, "p");
}

static void a_load_that_a_branch_or_an_address_comes_from_steers(void **state)
{
    (void)state;
    expect(AT_P "ld.global.u32 %r2, [%d1];\nadd.u32 %r2, %r2, 1;\nsetp.eq.u32 %p1, %r2, 4;\n"
                "@%p1 bra L;\nld.param.u64 %d2, [q];\nst.global.u32 [%d2], %r2;\nL:",
           true, 1, "pq");
    expect(AT_P "ld.param.u32 %r1, [n];\nld.global.u32 %r2, [%d1];\nadd.u32 %r2, %r2, %r1;\n"
                "mul.wide.u32 %d2, %r2, 4;\nadd.u64 %d2, %d2, %d1;\nld.global.u32 %r3, [%d2];\n"
                "st.global.u32 [%d1], %r3;",
           true, 1, "pn");
    expect(AT_P "ld.global.u32 %r2, [%d1];\nsetp.eq.u32 %p1, %r2, 4;\n@%p1 st.global.u32 [%d1], 1;",
           true, 1, "p");
}

static void a_selection_does_not(void **state)
{
    (void)state;
    expect(AT_P "ld.global.u32 %r2, [%d1];\nsetp.eq.u32 %p1, %r2, 4;\nselp.u32 %r3, 1, 2, %p1;\n"
                "@%p1 mov.u32 %r3, 7;\nst.global.u32 [%d1], %r3;",
           true, 0, "p");
}

static void what_comes_by_way_of_shared_memory_steers_too(void **state)
{
    (void)state;
    expect(AT_P "ld.global.u32 %r2, [%d1];\nst.shared.u32 [s], %r2;\nbar.sync 0;\n"
                "ld.shared.u32 %r3, [s+4];\nsetp.eq.u32 %p1, %r3, 4;\n@%p1 bra L;\n"
                "st.global.u32 [%d1], 1;\nL:",
           true, 1, "p");
    expect(AT_P "ld.global.u32 %r2, [%d1];\nst.shared.u32 [s], %r2;\nbar.sync 0;\n"
                "ld.shared.u32 %r3, [s+4];\nst.global.u32 [%d1], %r3;",
           true, 0, "p");
}

static void a_shuffled_value_steers_where_its_result_does(void **state)
{
    (void)state;
    expect(AT_P "ld.global.u32 %r2, [%d1];\nshfl.sync.down.b32 %r3, %r2, 1, 31, -1;\n"
                "st.global.u32 [%d1], %r3;",
           true, 0, "p");
    expect(AT_P "ld.global.u32 %r2, [%d1];\nshfl.sync.idx.b32 %r3, 5, %r2, 31, -1;\n"
                "setp.eq.u32 %p1, %r3, 4;\n@%p1 bra L;\nst.global.u32 [%d1], %r3;\nL:",
           true, 1, "p");
}

static void results_of_atomics_grids_numbers_constants_and_carries_are_not_followed(void **state)
{
    (void)state;
    expect(AT_P "atom.global.add.u32 %r2, [%d1], 1;\nsetp.eq.u32 %p1, %r2, 4;\n@%p1 bra L;\n"
                "st.global.u32 [%d1], 0;\nL:",
           false, 0, "");
    expect(AT_P "atom.global.add.u32 %r2, [%d1], 1;\nst.global.u32 [%d1], %r2;", true, 0, "p");
    expect(AT_P "ld.const.u32 %r2, [fixed];\nsetp.eq.u32 %p1, %r2, 4;\n@%p1 bra L;\n"
                "st.global.u32 [%d1], 0;\nL:",
           false, 0, "");
    expect(AT_P "ld.global.u32 %r2, [%d1];\nadd.cc.u32 %r2, %r2, -1;\naddc.u32 %r3, 0, 0;\n"
                "setp.eq.u32 %p1, %r3, 0;\n@%p1 bra L;\nst.global.u32 [%d1], 0;\nL:",
           false, 0, "");
    expect(AT_P "mov.u64 %d2, %gridid;\nst.global.u64 [%d1], %d2;", false, 0, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_steer_and_what_is_computed_does_not),
        cmocka_unit_test(a_load_that_a_branch_or_an_address_comes_from_steers),
        cmocka_unit_test(a_selection_does_not),
        cmocka_unit_test(what_comes_by_way_of_shared_memory_steers_too),
        cmocka_unit_test(a_shuffled_value_steers_where_its_result_does),
        cmocka_unit_test(results_of_atomics_grids_numbers_constants_and_carries_are_not_followed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
