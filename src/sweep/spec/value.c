/* Values of a sweep: from texts, and to texts. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sweep/spec/expr.h"
#include "util/container/strbuf.h"
#include "util/error.h"
#include "util/text/units.h"

/* Units of which a text may be: a bare number is none of them. */
static const enum unit units[] = {UNIT_BYTES, UNIT_CYCLES,          UNIT_HZ,
                                  UNIT_PS,    UNIT_BYTES_PER_CYCLE, UNIT_BYTES_PER_S};

static bool parse_number(double *number, const char *text)
{
    char *end;
    errno = 0;
    *number = strtod(text, &end);
    bool begins = (*text >= '0' && *text <= '9') || *text == '-' || *text == '.';
    return begins && end != text && !*end && isfinite(*number);
}

struct sweep_value sweep_value_of(const char *text)
{
    struct sweep_value value = {.kind = SWEEP_TEXT, .text = text};
    if (parse_number(&value.number, text)) {
        value.kind = SWEEP_NUMBER;
        return value;
    }
    bool begins = *text >= '0' && *text <= '9';
    for (size_t i = 0; begins && i < sizeof units / sizeof *units; i++) {
        if (units_parse_double(&value.number, text, units[i]) == 0) {
            value.kind = SWEEP_NUMBER;
            break;
        }
    }
    error_clear();
    return value;
}

void sweep_value_write(struct strbuf *out, const struct sweep_value *value)
{
    if (value->kind == SWEEP_TEXT) {
        strbuf_append(out, value->text);
    }
    if (value->kind != SWEEP_NUMBER) {
        return;
    }
    char text[40];
    int digits = 1;
    do { /* the shortest form that reads back */
        snprintf(text, sizeof text, "%.*g", digits, value->number);
    } while (digits++ < 17 && strtod(text, NULL) != value->number);
    if (fabs(value->number) < 1e15 && value->number == floor(value->number)) {
        snprintf(text, sizeof text, "%.0f", value->number);
    }
    strbuf_append(out, text);
}
