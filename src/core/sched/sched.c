/* The table of warp schedulers, expanded from sched.def. */
#include "core/sched/sched.h"

#define SCHED(id, text, doc) extern const struct sched_ops sched_ops_##id;
#include "core/sched/sched.def"
#undef SCHED

static const struct {
    const char *name;
    const struct sched_ops *ops;
} table[SCHED_KIND_COUNT] = {
#define SCHED(id, text, doc) [SCHED_##id] = {text, &sched_ops_##id},
#include "core/sched/sched.def"
#undef SCHED
};

const struct sched_ops *sched_ops(enum sched_kind kind)
{
    return table[kind].ops;
}

const char *sched_name(enum sched_kind kind)
{
    return table[kind].name;
}
