/*
 * The kernels of the study h200 as data: what a launch of each is made of, how its buffers are
 * filled, and a check of what it leaves there. Nothing here knows a simulator or a driver, and
 * nothing but the C library is needed, so that the program that records on a GPU
 * (studies/h200/record.c) and the simulator's side (predict.c) share it.
 */
#ifndef SONDE_STUDY_KERNELS_KERNELS_H
#define SONDE_STUDY_KERNELS_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KERNEL_SIZES 3
#define KERNEL_ARGS 8

enum kernel_class {
    KERNEL_MEMORY,
    KERNEL_COMPUTE,
    KERNEL_LATENCY,
    KERNEL_ATOMICS,
    KERNEL_LATER, /* bound by memory, written when the others had been looked at; not among "all" */
    KERNEL_ASYNCHRONOUS, /* workloads (programs.def); not among "all" kernels */
    KERNEL_CLASSES
};

enum kernel_fill {
    FILL_ZERO,
    FILL_WORDS,   /* random */
    FILL_FLOATS,  /* from 0 up to 1 */
    FILL_DOUBLES, /* likewise */
    FILL_HALVES,  /* likewise */
    FILL_BELOW,   /* words below the argument */
    FILL_NEAR, /* an index into the same number of words, in the block of so many that its own is in
                */
    FILL_SORTED, /* words that grow by less than twice the argument */
    FILL_RING,   /* a walk of byte offsets through all multiples of the argument, in random order */
    FILL_ROWS,   /* where rows begin that have 0 to twice the argument elements */
    FILL_LETTERS, /* bytes, of so many letters */
};

/* What is compared of a buffer after the launch. */
enum kernel_check {
    CHECK_NOT,
    CHECK_WORDS,   /* all, at their places */
    CHECK_SET,     /* all words, in any order */
    CHECK_FLOATS,  /* sums, about */
    CHECK_DOUBLES, /* likewise */
    CHECK_NUMBERS, /* likewise, of words */
};

struct kernel_arg {
    uint64_t bytes; /* of a buffer; 0: a value */
    enum kernel_fill fill;
    uint64_t fill_argument;
    enum kernel_check check;
    union {
        uint32_t word;
        float real;
        double real64;
    } value;
};

struct kernel_plan {
    uint32_t grid[3], block[3];
    struct kernel_arg args[KERNEL_ARGS];
    uint32_t arg_count;
};

struct kernel_row {
    const char *name, *file, *entry;
    enum kernel_class class;
    uint64_t sizes[KERNEL_SIZES]; /* 0 behind the last */
    /* NULL: a workload of this name, which has a host program of its own and no file */
    void (*plan)(struct kernel_plan *p, uint64_t n);
};

extern const struct kernel_row kernel_rows[];
extern const size_t kernel_row_count;

/* Zeroed first. */
void kernel_plan(struct kernel_plan *plan, const struct kernel_row *row, uint64_t size);

/*
 * Whether a kernel is set aside: never looked at while the model or the simulator is worked on,
 * reported apart. Its name decides, for a third of all names, whatever kernels there are. Decided
 * before anything was predicted.
 */
bool kernel_is_set_aside(const char *name);

const char *kernel_class_name(enum kernel_class class);

/* Whether rows that name no class count kernels of this one. */
bool kernel_class_is_among_all(enum kernel_class class);

/* The bytes of a buffer before the launch: `which` is the argument's number. */
void kernel_fill(void *to, const struct kernel_arg *arg, uint32_t which);

/* Elements of a row of FILL_ROWS. */
uint64_t kernel_row_length(uint64_t row, uint64_t mean);

/* What a launch has left: equal where results must be, `about` to a thousandth. */
struct kernel_result {
    uint64_t exact;
    double about;
};
void kernel_check(struct kernel_result *result, const struct kernel_arg *arg, uint32_t which,
                  const void *bytes);
bool kernel_result_agrees(const struct kernel_result *a, const struct kernel_result *b);

#endif
