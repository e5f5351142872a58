/* A growable string over vec.h's growth. */
#include "util/container/strbuf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/container/vec.h"
#include "util/text/plain.h"

/* Room for `more` bytes and the terminating zero. */
static int strbuf_reserve(struct strbuf *buf, size_t more)
{
    if (buf->failed || more > (size_t)-1 / 4 ||
        vec_grow((void **)&buf->text, &buf->capacity, buf->length + more + 1, 1) < 0) {
        buf->failed = true;
        return error_memory();
    }
    return SONDE_OK;
}

int strbuf_append_n(struct strbuf *buf, const char *bytes, size_t length)
{
    if (strbuf_reserve(buf, length) < 0) {
        return SONDE_ENOMEM;
    }
    if (length > 0) {
        memcpy(buf->text + buf->length, bytes, length);
    }
    buf->length += length;
    buf->text[buf->length] = '\0';
    return SONDE_OK;
}

int strbuf_append(struct strbuf *buf, const char *text)
{
    return strbuf_append_n(buf, text, strlen(text));
}

int strbuf_append_char(struct strbuf *buf, char c)
{
    return strbuf_append_n(buf, &c, 1);
}

static int append_formatted(struct strbuf *buf, const char *fmt, va_list args)
{
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, fmt, args);
    if (length < 0) {
        buf->failed = true;
        error_memory();
    } else if (strbuf_reserve(buf, (size_t)length) == SONDE_OK) {
        vsnprintf(buf->text + buf->length, (size_t)length + 1, fmt, again);
        buf->length += (size_t)length;
    }
    va_end(again);
    return buf->failed ? SONDE_ENOMEM : SONDE_OK;
}

int strbuf_printf(struct strbuf *buf, const char *fmt, ...)
{
    va_list args;
    locale_t before = plain_begin();
    va_start(args, fmt);
    int rc = append_formatted(buf, fmt, args);
    va_end(args);
    plain_end(before);
    return rc;
}

const char *strbuf_text(const struct strbuf *buf)
{
    return buf->text ? buf->text : "";
}

bool strbuf_failed(const struct strbuf *buf)
{
    return buf->failed;
}

char *strbuf_take(struct strbuf *buf)
{
    if (!buf->failed && !buf->text) {
        strbuf_append_n(buf, "", 0);
    }
    if (buf->failed) {
        strbuf_free(buf);
        return NULL;
    }
    char *text = buf->text;
    *buf = (struct strbuf){0};
    return text;
}

void strbuf_clear(struct strbuf *buf)
{
    buf->length = 0;
    buf->failed = false;
    if (buf->text) {
        buf->text[0] = '\0';
    }
}

void strbuf_free(struct strbuf *buf)
{
    free(buf->text);
    *buf = (struct strbuf){0};
}
