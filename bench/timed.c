/* The workloads and sizes of timing.def, or any that the command line names. */
#include "timed.h"

#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "workload.h"

static const struct timed timed[] = {
#define TIMED(name, size) {#name, size},
#include "timing.def"
#undef TIMED
};

#define TIMED_COUNT ((int)(sizeof timed / sizeof timed[0]))

static int read_timed(struct timed *out, const char *text)
{
    const char *equals = strchr(text, '=');
    size_t length = equals ? (size_t)(equals - text) : strlen(text);
    for (int i = 0; !equals && i < TIMED_COUNT; i++) {
        if (strcmp(timed[i].name, text) == 0) {
            *out = timed[i];
            return 0;
        }
    }
    for (uint32_t i = 0; equals && i < workload_count; i++) {
        const char *name = workloads[i].name;
        char *end;
        unsigned long size = strtoul(equals + 1, &end, 10);
        if (strlen(name) == length && strncmp(name, text, length) == 0 && end > equals + 1 &&
            *end == '\0' && size > 0 && size <= UINT32_MAX) {
            *out = (struct timed){name, (uint32_t)size};
            return 0;
        }
    }
    return error_set(SONDE_EUSAGE, "'%s': expected one of timing.def, or WORKLOAD=SIZE", text);
}

int timed_each(int (*measure)(void *ctx, const struct timed *what), void *ctx, char **texts,
               int count)
{
    int rc = 0;
    for (int i = 0; rc == 0 && i < TIMED_COUNT && count == 0; i++) {
        rc = measure(ctx, &timed[i]);
    }
    for (int i = 0; rc == 0 && i < count; i++) {
        struct timed what;
        rc = read_timed(&what, texts[i]);
        rc = rc < 0 ? rc : measure(ctx, &what);
    }
    return rc;
}
