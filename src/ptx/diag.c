/* The collector of diag.h. Texts quote the input, so every byte that a terminal could act on is
 * hidden. */
#include "ptx/diag.h"

#include <stdio.h>

#include "util/error.h"
#include "util/text/printable.h"

bool diag_full(const struct diags *diags)
{
    return diags->count >= DIAG_LIMIT || diags->code == SONDE_ENOMEM;
}

static int gravity(int code)
{
    return code == 0 ? 0 : code == SONDE_EUNSUPPORTED ? 1 : code == SONDE_ENOMEM ? 3 : 2;
}

int diag_add(struct diags *diags, int code, struct ptx_loc loc, const char *fmt, va_list args)
{
    char line[400];
    if (diag_full(diags))
        return code;
    if (gravity(code) > gravity(diags->code))
        diags->code = code;
    diags->count++;
    vsnprintf(line, sizeof line, fmt, args);
    for (char *c = line; *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
    strbuf_append(&diags->text, diags->text.length > 0 ? "\n" : "");
    printable_append_name(&diags->text, diags->file);
    strbuf_printf(&diags->text, ":%d:%d: error: %s", loc.line, loc.column, line);
    return code;
}

int diag_finish(struct diags *diags)
{
    int code = diags->code;
    if (diags->count >= DIAG_LIMIT)
        strbuf_printf(&diags->text, "\n%s: error: too many errors, giving up", diags->file);
    if (code == SONDE_ENOMEM)
        error_memory();
    else if (code < 0)
        error_set_lines(code, strbuf_text(&diags->text));
    strbuf_free(&diags->text);
    return code;
}
