/* The order in which lines are looked up: those of one cycle side by side. */
#include "core/memory/tag_banks.h"

#include <string.h>

#define BANKS_MOST 32

void tag_banks_order(struct transaction *list, uint32_t count, uint32_t segment_bytes,
                     uint32_t banks)
{
    struct transaction ordered[COALESCE_MAX];
    uint32_t turn[COALESCE_MAX], lines[BANKS_MOST] = {0}, turns = 0, placed = 0;
    for (uint32_t i = 0; i < count; i++) {
        turn[i] = lines[tag_bank(&list[i], segment_bytes, banks)]++;
        turns = turn[i] + 1 > turns ? turn[i] + 1 : turns;
    }
    if (turns == 1 || turns == count) {
        return; /* they are all of one turn, or of one bank */
    }
    for (uint32_t now = 0; now < turns; now++) {
        for (uint32_t i = 0; i < count; i++) {
            if (turn[i] == now) {
                ordered[placed++] = list[i];
            }
        }
    }
    memcpy(list, ordered, count * sizeof *list);
}
