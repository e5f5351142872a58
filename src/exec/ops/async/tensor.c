/*
 * Copies of boxes of a tensor between global and shared memory, and what changes tensor maps. A box
 * is rows of its first dimension, one behind the other in shared memory, in the order of the other
 * dimensions; of im2col a row is the channels of one pixel. A row is moved in pieces of 16 bytes,
 * whose place in shared memory the swizzle exchanges by address bits:
 *
 *     address bit     9 8 7 | 6 5 4 | 3 2 1 0        32 bytes: bit 4 ^= bit 7
 *                                                    64: bits 4, 5 ^= 7, 8     128: 4 to 6 ^= 7 to
 * 9
 *
 * What lies outside of the tensor is filled with zeros or NaNs, and not written. Measured on an
 * H200 (tests/vectors/async): a box begins at a multiple of 16 bytes of its row, and, where it is
 * written to the tensor, at no negative coordinate, else the kernel faults; a store writes the 16
 * bytes that hold a row's last element whole; the NaN is 0x7ff7 in each 16 bits. Bytes move
 * when it issues, like those of the bulk copies (bulk.c).
 *
 * Interleaved tensors have slices of as many channels as fit 16 or 32 bytes, a unit, which lie
 * beside those of the next pixel: NC/8HWC8. Their first dimension counts pixels of a row, the last
 * but one slices, of which a box has one, whatever it says. So an H200 has it. Source: PTX
 * ISA 9.0, 5.5, 9.7.9.25.5, 9.7.9.26, 9.7.9.27.
 */
#include <inttypes.h>
#include <string.h>

#include "exec/cluster.h"
#include "exec/fault.h"
#include "exec/memory/device.h"
#include "exec/memory/image.h"
#include "exec/ops/async/place.h"
#include "exec/ops/async/transfer.h"
#include "isa/tensor/tensor_map.h"
#include "util/error.h"

#define PIECE_BYTES 16
#define PLACE_ALIGN 128

struct uop_tensor {
    struct async_place shared, barrier; /* of a map's instructions: the map */
    struct async_place map;
    struct element coordinate[TENSOR_RANK_MAX], offset[3], ctas, value;
    uint32_t rank;
    bool into_shared, im2col, has_offsets, has_ctas;
    enum isa_mod op; /* of a reduction */
    enum tensor_field field;
    uint32_t number;
};

/* One lane's copy. */
struct job {
    struct exec_warp *warp;
    struct tensor_map map;
    const struct uop_tensor *t;
    uint32_t lane;
    int32_t at[TENSOR_DIMENSIONS];
    uint32_t offset[3];
    uint32_t row_elements, rows;
    uint32_t slices;         /* an interleaved tensor's dimension of slices; 0: it has none */
    uint64_t width;          /* elements of a row that are in the tensor */
    uint64_t shared_address; /* of the first byte, for the swizzle */
    uint8_t *shared;
    lane_atom *combine;
    bool tells; /* somebody gives it time, and has not been told of its rows */
};

/* The bytes of a map that lies at a generic address, or in parameters. */
static bool read_map(struct job *job, uint64_t address)
{
    const struct exec_launch *launch = job->warp->cta->launch;
    uint32_t words[32];
    bool found = true;
    if (generic_space(address) == SPACE_PARAM) {
        address -= EXEC_PARAM_WINDOW;
        found = address <= launch->param_bytes && TENSOR_MAP_BYTES <= launch->param_bytes - address;
        if (found)
            memcpy(words, launch->params + address, sizeof words);
    } else {
        found = address % 64 == 0 && image_valid(launch->memory, address, TENSOR_MAP_BYTES);
        if (found)
            device_read(job->warp, job->warp->pc, address, words, sizeof words);
    }
    if (found && tensor_map_read(&job->map, words) && job->map.rank == job->t->rank &&
        job->map.im2col == job->t->im2col)
        return true;
    fault_set(job->warp, job->warp->pc, job->lane, address,
              found ? "the tensor map at 0x%" PRIx64 " is of another kind or rank"
                    : "no tensor map of 128 bytes, aligned to 64, at 0x%" PRIx64,
              address);
    return false;
}

static uint64_t swizzled(const struct job *job, uint64_t linear)
{
    static const uint32_t masks[] = {0, 0x10, 0x30, 0x70};
    uint64_t address = job->shared_address + linear;
    return (address ^ (address >> 3 & masks[job->map.swizzle & 3])) - job->shared_address;
}

/* What stands for an element that is not in the tensor. */
static uint64_t fill_of(const struct tensor_map *map)
{
    return map->fill_nan ? UINT64_C(0x7ff77ff77ff77ff7) : 0;
}

/* What the copy engine makes of an element on its way into shared memory. */
static uint64_t converted(const struct tensor_map *map, uint64_t bits)
{
    bool flush = map->type == TENSOR_F32_FTZ || map->type == TENSOR_TF32_FTZ;
    if (flush && !(bits & 0x7f800000))
        bits &= 0x80000000;
    return bits;
}

/* One element, converted or combined; `there`: in device memory. False: memory is out. */
static bool move_element(const struct job *job, uint8_t *shared, uint64_t there, uint32_t bytes)
{
    uint64_t mine = 0, old = 0;
    if (job->t->into_shared || job->combine)
        device_read(job->warp, job->warp->pc, there, &old, bytes);
    if (job->t->into_shared) {
        old = converted(&job->map, old);
        memcpy(shared, &old, bytes);
        return true;
    }
    memcpy(&mine, shared, bytes);
    if (job->combine) { /* while no other SM executes, so that nothing is kept back */
        mine = job->combine(old, mine, 0);
        memcpy((uint8_t *)(uintptr_t)there, &mine, bytes);
        return true;
    }
    return device_write(job->warp, job->warp->pc, there, &mine, bytes) == SONDE_OK;
}

/* Elements [first, first + count) of a row, of one piece; global: the row's, 0: outside. False:
 * memory is out, the error set. */
static bool move_piece(const struct job *job, uint8_t *shared, uint64_t global, uint32_t first,
                       uint32_t count)
{
    const struct tensor_map *map = &job->map;
    uint32_t bytes = tensor_type_bytes(map->type);
    bool plain = map->type != TENSOR_F32_FTZ && map->type != TENSOR_TF32_FTZ && !job->combine;
    int64_t x = (int64_t)job->at[0] + first;
    if (global && plain && x >= 0 && (uint64_t)x + count <= job->width) {
        uint64_t there = global + (uint64_t)x * bytes;
        if (!job->t->into_shared)
            return device_write(job->warp, job->warp->pc, there, shared, count * bytes) == SONDE_OK;
        device_read(job->warp, job->warp->pc, there, shared, count * bytes);
        return true;
    }
    for (uint32_t i = 0; i < count; i++, x++, shared += bytes) {
        bool inside = global && x >= 0 && (uint64_t)x < job->width;
        uint64_t fill = fill_of(map);
        if (inside && !move_element(job, shared, global + (uint64_t)x * bytes, bytes))
            return false;
        if (!inside && job->t->into_shared)
            memcpy(shared, &fill, bytes);
    }
    return true;
}

/* What of a row at `address` is read or written. */
static bool tell_row(const struct job *job, uint64_t address)
{
    uint32_t bytes = tensor_type_bytes(job->map.type);
    int64_t first = job->at[0] > 0 ? job->at[0] : 0;
    int64_t end = (int64_t)job->at[0] + job->row_elements;
    end = end < (int64_t)job->width ? end : (int64_t)job->width;
    return end <= first || transfer_piece(job->warp, address + (uint64_t)first * bytes,
                                          (uint32_t)(end - first) * bytes);
}

/* A row at `row` of shared memory; `at` its coordinates. False: the fault is set. */
static bool move_row(const struct job *job, uint64_t row, const int64_t at[TENSOR_DIMENSIONS])
{
    const struct tensor_map *map = &job->map;
    uint32_t bytes = tensor_type_bytes(map->type), elements = PIECE_BYTES / bytes;
    uint64_t address = map->address;
    bool inside = true;
    for (uint32_t i = 1; i < map->rank; i++) {
        inside = inside && at[i] >= 0 && (uint64_t)at[i] < map->size[i];
        address += (uint64_t)at[i] * map->stride[i];
    }
    if (inside && !image_valid(job->warp->cta->launch->memory, address, job->width * bytes)) {
        fault_set(job->warp, job->warp->pc, job->lane, address,
                  "a row of the tensor, at 0x%" PRIx64 ", is out of bounds", address);
        return false;
    }
    if (inside && job->tells && !tell_row(job, address))
        return false;
    for (uint32_t first = 0; first < job->row_elements; first += elements) {
        uint32_t left = job->row_elements - first;
        uint64_t linear = (row * job->row_elements + first) * bytes;
        if (!move_piece(job, job->shared + swizzled(job, linear), inside ? address : 0, first,
                        left < elements ? left : elements))
            return false;
    }
    return true;
}

static uint32_t steps_of(const struct tensor_map *map, uint32_t i)
{
    return (map->box[i] + map->step[i] - 1) / map->step[i];
}

static bool move_tile(const struct job *job)
{
    const struct tensor_map *map = &job->map;
    for (uint32_t row = 0; row < job->rows; row++) {
        int64_t at[TENSOR_DIMENSIONS];
        uint32_t rest = row;
        for (uint32_t i = 1; i < map->rank; i++) {
            uint32_t steps = steps_of(map, i);
            at[i] = job->at[i] + (int64_t)(rest % steps) * map->step[i];
            rest /= steps;
        }
        if (!move_row(job, row, at))
            return false;
    }
    return true;
}

/*
 * Pixels one after the other: within the corners of each image dimension, then on to the next one,
 * at last to the next image. What is read lies `offset` beside, one step of the filter each.
 */
static bool move_pixels(const struct job *job)
{
    const struct tensor_map *map = &job->map;
    int64_t base[TENSOR_DIMENSIONS] = {0};
    uint32_t last = map->rank - 1;
    for (uint32_t i = 0; i < map->rank; i++)
        base[i] = job->at[i];
    for (uint32_t row = 0; row < job->rows; row++) {
        int64_t at[TENSOR_DIMENSIONS] = {0};
        for (uint32_t i = 1; i <= last; i++)
            at[i] = base[i] + (i < last && i != job->slices ? job->offset[i - 1] : 0);
        if (!move_row(job, row, at))
            return false;
        for (uint32_t i = 1; i <= last; i++) {
            if (i == job->slices)
                continue;
            base[i] += i < last ? map->step[i] : 1;
            if (i == last || base[i] <= (int64_t)map->size[i] - 1 + map->upper[i - 1])
                break;
            base[i] = map->lower[i - 1];
        }
    }
    return true;
}

/* Into or out of one CTA's shared memory. */
static bool move_box(struct job *job, int rank)
{
    const struct uop_tensor *t = job->t;
    uint32_t bytes = job->rows * job->row_elements * tensor_type_bytes(job->map.type);
    job->shared = async_find_in(job->warp, &t->shared, job->lane, rank, bytes, PLACE_ALIGN);
    if (!job->shared)
        return false;
    if (!t->into_shared)
        async_tell(job->warp, job->lane, job->shared, bytes, NULL);
    job->shared_address = async_address(job->warp, &t->shared, job->lane) % EXEC_WINDOW_BYTES;
    if (!(job->map.im2col ? move_pixels(job) : move_tile(job)))
        return false;
    if (!t->into_shared)
        return true;
    uint8_t *barrier = async_find_in(job->warp, &t->barrier, job->lane, rank, 8, 8);
    if (barrier)
        async_tell(job->warp, job->lane, job->shared, bytes, barrier);
    return barrier && transfer_count(job->warp, barrier, bytes);
}

/* Elements by the map's type, which the program has only at run time. */
static lane_atom *combine_of(const struct job *job)
{
    static const enum isa_type types[TENSOR_TYPES] = {
        [TENSOR_U8] = TYPE_NONE,      [TENSOR_U16] = TYPE_NONE,  [TENSOR_U32] = TYPE_u32,
        [TENSOR_S32] = TYPE_s32,      [TENSOR_U64] = TYPE_u64,   [TENSOR_S64] = TYPE_s64,
        [TENSOR_F16] = TYPE_f16,      [TENSOR_F32] = TYPE_f32,   [TENSOR_F32_FTZ] = TYPE_f32,
        [TENSOR_F64] = TYPE_f64,      [TENSOR_BF16] = TYPE_bf16, [TENSOR_TF32] = TYPE_f32,
        [TENSOR_TF32_FTZ] = TYPE_f32,
    };
    enum isa_type type = types[job->map.type];
    return type == TYPE_NONE ? NULL : decode_find_bulk_atom(job->t->op, type, true);
}

/* What the copy engine refuses. False: the fault is set. */
static bool begins_well(const struct job *job)
{
    uint32_t bytes = tensor_type_bytes(job->map.type);
    bool negative = false;
    for (uint32_t i = 0; i < job->map.rank && !job->t->into_shared; i++)
        negative = negative || job->at[i] < 0;
    if (!negative && (int64_t)job->at[0] * bytes % PIECE_BYTES == 0)
        return true;
    fault_set(job->warp, job->warp->pc, job->lane, job->map.address,
              negative ? "a copy to a tensor that begins at a negative coordinate (first: %d)"
                       : "a copy of a tensor that begins at element %d of its row, which is no "
                         "multiple of 16 bytes",
              job->at[0]);
    return false;
}

/* An interleaved tensor's unit becomes the first dimension. */
static void spread_units(struct job *job)
{
    struct tensor_map *map = &job->map;
    uint32_t unit = PIECE_BYTES * map->interleave, bytes = tensor_type_bytes(map->type);
    for (uint32_t i = map->rank; i > 0; i--) {
        map->size[i] = map->size[i - 1];
        map->stride[i] = i == 1 ? unit : map->stride[i - 1];
        map->step[i] = map->step[i - 1];
        job->at[i] = job->at[i - 1];
        if (!map->im2col)
            map->box[i] = map->box[i - 1];
    }
    map->size[0] = map->box[0] = unit / bytes;
    map->step[0] = 1;
    job->at[0] = 0;
    job->slices = map->rank - 1;
    if (!map->im2col)
        map->box[job->slices] = 1;
    map->rank++;
}

static bool prepare(struct job *job)
{
    const struct exec_state *state = job->warp->state;
    const struct uop_tensor *t = job->t;
    const struct tensor_map *map = &job->map;
    if (!read_map(job, async_address(job->warp, &t->map, job->lane)))
        return false;
    for (uint32_t i = 0; i < t->rank; i++)
        job->at[i] = (int32_t)element_get(state, &t->coordinate[i], job->lane);
    if (map->interleave)
        spread_units(job);
    if (!begins_well(job))
        return false;
    job->width = map->size[0];
    if (!t->into_shared && t->op == MOD_NONE) {
        uint32_t unit = PIECE_BYTES / tensor_type_bytes(map->type);
        job->width = (job->width + unit - 1) / unit * unit;
    }
    for (uint32_t i = 0; t->has_offsets && i + 2 < t->rank; i++)
        job->offset[i] = element_get(state, &t->offset[i], job->lane) & 0xffff;
    job->row_elements = map->box[0];
    job->rows = map->im2col ? map->box[1] : 1;
    for (uint32_t i = 1; !map->im2col && i < map->rank; i++)
        job->rows *= steps_of(map, i);
    if (t->op == MOD_NONE)
        return true;
    job->combine = combine_of(job);
    if (!job->combine)
        fault_set(job->warp, job->warp->pc, job->lane, map->address,
                  "there is no reduction '%s' of this tensor's elements", isa_mod_text(t->op));
    return job->combine != NULL;
}

static bool copy_lane(struct exec_warp *warp, const struct uop_tensor *t, uint32_t lane)
{
    struct job job = {.warp = warp, .t = t, .lane = lane};
    if (!prepare(&job) || !transfer_begin(warp, t->into_shared ? TRANSFER_IN : TRANSFER_OUT, true))
        return false;
    job.tells = warp->env->transfers != NULL;
    if (!t->has_ctas)
        return move_box(&job, -1);
    uint32_t ctas = (uint32_t)element_get(warp->state, &t->ctas, lane) & 0xffff;
    for (; ctas; ctas &= ctas - 1, job.tells = false)
        if (!move_box(&job, __builtin_ctz(ctas)))
            return false;
    return true;
}

static enum exec_event run_copy_tensor(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                                       struct exec_access *access)
{
    (void)access;
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        if (!copy_lane(warp, uop->tensor, lowest_lane(rest)))
            return EXEC_FAULT;
    return advance(warp);
}

static struct uop_tensor *begin(struct decoder *d, uop_run *run)
{
    struct uop_tensor *t = arena_alloc(d->arena, sizeof *t);
    if (!t)
        return NULL;
    d->uop->tensor = t;
    d->uop->run = run;
    d->info->is_async = d->info->is_bulk = d->info->is_bulk_copy = run == run_copy_tensor;
    return t;
}

/* [map, {coordinates}] */
static int decode_tensor(struct decoder *d, struct uop_tensor *t, const struct ptx_operand *operand)
{
    t->rank = operand->count - 1;
    t->map.space = SPACE_NONE;
    t->map.has_base = true;
    int rc = decode_source_element(d, &t->map.base, &operand->elems[0], 8);
    for (uint32_t i = 0; rc == SONDE_OK && i < t->rank; i++)
        rc = decode_source_element(d, &t->coordinate[i], &operand->elems[i + 1], 4);
    return rc;
}

/* In: [to] [tensor] [barrier] {offsets} ctas policy; out: [tensor] [from] policy. */
int decode_tensor_copy(struct decoder *d)
{
    const struct ptx_insn *insn = d->insn;
    const struct ptx_operand *o = insn->operands;
    bool in = insn->op == OP_TENSOR_IN;
    struct uop_tensor *t = begin(d, run_copy_tensor);
    if (!t)
        return error_memory();
    t->into_shared = in;
    t->op = (enum isa_mod)insn->mods[MODC_ATOM];
    t->has_offsets = insn->mods[MODC_BOX] == MOD_BOX_im2col;
    t->im2col = t->has_offsets || insn->mods[MODC_BOX] == MOD_BOX_im2col_no_offs;
    t->has_ctas = insn->mods[MODC_MULTICAST] != MOD_NONE;
    int rc = decode_tensor(d, t, &o[in]);
    if (rc == SONDE_OK)
        rc = async_decode_place(d, &t->shared, &o[!in], insn->space[!in]);
    if (rc == SONDE_OK && in)
        rc = async_decode_place(d, &t->barrier, &o[2], insn->space[0]);
    for (uint32_t i = 0; rc == SONDE_OK && t->has_offsets && i + 2 < t->rank; i++)
        rc = decode_source_element(d, &t->offset[i], &o[3].elems[i], 4);
    if (rc == SONDE_OK && t->has_ctas)
        rc = decode_source_element(d, &t->ctas, &o[3 + t->has_offsets], 4);
    return rc;
}

/* ---- maps ---- */

static enum exec_event run_map_field(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                                     struct exec_access *access)
{
    (void)access;
    const struct uop_tensor *t = uop->tensor;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest), words[32];
        uint8_t *at = async_find(warp, &t->map, lane, TENSOR_MAP_BYTES, 8);
        if (!at)
            return EXEC_FAULT;
        memcpy(words, at, sizeof words);
        tensor_map_replace(words, t->field, t->number, element_get(warp->state, &t->value, lane));
        memcpy(at, words, sizeof words);
    }
    return advance(warp);
}

/* [map] {number} value */
int decode_map_field(struct decoder *d)
{
    static const enum tensor_field fields[] = {
        TENSOR_ADDRESS, TENSOR_RANK, TENSOR_BOX,        TENSOR_SIZE,    TENSOR_STRIDE,
        TENSOR_STEP,    TENSOR_TYPE, TENSOR_INTERLEAVE, TENSOR_SWIZZLE, TENSOR_FILL};
    const struct ptx_insn *insn = d->insn;
    const struct ptx_operand *o = insn->operands;
    bool numbered = insn->operand_count > 2;
    struct uop_tensor *t = begin(d, run_map_field);
    if (!t)
        return error_memory();
    t->field = fields[insn->mods[MODC_MAPFIELD] - MOD_MAPFIELD_global_address];
    t->number = numbered ? (uint32_t)o[1].imm : 0;
    int rc = async_decode_place(d, &t->map, &o[0], insn->space[0]);
    return rc == SONDE_OK ? decode_source_element(d, &t->value, &o[1 + numbered],
                                                  isa_type_info(insn->types[0])->bytes)
                          : rc;
}

/* The warp copies it once, whatever lanes say so. */
static enum exec_event run_map_copy(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                                    struct exec_access *access)
{
    (void)access;
    const struct uop_tensor *t = uop->tensor;
    if (!mask)
        return advance(warp);
    uint32_t lane = lowest_lane(mask);
    uint8_t *to = async_find(warp, &t->map, lane, TENSOR_MAP_BYTES, TENSOR_MAP_BYTES);
    const uint8_t *from =
        to ? async_find(warp, &t->shared, lane, TENSOR_MAP_BYTES, TENSOR_MAP_BYTES) : NULL;
    if (!from)
        return EXEC_FAULT;
    memcpy(to, from, TENSOR_MAP_BYTES);
    return advance(warp);
}

int decode_map_copy(struct decoder *d)
{
    const struct ptx_insn *insn = d->insn;
    const struct ptx_operand *o = insn->operands;
    struct uop_tensor *t = begin(d, run_map_copy);
    if (!t)
        return error_memory();
    d->uop->whole = true;
    if (o[2].imm != TENSOR_MAP_BYTES)
        return decode_refuse(d, "'%s' of %u bytes, a tensor map has %d", isa_row(insn->op)->name,
                             (unsigned)o[2].imm, TENSOR_MAP_BYTES);
    int rc = async_decode_place(d, &t->map, &o[0], insn->space[0]);
    return rc == SONDE_OK ? async_decode_place(d, &t->shared, &o[1], insn->space[1]) : rc;
}
