/* Reports of what was kept as JSON. */
#include "page/page.h"

#include "api/handles.h"
#include "export/saved.h"
#include "sonde/sonde.h"
#include "util/error.h"
#include "util/glue/json_glue.h"

#define DOCUMENT_LIMIT_BYTES ((size_t)256 << 20)
#define LEAST_COLUMNS 40

int sonde_topology(char **text, const char *json_path, int columns, int colour, int utf8)
{
    json_t *document = NULL;
    *text = NULL;
    if (columns < LEAST_COLUMNS) {
        return error_set(SONDE_EUSAGE, "a drawing has %d columns or more", LEAST_COLUMNS);
    }
    const struct topology_style style = {.columns = columns, .colour = colour, .utf8 = utf8};
    int rc = api_read_document_result(saved_read(&document, json_path), json_path);
    rc = rc ? rc : page_topology(text, document, &style);
    json_decref(document);
    return rc;
}

int sonde_report(char **html, const char *json_path)
{
    json_t *document = NULL;
    *html = NULL;
    int rc = api_read_document_result(json_from_file(&document, json_path, DOCUMENT_LIMIT_BYTES),
                                      json_path);
    rc = rc ? rc : page_report(html, document, json_path);
    json_decref(document);
    return rc;
}

int sonde_figure(char **svg, char name[SONDE_FIGURE_NAME], const char *json_path, size_t index)
{
    json_t *document = NULL;
    _Static_assert(SONDE_FIGURE_NAME == PAGE_FIGURE_NAME, "a figure's name has one length");
    *svg = NULL;
    int rc = api_read_document_result(saved_read(&document, json_path), json_path);
    rc = rc ? rc : page_figure(svg, name, document, index);
    json_decref(document);
    return rc;
}
