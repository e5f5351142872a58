/*
 * Host side of the queens. Size: N, 4 to 12. One thread searches nearly all, as Bakhoda et al.
 * 2009 say of theirs (section 2.4): up to ten queens it begins with an empty board. A thread has
 * room for ten rows; of more queens the host places the first, in all ways. The grid is always that
 * of their N = 10, whatever there is to do. The reference tries columns one by one and knows no
 * bits.
 */
#include "workloads/workload.h"

#include <stdlib.h>

#include "util/error.h"

#define BLOCK 96
#define BLOCKS 223
#define ROWS 10 /* of a thread */
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

/* What is under attack a row further down, with one more queen. */
static struct beginning below(const struct beginning *above, uint32_t place)
{
    return (struct beginning){.columns = above->columns | place,
                              .left = (above->left | place) << 1,
                              .right = (above->right | place) >> 1,
                              .weight = 1};
}

/* All ways to place queens in the first `placed` rows of `count`; how many. */
static uint32_t begin(struct beginning *out, const struct beginning *board, uint32_t placed,
                      uint32_t count)
{
    uint32_t made = 0, attacked = board->columns | board->left | board->right;
    if (placed == 0) {
        *out = *board;
        return 1;
    }
    for (uint32_t column = 0; column < count; column++) {
        if (!(attacked >> column & 1)) {
            struct beginning next = below(board, 1u << column);
            made += begin(out + made, &next, placed - 1, count);
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
    const struct beginning empty = {.weight = 1};
    uint32_t placed = count > ROWS ? count - ROWS : 0;
    uint32_t made = begin(beginnings, &empty, placed, count);
    uint32_t all = (1u << count) - 1, rows = count - placed;
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
