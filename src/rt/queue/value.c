/*
 * Streams that write a word of memory, or wait until one has a value (cuStreamWriteValue32() and
 * its like). Who writes it is another stream, a kernel or the host, which nobody hears of: while
 * such an operation waits, whoever makes work happen looks again, every few thousand cycles, or,
 * when nothing else is left to do, every few microseconds.
 */
#include <string.h>
#include <time.h>

#include "rt/queue/state.h"
#include "util/error.h"

int value_check(struct rt *rt, const struct rt_value *value)
{
    if ((value->bytes != 4 && value->bytes != 8) || value->address % value->bytes != 0) {
        return error_set(SONDE_EINPUT, "a word of memory has 4 or 8 bytes, and is aligned");
    }
    if (!exec_memory_valid(rt->memory, value->address, value->bytes)) {
        return error_set(SONDE_EINPUT, "0x%llx is no memory that is allocated",
                         (unsigned long long)value->address);
    }
    return 0;
}

static bool is_met(const struct rt_value *value, uint64_t word)
{
    uint64_t mask = value->bytes == 4 ? UINT32_MAX : UINT64_MAX;
    uint64_t wanted = value->value & mask, sign = mask ^ mask >> 1;
    switch (value->what) {
    case RT_VALUE_WAIT_GEQ:
        return ((word - wanted) & sign) == 0; /* so that it may wrap around */
    case RT_VALUE_WAIT_EQ:
        return word == wanted;
    case RT_VALUE_WAIT_AND:
        return (word & wanted) != 0;
    default:
        return (~(word | wanted) & mask) != 0;
    }
}

bool value_perform(const struct rt_value *value)
{
    union {
        uint64_t address;
        uint32_t *narrow;
        uint64_t *wide;
    } at = {.address = value->address};
    if (value->what == RT_VALUE_WRITE) {
        if (value->bytes == 4) {
            __atomic_store_n(at.narrow, (uint32_t)value->value, __ATOMIC_SEQ_CST);
        } else {
            __atomic_store_n(at.wide, value->value, __ATOMIC_SEQ_CST);
        }
        return true;
    }
    return is_met(value, value->bytes == 4 ? __atomic_load_n(at.narrow, __ATOMIC_SEQ_CST)
                                           : __atomic_load_n(at.wide, __ATOMIC_SEQ_CST));
}

#define LOOK_AGAIN_NS 20000

void value_wait(struct queue *queue)
{
    struct timespec pause = {.tv_nsec = LOOK_AGAIN_NS};
    queue_pause(queue, &pause);
}
