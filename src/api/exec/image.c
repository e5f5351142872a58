/*
 * Textures and surfaces from files: the texels as they lie in the file, row by row, without gaps.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/exec/spec.h"
#include "api/exec/elements.h"
#include "api/handles.h"
#include "sonde/sonde.h"
#include "util/error.h"
#include "util/fileio.h"

#define IMAGE_LIMIT_BYTES ((size_t)1 << 30)

/* u8, s16, f32x4, ... */
static int parse_format(struct exec_arg *arg, const char *text, size_t length)
{
    enum isa_type type;
    uint8_t channels = 1;
    if (length > 2 && text[length - 2] == 'x') {
        channels = (uint8_t)(text[length - 1] - '0');
        length -= 2;
    }
    bool known = element_type_find(&type, text, length);
    const struct isa_type_info *info = isa_type_info(known ? type : TYPE_b8);
    known = known && type != TYPE_bf16 && info->kind != KIND_BITS && info->bytes <= 4 &&
            (channels == 1 || channels == 2 || channels == 4);
    if (!known) {
        return bad_argument(arg->spec, "texels are u8, u16, u32, s8, s16, s32, f16 or f32, with "
                                       "x2 or x4 behind it for several channels");
    }
    arg->image.format = (struct texel_format){
        .kind = info->kind == KIND_FLOAT    ? TEXEL_FLOAT
                : info->kind == KIND_SIGNED ? TEXEL_SIGNED
                                            : TEXEL_UNSIGNED,
        .bits = (uint8_t)(info->bytes * 8),
        .channels = channels,
    };
    return 0;
}

/* WIDTH[xHEIGHT[xDEPTH]] up to the colon; where it ends, or NULL. */
static const char *parse_extent(struct image_spec *image, const char *text)
{
    uint32_t *sizes[] = {&image->width, &image->height, &image->depth};
    image->height = image->depth = 1;
    for (int i = 0; i < 3; i++) {
        char *end;
        unsigned long value = strtoul(text, &end, 10);
        if (text[0] < '0' || text[0] > '9' || value == 0 || value > UINT32_MAX) {
            return NULL;
        }
        *sizes[i] = (uint32_t)value;
        image->shape = i == 0 ? IMAGE_1D : i == 1 ? IMAGE_2D : IMAGE_3D;
        if (*end == ':') {
            return end;
        }
        if (*end != 'x') {
            return NULL;
        }
        text = end + 1;
    }
    return NULL;
}

static void set_address(struct texture_view *view, enum texture_address address)
{
    for (int i = 0; i < 3; i++) {
        view->address[i] = address;
    }
}

static bool apply_option(struct texture_view *view, const char *text, size_t length)
{
    static const struct {
        const char *name;
        enum texture_address address;
    } addresses[] = {{"wrap", TEXTURE_WRAP},
                     {"clamp", TEXTURE_CLAMP},
                     {"mirror", TEXTURE_MIRROR},
                     {"border", TEXTURE_BORDER}};
    static const struct {
        const char *name;
        size_t member;
    } flags[] = {{"linear", offsetof(struct texture_view, linear)},
                 {"normalized", offsetof(struct texture_view, normalized)},
                 {"integer", offsetof(struct texture_view, as_integer)},
                 {"srgb", offsetof(struct texture_view, srgb)}};
    for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
        if (strlen(addresses[i].name) == length && strncmp(addresses[i].name, text, length) == 0) {
            set_address(view, addresses[i].address);
            return true;
        }
    }
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        if (strlen(flags[i].name) == length && strncmp(flags[i].name, text, length) == 0) {
            *(bool *)((char *)view + flags[i].member) = true;
            return true;
        }
    }
    return false;
}

static int parse_options(struct exec_arg *arg, const char *at)
{
    set_address(&arg->view, TEXTURE_CLAMP);
    while (*at == ',') {
        size_t length = strcspn(at + 1, ",");
        if (!apply_option(&arg->view, at + 1, length)) {
            return bad_argument(arg->spec,
                                "options are linear, normalized, integer, srgb, wrap, clamp, "
                                "mirror and border");
        }
        at += length + 1;
    }
    return 0;
}

static int read_texels(struct exec_arg *arg, const char *path)
{
    const struct image_spec *image = &arg->image;
    uint64_t texel = (uint64_t)image->format.bits / 8 * image->format.channels;
    uint64_t row = texel * image->width;
    uint64_t rows = (uint64_t)image->height * image->depth;
    char *data;
    size_t size;
    int rc = file_read_all(&data, &size, path, IMAGE_LIMIT_BYTES);
    if (rc < 0) {
        return api_read_result(rc);
    }
    arg->data = (unsigned char *)data;
    arg->bytes = size;
    if (size % row || size / row != rows) {
        uint64_t wanted = row * rows;
        return error_set(SONDE_EUSAGE, "--arg %s: %s has %zu bytes, the image %" PRIu64, arg->spec,
                         path, size, wanted);
    }
    return 0;
}

int exec_image_parse(struct exec_arg *arg, const char *kind, const char *rest)
{
    bool surface = strcmp(kind, "surface") == 0;
    arg->form = surface ? ARG_SURFACE : ARG_TEXTURE;
    arg->image.surface = surface;
    size_t length = strcspn(rest, ":");
    int rc = parse_format(arg, rest, length);
    if (rc < 0) {
        return rc;
    }
    const char *end = rest[length] ? parse_extent(&arg->image, rest + length + 1) : NULL;
    if (!end) {
        return bad_argument(arg->spec, surface
                                           ? "expected surface:FORMAT:WIDTH[xHEIGHT[xDEPTH]]:PATH"
                                           : "expected texture:FORMAT:WIDTH[xHEIGHT[xDEPTH]]:PATH");
    }
    const char *path = end + 1;
    size_t path_length = surface ? strlen(path) : strcspn(path, ",");
    char *copy = strndup(path, path_length);
    if (!copy) {
        return error_memory();
    }
    rc = parse_options(arg, path + path_length);
    rc = rc < 0 ? rc : read_texels(arg, copy);
    if (rc == 0 && surface) {
        arg->out_path = copy;
        return 0;
    }
    free(copy);
    return rc;
}
