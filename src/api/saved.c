/*
 * Dissections that were kept as JSON, for users of the public interface.
 */
#include "api/handles.h"
#include "export/export.h"
#include "sonde/sonde.h"
#include "util/container/strbuf.h"
#include "util/error.h"

int sonde_export_formats(char **text)
{
    struct strbuf out = {0};
    for (size_t i = 0; export_format_at(i); i++) {
        strbuf_printf(&out, "%-10s %s\n", export_format_at(i)->name, export_format_at(i)->doc);
    }
    *text = strbuf_take(&out);
    return *text ? 0 : error_memory();
}

int sonde_export(char **text, const char *path, const char *format, const char *base)
{
    const struct export_options options = {.base = base};
    return api_read_document_result(export_file(text, path, format, &options), path);
}

int sonde_compare(char **text, size_t *differences, const char *a, const char *b,
                  const struct sonde_compare_options *options)
{
    const struct compare_options how = {.cycles = options->cycles,
                                        .percent = options->percent,
                                        .all = options->all,
                                        .json = options->json};
    struct compare_result result;
    int rc = compare_files(text, &result, a, b, &how);
    *differences = result.different + result.one_sided;
    return api_read_document_result(api_read_document_result(rc, a), b);
}
