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
    {MOD_MNK_m8n8k32, {8, 8, 32}},     {MOD_MNK_m16n8k64, {16, 8, 64}},
    {MOD_MNK_m16n8k128, {16, 8, 128}}, {MOD_MNK_m8n8k128, {8, 8, 128}},
    {MOD_MNK_m16n8k256, {16, 8, 256}},
};

static const struct {
    enum isa_product kind;
    enum isa_type a;
    enum isa_mod shapes[4]; /* MOD_NONE ends them */
} products[] = {
    {ISA_WMMA, TYPE_f16, {MOD_MNK_m16n16k16, MOD_MNK_m8n32k16, MOD_MNK_m32n8k16}},
    {ISA_WMMA, TYPE_bf16, {MOD_MNK_m16n16k16, MOD_MNK_m8n32k16, MOD_MNK_m32n8k16}},
    {ISA_WMMA, TYPE_u8, {MOD_MNK_m16n16k16, MOD_MNK_m8n32k16, MOD_MNK_m32n8k16}},
    {ISA_WMMA, TYPE_s8, {MOD_MNK_m16n16k16, MOD_MNK_m8n32k16, MOD_MNK_m32n8k16}},
    {ISA_WMMA, TYPE_tf32, {MOD_MNK_m16n16k8}},
    {ISA_WMMA, TYPE_f64, {MOD_MNK_m8n8k4}},
    {ISA_MMA, TYPE_f16, {MOD_MNK_m8n8k4, MOD_MNK_m16n8k8, MOD_MNK_m16n8k16}},
    {ISA_MMA, TYPE_bf16, {MOD_MNK_m16n8k8, MOD_MNK_m16n8k16}},
    {ISA_MMA, TYPE_tf32, {MOD_MNK_m16n8k4, MOD_MNK_m16n8k8}},
    {ISA_MMA, TYPE_f64, {MOD_MNK_m8n8k4, MOD_MNK_m16n8k4, MOD_MNK_m16n8k8, MOD_MNK_m16n8k16}},
    {ISA_MMA, TYPE_u8, {MOD_MNK_m8n8k16, MOD_MNK_m16n8k16, MOD_MNK_m16n8k32}},
    {ISA_MMA, TYPE_s8, {MOD_MNK_m8n8k16, MOD_MNK_m16n8k16, MOD_MNK_m16n8k32}},
    {ISA_MMA, TYPE_e4m3, {MOD_MNK_m16n8k16, MOD_MNK_m16n8k32}},
    {ISA_MMA, TYPE_e5m2, {MOD_MNK_m16n8k16, MOD_MNK_m16n8k32}},
    {ISA_MMA_SPARSE, TYPE_f16, {MOD_MNK_m16n8k16, MOD_MNK_m16n8k32}},
    {ISA_MMA_SPARSE, TYPE_bf16, {MOD_MNK_m16n8k16, MOD_MNK_m16n8k32}},
    {ISA_MMA_SPARSE, TYPE_tf32, {MOD_MNK_m16n8k8, MOD_MNK_m16n8k16}},
    {ISA_MMA_SPARSE, TYPE_u8, {MOD_MNK_m16n8k32, MOD_MNK_m16n8k64}},
    {ISA_MMA_SPARSE, TYPE_s8, {MOD_MNK_m16n8k32, MOD_MNK_m16n8k64}},
    {ISA_MMA_SPARSE, TYPE_e4m3, {MOD_MNK_m16n8k64}},
    {ISA_MMA_SPARSE, TYPE_e5m2, {MOD_MNK_m16n8k64}},
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

static bool is_product(enum isa_product kind, enum isa_mod shape, enum isa_type a)
{
    for (size_t i = 0; i < sizeof products / sizeof products[0]; i++)
        for (int s = 0; s < 4 && products[i].kind == kind && products[i].a == a; s++)
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

uint32_t isa_fragment(enum isa_type *reg, enum isa_product kind, enum isa_mod shape, char matrix,
                      enum isa_type element, enum isa_type a_type)
{
    struct isa_mnk mnk = isa_mnk(shape);
    bool small = a_type == TYPE_e4m3 || a_type == TYPE_e5m2;
    if (kind == ISA_MMA_SPARSE && small && matrix == 'c' && element != TYPE_f32)
        return 0; /* not of sm_90 */
    if (!is_product(kind, shape, a_type) || (matrix == 'c' && !accumulates(element, a_type)))
        return 0;
    uint32_t elements = matrix == 'a'   ? (uint32_t)mnk.m * mnk.k / (kind == ISA_MMA_SPARSE ? 2 : 1)
                        : matrix == 'b' ? (uint32_t)mnk.k * mnk.n
                                        : (uint32_t)mnk.m * mnk.n;
    *reg = register_type(element);
    if (kind == ISA_WMMA && element == TYPE_f16 && matrix != 'c')
        return 8;
    if (kind == ISA_MMA && shape == MOD_MNK_m8n8k4 && a_type == TYPE_f16)
        return matrix != 'c' ? 2 : element == TYPE_f16 ? 4 : 8;
    uint32_t bytes = isa_type_info(element)->bytes;
    return elements * bytes / (32u * isa_type_info(*reg)->bytes);
}

uint32_t isa_packed_fragment(enum isa_type *reg, enum isa_product kind, enum isa_mod shape,
                             char matrix, uint32_t bits)
{
    static const struct {
        enum isa_product kind;
        uint32_t bits;
        enum isa_mod shapes[3];
    } packed[] = {
        {ISA_MMA, 4, {MOD_MNK_m8n8k32, MOD_MNK_m16n8k32, MOD_MNK_m16n8k64}},
        {ISA_MMA, 1, {MOD_MNK_m8n8k128, MOD_MNK_m16n8k128, MOD_MNK_m16n8k256}},
        {ISA_WMMA, 4, {MOD_MNK_m8n8k32}},
        {ISA_WMMA, 1, {MOD_MNK_m8n8k128}},
        {ISA_MMA_SPARSE, 4, {MOD_MNK_m16n8k64, MOD_MNK_m16n8k128}},
    };
    struct isa_mnk mnk = isa_mnk(shape);
    bool found = false;
    for (size_t i = 0; i < sizeof packed / sizeof packed[0]; i++)
        for (int s = 0; s < 3 && packed[i].kind == kind && packed[i].bits == bits; s++)
            found = found || (packed[i].shapes[s] == shape && shape != MOD_NONE);
    if (!found)
        return 0;
    *reg = matrix == 'c' ? TYPE_s32 : TYPE_b32;
    if (matrix == 'c')
        return mnk.m * mnk.n / 32u;
    uint32_t there = kind == ISA_MMA_SPARSE && matrix == 'a' ? 2 : 1;
    return (matrix == 'a' ? mnk.m : mnk.n) * mnk.k * bits / (32u * 32u * there);
}
