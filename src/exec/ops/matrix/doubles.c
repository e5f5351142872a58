/*
 * Products of f64: one fused multiply-add after the other along k (PTX ISA 9.0, 9.7.14). All eight
 * columns of a row are made at once where the processor can; sums that are NaNs are made again one
 * by one, for which NaN they are.
 */
#include <math.h>

#include "exec/ops/matrix/matrix.h"
#include "isa/lane_math.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#endif

#define ROWS 16
#define DEPTH 16
#define COLUMNS 8

struct doubles {
    double a[ROWS][DEPTH], b[DEPTH][COLUMNS], c[ROWS][COLUMNS], sum[ROWS][COLUMNS];
};

/* The analyzer does not see that gather() fills a, b and c. NOLINTBEGIN(clang-analyzer-core.*) */
static double one_sum(const struct doubles *m, uint32_t row, uint32_t column, uint32_t depth)
{
    double sum = m->c[row][column];
    for (uint32_t k = 0; k < depth; k++) {
        double a = m->a[row][k], b = m->b[k][column];
        sum = lane_nan3_f64(fma(a, b, sum), a, b, sum);
    }
    return sum;
}

static void rows_portable(struct doubles *m, uint32_t rows, uint32_t depth)
{
    for (uint32_t row = 0; row < rows; row++)
        for (uint32_t j = 0; j < COLUMNS; j++)
            m->sum[row][j] = one_sum(m, row, j, depth);
}

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("avx2,fma"))) static void rows_avx2(struct doubles *m, uint32_t rows,
                                                          uint32_t depth)
{
    for (uint32_t row = 0; row < rows; row++) {
        __m256d low = _mm256_loadu_pd(m->c[row]), high = _mm256_loadu_pd(m->c[row] + 4);
        for (uint32_t k = 0; k < depth; k++) {
            __m256d a = _mm256_set1_pd(m->a[row][k]);
            low = _mm256_fmadd_pd(a, _mm256_loadu_pd(m->b[k]), low);
            high = _mm256_fmadd_pd(a, _mm256_loadu_pd(m->b[k] + 4), high);
        }
        _mm256_storeu_pd(m->sum[row], low);
        _mm256_storeu_pd(m->sum[row] + 4, high);
        __m256d nan = _mm256_cmp_pd(low, high, _CMP_UNORD_Q); /* either of the two */
        for (uint32_t j = 0; _mm256_movemask_pd(nan) && j < COLUMNS; j++)
            m->sum[row][j] = one_sum(m, row, j, depth);
    }
}

static void rows_of(struct doubles *m, uint32_t rows, uint32_t depth)
{
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        rows_avx2(m, rows, depth);
    else
        rows_portable(m, rows, depth);
}
#else
#define rows_of rows_portable
#endif
/* NOLINTEND(clang-analyzer-core.*) */

/* A register's 32 values: lane 4 g + t has what lies g times `group_apart` and t times `lane_apart`
 * behind `out`. */
static void gather_register(double *out, const struct exec_state *state,
                            const struct element *element, uint32_t group_apart,
                            uint32_t lane_apart)
{
    for (uint32_t lane = 0; lane < WARP_LANES; lane++)
        out[lane / 4 * group_apart + lane % 4 * lane_apart] =
            lane_double(element_get(state, element, lane));
}

/* See matrix.c for who has what; a register is an element. */
static void gather(struct doubles *out, const struct exec_state *state, const struct uop_matrix *m)
{
    const uint32_t rows = m->mnk.m / 8u;
    const uint32_t a = sizeof out->a[0] / sizeof(double), b = sizeof out->b[0] / sizeof(double),
                   c = sizeof out->c[0] / sizeof(double);
    for (uint32_t r = 0; r < m->a.count; r++)
        gather_register(&out->a[8 * (r % rows)][4 * (r / rows)], state, &m->a.registers[r], a, 1);
    for (uint32_t r = 0; r < m->b.count; r++)
        gather_register(out->b[4 * r], state, &m->b.registers[r], 1, b);
    for (uint32_t r = 0; r < m->c.count; r++)
        gather_register(&out->c[8 * (r / 2)][r % 2], state, &m->c.registers[r], c, 2);
}

void doubles_product(struct exec_state *state, const struct uop_matrix *m, uint32_t mask)
{
    struct doubles all;
    gather(&all, state, m);
    rows_of(&all, m->mnk.m, m->mnk.k);
    for (uint32_t r = 0; r < m->d.count; r++)
        for (uint32_t rest = mask; rest; rest &= rest - 1) {
            uint32_t lane = lowest_lane(rest), g = lane / 4, t = lane % 4;
            element_set(state, &m->d.registers[r], lane,
                        lane_bits_f64(all.sum[g + 8 * (r / 2)][2 * t + r % 2]));
        }
}
