/*
 * Linking: the verdicts of link/cases.txt (nvlink.sh holds them against the vendor's linker), and
 * programs of two files that nvcc made, in either order.
 */
#include "bench.h"
#include "rt/state.h"

static int add(struct rt_link *link, const char *folder, const char *name)
{
    char path[256], shown[256];
    snprintf(path, sizeof path, "%s%s.ptx", folder, name);
    snprintf(shown, sizeof shown, "%s.ptx", name);
    char *ptx = bench_read(path);
    int rc = rt_link_add(link, shown, ptx, strlen(ptx));
    free(ptx);
    return rc;
}

/* Links files of a list, "a b c" up to a colon or the end. */
static int link_files(struct bench *bench, const char *folder, const char *list)
{
    struct rt_link *link;
    char names[256];
    snprintf(names, sizeof names, "%.*s", (int)strcspn(list, ":\n"), list);
    assert_int_equal(rt_link_create(bench->rt, &link), 0);
    int rc = 0;
    for (char *rest, *name = strtok_r(names, " ", &rest); name && rc == 0;
         name = strtok_r(NULL, " ", &rest))
        rc = add(link, folder, name);
    rc = rc < 0 ? rc : rt_link_complete(link, &bench->module);
    rt_link_destroy(link);
    return rc;
}

static void check_case(struct bench *bench, const char *line)
{
    bool ok = strncmp(line, "ok", 2) == 0;
    const char *colon = strchr(line, ':');
    int rc = link_files(bench, "link/", line + 9);
    if (rc != (ok ? 0 : SONDE_EINPUT))
        fail_msg("%s: code %d, %s", line, rc, rc < 0 ? error_text() : "linked");
    if (!ok && strcmp(error_text(), colon + 2) != 0)
        fail_msg("%s\ngot: %s", line, error_text());
    if (rc == 0)
        rt_module_unload(bench->rt, bench->module);
}

static void every_case_has_its_verdict_and_its_reason(void **state)
{
    (void)state;
    struct bench bench;
    int count = 0;
    bench_open(&bench, "link_part.ptx", true);
    char *cases = bench_read("link/cases.txt"), *rest;
    for (char *line = strtok_r(cases, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        if (*line != '#') {
            check_case(&bench, line);
            count++;
        }
    assert_true(count > 40);
    free(cases);
    bench_close(&bench);
}

static void open_linked(struct bench *bench, const char *list, bool functional)
{
    bench_open(bench, "printf.ptx", functional);
    if (link_files(bench, "", list) < 0)
        fail_msg("%s", error_text());
}

static void two_files_are_one_program(bool functional)
{
    static const char *const orders[] = {"link_main link_part", "link_part link_main"};
    for (int order = 0; order < 2; order++) {
        struct bench bench;
        int got[8], counted;
        open_linked(&bench, orders[order], functional);
        uint64_t out = bench_alloc(&bench, sizeof got);
        bench_run(&bench, "whole", 1, 8, ARGS(&out));
        bench_get(&bench, got, out, sizeof got);
        for (int t = 0; t < 8; t++) {
            int value = t * 100 + 2 + (t % 4 + 1) * 10 + (t % 2 + 1) * 1000;
            value += t % 2 ? -1 : 1; /* steps[] */
            assert_int_equal(got[t], value + 1 + 2 * t);
        }
        bench_run(&bench, "count", 1, 1, ARGS(&out));
        bench_get(&bench, &counted, out, sizeof counted);
        assert_int_equal(counted, 8);
        assert_string_equal(strbuf_text(&bench.printed), "main 2532\npart 8\n");
        bench_close(&bench);
    }
}
IN_BOTH_MODES(two_files_are_one_program)

static void tables_of_virtual_functions_are_relocated(bool functional)
{
    struct bench bench;
    int got[33];
    open_linked(&bench, "link_main link_part", functional);
    uint64_t out = bench_alloc(&bench, sizeof got);
    bench_run(&bench, "shapes", 1, 33, ARGS(&out));
    bench_get(&bench, got, out, sizeof got);
    for (int t = 0; t < 33; t++)
        assert_int_equal(got[t], t % 2 ? 21 : 25);
    bench_close(&bench);
}
IN_BOTH_MODES(tables_of_virtual_functions_are_relocated)

static uint32_t run_for_word(struct bench *bench, const char *kernel)
{
    uint32_t word;
    uint64_t out = bench_alloc(bench, 4);
    bench_run(bench, kernel, 1, 1, ARGS(&out));
    bench_get(bench, &word, out, sizeof word);
    return word;
}

static void the_right_definition_is_used(bool functional)
{
    static const struct {
        const char *files, *kernel;
        uint32_t value;
    } cases[] = {
        {"use variable variable_weak", "u", 5},
        {"variable_weak use variable", "u", 5},
        {"variable_weak variable_weak_too use", "u", 6},
        {"variable_weak_too variable_weak use", "u", 7},
        {"common variable use", "u", 5},
        {"common use", "u", 0},
        {"call_result target", "u", 41},
        {"target function_weak call_result", "u", 41},
        {"own_1 own_2", "own1", 1},
        {"own_1 own_2", "own2", 2},
        {"own_1 variable", "own1", 1},
        {"shared shared_use", "sized", 9},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bench bench;
        bench_open(&bench, "printf.ptx", functional);
        assert_int_equal(link_files(&bench, "link/", cases[i].files), 0);
        if (run_for_word(&bench, cases[i].kernel) != cases[i].value)
            fail_msg("%s: %s does not give %u", cases[i].files, cases[i].kernel, cases[i].value);
        bench_close(&bench);
    }
}
IN_BOTH_MODES(the_right_definition_is_used)

/* Files may have hidden kernels of one name: the visible one is meant, or none can be. */
static void a_kernels_name_means_one_kernel(void **state)
{
    (void)state;
    static const char *const lists[] = {"kernel_hidden kernel", "kernel kernel_hidden"};
    struct bench bench;
    struct rt_kernel *kernel;
    for (int order = 0; order < 2; order++) {
        bench_open(&bench, "printf.ptx", true);
        assert_int_equal(link_files(&bench, "link/", lists[order]), 0);
        assert_int_equal(rt_kernel_get(bench.module, &kernel, "k"), 0);
        assert_int_equal(kernel->func->linkage, LINK_VISIBLE);
        bench_close(&bench);
    }
    bench_open(&bench, "printf.ptx", true);
    assert_int_equal(link_files(&bench, "link/", "kernel_hidden kernel_hidden"), 0);
    assert_int_equal(rt_kernel_get(bench.module, &kernel, "k"), SONDE_EINPUT);
    assert_error_has("2 kernels 'k', none of them .visible");
    bench_close(&bench);
}

/* A fault and a refusal name the file that the function stands in, not the program's first. */
static void places_are_those_of_the_part(void **state)
{
    (void)state;
    struct bench bench;
    uint64_t nowhere = 64;
    open_linked(&bench, "link_main link_part", true);
    assert_int_equal(bench_try(&bench, "count", 1, 1, ARGS(&nowhere)), SONDE_EFAULT);
    assert_int_equal(strncmp(error_text(), "link_part.ptx:", 14), 0);
    rt_recover(bench.rt);
    assert_int_equal(bench_try(&bench, "shapes", 1, 1, ARGS(&nowhere)), SONDE_EFAULT);
    assert_int_equal(strncmp(error_text(), "link_main.ptx:", 14), 0);
    bench_close(&bench);
}

static void a_linker_is_used_once(void **state)
{
    (void)state;
    static const char good[] = ".version 8.0\n.target sm_75\n.address_size 64\n";
    static const char narrow[] = ".version 8.0\n.target sm_75\n.address_size 32\n";
    struct bench bench;
    struct rt_link *link;
    struct rt_module *module;
    bench_open(&bench, "printf.ptx", true);
    assert_int_equal(rt_link_create(bench.rt, &link), 0);
    assert_int_equal(rt_link_complete(link, &module), SONDE_EUSAGE);
    assert_int_equal(rt_link_add(link, "good.ptx", good, sizeof good - 1), 0);
    assert_int_equal(rt_link_complete(link, &module), 0);
    assert_int_equal(rt_link_complete(link, &module), SONDE_EUSAGE);
    assert_int_equal(rt_link_add(link, "good.ptx", good, sizeof good - 1), SONDE_EUSAGE);
    rt_link_destroy(link);
    assert_int_equal(rt_link_create(bench.rt, &link), 0);
    assert_int_equal(rt_link_add(link, "good.ptx", good, sizeof good - 1), 0);
    assert_int_equal(rt_link_add(link, "bad.ptx", "nonsense", 8), SONDE_EINPUT);
    assert_error_has("bad.ptx:1:1: error: ");
    assert_int_equal(rt_link_complete(link, &module), SONDE_EUSAGE);
    rt_link_destroy(link);
    assert_int_equal(rt_link_create(bench.rt, &link), 0);
    assert_int_equal(rt_link_add(link, "good.ptx", good, sizeof good - 1), 0);
    assert_int_equal(rt_link_add(link, "narrow.ptx", narrow, sizeof narrow - 1), 0);
    assert_int_equal(rt_link_complete(link, &module), SONDE_EINPUT);
    assert_string_equal(error_text(),
                        "narrow.ptx:1:1: error: .address_size 32, but 64 in good.ptx");
    rt_link_destroy(link);
    rt_link_destroy(NULL);
    bench_close(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_case_has_its_verdict_and_its_reason),
        cmocka_unit_test(a_kernels_name_means_one_kernel),
        BOTH_MODES(two_files_are_one_program),
        BOTH_MODES(tables_of_virtual_functions_are_relocated),
        BOTH_MODES(the_right_definition_is_used),
        cmocka_unit_test(places_are_those_of_the_part),
        cmocka_unit_test(a_linker_is_used_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
