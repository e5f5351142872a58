/*
 * Whom a full set evicts, as a line of a cache's section: what was told of the policy, with the
 * shares of ways where they differ. What was not told is the base's.
 */
#include <string.h>

#include "export/sonde/model_text.h"
#include "util/glue/json_glue.h"

void model_replacement(struct model_text *t, const json_t *cache, uint64_t ways)
{
    const json_t *policy = json_object_get(cache, "policy");
    const char *name = saved_text(policy, "name", "unknown");
    const json_t *shares = json_object_get(policy, "victim_probability");
    if (strcmp(name, "unknown") == 0 || strcmp(name, "none") == 0) {
        return;
    }
    struct saved_value value = {.confidence = json_number_of(policy, "confidence"),
                                .evidence = saved_text(policy, "evidence", "")};
    char comment[MODEL_COMMENT_BYTES];
    model_measured(comment, &value);
    bool biased = strcmp(name, "biased") == 0 && json_array_size(shares) == ways;
    if (!biased) {
        model_line(t, 1, comment, "replacement: {policy: %s}",
                   strcmp(name, "biased") == 0 ? "random" : name);
        return;
    }
    /* The shares add up to one exactly; the last takes what rounding leaves. */
    struct strbuf list = {0};
    double left = 1;
    for (size_t i = 0; i < json_array_size(shares); i++) {
        double share = json_number_value(json_array_get(shares, i));
        bool is_last = i + 1 == json_array_size(shares);
        strbuf_printf(&list, "%s%.12g", i ? ", " : "", is_last ? left : share);
        left -= share;
    }
    bool is_serial = json_is_true(json_object_get(policy, "serial")); /* a victim tells the next */
    model_line(t, 1, comment, "replacement: {policy: %s, victim_probability: [%s]}",
               is_serial ? "biased_alternating" : "biased", strbuf_text(&list));
    strbuf_free(&list);
}
