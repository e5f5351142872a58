/* Operands of the asynchronous instructions, and lines that are held against a recording. */
#include "async.h"

int type_bytes(const char *type)
{
    static const char *const words[] = {"f32", "s32", "tf32"}, *const halves[] = {"f16", "bf16"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(type, words[i]) == 0) {
            return 4;
        }
    }
    return strcmp(type, halves[0]) == 0 || strcmp(type, halves[1]) == 0 ? 2 : 1;
}

struct format {
    int mantissa, exponent; /* bits */
};

static struct format format_of(const char *type)
{
    if (strcmp(type, "f16") == 0) {
        return (struct format){10, 5};
    }
    if (strcmp(type, "bf16") == 0) {
        return (struct format){7, 8};
    }
    if (type_bytes(type) == 4) {
        return (struct format){23, 8};
    }
    return strcmp(type, "e4m3") == 0 ? (struct format){3, 4} : (struct format){2, 5};
}

/* The exponent's field. */
static int exponent_of(uint32_t *mantissa, const char *type, struct format f, int mode, uint64_t r)
{
    int bias = (1 << (f.exponent - 1)) - 1, all = 1 << f.exponent, any = (int)(r >> 44);
    int e = bias + any % 4 - 1;
    switch (mode) {
    case 0:
        return any % all;
    case 1:
        e = bias + any % 7 - 3;
        break;
    case 2:
        e = bias + any % 3 - 1 + ((r >> 50) % 11 == 0 ? (f.exponent > 4 ? 6 : 3) : 0);
        break;
    case 3:
        e = any % 4;
        break;
    case 4:
        e = (r >> 50) % 3 == 0 ? 0 : bias;
        *mantissa = e ? *mantissa : 0;
        e = strcmp(type, "f32") == 0 ? bias + 3 : e;
        break;
    default:
        *mantissa &= ~((1u << (f.mantissa / 2)) - 1);
        break;
    }
    return e < all - 1 ? e : all - 2;
}

static uint32_t number(const char *type, int mode)
{
    uint64_t r = draw();
    if (type[0] == 's' || type[0] == 'u') {
        return (uint32_t)r;
    }
    struct format f = format_of(type);
    uint32_t mantissa = (uint32_t)(r & ((1u << f.mantissa) - 1)), sign = (uint32_t)(r >> 40 & 1);
    uint32_t e = (uint32_t)exponent_of(&mantissa, type, f, mode, r);
    return sign << (f.mantissa + f.exponent) | e << f.mantissa | mantissa;
}

void fill(uint8_t *to, size_t bytes, const char *type, int mode)
{
    bool bits = strcmp(type, "b1") == 0;
    size_t step = (size_t)type_bytes(type);
    for (size_t i = 0; i < bytes; i += step) {
        uint32_t value = bits ? (uint32_t)draw() : number(type, mode);
        value = bits ? (uint32_t)draw() : value; /* the first is not used */
        memcpy(to + i, &value, step);
    }
}

bool lines_read(struct lines *lines, const char *path)
{
    if (!path) {
        return true;
    }
    FILE *file = fopen(path, "r");
    const size_t most = 1 << 20;
    if (!file || !(lines->text = malloc(most))) {
        return false;
    }
    size_t bytes = fread(lines->text + 1, 1, most - 2, file);
    lines->text[0] = '\n';
    lines->text[bytes + 1] = '\0';
    return fclose(file) == 0;
}

void lines_judge(struct lines *lines, const char *line)
{
    char whole[256];
    lines->judged++;
    if (!lines->text) {
        printf("%s\n", line);
        return;
    }
    snprintf(whole, sizeof whole, "\n%s\n", line);
    if (!strstr(lines->text, whole)) {
        lines->different++;
        printf("not as recorded: %s\n", line);
    }
}

int lines_end(struct lines *lines)
{
    if (lines->text) {
        printf("%d of %d cases differ\n", lines->different, lines->judged);
    }
    free(lines->text);
    return lines->different != 0;
}
