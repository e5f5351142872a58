/* Reports written out: for people, as JSON, as JUnit's XML, of which continuous integration reads
 * what failed. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/state.h"
#include "util/container/strbuf.h"
#include "util/error.h"
#include "util/glue/json_glue.h"
#include "util/text/symbol.h"
#include "util/text/printable.h"

#define MARK "==check== "

bool check_format_parse(enum check_format *format, const char *name, size_t length)
{
    static const char *const names[CHECK_FORMATS] = {"text", "json", "junit"};
    for (int i = 0; i < CHECK_FORMATS; i++)
        if (strlen(names[i]) == length && memcmp(names[i], name, length) == 0) {
            *format = (enum check_format)i;
            return true;
        }
    return false;
}

/* ---- for people ---- */

static void write_place(struct strbuf *out, const char *mark, const struct finding *f)
{
    strbuf_printf(out, "%s  at ", mark);
    printable_append_name(out, f->file);
    strbuf_printf(out, ":%d:%d", f->line, f->column);
    if (f->source) {
        strbuf_append(out, " (");
        printable_append_name(out, f->source);
        strbuf_printf(out, ":%" PRIu32, f->source_line);
        if (f->caller) {
            strbuf_append(out, ", inlined at ");
            printable_append_name(out, f->caller);
            strbuf_printf(out, ":%" PRIu32, f->caller_line);
        }
        strbuf_append(out, ")");
    }
    strbuf_append(out, "\n");
}

static void write_lines(struct strbuf *out, const char *mark, const struct finding *f)
{
    if (f->file)
        write_place(out, mark, f);
    if (f->has_thread)
        strbuf_printf(out, "%s  by thread (%u,%u,%u) of block (%u,%u,%u)\n", mark, f->thread[0],
                      f->thread[1], f->thread[2], f->block[0], f->block[1], f->block[2]);
    if (f->has_address)
        strbuf_printf(out, "%s  address 0x%" PRIx64 "%s%s\n", mark, f->address,
                      f->where ? ": " : "", f->where ? f->where : "");
    if (f->detail)
        strbuf_printf(out, "%s  %s\n", mark, f->detail);
    if (f->count > 1)
        strbuf_printf(out, "%s  %" PRIu64 " times in all\n", mark, f->count);
}

static void write_head(struct strbuf *out, const struct finding *f)
{
    strbuf_printf(out, "%s", fault_name(f->kind));
    if (f->what)
        strbuf_printf(out, ": %s", f->what);
    if (f->kernel && f->file) {
        char *name = symbol_readable(f->kernel);
        strbuf_printf(out, " in kernel '%s'", name ? name : f->kernel);
        free(name);
    }
}

static void write_text(struct strbuf *out, const struct check *check)
{
    uint64_t times = 0;
    for (size_t i = 0; i < check->findings.count; i++) {
        const struct finding *f = &check->findings.data[i];
        strbuf_append(out, MARK);
        write_head(out, f);
        strbuf_append(out, "\n");
        write_lines(out, MARK, f);
        times += f->count;
    }
    if (check->dropped)
        strbuf_printf(out, MARK "%" PRIu64 " more were found and not kept\n", check->dropped);
    if (check->findings.count)
        strbuf_printf(out, MARK "%zu report%s, %" PRIu64 " time%s in all\n", check->findings.count,
                      check->findings.count == 1 ? "" : "s", times, times == 1 ? "" : "s");
    else
        strbuf_append(out, MARK "nothing found\n");
}

/* ---- JSON ---- */

static int put_place(json_t *object, const char *key, const uint32_t at[3])
{
    json_t *list = json_put_array(object, key);
    int rc = list ? 0 : SONDE_ENOMEM;
    for (int i = 0; rc == 0 && i < 3; i++)
        rc = json_append(list, json_integer(at[i]));
    return rc;
}

static int put_finding(json_t *list, const struct finding *f)
{
    char address[32];
    json_t *object = json_object();
    int rc = json_append(list, object);
    snprintf(address, sizeof address, "0x%" PRIx64, f->address);
    rc = rc < 0 ? rc : json_put_string(object, "kind", fault_key(f->kind));
    rc = rc < 0 ? rc : json_put_string(object, "what", f->what);
    rc = rc < 0 ? rc : json_put_u64(object, "count", f->count);
    if (f->kernel)
        rc = rc < 0 ? rc : json_put_string(object, "kernel", f->kernel);
    if (f->file) {
        rc = rc < 0 ? rc : json_put_string(object, "file", f->file);
        rc = rc < 0 ? rc : json_put_i64(object, "line", f->line);
        rc = rc < 0 ? rc : json_put_i64(object, "column", f->column);
    }
    if (f->source) {
        rc = rc < 0 ? rc : json_put_string(object, "source", f->source);
        rc = rc < 0 ? rc : json_put_u64(object, "source_line", f->source_line);
    }
    if (f->source && f->caller) {
        rc = rc < 0 ? rc : json_put_string(object, "inlined_at", f->caller);
        rc = rc < 0 ? rc : json_put_u64(object, "inlined_at_line", f->caller_line);
    }
    if (f->has_thread) {
        rc = rc < 0 ? rc : put_place(object, "block", f->block);
        rc = rc < 0 ? rc : put_place(object, "thread", f->thread);
    }
    if (f->has_address)
        rc = rc < 0 ? rc : json_put_string(object, "address", address);
    if (f->allocation && f->where)
        rc = rc < 0 ? rc : json_put_u64(object, "allocation", f->allocation);
    if (f->where)
        rc = rc < 0 ? rc : json_put_string(object, "where", f->where);
    if (f->detail)
        rc = rc < 0 ? rc : json_put_string(object, "detail", f->detail);
    return rc;
}

static int write_json(char **text, const struct check *check)
{
    json_t *root = json_object();
    if (!root)
        return error_memory();
    int rc = json_put_string(root, "schema", "sonde.check/1");
    rc = rc < 0 ? rc : json_put_u64(root, "not_kept", check->dropped);
    json_t *list = rc < 0 ? NULL : json_put_array(root, "reports");
    rc = rc == 0 && !list ? error_memory() : rc;
    for (size_t i = 0; rc == 0 && i < check->findings.count; i++)
        rc = put_finding(list, &check->findings.data[i]);
    rc = rc < 0 ? rc : json_to_text(text, root);
    json_decref(root);
    return rc;
}

/* ---- JUnit ---- */

static void append_escaped(struct strbuf *out, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        const char *name = c == '<'   ? "&lt;"
                           : c == '>' ? "&gt;"
                           : c == '&' ? "&amp;"
                           : c == '"' ? "&quot;"
                                      : NULL;
        if (name)
            strbuf_append(out, name);
        else
            strbuf_append_char(out, c < ' ' && c != '\n' ? ' ' : (char)c);
    }
}

static void write_case(struct strbuf *out, const struct finding *f)
{
    struct strbuf text = {0};
    strbuf_printf(out, "  <testcase classname=\"sonde.check.%s\" name=\"", fault_key(f->kind));
    char *name = f->kernel ? symbol_readable(f->kernel) : NULL;
    append_escaped(out, name ? name : "host");
    free(name);
    if (f->file) {
        strbuf_append(out, " ");
        append_escaped(out, f->file);
        strbuf_printf(out, ":%d", f->line);
    }
    write_head(&text, f);
    strbuf_append(out, "\">\n    <failure message=\"");
    append_escaped(out, strbuf_text(&text));
    strbuf_append(out, "\">");
    strbuf_clear(&text);
    write_lines(&text, "", f);
    append_escaped(out, strbuf_text(&text));
    strbuf_append(out, "</failure>\n  </testcase>\n");
    strbuf_free(&text);
}

/* A run without a report is one test that has passed, which readers show. */
static void write_junit(struct strbuf *out, const struct check *check)
{
    size_t count = check->findings.count;
    strbuf_append(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    strbuf_printf(out, "<testsuite name=\"sonde check\" tests=\"%zu\" failures=\"%zu\">\n",
                  count ? count : 1, count);
    for (size_t i = 0; i < count; i++)
        write_case(out, &check->findings.data[i]);
    if (count == 0)
        strbuf_append(out, "  <testcase classname=\"sonde.check\" name=\"nothing found\"/>\n");
    strbuf_append(out, "</testsuite>\n");
}

int check_write(char **text, const struct check *check, enum check_format format)
{
    struct strbuf out = {0};
    *text = NULL;
    if (check->failed)
        return error_memory();
    if (format == CHECK_JSON)
        return write_json(text, check);
    if (format == CHECK_JUNIT)
        write_junit(&out, check);
    else
        write_text(&out, check);
    *text = strbuf_take(&out);
    return *text ? 0 : error_memory();
}
