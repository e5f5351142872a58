/*
 * Host side of the queens. Size: N, 4 to 12. The host places the first two queens, of mirrored
 * pairs only one; the grid is always that of Bakhoda's N = 10, whatever there is to do. The
 * reference tries columns one by one and knows no bits.
 */
#include "workloads/workload.h"

#include <stdlib.h>

#include "util/error.h"

#define BLOCK 96
#define BLOCKS 223
#define PLACED 2
#define SIZE_MIN 4
#define SIZE_MAX_QUEENS 12

struct beginning {
    uint32_t columns, left, right, weight;
};

static uint32_t solve(uint32_t *column, uint32_t row, uint32_t count)
{
    uint32_t solutions = 0;
    if (row == count) {
        return 1;
    }
    for (column[row] = 0; column[row] < count; column[row]++) {
        bool attacked = false;
        for (uint32_t above = 0; above < row && !attacked; above++) {
            int apart = abs((int)column[row] - (int)column[above]);
            attacked = apart == 0 || apart == (int)(row - above);
        }
        solutions += attacked ? 0 : solve(column, row + 1, count);
    }
    return solutions;
}

/* All pairs of the first two rows that do not attack each other; how many. */
static uint32_t begin(struct beginning *out, uint32_t count)
{
    uint32_t made = 0;
    for (uint32_t first = 0; first < (count + 1) / 2; first++) {
        for (uint32_t second = 0; second < count; second++) {
            if (abs((int)first - (int)second) <= 1) {
                continue;
            }
            uint32_t a = 1u << first, b = 1u << second;
            out[made++] = (struct beginning){.columns = a | b,
                                             .left = (a << 1 | b) << 1,
                                             .right = (a >> 1 | b) >> 1,
                                             .weight = 2 * first + 1 == count ? 1 : 2};
        }
    }
    return made;
}

int workload_nqueens(struct workbench *bench)
{
    uint32_t count = bench->size, column[SIZE_MAX_QUEENS], sums[BLOCKS];
    struct beginning beginnings[SIZE_MAX_QUEENS * SIZE_MAX_QUEENS];
    uint64_t at, at_sums;
    if (count < SIZE_MIN || count > SIZE_MAX_QUEENS) {
        return error_set(SONDE_EINPUT, "%u queens: %d to %d", count, SIZE_MIN, SIZE_MAX_QUEENS);
    }
    uint32_t made = begin(beginnings, count), all = (1u << count) - 1, rows = count - PLACED;
    int rc = workbench_upload(bench, &at, beginnings, made * sizeof *beginnings);
    rc = rc < 0 ? rc : workbench_upload(bench, &at_sums, NULL, sizeof sums);
    struct workbench_shape shape = {{BLOCKS, 1, 1}, {BLOCK, 1, 1}};
    rc = rc < 0 ? rc : WORKBENCH_LAUNCH(bench, "nqueens", shape, &at_sums, &at, &made, &all, &rows);
    rc = rc < 0 ? rc : workbench_download(bench, sums, at_sums, sizeof sums);
    uint32_t sum = 0, wanted = rc < 0 ? 0 : solve(column, 0, count);
    for (int i = 0; rc == 0 && i < BLOCKS; i++) {
        sum += sums[i];
    }
    return rc < 0 ? rc : workbench_expect_words(&sum, &wanted, 1);
}
