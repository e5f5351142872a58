/*
 * Replacement, of a cache or a TLB.
 *
 *   policy        the rule that chooses which way of a full set is replaced
 *   victim        the way that it chooses; some policies draw it
 *   equivalent    a policy that this number of ways cannot tell apart from the one that is named
 */
#ifndef SONDE_INFER_DISSECTION_POLICY_H
#define SONDE_INFER_DISSECTION_POLICY_H

#include "infer/dissection/attribute.h"

/*
 * Replacement. `name` is "" where nothing is known, and then `reason` says why. Policies that this
 * number of ways cannot tell apart from it are in `equivalent`. A policy that draws its victims has
 * their probabilities, by ways in the order of a cold fill, each give or take `error` (95 %).
 */
#define INFER_MAX_EQUIVALENT 6
#define INFER_MAX_WAYS 512

/* Does a draw depend on the one before? */
enum serial_dependence { SERIAL_UNKNOWN, SERIAL_NO, SERIAL_YES };

struct policy_result {
    char name[INFER_NAME_BYTES]; /* lru fifo plru nru srrip random biased none */
    char equivalent[INFER_MAX_EQUIVALENT][INFER_NAME_BYTES];
    size_t equivalent_count;
    double probability[INFER_MAX_WAYS], error[INFER_MAX_WAYS];
    size_t probability_count;
    uint64_t victims; /* seen, behind the probabilities */
    enum serial_dependence serial;
    double confidence;
    char evidence[24];
    struct refusal refusal; /* where there is no name */
};

#endif
