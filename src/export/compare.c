/*
 * Two dissections, attribute by attribute: their facts (facts.h), merged by path. A number in
 * cycles may differ by what the caller allows, beyond what both medians leave open (their bounds,
 * at 95 % each). Everything else must be the same.
 *
 * A kind of access may fall into several classes, and few loads of a broad one fall into more or
 * fewer by chance. So classes of one kind are compared with the nearest that agrees, and what is
 * left with the nearest; those that no kind explains, of which nothing says that they are the same,
 * only where they agree.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "export/export.h"
#include "export/facts.h"
#include "export/saved.h"
#include "util/bits.h"
#include "util/container/strbuf.h"
#include "util/error.h"
#include "util/glue/json_glue.h"
#include "util/text/units.h"

enum verdict { SAME, DIFFERENT, ONLY_A, ONLY_B };
static const char *const VERDICTS[] = {"same", "differs", "only in A", "only in B"};

struct comparison {
    const struct compare_options *options;
    struct compare_result *result;
    const char *names[2]; /* the files */
    struct strbuf text;
    json_t *rows;
};

/* Probabilities are counted, so that two measurements of one device differ. Four standard errors of
 * the few thousand victims that a dissection counts are below this. */
#define PROBABILITY_TOLERANCE 0.03

#define PATTERNS "latency_patterns."

/* A fact without bounds is its value; bounds that do not hold it are not its own. */
static double bound(const struct fact *fact, bool upper)
{
    double value = json_number_value(fact->value);
    bool is_bounded = fact->low < fact->high && fact->low <= value && value <= fact->high;
    return !is_bounded ? value : upper ? fact->high : fact->low;
}

static bool numbers_are_near(const struct fact *a, const struct fact *b,
                             const struct compare_options *options)
{
    double in_a = json_number_value(a->value), in_b = json_number_value(b->value), allowed = 0;
    if (strcmp(a->unit, "cycles") == 0) {
        allowed = options->cycles;
    } else if (strcmp(a->unit, "B/s") == 0 || strstr(a->unit, "/cycle")) {
        allowed = options->percent / 100 * fmax(fabs(in_a), fabs(in_b));
    }
    return fabs(in_a - in_b) <= allowed;
}

static bool numbers_agree(const struct fact *a, const struct fact *b,
                          const struct compare_options *options)
{
    double between = fmax(bound(a, false) - bound(b, true), bound(b, false) - bound(a, true));
    return numbers_are_near(a, b, options) ||
           (between <= options->cycles && strcmp(a->unit, "cycles") == 0);
}

static bool probabilities_agree(const json_t *a, const json_t *b)
{
    if (json_array_size(a) != json_array_size(b)) {
        return false;
    }
    for (size_t i = 0; i < json_array_size(a); i++) {
        double difference =
            json_number_value(json_array_get(a, i)) - json_number_value(json_array_get(b, i));
        if (!(fabs(difference) <= PROBABILITY_TOLERANCE)) {
            return false;
        }
    }
    return true;
}

/* Sets in the order in which pages or lines come to them: which of them the first one is in is
 * where a buffer began, and no device's. */
static bool are_turned(const json_t *a, const json_t *b)
{
    size_t count = json_array_size(a);
    for (size_t from = 0; from < count && count == json_array_size(b); from++) {
        size_t same = 0;
        while (same < count &&
               json_equal(json_array_get(a, same), json_array_get(b, (from + same) % count))) {
            same++;
        }
        if (same == count) {
            return true;
        }
    }
    return false;
}

/* A buffer begins with a page. Where sets are a power of two, its first line is in the first of
 * them, else in any; its first page is in any set of a TLB. */
static bool turns_with_buffer(const struct fact *fact)
{
    return strstr(fact->path, ".entries_per_set") ||
           (strstr(fact->path, ".ways_per_set") && !is_power_of_two(json_array_size(fact->value)));
}

static bool values_agree(const struct fact *a, const struct fact *b,
                         const struct compare_options *options)
{
    if (json_is_number(a->value) && json_is_number(b->value)) {
        return strcmp(a->unit, b->unit) == 0 && numbers_agree(a, b, options);
    }
    if (strstr(a->path, "victim_probability")) {
        return probabilities_agree(a->value, b->value);
    }
    if (turns_with_buffer(a) && are_turned(a->value, b->value)) {
        return true;
    }
    return json_equal(a->value, b->value);
}

static enum verdict judge(const struct fact *a, const struct fact *b,
                          const struct compare_options *options)
{
    const json_t *in_a = a ? a->value : NULL, *in_b = b ? b->value : NULL;
    if (!in_a || !in_b) {
        return in_a ? ONLY_A : in_b ? ONLY_B : SAME;
    }
    return values_agree(a, b, options) ? SAME : DIFFERENT;
}

/* As people write it: bytes with their unit, lists in brackets, "-" for what is not known. */
static int value_text(struct strbuf *out, const struct fact *fact)
{
    const json_t *value = fact ? fact->value : NULL;
    if (!value) {
        return strbuf_append(out, "-");
    }
    if (json_is_string(value)) {
        return strbuf_append(out, json_string_value(value));
    }
    double number = json_number_value(value);
    if (json_is_number(value) && strcmp(fact->unit, "B") == 0 && number >= 0 && number < 0x1p53) {
        char text[64];
        return strbuf_append(out, units_format(text, sizeof(text), (uint64_t)number, UNIT_BYTES));
    }
    if (json_is_number(value)) {
        bool has_unit = fact->unit[0] && strcmp(fact->unit, "1") != 0;
        return strbuf_printf(out, "%.6g%s%s", number, has_unit ? " " : "",
                             has_unit ? fact->unit : "");
    }
    char *dumped = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    if (!dumped) {
        return error_memory();
    }
    int rc = strbuf_append(out, dumped);
    free(dumped);
    return rc;
}

static int text_row(struct comparison *comparison, const char *path, enum verdict verdict,
                    const struct fact *a, const struct fact *b)
{
    struct strbuf in_a = {0};
    int rc = value_text(&in_a, a);
    rc = rc < 0 ? rc
                : strbuf_printf(&comparison->text, "%-9s  %-44s  %-20s  ", VERDICTS[verdict], path,
                                strbuf_text(&in_a));
    rc = rc < 0 ? rc : value_text(&comparison->text, b);
    rc = rc < 0 ? rc : strbuf_append_char(&comparison->text, '\n');
    strbuf_free(&in_a);
    return rc < 0 ? error_memory() : 0;
}

static json_t *value_json(const struct fact *fact)
{
    return fact && fact->value ? json_deep_copy(fact->value) : json_null();
}

static int json_row(struct comparison *comparison, const char *path, enum verdict verdict,
                    const struct fact *a, const struct fact *b)
{
    json_t *row = json_object();
    int rc = json_append(comparison->rows, row);
    rc = rc < 0 ? rc : json_put_string(row, "attribute", path);
    rc = rc < 0 ? rc : json_put_string(row, "verdict", VERDICTS[verdict]);
    rc = rc < 0 ? rc : json_put(row, "a", value_json(a));
    return rc < 0 ? rc : json_put(row, "b", value_json(b));
}

static int compare_fact(struct comparison *comparison, const struct fact *a, const struct fact *b)
{
    enum verdict verdict = judge(a, b, comparison->options);
    if (verdict == SAME && !(a && a->value)) {
        return 0; /* neither knows it: nothing was compared */
    }
    struct compare_result *result = comparison->result;
    result->same += verdict == SAME;
    result->by_bounds +=
        verdict == SAME && json_is_number(a->value) && !numbers_are_near(a, b, comparison->options);
    result->different += verdict == DIFFERENT;
    result->one_sided += verdict == ONLY_A || verdict == ONLY_B;
    if (verdict == SAME && !comparison->options->all) {
        return 0;
    }
    const char *path = a ? a->path : b->path;
    return comparison->rows ? json_row(comparison, path, verdict, a, b)
                            : text_row(comparison, path, verdict, a, b);
}

static bool is_pattern(const char *path)
{
    return strncmp(path, PATTERNS, strlen(PATTERNS)) == 0;
}

/* A class that no kind of access explains. */
static bool is_unnamed(const char *path)
{
    return is_pattern(path) && strstr(path, FACT_UNNAMED) != NULL;
}

/* How much of a path says which kind of access it is, and not which class of it
 * ("latency_patterns.cg.P4#2.latency"). */
static size_t kind_bytes(const char *path)
{
    size_t number = strcspn(path, "#");
    return path[number] ? number : (size_t)(strrchr(path, '.') - path);
}

static bool same_kind(const char *a, const char *b)
{
    if (!is_pattern(a) || !is_pattern(b)) {
        return strcmp(a, b) == 0;
    }
    size_t bytes = kind_bytes(a);
    return bytes == kind_bytes(b) && strncmp(a, b, bytes) == 0;
}

/* Of the facts of `b` that have no partner yet, the nearest of that kind; one that agrees, unless
 * any will do. `b->count`: none. */
static size_t find_partner(const struct fact *fact, const struct facts *b, const bool *taken,
                           const struct compare_options *options, bool any)
{
    size_t best = b->count;
    double nearest = INFINITY;
    for (size_t k = 0; k < b->count; k++) {
        const struct fact *other = &b->data[k];
        if (taken[k] || !same_kind(fact->path, other->path)) {
            continue;
        }
        bool agrees = fact->value && other->value && values_agree(fact, other, options);
        double apart = fabs(json_number_value(fact->value) - json_number_value(other->value));
        if ((any || agrees) && (best == b->count || apart < nearest)) {
            best = k;
            nearest = apart;
        }
    }
    return best;
}

/* partners[i]: of a's fact i; b's count where there is none. */
static void find_partners(size_t *partners, bool *taken, const struct facts *a,
                          const struct facts *b, const struct compare_options *options)
{
    for (int any = 0; any < 2; any++) {
        for (size_t i = 0; i < a->count; i++) {
            if (any && (partners[i] < b->count || is_unnamed(a->data[i].path))) {
                continue;
            }
            partners[i] = find_partner(&a->data[i], b, taken, options, any);
            if (partners[i] < b->count) {
                taken[partners[i]] = true;
            }
        }
    }
}

static int compare_facts(struct comparison *comparison, const struct facts *a,
                         const struct facts *b)
{
    size_t *partners = calloc(a->count + 1, sizeof(*partners));
    bool *taken = calloc(b->count + 1, sizeof(*taken));
    if (!partners || !taken) {
        free(partners);
        free(taken);
        return error_memory();
    }
    find_partners(partners, taken, a, b, comparison->options);
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < a->count; i++) {
        const struct fact *other = partners[i] < b->count ? &b->data[partners[i]] : NULL;
        rc = compare_fact(comparison, &a->data[i], other);
    }
    for (size_t k = 0; rc == 0 && k < b->count; k++) {
        rc = taken[k] ? 0 : compare_fact(comparison, NULL, &b->data[k]);
    }
    free(partners);
    free(taken);
    return rc;
}

static int finish_text(char **text, struct comparison *comparison)
{
    const struct compare_result *result = comparison->result;
    strbuf_printf(&comparison->text, "%zu the same, ", result->same);
    if (result->by_bounds) {
        strbuf_printf(&comparison->text, "of these %zu by their bounds alone, ", result->by_bounds);
    }
    strbuf_printf(&comparison->text, "%zu different, %zu measured in one alone\n",
                  result->different, result->one_sided);
    *text = strbuf_take(&comparison->text);
    return *text ? 0 : error_memory();
}

static int finish_json(char **text, struct comparison *comparison)
{
    json_t *root = json_object();
    int rc = root ? 0 : error_memory();
    rc = rc < 0 ? rc : json_put_u64(root, "same", comparison->result->same);
    rc = rc < 0 ? rc : json_put_u64(root, "different", comparison->result->different);
    rc = rc < 0 ? rc : json_put_u64(root, "measured_in_one", comparison->result->one_sided);
    rc = rc < 0 ? rc : json_put_u64(root, "same_by_bounds", comparison->result->by_bounds);
    rc = rc < 0 ? rc : json_put(root, "attributes", json_incref(comparison->rows));
    rc = rc < 0 ? rc : json_to_text(text, root);
    json_decref(root);
    return rc;
}

static int facts_of(struct facts *facts, const json_t *root, const char *name)
{
    int rc = facts_collect(facts, root);
    return rc < 0 ? error_prefix(rc, "%s", name) : 0;
}

static int compare_documents(char **text, struct comparison *comparison, const json_t *a,
                             const json_t *b)
{
    struct facts facts_a = {0}, facts_b = {0};
    int rc = facts_of(&facts_a, a, comparison->names[0]);
    rc = rc < 0 ? rc : facts_of(&facts_b, b, comparison->names[1]);
    rc = rc < 0 ? rc : compare_facts(comparison, &facts_a, &facts_b);
    vec_free(&facts_a);
    vec_free(&facts_b);
    if (rc < 0) {
        return rc;
    }
    return comparison->rows ? finish_json(text, comparison) : finish_text(text, comparison);
}

int compare_files(char **text, struct compare_result *result, const char *a, const char *b,
                  const struct compare_options *options)
{
    *result = (struct compare_result){0};
    struct comparison comparison = {.options = options, .result = result, .names = {a, b}};
    json_t *roots[2] = {NULL, NULL};
    int rc = saved_read(&roots[0], a);
    rc = rc < 0 ? rc : saved_read(&roots[1], b);
    if (rc == 0 && options->json) {
        comparison.rows = json_array();
        rc = comparison.rows ? 0 : error_memory();
    }
    rc = rc < 0 ? rc : compare_documents(text, &comparison, roots[0], roots[1]);
    json_decref(comparison.rows);
    strbuf_free(&comparison.text);
    json_decref(roots[0]);
    json_decref(roots[1]);
    return rc;
}
