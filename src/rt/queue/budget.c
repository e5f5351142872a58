/* What the end of the program leaves work time for (end.c), and how work is given up. */
#include "rt/queue/state.h"
#include "util/error.h"

void queue_give_up(struct queue *queue, int code)
{
    context_spoil(queue->rt, code);
    queue->given_up = 1;
    gpu_set_cancel(queue->rt->gpu, &queue->given_up);
}

void queue_spend(struct queue *queue, uint64_t cycles, uint64_t warp_insns)
{
    if (!queue->finishes || queue->given_up) {
        return;
    }
    queue->finish_cycles -= cycles < queue->finish_cycles ? cycles : queue->finish_cycles;
    queue->finish_insns -= warp_insns < queue->finish_insns ? warp_insns : queue->finish_insns;
    if (queue->finish_cycles == 0 || queue->finish_insns == 0) {
        queue_give_up(queue, error_set(SONDE_EINTERRUPTED, "the program has ended"));
    }
}
