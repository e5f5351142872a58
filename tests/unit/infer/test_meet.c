/* What rays say together: which number of instructions some tell, and what may stand beside it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "infer/outstanding/outstanding.h"

/* A ray of eight loads a warp that jumps behind so many instructions; 0: over `over`. */
static struct ray_result ray(uint32_t lanes, uint32_t jump, uint32_t over)
{
    return (struct ray_result){
        .ray = {.axis = RAY_INSTRUCTIONS, .loads = 8, .lanes = lanes, .merge = 1, .share = 1},
        .jumped = jump > 0,
        .fits = jump > 0 ? jump : over,
    };
}

static void other_rays_may_fill_something_else_sooner(void **state)
{
    (void)state;
    struct ray_result rays[] = {ray(1, 21, 0), ray(2, 21, 0), ray(4, 21, 0), ray(16, 9, 0)};
    struct bounds b = {0};
    const struct meeting m = {.rays = rays, .count = 4};
    assert_false(meet_all(&m, true, 0).agree);
    assert_true(meet_most(&m, &b));
    assert_true(b.low == 21 && b.high == 21);
    /* With fewer requests than the table had, it is no other structure's. */
    rays[3] = ray(16, 4, 0);
    assert_false(meet_most(&m, &b));
}

static void only_hits_may_wait_later(void **state)
{
    (void)state;
    const struct ray_result rays[] = {ray(1, 63, 0), ray(2, 63, 0), ray(4, 65, 0)};
    struct bounds b = {0};
    struct meeting m = {.rays = rays, .count = 3, .hits = true};
    assert_true(meet_most(&m, &b));
    assert_true(b.low == 63);
    m.hits = false;
    assert_false(meet_most(&m, &b));
}

static void one_ray_tells_no_instructions(void **state)
{
    (void)state;
    struct ray_result rays[] = {ray(1, 96, 0), ray(2, 64, 0), ray(16, 0, 4)};
    struct bounds b = {0};
    const struct meeting m = {.rays = rays, .count = 3};
    assert_false(meet_most(&m, &b));
    rays[1] = ray(2, 0, 70);
    assert_false(meet_most(&m, &b));
}

static void one_of_three_rays_may_be_otherwise(void **state)
{
    (void)state;
    struct ray_result rays[] = {ray(1, 21, 0), ray(2, 33, 0), ray(4, 21, 0)};
    const struct meeting m = {.rays = rays, .count = 3, .hits = true};
    struct bounds b = {0};
    size_t left_out = 0;
    assert_true(meet_but_one(&m, &b, &left_out, true));
    assert_int_equal(left_out, 1);
    assert_true(b.low == 21 && b.high == 21);
    /* What two say is no more than what one says. */
    rays[2] = ray(4, 0, 30);
    assert_false(meet_but_one(&m, &b, &left_out, true));
}

/* The ray between meets either of the others, and these do not meet. */
static void which_ray_is_otherwise_must_be_clear(void **state)
{
    (void)state;
    const struct ray_result rays[] = {ray(4, 20, 0), ray(16, 5, 0), ray(8, 11, 0)};
    const struct meeting m = {.rays = rays, .count = 3, .hits = true};
    struct bounds b = {0};
    size_t left_out = 0;
    assert_false(meet_but_one(&m, &b, &left_out, false));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_of_three_rays_may_be_otherwise),
        cmocka_unit_test(which_ray_is_otherwise_must_be_clear),
        cmocka_unit_test(other_rays_may_fill_something_else_sooner),
        cmocka_unit_test(only_hits_may_wait_later),
        cmocka_unit_test(one_ray_tells_no_instructions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
