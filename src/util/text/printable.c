/* UTF-8 by RFC 3629, without the characters that are not shown; colours by ECMA-48 ("CSI ... m").
 */
#include "util/text/printable.h"

#include <stdint.h>
#include <string.h>

#include "util/container/strbuf.h"

size_t printable_bytes(const char *character)
{
    const unsigned char *text = (const unsigned char *)character;
    if (text[0] < 0x80) {
        return text[0] >= 0x20 && text[0] < 0x7f;
    }
    if (text[0] < 0xc0 || text[0] >= 0xf8) {
        return 0; /* no character begins so */
    }
    size_t bytes = text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 : 2;
    uint32_t code = text[0] & (0x7fu >> bytes);
    for (size_t i = 1; i < bytes; i++) {
        if ((text[i] & 0xc0) != 0x80) {
            return 0;
        }
        code = code << 6 | (text[i] & 0x3f);
    }
    static const uint32_t least[] = {0, 0, 0xa0, 0x800, 0x10000};
    bool refused = code < least[bytes] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ||
                   code == 0x2028 || code == 0x2029 || code == 0xfeff || code == 0xfffe ||
                   code == 0xffff;
    return refused ? 0 : bytes;
}

/* The length of the sequence at `text` that chooses a colour, 0 for anything else. */
static size_t colour_bytes(const char *text)
{
    if (strncmp(text, "\033[", 2) != 0) {
        return 0;
    }
    size_t length = 2 + strspn(text + 2, "0123456789;");
    return text[length] == 'm' ? length + 1 : 0;
}

char *printable_text(const char *text, bool colours)
{
    struct strbuf out = {0};
    while (*text) {
        size_t bytes = *text == '\n' || *text == '\t' ? 1 : printable_bytes(text);
        if (bytes == 0 && colours) {
            bytes = colour_bytes(text);
        }
        if (bytes == 0) {
            strbuf_printf(&out, "\\x%02x", (unsigned char)*text++);
        } else {
            strbuf_append_n(&out, text, bytes);
            text += bytes;
        }
    }
    return strbuf_take(&out);
}

void printable_append_name(struct strbuf *out, const char *text)
{
    for (;;) {
        size_t length = strcspn(text, "\n");
        strbuf_append_n(out, text, length);
        if (text[length] == '\0') {
            return;
        }
        strbuf_append(out, "\\x0a");
        text += length + 1;
    }
}
