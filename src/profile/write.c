/* The formats of a profile. */
#include <string.h>

#include "page/page.h"
#include "profile/state.h"
#include "util/error.h"
#include "util/glue/json_glue.h"

bool profile_format_parse(enum profile_format *out, const char *name, size_t length)
{
    static const char *const formats[] = {"text", "json", "html"};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (strlen(formats[i]) == length && strncmp(formats[i], name, length) == 0) {
            *out = (enum profile_format)i;
            return true;
        }
    }
    return false;
}

static int table(char **text, const struct profile *profile)
{
    struct strbuf out = {0};
    profile_table(&out, profile);
    *text = strbuf_take(&out);
    return *text ? 0 : error_memory();
}

int profile_write(char **text, const struct profile *profile, enum profile_format format)
{
    json_t *document;
    *text = NULL;
    if (format == PROFILE_TEXT) {
        return table(text, profile);
    }
    int rc = profile_document(&document, profile);
    if (rc == 0) {
        rc = format == PROFILE_JSON ? json_to_text(text, document)
                                    : page_report(text, document, "the profile");
        json_decref(document);
    }
    return rc;
}
