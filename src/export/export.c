/* The formats, and a file's way into one. */
#include "export/export.h"

#include <string.h>

#include "export/saved.h"
#include "export/writers.h"
#include "util/container/strbuf.h"
#include "util/error.h"

static const struct export_format FORMATS[] = {
#define FORMAT(name, doc) {#name, doc, export_##name},
#include "export/formats.def"
#undef FORMAT
};
#define FORMAT_COUNT (sizeof(FORMATS) / sizeof(FORMATS[0]))

const struct export_format *export_format_at(size_t i)
{
    return i < FORMAT_COUNT ? &FORMATS[i] : NULL;
}

static int no_format(const char *format)
{
    struct strbuf names = {0};
    for (size_t i = 0; i < FORMAT_COUNT; i++) {
        strbuf_printf(&names, "%s%s", i ? ", " : "", FORMATS[i].name);
    }
    int rc = error_set(SONDE_EUSAGE, "there is no format '%s', there are: %s", format,
                       strbuf_text(&names));
    strbuf_free(&names);
    return rc;
}

int export_file(char **text, const char *path, const char *format,
                const struct export_options *options)
{
    const struct export_format *found = NULL;
    for (size_t i = 0; i < FORMAT_COUNT; i++) {
        if (strcmp(FORMATS[i].name, format) == 0) {
            found = &FORMATS[i];
        }
    }
    if (!found) {
        return no_format(format);
    }
    json_t *root = NULL;
    int rc = saved_read(&root, path);
    rc = rc < 0 ? rc : found->write(text, root, path, options);
    json_decref(root);
    return rc;
}
