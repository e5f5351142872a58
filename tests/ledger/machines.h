/* The toys whose dissections are kept: each a sort of machine, of which inference takes a course of
 * its own. */
#ifndef SONDE_TESTS_LEDGER_MACHINES_H
#define SONDE_TESTS_LEDGER_MACHINES_H

#include "infer/infer.h"
#include "support/toy_gpu.h"
#include "support/toy_sm.h"

struct machine {
    char name[32];
    struct toy_config config; /* if nothing else is given */
    struct infer_options options;
    const char *recording;          /* of tests/infer, instead of a toy; it says the limits */
    const struct toy_sm_config *sm; /* instead of a GPU: loads in flight alone */
};

/* Named ones, then such as are drawn from seeds; false past the last. */
bool machine_at(struct machine *out, size_t i);

#endif
