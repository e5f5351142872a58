/*
 * Who could still change what a kernel reads: it is told to be endless only where that is nobody.
 * What other processes write, and signal handlers, is not thought of.
 */
#include "rt/queue/state.h"
#include "util/hostthread.h"

bool queue_is_alone(const void *ctx)
{
    const struct queue *queue = ctx;
    return queue->waits && !queue->bounded && !queue->finishes && hostthread_is_alone();
}
