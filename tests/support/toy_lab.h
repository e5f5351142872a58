/*
 * A laboratory (infer/ask/lab.h) whose source is a toy, with a dissection of its own, so that one
 * experiment can be done alone.
 */
#ifndef SONDE_TESTS_SUPPORT_TOY_LAB_H
#define SONDE_TESTS_SUPPORT_TOY_LAB_H

#include "infer/ask/lab.h"
#include "support/toy_source.h"

struct toy_lab {
    struct infer_options options;
    struct trace_source source;
    struct traceset *set; /* what the toy has answered */
    struct dissection *out;
    struct lab lab;
    toy_answer *answer;
    void *toy;
};

static inline int toy_lab_get(void *ctx, const struct trace **out,
                              const struct trace_request *request)
{
    struct toy_lab *bench = ctx;
    return toy_get(bench->set, bench->answer, bench->toy, out, request);
}

/* `footprint`: bytes, that walks may take at most. */
static inline void toy_lab_open(struct toy_lab *bench, toy_answer *answer, void *toy,
                                uint64_t footprint)
{
    *bench = (struct toy_lab){.options.max_footprint_bytes = footprint,
                              .source = {.get = toy_lab_get, .ctx = bench},
                              .out = calloc(1, sizeof *bench->out), /* large */
                              .answer = answer,
                              .toy = toy};
    if (!bench->out || traceset_create(&bench->set) < 0) {
        abort();
    }
    bench->lab =
        (struct lab){.source = &bench->source, .options = &bench->options, .out = bench->out};
}

static inline void toy_lab_close(struct toy_lab *bench)
{
    traceset_destroy(bench->set);
    free(bench->out);
}

#endif
