/* A mailbox's credits: a bound, also when a request that was let go of is held again. */
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

static void a_request_that_is_held_again_takes_its_credit_again(void **state)
{
    (void)state;
    struct gpu_mailbox mailbox = {0};
    struct below below = {0};
    struct mem_port port = {.send = below_send, .when_space = never_asked, .self = &below};
    struct mem_request request[8] = {{0}};
    uint32_t sent = 0, woken = 0;
    assert_int_equal(engine_create(&mailbox.upper), 0);
    assert_int_equal(engine_create(&mailbox.lower), 0);
    gpu_mailbox_attach(&mailbox, &port, 1);
    gpu_mailbox_part(&mailbox, 3);
    while (sent < 8 && port.send(port.self, &request[sent])) {
        sent++;
    }
    assert_int_equal(sent, 3);
    gpu_mailbox_exchange(&mailbox, 0, 0); /* the lower group gets them */
    gpu_mailbox_read_requests(&mailbox);
    engine_run(mailbox.lower, ENGINE_NEVER);
    assert_int_equal(below.taken, 3);
    gpu_mailbox_exchange(&mailbox, 0, 0); /* and lets go of all */
    assert_true(port.send(port.self, &request[sent++]));
    gpu_mailbox_exchange(&mailbox, 3, 0); /* they are back, beside the new one */
    port.when_space(port.self, count, &woken, 0);
    for (uint32_t held = 3; held > 2; held--) {
        assert_false(port.send(port.self, &request[sent]));
        gpu_mailbox_exchange(&mailbox, held, 0);
        engine_run(mailbox.upper, ENGINE_NEVER);
        assert_int_equal(woken, 0);
    }
    gpu_mailbox_exchange(&mailbox, 1, 0);
    engine_run(mailbox.upper, ENGINE_NEVER);
    assert_int_equal(woken, 1);
    assert_true(port.send(port.self, &request[sent++]));
    assert_false(port.send(port.self, &request[sent]));
    gpu_mailbox_free(&mailbox);
    engine_destroy(mailbox.upper);
    engine_destroy(mailbox.lower);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_that_is_held_again_takes_its_credit_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
