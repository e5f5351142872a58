/* Inputs and references of kernels in today's style; see modern.h. */
#include "workloads/modern.h"

#include <math.h>

#include "util/error.h"

#define SIDE_MOST 4096 /* sums of products of -4 to 3 stay exact in a float */
#define ROWS_MOST 65536

const double modern_attention_tolerance = 4e-3;

int modern_check_size(const char *what, uint32_t size, uint32_t step, uint32_t most)
{
    return size % step || size > most
               ? error_set(SONDE_EINPUT, "%s %u is no multiple of %u up to %u", what, size, step,
                           most)
               : 0;
}

/* -4 to 3 as halves. */
static uint16_t half_of(int value)
{
    static const uint16_t of[] = {0xc400, 0xc200, 0xc000, 0xbc00, 0, 0x3c00, 0x4000, 0x4200};
    return of[value + 4];
}

int modern_halves(struct workbench *bench, float **values, uint64_t *at, size_t count)
{
    uint16_t *bits = workbench_array(bench, count, sizeof *bits);
    *values = workbench_array(bench, count, sizeof **values);
    if (!bits || !*values) {
        return SONDE_ENOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        int value = (int)rng_below(&bench->rng, 8) - 4;
        (*values)[i] = (float)value;
        bits[i] = half_of(value);
    }
    return workbench_upload(bench, at, bits, count * sizeof *bits);
}

int modern_output(struct workbench *bench, struct modern_output *out, size_t count)
{
    out->count = count;
    out->got = workbench_array(bench, count, sizeof *out->got);
    out->wanted = workbench_array(bench, count, sizeof *out->wanted);
    return out->got && out->wanted
               ? workbench_upload(bench, &out->at, NULL, count * sizeof *out->got)
               : SONDE_ENOMEM;
}

int modern_expect(struct workbench *bench, struct modern_output *out, double tolerance)
{
    int rc = workbench_download(bench, out->got, out->at, out->count * sizeof *out->got);
    return rc < 0 ? rc : workbench_expect_floats(out->got, out->wanted, out->count, 0, tolerance);
}

void modern_map(struct modern_map *out, uint64_t address, enum tensor_type type, uint32_t width,
                uint32_t height, const struct modern_box *box)
{
    uint32_t bytes = tensor_type_bytes(type);
    const struct tensor_map map = {.address = address,
                                   .type = type,
                                   .rank = 2,
                                   .swizzle = box->swizzle,
                                   .size = {width, height},
                                   .stride = {bytes, (uint64_t)width * bytes},
                                   .box = {box->width, box->height},
                                   .step = {1, 1}};
    tensor_map_write(out->words, &map);
}

static double dot(const float *row, const float *other, size_t step, uint32_t count)
{
    double sum = 0;
    for (uint32_t k = 0; k < count; k++) {
        sum += (double)row[k] * other[k * step];
    }
    return sum;
}

int modern_product(struct workbench *bench, struct modern_product *out, bool transposed)
{
    uint32_t side = bench->size;
    size_t count = (size_t)side * side;
    float *a, *b;
    int rc = modern_check_size("side", side, 64, SIDE_MOST);
    rc = rc < 0 ? rc : modern_halves(bench, &a, &out->at_a, count);
    rc = rc < 0 ? rc : modern_halves(bench, &b, &out->at_b, count);
    rc = rc < 0 ? rc : modern_output(bench, &out->c, count);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        size_t row = i / side * side, column = i % side;
        out->c.wanted[i] = transposed ? dot(a + row, b + column * side, 1, side)
                                      : dot(a + row, b + column, side, side);
    }
    out->side = side;
    return rc;
}

/* A row of the result; `weights` has room for one of each row. */
static void attend(double *wanted, double *weights, const float *q, float *const *kv, uint32_t rows)
{
    double sum = 0, most = -INFINITY;
    for (size_t j = 0; j < rows; j++) {
        weights[j] = dot(q, kv[0] + j * MODERN_DEPTH, 1, MODERN_DEPTH) / 8;
        most = fmax(most, weights[j]);
    }
    for (size_t j = 0; j < rows; j++) {
        weights[j] = exp(weights[j] - most);
        sum += weights[j];
    }
    for (size_t j = 0; j < rows; j++) {
        for (size_t d = 0; d < MODERN_DEPTH; d++) {
            wanted[d] += weights[j] / sum * kv[1][j * MODERN_DEPTH + d];
        }
    }
}

int modern_attention(struct workbench *bench, struct modern_attention *out)
{
    uint32_t rows = bench->size;
    size_t count = (size_t)rows * MODERN_DEPTH;
    float *values[3];
    int rc = modern_check_size("rows", rows, 64, SIDE_MOST);
    for (int i = 0; rc == 0 && i < 3; i++) {
        rc = modern_halves(bench, &values[i], &out->at[i], count);
    }
    rc = rc < 0 ? rc : modern_output(bench, &out->out, count);
    double *weights = rc < 0 ? NULL : workbench_array(bench, rows, sizeof *weights);
    rc = rc < 0 || weights ? rc : SONDE_ENOMEM;
    for (size_t row = 0; rc == 0 && row < count; row += MODERN_DEPTH) {
        attend(out->out.wanted + row, weights, values[0] + row, values + 1, rows);
    }
    out->rows = rows;
    return rc;
}

int modern_rows(struct workbench *bench, const struct modern_rows *rows)
{
    uint32_t count = bench->size;
    size_t elements = (size_t)count * MODERN_ROW;
    struct modern_output out;
    uint64_t at_in;
    int rc = modern_check_size("rows", count, 1, ROWS_MOST);
    float *in = rc < 0 ? NULL : workbench_array(bench, elements, sizeof *in);
    rc = rc < 0 || in ? rc : SONDE_ENOMEM;
    for (size_t i = 0; rc == 0 && i < elements; i++) {
        in[i] = (float)rng_below(&bench->rng, 4096) / 512 - 4;
    }
    rc = rc < 0 ? rc : workbench_upload(bench, &at_in, in, elements * sizeof *in);
    rc = rc < 0 ? rc : modern_output(bench, &out, elements);
    for (size_t row = 0; rc == 0 && row < elements; row += MODERN_ROW) {
        rows->reference(out.wanted + row, in + row);
    }
    struct workbench_shape shape = {{(count + 7) / 8, 1, 1}, {256, 1, 1}};
    rc = rc < 0 ? rc : WORKBENCH_LAUNCH(bench, rows->kernel, shape, &out.at, &at_in, &count);
    return rc < 0 ? rc : modern_expect(bench, &out, rows->tolerance);
}
