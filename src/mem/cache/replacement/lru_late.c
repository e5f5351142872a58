/*
 * LRU in which a line that comes in does not become the newest: it ranks behind the lines that the
 * set's last two hits used, and in front of all others. Read in a circle it is LRU; a line that is
 * read again and again stays longer than under LRU. Two hits of the same line count as two. Found
 * on the L1 of an NVIDIA H200, where it predicts 929280 loads of 929280 (docs/h200.md); why two
 * hits, and by what circuit, is not known.
 */
#include <stdalign.h>

#include "mem/cache/replacement/order.h"
#include "mem/cache/replacement/replacement.h"

enum { HITS = 2, NOBODY = UINT16_MAX };

/* The ways of the last two hits, the later one first; NOBODY: none yet, or its line has gone. */
struct late {
    uint16_t hit[HITS];
    alignas(uint16_t) unsigned char order[];
};

static struct order *order_of(struct late *late)
{
    return (struct order *)(void *)late->order;
}

static size_t lru_late_bytes(uint32_t ways)
{
    return sizeof(struct late) + order_bytes(ways);
}

static void lru_late_init(void *state, uint32_t ways)
{
    struct late *late = state;
    late->hit[0] = late->hit[1] = NOBODY;
    order_init(order_of(late), ways);
}

static void lru_late_hit(void *state, uint32_t ways, uint32_t way)
{
    (void)ways;
    struct late *late = state;
    late->hit[1] = late->hit[0];
    late->hit[0] = (uint16_t)way;
    order_make_newest(order_of(late), way);
}

/* The lines of the last hits are the newest: they are put in front again, the later one last. */
static void lru_late_fill(void *state, uint32_t ways, uint32_t way)
{
    (void)ways;
    struct late *late = state;
    order_make_newest(order_of(late), way);
    for (unsigned i = HITS; i-- > 0;) {
        if (late->hit[i] == way) {
            late->hit[i] = NOBODY;
        } else if (late->hit[i] != NOBODY) {
            order_make_newest(order_of(late), late->hit[i]);
        }
    }
}

static uint32_t lru_late_victim(struct replacement *replacement, void *state, uint32_t ways)
{
    (void)replacement;
    (void)ways;
    return order_of(state)->oldest;
}

const struct replacement_ops replacement_LRU_LATE = {.state_bytes = lru_late_bytes,
                                                     .init = lru_late_init,
                                                     .on_hit = lru_late_hit,
                                                     .on_fill = lru_late_fill,
                                                     .victim = lru_late_victim};
