/* Sweeps. */
#include "sweep/sweep.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sonde/sonde.h"
#include "sweep/table/plot.h"
#include "util/container/strbuf.h"
#include "util/error.h"

static char *tell(const struct sweep_summary *summary, const char *folder)
{
    struct strbuf out = {0};
    if (summary->rank > 0) {
        return strbuf_take(&out);
    }
    strbuf_printf(&out, "%zu points", summary->points);
    for (int status = POINT_OK; status < POINT_STATUSES; status++) {
        if (summary->counts[status] > 0) {
            strbuf_printf(&out, ", %zu %s", summary->counts[status], sweep_status_names[status]);
        }
    }
    if (summary->counts[POINT_OPEN] > 0) {
        strbuf_printf(&out, ", %zu not reached", summary->counts[POINT_OPEN]);
    }
    if (summary->resumed > 0) {
        strbuf_printf(&out, "; %zu from earlier runs", summary->resumed);
    }
    if (summary->stale > 0) {
        strbuf_printf(&out, "; the journal has %zu of other points", summary->stale);
    }
    if (summary->reason[0]) {
        strbuf_printf(&out, "\npoint %zu: %s", summary->reason_point, summary->reason);
    }
    if (summary->ranks > 1) {
        strbuf_printf(&out, "\n%u ranks: %.1f %% of their time idle, %zu messages, %zu bytes",
                      summary->ranks, 100 * summary->idle_share, summary->messages,
                      summary->message_bytes);
    }
    strbuf_printf(&out, "\n%s/table.csv, %s/table.json\n", folder, folder);
    return strbuf_take(&out);
}

int sonde_sweep(char **text, size_t *not_ok, const char *spec_path,
                const struct sonde_sweep_options *options)
{
    char own[PATH_MAX] = "";
    struct sweep_summary summary;
    *text = NULL;
    *not_ok = 0;
    if (!options->program && readlink("/proc/self/exe", own, sizeof own - 1) < 0) {
        return error_set(SONDE_EIO, "cannot find this program's own file");
    }
    struct sweep_request request = {
        .spec_path = spec_path,
        .folder = options->folder,
        .program = options->program ? options->program : own,
        .jobs = options->jobs ? options->jobs : 1,
        .resume = options->resume || options->retry,
        .retry = options->retry,
        .progress = {.report = options->watch.progress, .context = options->watch.ctx},
        .cancel = options->watch.cancel,
    };
    int rc = sweep_run(&summary, &request);
    for (int status = POINT_OK + 1; status < POINT_STATUSES; status++) {
        *not_ok += summary.counts[status];
    }
    if (rc == 0 || (rc == SONDE_EINTERRUPTED && summary.points > 0)) {
        *text = tell(&summary, options->folder);
        rc = *text ? rc : error_memory();
    }
    return rc;
}

int sonde_sweep_list(char **text, const char *spec_path)
{
    return sweep_list(text, spec_path);
}

int sonde_sweep_plot(char **text, const char *folder, const char *x, const char *y, const char *by,
                     const char *where)
{
    const struct sweep_plot plot = {.x = x, .y = y, .by = by, .where = where};
    return sweep_plot(text, folder, &plot);
}

int sonde_sweep_pareto(char **text, const char *folder, const char *goals)
{
    return sweep_pareto(text, folder, goals);
}
