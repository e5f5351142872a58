/*
 * The small functions of the public interface: version, last error, texts, files.
 */
#include <stdlib.h>
#include <string.h>

#include "api/handles.h"
#include "report/report.h"
#include "sonde/sonde.h"
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

int sonde_write(const char *path, const char *text)
{
    return file_write_all(path, text, strlen(text));
}

int sonde_explain(char **text, const char *name)
{
    return report_explain(text, name);
}
