/*
 * Registers that nobody has written: their lanes read as zero, whatever warps had there before
 * whose state goes on to the next. Warps of programs that cannot read such begin without clearing
 * them.
 */
#include "exec/program.h"
#include "support/exec_device.h"

#define LANES 32u
#define CTAS 4u

/* Block 0 gives all lanes of r3 77; %g: it is another block; %h: it is, and the lane is 16 or more.
 */
static const uint32_t *run(struct device *dev, const char *body)
{
    char text[4096];
    snprintf(text, sizeof text,
             PTX_HEAD
             ".visible .entry k(.param .u64 p) {\n.reg .b64 %%d<4>;\n.reg .b32 %%r<8>;\n"
             ".reg .pred %%g, %%h;\nld.param.u64 %%d0, [p];\nmov.u32 %%r0, %%ctaid.x;\n"
             "mov.u32 %%r1, %%tid.x;\nmad.lo.u32 %%r2, %%r0, 32, %%r1;\n"
             "mad.wide.u32 %%d1, %%r2, 4, %%d0;\nsetp.ne.u32 %%g, %%r0, 0;\n"
             "setp.ge.and.u32 %%h, %%r1, 16, %%g;\n%s\nst.global.u32 [%%d1], %%r4;\nret;\n}\n",
             body);
    device_open(dev, text, "k");
    uint64_t at = device_alloc(dev, 4096);
    device_arg_u64(dev, at);
    dev->launch.grid[0] = CTAS;
    dev->launch.block[0] = LANES;
    assert_int_equal(exec_run_launch_with(&dev->launch, &dev->options), SONDE_OK);
    return device_pointer(at);
}

static void the_lane_itself_reads_zero(void **state)
{
    (void)state;
    struct device dev;
    const uint32_t *words = run(&dev, "@%g bra L;\nmov.u32 %r3, 77;\nL:\nmov.u32 %r4, %r3;");
    assert_true(dev.program->needs_zero);
    for (uint32_t i = 0; i < CTAS * LANES; i++)
        assert_int_equal(words[i], i < LANES ? 77 : 0);
    device_close(&dev);
}

static void so_does_one_that_writes_under_a_guard(void **state)
{
    (void)state;
    struct device dev;
    const uint32_t *words = run(&dev, "@!%g mov.u32 %r3, 77;\nadd.u32 %r4, %r3, 1;");
    assert_true(dev.program->needs_zero);
    for (uint32_t i = 0; i < CTAS * LANES; i++)
        assert_int_equal(words[i], i < LANES ? 78 : 1);
    device_close(&dev);
}

/* Every lane that comes to the shuffle has written its register, but it reads another's. Registers
 * 0 to 2 are kept, so that none of them had its place. */
static void another_lane_reads_zero(void **state)
{
    (void)state;
    struct device dev;
    const uint32_t *words =
        run(&dev, "mov.u32 %r4, 5;\n@%h bra L;\nmov.u32 %r3, 77;\nxor.b32 %r5, %r1, 16;\n"
                  "shfl.sync.idx.b32 %r4, %r3, %r5, 31, -1;\nL:\nsetp.ne.u32 %g, %r0, %r1;\n"
                  "setp.ne.u32 %g, %r2, %r1;");
    assert_true(dev.program->needs_zero);
    for (uint32_t i = 0; i < CTAS * LANES; i++)
        assert_int_equal(words[i], i < LANES ? 77 : i % LANES < 16 ? 0 : 5);
    device_close(&dev);
}

static void who_writes_first_needs_no_zero(void **state)
{
    (void)state;
    struct device dev;
    const uint32_t *words =
        run(&dev, "mov.u32 %r3, %r2;\n@%h bra L;\nadd.u32 %r3, %r3, 100;\nL:\nmov.u32 %r4, %r3;");
    assert_false(dev.program->needs_zero);
    for (uint32_t i = 0; i < CTAS * LANES; i++)
        assert_int_equal(words[i], i < LANES || i % LANES < 16 ? i + 100 : i);
    device_close(&dev);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_lane_itself_reads_zero),
        cmocka_unit_test(so_does_one_that_writes_under_a_guard),
        cmocka_unit_test(another_lane_reads_zero),
        cmocka_unit_test(who_writes_first_needs_no_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
