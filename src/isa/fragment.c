/* See fragment.h. The table is the manual's list of legal products. */
#include "isa/fragment.h"

static const struct {
    enum isa_mod shape;
    struct isa_mnk mnk;
} sizes[] = {
    {MOD_MNK_m16n16k16, {16, 16, 16}}, {MOD_MNK_m8n32k16, {8, 32, 16}},
    {MOD_MNK_m32n8k16, {32, 8, 16}},   {MOD_MNK_m16n16k8, {16, 16, 8}},
    {MOD_MNK_m8n8k4, {8, 8, 4}},       {MOD_MNK_m16n8k4, {16, 8, 4}},
    {MOD_MNK_m16n8k8, {16, 8, 8}},     {MOD_MNK_m16n8k16, {16, 8, 16}},
    {MOD_MNK_m8n8k16, {8, 8, 16}},     {MOD_MNK_m16n8k32, {16, 8, 32}},
};

static const struct {
    bool is_wmma;
    enum isa_type a;
    enum isa_mod shapes[4]; /* MOD_NONE ends them */
} products[] = {
    {true, TYPE_f16, {MOD_MNK_m16n16k16, MOD_MNK_m8n32k16, MOD_MNK_m32n8k16}},
    {true, TYPE_bf16, {MOD_MNK_m16n16k16, MOD_MNK_m8n32k16, MOD_MNK_m32n8k16}},
    {true, TYPE_u8, {MOD_MNK_m16n16k16, MOD_MNK_m8n32k16, MOD_MNK_m32n8k16}},
    {true, TYPE_s8, {MOD_MNK_m16n16k16, MOD_MNK_m8n32k16, MOD_MNK_m32n8k16}},
    {true, TYPE_tf32, {MOD_MNK_m16n16k8}},
    {true, TYPE_f64, {MOD_MNK_m8n8k4}},
    {false, TYPE_f16, {MOD_MNK_m8n8k4, MOD_MNK_m16n8k8, MOD_MNK_m16n8k16}},
    {false, TYPE_bf16, {MOD_MNK_m16n8k8, MOD_MNK_m16n8k16}},
    {false, TYPE_tf32, {MOD_MNK_m16n8k4, MOD_MNK_m16n8k8}},
    {false, TYPE_f64, {MOD_MNK_m8n8k4, MOD_MNK_m16n8k4, MOD_MNK_m16n8k8, MOD_MNK_m16n8k16}},
    {false, TYPE_u8, {MOD_MNK_m8n8k16, MOD_MNK_m16n8k16, MOD_MNK_m16n8k32}},
    {false, TYPE_s8, {MOD_MNK_m8n8k16, MOD_MNK_m16n8k16, MOD_MNK_m16n8k32}},
    {false, TYPE_e4m3, {MOD_MNK_m16n8k16, MOD_MNK_m16n8k32}},
    {false, TYPE_e5m2, {MOD_MNK_m16n8k16, MOD_MNK_m16n8k32}},
};

struct isa_mnk isa_mnk(enum isa_mod shape)
{
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        if (sizes[i].shape == shape)
            return sizes[i].mnk;
    return (struct isa_mnk){0};
}

struct isa_mnk isa_wgmma_mnk(enum isa_mod shape)
{
    static const uint16_t depths[] = {8, 16, 32, 64, 256};
    uint32_t number = (uint32_t)shape - MOD_WG_m64n8k8;
    return (struct isa_mnk){64, (uint16_t)(number / 5 * 8 + 8), depths[number % 5]};
}

bool isa_is_wgmma(struct isa_mnk mnk, enum isa_type d, enum isa_type a, enum isa_type b,
                  bool sparse)
{
    bool whole = a == TYPE_u8 || a == TYPE_s8 || a == TYPE_NONE;
    bool bytes = a == TYPE_e4m3 || a == TYPE_e5m2;
    /* 32 bytes of b are a step, whose elements are as many as fit. */
    uint32_t depth = a == TYPE_NONE ? 256 : 32u / isa_type_info(a)->bytes * (sparse ? 2 : 1);
    if (whole && mnk.n > 32 && mnk.n % 16)
        return false;
    if (mnk.k != depth || (d == TYPE_s32) != whole)
        return false;
    if (a == TYPE_NONE)
        return b == TYPE_NONE && !sparse;
    if (whole)
        return b == TYPE_u8 || b == TYPE_s8;
    if (bytes)
        return b == TYPE_e4m3 || b == TYPE_e5m2;
    return a == b && (a == TYPE_f16 || (d == TYPE_f32 && (a == TYPE_bf16 || a == TYPE_tf32)));
}

static bool is_product(bool is_wmma, enum isa_mod shape, enum isa_type a)
{
    for (size_t i = 0; i < sizeof products / sizeof products[0]; i++)
        for (int s = 0; s < 4 && products[i].is_wmma == is_wmma && products[i].a == a; s++)
            if (products[i].shapes[s] == shape && shape != MOD_NONE)
                return true;
    return false;
}

/* What a and c may be together. */
static bool accumulates(enum isa_type c, enum isa_type a)
{
    switch (a) {
    case TYPE_u8:
    case TYPE_s8:
        return c == TYPE_s32;
    case TYPE_f64:
        return c == TYPE_f64;
    case TYPE_f16:
    case TYPE_e4m3:
    case TYPE_e5m2:
        return c == TYPE_f16 || c == TYPE_f32;
    default:
        return c == TYPE_f32;
    }
}

/* Elements narrower than 32 bits are packed into .b32 (of f16: .f16x2) registers. */
static enum isa_type register_type(enum isa_type element)
{
    switch (element) {
    case TYPE_f16:
        return TYPE_f16x2;
    case TYPE_f32:
    case TYPE_f64:
    case TYPE_s32:
        return element;
    case TYPE_u8:
        return TYPE_u32;
    case TYPE_s8:
        return TYPE_s32;
    default:
        return TYPE_b32;
    }
}

uint32_t isa_fragment(enum isa_type *reg, bool is_wmma, enum isa_mod shape, char matrix,
                      enum isa_type element, enum isa_type a_type)
{
    struct isa_mnk mnk = isa_mnk(shape);
    if (!is_product(is_wmma, shape, a_type) || (matrix == 'c' && !accumulates(element, a_type)))
        return 0;
    uint32_t elements = matrix == 'a'   ? (uint32_t)mnk.m * mnk.k
                        : matrix == 'b' ? (uint32_t)mnk.k * mnk.n
                                        : (uint32_t)mnk.m * mnk.n;
    *reg = register_type(element);
    if (is_wmma && element == TYPE_f16 && matrix != 'c')
        return 8;
    if (!is_wmma && shape == MOD_MNK_m8n8k4 && a_type == TYPE_f16)
        return matrix != 'c' ? 2 : element == TYPE_f16 ? 4 : 8;
    uint32_t bytes = isa_type_info(element)->bytes;
    return elements * bytes / (32u * isa_type_info(*reg)->bytes);
}
