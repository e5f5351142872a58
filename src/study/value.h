/*
 * What a row publishes or measures: a number, a word, a list of numbers, or nothing with the
 * reason; and how far a measured one may be from the published.
 */
#ifndef SONDE_STUDY_VALUE_H
#define SONDE_STUDY_VALUE_H

#include <stdbool.h>
#include <stddef.h>

struct strbuf;
struct yaml_node;

#define STUDY_MAX_LIST 32

enum study_value_kind { STUDY_NOTHING, STUDY_NUMBER, STUDY_WORD, STUDY_LIST };

struct study_value {
    enum study_value_kind kind;
    double number;
    char word[64];
    double list[STUDY_MAX_LIST];
    size_t count;
    char reason[200]; /* of STUDY_NOTHING; one line */
};

/* The last three are for papers that print a bound, or two. */
enum study_tolerance_kind {
    STUDY_EXACT,
    STUDY_RELATIVE,
    STUDY_ABSOLUTE,
    STUDY_AT_LEAST,
    STUDY_AT_MOST,
    STUDY_WITHIN, /* a number within a list of two */
};

struct study_tolerance {
    enum study_tolerance_kind kind;
    double amount; /* 0.03 for "3 %" */
    const char *text;
};

void value_number(struct study_value *value, double number);
void value_word(struct study_value *value, const char *word);
void value_nothing(struct study_value *value, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* From a study's file; SONDE_EINPUT with the place. */
int value_read(struct study_value *value, const struct yaml_node *node);
/* "exact", "3 %", "0.03", "3 cycles", "at least", "at most", "within". */
int tolerance_read(struct study_tolerance *tolerance, const struct yaml_node *node);

bool value_holds(const struct study_value *measured, const struct study_value *published,
                 const struct study_tolerance *tolerance, bool any_order);

/* "16384", "[17, 8, 8]", "no", "not measured". */
void value_print(struct strbuf *out, const struct study_value *value);

#endif
