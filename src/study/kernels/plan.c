/*
 * kernels.def as functions: the words of its plans.
 */
#include "study/kernels/kernels.h"

#include <string.h>

static void grid(struct kernel_plan *p, uint64_t x)
{
    p->grid[0] = (uint32_t)x;
}

static void grid2(struct kernel_plan *p, uint64_t x, uint64_t y)
{
    p->grid[0] = (uint32_t)x;
    p->grid[1] = (uint32_t)y;
}

static void block(struct kernel_plan *p, uint64_t x)
{
    p->block[0] = (uint32_t)x;
}

static void block2(struct kernel_plan *p, uint64_t x, uint64_t y)
{
    p->block[0] = (uint32_t)x;
    p->block[1] = (uint32_t)y;
}

static void buffer(struct kernel_plan *p, uint64_t bytes, enum kernel_fill fill, uint64_t argument,
                   enum kernel_check check)
{
    p->args[p->arg_count++] = (struct kernel_arg){
        .bytes = bytes, .fill = fill, .fill_argument = argument, .check = check};
}

#define in(p, bytes, fill, argument) buffer(p, bytes, FILL_##fill, argument, CHECK_NOT)
#define inout(p, bytes, fill, argument) buffer(p, bytes, FILL_##fill, argument, CHECK_WORDS)
#define floats_inout(p, bytes, fill, argument)                                                     \
    buffer(p, bytes, FILL_##fill, argument,                                                        \
           FILL_##fill == FILL_DOUBLES ? CHECK_DOUBLES : CHECK_FLOATS)
#define out(p, bytes) buffer(p, bytes, FILL_ZERO, 0, CHECK_WORDS)
#define set_out(p, bytes) buffer(p, bytes, FILL_ZERO, 0, CHECK_SET)
#define floats_out(p, bytes) buffer(p, bytes, FILL_ZERO, 0, CHECK_FLOATS)
#define doubles_out(p, bytes) buffer(p, bytes, FILL_ZERO, 0, CHECK_DOUBLES)
#define numbers_out(p, bytes) buffer(p, bytes, FILL_ZERO, 0, CHECK_NUMBERS)

static void word(struct kernel_plan *p, uint64_t value)
{
    p->args[p->arg_count++].value.word = (uint32_t)value;
}

static void real(struct kernel_plan *p, float value)
{
    p->args[p->arg_count++].value.real = value;
}

static void real64(struct kernel_plan *p, double value)
{
    p->args[p->arg_count++].value.real64 = value;
}

static uint64_t edges(uint64_t rows, uint64_t mean)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < rows; i++) {
        sum += kernel_row_length(i, mean);
    }
    return sum;
}

#define KERNEL(name, file, entry, class, sizes, ...)                                               \
    static void plan_##name(struct kernel_plan *p, uint64_t n)                                     \
    {                                                                                              \
        (void)n;                                                                                   \
        __VA_ARGS__;                                                                               \
    }
#include "study/kernels/kernels.def"
#undef KERNEL

#define LIST(...) __VA_ARGS__
#define KERNEL(name, file, entry, class, sizes, ...)                                               \
    {#name, #file, #entry, KERNEL_##class, {LIST sizes}, plan_##name},
const struct kernel_row kernel_rows[] = {
#include "study/kernels/kernels.def"
};
#undef KERNEL
const size_t kernel_row_count = sizeof(kernel_rows) / sizeof(kernel_rows[0]);

void kernel_plan(struct kernel_plan *plan, const struct kernel_row *row, uint64_t size)
{
    memset(plan, 0, sizeof(*plan));
    for (int i = 0; i < 3; i++) {
        plan->grid[i] = plan->block[i] = 1;
    }
    row->plan(plan, size);
}

bool kernel_is_set_aside(const char *name)
{
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (; *name; name++) {
        hash = (hash ^ (unsigned char)*name) * 16777619u;
    }
    hash = (hash ^ hash >> 16) * 0x85ebca6bu; /* its low bits alone are poor */
    return (hash ^ hash >> 13) % 3 == 0;
}

const char *kernel_class_name(enum kernel_class class)
{
    static const char *const names[KERNEL_CLASSES] = {
        [KERNEL_MEMORY] = "memory",   [KERNEL_COMPUTE] = "compute", [KERNEL_LATENCY] = "latency",
        [KERNEL_ATOMICS] = "atomics", [KERNEL_LATER] = "later",     [KERNEL_ASYNCHRONOUS] = "async",
    };
    return names[class];
}

bool kernel_class_is_among_all(enum kernel_class class)
{
    return class != KERNEL_LATER && class != KERNEL_ASYNCHRONOUS;
}
