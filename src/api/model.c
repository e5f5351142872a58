/*
 * Models for users of the public interface.
 */
#include <stdlib.h>

#include "api/handles.h"
#include "model/model.h"
#include "sonde/sonde.h"
#include "util/error.h"
#include "util/container/strbuf.h"
#include "util/text/printable.h"

int sonde_model_list(char **text)
{
    struct strbuf out = {0};
    for (size_t i = 0; i < model_builtin_count(); i++) {
        struct model *model;
        int rc = model_load(&model, model_builtin_name(i));
        if (rc < 0) {
            strbuf_free(&out);
            return rc;
        }
        strbuf_printf(&out, "%-12s %s\n", model_builtin_name(i), model->doc);
        model_destroy(model);
    }
    *text = strbuf_take(&out);
    return *text ? 0 : error_memory();
}

int sonde_model_show(char **yaml, const char *name)
{
    struct model *model;
    int rc = model_load(&model, name);
    if (rc < 0) {
        return api_read_result(rc);
    }
    rc = model_show(yaml, model);
    model_destroy(model);
    return rc;
}

int sonde_model_check_note(char **note, const char *path)
{
    struct strbuf out = {0};
    struct model *model;
    int rc = model_load(&model, path);
    if (rc < 0) {
        return api_read_result(rc);
    }
    if (*model->open_end) {
        printable_append_name(&out, model->open_file);
        strbuf_printf(
            &out,
            ": is the file cut off? It inherits nothing, leaves to defaults: %s, and does "
            "not end with a line of three dots (...)",
            model->open_end);
    }
    model_destroy(model);
    *note = strbuf_take(&out);
    return *note ? 0 : error_memory();
}

int sonde_model_check(const char *path)
{
    char *note = NULL;
    int rc = sonde_model_check_note(&note, path);
    free(note);
    return rc;
}

int sonde_model_params(char **text)
{
    return sonde_model_params_of(text, NULL);
}

int sonde_model_params_of(char **text, const char *section)
{
    return model_params_text(text, section);
}
