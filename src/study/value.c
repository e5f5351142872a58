/*
 * Values: read from YAML, compared, printed. A quoted scalar is a word, a plain one a number.
 */
#include "study/value.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/container/strbuf.h"
#include "util/glue/yaml_glue.h"
#include "util/sort.h"

/* Published numbers are decimal: what differs in the last binary digit is the same. */
#define ROUNDING 1e-9

void value_number(struct study_value *value, double number)
{
    *value = (struct study_value){.kind = STUDY_NUMBER, .number = number};
}

void value_word(struct study_value *value, const char *word)
{
    *value = (struct study_value){.kind = STUDY_WORD};
    snprintf(value->word, sizeof(value->word), "%s", word);
}

void value_nothing(struct study_value *value, const char *fmt, ...)
{
    va_list args;
    *value = (struct study_value){.kind = STUDY_NOTHING};
    va_start(args, fmt);
    vsnprintf(value->reason, sizeof(value->reason), fmt, args);
    va_end(args);
    value->reason[strcspn(value->reason, "\n")] = '\0';
}

static int read_list(struct study_value *value, const struct yaml_node *node)
{
    *value = (struct study_value){.kind = STUDY_LIST};
    if (node->child_count == 0 || node->child_count > STUDY_MAX_LIST) {
        return yaml_error(SONDE_EINPUT, node, "a list of 1 to %d numbers", STUDY_MAX_LIST);
    }
    for (const struct yaml_node *item = node->first; item; item = item->next) {
        int rc = yaml_double(&value->list[value->count++], item, UNIT_NONE);
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}

int value_read(struct study_value *value, const struct yaml_node *node)
{
    if (node->kind == YAML_SEQUENCE) {
        return read_list(value, node);
    }
    if (node->kind == YAML_SCALAR && node->quoted) {
        value_word(value, node->text);
        return 0;
    }
    double number;
    int rc = yaml_double(&number, node, UNIT_NONE);
    if (rc == 0) {
        value_number(value, number);
    }
    return rc;
}

int tolerance_read(struct study_tolerance *tolerance, const struct yaml_node *node)
{
    const char *text;
    int rc = yaml_text(&text, node);
    if (rc < 0) {
        return rc;
    }
    static const char *const words[] = {[STUDY_EXACT] = "exact",
                                        [STUDY_AT_LEAST] = "at least",
                                        [STUDY_AT_MOST] = "at most",
                                        [STUDY_WITHIN] = "within"};
    *tolerance = (struct study_tolerance){.text = text};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (words[i] && strcmp(text, words[i]) == 0) {
            tolerance->kind = (enum study_tolerance_kind)i;
            return 0;
        }
    }
    char *end;
    double amount = strtod(text, &end);
    if (end == text || !(amount > 0) || !isfinite(amount)) {
        return yaml_error(SONDE_EINPUT, node,
                          "'%s' is no tolerance: exact, 3 %%, 0.03, 3 cycles, at least, at most, "
                          "within",
                          text);
    }
    while (*end == ' ') {
        end++;
    }
    tolerance->kind = *end == '%' ? STUDY_RELATIVE : STUDY_ABSOLUTE;
    tolerance->amount = *end == '%' ? amount / 100 : amount;
    return 0;
}

static bool near(double measured, double published, const struct study_tolerance *tolerance)
{
    double over = measured - published, rounding = ROUNDING * fabs(published);
    if (tolerance->kind == STUDY_AT_LEAST || tolerance->kind == STUDY_AT_MOST) {
        return tolerance->kind == STUDY_AT_LEAST ? over >= -rounding : over <= rounding;
    }
    double allowed = tolerance->kind == STUDY_EXACT      ? 0
                     : tolerance->kind == STUDY_RELATIVE ? tolerance->amount * fabs(published)
                                                         : tolerance->amount;
    return fabs(over) <= allowed + rounding;
}

static bool lists_hold(const struct study_value *measured, const struct study_value *published,
                       const struct study_tolerance *tolerance, bool any_order)
{
    struct study_value m = *measured, p = *published;
    if (m.count != p.count) {
        return false;
    }
    if (any_order) {
        sort_double(m.list, m.count);
        sort_double(p.list, p.count);
    }
    for (size_t i = 0; i < m.count; i++) {
        if (!near(m.list[i], p.list[i], tolerance)) {
            return false;
        }
    }
    return true;
}

bool value_holds(const struct study_value *measured, const struct study_value *published,
                 const struct study_tolerance *tolerance, bool any_order)
{
    if (tolerance->kind == STUDY_WITHIN) {
        return measured->kind == STUDY_NUMBER && published->kind == STUDY_LIST &&
               published->count == 2 && measured->number >= published->list[0] &&
               measured->number <= published->list[1];
    }
    if (measured->kind != published->kind) {
        return false;
    }
    switch (measured->kind) {
    case STUDY_NUMBER:
        return near(measured->number, published->number, tolerance);
    case STUDY_WORD:
        return strcmp(measured->word, published->word) == 0;
    case STUDY_LIST:
        return lists_hold(measured, published, tolerance, any_order);
    case STUDY_NOTHING:
        break;
    }
    return false;
}

void value_print(struct strbuf *out, const struct study_value *value)
{
    switch (value->kind) {
    case STUDY_NOTHING:
        strbuf_append(out, "not measured");
        return;
    case STUDY_NUMBER:
        strbuf_printf(out, "%.10g", value->number);
        return;
    case STUDY_WORD:
        strbuf_append(out, value->word);
        return;
    case STUDY_LIST:
        break;
    }
    for (size_t i = 0; i < value->count; i++) {
        strbuf_printf(out, "%s%.4g", i ? ", " : "[", value->list[i]);
    }
    strbuf_append(out, "]");
}
