/* The toys whose dissections are kept: each a sort of machine, of which inference takes a course of
 * its own. */
#ifndef SONDE_TESTS_LEDGER_MACHINES_H
#define SONDE_TESTS_LEDGER_MACHINES_H

#include "infer/infer.h"
#include "support/toy_gpu.h"

struct machine {
    char name[32];
    struct toy_config config;
    struct infer_options options;
};

/* Named ones, then such as are drawn from seeds; false past the last. */
bool machine_at(struct machine *out, size_t i);

#endif
