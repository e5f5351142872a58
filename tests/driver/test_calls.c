/* Calls as the compiler makes them, against the same arithmetic on the host. */
#include "bench.h"

#define THREADS 64
#define WORDS (THREADS * 10)

static int ackermann(int m, int n)
{
    return m == 0 ? n + 1 : ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1));
}

static int operate(int kind, int a, int b)
{
    return kind == 0 ? a + b : kind == 1 ? a - b : a * b;
}

static int branchy(int kind, int x)
{
    const int results[] = {x + 1, x * 3, x - 7, x ^ 0x55, ~x, x * 8, x / 3, -x};
    return results[kind];
}

static int shuffled(int t)
{
    uint8_t a = (uint8_t)t;
    uint16_t b = (uint16_t)(t * 300);
    uint32_t c = (uint32_t)t * 70000u;
    return (b & 0xff) + (int)(c & 0xffff) * 3 + (a + b) * 7;
}

static void expected(int want[10], int t)
{
    int64_t sum =
        -t + t * 100 + t + (INT64_C(1) << 33) + 1 + 2 + 200 + (t & 1) + (t + 1) + 10 + t * 3;
    want[0] = shuffled(t);
    want[1] = t * (t % 20) + t / 2;
    want[2] = (int)(uint32_t)sum;
    want[3] = (int)(sum >> 32) + (t + 1) * 1000;
    want[4] = t % 2 == 0 ? 2 : 1;
    want[5] = ackermann(t % 3, t % 4);
    want[6] = operate(t % 3, t, 5);
    want[7] = operate((t + 1) % 3, t, 9);
    int value = t * 100 + t % 40;
    want[8] = branchy(t % 8, t) + value + (value + 2) + (value + 2 + 1);
    want[9] = t % 5 == 0 ? t : t + 1000;
}

static void calls_give_what_the_host_computes(bool functional)
{
    static int got[WORDS + THREADS];
    struct bench bench;
    int want[10];
    bench_open(&bench, "calls.ptx", functional);
    uint64_t out = bench_alloc(&bench, sizeof got);
    bench_run(&bench, "calls", 1, THREADS, ARGS(&out));
    bench_get(&bench, got, out, sizeof got);
    for (int t = 0; t < THREADS; t++) {
        expected(want, t);
        for (int i = 0; i < 10; i++)
            if (got[t * 10 + i] != want[i])
                fail_msg("thread %d, value %d: %d, not %d", t, i, got[t * 10 + i], want[i]);
        assert_int_equal(got[WORDS + t], t % 5 == 0 ? -t : 0);
    }
    bench_close(&bench);
}
IN_BOTH_MODES(calls_give_what_the_host_computes)

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH_MODES(calls_give_what_the_host_computes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
