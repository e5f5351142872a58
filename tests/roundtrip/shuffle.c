/*
 * shuffle IN OUT SEED: a recording with the latencies of each trace permuted. What was asked and
 * how latencies are distributed stays; where each belongs is lost, and with it all structure.
 */
#include <stdio.h>
#include <stdlib.h>

#include "permute.h"
#include "trace/trace.h"
#include "util/error.h"

static int shuffled(struct traceset *out, const struct traceset *in, struct rng *rng)
{
    *traceset_device(out) = *traceset_device_info(in);
    for (size_t i = 0; i < traceset_count(in); i++) {
        struct trace trace;
        int rc = permuted_trace(&trace, traceset_at(in, i), rng);
        rc = rc < 0 ? rc : traceset_add(out, &trace, NULL);
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct traceset *in = NULL;
    struct traceset *out = NULL;
    if (argc != 4) {
        return 2;
    }
    struct rng rng;
    rng_seed(&rng, strtoull(argv[3], NULL, 10));
    int rc = traceset_read(&in, argv[1]);
    rc = rc < 0 ? rc : traceset_create(&out);
    rc = rc < 0 ? rc : shuffled(out, in, &rng);
    rc = rc < 0 ? rc : traceset_write(out, argv[2]);
    if (rc < 0) {
        fprintf(stderr, "shuffle: %s\n", error_text());
    }
    traceset_destroy(in);
    traceset_destroy(out);
    return rc < 0;
}
