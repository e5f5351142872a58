/*
 * Initialisers: numbers, strings of nested braces for arrays, addresses (symbol, symbol + n,
 * generic(symbol), 0xFF00(symbol)). Source: PTX ISA 9.0, 5.4.4 and 5.4.5. Addresses become
 * relocations.
 */
#include "ptx/parser.h"

#include <stdlib.h>
#include <string.h>

#include "isa/image.h"

struct init {
    struct parser *p;
    struct ptx_var *var;
    const uint64_t *dims;
    uint32_t dim_count;
    uint32_t element_bytes;
    uint64_t cursor; /* elements written so far */
    uint64_t limit;  /* elements that fit; UINT64_MAX if unsized */
    uint8_t *bytes;
    uint64_t capacity; /* bytes allocated */
    VEC(struct ptx_reloc) relocs;
};

static int grow(struct init *init, uint64_t bytes)
{
    if (bytes <= init->capacity)
        return 0;
    if (bytes > PTX_MAX_INIT_BYTES || init->p->init_bytes + bytes > PTX_MAX_INIT_BYTES)
        return parser_error(init->p, init->var->loc, "initialisers of more than %llu MiB",
                            (unsigned long long)(PTX_MAX_INIT_BYTES >> 20));
    uint64_t capacity = init->capacity * 2 > bytes ? init->capacity * 2 : bytes + 64;
    uint8_t *data = realloc(init->bytes, capacity);
    if (data == NULL)
        return parser_memory(init->p);
    memset(data + init->capacity, 0, capacity - init->capacity);
    init->bytes = data;
    init->capacity = capacity;
    return 0;
}

/* A variable or function declared before. */
static int parse_symbol(struct ptx_reloc *reloc, struct init *init)
{
    struct parser *p = init->p;
    struct symbol *symbol =
        p->token.kind == TOKEN_NAME ? scope_find(p, p->token.text, p->token.length) : NULL;
    if (symbol == NULL || (symbol->kind != SYMBOL_VAR && symbol->kind != SYMBOL_FUNC))
        return parser_expected(p, "a constant, or a variable or function declared before");
    reloc->var = symbol->var;
    reloc->func = symbol->func;
    parser_advance(p);
    return 0;
}

static int parse_addend(struct ptx_reloc *reloc, struct init *init)
{
    struct parser *p = init->p;
    struct constant value = {0};
    if (!parser_accept(p, '+'))
        return 0;
    int code = expr_parse_int(&value, p);
    reloc->addend = (int64_t)value.bits;
    return code;
}

/* 0xFF00(symbol): the masked byte of an address. */
static int parse_mask(struct ptx_reloc *reloc, struct init *init)
{
    struct parser *p = init->p;
    uint64_t mask = p->token.value;
    unsigned shift = 0;
    while (mask != 0 && (mask & 0xff) == 0) {
        mask >>= 8;
        shift += 8;
    }
    if (mask != 0xff)
        return parser_error(p, p->token.loc, "got mask 0x%llx, expected 0xFF in one byte's place",
                            (unsigned long long)p->token.value);
    parser_advance(p);
    parser_advance(p);
    reloc->mask_shift = (uint8_t)shift;
    reloc->bytes = 1;
    return 0;
}

static bool at_word(const struct parser *p, const char *word)
{
    return p->token.kind == TOKEN_NAME && p->token.length == strlen(word) &&
           memcmp(p->token.text, word, p->token.length) == 0;
}

static int parse_address(struct init *init, uint64_t offset)
{
    struct parser *p = init->p;
    struct ptx_reloc reloc = {.offset = offset, .bytes = (uint8_t)init->element_bytes};
    struct ptx_loc loc = p->token.loc;
    int code = 0, parentheses = 0;
    if (p->token.kind == TOKEN_INT) {
        code = parse_mask(&reloc, init);
        parentheses++;
    }
    if (code == 0 && at_word(p, "generic")) {
        parser_advance(p);
        code = parser_require(p, '(', "'(' after generic");
        reloc.generic = true;
        parentheses++;
    }
    if (code == 0 && (code = parse_symbol(&reloc, init)) == 0 && !reloc.generic)
        code = parse_addend(&reloc, init);
    for (; code == 0 && parentheses > 0; parentheses--)
        code = parser_require(p, ')', "')'");
    if (code == 0 && reloc.generic)
        code = parse_addend(&reloc, init);
    if (code < 0)
        return code;
    enum isa_type_kind kind = isa_type_info(init->var->type)->kind;
    if (reloc.bytes != init->element_bytes || kind == KIND_FLOAT ||
        (reloc.bytes != 1 && reloc.bytes != 4 && reloc.bytes != 8))
        return parser_error(p, loc, "an address does not fit an element of type .%s",
                            isa_type_info(init->var->type)->text);
    return vec_push(&init->relocs, reloc) < 0 ? parser_memory(p) : 0;
}

static int parse_element(struct init *init)
{
    struct parser *p = init->p;
    struct ptx_loc loc = p->token.loc;
    uint64_t offset = init->cursor * init->element_bytes;
    if (init->cursor >= init->limit)
        return parser_error(p, loc, "more initial values than '%s' has elements", init->var->name);
    int code = grow(init, offset + init->element_bytes);
    if (code < 0)
        return code;
    init->cursor++;
    bool is_mask = p->token.kind == TOKEN_INT && parser_peek(p)->kind == TOKEN_PUNCT &&
                   parser_peek(p)->punct == '(';
    if (is_mask || (p->token.kind == TOKEN_NAME && !at_word(p, "WARP_SZ")))
        return parse_address(init, offset);
    struct constant value;
    uint64_t bits = 0;
    if ((code = expr_parse(&value, p)) < 0)
        return code;
    if (!constant_convert(&bits, &value, init->var->type))
        return parser_error(p, loc, "the constant is not a value of type .%s",
                            isa_type_info(init->var->type)->text);
    for (uint32_t i = 0; i < init->element_bytes && i < 8; i++)
        init->bytes[offset + i] = (uint8_t)(bits >> 8 * i);
    return 0;
}

/* Elements of the part of the array below dimension `level`. */
static uint64_t stride(const struct init *init, uint32_t level)
{
    uint64_t count = init->var->vec;
    for (uint32_t i = level; i < init->dim_count; i++)
        count *= init->dims[i];
    return count;
}

/* { {a, b}, {c}, .. }: one level of braces a dimension, and one for a vector; missing values are
 * zero. */
static int parse_braces(struct init *init, uint32_t level)
{
    struct parser *p = init->p;
    uint64_t begin = init->cursor;
    uint64_t outer_limit = init->limit;
    bool sized = !(level == 0 && init->var->unsized);
    uint64_t extent = sized ? stride(init, level) : UINT64_MAX;
    int code = parser_require(p, '{', "'{'");
    if (code < 0)
        return code;
    p->open_braces++;
    if (sized && extent <= outer_limit && begin <= outer_limit - extent)
        init->limit = begin + extent;
    bool inner = level + 1 == init->dim_count + (init->var->vec > 1 ? 1 : 0);
    while (code == 0 && !parser_at(p, '}')) {
        if (inner && parser_at(p, '{'))
            return parser_error(p, p->token.loc, "more nested braces than '%s' has dimensions",
                                init->var->name);
        code = inner ? parse_element(init) : parse_braces(init, level + 1);
        if (code == 0 && !parser_accept(p, ','))
            break;
        if (code == 0 && parser_at(p, '}'))
            return parser_expected(p, "a value behind ','");
    }
    if (code < 0)
        return code;
    if ((code = parser_require(p, '}', "',' or '}' in the initialiser")) < 0)
        return code;
    p->open_braces--;
    init->limit = outer_limit;
    uint64_t row = sized ? extent : 0;
    if (level > 0 && init->cursor < begin + row)
        init->cursor = begin + row;
    return grow(init, init->cursor * init->element_bytes);
}

/* What a sampler's attributes may be: the bits that they occupy and those that they set. */
struct sampler_word {
    const char *attribute, *value;
    uint16_t mask, bits;
};
#define SAMPLER_AXIS(name, axis)                                                                   \
    {name, "wrap", 3u << (4 + 2 * (axis)), TEXTURE_WRAP << (4 + 2 * (axis))},                      \
        {name, "mirror", 3u << (4 + 2 * (axis)), TEXTURE_MIRROR << (4 + 2 * (axis))},              \
        {name, "clamp_ogl", 3u << (4 + 2 * (axis)), TEXTURE_CLAMP << (4 + 2 * (axis))},            \
        {name, "clamp_to_edge", 3u << (4 + 2 * (axis)), TEXTURE_CLAMP << (4 + 2 * (axis))},        \
    {                                                                                              \
        name, "clamp_to_border", 3u << (4 + 2 * (axis)), TEXTURE_BORDER << (4 + 2 * (axis))        \
    }
static const struct sampler_word sampler_words[] = {
    {"filter_mode", "nearest", SAMPLER_LINEAR, 0},
    {"filter_mode", "linear", SAMPLER_LINEAR, SAMPLER_LINEAR},
    {"force_unnormalized_coords", "0", SAMPLER_UNNORMALIZED, 0},
    {"force_unnormalized_coords", "1", SAMPLER_UNNORMALIZED, SAMPLER_UNNORMALIZED},
    SAMPLER_AXIS("addr_mode_0", 0),
    SAMPLER_AXIS("addr_mode_1", 1),
    SAMPLER_AXIS("addr_mode_2", 2),
};

static int parse_attribute(uint64_t *sampler, struct parser *p)
{
    const char *name = parser_name(p, "an attribute of the sampler");
    if (name == NULL)
        return SONDE_EINPUT;
    int code = parser_require(p, '=', "'='");
    if (code < 0)
        return code;
    bool known = false;
    for (size_t i = 0; i < sizeof sampler_words / sizeof *sampler_words; i++) {
        const struct sampler_word *word = &sampler_words[i];
        if (strcmp(word->attribute, name) != 0)
            continue;
        known = true;
        if (strlen(word->value) == p->token.length &&
            memcmp(word->value, p->token.text, p->token.length) == 0) {
            *sampler = (*sampler & ~(uint64_t)word->mask) | word->bits;
            parser_advance(p);
            return 0;
        }
    }
    if (!known)
        return parser_error(p, p->token.loc, "a sampler has no attribute '%s'", name);
    return parser_expected(p, "a value of the sampler's attribute");
}

/* {addr_mode_0 = wrap, filter_mode = linear}: PTX ISA 9.0, 5.3. Textures get theirs from the host.
 */
static int parse_sampler(struct init *init)
{
    struct parser *p = init->p;
    uint64_t sampler = SAMPLER_DEFAULT;
    if (init->var->type != TYPE_samplerref || init->var->is_array)
        return parser_error(p, p->token.loc, "only a single .samplerref has initial values");
    int code = parser_require(p, '{', "'{'");
    while (code == 0 && !parser_at(p, '}')) {
        if ((code = parse_attribute(&sampler, p)) < 0)
            return code;
        if (!parser_accept(p, ','))
            break;
    }
    uint8_t *bytes = arena_alloc(p->arena, sizeof sampler);
    if (bytes == NULL)
        return parser_memory(p);
    memcpy(bytes, &sampler, sizeof sampler);
    init->var->init = bytes;
    return code < 0 ? code : parser_require(p, '}', "'}'");
}

static int finish(struct init *init)
{
    struct ptx_var *var = init->var;
    struct parser *p = init->p;
    if (var->unsized) {
        uint64_t row = stride(init, 1);
        uint64_t count = row > 0 ? (init->cursor + row - 1) / row * row : 0;
        var->size = count * init->element_bytes;
        var->unsized = false;
    }
    /* An all-default initialiser of a huge array needs no bytes at all. */
    if (init->cursor == 0 && init->relocs.count == 0)
        return 0;
    int code = grow(init, var->size);
    if (code < 0)
        return code;
    p->init_bytes += var->size;
    uint8_t *bytes = arena_alloc(p->arena, var->size);
    struct ptx_reloc *relocs = arena_array(p->arena, init->relocs.count, sizeof *relocs);
    if (bytes == NULL || relocs == NULL)
        return parser_memory(p);
    if (var->size > 0)
        memcpy(bytes, init->bytes, var->size);
    if (init->relocs.count > 0)
        memcpy(relocs, init->relocs.data, init->relocs.count * sizeof *relocs);
    var->init = bytes;
    var->relocs = relocs;
    var->reloc_count = (uint32_t)init->relocs.count;
    return 0;
}

int init_parse(struct parser *p, struct ptx_var *var, const uint64_t *dims, uint32_t dim_count)
{
    const struct isa_type_info *info = isa_type_info(var->type);
    struct init init = {.p = p,
                        .var = var,
                        .dims = dims,
                        .dim_count = dim_count,
                        .element_bytes = info->bytes,
                        .limit = UINT64_MAX};
    int code = 0;
    if (var->space != SPACE_GLOBAL && var->space != SPACE_CONST)
        return parser_error(p, p->token.loc,
                            "only .global and .const variables have initial values");
    if (info->kind == KIND_OPAQUE)
        return parse_sampler(&init);
    if (!var->unsized)
        init.limit = var->size / info->bytes;
    if (dim_count > 0 || var->vec > 1)
        code = parse_braces(&init, 0);
    else
        code = parse_element(&init);
    if (code == 0)
        code = finish(&init);
    free(init.bytes);
    vec_free(&init.relocs);
    return code;
}
