/*
 * The small functions of the public interface: version, last error, texts, files.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/handles.h"
#include "report/report.h"
#include "sonde/sonde.h"
#include "trace/recording.h"
#include "util/error.h"
#include "util/fileio.h"

const char *sonde_version(void)
{
    return SONDE_VERSION;
}

const char *sonde_error_last(void)
{
    return error_text();
}

void sonde_free(void *text)
{
    free(text);
}

int api_read_result(int rc)
{
    return rc == SONDE_EIO ? SONDE_EINPUT : rc;
}

int api_read_document_result(int rc, const char *path)
{
    char begin[sizeof RECORDING_MAGIC - 1];
    FILE *file = rc == SONDE_EINPUT ? fopen(path, "rb") : NULL;
    if (file) {
        bool recording = fread(begin, sizeof begin, 1, file) == 1 &&
                         memcmp(begin, RECORDING_MAGIC, sizeof begin) == 0;
        fclose(file);
        if (recording) {
            error_set(SONDE_EINPUT,
                      "%s: this is a recording, of which sonde infer --json makes a dissection",
                      path);
        }
    }
    return api_read_result(rc);
}

int sonde_write(const char *path, const char *text)
{
    return file_write_all(path, text, strlen(text));
}

int sonde_explain(char **text, const char *name)
{
    return report_explain(text, name);
}
