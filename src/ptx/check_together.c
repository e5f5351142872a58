/* What check.c asks besides an operand's own shape: how many registers a fragment has, what
 * operands must be together. */
#include "ptx/parser.h"

#include <stdio.h>
#include <string.h>

#include "isa/fragment.h"

int check_mismatch(struct parser *p, const struct raw_operand *raw, enum isa_type have,
                   enum isa_type want)
{
    return parser_error(p, raw->loc, "got an operand of type .%s, expected .%s",
                        isa_type_info(have)->text, isa_type_info(want)->text);
}

/* The first register's type that is a number's, or TYPE_NONE. */
enum isa_type check_number_of(const struct parser *p, const struct raw_operand *raw)
{
    for (uint32_t i = 0; i < raw->count && raw->kind == RAW_VECTOR; i++) {
        const struct raw_operand *element = &p->raws->data[raw->first + i];
        if (element->kind == RAW_REG && isa_type_info(element->type)->kind != KIND_BITS)
            return element->type;
    }
    return TYPE_NONE;
}

/* Wider registers than the type's are possible, but then all of one size. */
static int check_sizes(struct parser *p, const struct raw_operand *raw)
{
    uint32_t bytes = 0;
    for (uint32_t i = 0; i < raw->count; i++) {
        const struct raw_operand *element = &p->raws->data[raw->first + i];
        uint32_t now = isa_type_info(element->type)->bytes;
        if (element->kind != RAW_REG || now == bytes)
            continue;
        if (bytes != 0)
            return parser_error(p, element->loc, "a vector of registers of %u and %u bytes", bytes,
                                now);
        bytes = now;
    }
    return 0;
}

/* What an element says that it is: a number of a kind, or TYPE_NONE. */
static enum isa_type kind_type(const struct raw_operand *element, enum isa_type before)
{
    if (element->kind == RAW_CONST)
        return element->constant.is_float ? TYPE_f32 : TYPE_s32;
    if (element->kind != RAW_REG)
        return before;
    return isa_type_info(element->type)->kind == KIND_BITS ? TYPE_NONE : element->type;
}

/* Floats, integers and .f16x2 do not share a vector, but for what lies on both sides of bits: ptxas
 * holds each register or constant against what is in front of it. */
static int check_kinds(struct parser *p, const struct raw_operand *raw)
{
    enum isa_type before = TYPE_NONE;
    for (uint32_t i = 0; i < raw->count; i++) {
        const struct raw_operand *element = &p->raws->data[raw->first + i];
        enum isa_type now = kind_type(element, before);
        bool both = now != TYPE_NONE && before != TYPE_NONE;
        if (both && ((now == TYPE_f16x2) != (before == TYPE_f16x2) ||
                     (isa_type_info(now)->kind == KIND_FLOAT) !=
                         (isa_type_info(before)->kind == KIND_FLOAT)))
            return parser_error(p, element->loc, "a vector of .%s and .%s %s",
                                isa_type_info(before)->text, isa_type_info(now)->text,
                                element->kind == RAW_CONST ? "values" : "registers");
        before = now;
    }
    return 0;
}

int check_elements(struct parser *p, const struct raw_operand *raw)
{
    int code = check_sizes(p, raw);
    return code < 0 ? code : check_kinds(p, raw);
}

static enum isa_type bits_of(uint32_t bytes)
{
    return bytes == 1 ? TYPE_b8 : bytes == 2 ? TYPE_b16 : bytes == 4 ? TYPE_b32 : TYPE_b64;
}

enum isa_type check_element_type(const struct parser *p, const struct raw_operand *raw,
                                 const struct raw_operand *element, enum isa_type type,
                                 bool integers)
{
    const struct isa_type_info *have = isa_type_info(element->type), *want = isa_type_info(type);
    if (element->kind != RAW_REG || have->kind == KIND_PRED || have->bytes > 8)
        return element->type;
    for (uint32_t i = 0; i < raw->count; i++) {
        const struct raw_operand *other = &p->raws->data[raw->first + i];
        if (other->kind == RAW_REG && isa_type_info(other->type)->kind == KIND_BITS)
            return bits_of(have->bytes);
    }
    bool is_integer = have->kind == KIND_SIGNED || have->kind == KIND_UNSIGNED;
    bool is_float = want->kind == KIND_FLOAT && type != TYPE_f16x2 && type != TYPE_bf16x2;
    return integers && is_integer && is_float && have->bytes == want->bytes ? bits_of(have->bytes)
                                                                            : element->type;
}

/* ptxas takes coordinates in registers of two halves beside one in bits only. */
int check_coordinates(struct parser *p, const struct raw_operand *raw)
{
    const struct raw_operand *halves = NULL;
    for (uint32_t i = 0; i < raw->count; i++) {
        const struct raw_operand *element = &p->raws->data[raw->first + i];
        if (element->kind == RAW_REG && element->type == TYPE_b32)
            return 0;
        if (element->kind == RAW_REG && element->type == TYPE_f16x2)
            halves = element;
    }
    return halves ? parser_error(p, halves->loc, "got an operand of type .f16x2, expected .s32")
                  : 0;
}

/*
 * ptxas has counts, masks and lengths in registers of numbers or bits; among what a type of the
 * instruction stands for, also the results of those named here.
 */
bool check_takes_halves(const struct opcode *o, const char *kind, size_t length)
{
    static const char *const counting[] = {"popc", "clz", "bfind", "dp2a", "dp4a"};
    const struct isa_row *row = isa_row(o->op);
    bool fixed = isa_type_find(kind, length) != TYPE_NONE;
    if (row->shape == SHAPE_DP2A && length == 1)
        return true;
    for (size_t i = 0; i < sizeof counting / sizeof *counting && length == 1 && *kind == 'D'; i++)
        fixed = fixed || strncmp(row->name, counting[i], strlen(counting[i])) == 0;
    bool lane = (strncmp(row->name, "shfl", strlen("shfl")) == 0 && strncmp(kind, "u32", 3) == 0) ||
                strcmp(row->name, "prmt") == 0;
    switch (row->shape) {
    case SHAPE_VIDEO:
    case SHAPE_VIDEO_TWO:
    case SHAPE_VMAD:
    case SHAPE_CVT_PACK:
    case SHAPE_CVT_PACK_C:
    case SHAPE_PRODUCT_SPARSE:
    case SHAPE_WGMMA_SPARSE:
    case SHAPE_FNS:
    case SHAPE_BAR_RED_POPC:
    case SHAPE_BAR_RED_POPC_COUNT:
        return true;
    default:
        return !fixed || lane;
    }
}

/* A 32-bit address reaches .shared, .local, .param and .const; global memory of a 64-bit module is
 * larger. */
bool check_narrow_address_fits(const struct parser *p, enum isa_space space)
{
    return p->module->address_size == 32 || (space != SPACE_GLOBAL && space != SPACE_NONE);
}

/* Before .address_size came with PTX 2.3 a module's addresses were as wide as its registers said.
 */
static bool wide_address_fits(const struct ptx_module *m)
{
    return m->address_size == 64 || m->version_major * 10 + m->version_minor < 23;
}

/* wmma, and what came after 32-bit programs had gone, take 32-bit addresses of global memory. */
static bool takes_narrow_addresses(const struct ptx_insn *insn)
{
    const char *name = isa_row(insn->op)->name;
    return strncmp(name, "cp.", 3) == 0 || strncmp(name, "wmma.", 5) == 0 ||
           strncmp(name, "tensormap.", 10) == 0 || insn->op == OP_PREFETCH_MAP ||
           strncmp(name, "st.async", 8) == 0 || strncmp(name, "red.async", 9) == 0 ||
           insn->op == OP_FENCE_MAP_ACQUIRE || insn->op == OP_LDMATRIX || insn->op == OP_STMATRIX;
}

/* Not so the places of fragments and tensor maps, and where st.async writes: its barrier's may be.
 */
static bool takes_any_width(const struct ptx_insn *insn, enum isa_space space)
{
    static const char *const without[] = {"tensormap.replace.", "wmma.", "createpolicy.",
                                          "st.async", "red.async"};
    size_t count = sizeof without / sizeof *without - (space == SPACE_SHARED ? 2 : 0);
    for (size_t i = 0; i < count; i++)
        if (strncmp(isa_row(insn->op)->name, without[i], strlen(without[i])) == 0)
            return false;
    return insn->op != OP_PREFETCH_MAP;
}

int check_base(struct ptx_operand *out, struct parser *p, const struct raw_operand *raw,
               const struct ptx_insn *insn, enum isa_space space)
{
    const struct isa_type_info *info = isa_type_info(raw->type);
    bool number =
        info->kind == KIND_BITS || info->kind == KIND_UNSIGNED || info->kind == KIND_SIGNED;
    bool fits = check_narrow_address_fits(p, space) || takes_narrow_addresses(insn);
    bool barrier = isa_row(insn->op)->shape == SHAPE_BULK_IN && out == &insn->operands[3] &&
                   strncmp(isa_row(insn->op)->name, "cp.async", strlen("cp.async")) == 0;
    if (number && info->bytes == 4 && !fits)
        return parser_error(p, raw->loc, "got a 32-bit address, expected one of 64 bits");
    if (number && info->bytes < 4 && takes_any_width(insn, space) && !barrier)
        return builder_widen(out, p, fits ? 4 : 8);
    if (number && (info->bytes == 4 || (info->bytes == 8 && wide_address_fits(p->module))))
        return 0;
    return parser_error(p, raw->loc, "got a base register of type .%s, expected %s", info->text,
                        number ? "a 32- or 64-bit integer" : "an integer");
}

/* What c and d of wmma.load and wmma.store belong to: the product that has such sums. */
static enum isa_type factor_type(enum isa_type sum, enum isa_mod shape)
{
    if (sum == TYPE_s32 || sum == TYPE_f64)
        return sum == TYPE_s32 ? TYPE_s8 : TYPE_f64;
    return shape == MOD_MNK_m16n16k8 ? TYPE_tf32 : TYPE_f16;
}

static enum isa_product product_kind(enum isa_op op)
{
    if (isa_row(op)->shape == SHAPE_PRODUCT_SPARSE)
        return ISA_MMA_SPARSE;
    return op == OP_MMA || op == OP_MMA_4 || op == OP_MMA_1 ? ISA_MMA : ISA_WMMA;
}

static bool is_small_float(enum isa_type type)
{
    return type == TYPE_e4m3 || type == TYPE_e5m2;
}

/* Factors are of one type; mma also has integers of 8 bits of both signs, and both floats of 8. */
static bool go_together(enum isa_type a, enum isa_type b, bool mixes)
{
    bool bytes = isa_type_info(a)->bytes == 1 && isa_type_info(b)->bytes == 1;
    return a == b || (mixes && bytes && is_small_float(a) == is_small_float(b));
}

uint32_t check_fragment_registers(enum isa_type *reg, const struct opcode *o, char which)
{
    enum isa_mod shape = (enum isa_mod)o->mods[MODC_MNK];
    enum isa_type s = o->tuple.s;
    enum isa_shape operands = isa_row(o->op)->shape;
    enum isa_product kind = product_kind(o->op);
    bool packed = o->mods[MODC_X4] != MOD_NONE || o->mods[MODC_B1A] != MOD_NONE;
    bool sums = which == 'C' || which == 'D';
    if (shape == MOD_MNK_m8n8k32 || shape == MOD_MNK_m8n8k128)
        packed = packed || (sums && s == TYPE_s32);
    if (packed) {
        if (o->op == OP_WMMA_4 &&
            (o->mods[MODC_X4] == MOD_X4_s4) != (o->mods[MODC_Y4] == MOD_Y4_s4))
            return 0;
        bool bits = o->mods[MODC_B1A] != MOD_NONE || (sums && shape == MOD_MNK_m8n8k128);
        return isa_packed_fragment(reg, kind, shape,
                                   sums           ? 'c'
                                   : which == 'A' ? 'a'
                                                  : 'b',
                                   bits ? 1 : 4);
    }
    if (operands != SHAPE_PRODUCT && operands != SHAPE_PRODUCT_SPARSE)
        return which == 'A'   ? isa_fragment(reg, ISA_WMMA, shape, 'a', s, s)
               : which == 'B' ? isa_fragment(reg, ISA_WMMA, shape, 'b', s, s)
                              : isa_fragment(reg, ISA_WMMA, shape, 'c', s, factor_type(s, shape));
    bool halves = o->op == OP_WMMA_MMA_F16; /* the types of a and b are not written */
    enum isa_type a = halves ? TYPE_f16 : o->types[1], b = halves ? TYPE_f16 : o->types[2];
    if (!go_together(a, b, kind != ISA_WMMA))
        return 0;
    uint32_t count = which == 'A'   ? isa_fragment(reg, kind, shape, 'a', a, a)
                     : which == 'B' ? isa_fragment(reg, kind, shape, 'b', b, b)
                     : which == 'C' ? isa_fragment(reg, kind, shape, 'c', s, a)
                                    : isa_fragment(reg, kind, shape, 'c', o->tuple.d, a);
    if (!sums && kind != ISA_WMMA && isa_type_info(a)->kind != KIND_FLOAT)
        *reg = TYPE_b32;
    return count;
}

/* bf16 and tf32 lie in .b32 alone; what integers lie in is no float's, but for factors of mma. */
int check_fragment_types(struct parser *p, const struct raw_operand *raw, const struct opcode *o,
                         char which)
{
    bool sums = which == 'C' || which == 'D';
    bool mma = strncmp(isa_row(o->op)->name, "mma", strlen("mma")) == 0;
    bool packed = o->mods[MODC_X4] != MOD_NONE || o->mods[MODC_B1A] != MOD_NONE;
    bool product =
        isa_row(o->op)->shape == SHAPE_PRODUCT || isa_row(o->op)->shape == SHAPE_PRODUCT_SPARSE;
    enum isa_type type = sums || !product || o->op == OP_WMMA_MMA_F16 ? o->tuple.s : o->types[1];
    bool bits = !packed && !sums && (type == TYPE_bf16 || type == TYPE_tf32);
    bool integers = (packed && product) || isa_type_info(type)->kind == KIND_SIGNED ||
                    isa_type_info(type)->kind == KIND_UNSIGNED;
    for (uint32_t i = 0; i < raw->count; i++) /* one of bits makes bits of all */
        if (p->raws->data[raw->first + i].type == TYPE_b32)
            return 0;
    for (uint32_t i = 0; i < raw->count; i++) {
        const struct raw_operand *element = &p->raws->data[raw->first + i];
        if (element->kind != RAW_REG)
            continue;
        bool is_float = isa_type_info(element->type)->kind == KIND_FLOAT;
        if (bits)
            return check_mismatch(p, element, element->type, TYPE_b32);
        if (integers && is_float && (sums || !mma))
            return check_mismatch(p, element, element->type, sums ? TYPE_s32 : TYPE_b32);
    }
    return 0;
}

/* cp.async moves 4, 8 or 16 bytes, past L1 only 16; an arrival elsewhere has no state to give. */
static int check_copy_and_arrival(const struct ptx_insn *insn, struct parser *p,
                                  const struct raw_operand *raws)
{
    enum isa_shape copied = isa_row(insn->op)->shape;
    bool copies =
        copied == SHAPE_COPY || copied == SHAPE_COPY_HINT || copied == SHAPE_COPY_SIZE_HINT;
    uint64_t bytes = copies ? insn->operands[2].imm : 0;
    bool past_l1 = insn->mods[MODC_COP] == MOD_COP_cg;
    if (copies && bytes != 16 && (past_l1 || (bytes != 4 && bytes != 8)))
        return parser_error(p, raws[2].loc, "a copy of %llu bytes, expected %s",
                            (unsigned long long)bytes, past_l1 ? "16" : "4, 8 or 16");
    enum isa_shape shape = isa_row(insn->op)->shape;
    bool arrives = shape == SHAPE_MBARRIER_ARRIVE || shape == SHAPE_MBARRIER_ARRIVE_COUNT;
    if (arrives && insn->space[0] == SPACE_SHARED_CLUSTER && insn->operands[0].kind != OPERAND_SINK)
        return parser_error(p, raws[0].loc, "expected '_': .shared::cluster gives no state");
    return 0;
}

/* Bulk copies move 16 bytes at a time, up to 2^20 - 16. */
static int check_bulk_bytes(const struct ptx_insn *insn, struct parser *p,
                            const struct raw_operand *raws)
{
    enum isa_shape shape = isa_row(insn->op)->shape;
    if (shape != SHAPE_BULK_IN && shape != SHAPE_BULK_OUT && shape != SHAPE_BULK_PREFETCH)
        return 0;
    int at = shape == SHAPE_BULK_PREFETCH ? 1 : 2;
    const struct ptx_operand *bytes = &insn->operands[at];
    if (bytes->kind == OPERAND_REG && bytes->type == TYPE_f16x2)
        return check_mismatch(p, &raws[at], bytes->type, TYPE_u32);
    if (bytes->kind == OPERAND_IMM && (bytes->imm % 16 != 0 || bytes->imm >= 1 << 20))
        return parser_error(p, raws[at].loc,
                            "a copy of %llu bytes, expected a multiple of 16 below 2^20",
                            (unsigned long long)bytes->imm);
    return 0;
}

/* Instructions that the vendor's assembler gives integer registers only, where others take any of
 * the size; of those on halves and bytes also no constants. */
static int check_integers(const struct ptx_insn *insn, struct parser *p,
                          const struct raw_operand *raws)
{
    const struct isa_row *row = isa_row(insn->op);
    bool video = row->shape == SHAPE_VIDEO || row->shape == SHAPE_VIDEO_TWO ||
                 insn->op == OP_VABSDIFF4_U || insn->op == OP_VABSDIFF4_SUM;
    bool integers = video || row->shape == SHAPE_MASK || row->shape == SHAPE_REDUX;
    bool compares = strncmp(row->name, "vset", strlen("vset")) == 0; /* it gives 0 or 1 */
    char lanes = row->name[strcspn(row->name, ".") - 1];
    bool parity =
        row->shape == SHAPE_MBARRIER_TEST_PARITY || row->shape == SHAPE_MBARRIER_TRY_PARITY;
    for (uint32_t i = 0; i < insn->operand_count; i++) {
        const struct ptx_operand *o = &insn->operands[i];
        if (integers && o->kind == OPERAND_REG && isa_type_info(o->type)->kind == KIND_FLOAT &&
            !(video && o->type == TYPE_f16x2 && !(compares && (i == 0 || i == 3))))
            return parser_error(p, raws[i].loc, "got a register of type .%s, expected an integer",
                                isa_type_info(o->type)->text);
        if (video && (lanes == '2' || lanes == '4') && o->kind == OPERAND_IMM)
            return parser_error(p, raws[i].loc, "got a constant, expected a register");
        if (parity && i == 2 && o->kind == OPERAND_IMM && o->imm > 1)
            return parser_error(p, raws[i].loc, "parity %llu, expected 0 or 1",
                                (unsigned long long)o->imm);
    }
    return 0;
}

/*
 * The highest selector of mma.sp: of four lanes, those of the lane, or of the pair, with it give
 * the metadata; where all four do, 0 is the only one. ptxas takes 3 for all 16-bit factors.
 */
static uint32_t most_selector(const struct ptx_insn *insn)
{
    uint32_t k = isa_mnk((enum isa_mod)insn->mods[MODC_MNK]).k;
    if (insn->mods[MODC_X4] != MOD_NONE)
        return k == 64 ? 1 : 0;
    switch (insn->types[1]) {
    case TYPE_f16:
    case TYPE_bf16:
        return 3;
    case TYPE_tf32:
        return k == 8 ? 3 : 1;
    default:
        return k == 32 ? 1 : 0;
    }
}

/* A constant that an instruction has in a range only, `least` to `most` by `step`. */
struct range {
    int operand; /* -1: none */
    int64_t least, most, step;
};

/* Fields of a tensor map: what they may be, where that is a constant, or their dimension. */
static struct range field_range(const struct ptx_insn *insn)
{
    switch (insn->mods[MODC_MAPFIELD]) {
    case MOD_MAPFIELD_elemtype:
        return (struct range){1, 0, 12, 1};
    case MOD_MAPFIELD_interleave_layout:
        return (struct range){1, 0, 2, 1};
    case MOD_MAPFIELD_swizzle_mode:
        return (struct range){1, 0, 3, 1};
    case MOD_MAPFIELD_fill_mode:
        return (struct range){1, 0, 1, 1};
    case MOD_MAPFIELD_box_dim:
    case MOD_MAPFIELD_global_dim:
    case MOD_MAPFIELD_global_stride:
    case MOD_MAPFIELD_element_stride:
        return (struct range){1, 0, 4, 1};
    default:
        return (struct range){.operand = -1};
    }
}

static struct range constant_range(const struct ptx_insn *insn)
{
    switch (insn->op) {
    case OP_PMEVENT:
        return (struct range){0, 0, 15, 1};
    case OP_PMEVENT_MASK:
        return (struct range){0, 0, 0xffff, 1};
    case OP_SETMAXNREG_INC:
    case OP_SETMAXNREG_DEC:
        return (struct range){0, 24, 256, 8};
    case OP_DISCARD:
    case OP_APPLYPRIORITY:
    case OP_FENCE_MAP_ACQUIRE:
        return (struct range){1, 128, 128, 1};
    case OP_MAP_COPY:
        return (struct range){2, 128, 128, 1};
    default:
        return field_range(insn);
    }
}

static int check_range(const struct ptx_insn *insn, struct parser *p,
                       const struct raw_operand *raws, struct range range)
{
    const struct ptx_operand *o = &insn->operands[range.operand];
    int64_t value = isa_type_info(o->type)->bytes == 4 ? (int32_t)o->imm : (int64_t)o->imm;
    const char *name = isa_row(insn->op)->name;
    if (o->kind != OPERAND_IMM)
        return parser_error(p, raws[range.operand].loc, "expected a constant");
    if (range.least == range.most && value != range.least)
        return parser_error(p, raws[range.operand].loc, "'%s' has %lld here, expected %lld", name,
                            (long long)value, (long long)range.least);
    if (value >= range.least && value <= range.most && value % range.step == 0)
        return 0;
    char multiple[48] = "";
    if (range.step > 1)
        snprintf(multiple, sizeof multiple, ", a multiple of %lld", (long long)range.step);
    return parser_error(p, raws[range.operand].loc, "'%s' has %lld here, expected %lld to %lld%s",
                        name, (long long)value, (long long)range.least, (long long)range.most,
                        multiple);
}

/* What follows a product's predicate: signs of a and b, then which of them are transposed, a where
 * it lies in memory. Before it, where a is sparse, the selector. */
static int check_switches(const struct ptx_insn *insn, struct parser *p,
                          const struct raw_operand *raws)
{
    bool sparse = isa_row(insn->op)->shape == SHAPE_WGMMA_SPARSE;
    int first = sparse ? 6 : 4, signs = first + 2;
    bool halves = insn->types[1] == TYPE_f16 || insn->types[1] == TYPE_bf16;
    bool narrow = isa_type_info(insn->types[1])->bytes == 1;
    if (!sparse && isa_row(insn->op)->shape != SHAPE_WGMMA)
        return 0;
    int code = sparse ? check_range(insn, p, raws, (struct range){4, 0, narrow ? 0 : 1, 1}) : 0;
    int count = insn->operand_count, wanted = signs + (raws[1].kind == RAW_VECTOR ? 1 : 2);
    if (code == 0 && halves && count != wanted)
        return parser_error(p, raws[1].loc, "got %d constants, expected %d where a lies in %s",
                            count - first, wanted - first,
                            raws[1].kind == RAW_VECTOR ? "registers" : "memory");
    for (int i = first; i < count && code == 0; i++)
        if (i < signs && (int32_t)insn->operands[i].imm != 1 &&
            (int32_t)insn->operands[i].imm != -1)
            code = parser_error(p, raws[i].loc, "sign %d, expected 1 or -1",
                                (int)(int32_t)insn->operands[i].imm);
        else if (i >= signs)
            code = check_range(insn, p, raws, (struct range){i, 0, 1, 1});
    return code;
}

/* What tells which elements of a sparse matrix are there is not the same in all lanes. */
static int check_constants(const struct ptx_insn *insn, struct parser *p,
                           const struct raw_operand *raws)
{
    enum isa_shape shape = isa_row(insn->op)->shape;
    int metadata = shape == SHAPE_PRODUCT_SPARSE ? 4 : shape == SHAPE_WGMMA_SPARSE ? 3 : -1;
    if (metadata >= 0 && insn->operands[metadata].kind == OPERAND_IMM)
        return parser_error(p, raws[metadata].loc, "got a constant, expected a register");
    if (shape == SHAPE_PRODUCT_SPARSE && insn->operands[5].imm > most_selector(insn))
        return parser_error(p, raws[5].loc, "selector %llu, expected 0 to %u",
                            (unsigned long long)insn->operands[5].imm, most_selector(insn));
    if (insn->op == OP_POLICY_FRACTION && insn->operand_count > 1 && raws[1].kind == RAW_CONST) {
        float fraction;
        uint32_t bits = (uint32_t)insn->operands[1].imm;
        memcpy(&fraction, &bits, sizeof fraction);
        if (!(fraction > 0 && fraction <= 1))
            return parser_error(p, raws[1].loc, "a fraction of %g, expected one above 0 up to 1",
                                (double)fraction);
    }
    struct range range = constant_range(insn);
    int code = range.operand >= 0 ? check_range(insn, p, raws, range) : 0;
    return code < 0 ? code : check_switches(insn, p, raws);
}

/* Copies go to several CTAs in .shared::cluster only. Vectors of halves and pairs for atomics lie
 * in bits, in .f16 and .f16x2, those of .f16 also in integers. */
static int check_vectors(const struct ptx_insn *insn, struct parser *p,
                         const struct raw_operand *raws)
{
    enum isa_shape shape = isa_row(insn->op)->shape;
    if (insn->mods[MODC_MULTICAST] != MOD_NONE && insn->space[0] != SPACE_SHARED_CLUSTER)
        return parser_error(p, raws[0].loc,
                            "'.multicast::cluster' needs a place in .shared::cluster");
    if (shape != SHAPE_VECTOR_ATOM && shape != SHAPE_VECTOR_RED)
        return 0;
    for (uint32_t i = 0; i < insn->operand_count; i++) {
        enum isa_type type = insn->types[0], number = check_number_of(p, &raws[i]);
        bool bits = false;
        for (uint32_t k = 0; k < raws[i].count && raws[i].kind == RAW_VECTOR; k++)
            bits |= p->raws->data[raws[i].first + k].kind == RAW_REG &&
                    isa_type_info(p->raws->data[raws[i].first + k].type)->kind == KIND_BITS;
        if (bits || number == TYPE_NONE || number == type || type == TYPE_f32 || type == TYPE_f16)
            continue;
        return check_mismatch(p, &raws[i], number, type);
    }
    return 0;
}

/* Digits of a mask: ascending from the last, each once, below `count`. */
static bool is_mask(uint16_t selector, uint32_t count)
{
    uint32_t last = 0;
    for (uint32_t i = 0; i < ptx_selector_count(selector); i++) {
        uint32_t digit = ptx_selector_digit(selector, i);
        if (digit >= count || (i > 0 && digit <= last))
            return false;
        last = digit;
    }
    return true;
}

/* One byte or half of a word; of words of `elements` parts, as many as they have, of a and b. */
static bool is_part(uint16_t selector, uint32_t elements, bool result)
{
    uint32_t count = ptx_selector_count(selector);
    bool halves = ptx_selector_is_halves(selector);
    if (selector == 0)
        return true;
    if (elements == 1)
        return count == 1 && ptx_selector_digit(selector, 0) < (halves ? 2 : 4);
    if (halves != (elements == 2))
        return false;
    if (result)
        return is_mask(selector, elements);
    for (uint32_t i = 0; i < count; i++)
        if (ptx_selector_digit(selector, i) >= 2 * elements)
            return false;
    return count == elements;
}

/*
 * vmad negates its product, by one of its factors (two cancel, with .po too: ptxas 13 makes the
 * same code as of none), or its addend; the others nothing.
 */
static int check_minuses(const struct ptx_insn *insn, struct parser *p,
                         const struct raw_operand *raws)
{
    const char *name = isa_row(insn->op)->name;
    if (isa_row(insn->op)->shape != SHAPE_VMAD) {
        for (int i = 0; i < insn->operand_count; i++)
            if (raws[i].minus)
                return parser_error(p, raws[i].loc, "'%s' negates nothing", name);
        return 0;
    }
    bool product = raws[1].minus != raws[2].minus, addend = raws[3].minus;
    const struct raw_operand *last = addend ? &raws[3] : raws[2].minus ? &raws[2] : &raws[1];
    if (product && addend)
        return parser_error(p, last->loc, "'%s' negates its product or its addend, not both", name);
    if ((product || addend) && insn->mods[MODC_PO] != MOD_NONE)
        return parser_error(p, last->loc, "'%s.po' negates nothing", name);
    return 0;
}

/* Selectors: 9.7.17. */
static int check_video(const struct ptx_insn *insn, struct parser *p,
                       const struct raw_operand *raws)
{
    enum isa_shape shape = isa_row(insn->op)->shape;
    const char *name = isa_row(insn->op)->name;
    uint32_t elements = strchr(name, '2') ? 2 : strchr(name, '4') ? 4 : 1;
    if (shape != SHAPE_VIDEO && shape != SHAPE_VIDEO_TWO && shape != SHAPE_VMAD)
        return 0;
    for (int i = 0; i < insn->operand_count; i++) {
        bool none =
            i == 3 || (i == 0 && (shape == SHAPE_VMAD || (shape == SHAPE_VIDEO && elements == 1)));
        if (raws[i].selector && (none || !is_part(raws[i].selector, elements, i == 0)))
            return parser_error(p, raws[i].loc, "this selector is none of '%s'", name);
        if (raws[i].kind == RAW_CONST && raws[i].constant.is_float)
            return parser_error(p, raws[i].loc,
                                "got a floating-point constant, expected an integer");
        if (raws[i].minus && insn->operands[i].type == TYPE_f16x2)
            return check_mismatch(p, &raws[i], TYPE_f16x2, TYPE_b32);
    }
    int code = check_minuses(insn, p, raws);
    if (code < 0)
        return code;
    bool merges = shape == SHAPE_VIDEO_TWO && insn->operand_count == 4;
    if (shape == SHAPE_VIDEO_TWO && merges != (raws[0].selector != 0))
        return parser_error(p, raws[0].loc,
                            merges ? "a third operand, where the whole result is written"
                                   : "a part of the result needs a third operand");
    return 0;
}

/* {a, b} are packed into one or unpacked from it; as they are, they go by .v2 and .v4 only. */
static int check_packing(const struct ptx_insn *insn, struct parser *p,
                         const struct raw_operand *raws)
{
    bool moves = isa_row(insn->op)->shape == SHAPE_MOV && insn->vec <= 1;
    if (moves && raws[0].kind == RAW_VECTOR && raws[1].kind == RAW_VECTOR)
        return parser_error(p, raws[1].loc, "got two vectors, expected one or .v2 or .v4");
    return 0;
}

int check_together(const struct ptx_insn *insn, struct parser *p, const struct raw_operand *raws)
{
    int code = check_integers(insn, p, raws);
    if (code == 0)
        code = check_bulk_bytes(insn, p, raws);
    if (code == 0)
        code = check_constants(insn, p, raws);
    if (code == 0)
        code = check_vectors(insn, p, raws);
    if (code == 0)
        code = check_video(insn, p, raws);
    if (code == 0)
        code = check_packing(insn, p, raws);
    return code < 0 ? code : check_copy_and_arrival(insn, p, raws);
}
