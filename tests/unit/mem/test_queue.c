/* Senders that wait for space: who has ever more to send must not keep others out. */
#include "support/memory_rig.h"

#include "mem/queue.h"

enum { SENDERS = 3, ROUNDS = 600 };

/* A port with a place for one, which is free again a picosecond later. */
struct place {
    struct engine *engine;
    struct waiters space;
    bool taken;
};

/* It has always more to send. */
struct sender {
    struct place *place;
    uint32_t sent;
};

static void place_is_free(void *ctx, uint64_t arg)
{
    struct place *place = ctx;
    (void)arg;
    place->taken = false;
    waiters_wake(&place->space);
}

static void send_all(void *ctx, uint64_t arg)
{
    struct sender *sender = ctx;
    struct place *place = sender->place;
    if (!place->taken) {
        place->taken = true;
        sender->sent++;
        engine_at(place->engine, engine_now_ps(place->engine) + 1, 0, place_is_free, place, 0);
    }
    waiters_add(&place->space, send_all, sender, arg); /* refused: the place is taken now */
}

static void senders_with_ever_more_to_send_take_turns(void **state)
{
    (void)state;
    struct place place = {0};
    struct sender senders[SENDERS];
    assert_int_equal(engine_create(&place.engine), 0);
    waiters_init(&place.space, place.engine, 0);
    for (uint32_t i = 0; i < SENDERS; i++) {
        senders[i] = (struct sender){.place = &place};
        engine_at(place.engine, 0, 0, send_all, &senders[i], 0);
    }
    while (engine_now_ps(place.engine) < ROUNDS) {
        assert_true(engine_step(place.engine));
    }
    for (uint32_t i = 0; i < SENDERS; i++) {
        assert_in_range(senders[i].sent, ROUNDS / SENDERS - 1, ROUNDS / SENDERS + 1);
    }
    waiters_free(&place.space);
    engine_destroy(place.engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(senders_with_ever_more_to_send_take_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
