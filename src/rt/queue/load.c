/* Operations made of parameters: they own a copy of all that the caller passed. */
#include <stdlib.h>
#include <string.h>

#include "rt/queue/state.h"
#include "util/error.h"

static int load_launch(struct op_launch *l, const struct rt_node_params *params,
                       const uint8_t *packed)
{
    const struct ptx_func *func = params->kernel->func;
    l->kernel = params->kernel;
    l->launch = params->launch;
    l->launch.args = NULL;
    if (!packed) {
        return launch_pack(&l->params, func, &params->launch);
    }
    l->params = malloc(func->param_bytes + 1u);
    if (!l->params) {
        return error_memory();
    }
    memcpy(l->params, packed, func->param_bytes);
    return 0;
}

static enum op_kind op_kind_of(enum rt_node_kind kind)
{
    switch (kind) {
    case RT_NODE_LAUNCH:
        return OP_LAUNCH;
    case RT_NODE_COPY:
        return OP_COPY;
    case RT_NODE_MEMSET:
        return OP_MEMSET;
    case RT_NODE_HOST:
        return OP_HOST;
    case RT_NODE_RECORD:
        return OP_RECORD;
    case RT_NODE_FREE:
        return OP_FREE;
    case RT_NODE_CONDITION:
        return OP_CONDITION;
    default:
        return OP_EMPTY;
    }
}

int op_load(struct rt_op **out, struct rt_stream *stream, const struct rt_node_params *params,
            const uint8_t *packed)
{
    struct rt_op *op = *out = op_create(stream, op_kind_of(params->kind));
    if (!op) {
        return SONDE_ENOMEM;
    }
    int rc = 0;
    switch (op->kind) {
    case OP_LAUNCH:
        rc = load_launch(&op->launch, params, packed);
        break;
    case OP_COPY:
        op->copy.copy = params->copy;
        break;
    case OP_MEMSET:
        op->memset = params->memset;
        break;
    case OP_HOST:
        op->host = (struct op_host){.fn = params->host, .ctx = params->ctx};
        break;
    case OP_RECORD:
        op->event = params->event;
        op->event->users++;
        break;
    case OP_FREE:
        op->address = params->address;
        break;
    default:
        break;
    }
    if (rc < 0) {
        op_destroy(op);
        *out = NULL;
    }
    return rc;
}
