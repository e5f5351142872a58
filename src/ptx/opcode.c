/*
 * Opcodes: from "ld.global.nc.v4.f32" to a row of insn.def, its modifiers and types. Each distinct
 * opcode text is matched once and remembered. A row's pattern is tried in the manual's order first;
 * as the vendor's assembler does, an opcode whose parts fit in another order is accepted too, and
 * one that says a modifier twice.
 */
#include "ptx/parser.h"

#include <string.h>

#define MAX_PARTS 24
#define MAX_ITEMS 24

struct part {
    const char *text;
    size_t length;
};

/* An opcode's text in pieces: parts[0] is the first word. */
struct spelling {
    char text[PTX_MAX_OPCODE_LENGTH + 1];
    size_t length;
    struct part parts[MAX_PARTS];
    int count;
};

enum item_kind {
    ITEM_MOD,
    ITEM_TYPE,
    ITEM_DTYPE,
    ITEM_STYPE,
    ITEM_MORE_TYPE, /* atype, btype, ctype: outside the row's (d, s) pair */
    ITEM_SPACE,
    ITEM_SPACE2,
    ITEM_VEC
};

/* One element of a pattern. `values`: the admitted ones, or NULL. */
struct item {
    enum item_kind kind;
    enum isa_mod_class cls;
    bool optional, used;
    const char *values;
    size_t values_length;
};

static bool word_is(const char *word, const char *text, size_t length)
{
    char first = length ? text[0] : '\0'; /* which most do not share */
    return word[0] == first && strncmp(word, text, length) == 0 && word[length] == '\0';
}

/* `text` is one of the words of `list`. */
static bool list_has(const char *list, size_t list_length, const struct part *part)
{
    const char *end = list + list_length;
    while (list < end) {
        const char *space = memchr(list, ' ', (size_t)(end - list));
        size_t length = (size_t)((space != NULL ? space : end) - list);
        if (length == part->length && memcmp(list, part->text, length) == 0)
            return true;
        list += length + 1;
    }
    return false;
}

static void classify(struct item *item, const char *name, size_t length)
{
    static const struct {
        const char *name;
        enum item_kind kind;
    } kinds[] = {
        {"type", ITEM_TYPE},       {"dtype", ITEM_DTYPE},     {"stype", ITEM_STYPE},
        {"space", ITEM_SPACE},     {"vec", ITEM_VEC},         {"atype", ITEM_MORE_TYPE},
        {"btype", ITEM_MORE_TYPE}, {"ctype", ITEM_MORE_TYPE}, {"space2", ITEM_SPACE2},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (word_is(kinds[i].name, name, length)) {
            item->kind = kinds[i].kind;
            return;
        }
    }
    item->kind = ITEM_MOD;
    for (int cls = 0; cls < MODC_COUNT; cls++)
        if (word_is(isa_mod_class_text((enum isa_mod_class)cls), name, length))
            item->cls = (enum isa_mod_class)cls;
}

/* Reads one spelling of a pattern; returns what follows its " ; ", or NULL. */
static const char *read_pattern(struct item *items, int *count, const char *pattern)
{
    *count = 0;
    while (*pattern != '\0' && *pattern != ' ') {
        struct item *item = &items[(*count)++];
        *item = (struct item){.optional = *pattern == '{', .cls = MODC_COUNT};
        pattern += item->optional ? 2 : 1;
        size_t length = strcspn(pattern, "({}. ");
        classify(item, pattern, length);
        pattern += length;
        if (*pattern == '(') {
            item->values = ++pattern;
            item->values_length = strcspn(pattern, ")");
            pattern += item->values_length + 1;
        }
        pattern += *pattern == '}' ? 1 : 0;
    }
    return *pattern == ' ' ? pattern + 3 : NULL;
}

/* The part as a value of the item, entered in the opcode; false if it is none. */
static bool take(struct opcode *o, const struct item *item, const struct part *part)
{
    if (item->values != NULL && !list_has(item->values, item->values_length, part))
        return false;
    if (item->kind == ITEM_MOD) {
        enum isa_mod mod = isa_mod_find(item->cls, part->text, part->length);
        if (mod != MOD_NONE)
            o->mods[item->cls] = (uint16_t)mod;
        return mod != MOD_NONE;
    }
    if (item->kind == ITEM_SPACE || item->kind == ITEM_SPACE2) {
        enum isa_space space = isa_space_find(part->text, part->length);
        if (space == SPACE_NONE || space == SPACE_REG || space == SPACE_SREG || space == SPACE_TEX)
            return false;
        o->space[item->kind == ITEM_SPACE2] = space;
        return true;
    }
    if (item->kind == ITEM_VEC) {
        if (part->length != 2 || part->text[0] != 'v' || strchr("248", part->text[1]) == NULL)
            return false;
        o->vec = (uint8_t)(part->text[1] - '0');
        return true;
    }
    enum isa_type type = isa_type_find(part->text, part->length);
    if (type == TYPE_NONE)
        return false;
    o->types[o->type_count++] = type;
    if (item->kind == ITEM_DTYPE)
        o->tuple.d = type;
    else if (item->kind != ITEM_MORE_TYPE)
        o->tuple.s = type;
    return true;
}

/* Modifiers that keep their place in front of the others: bar.cta.red, dp2a.lo. */
static bool is_in_place(const struct item *item)
{
    return item->kind == ITEM_MOD &&
           (item->cls == MODC_BLOCK || item->cls == MODC_RED || item->cls == MODC_HALF);
}

/* Takes those of parts[from..]; returns how many. */
static int fit_in_place(struct opcode *o, struct item *items, int item_count,
                        const struct spelling *s, int from)
{
    int at = from;
    for (int i = 0; i < item_count && is_in_place(&items[i]); i++) {
        items[i].used = true;
        if (at < s->count && take(o, &items[i], &s->parts[at]))
            at++;
        else if (!items[i].optional)
            items[i].used = false;
    }
    return at - from;
}

/* Can the item be the next one? The second state space follows the first. */
static bool is_open(const struct item *items, int item_count, int index, bool ordered)
{
    if (items[index].used || (!ordered && is_in_place(&items[index])))
        return false;
    for (int i = 0; i < item_count && items[index].kind == ITEM_SPACE2; i++)
        if (items[i].kind == ITEM_SPACE && !items[i].used)
            return false;
    return true;
}

/*
 * Fits parts[from..] to the items, in order or in any order. Returns the number of parts that fit
 * before the first that does not; `*fits` if all did and nothing required is missing.
 */
static int fit(bool *fits, struct opcode *o, struct item *items, int item_count,
               const struct spelling *s, int from, bool ordered)
{
    int at = from + (ordered ? 0 : fit_in_place(o, items, item_count, s, from)), next = 0;
    for (; at < s->count; at++) {
        int i = ordered ? next : 0;
        for (; i < item_count; i++) {
            if (is_open(items, item_count, i, ordered) && take(o, &items[i], &s->parts[at]))
                break;
            if (ordered && !items[i].optional)
                i = item_count;
        }
        if (i >= item_count)
            break;
        items[i].used = true;
        next = i + 1;
    }
    *fits = at == s->count;
    for (int i = 0; i < item_count; i++)
        *fits = *fits && (items[i].used || items[i].optional);
    return at - from;
}

/* Completes the opcode with the row's (D, S) pair; false if these types are not legal. */
static bool choose_tuple(struct opcode *o, const struct isa_row *row)
{
    for (int i = 0; i < row->tuple_count; i++) {
        const struct isa_tuple *tuple = &row->tuples[i];
        if ((o->tuple.d == TYPE_NONE || o->tuple.d == tuple->d) &&
            (o->tuple.s == TYPE_NONE || o->tuple.s == tuple->s)) {
            o->tuple = *tuple;
            return true;
        }
    }
    return false;
}

static bool match_row(struct opcode *out, enum isa_op op, const struct spelling *s, int from,
                      bool ordered)
{
    const struct isa_row *row = isa_row(op);
    for (const char *pattern = row->pattern; pattern != NULL;) {
        struct item items[MAX_ITEMS];
        int count;
        bool fits;
        *out = (struct opcode){.op = op, .vec = 1};
        pattern = read_pattern(items, &count, pattern);
        fit(&fits, out, items, count, s, from, ordered);
        if (fits && choose_tuple(out, row))
            return true;
    }
    return false;
}

static int append(struct opcode **list, struct parser *p, const struct opcode *found)
{
    struct opcode *copy = arena_alloc(p->arena, sizeof *copy);
    if (copy == NULL)
        return parser_memory(p);
    *copy = *found;
    while (*list != NULL)
        list = &(*list)->next;
    *list = copy;
    return 0;
}

/* All rows whose name is the first `from` parts and that fit, as a list. */
static int match_name(struct opcode **list, struct parser *p, const struct spelling *s, int from)
{
    size_t length = (size_t)(s->parts[from - 1].text - s->text) + s->parts[from - 1].length;
    enum isa_op op = (enum isa_op)(uintptr_t)map_get_n(&p->op_names, s->text, length);
    for (; op != OP_NONE; op = isa_op_next(op)) {
        struct opcode found;
        if (match_row(&found, op, s, from, true) && append(list, p, &found) < 0)
            return SONDE_ENOMEM;
    }
    return 0;
}

static bool same_part(const struct part *a, const struct part *b)
{
    return a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

static bool is_one_of(const char *list, const struct part *part)
{
    return list_has(list, strlen(list), part);
}

static bool is_brain_widened(const struct spelling *s)
{
    bool wide = false;
    for (int i = 1; i < s->count; i++)
        wide = wide || is_one_of("f32 f64", &s->parts[i]);
    return wide && is_one_of("cvt", &s->parts[0]) && is_one_of("bf16", &s->parts[s->count - 1]);
}

/*
 * Leaves out what is said twice, of the modifiers of which the vendor's assembler allows it, and
 * what it takes and makes nothing of: the layout of small matrices, the rounding of bf16 to what
 * holds all of it.
 */
static void drop_repeated(struct spelling *s)
{
    static const char may_repeat[] = "NaN approx cc relu sat satfinite shiftamt sync uni";
    bool small = is_one_of("ldmatrix stmatrix movmatrix", &s->parts[0]);
    bool exact = is_brain_widened(s);
    int count = 1;
    for (int i = 1; i < s->count; i++) {
        bool repeated = (small && is_one_of("row col", &s->parts[i])) ||
                        (exact && is_one_of("rn rz rm rp", &s->parts[i]));
        for (int k = 1; k < i && is_one_of(may_repeat, &s->parts[i]); k++)
            repeated = repeated || same_part(&s->parts[k], &s->parts[i]);
        if (!repeated)
            s->parts[count++] = s->parts[i];
    }
    s->count = count;
}

static void remove_part(struct spelling *s, int at)
{
    s->count--;
    memmove(&s->parts[at], &s->parts[at + 1], (size_t)(s->count - at) * sizeof s->parts[0]);
}

/*
 * A row whose parts stand in another order. Words of its name keep their place at the front up to
 * the first that is a modifier to the vendor's assembler (mul.lo, but cvt.s32.sat.f32; of fences
 * all but proxy); those after it are taken out of `rest`, whose other parts must then fit the
 * pattern in any order. Returns the number of the name's words, 0 if it does not fit.
 */
static int match_shuffled(struct opcode *out, enum isa_op op, struct spelling rest)
{
    static const char movable[] =
        "sat relu approx ftz sync aligned sp cc shiftamt rni rzi rmi rpi rna "
        "clamp wrap any all m8n8 trans add noComplete noinc L2 sp::ordered_metadata";
    const char *name = isa_row(op)->name;
    bool in_place = true, is_fence = strncmp(name, "fence.", strlen("fence.")) == 0;
    int words = 0, fixed = 0;
    for (; *name != '\0'; words++) {
        struct part word = {name, strcspn(name, ".")};
        int at = fixed;
        bool moves = is_fence ? !is_one_of("proxy", &word) : is_one_of(movable, &word);
        in_place = in_place && (words == 0 || !moves);
        while (!in_place && at < rest.count && !same_part(&rest.parts[at], &word))
            at++;
        if (at >= rest.count || !same_part(&rest.parts[at], &word))
            return 0;
        if (in_place)
            fixed++;
        else
            remove_part(&rest, at);
        name += word.length + (name[word.length] == '.');
    }
    return match_row(out, op, &rest, fixed, false) ? words : 0;
}

/* Of the rows that fit so, those with the longest name, as a list. */
static int match_any_order(struct opcode **list, struct parser *p, const struct spelling *s)
{
    struct opcode found;
    int longest = 0, words;
    for (int op = OP_NONE + 1; op < OP_COUNT; op++)
        if ((words = match_shuffled(&found, (enum isa_op)op, *s)) > longest)
            longest = words;
    for (int op = OP_NONE + 1; op < OP_COUNT && longest > 0; op++)
        if (match_shuffled(&found, (enum isa_op)op, *s) == longest && append(list, p, &found) < 0)
            return SONDE_ENOMEM;
    return 0;
}

static int match_any(struct opcode **list, struct parser *p, const struct spelling *s)
{
    int code = 0;
    for (int from = s->count; from > 0 && *list == NULL && code == 0; from--)
        code = match_name(list, p, s, from);
    if (code == 0 && *list == NULL)
        code = match_any_order(list, p, s);
    if (code == 0 && *list == NULL) {
        struct spelling once = *s;
        drop_repeated(&once);
        code = match_any_order(list, p, &once);
    }
    return code;
}

/* A comparison must suit its type: signed numbers have no lo, bits have only eq and ne. */
static bool comparison_fits(const struct opcode *o)
{
    const char *cmp = isa_mod_text((enum isa_mod)o->mods[MODC_CMP]);
    enum isa_type_kind kind = isa_type_info(o->tuple.s)->kind;
    if (kind == KIND_BITS)
        return strcmp(cmp, ".eq") == 0 || strcmp(cmp, ".ne") == 0;
    bool is_unsigned = strcmp(cmp, ".lo") == 0 || strcmp(cmp, ".ls") == 0 ||
                       strcmp(cmp, ".hi") == 0 || strcmp(cmp, ".hs") == 0;
    bool is_float = strlen(cmp) == 4; /* .equ .num ..: a letter more */
    return kind == KIND_UNSIGNED ? !is_float
           : kind == KIND_SIGNED ? !is_unsigned && !is_float
                                 : !is_unsigned;
}

/* What the manual has for sm_90a only, and not for what came after it. */
static bool needs_hopper(const struct opcode *o)
{
    const struct isa_row *row = isa_row(o->op);
    return strncmp(row->name, "wgmma.", strlen("wgmma.")) == 0;
}

/* What only targets of one architecture or family have: sm_90a, sm_100f. */
static bool needs_letter(const struct opcode *o)
{
    return o->op == OP_SETMAXNREG_INC || o->op == OP_SETMAXNREG_DEC ||
           strncmp(isa_row(o->op)->name, "tensormap.replace.", strlen("tensormap.replace.")) == 0;
}

/* Up to 16 bytes a thread; 32 for global memory from sm_100 on. */
static bool vector_fits(const struct parser *p, const struct opcode *o)
{
    uint32_t bytes = o->vec * isa_type_info(o->tuple.s)->bytes;
    return bytes <= 16 || (bytes == 32 && o->vec >= 4 && p->module->target_sm >= 100 &&
                           p->module->version_major * 10 + p->module->version_minor >= 88 &&
                           (o->space[0] == SPACE_GLOBAL || o->space[0] == SPACE_NONE));
}

/* .ftz is about f32 and f16; of a conversion, either side may be f32. */
static bool flush_fits(const struct opcode *o)
{
    bool half = o->tuple.s == TYPE_f16 || o->tuple.s == TYPE_f16x2;
    bool cvt = isa_row(o->op)->shape == SHAPE_CVT;
    if (o->tuple.d == TYPE_bf16 || o->tuple.d == TYPE_bf16x2)
        return false;
    return o->tuple.s == TYPE_f32 || (half && !cvt) || isa_row(o->op)->unit == UNIT_SFU ||
           (cvt && o->tuple.d == TYPE_f32);
}

/* cvt.sat among integers must have something to clamp. */
static bool saturation_fits(const struct opcode *o)
{
    const struct isa_type_info *to = isa_type_info(o->tuple.d), *from = isa_type_info(o->tuple.s);
    bool to_signed = to->kind == KIND_SIGNED, from_signed = from->kind == KIND_SIGNED;
    return from_signed != to_signed ? from_signed || to->bytes <= from->bytes
                                    : to->bytes < from->bytes;
}

static bool hint_fits(const struct opcode *o)
{
    return o->space[0] == SPACE_GLOBAL || o->space[0] == SPACE_NONE || o->space[1] == SPACE_GLOBAL;
}

/* The oldest product of halves alone takes its matrices in any layout. */
static bool is_oldest_product(const struct opcode *o)
{
    return o->op == OP_MMA && o->mods[MODC_MNK] == MOD_MNK_m8n8k4 && o->types[1] == TYPE_f16;
}

/* mma, and wmma of what is narrower than a byte. */
static bool wants_row_col(enum isa_op op)
{
    return op == OP_MMA || op == OP_MMA_4 || op == OP_MMA_1 || op == OP_WMMA_4 || op == OP_WMMA_1 ||
           isa_row(op)->shape == SHAPE_PRODUCT_SPARSE;
}

/* wmma's loads of what is narrower than a byte have the rows of a, the columns of b in a row. */
static bool load_layout_fits(const struct opcode *o)
{
    enum isa_shape shape = isa_row(o->op)->shape;
    if (o->mods[MODC_X4] == MOD_NONE && o->mods[MODC_B1A] == MOD_NONE)
        return true;
    return !(shape == SHAPE_WMMA_LOAD_A && o->mods[MODC_LAYOUT] == MOD_LAYOUT_col) &&
           !(shape == SHAPE_WMMA_LOAD_B && o->mods[MODC_LAYOUT] == MOD_LAYOUT_row);
}

/* .popc stands behind what it counts the bits of: .xor, .and. */
static bool counts_after(const struct spelling *s)
{
    bool has = false;
    for (int i = 0; i < s->count; i++) {
        if (is_one_of("popc", &s->parts[i]) && !has)
            return false;
        has = has || is_one_of("xor and", &s->parts[i]);
    }
    return true;
}

/* Products of packed numbers: the sums' type stands first and last, as it does of others. */
static bool sums_stand_around(const struct opcode *o, const struct spelling *s)
{
    enum isa_shape shape = isa_row(o->op)->shape;
    int factors = 0;
    if ((o->mods[MODC_X4] == MOD_NONE && o->mods[MODC_B1A] == MOD_NONE) ||
        (shape != SHAPE_PRODUCT && shape != SHAPE_PRODUCT_SPARSE))
        return true;
    for (int i = 0, sums = 0; i < s->count; i++) {
        sums += is_one_of("s32", &s->parts[i]);
        factors += sums == 1 && is_one_of("s4 u4 b1", &s->parts[i]);
    }
    return factors == 2 && counts_after(s);
}

static int check_product(struct parser *p, struct ptx_loc loc, const struct opcode *o,
                         const struct spelling *s)
{
    const char *text = s->text;
    bool row_col =
        o->mods[MODC_LAYOUT] == MOD_LAYOUT_row && o->mods[MODC_BLAYOUT] == MOD_BLAYOUT_col;
    if (!load_layout_fits(o))
        return parser_error(p, loc, "'%s': expected .row of a, .col of b", text);
    if (!sums_stand_around(o, s))
        return parser_error(p, loc, "'%s': expected types of result, a, b, addend", text);
    if (!wants_row_col(o->op))
        return 0;
    if (!row_col && !is_oldest_product(o))
        return parser_error(p, loc, "'%s': expected .row.col", text);
    if ((o->mods[MODC_RND] != MOD_NONE && o->tuple.s != TYPE_f64) ||
        (o->mods[MODC_SATFINITE] != MOD_NONE && o->tuple.s != TYPE_s32))
        return parser_error(p, loc, "'%s': rounding is for .f64, .satfinite for .s32", text);
    if (o->tuple.d != o->tuple.s && !is_oldest_product(o))
        return parser_error(p, loc, "'%s': addend and result are of one type", text);
    return 0;
}

/* "Deprecated in 6.0, not supported from sm_70 on by PTX 6.4 and later": 9.7.9.5, 9.7.13.8. */
static bool needs_sync(const struct parser *p, const struct opcode *o)
{
    const struct ptx_module *m = p->module;
    bool without =
        o->op == OP_VOTE_ACTIVE || o->op == OP_VOTE_BALLOT_ACTIVE || o->op == OP_SHFL_ACTIVE;
    return without && m->target_sm >= 70 &&
           (m->version_major > 6 || (m->version_major == 6 && m->version_minor >= 4));
}

/* Only global and shared memory are ordered, and only global memory's caches take hints. */
static bool space_has_qualifiers(const struct opcode *o)
{
    enum isa_shape shape = isa_row(o->op)->shape;
    bool shared = o->space[0] == SPACE_SHARED || o->space[0] == SPACE_SHARED_CTA ||
                  o->space[0] == SPACE_SHARED_CLUSTER;
    bool ordered = o->mods[MODC_SEM] != MOD_NONE && o->mods[MODC_SEM] != MOD_SEM_weak;
    bool hinted = o->mods[MODC_L1EVICT] != MOD_NONE || o->mods[MODC_PREFETCH] != MOD_NONE;
    if (o->space[0] == SPACE_GLOBAL || (shape != SHAPE_LOAD && shape != SHAPE_LOAD_HINT &&
                                        shape != SHAPE_STORE && shape != SHAPE_STORE_HINT))
        return true;
    return !hinted && (!ordered || shared);
}

/* What patterns cannot say. */
static int check_combination(struct parser *p, const struct opcode *o, const struct spelling *s,
                             struct ptx_loc loc)
{
    if (o->mods[MODC_CMP] != MOD_NONE && !comparison_fits(o))
        return parser_error(p, loc, "comparison '%s' does not apply to type .%s in '%s'",
                            isa_mod_text((enum isa_mod)o->mods[MODC_CMP]),
                            isa_type_info(o->tuple.s)->text, s->text);
    if (needs_hopper(o) && (p->module->target_sm != 90 || p->module->target_suffix != 'a'))
        return parser_error(p, loc, "'%s' needs .target sm_90a", s->text);
    if (needs_letter(o) && !p->module->target_suffix)
        return parser_error(p, loc, "'%s' needs a .target with a letter, as sm_90a", s->text);
    if (needs_sync(p, o))
        return parser_error(p, loc, "'%s' needs .sync in PTX 6.4 and later for sm_70 and later",
                            s->text);
    if (o->vec > 1 && !vector_fits(p, o))
        return parser_error(p, loc,
                            "'%s' moves %d bytes at once, the limit is 16 (sm_100 .global: 32)",
                            s->text, o->vec * isa_type_info(o->tuple.s)->bytes);
    if (o->mods[MODC_L2EVICT] != MOD_NONE && isa_row(o->op)->shape != SHAPE_PREFETCH &&
        o->op != OP_APPLYPRIORITY && o->vec * isa_type_info(o->tuple.s)->bytes != 32)
        return parser_error(p, loc, "'%s': .L2::evict_... is for accesses of 32 bytes only",
                            s->text);
    if ((o->op == OP_CVTA || o->op == OP_CVTA_TO) &&
        isa_type_info(o->tuple.s)->bytes * 8 != p->module->address_size)
        return parser_error(p, loc, "'%s' in a module of %d-bit addresses", s->text,
                            p->module->address_size);
    if (o->mods[MODC_FTZ] != MOD_NONE && !flush_fits(o))
        return parser_error(p, loc, "'%s': .ftz does not apply to these types", s->text);
    if (o->mods[MODC_SAT] != MOD_NONE && o->tuple.s == TYPE_bf16)
        return parser_error(p, loc, "'%s': .sat does not apply to .bf16", s->text);
    if (o->op == OP_CVT_SAT && !saturation_fits(o))
        return parser_error(p, loc, "'%s': .sat has nothing to clamp", s->text);
    if (o->mods[MODC_HINT] != MOD_NONE && !hint_fits(o))
        return parser_error(p, loc, "'%s': .L2::cache_hint is for global memory only", s->text);
    int product = check_product(p, loc, o, s);
    if (product < 0)
        return product;
    if (o->space[0] != SPACE_NONE && !space_has_qualifiers(o))
        return parser_error(p, loc, "'%s': .%s memory has none of these qualifiers", s->text,
                            isa_space_text(o->space[0]));
    enum isa_shape shape = isa_row(o->op)->shape;
    if ((shape == SHAPE_STORE || shape == SHAPE_STORE_HINT) && o->space[0] == SPACE_CONST)
        return parser_error(p, loc, "'%s' writes constant memory", s->text);
    return 0;
}

static bool is_later_type(const struct part *part)
{
    return isa_type_find(part->text, part->length) == TYPE_f32x2;
}

static bool any_row_starts_with(const struct part *word)
{
    for (int op = OP_NONE + 1; op < OP_COUNT; op++) {
        const char *name = isa_row((enum isa_op)op)->name;
        if (strncmp(name, word->text, word->length) == 0 &&
            (name[word->length] == '\0' || name[word->length] == '.'))
            return true;
    }
    return false;
}

/*
 * The row that explains best why nothing fitted: the one that took most parts. Returns the number
 * of parts of the opcode that are fine with it.
 */
static int best_effort(enum isa_op *best, struct parser *p, const struct spelling *s)
{
    int most = 0;
    *best = OP_NONE;
    for (int from = s->count; from > 0; from--) {
        size_t length = (size_t)(s->parts[from - 1].text - s->text) + s->parts[from - 1].length;
        enum isa_op op = (enum isa_op)(uintptr_t)map_get_n(&p->op_names, s->text, length);
        for (; op != OP_NONE; op = isa_op_next(op)) {
            for (const char *pattern = isa_row(op)->pattern; pattern != NULL;) {
                struct item items[MAX_ITEMS];
                struct opcode ignored = {.op = op};
                int count;
                bool fits;
                pattern = read_pattern(items, &count, pattern);
                int parts = from + fit(&fits, &ignored, items, count, s, from, true);
                if (parts > most) {
                    most = parts;
                    *best = op;
                }
            }
        }
    }
    return most;
}

static int report_mismatch(struct parser *p, const struct spelling *s, struct ptx_loc loc)
{
    const struct part *word = &s->parts[0];
    enum isa_op best;
    if (!isa_opcode_known(word->text, word->length)) {
        const char *nearest = isa_opcode_nearest(word->text, word->length);
        if (nearest != NULL)
            return parser_error(p, loc, "unknown instruction '%s', did you mean '%s'?", s->text,
                                nearest);
        return parser_error(p, loc, "unknown instruction '%s'", s->text);
    }
    bool later = !any_row_starts_with(word);
    for (int i = 1; i < s->count; i++)
        later = later || is_later_type(&s->parts[i]);
    int fine = best_effort(&best, p, s);
    fine = fine > 0 ? fine : 1; /* the word is known, but no row has it for a name */
    if (later ||
        (fine < s->count && isa_modifier_later(s->parts[fine].text, s->parts[fine].length)))
        return parser_unsupported(p, loc, "instruction '%s' is not implemented", s->text);
    if (best == OP_NONE)
        return parser_misfit(p, loc, "got instruction '%s', expected a modifier behind '%.*s'",
                             s->text, (int)word->length, word->text);
    if (fine < s->count)
        return parser_misfit(p, loc, "got '.%.*s' in '%s', expected %s%s",
                             (int)s->parts[fine].length, s->parts[fine].text, s->text,
                             isa_row(best)->name, isa_row(best)->pattern);
    return parser_misfit(
        p, loc, "'%s' lacks a modifier or has types that do not go together, expected %s%s",
        s->text, isa_row(best)->name, isa_row(best)->pattern);
}

/* Reads the opcode's tokens: a name and all that follows it with a dot. */
static int read_spelling(struct spelling *s, struct parser *p)
{
    struct ptx_loc loc = p->token.loc;
    s->length = 0;
    s->count = 0;
    do {
        size_t dot = s->count > 0 ? 1 : 0;
        if (s->count == MAX_PARTS || s->length + dot + p->token.length > PTX_MAX_OPCODE_LENGTH)
            return parser_error(p, loc, "an opcode of more than %d characters or %d parts",
                                PTX_MAX_OPCODE_LENGTH, MAX_PARTS);
        if (dot > 0)
            s->text[s->length++] = '.';
        s->parts[s->count++] = (struct part){s->text + s->length, p->token.length};
        memcpy(s->text + s->length, p->token.text, p->token.length);
        s->length += p->token.length;
        parser_advance(p);
    } while (p->token.kind == TOKEN_DOT);
    s->text[s->length] = '\0';
    return 0;
}

int opcode_match(struct opcode **out, struct parser *p, struct ptx_loc *loc, const char **text)
{
    struct spelling s;
    *loc = p->token.loc;
    int code = read_spelling(&s, p);
    if (code < 0)
        return code;
    struct opcode *list = map_get_n(&p->opcodes, s.text, s.length);
    if (list == NULL) {
        if ((code = match_any(&list, p, &s)) < 0)
            return code;
        if (list == NULL)
            return report_mismatch(p, &s, *loc);
        if ((code = check_combination(p, list, &s, *loc)) < 0 ||
            (code = since_check(p, s.text, *loc)) < 0)
            return code;
        if (map_put_n(&p->opcodes, s.text, s.length, list) < 0)
            return parser_memory(p);
    }
    *out = list;
    *text = isa_row(list->op)->name;
    return 0;
}
