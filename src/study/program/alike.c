/*
 * Machines on which a program does the same: those that differ in nothing but what bounds the
 * blocks that an SM holds, where no block waited for room on the smaller one. A block goes to the
 * emptiest SM that has room, so that on a larger one each goes where it went; its warps get the
 * same slots, and local memory lies as it did (gpu/readonly.c), which goes by the blocks that there
 * are. (Of one grid: blocks of several at once could find another SM full.) A program that asks for
 * these bounds (%nwarpid, the driver's attributes) would see them: none of the workloads does.
 */
#include <stdio.h>
#include <string.h>

#include "model/model.h"
#include "study/program/program.h"
#include "sweep/point/key.h"

#define PLAIN "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."

int program_room(struct program_room *out, const struct study_role *role)
{
    struct model *model = NULL;
    int rc = program_model(&model, role);
    if (rc < 0) {
        return rc;
    }
    struct sm_spec *sm = &model->sm;
    *out = (struct program_room){.most = {sm->max_threads, sm->max_warps, sm->max_ctas,
                                          sm->registers, sm->shared.size_bytes}};
    snprintf(out->model, sizeof out->model, "%s", model->name);
    sm->max_threads = sm->max_warps = sm->max_ctas = sm->registers = 0;
    sm->shared.size_bytes = 0;
    bool plain = model->name[strspn(model->name, PLAIN)] == 0; /* may stand in a command */
    out->rest = plain ? sweep_model_hash(model) : 0;
    model_destroy(model);
    return 0;
}

bool program_room_is_less(const struct program_room *small, const struct program_room *large)
{
    bool same = true;
    if (small->rest == 0 || small->rest != large->rest) {
        return false;
    }
    for (int i = 0; i < PROGRAM_BOUNDS; i++) {
        if (small->most[i] > large->most[i]) {
            return false;
        }
        same = same && small->most[i] == large->most[i];
    }
    return !same;
}
