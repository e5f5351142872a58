/*
 * printf on the device. CUDA packs the arguments behind the format into a buffer, each aligned to
 * its size: 4 bytes for int and what is promoted to it, 8 for long, pointers and double. The driver
 * formats on the host when it empties its buffer; here that happens at the call, so that a text
 * argument prints as it was then. Numbers are formatted by the host's C library, as there.
 *
 * Source: CUDA C++ Programming Guide, "Formatted Output": %[flags][width][.precision][size]type
 * with flags '#', ' ', '0', '+', '-', width '*' or a number, size h, l, ll, type one of
 * "%cdiouxXpeEfgGaAs"; at most 32 arguments, specifiers beyond them are printed as they are. So is
 * here whatever is no specifier. Left out: wide characters (l has no effect on c and s).
 * A call's size in the driver's buffer is not documented: counted are 16 bytes for it, 8 for each
 * argument, and the texts of %s.
 */
#include "exec/format.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "exec/memory/peek.h"

#define FORMAT_FIELD_MAX 4095 /* what C promises of a conversion */
#define FORMAT_TEXT_MAX (1u << 20)
#define NUMBER_TEXT_MAX 5120 /* the longest double, 309 digits, with the longest precision */
#define RECORD_BYTES 16
#define RECORD_ARG_BYTES 8

struct printer {
    struct strbuf *out;
    const struct exec_warp *warp;
    struct format_call *call;
    uint64_t list, used; /* the argument buffer, and its bytes that have been read */
    uint32_t lane;
};

struct spec {
    char flags[6]; /* each at most once */
    bool left;
    bool width_arg, precision_arg;
    int width, precision; /* precision -1: none */
    int size;             /* -2 hh, -1 h, 0, 1 l, 2 ll */
    char type;
};

static enum format_result take(struct printer *p, uint64_t *value, uint32_t bytes)
{
    uint64_t at = (p->used + bytes - 1) & ~(uint64_t)(bytes - 1);
    *value = 0;
    if (!peek_bytes(p->warp, p->lane, p->list + at, value, bytes)) {
        p->call->what = "an argument";
        p->call->address = p->list + at;
        return FORMAT_BAD_MEMORY;
    }
    p->used = at + bytes;
    p->call->args++;
    p->call->record_bytes += RECORD_ARG_BYTES;
    return FORMAT_DONE;
}

/* Digits; a number too large becomes one that is refused. */
static const char *read_number(const char *text, int *number)
{
    for (*number = 0; *text >= '0' && *text <= '9'; text++)
        if (*number <= FORMAT_FIELD_MAX)
            *number = *number * 10 + (*text - '0');
    return text;
}

/* What follows a '%'; NULL if that is no specifier. */
static const char *read_spec(struct spec *spec, const char *text)
{
    *spec = (struct spec){.precision = -1};
    for (size_t used = 0; *text && strchr("#0 +-", *text); text++) {
        spec->left |= *text == '-';
        if (!strchr(spec->flags, *text))
            spec->flags[used++] = *text;
    }
    if ((spec->width_arg = *text == '*'))
        text++;
    else
        text = read_number(text, &spec->width);
    if (*text == '.') {
        if ((spec->precision_arg = *++text == '*'))
            text++;
        else
            text = read_number(text, &spec->precision);
    }
    for (; *text == 'h' && spec->size > -2; text++)
        spec->size--;
    for (; *text == 'l' && spec->size >= 0 && spec->size < 2; text++)
        spec->size++;
    spec->type = *text;
    return *text && strchr("cdiouxXpeEfFgGaAs", *text) ? text + 1 : NULL;
}

static enum format_result take_field(struct printer *p, int *field, bool from_list)
{
    uint64_t value;
    if (from_list) {
        enum format_result result = take(p, &value, 4);
        if (result != FORMAT_DONE)
            return result;
        *field = (int32_t)(uint32_t)value;
    }
    return *field > FORMAT_FIELD_MAX || *field < -FORMAT_FIELD_MAX ? FORMAT_REFUSED : FORMAT_DONE;
}

static void put_padded(struct printer *p, const struct spec *spec, const char *text, size_t length)
{
    bool left = spec->left || spec->width < 0;
    size_t width = (size_t)(spec->width < 0 ? -spec->width : spec->width);
    size_t padding = width > length ? width - length : 0;
    for (size_t i = 0; !left && i < padding; i++)
        strbuf_append_char(p->out, ' ');
    strbuf_append_n(p->out, text, length);
    for (size_t i = 0; left && i < padding; i++)
        strbuf_append_char(p->out, ' ');
}

static enum format_result put_text(struct printer *p, const struct spec *spec, uint64_t address)
{
    struct strbuf text = {0};
    uint64_t most = spec->precision < 0 ? UINT64_MAX : (uint64_t)spec->precision;
    enum peek_result read = PEEK_DONE;
    if (address)
        read = peek_text(&text, p->warp, p->lane, address, 1, most, FORMAT_TEXT_MAX);
    else if (most >= 6)
        strbuf_append(&text, "(null)");
    if (read == PEEK_DONE)
        put_padded(p, spec, strbuf_text(&text), text.length);
    p->out->failed |= read == PEEK_NO_MEMORY;
    p->call->record_bytes += text.length + 1;
    p->call->what = "the text of %s";
    p->call->address = address;
    strbuf_free(&text);
    return read == PEEK_UNREADABLE ? FORMAT_BAD_MEMORY
           : read == PEEK_TOO_LONG ? FORMAT_REFUSED
                                   : FORMAT_DONE;
}

static int64_t signed_value(const struct spec *spec, uint64_t value)
{
    switch (spec->size) {
    case -2:
        return (int8_t)value;
    case -1:
        return (int16_t)value;
    case 0:
        return (int32_t)value;
    default:
        return (int64_t)value;
    }
}

static uint64_t unsigned_value(const struct spec *spec, uint64_t value)
{
    return spec->size == -2 ? (uint8_t)value : spec->size == -1 ? (uint16_t)value : value;
}

/* Numbers and pointers, by a format of the host's printf that is made of the specifier. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void put_number(struct printer *p, const struct spec *spec, uint64_t value)
{
    char host[24], text[NUMBER_TEXT_MAX];
    double number;
    int length;
    bool is_float = strchr("eEfFgGaA", spec->type), is_signed = strchr("di", spec->type);
    snprintf(host, sizeof host, "%%%s*.*%s%c", spec->flags,
             is_float || spec->type == 'p' ? "" : "ll", spec->type);
    if (is_float) {
        memcpy(&number, &value, sizeof number);
        length = snprintf(text, sizeof text, host, spec->width, spec->precision, number);
    } else if (spec->type == 'p') {
        length = snprintf(text, sizeof text, host, spec->width, spec->precision,
                          (void *)(uintptr_t)value);
    } else if (is_signed) {
        length = snprintf(text, sizeof text, host, spec->width, spec->precision,
                          (long long)signed_value(spec, value));
    } else {
        length = snprintf(text, sizeof text, host, spec->width, spec->precision,
                          (unsigned long long)unsigned_value(spec, value));
    }
    if (length > 0)
        strbuf_append_n(p->out, text,
                        (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
}
#pragma GCC diagnostic pop

static enum format_result put_spec(struct printer *p, struct spec *spec)
{
    uint64_t value;
    enum format_result result = take_field(p, &spec->width, spec->width_arg);
    if (result == FORMAT_DONE)
        result = take_field(p, &spec->precision, spec->precision_arg);
    if (result != FORMAT_DONE)
        return result;
    bool is_int = strchr("cdiouxX", spec->type);
    result = take(p, &value, is_int && (spec->size <= 0 || spec->type == 'c') ? 4 : 8);
    if (result != FORMAT_DONE)
        return result;
    if (spec->type == 's')
        return put_text(p, spec, value);
    if (spec->type == 'c')
        put_padded(p, spec, &(char){(char)value}, 1);
    else
        put_number(p, spec, value);
    return FORMAT_DONE;
}

static enum format_result put_all(struct printer *p, const char *text)
{
    struct spec spec;
    for (const char *percent; (percent = strchr(text, '%'));) {
        strbuf_append_n(p->out, text, (size_t)(percent - text));
        if (percent[1] == '%') {
            strbuf_append_char(p->out, '%');
            text = percent + 2;
            continue;
        }
        const char *end = read_spec(&spec, percent + 1);
        uint32_t wanted = 1u + spec.width_arg + spec.precision_arg;
        if (!end || p->call->args + wanted > FORMAT_ARGS_MAX) {
            end = end ? end : percent + 1;
            strbuf_append_n(p->out, percent, (size_t)(end - percent));
        } else {
            enum format_result result = put_spec(p, &spec);
            if (result != FORMAT_DONE)
                return result;
        }
        text = end;
    }
    strbuf_append(p->out, text);
    return FORMAT_DONE;
}

enum format_result format_print(struct strbuf *out, struct format_call *call,
                                const struct exec_warp *warp, uint32_t lane, uint64_t format,
                                uint64_t list)
{
    struct printer p = {.out = out, .warp = warp, .call = call, .list = list, .lane = lane};
    struct strbuf text = {0};
    *call =
        (struct format_call){.record_bytes = RECORD_BYTES, .what = "the format", .address = format};
    enum format_result result = FORMAT_DONE;
    switch (peek_text(&text, warp, lane, format, 1, UINT64_MAX, FORMAT_TEXT_MAX)) {
    case PEEK_DONE:
        result = put_all(&p, strbuf_text(&text));
        break;
    case PEEK_UNREADABLE:
        result = FORMAT_BAD_MEMORY;
        break;
    case PEEK_TOO_LONG:
        result = FORMAT_REFUSED;
        break;
    case PEEK_NO_MEMORY:
        out->failed = true;
        break;
    }
    strbuf_free(&text);
    return result;
}
