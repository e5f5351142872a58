/*
 * One value of a result, or the reason why there is none.
 *
 *   attribute    a value with its unit, or a status and a reason; never a zero for "not measured"
 *   confidence   the probability that the value is right, 0 to 1, calibrated over blind trials
 *   evidence     the entry of the dissection that names the traces which a value rests on
 *   refusal      a status and the words for it
 */
#ifndef SONDE_INFER_DISSECTION_ATTRIBUTE_H
#define SONDE_INFER_DISSECTION_ATTRIBUTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Why there is no value: it was tried and not measured, it was shown not to exist, nobody asked for
 * it, a recording has not what it takes.
 */
enum attribute_status {
    ATTRIBUTE_NOT_MEASURED,
    ATTRIBUTE_ABSENT,
    ATTRIBUTE_NOT_ASKED,
    ATTRIBUTE_NOT_RECORDED,
    ATTRIBUTE_MEASURED
};

/* One of the first four, and the words. */
struct refusal {
    enum attribute_status status;
    char reason[160];
};

struct attribute {
    enum attribute_status status;
    double value;
    const char *unit; /* static: "B", "cycles", "ns", "B/s", "entries", "1" */
    double confidence;
    double low, high;   /* 95 % bounds of an estimate; 0, 0: the value is meant exactly */
    char evidence[160]; /* id of an entry of dissection->evidence */
    char reason[160];   /* unless measured */
};

/* The reason where an attribute means nothing. */
#define NOT_APPLICABLE "not applicable"

#define INFER_NAME_BYTES 40 /* of a cache, a policy, a method */

#endif
