/* The environment, read when it is first asked for; a program that changes it later changes
 * nothing. */
#include "shim/core/options.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shim/core/shim.h"
#include "util/container/strbuf.h"
#include "util/text/units.h"

static struct options read_options;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static uint64_t number(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    char *end;
    if (!text || !*text) {
        return otherwise;
    }
    uint64_t value = strtoull(text, &end, 10);
    if (*end != '\0') {
        shim_say("%s: '%s' is no number", name, text);
        return otherwise;
    }
    return value;
}

static const char *text(const char *name, const char *otherwise)
{
    const char *value = getenv(name);
    return value && *value ? value : otherwise;
}

/* A file's name, with this process's number where it says "%p": programs that a program starts have
 * files of their own. */
static const char *of_process(const char *spec)
{
    struct strbuf out = {0};
    const char *at = spec;
    for (const char *mark; at && (mark = strstr(at, "%p")); at = mark + 2) {
        strbuf_append_n(&out, at, (size_t)(mark - at));
        strbuf_printf(&out, "%ld", (long)getpid());
    }
    if (at == spec) {
        return spec;
    }
    strbuf_append(&out, at);
    const char *name = strbuf_take(&out); /* kept, as all options are */
    return name ? name : spec;
}

static void read_all(void)
{
    struct options *o = &read_options;
    o->device = text("SONDE_DEVICE", "sim:gtx780");
    o->check = of_process(text("SONDE_CHECK", NULL));
    o->suppress = text("SONDE_CHECK_SUPPRESS", NULL);
    o->functional = number("SONDE_FUNCTIONAL", 0) != 0 || o->check;
    o->profile = o->functional ? NULL : of_process(text("SONDE_PROFILE", NULL));
    o->timeline = o->functional ? NULL : of_process(text("SONDE_TIMELINE", NULL));
    o->stats = of_process(text("SONDE_STATS", NULL));
    const char *sample = o->functional ? NULL : text("SONDE_SAMPLE", NULL);
    if (!sample || units_parse_double(&o->sample, sample, UNIT_FRACTION) < 0) {
        o->sample = 0; /* the program's locale has no say */
    }
    o->seed = number("SONDE_SEED", 1);
    o->cold = number("SONDE_COLD", 0) != 0;
    o->summary = number("SONDE_SUMMARY", 0) != 0;
    o->details = number("SONDE_SUMMARY", 0) == 2;
    o->skip = number("SONDE_SKIP", 0);
    o->count = number("SONDE_COUNT", 0);
    o->max_cycles = number("SONDE_MAX_CYCLES", 0);
    o->threads = (uint32_t)number("SONDE_THREADS", 1);
    o->status = text("SONDE_STATUS", NULL);
    const char *kernels = text("SONDE_KERNELS", NULL);
    if (kernels) {
        int rc = regcomp(&o->kernels, kernels, REG_EXTENDED | REG_NOSUB);
        o->has_kernels = rc == 0;
        if (rc != 0) {
            shim_say("SONDE_KERNELS: '%s' is no regular expression", kernels);
        }
    }
}

const struct options *options(void)
{
    pthread_once(&once, read_all);
    return &read_options;
}
