/*
 * Limits that programs set and ask for, by their numbers: a thread's stack, the buffer of printf,
 * the heap of malloc, depth and count of device-side launches, how much a fetch takes along, how
 * much of L2 may persist. The second and the third are the device's; the others change nothing.
 * What is raised or rounded is so on an H200 with driver 580.
 */
#include "shim/core/shim.h"

#define LARGEST_STACK (512u << 10) /* local memory of a thread, since compute capability 2.0 */
#define STACK_STEP 16
#define LEAST_PRINTF_FIFO (512u << 10)
#define LEAST_HEAP (4u << 20)

enum { STACK, PRINTF_FIFO, HEAP, DEPTH, PENDING, FETCH, PERSISTING, LIMIT_COUNT };

static size_t own[LIMIT_COUNT] = {[STACK] = 1024, [DEPTH] = 2, [PENDING] = 2048, [FETCH] = 64};

static bool is_of_device(int number, enum rt_limit *limit)
{
    *limit = number == PRINTF_FIFO ? RT_LIMIT_PRINTF_FIFO : RT_LIMIT_MALLOC_HEAP;
    return number == PRINTF_FIFO || number == HEAP;
}

int shim_limit_set(int number, size_t value)
{
    struct rt *rt;
    enum rt_limit limit;
    if (number < 0 || number >= LIMIT_COUNT || (number == STACK && value > LARGEST_STACK)) {
        return SHIM_INVALID;
    }
    if (!is_of_device(number, &limit)) {
        own[number] = number == STACK ? (value + STACK_STEP - 1) / STACK_STEP * STACK_STEP : value;
        return SHIM_OK;
    }
    size_t least = number == PRINTF_FIFO ? LEAST_PRINTF_FIFO : LEAST_HEAP;
    int code = shim_enter(&rt);
    if (code == SHIM_OK) {
        code = shim_code(rt_set_limit(rt, limit, value < least ? least : value));
        shim_leave(rt);
    }
    return code;
}

int shim_limit_get(size_t *value, int number)
{
    struct rt *rt;
    enum rt_limit limit;
    if (!value || number < 0 || number >= LIMIT_COUNT) {
        return SHIM_INVALID;
    }
    int code = shim_enter(&rt);
    if (code == SHIM_OK) {
        *value = is_of_device(number, &limit) ? rt_get_limit(rt, limit) : own[number];
        shim_leave(rt);
    }
    return code;
}
