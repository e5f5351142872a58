/*
 * What the host sides of kernels in today's style share: halves that make exact sums, tensor maps
 * of planes, results. The device's part is modern.cuh.
 */
#ifndef SONDE_WORKLOADS_MODERN_H
#define SONDE_WORKLOADS_MODERN_H

#include "isa/tensor/tensor_map.h"
#include "workloads/workload.h"

/* A kernel's output in device memory, what the host has of it and what it wants. */
struct modern_output {
    uint64_t at;
    float *got;
    double *wanted;
    size_t count;
};

/* SONDE_EINPUT unless `size` is a multiple of `step`, `most` at most. `what` names it. */
int modern_check_size(const char *what, uint32_t size, uint32_t step, uint32_t most);
/* Whole numbers from -4 to 3: `*values` for the host, as halves at `*at`. */
int modern_halves(struct workbench *bench, float **values, uint64_t *at, size_t count);
/* Zeros. */
int modern_output(struct workbench *bench, struct modern_output *out, size_t count);
/* Downloads it and compares; `tolerance` is absolute, 0 wants equal values. */
int modern_expect(struct workbench *bench, struct modern_output *out, double tolerance);

/* The part of a plane that a tensor map brings at a time, in elements. */
struct modern_box {
    uint32_t width, height;
    uint32_t swizzle; /* as struct tensor_map has it */
};
struct modern_map {
    _Alignas(64) uint32_t words[TENSOR_MAP_BYTES / 4]; /* a kernel's parameter */
};
/* Of rows that follow each other; what lies outside is read as 0. A row has a multiple of 16
 * bytes. */
void modern_map(struct modern_map *out, uint64_t address, enum tensor_type type, uint32_t width,
                uint32_t height, const struct modern_box *box);

/* Two matrices of side x side halves; wanted: a b, or a bt. */
struct modern_product {
    uint32_t side;
    uint64_t at_a, at_b;
    struct modern_output c;
};
int modern_product(struct workbench *bench, struct modern_product *out, bool transposed);

#define MODERN_DEPTH 64 /* halves of a row of q, k and v */
/* Three matrices of `rows` rows; wanted: softmax(q kt / 8) v. */
struct modern_attention {
    uint32_t rows;
    uint64_t at[3]; /* q, k, v */
    struct modern_output out;
};
int modern_attention(struct workbench *bench, struct modern_attention *out);
/* The largest difference of an output: the kernels round the weights to halves. */
extern const double modern_attention_tolerance;

#define MODERN_ROW 1024 /* floats */
/* Rows of MODERN_ROW multiples of 1/512 from -4 to 4, and a launch of `kernel` on them. The host's
 * result of a row is `reference`'s. */
struct modern_rows {
    const char *kernel;
    void (*reference)(double *wanted, const float *row);
    double tolerance;
};
int modern_rows(struct workbench *bench, const struct modern_rows *rows);

#endif
