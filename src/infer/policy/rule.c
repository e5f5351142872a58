/* A modelled set (rule.h). Under every rule, free ways are filled first, from way 0 on. */
#include "infer/policy/rule.h"

#include <string.h>

#define POLICY(id, name, doc) extern const struct policy_rule policy_rule_##id;
#include "infer/policy/policies.def"

static const struct {
    const char *name;
    const struct policy_rule *rule;
} rows[] = {
#define POLICY(id, name, doc) {name, &policy_rule_##id},
#include "infer/policy/policies.def"
};

const char *policy_name(enum policy_kind kind)
{
    return rows[kind].name;
}

enum policy_kind policy_named(const char *name)
{
    size_t kind = 0;
    while (kind < POLICY_COUNT && strcmp(rows[kind].name, name) != 0) {
        kind++;
    }
    return (enum policy_kind)kind;
}

const struct policy_rule *policy_rule(enum policy_kind kind)
{
    return rows[kind].rule;
}

bool policy_is_drawn(const char *name)
{
    return strcmp(name, "random") == 0 || strncmp(name, "biased", strlen("biased")) == 0;
}

void policy_set_init(struct policy_set *set, enum policy_kind kind, uint32_t ways)
{
    memset(set, 0, sizeof *set);
    set->rule = rows[kind].rule;
    set->ways = ways;
    for (uint32_t i = 0; i < ways; i++) {
        set->line[i] = POLICY_FREE;
    }
}

void policy_set_scramble(struct policy_set *set, uint32_t first, struct rng *rng)
{
    for (uint32_t i = 0; i < set->ways; i++) {
        set->line[i] = first + i;
        set->state[i] = rng_below(rng, set->rule->states);
    }
    for (size_t i = 0; i < sizeof set->tree / sizeof *set->tree; i++) {
        set->tree[i] = rng_below(rng, 2);
    }
    set->reads = 1000; /* later than every state that was drawn */
}

static void use(struct policy_set *set, uint32_t way, bool fill)
{
    set->reads++;
    set->hits += !fill;
    set->rule->use(set, way, fill);
}

uint32_t policy_set_place(const struct policy_set *set, uint32_t line, bool *hit)
{
    uint32_t way = 0;
    while (way < set->ways && set->line[way] != line) {
        way++;
    }
    *hit = way < set->ways;
    for (way = *hit ? way : 0; !*hit && way < set->ways && set->line[way] != POLICY_FREE;) {
        way++;
    }
    return way;
}

bool policy_set_read(struct policy_set *set, uint32_t line)
{
    bool hit;
    uint32_t way = policy_set_place(set, line, &hit);
    way = way < set->ways ? way : set->rule->victim(set);
    set->line[way] = line;
    use(set, way, !hit);
    return hit;
}

static uint32_t draw_way(const double *probability, uint32_t ways, struct rng *rng)
{
    double at = rng_double(rng);
    uint32_t way = 0;
    while (way + 1 < ways && at >= probability[way]) {
        at -= probability[way++];
    }
    return way;
}

bool policy_set_read_drawn(struct policy_set *set, uint32_t line, const double *probability,
                           struct rng *rng)
{
    bool hit;
    uint32_t way = policy_set_place(set, line, &hit);
    way = way < set->ways ? way : draw_way(probability, set->ways, rng);
    set->line[way] = line;
    return hit;
}
