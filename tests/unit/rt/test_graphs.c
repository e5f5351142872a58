/* Graphs: built by hand, captured, launched, changed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "rt/queue/queue.h"
#include "util/error.h"

enum { WORDS = 32 };

static struct model *model;
static struct rt *rt;
static struct rt_stream *a, *b;
static struct rt_kernel *scale;
static uint64_t data;
static uint32_t out[WORDS];

/* data[i] = data[i] * factor + 1: the order of launches shows */
static const char *const text =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry scale(.param .u64 data, .param .u32 factor)\n{\n"
    ".reg .b32 %r<8>; .reg .b64 %rd<4>;\n"
    "ld.param.u64 %rd1, [data]; ld.param.u32 %r1, [factor]; mov.u32 %r4, %tid.x;\n"
    "mul.wide.u32 %rd2, %r4, 4; add.u64 %rd1, %rd1, %rd2;\n"
    "ld.global.u32 %r5, [%rd1]; mad.lo.u32 %r5, %r5, %r1, 1; st.global.u32 [%rd1], %r5;\n"
    "ret;\n}\n";

static int setup(void **state)
{
    (void)state;
    struct rt_module *module;
    if (model_load(&model, "gtx780") < 0 || rt_create(&rt, model) < 0 ||
        rt_module_load(rt, &module, "test.ptx", text, strlen(text)) < 0 ||
        rt_kernel_get(module, &scale, "scale") < 0 || rt_stream_create(rt, &a, 0, 0) < 0 ||
        rt_stream_create(rt, &b, 0, 0) < 0) {
        return -1;
    }
    memset(out, 0xff, sizeof out);
    return rt_mem_alloc(rt, &data, sizeof out);
}

static int teardown(void **state)
{
    (void)state;
    rt_destroy(rt);
    model_destroy(model);
    return 0;
}

static struct rt_node_params scale_by(const uint32_t *factor)
{
    static const void *args[2];
    args[0] = &data;
    args[1] = factor;
    return (struct rt_node_params){
        .kind = RT_NODE_LAUNCH,
        .kernel = scale,
        .launch = {.grid = {1, 1, 1}, .block = {WORDS, 1, 1}, .args = args, .arg_count = 2}};
}

static struct rt_node_params fill(uint32_t value)
{
    return (struct rt_node_params){.kind = RT_NODE_MEMSET, .memset = {data, 0, value, 4, WORDS, 1}};
}

static struct rt_copy copy_up(void)
{
    return (struct rt_copy){.dst = {.kind = RT_END_HOST, .host = out, .pinned = true},
                            .src = {.kind = RT_END_DEVICE, .device = data},
                            .width_bytes = sizeof out,
                            .height = 1,
                            .depth = 1};
}

static struct rt_node *add(struct rt_graph *graph, struct rt_node_params params,
                           struct rt_node *first, struct rt_node *second)
{
    struct rt_node *node, *deps[2] = {first, second};
    size_t count = (first != NULL) + (second != NULL);
    int rc = rt_graph_add(graph, &node, deps, count, &params);
    if (rc < 0) {
        print_error("%s\n", error_text());
    }
    assert_int_equal(rc, 0);
    return node;
}

static void check_launch(struct rt_graph_exec *exec, uint32_t expected)
{
    assert_int_equal(rt_graph_launch(exec, a), 0);
    assert_int_equal(rt_stream_sync(a), 0);
    assert_int_equal(out[0], expected);
    assert_int_equal(out[WORDS - 1], expected);
}

static void nodes_wait_for_what_they_depend_on(void **state)
{
    (void)state;
    struct rt_graph *graph;
    assert_int_equal(rt_graph_create(rt, &graph), 0);
    uint32_t three = 3, five = 5, seven = 7;
    /* Made in another order than they have to run. */
    struct rt_node *last =
        add(graph, (struct rt_node_params){.kind = RT_NODE_COPY, .copy = copy_up()}, NULL, NULL);
    struct rt_node *second = add(graph, scale_by(&five), NULL, NULL);
    struct rt_node *first = add(graph, scale_by(&three), NULL, NULL);
    struct rt_node *start = add(graph, fill(2), NULL, NULL);
    assert_int_equal(rt_graph_depend(graph, start, first), 0);
    assert_int_equal(rt_graph_depend(graph, first, second), 0);
    assert_int_equal(rt_graph_depend(graph, second, last), 0);
    assert_int_equal(rt_graph_depend(graph, second, last), SONDE_EUSAGE);
    assert_int_equal(rt_graph_depend(graph, last, start), SONDE_EUSAGE); /* a circle */
    struct rt_graph_exec *exec;
    assert_int_equal(rt_graph_instantiate(&exec, graph), 0);
    check_launch(exec, (2 * 3 + 1) * 5 + 1);
    /* Parameters of the instance, of the graph, and of the instance by the graph. */
    struct rt_node_params changed = scale_by(&seven);
    assert_int_equal(rt_graph_exec_set(exec, first, &changed), 0);
    check_launch(exec, (2 * 7 + 1) * 5 + 1);
    assert_int_equal(rt_node_set(second, &changed), 0);
    check_launch(exec, (2 * 7 + 1) * 5 + 1);
    assert_int_equal(rt_graph_exec_update(exec, graph, NULL), 0);
    check_launch(exec, (2 * 3 + 1) * 7 + 1);
    assert_int_equal(rt_node_set(start, &changed), SONDE_EINPUT); /* of another kind */
    struct rt_node *odd;
    add(graph, (struct rt_node_params){.kind = RT_NODE_EMPTY}, last, NULL);
    assert_int_equal(rt_graph_exec_update(exec, graph, &odd), SONDE_EINPUT);
    rt_graph_destroy(graph);
    check_launch(exec, (2 * 3 + 1) * 7 + 1);
    rt_graph_exec_destroy(exec);
}

static uint64_t launch_end_ps, copy_begin_ps;

static void see_launch(void *ctx, const struct rt_done *launch)
{
    (void)ctx;
    launch_end_ps = launch->end_ps;
}

static void see_copy(void *ctx, const struct rt_copied *copy)
{
    (void)ctx;
    copy_begin_ps = copy->begin_ps;
}

/* The body of a condition begins, in simulated time too, when what the condition waits for has
 * ended. */
static void a_conditions_body_begins_after_what_is_before_it(void **state)
{
    (void)state;
    struct rt_graph *graph;
    struct rt_graph_exec *exec;
    uint32_t three = 3;
    rt_set_done(rt, see_launch, NULL);
    rt_set_copied(rt, see_copy, NULL);
    assert_int_equal(rt_graph_create(rt, &graph), 0);
    struct rt_node *start = add(graph, fill(2), NULL, NULL);
    struct rt_node *launch = add(graph, scale_by(&three), start, NULL);
    struct rt_node_params branch = {
        .kind = RT_NODE_CONDITION, .when = RT_CONDITION_IF, .body_count = 1};
    assert_int_equal(rt_condition_create(rt, &branch.condition, 1, true), 0);
    struct rt_node *condition = add(graph, branch, launch, NULL);
    struct rt_graph *body = rt_node_params(condition)->bodies[0];
    add(body, (struct rt_node_params){.kind = RT_NODE_COPY, .copy = copy_up()}, NULL, NULL);
    assert_int_equal(rt_graph_instantiate(&exec, graph), 0);
    check_launch(exec, 2 * 3 + 1);
    assert_true(launch_end_ps > 0);
    assert_true(copy_begin_ps >= launch_end_ps);
    rt_graph_exec_destroy(exec);
    rt_graph_destroy(graph);
}

static int calls;

static void count_call(void *ctx)
{
    calls += *(int *)ctx;
}

static void a_child_runs_as_a_whole_in_its_place(void **state)
{
    (void)state;
    struct rt_graph *child, *graph;
    uint32_t two = 2, nine = 9;
    int one = 1;
    assert_int_equal(rt_graph_create(rt, &child), 0);
    assert_int_equal(rt_graph_create(rt, &graph), 0);
    struct rt_node *first = add(child, scale_by(&two), NULL, NULL);
    add(child, scale_by(&nine), first, NULL);
    add(child, (struct rt_node_params){.kind = RT_NODE_HOST, .host = count_call, .ctx = &one}, NULL,
        NULL);
    struct rt_node *start = add(graph, fill(1), NULL, NULL);
    struct rt_node *inside =
        add(graph, (struct rt_node_params){.kind = RT_NODE_CHILD, .child = child}, start, NULL);
    struct rt_node *again =
        add(graph, (struct rt_node_params){.kind = RT_NODE_CHILD, .child = child}, inside, NULL);
    add(graph, (struct rt_node_params){.kind = RT_NODE_COPY, .copy = copy_up()}, again, NULL);
    rt_graph_destroy(child); /* the nodes have copies */
    struct rt_graph_exec *exec;
    assert_int_equal(rt_graph_instantiate(&exec, graph), 0);
    calls = 0;
    uint32_t once = (1 * 2 + 1) * 9 + 1;
    check_launch(exec, (once * 2 + 1) * 9 + 1);
    assert_int_equal(calls, 2);
    /* Launches of one instance follow each other, from any stream. */
    assert_int_equal(rt_graph_launch(exec, a), 0);
    assert_int_equal(rt_graph_launch(exec, b), 0);
    rt_graph_exec_destroy(exec); /* while it runs */
    rt_graph_destroy(graph);
    assert_int_equal(rt_sync(rt), 0);
    assert_int_equal(out[0], (once * 2 + 1) * 9 + 1);
    assert_int_equal(calls, 6);
}

static void put_scale(struct rt_stream *stream, uint32_t factor)
{
    struct rt_node_params params = scale_by(&factor);
    assert_int_equal(rt_enqueue_launch(stream, scale, &params.launch), 0);
}

static void what_is_captured_runs_when_it_is_launched(void **state)
{
    (void)state;
    struct rt_event *fork, *join;
    struct rt_graph *graph, *now;
    uint64_t id;
    struct rt_memset set = {data, 0, 4, 4, WORDS, 1};
    struct rt_copy up = copy_up();
    assert_int_equal(rt_event_create(rt, &fork, 0), 0);
    assert_int_equal(rt_event_create(rt, &join, 0), 0);
    assert_int_equal(rt_capture_begin(a), 0);
    assert_int_equal(rt_capture_state(a, &id, &now), RT_CAPTURE_ACTIVE);
    assert_true(id != 0 && now);
    assert_int_equal(rt_enqueue_memset(a, &set), 0);
    put_scale(a, 2);
    assert_int_equal(rt_event_record(fork, a), 0);
    assert_int_equal(rt_stream_wait(b, fork), 0);
    assert_int_equal(rt_capture_state(b, NULL, NULL), RT_CAPTURE_ACTIVE);
    put_scale(b, 3);
    assert_int_equal(rt_event_record(join, b), 0);
    assert_int_equal(rt_stream_wait(a, join), 0);
    assert_int_equal(rt_enqueue_copy(a, &up), 0);
    struct rt_node *const *deps;
    assert_int_equal(rt_capture_deps(a, &deps), 1);
    assert_int_equal(rt_capture_end(a, &graph), 0);
    assert_int_equal(rt_capture_state(b, NULL, NULL), RT_CAPTURE_NONE);
    assert_int_equal(rt_sync(rt), 0);
    assert_int_equal(out[0], UINT32_MAX); /* nothing has run */
    assert_int_equal(rt_graph_nodes(graph), 4);
    assert_int_equal(rt_node_deps(rt_graph_node(graph, 2)), 1);
    struct rt_graph_exec *exec;
    assert_int_equal(rt_graph_instantiate(&exec, graph), 0);
    rt_graph_destroy(graph);
    check_launch(exec, (4 * 2 + 1) * 3 + 1);
    rt_graph_exec_destroy(exec);
    assert_int_equal(rt_event_destroy(fork), 0);
    assert_int_equal(rt_event_destroy(join), 0);
}

static void a_capture_is_spoilt_by_what_it_cannot_hold(void **state)
{
    (void)state;
    struct rt_event *event;
    struct rt_graph *graph;
    assert_int_equal(rt_event_create(rt, &event, 0), 0);
    assert_int_equal(rt_capture_end(a, &graph), SONDE_EUSAGE); /* not begun */
    assert_int_equal(rt_capture_begin(rt_stream_default(rt)), SONDE_EUSAGE);
    assert_int_equal(rt_capture_begin(a), 0);
    assert_int_equal(rt_stream_sync(a), SONDE_EUSAGE);
    assert_int_equal(rt_capture_state(a, NULL, NULL), RT_CAPTURE_INVALID);
    assert_int_equal(rt_capture_end(a, &graph), SONDE_EUSAGE);
    /* The default stream waits for blocking streams. */
    struct rt_memset set = {data, 0, 4, 4, WORDS, 1};
    assert_int_equal(rt_capture_begin(a), 0);
    assert_int_equal(rt_enqueue_memset(rt_stream_default(rt), &set), SONDE_EUSAGE);
    assert_int_equal(rt_capture_end(a, &graph), SONDE_EUSAGE);
    /* A fork that is not joined. */
    assert_int_equal(rt_capture_begin(a), 0);
    put_scale(a, 2);
    assert_int_equal(rt_event_record(event, a), 0);
    assert_int_equal(rt_stream_wait(b, event), 0);
    put_scale(b, 2);
    assert_int_equal(rt_capture_end(b, &graph), SONDE_EUSAGE); /* begun elsewhere */
    assert_int_equal(rt_capture_end(a, &graph), SONDE_EUSAGE);
    assert_int_equal(rt_capture_state(b, NULL, NULL), RT_CAPTURE_NONE);
    put_scale(a, 2); /* runs */
    assert_int_equal(rt_sync(rt), 0);
    assert_int_equal(rt_event_destroy(event), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nodes_wait_for_what_they_depend_on, setup, teardown),
        cmocka_unit_test_setup_teardown(a_child_runs_as_a_whole_in_its_place, setup, teardown),
        cmocka_unit_test_setup_teardown(a_conditions_body_begins_after_what_is_before_it, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(what_is_captured_runs_when_it_is_launched, setup, teardown),
        cmocka_unit_test_setup_teardown(a_capture_is_spoilt_by_what_it_cannot_hold, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
