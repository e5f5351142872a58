/*
 * What trials took and how machines of each size fared: seconds of processor time and memory of
 * each trial's own process, and of each experiment within one.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "blind.h"
#include "blind_wide.h"

#define LONGEST_MS 20000 /* a run's limits from outside */
#define LARGEST_KIB (300u * 1024)

unsigned blind_class(const struct model *model)
{
    uint64_t bytes = model->l2.size_bytes * model->l2_slices;
    return bytes <= UINT64_C(256) << 10 ? 0
           : bytes <= UINT64_C(2) << 20 ? 1
           : bytes <= UINT64_C(8) << 20 ? 2
                                        : 3;
}

const char *blind_class_name(unsigned which)
{
    static const char *const names[BLIND_CLASSES] = {"L2 to 256 KiB", "L2 to 2 MiB", "L2 to 8 MiB",
                                                     "L2 above 8 MiB"};
    return names[which];
}

void blind_spend(void *spending, double fraction, const char *what)
{
    struct blind_spending *s = spending;
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    double seconds = (double)used.ru_utime.tv_sec + (double)used.ru_utime.tv_usec / 1e6;
    (void)fraction;
    if (s->what[0]) {
        printf("cost %s: %.2f s, work %llu, peak %ld MiB\n", s->what, seconds - s->seconds,
               (unsigned long long)(s->device->work - s->work), used.ru_maxrss / 1024);
    }
    snprintf(s->what, sizeof(s->what), "%s", what);
    s->work = s->device->work;
    s->seconds = seconds;
}

uint32_t blind_milliseconds(const struct rusage *used)
{
    struct timeval user = used->ru_utime, system = used->ru_stime;
    return (uint32_t)((user.tv_sec + system.tv_sec) * 1000 +
                      (user.tv_usec + system.tv_usec) / 1000 + 1);
}

void blind_add_trial(struct blind_tally *tally, struct blind_score *score,
                     const struct blind_tally *own)
{
    uint64_t right, wrong, missing;
    blind_totals(own, &right, &wrong, &missing);
    score->all = (uint32_t)(right + wrong + missing);
    score->right = (uint32_t)right;
    score->surely_wrong = (uint32_t)own->surely_wrong;
    score->failed = own->failed + own->died > 0;
    blind_add(tally, own);
}

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void print_spread(const char *what, uint32_t *values, uint64_t count, uint32_t limit,
                         double scale)
{
    uint64_t over = 0;
    qsort(values, count, sizeof(*values), compare);
    for (uint64_t i = 0; i < count; i++) {
        over += values[i] > limit;
    }
    printf("  %s: median %.1f, nine of ten %.1f, most %.1f; above %.0f: %llu\n", what,
           values[count / 2] / scale, values[count * 9 / 10] / scale, values[count - 1] / scale,
           limit / scale, (unsigned long long)over);
}

static void print_class(const struct blind_score *scores, uint64_t count, uint64_t stride,
                        unsigned which)
{
    uint64_t trials = 0, all = 0, right = 0, wrong = 0;
    for (uint64_t i = 0; i < count; i++) {
        const struct blind_score *s = &scores[i * stride];
        if (s->milliseconds && s->class_of == which) {
            trials++;
            all += s->all;
            right += s->right;
            wrong += s->surely_wrong;
        }
    }
    if (trials) {
        printf("  %-16s %4llu machines, share %.4f, sure and wrong %llu\n", blind_class_name(which),
               (unsigned long long)trials, all ? (double)right / (double)all : 0,
               (unsigned long long)wrong);
    }
}

void blind_print_cost(const struct blind_score *scores, uint64_t count, uint64_t stride)
{
    uint32_t *time = calloc(count + 1, sizeof(*time)), *memory = calloc(count + 1, sizeof(*memory));
    uint64_t made = 0, aborts = 0;
    for (uint64_t i = 0; time && memory && i < count; i++) {
        const struct blind_score *s = &scores[i * stride];
        if (s->milliseconds) {
            time[made] = s->milliseconds;
            memory[made++] = s->kilobytes;
            aborts += s->failed;
        }
    }
    if (made) {
        print_spread("seconds", time, made, LONGEST_MS, 1000);
        print_spread("MiB", memory, made, LARGEST_KIB, 1024);
        printf("  without a dissection: %llu\n", (unsigned long long)aborts);
        for (unsigned which = 0; which < BLIND_CLASSES; which++) {
            print_class(scores, count, stride, which);
        }
    }
    free(time);
    free(memory);
}
