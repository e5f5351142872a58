/*
 * The cases: all formats, shapes, address modes and filters, and the instructions that read and
 * write them. A case's words depend on the seed and on its name alone, so that cases can be added.
 */
#include "textures/cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/rng.h"

#define CASES_MOST 1000
#define FEW 64
#define SOME 256
#define MANY 1024

#define OUT4 "{%o0, %o1, %o2, %o3}"

static const char *const mode_names[] = {"wrap", "clamp", "mirror", "border"};
static const char *const shape_names[] = {"buffer", "pitch", "1d",   "2d",   "3d",
                                          "a1d",    "a2d",   "cube", "acube"};
static const char *const f32_texts[] = {
    [IMAGE_BUFFER] = "tex.1d.v4.f32.s32 " OUT4 ", [%rd3, {%r0}]",
    [IMAGE_PITCH] = "tex.2d.v4.f32.f32 " OUT4 ", [%rd3, {%r0, %r1}]",
    [IMAGE_1D] = "tex.1d.v4.f32.f32 " OUT4 ", [%rd3, {%r0}]",
    [IMAGE_2D] = "tex.2d.v4.f32.f32 " OUT4 ", [%rd3, {%r0, %r1}]",
    [IMAGE_3D] = "tex.3d.v4.f32.f32 " OUT4 ", [%rd3, {%r0, %r1, %r2, %r3}]",
    [IMAGE_1D_LAYERED] = "tex.a1d.v4.f32.f32 " OUT4 ", [%rd3, {%r0, %r1}]",
    [IMAGE_2D_LAYERED] = "tex.a2d.v4.f32.f32 " OUT4 ", [%rd3, {%r0, %r1, %r2, %r3}]",
    [IMAGE_CUBE] = "tex.cube.v4.f32.f32 " OUT4 ", [%rd3, {%r0, %r1, %r2, %r3}]",
    [IMAGE_CUBE_LAYERED] = "tex.acube.v4.f32.f32 " OUT4 ", [%rd3, {%r0, %r1, %r2, %r3}]",
};

static struct image_spec sized(enum image_shape shape, struct texel_format format)
{
    struct image_spec spec = {
        .shape = shape, .format = format, .width = 13, .height = 1, .depth = 1};
    spec.levels = 1;
    switch (shape) {
    case IMAGE_BUFFER:
        spec.width = 50;
        break;
    case IMAGE_3D:
        spec.width = 5, spec.height = 6, spec.depth = 7;
        break;
    case IMAGE_1D_LAYERED:
        spec.depth = 3;
        break;
    case IMAGE_2D_LAYERED:
        spec.height = 7, spec.depth = 3;
        break;
    case IMAGE_CUBE:
        spec.width = spec.height = 8;
        break;
    case IMAGE_CUBE_LAYERED:
        spec.width = spec.height = 8, spec.depth = 2;
        break;
    case IMAGE_PITCH:
    case IMAGE_2D:
        spec.height = 7;
        break;
    default:
        break;
    }
    return spec;
}

static struct texture_view viewed(enum texture_address mode, bool linear, bool normalized)
{
    return (struct texture_view){.address = {mode, mode, mode},
                                 .linear = linear,
                                 .normalized = normalized,
                                 .level_max = 100};
}

static const struct texel_format f32x1 = {TEXEL_FLOAT, 32, 1};

static void format_text(char out[12], const struct texel_format *format)
{
    static const char kinds[] = {'u', 's', 'f'};
    snprintf(out, 12, "%c%ux%u", kinds[format->kind], format->bits, format->channels);
}

static void add(struct case_list *list, struct texture_case c)
{
    static const char *const details[] = {"", " levels", " gradients", " offsets"};
    static const char *const contents[] = {" bits", " smooth"};
    char format[12];
    const struct image_spec *spec = &c.spec;
    const struct texture_view *view = &c.view;
    format_text(format, &spec->format);
    size_t op = strcspn(c.text, " ");
    int at = snprintf(c.name, sizeof c.name, "%.*s%s%s %s %ux%ux%u levels %u %s", (int)op, c.text,
                      details[c.detail], contents[c.content], shape_names[spec->shape], spec->width,
                      spec->height, spec->depth, spec->levels, format);
    if (!c.surface)
        snprintf(c.name + at, sizeof c.name - (size_t)at, " %s%s%s%s%s bias %g to %g border %g",
                 mode_names[view->address[0]], view->linear ? " linear" : "",
                 view->normalized ? " normalized" : "", view->as_integer ? " integer" : "",
                 view->level_linear ? " level_linear" : "", (double)view->level_bias,
                 (double)view->level_max, (double)view->border[0]);
    for (size_t i = 0; i < list->count; i++) /* one of several lists has it already */
        if (strcmp(list->cases[i].name, c.name) == 0 && strcmp(list->cases[i].text, c.text) == 0)
            return;
    if (list->count < CASES_MOST)
        list->cases[list->count++] = c;
}

/* Every format, read as it is and as numbers of 0 to 1. */
static void add_formats(struct case_list *list)
{
    static const struct texel_format kinds[] = {{TEXEL_UNSIGNED, 8, 0},  {TEXEL_SIGNED, 8, 0},
                                                {TEXEL_UNSIGNED, 16, 0}, {TEXEL_SIGNED, 16, 0},
                                                {TEXEL_UNSIGNED, 32, 0}, {TEXEL_SIGNED, 32, 0},
                                                {TEXEL_FLOAT, 16, 0},    {TEXEL_FLOAT, 32, 0}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (uint8_t channels = 1; channels <= 4; channels *= 2)
            for (int integer = 0; integer < 2; integer++) {
                struct texel_format format = kinds[i];
                struct texture_case c = {.content = CONTENT_BITS, .lanes = FEW};
                format.channels = channels;
                bool is_float = format.kind == TEXEL_FLOAT;
                if ((is_float && integer) || (!is_float && format.bits == 32 && !integer))
                    continue;
                c.spec = sized(IMAGE_2D, format);
                c.view = viewed(TEXTURE_CLAMP, false, false);
                c.view.as_integer = integer;
                c.places = PLACES_INSIDE;
                c.text = !integer ? f32_texts[IMAGE_2D]
                         : format.kind == TEXEL_SIGNED
                             ? "tex.2d.v4.s32.f32 " OUT4 ", [%rd3, {%r0, %r1}]"
                             : "tex.2d.v4.u32.f32 " OUT4 ", [%rd3, {%r0, %r1}]";
                add(list, c);
            }
}

/* Address modes and filters, everywhere. */
static void add_addressing(struct case_list *list)
{
    static const enum image_shape shapes[] = {IMAGE_1D,    IMAGE_2D,         IMAGE_3D,
                                              IMAGE_PITCH, IMAGE_1D_LAYERED, IMAGE_2D_LAYERED};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int mode = 0; mode < 4; mode++)
            for (int linear = 0; linear < 2; linear++)
                for (int normalized = 0; normalized < 2; normalized++) {
                    struct texture_case c = {.lanes = SOME, .places = PLACES_AROUND};
                    bool layered = shapes[i] >= IMAGE_1D_LAYERED;
                    if (layered && (mode == TEXTURE_MIRROR || mode == TEXTURE_BORDER))
                        continue;
                    c.content = linear ? CONTENT_SMOOTH : CONTENT_BITS;
                    c.spec = sized(shapes[i], f32x1);
                    c.view = viewed((enum texture_address)mode, linear, normalized);
                    c.text = f32_texts[shapes[i]];
                    add(list, c);
                    if (shapes[i] != IMAGE_2D)
                        continue;
                    c.spec.width = 16, c.spec.height = 8;
                    add(list, c);
                    c.spec.format = (struct texel_format){TEXEL_UNSIGNED, 8, 1};
                    add(list, c);
                }
}

/* The arithmetic of filtering, in every format that can be filtered. */
static void add_filtering(struct case_list *list)
{
    static const struct texel_format formats[] = {{TEXEL_FLOAT, 32, 1},    {TEXEL_FLOAT, 16, 1},
                                                  {TEXEL_UNSIGNED, 8, 1},  {TEXEL_SIGNED, 8, 1},
                                                  {TEXEL_UNSIGNED, 16, 1}, {TEXEL_SIGNED, 16, 1},
                                                  {TEXEL_FLOAT, 32, 4},    {TEXEL_UNSIGNED, 8, 4}};
    static const enum image_shape shapes[] = {IMAGE_1D, IMAGE_2D, IMAGE_3D};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        for (size_t k = 0; k < 3; k++) {
            struct texture_case c = {.lanes = formats[i].channels > 1 ? FEW : MANY,
                                     .content = CONTENT_SMOOTH,
                                     .places = PLACES_INSIDE};
            c.spec = sized(shapes[k], formats[i]);
            c.spec.width = 64;
            c.view = viewed(TEXTURE_CLAMP, true, false);
            c.text = f32_texts[shapes[k]];
            add(list, c);
        }
    for (size_t k = 0; k < 2; k++) { /* infinities, NaNs, tiny numbers */
        struct texture_case c = {.lanes = SOME, .content = CONTENT_BITS, .places = PLACES_INSIDE};
        c.spec = sized(shapes[k], f32x1);
        c.view = viewed(TEXTURE_WRAP, true, true);
        c.text = f32_texts[shapes[k]];
        add(list, c);
    }
}

static void add_border(struct case_list *list)
{
    static const struct texel_format formats[] = {{TEXEL_FLOAT, 32, 2},    {TEXEL_FLOAT, 16, 4},
                                                  {TEXEL_UNSIGNED, 8, 4},  {TEXEL_SIGNED, 16, 2},
                                                  {TEXEL_UNSIGNED, 32, 1}, {TEXEL_SIGNED, 32, 4}};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        for (int linear = 0; linear < (formats[i].bits < 32 || i == 0 ? 2 : 1); linear++)
            for (int integer = 0; integer < 2; integer++) {
                struct texture_case c = {.lanes = FEW, .places = PLACES_AROUND};
                bool is_float = formats[i].kind == TEXEL_FLOAT;
                if ((is_float && integer) || (integer && linear) ||
                    (formats[i].bits == 32 && !is_float && !integer))
                    continue;
                c.content = CONTENT_SMOOTH;
                c.spec = sized(IMAGE_2D, formats[i]);
                c.view = viewed(TEXTURE_BORDER, linear, true);
                c.view.as_integer = integer;
                c.view.border[0] = 0.25f, c.view.border[1] = -1.5f;
                c.view.border[2] = 3, c.view.border[3] = 0.75f;
                c.text = integer ? "tex.2d.v4.u32.f32 " OUT4 ", [%rd3, {%r0, %r1}]"
                                 : f32_texts[IMAGE_2D];
                add(list, c);
            }
}

static void add_cubes(struct case_list *list)
{
    for (int layered = 0; layered < 2; layered++)
        for (int linear = 0; linear < 2; linear++) {
            enum image_shape shape = layered ? IMAGE_CUBE_LAYERED : IMAGE_CUBE;
            struct texture_case c = {.lanes = SOME, .places = PLACES_DIRECTIONS};
            c.content = CONTENT_SMOOTH;
            c.spec = sized(shape, f32x1);
            c.view = viewed(TEXTURE_CLAMP, linear, true);
            c.text = f32_texts[shape];
            add(list, c);
        }
}

static void add_levels(struct case_list *list)
{
    static const char level[] = "tex.level.2d.v4.f32.f32 " OUT4 ", [%rd3, {%r0, %r1}], %r4";
    static const char gradients[] =
        "tex.grad.2d.v4.f32.f32 " OUT4 ", [%rd3, {%r0, %r1}], {%r4, %r5}, {%r6, %r7}";
    for (int kind = 0; kind < 2; kind++)
        for (int linear = 0; linear < 2; linear++)
            for (int between = 0; between < 2; between++)
                for (int biased = 0; biased < 2; biased++) {
                    struct texture_case c = {.lanes = SOME, .content = CONTENT_SMOOTH};
                    c.spec = sized(IMAGE_2D, f32x1);
                    c.spec.width = kind ? 13 : 16, c.spec.height = kind ? 11 : 16;
                    c.spec.levels = kind ? 4 : 5;
                    c.view = viewed(TEXTURE_CLAMP, linear, true);
                    c.view.level_linear = between;
                    if (biased) {
                        c.view.level_bias = 0.75f;
                        c.view.level_min = 0.5f, c.view.level_max = 2.25f;
                    }
                    c.places = PLACES_INSIDE;
                    c.detail = DETAIL_LEVELS;
                    c.text = level;
                    add(list, c);
                    c.detail = DETAIL_GRADIENTS;
                    c.text = gradients;
                    if (!biased)
                        add(list, c);
                    c.detail = DETAIL_NONE;
                    c.text = f32_texts[IMAGE_2D];
                    add(list, c);
                }
}

static void add_gathers(struct case_list *list)
{
    static const char *const texts[] = {"tld4.r.2d.v4.f32.f32 " OUT4 ", [%rd3, {%r0, %r1}]",
                                        "tld4.g.2d.v4.f32.f32 " OUT4 ", [%rd3, {%r0, %r1}]",
                                        "tld4.b.2d.v4.f32.f32 " OUT4 ", [%rd3, {%r0, %r1}]",
                                        "tld4.a.2d.v4.f32.f32 " OUT4 ", [%rd3, {%r0, %r1}]",
                                        "tld4.r.2d.v4.u32.f32 " OUT4 ", [%rd3, {%r0, %r1}]"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (int mode = 0; mode < 4; mode++) {
            struct texture_case c = {.lanes = FEW, .places = PLACES_AROUND, .text = texts[i]};
            c.content = CONTENT_BITS;
            c.spec = sized(IMAGE_2D, (struct texel_format){TEXEL_UNSIGNED, 8, 4});
            c.view = viewed((enum texture_address)mode, i % 2 && i < 4, mode != TEXTURE_CLAMP);
            c.view.as_integer = i == 4;
            add(list, c);
        }
}

static void add_indices(struct case_list *list)
{
    static const struct {
        enum image_shape shape;
        const char *text;
    } rows[] = {
        {IMAGE_BUFFER, "tex.1d.v4.f32.s32 " OUT4 ", [%rd3, {%r0}]"},
        {IMAGE_1D, "tex.1d.v4.f32.s32 " OUT4 ", [%rd3, {%r0}]"},
        {IMAGE_2D, "tex.2d.v4.f32.s32 " OUT4 ", [%rd3, {%r0, %r1}]"},
        {IMAGE_PITCH, "tex.2d.v4.f32.s32 " OUT4 ", [%rd3, {%r0, %r1}]"},
        {IMAGE_3D, "tex.3d.v4.f32.s32 " OUT4 ", [%rd3, {%r0, %r1, %r2, %r3}]"},
        {IMAGE_1D_LAYERED, "tex.a1d.v4.f32.s32 " OUT4 ", [%rd3, {%r0, %r1}]"},
        {IMAGE_2D_LAYERED, "tex.a2d.v4.f32.s32 " OUT4 ", [%rd3, {%r0, %r1, %r2, %r3}]"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int mode = 0; mode < 4; mode++) {
            struct texture_case c = {.lanes = FEW, .places = PLACES_INDICES, .text = rows[i].text};
            bool bytes = mode % 2;
            c.content = CONTENT_BITS;
            c.spec =
                sized(rows[i].shape, bytes ? (struct texel_format){TEXEL_UNSIGNED, 8, 4} : f32x1);
            c.view = viewed((enum texture_address)mode, mode == TEXTURE_MIRROR, mode >= 2);
            c.view.border[0] = 0.5f;
            add(list, c);
        }
}

static void add_others(struct case_list *list)
{
    static const char *const queries[] = {
        "txq.width.b32 %o0, [%rd3]",
        "txq.height.b32 %o0, [%rd3]",
        "txq.depth.b32 %o0, [%rd3]",
        "txq.array_size.b32 %o0, [%rd3]",
        "txq.num_mipmap_levels.b32 %o0, [%rd3]",
        "txq.level.width.b32 %o0, [%rd3], 2",
    };
    static const enum image_shape shapes[] = {IMAGE_1D, IMAGE_2D, IMAGE_3D, IMAGE_2D_LAYERED};
    struct texture_case c = {.lanes = SOME, .places = PLACES_AROUND};
    c.content = CONTENT_SMOOTH;
    c.spec = sized(IMAGE_2D, (struct texel_format){TEXEL_FLOAT, 32, 4});
    c.view = viewed(TEXTURE_WRAP, false, true);
    c.lanes = FEW;
    c.text = "tex.2d.v2.f16x2.f32 {%o0, %o1}, [%rd3, {%r0, %r1}]";
    add(list, c);
    c.spec.format = (struct texel_format){TEXEL_UNSIGNED, 8, 4};
    add(list, c);
    c.view.linear = true;
    add(list, c);
    c.spec.format = f32x1;
    c.detail = DETAIL_OFFSETS;
    c.text = "tex.2d.v4.f32.f32 " OUT4 ", [%rd3, {%r0, %r1}], {3, -8}";
    add(list, c);
    c.text = "tex.level.2d.v4.f32.f32 " OUT4 ", [%rd3, {%r0, %r1}], %r4, {-2, 7}";
    add(list, c);
    c.view.linear = false;
    c.view.address[0] = c.view.address[1] = TEXTURE_CLAMP;
    add(list, c);
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++)
        for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
            struct texture_case q = {.lanes = 32, .text = queries[i], .places = PLACES_INSIDE};
            q.spec = sized(shapes[k], f32x1);
            q.spec.levels = 3;
            q.view = viewed(TEXTURE_CLAMP, false, true);
            add(list, q);
        }
}

/* Surfaces. */

static void add_surface_case(struct case_list *list, const char *text, enum image_shape shape,
                             struct texel_format format, uint32_t access_bytes, enum places places)
{
    struct texture_case c = {.surface = true,
                             .content = CONTENT_BITS,
                             .text = text,
                             .places = places,
                             .lanes = SOME,
                             .access_bytes = access_bytes};
    c.spec = sized(shape, format);
    if (shape != IMAGE_3D)
        c.spec.width = 16;
    else
        c.spec.width = 8;
    if (shape == IMAGE_CUBE)
        c.spec.height = 16;
    c.spec.surface = true;
    c.reads_image = strncmp(text, "suld", 4) != 0 && strncmp(text, "suq", 3) != 0;
    add(list, c);
}

#define LOAD(geometry, type, outside, result, place)                                               \
    "suld.b." geometry "." type "." outside " " result ", [%rd3, {" place "}]"
#define P1 "%r0"
#define P2 "%r0, %r1"
#define P4 "%r0, %r1, %r2, %r3"
static const struct {
    const char *text;
    enum image_shape shape;
    struct texel_format format;
    uint32_t access_bytes;
    enum places places;
} surface_rows[] = {
    {LOAD("1d", "b32", "clamp", "{%o0}", P1), IMAGE_1D, {TEXEL_UNSIGNED, 8, 4}, 4, PLACES_BYTES},
    {LOAD("1d", "b32", "zero", "{%o0}", P1), IMAGE_1D, {TEXEL_UNSIGNED, 8, 4}, 4, PLACES_BYTES},
    {LOAD("2d", "b32", "clamp", "{%o0}", P2), IMAGE_2D, {TEXEL_UNSIGNED, 8, 4}, 4, PLACES_BYTES},
    {LOAD("2d", "b32", "zero", "{%o0}", P2), IMAGE_2D, {TEXEL_UNSIGNED, 8, 4}, 4, PLACES_BYTES},
    {LOAD("2d", "v4.b32", "clamp", OUT4, P2), IMAGE_2D, {TEXEL_UNSIGNED, 32, 4}, 16, PLACES_BYTES},
    {LOAD("2d", "v4.b32", "zero", OUT4, P2), IMAGE_2D, {TEXEL_UNSIGNED, 32, 4}, 16, PLACES_BYTES},
    {LOAD("2d", "b32", "zero", "{%o0}", P2), IMAGE_2D, {TEXEL_UNSIGNED, 32, 4}, 4, PLACES_BYTES},
    {LOAD("2d", "b32", "clamp", "{%o0}", P2), IMAGE_2D, {TEXEL_UNSIGNED, 32, 4}, 4, PLACES_BYTES},
    {LOAD("2d", "v2.b32", "clamp", "{%o0, %o1}", P2),
     IMAGE_2D,
     {TEXEL_UNSIGNED, 8, 4},
     8,
     PLACES_BYTES},
    {LOAD("3d", "b32", "clamp", "{%o0}", P4), IMAGE_3D, {TEXEL_UNSIGNED, 8, 4}, 4, PLACES_BYTES},
    {LOAD("3d", "b32", "zero", "{%o0}", P4), IMAGE_3D, {TEXEL_UNSIGNED, 8, 4}, 4, PLACES_BYTES},
    {LOAD("a1d", "b32", "clamp", "{%o0}", P2),
     IMAGE_1D_LAYERED,
     {TEXEL_UNSIGNED, 8, 4},
     4,
     PLACES_BYTES},
    {LOAD("a1d", "b32", "zero", "{%o0}", P2),
     IMAGE_1D_LAYERED,
     {TEXEL_UNSIGNED, 8, 4},
     4,
     PLACES_BYTES},
    {LOAD("a2d", "b32", "clamp", "{%o0}", P4),
     IMAGE_2D_LAYERED,
     {TEXEL_UNSIGNED, 8, 4},
     4,
     PLACES_BYTES},
    {LOAD("a2d", "b32", "zero", "{%o0}", P4),
     IMAGE_2D_LAYERED,
     {TEXEL_UNSIGNED, 8, 4},
     4,
     PLACES_BYTES},
    {LOAD("a2d", "b32", "zero", "{%o0}", P4), IMAGE_CUBE, {TEXEL_UNSIGNED, 8, 4}, 4, PLACES_BYTES},
    {"sust.b.1d.b32.zero [%rd3, {" P1 "}], {%r10}",
     IMAGE_1D,
     {TEXEL_UNSIGNED, 8, 4},
     4,
     PLACES_PERMUTED},
    {"sust.b.2d.b32.zero [%rd3, {" P2 "}], {%r10}",
     IMAGE_2D,
     {TEXEL_UNSIGNED, 8, 4},
     4,
     PLACES_PERMUTED},
    {"sust.b.2d.v4.b32.zero [%rd3, {" P2 "}], {%r10, %r11, %r12, %r13}",
     IMAGE_2D,
     {TEXEL_UNSIGNED, 32, 4},
     16,
     PLACES_PERMUTED},
    {"sust.b.2d.b32.clamp [%rd3, {" P2 "}], {%r15}",
     IMAGE_2D,
     {TEXEL_UNSIGNED, 8, 4},
     4,
     PLACES_BYTES},
    {"sust.b.3d.b32.zero [%rd3, {" P4 "}], {%r10}",
     IMAGE_3D,
     {TEXEL_UNSIGNED, 8, 4},
     4,
     PLACES_PERMUTED},
    {"sust.b.a2d.b32.zero [%rd3, {" P4 "}], {%r10}",
     IMAGE_2D_LAYERED,
     {TEXEL_UNSIGNED, 8, 4},
     4,
     PLACES_PERMUTED},
    {"sust.p.2d.v4.b32.zero [%rd3, {" P2 "}], {%r10, %r11, %r12, %r13}",
     IMAGE_2D,
     {TEXEL_UNSIGNED, 8, 4},
     1,
     PLACES_PERMUTED},
    {"sust.p.2d.v4.b32.zero [%rd3, {" P2 "}], {%r10, %r11, %r12, %r13}",
     IMAGE_2D,
     {TEXEL_SIGNED, 8, 4},
     1,
     PLACES_PERMUTED},
    {"sust.p.2d.v4.b32.zero [%rd3, {" P2 "}], {%r10, %r11, %r12, %r13}",
     IMAGE_2D,
     {TEXEL_UNSIGNED, 16, 2},
     1,
     PLACES_PERMUTED},
    {"sust.p.2d.v4.b32.zero [%rd3, {" P2 "}], {%r10, %r11, %r12, %r13}",
     IMAGE_2D,
     {TEXEL_SIGNED, 16, 2},
     1,
     PLACES_PERMUTED},
    {"sust.p.2d.v4.b32.zero [%rd3, {" P2 "}], {%r10, %r11, %r12, %r13}",
     IMAGE_2D,
     {TEXEL_FLOAT, 16, 4},
     1,
     PLACES_PERMUTED},
    {"sust.p.2d.v4.b32.zero [%rd3, {" P2 "}], {%r10, %r11, %r12, %r13}",
     IMAGE_2D,
     {TEXEL_UNSIGNED, 32, 1},
     1,
     PLACES_PERMUTED},
    {"sust.p.2d.v4.b32.zero [%rd3, {" P2 "}], {%r10, %r11, %r12, %r13}",
     IMAGE_2D,
     {TEXEL_FLOAT, 32, 2},
     1,
     PLACES_PERMUTED},
    {"sust.p.2d.v4.b32.zero [%rd3, {" P2 "}], {%r10, %r11, %r12, %r13}",
     IMAGE_2D,
     {TEXEL_SIGNED, 32, 1},
     1,
     PLACES_PERMUTED},
    {"sust.p.2d.v4.b32.zero [%rd3, {" P2 "}], {%r10, %r11, %r12, %r13}",
     IMAGE_2D,
     {TEXEL_UNSIGNED, 8, 1},
     1,
     PLACES_PERMUTED},
    {"sured.b.add.2d.u32.zero [%rd3, {" P2 "}], %r10",
     IMAGE_2D,
     {TEXEL_UNSIGNED, 32, 1},
     4,
     PLACES_BYTES},
    {"sured.b.min.2d.s32.clamp [%rd3, {" P2 "}], %r10",
     IMAGE_2D,
     {TEXEL_SIGNED, 32, 1},
     4,
     PLACES_BYTES},
    {"sured.b.or.2d.b32.zero [%rd3, {" P2 "}], %r10",
     IMAGE_2D,
     {TEXEL_UNSIGNED, 32, 1},
     4,
     PLACES_BYTES},
    {"sured.p.add.2d.b32.zero [%rd3, {" P2 "}], %r10",
     IMAGE_2D,
     {TEXEL_UNSIGNED, 32, 1},
     1,
     PLACES_BYTES},
    {"sured.p.max.2d.b32.zero [%rd3, {" P2 "}], %r10",
     IMAGE_2D,
     {TEXEL_SIGNED, 32, 1},
     1,
     PLACES_BYTES},
    {"suq.width.b32 %o0, [%rd3]", IMAGE_2D, {TEXEL_UNSIGNED, 8, 4}, 4, PLACES_INSIDE},
    {"suq.height.b32 %o0, [%rd3]", IMAGE_2D, {TEXEL_UNSIGNED, 8, 4}, 4, PLACES_INSIDE},
    {"suq.depth.b32 %o0, [%rd3]", IMAGE_3D, {TEXEL_UNSIGNED, 8, 4}, 4, PLACES_INSIDE},
    {"suq.array_size.b32 %o0, [%rd3]", IMAGE_2D_LAYERED, {TEXEL_UNSIGNED, 8, 4}, 4, PLACES_INSIDE},
};

static void add_surfaces(struct case_list *list)
{
    for (size_t i = 0; i < sizeof surface_rows / sizeof *surface_rows; i++)
        add_surface_case(list, surface_rows[i].text, surface_rows[i].shape, surface_rows[i].format,
                         surface_rows[i].access_bytes, surface_rows[i].places);
}

int cases_make(struct case_list *out)
{
    out->count = 0;
    out->cases = calloc(CASES_MOST, sizeof *out->cases);
    if (!out->cases)
        return error_memory();
    add_formats(out);
    add_addressing(out);
    add_filtering(out);
    add_border(out);
    add_cubes(out);
    add_levels(out);
    add_gathers(out);
    add_indices(out);
    add_others(out);
    add_surfaces(out);
    return SONDE_OK;
}

/* Contents. */

uint32_t case_texel_bytes(const struct image_spec *spec)
{
    return spec->format.bits / 8u * spec->format.channels;
}

static uint32_t level_size(uint32_t size, uint32_t level)
{
    return size >> level ? size >> level : 1;
}

static uint32_t slices(const struct image_spec *spec)
{
    bool cube = spec->shape == IMAGE_CUBE || spec->shape == IMAGE_CUBE_LAYERED;
    return spec->depth * (cube ? 6 : 1);
}

size_t case_level_bytes(const struct image_spec *spec, uint32_t level)
{
    uint32_t depth = spec->shape == IMAGE_3D ? level_size(spec->depth, level) : slices(spec);
    return (size_t)level_size(spec->width, level) * level_size(spec->height, level) * depth *
           case_texel_bytes(spec);
}

static struct rng case_rng(const struct texture_case *c, uint64_t seed, uint64_t what)
{
    struct rng rng;
    uint64_t hash = 0xcbf29ce484222325 ^ seed * 0x9e3779b97f4a7c15 ^ what;
    for (const char *at = c->name; *at; at++)
        hash = (hash ^ (uint8_t)*at) * 0x100000001b3;
    rng_seed(&rng, hash);
    return rng;
}

static double unit(struct rng *rng)
{
    return (double)(rng_u64(rng) >> 11) / 9007199254740992.0;
}

static uint32_t float_bits(double value)
{
    float narrow = (float)value;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    return bits;
}

/* A half of moderate size. */
static uint16_t smooth_half(struct rng *rng)
{
    uint64_t bits = rng_u64(rng) & 0x83ff;
    return (uint16_t)(bits | (12 + rng_below(rng, 6)) << 10);
}

void case_fill_image(uint8_t *texels, const struct texture_case *c, uint64_t seed)
{
    struct rng rng = case_rng(c, seed, 1);
    size_t bytes = 0;
    for (uint32_t level = 0; level < c->spec.levels; level++)
        bytes += case_level_bytes(&c->spec, level);
    bool smooth = c->content == CONTENT_SMOOTH && c->spec.format.kind == TEXEL_FLOAT;
    for (size_t at = 0; at < bytes; at += c->spec.format.bits / 8u) {
        uint32_t value = (uint32_t)rng_u64(&rng);
        if (smooth && c->spec.format.bits == 32)
            value = float_bits(8 * unit(&rng) - 4);
        else if (smooth)
            value = smooth_half(&rng);
        memcpy(texels + at, &value, c->spec.format.bits / 8u);
    }
}

/* A coordinate in texels. */
static double coordinate(struct rng *rng, const struct texture_case *c, uint32_t size)
{
    double whole = c->places == PLACES_AROUND ? (double)rng_below(rng, 7 * size) - 3.0 * size
                                              : (double)rng_below(rng, size);
    switch (rng_below(rng, 8)) {
    case 0:
        return whole;
    case 1:
        return whole + 0.5;
    case 2:
        return whole + (double)rng_below(rng, 257) / 256;
    case 3:
        return whole + (double)rng_below(rng, 513) / 512;
    case 4:
        return whole + (double)rng_below(rng, 2049) / 2048;
    case 5: /* just below and above a boundary */
        return whole + (unit(rng) - 0.5) / 400;
    default:
        return whole + unit(rng);
    }
}

static uint32_t far_away(struct rng *rng)
{
    static const uint32_t bits[] = {0x80000000, 1,          0x807fffff, 0x7f800000,
                                    0xff800000, 0x7fc00000, 0x501502f9, 0xd01502f9,
                                    0x4b800001, 0xcb800001, 0x47c35040, 0xc7c35040};
    return bits[rng_below(rng, sizeof bits / sizeof *bits)];
}

static void fill_direction(uint32_t *words, struct rng *rng)
{
    double v[3];
    uint32_t major = (uint32_t)rng_below(rng, 3);
    double length = ldexp(1, (int)rng_below(rng, 5) - 2);
    for (uint32_t i = 0; i < 3; i++)
        v[i] = (unit(rng) * 1.6 - 0.8) * length;
    v[major] = rng_below(rng, 2) ? length : -length;
    for (uint32_t i = 0; i < 3; i++)
        words[i] = float_bits(v[i]);
}

/* Of dimensions that the image has, from `at` on; x may count bytes. */
static void fill_indices(uint32_t *words, struct rng *rng, const struct texture_case *c)
{
    const struct image_spec *spec = &c->spec;
    uint32_t units = c->access_bytes > 1 ? c->access_bytes : 1;
    uint32_t count =
        c->access_bytes > 1 ? spec->width * case_texel_bytes(spec) / units : spec->width;
    const uint32_t sizes[3] = {count, spec->height, spec->depth};
    for (uint32_t i = 0; i < 3; i++)
        words[i] = (uint32_t)((int64_t)rng_below(rng, sizes[i] + 4) - 2);
    words[0] *= units;
    if (rng_below(rng, 16) == 0) {
        uint32_t far = rng_below(rng, 2) ? 0x7ffffff0 : 0x80000000;
        words[rng_below(rng, 3)] = far;
    }
}

static void fill_permuted(uint32_t *words, const struct texture_case *c, uint32_t lane)
{
    const struct image_spec *spec = &c->spec;
    uint32_t units = c->access_bytes > 1 ? c->access_bytes : 1;
    uint32_t count =
        c->access_bytes > 1 ? spec->width * case_texel_bytes(spec) / units : spec->width;
    uint32_t width = count + 2; /* one beside either end */
    words[0] = (lane % width - 1) * units;
    words[1] = lane / width % (spec->height + 1);
    words[2] = lane / width / (spec->height + 1);
    bool deep = spec->shape == IMAGE_3D || spec->shape == IMAGE_2D_LAYERED;
    bool flat = spec->shape == IMAGE_1D && words[1] > 0;
    if (flat || (!deep && words[2] > 0)) /* each place once: stores do not race */
        words[0] = 0u - units;
}

static void fill_details(uint32_t *words, struct rng *rng, const struct texture_case *c)
{
    if (c->detail == DETAIL_LEVELS) {
        words[4] = rng_below(rng, 3) ? float_bits(unit(rng) * 7 - 1)
                                     : float_bits((double)rng_below(rng, 29) / 4 - 1);
    } else if (c->detail == DETAIL_GRADIENTS) {
        /* Powers of two of one axis: the level is a number without rounding. */
        double step = ldexp(1, (int)rng_below(rng, 6) - 1);
        uint32_t axis = (uint32_t)rng_below(rng, 2), which = (uint32_t)rng_below(rng, 2);
        double size = axis ? c->spec.height : c->spec.width;
        words[4 + 2 * which + axis] = float_bits(step / size);
    }
    for (uint32_t i = 10; i < CASE_WORDS; i++) {
        uint32_t bits = (uint32_t)rng_u64(rng); /* one call a statement: their order counts */
        words[i] = bits >> rng_below(rng, 32);
    }
    if (rng_below(rng, 2))
        words[10] = 0u - words[10];
}

static void fill_lane(uint32_t *words, struct rng *rng, const struct texture_case *c, uint32_t lane)
{
    const struct image_spec *spec = &c->spec;
    const uint32_t sizes[3] = {spec->width, spec->height, spec->depth};
    bool layered = spec->shape == IMAGE_1D_LAYERED || spec->shape == IMAGE_2D_LAYERED ||
                   spec->shape == IMAGE_CUBE_LAYERED;
    bool faces = c->surface && spec->shape == IMAGE_CUBE;
    uint32_t place[3] = {0}, *at = words;
    memset(words, 0, CASE_WORDS * sizeof *words);
    for (uint32_t i = 0; i < 3 && c->places <= PLACES_AROUND; i++) {
        double texels = coordinate(rng, c, sizes[i]);
        place[i] = float_bits(c->view.normalized ? texels / sizes[i] : texels);
        if (c->places == PLACES_AROUND && rng_below(rng, 24) == 0)
            place[i] = far_away(rng);
    }
    if (c->places == PLACES_INDICES || c->places == PLACES_BYTES)
        fill_indices(place, rng, c);
    else if (c->places == PLACES_DIRECTIONS)
        fill_direction(place, rng);
    else if (c->places == PLACES_PERMUTED)
        fill_permuted(place, c, lane);
    if (layered || faces) {
        bool far = c->places == PLACES_AROUND && rng_below(rng, 8) == 0;
        uint32_t layer = far ? (rng_below(rng, 2) ? 1000000 : UINT32_MAX)
                             : (uint32_t)rng_below(rng, slices(spec) + (c->surface ? 2 : 1));
        if (spec->shape == IMAGE_CUBE_LAYERED)
            layer = (uint32_t)rng_below(rng, spec->depth);
        if (c->places == PLACES_PERMUTED)
            layer = place[2];
        *at++ = layer;
    }
    memcpy(at, place, 3 * sizeof *place);
    fill_details(words, rng, c);
}

void case_fill_words(uint32_t *words, const struct texture_case *c, uint64_t seed)
{
    struct rng rng = case_rng(c, seed, 2);
    for (uint32_t lane = 0; lane < c->lanes; lane++)
        fill_lane(words + (size_t)lane * CASE_WORDS, &rng, c, lane);
}
