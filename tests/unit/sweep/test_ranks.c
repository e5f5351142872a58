/* Who counts as one of several ranks, by what launchers leave in the environment. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sweep/ranks.h"

static const char *const variables[] = {
    "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_SIZE", "PMIX_RANK",
    "PMIX_NAMESPACE",       "SLURM_STEP_NUM_TASKS"};
#define VARIABLES (sizeof variables / sizeof *variables)

/* NULL: not set. In the order of `variables`. */
static bool launched(const char *const values[VARIABLES])
{
    for (size_t i = 0; i < VARIABLES; i++) {
        if (values[i]) {
            setenv(variables[i], values[i], 1);
        } else {
            unsetenv(variables[i]);
        }
    }
    return sweep_ranks_launched();
}
#define LAUNCHED(...) launched((const char *const[VARIABLES]){__VA_ARGS__})

static void a_process_without_a_launcher_is_alone(void **state)
{
    (void)state;
    assert_false(LAUNCHED(NULL));
}

static void ranks_of_open_mpi_pmi_and_pmix_are_several(void **state)
{
    (void)state;
    assert_true(LAUNCHED("1", "2", NULL, NULL, "1", "job"));
    assert_true(LAUNCHED(NULL, NULL, "0", "8"));
    assert_true(LAUNCHED(NULL, NULL, NULL, NULL, "0", "job"));
    assert_true(LAUNCHED(NULL, NULL, NULL, NULL, "0", "job", "4"));
}

static void a_single_rank_is_alone(void **state)
{
    (void)state;
    assert_false(LAUNCHED("0", "1", NULL, NULL, "0", "job"));
    assert_false(LAUNCHED(NULL, NULL, "0", "1"));
    assert_false(LAUNCHED(NULL, NULL, NULL, NULL, "0", "job", "1"));
}

static void what_a_launcher_does_not_leave_alone_means_nothing(void **state)
{
    (void)state;
    assert_false(LAUNCHED(NULL, "2"));
    assert_false(LAUNCHED(NULL, NULL, NULL, "2"));
    assert_false(LAUNCHED(NULL, NULL, "1"));
    assert_false(LAUNCHED(NULL, NULL, NULL, NULL, "1"));
    assert_false(LAUNCHED(NULL, NULL, NULL, NULL, NULL, "job", "2"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_without_a_launcher_is_alone),
        cmocka_unit_test(ranks_of_open_mpi_pmi_and_pmix_are_several),
        cmocka_unit_test(a_single_rank_is_alone),
        cmocka_unit_test(what_a_launcher_does_not_leave_alone_means_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
