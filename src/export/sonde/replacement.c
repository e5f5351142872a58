/*
 * Whom a full set evicts, as a line of a cache's section: what was told of the policy, with the
 * shares of ways where they differ. What was not told is the base's.
 */
#include <math.h>
#include <string.h>

#include "export/sonde/model_text.h"
#include "util/glue/json_glue.h"

bool tells_victims(const json_t *cache, const struct cache_spec *base)
{
    const char *name = saved_text(json_object_get(cache, "policy"), "name", "unknown");
    uint64_t ways;
    return strcmp(name, "unknown") != 0 && saved_u64(&ways, cache, "ways") && ways == base->ways &&
           base->unequal_count == 0;
}

/* The base's shares are of its own number of ways. */
static void foreign_shares(struct model_text *t, const struct replacement_spec *base, uint64_t ways)
{
    bool has_shares = base->kind == REPLACE_BIASED || base->kind == REPLACE_BIASED_ALTERNATING;
    if (has_shares && ways > 0 && base->probability_count != ways) {
        model_line(t, 1, "not measured: the base's shares are of another number of ways",
                   "replacement: {policy: random}");
    }
}

static double share_of(const json_t *shares, size_t way)
{
    return fmax(0, json_number_value(json_array_get(shares, way)));
}

void model_replacement(struct model_text *t, const json_t *cache, uint64_t ways,
                       const struct replacement_spec *base)
{
    const json_t *policy = json_object_get(cache, "policy");
    const char *name = saved_text(policy, "name", "unknown");
    const json_t *shares = json_object_get(policy, "victim_probability");
    double sum = 0;
    if (strcmp(name, "unknown") == 0 || strcmp(name, "none") == 0) {
        foreign_shares(t, base, ways);
        return;
    }
    struct saved_value value = {.confidence = json_number_of(policy, "confidence"),
                                .evidence = saved_text(policy, "evidence", "")};
    char comment[MODEL_COMMENT_BYTES];
    model_measured(comment, &value);
    for (size_t i = 0; i < json_array_size(shares); i++) {
        sum += share_of(shares, i);
    }
    bool biased = strcmp(name, "biased") == 0 && json_array_size(shares) == ways && sum > 0;
    if (!biased) {
        model_line(t, 1, comment, "replacement: {policy: %s}",
                   strcmp(name, "biased") == 0 ? "random" : name);
        return;
    }
    /* The shares add up to one exactly; the last takes what rounding leaves. */
    struct strbuf list = {0};
    double left = 1;
    for (size_t i = 0; i < json_array_size(shares); i++) {
        double share = share_of(shares, i) / sum;
        bool is_last = i + 1 == json_array_size(shares);
        strbuf_printf(&list, "%s%.12g", i ? ", " : "", is_last ? fmax(0, left) : share);
        left -= share;
    }
    bool is_serial = json_is_true(json_object_get(policy, "serial")); /* a victim tells the next */
    model_line(t, 1, comment, "replacement: {policy: %s, victim_probability: [%s]}",
               is_serial ? "biased_alternating" : "biased", strbuf_text(&list));
    strbuf_free(&list);
}
