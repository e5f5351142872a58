/* Samples of accesses to shared memory: see passes.h. */
#include "sample/passes.h"

#include <stdlib.h>

#include "exec/ops.h"
#include "util/error.h"

#define BANKS 32

static const struct {
    uint32_t least, most; /* mean accesses from one look to the next */
    uint32_t same;        /* looks that say the same before that doubles */
    uint64_t seed;
} rule = {.least = 8, .most = 128, .same = 4, .seed = 1};

int passes_create(struct passes *all, uint32_t length)
{
    *all = (struct passes){.length = length};
    all->sample = calloc(length, sizeof *all->sample);
    all->left = calloc(length, sizeof *all->left);
    return all->sample && all->left ? 0 : error_memory();
}

void passes_free(struct passes *all)
{
    free(all->sample);
    free(all->left);
    vec_free(&all->seen);
}

void passes_begin(struct passes *all)
{
    for (size_t i = 0; i < all->seen.count; i++) {
        uint32_t pc = all->seen.data[i];
        struct passes_sample *s = &all->sample[pc];
        s->seen = false;
        s->drawn = all->left[pc] = 0;
        s->accesses = s->passes = 0;
    }
    vec_clear(&all->seen);
    rng_seed(&all->rng, rule.seed);
}

/* As often as the bank that is asked most, for different words; atomics on one word wait for each
 * other too. */
static uint32_t passes_of(const struct exec_access *access)
{
    bool atomic = access->kind == ACCESS_ATOMIC || access->kind == ACCESS_REDUCTION;
    uint32_t used[BANKS] = {0}, most = 0;
    uint64_t word[BANKS];
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        uint64_t at = access->address[lowest_lane(rest)] / 4;
        uint32_t bank = (uint32_t)(at % BANKS);
        if (used[bank] && word[bank] == at && !atomic) {
            continue;
        }
        word[bank] = at;
        used[bank]++;
        most = used[bank] > most ? used[bank] : most;
    }
    return most;
}

/* The next gap's length follows from what was seen. */
static void learn(struct passes_sample *s, uint32_t passes)
{
    if (!s->known || passes != s->last) {
        s->length = rule.least;
        s->same = 0;
    } else if (++s->same >= rule.same && s->length < rule.most) {
        s->length *= 2;
        s->same = 0;
    }
    s->known = true;
    s->last = passes;
}

int passes_look(struct passes *all, uint32_t pc, const struct exec_access *access)
{
    struct passes_sample *s = &all->sample[pc];
    uint32_t passes = passes_of(access), since = s->drawn - all->left[pc] + 1;
    if (!s->seen && vec_push(&all->seen, pc) < 0) {
        return error_memory();
    }
    s->seen = true;
    s->accesses += since;
    s->passes += (uint64_t)since * passes;
    learn(s, passes);
    s->drawn = all->left[pc] = (uint32_t)rng_below(&all->rng, 2 * (uint64_t)s->length - 1);
    return 0;
}

/* Accesses since the last look are taken to be as those before. */
double passes_sum(const struct passes *all)
{
    double passes = 0;
    for (size_t i = 0; i < all->seen.count; i++) {
        uint32_t pc = all->seen.data[i];
        const struct passes_sample *s = &all->sample[pc];
        double since = (double)(s->drawn - all->left[pc]), known = (double)s->passes;
        passes += known + since * known / (double)s->accesses;
    }
    return passes;
}
