/*
 * `sonde run --check`: the memory checker of the process's device, where allocations are made from,
 * and the report at the program's end. Findings outlive a reset of the device.
 */
#define _GNU_SOURCE /* dladdr() */
#include <dlfcn.h>
#include <execinfo.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "shim/core/options.h"
#include "shim/core/shim.h"
#include "util/error.h"
#include "util/fileio.h"

#define FRAMES_MAX 16
#define SITE_MAX 256

static struct check *earlier; /* of a device that was reset */

static const char *base_name(const char *path)
{
    return file_last_name(path ? path : "?");
}

static bool is_library(const Dl_info *info)
{
    return strncmp(base_name(info->dli_fname), "libcuda", 7) == 0;
}

/* "cudaMalloc, call 3, from program+0x1234": the outermost function of the libraries, and who
 * called it. */
static void describe_caller(char *out, size_t size, uint64_t call)
{
    void *frames[FRAMES_MAX];
    int count = backtrace(frames, FRAMES_MAX);
    const char *function = "an allocation";
    Dl_info info;
    char from[160] = "";
    for (int i = 0; i < count && dladdr(frames[i], &info); i++) {
        if (is_library(&info)) {
            function = info.dli_sname ? info.dli_sname : function;
            continue;
        }
        uintptr_t offset = (uintptr_t)frames[i] - (uintptr_t)info.dli_fbase;
        if (info.dli_sname) {
            snprintf(from, sizeof from, ", from %s+0x%" PRIxPTR " in %s", info.dli_sname,
                     (uintptr_t)frames[i] - (uintptr_t)info.dli_saddr, base_name(info.dli_fname));
        } else {
            snprintf(from, sizeof from, ", from %s+0x%" PRIxPTR, base_name(info.dli_fname), offset);
        }
        break;
    }
    snprintf(out, size, "%s, call %" PRIu64 "%s", function, call, from);
}

void shim_check_site(struct rt *rt)
{
    char site[SITE_MAX];
    struct check *check = rt_check(rt);
    if (check) {
        describe_caller(site, sizeof site, report_calls() + 1);
        check_site(check, site);
    }
}

void shim_check_site_ends(struct rt *rt)
{
    if (rt_check(rt)) {
        check_site(rt_check(rt), NULL);
    }
}

void shim_check_refused(struct rt *rt, uint64_t address)
{
    if (rt_check(rt)) {
        check_free_refused(rt_check(rt), address, false);
    }
}

void shim_check_copy_refused(struct rt *rt, uint64_t address, uint64_t bytes)
{
    struct check *check = rt_check(rt);
    if (check) {
        rt_lock(rt);
        shim_check_site(rt);
        check_copy_refused(check, "a copy", address, bytes);
        shim_check_site_ends(rt);
        rt_unlock(rt);
    }
}

void shim_check_written(struct rt *rt, uint64_t address, uint64_t bytes)
{
    if (rt_check(rt)) {
        check_written(rt_check(rt), address, bytes);
    }
}

int checking_begin(struct rt *rt)
{
    if (!options()->check) {
        return 0;
    }
    int rc = rt_check_enable(rt);
    if (rc == 0 && earlier) {
        check_take(rt_check(rt), earlier);
        check_destroy(earlier);
        earlier = NULL;
    }
    return rc == 0 ? check_suppress(rt_check(rt), options()->suppress) : rc;
}

void checking_reset(struct rt *rt)
{
    earlier = rt_check(rt) ? rt_check_detach(rt) : earlier;
}

bool checking_end(struct rt *rt, bool with_leaks)
{
    struct check *check = rt ? rt_check(rt) : earlier;
    const char *colon = options()->check ? strchr(options()->check, ':') : NULL;
    enum check_format format;
    char *text;
    if (!check) {
        return true;
    }
    size_t length = colon ? (size_t)(colon - options()->check) : strlen(options()->check);
    if (!check_format_parse(&format, options()->check, length)) {
        format = CHECK_TEXT;
    }
    if (with_leaks) {
        check_ended(check);
    }
    if (check_write(&text, check, format) < 0) {
        shim_say("%s", error_text());
        return false;
    }
    return report_write(options()->check, text) && check_count(check) == 0;
}
