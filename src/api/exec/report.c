/* What `sonde exec` asks of the checker and of the profile. */
#include "api/exec/report.h"

#include <stdio.h>
#include <string.h>

#include "check/check.h"
#include "profile/profile.h"
#include "util/error.h"

#define SITE_MAX 200

int exec_check_begin(struct rt *rt, const struct sonde_exec_options *options)
{
    enum check_format format;
    if (!check_format_parse(&format, options->check, strlen(options->check))) {
        return error_set(SONDE_EUSAGE, "'%s' is no format of the checker: text, json or junit",
                         options->check);
    }
    int rc = rt_check_enable(rt);
    rc = rc < 0 ? rc : check_suppress(rt_check(rt), options->suppress);
    return rc == SONDE_EINPUT ? SONDE_EUSAGE : rc;
}

int exec_check_alloc(struct rt *rt, uint64_t *address, uint64_t bytes, const char *spec)
{
    struct check *check = rt_check(rt);
    char site[SITE_MAX];
    if (!check) {
        return rt_mem_alloc(rt, address, bytes);
    }
    snprintf(site, sizeof site, "--arg %s", spec ? spec : "?");
    check_site(check, site);
    int rc = rt_mem_alloc(rt, address, bytes);
    check_site(check, NULL);
    if (rc == 0) {
        check_allocated(check, *address, bytes, CHECK_DRIVER);
    }
    return rc;
}

int exec_check_end(struct rt *rt, const struct sonde_exec_options *options)
{
    struct check *check = rt_check(rt);
    enum check_format format = CHECK_TEXT;
    check_format_parse(&format, options->check, strlen(options->check));
    check_ended(check);
    int rc = check_write(options->report, check, format);
    if (rc == 0 && options->reports) {
        *options->reports = check_count(check);
    }
    return rc;
}

int exec_profile_begin(struct profile **out, struct rt *rt,
                       const struct sonde_exec_options *options)
{
    enum profile_format format;
    if (!profile_format_parse(&format, options->profile, strlen(options->profile))) {
        return error_set(SONDE_EUSAGE, "'%s' is no format of a profile: text, json or html",
                         options->profile);
    }
    int rc = profile_create(out, rt_model(rt));
    return rc < 0 ? rc : gpu_profile_enable(rt_gpu(rt));
}

int exec_profile_end(const struct profile *profile, const struct sonde_exec_options *options)
{
    enum profile_format format = PROFILE_TEXT;
    profile_format_parse(&format, options->profile, strlen(options->profile));
    return profile_write(options->profile_report, profile, format);
}
