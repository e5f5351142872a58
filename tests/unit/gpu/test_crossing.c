/* The places of a crossing: a bound, also when what was let go of is held again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "gpu/state.h"

struct below {
    uint32_t taken;
};

static bool below_send(void *self, struct mem_request *request)
{
    (void)request;
    ((struct below *)self)->taken++;
    return true;
}

static void never_asked(void *self, engine_handler *handler, void *ctx, uint64_t arg)
{
    (void)self;
    (void)handler;
    (void)ctx;
    (void)arg;
    fail_msg("below has always space");
}

static void count(void *ctx, uint64_t arg)
{
    (void)arg;
    ++*(uint32_t *)ctx;
}

static void a_request_that_comes_back_takes_its_place_again(void **state)
{
    (void)state;
    struct gpu_crossing crossing = {0};
    struct below below = {0};
    struct mem_port port = {.send = below_send, .when_space = never_asked, .self = &below};
    struct mem_request request[8] = {{0}};
    uint32_t sent = 0, woken = 0;
    assert_int_equal(engine_create(&crossing.upper), 0);
    assert_int_equal(engine_create(&crossing.lower), 0);
    gpu_crossing_attach(&crossing, &port, 1);
    gpu_crossing_part(&crossing, 3);
    while (sent < 8 && port.send(port.self, &request[sent])) {
        sent++;
    }
    assert_int_equal(sent, 3);
    gpu_crossing_exchange(&crossing, 0, 0); /* the lower group gets them */
    gpu_crossing_read_outbox(&crossing);
    engine_run(crossing.lower, ENGINE_NEVER);
    assert_int_equal(below.taken, 3);
    gpu_crossing_exchange(&crossing, 0, 0); /* and lets go of all */
    assert_true(port.send(port.self, &request[sent++]));
    gpu_crossing_exchange(&crossing, 3, 0); /* they are back, beside the new one */
    port.when_space(port.self, count, &woken, 0);
    for (uint32_t held = 3; held > 2; held--) {
        assert_false(port.send(port.self, &request[sent]));
        gpu_crossing_exchange(&crossing, held, 0);
        engine_run(crossing.upper, ENGINE_NEVER);
        assert_int_equal(woken, 0);
    }
    gpu_crossing_exchange(&crossing, 1, 0);
    engine_run(crossing.upper, ENGINE_NEVER);
    assert_int_equal(woken, 1);
    assert_true(port.send(port.self, &request[sent++]));
    assert_false(port.send(port.self, &request[sent]));
    gpu_crossing_free(&crossing);
    engine_destroy(crossing.upper);
    engine_destroy(crossing.lower);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_that_comes_back_takes_its_place_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
