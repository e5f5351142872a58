/*
 * System calls: functions that a module declares .extern and the driver defines (system.def).
 * They act at issue, on all lanes of the mask in ascending order, and take the time of the call
 * instruction; the code that a real driver runs on the device for them, which may take thousands of
 * cycles, is not modelled. Like a release they wait for the warp's earlier accesses, so that they
 * find in memory what it has stored there (order_at_issue in decode.c).
 *
 * What the driver does of its own (the printf buffer, the heap) is behind exec_services. Source:
 * CUDA C++ Programming Guide, "Formatted Output", "Assertion", "Dynamic Global Memory Allocation".
 */
#include <inttypes.h>
#include <string.h>

#include "exec/fault.h"
#include "exec/format.h"
#include "exec/memory/peek.h"
#include "exec/ops/decoders.h"
#include "util/error.h"

#define PRINT_NULL_FORMAT (-1)
#define PRINT_FAILED (-2)
#define HEAP_ALIGN_BYTES 16
#define ASSERT_TEXT_MAX 512

static uop_run run_print, run_heap_take, run_heap_take_aligned, run_heap_give, run_assert_fail;

static uop_run run_device;

/* By enum system_call. */
enum { CODE, VALUE };
static const struct system_row {
    uop_run *run;
    uint8_t bytes[1 + SYSTEM_ARGS_MAX]; /* of the result, then of the parameters */
    enum exec_device_call_kind kind;
    bool returns_value;
    uint8_t stores;
} rows[] = {
#define SYSTEM(id, name, ...) [SYSTEM_##id] = {.run = run_##id, .bytes = {__VA_ARGS__}},
#define DEVICE(id, name, returns, stored, ...)                                                     \
    [SYSTEM_device_##id] = {.run = run_device,                                                     \
                            .bytes = {__VA_ARGS__},                                                \
                            .kind = EXEC_DEVICE_##id,                                              \
                            .returns_value = (returns) == VALUE,                                   \
                            .stores = stored},
#include "exec/system.def"
#undef SYSTEM
};

static uint64_t argument(const struct exec_state *state, const struct uop *uop, int i,
                         uint32_t lane)
{
    uint64_t value = 0;
    const struct call_value *arg = &uop->system->args[i];
    memcpy(&value, call_place_at(state, state->depth, &arg->from, lane), arg->bytes);
    return value;
}

static void set_result(const struct exec_state *state, const struct uop *uop, uint32_t lane,
                       uint64_t value)
{
    const struct call_value *result = &uop->system->result;
    if (result->bytes)
        memcpy(call_place_at(state, state->depth, &result->to, lane), &value, result->bytes);
}

/* printf's result; a fault is set when what it is handed cannot be read. */
static int print_lane(struct exec_warp *warp, uint32_t lane, uint64_t format, uint64_t list,
                      bool *fault)
{
    const struct exec_services *services = warp->cta->launch->services;
    struct strbuf text = {0};
    struct format_call call;
    int result = PRINT_FAILED;
    switch (format_print(&text, &call, warp, lane, format, list)) {
    case FORMAT_DONE:
        if (services && services->print && !strbuf_failed(&text) &&
            services->print(services->ctx, strbuf_text(&text), text.length, call.record_bytes))
            result = (int)call.args;
        break;
    case FORMAT_REFUSED:
        break;
    case FORMAT_BAD_MEMORY:
        *fault = true;
        fault_set(warp, warp->pc, lane, call.address,
                  "printf cannot read %s at 0x%" PRIx64 ", which is out of bounds", call.what,
                  call.address);
        break;
    }
    strbuf_free(&text);
    return result;
}

static enum exec_event run_print(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                                 struct exec_access *access)
{
    (void)access;
    struct exec_state *state = warp->state;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        uint64_t format = argument(state, uop, 0, lane), list = argument(state, uop, 1, lane);
        bool fault = false;
        int printed = format ? print_lane(warp, lane, format, list, &fault) : PRINT_NULL_FORMAT;
        if (fault)
            return EXEC_FAULT;
        set_result(state, uop, lane, (uint32_t)printed);
    }
    return advance(warp);
}

static uint64_t take(const struct exec_warp *warp, uint64_t bytes, uint64_t align)
{
    const struct exec_services *services = warp->cta->launch->services;
    bool power = align && (align & (align - 1)) == 0;
    if (!services || !services->heap_take || !power || bytes == 0)
        return 0;
    return services->heap_take(services->ctx, bytes,
                               align > HEAP_ALIGN_BYTES ? align : HEAP_ALIGN_BYTES);
}

static enum exec_event run_heap_take(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                                     struct exec_access *access)
{
    (void)access;
    struct exec_state *state = warp->state;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        uint64_t bytes = argument(state, uop, 0, lane);
        set_result(state, uop, lane, take(warp, bytes, HEAP_ALIGN_BYTES));
    }
    return advance(warp);
}

static enum exec_event run_heap_take_aligned(struct exec_warp *warp, const struct uop *uop,
                                             uint32_t mask, struct exec_access *access)
{
    (void)access;
    struct exec_state *state = warp->state;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        uint64_t bytes = argument(state, uop, 0, lane), align = argument(state, uop, 1, lane);
        set_result(state, uop, lane, take(warp, bytes, align));
    }
    return advance(warp);
}

static enum exec_event run_heap_give(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                                     struct exec_access *access)
{
    (void)access;
    const struct exec_services *services = warp->cta->launch->services;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        uint64_t address = argument(warp->state, uop, 0, lane);
        if (!address ||
            (services && services->heap_give && services->heap_give(services->ctx, address)))
            continue;
        fault_set(warp, warp->pc, lane, address,
                  "free of 0x%" PRIx64
                  ", which is no allocation of the device's heap (freed before, or never one)",
                  address);
        return EXEC_FAULT;
    }
    return advance(warp);
}

/* A text that assert was handed; what cannot be read is a '?', since the fault is another. */
static void append_text(struct strbuf *out, const struct exec_warp *warp, uint32_t lane,
                        uint64_t address, uint64_t unit_bytes)
{
    bool known = unit_bytes == 1 || unit_bytes == 2 || unit_bytes == 4;
    if (!known || peek_text(out, warp, lane, address, (uint32_t)unit_bytes, ASSERT_TEXT_MAX,
                            ASSERT_TEXT_MAX) == PEEK_UNREADABLE)
        strbuf_append_char(out, '?');
}

/* The line that CUDA's runtime prints for each thread whose assertion fails. */
static void append_failure(struct strbuf *out, const struct exec_warp *warp, const struct uop *uop,
                           uint32_t lane)
{
    const struct exec_state *state = warp->state;
    const uint32_t *ctaid = warp->cta->ctaid;
    uint32_t tid[3];
    uint64_t unit_bytes = argument(state, uop, 4, lane);
    fault_thread(tid, warp, lane);
    append_text(out, warp, lane, argument(state, uop, 1, lane), unit_bytes);
    strbuf_printf(out, ":%" PRIu32 ": ", (uint32_t)argument(state, uop, 2, lane));
    append_text(out, warp, lane, argument(state, uop, 3, lane), unit_bytes);
    strbuf_printf(out, ": block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `", ctaid[0], ctaid[1],
                  ctaid[2], tid[0], tid[1], tid[2]);
    append_text(out, warp, lane, argument(state, uop, 0, lane), unit_bytes);
    strbuf_append(out, "` failed.");
}

static enum exec_event run_assert_fail(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                                       struct exec_access *access)
{
    (void)access;
    if (!mask)
        return advance(warp);
    struct strbuf text = {0};
    uint32_t left = mask;
    for (; left && text.length < ERROR_TEXT_MAX * 3 / 4; left &= left - 1) {
        if (text.length)
            strbuf_append_char(&text, '\n');
        append_failure(&text, warp, uop, lowest_lane(left));
    }
    if (left)
        strbuf_printf(&text, "\n(and %d more threads of this warp)", __builtin_popcount(left));
    warp->fault_lane = lowest_lane(mask);
    warp->fault_address = 0;
    if (strbuf_failed(&text))
        error_memory();
    else
        error_set_lines(SONDE_EFAULT, strbuf_text(&text));
    strbuf_free(&text);
    return EXEC_FAULT;
}

/* ---- the device's runtime ---- */

#define CODE_NOT_SUPPORTED 801 /* cudaErrorNotSupported */

static void get_extent(uint32_t extent[3], const struct exec_state *state, const struct uop *uop,
                       int i, uint32_t lane)
{
    memcpy(extent, call_place_at(state, state->depth, &uop->system->args[i].from, lane), 12);
}

/* The call of one lane; false with the fault set. */
static bool device_lane(struct exec_warp *warp, const struct uop *uop, uint32_t lane)
{
    struct exec_state *state = warp->state;
    const struct exec_services *services = warp->cta->launch->services;
    const struct system_row *row = &rows[uop->option];
    uint32_t *last = &state->device_error[lane], code = 0;
    struct exec_device_call call = {
        .kind = row->kind, .launch = warp->cta->launch, .cta = warp->cta->linear_id};
    for (int i = 0; i < SYSTEM_ARGS_MAX && row->bytes[1 + i]; i++)
        if (row->bytes[1 + i] <= 8)
            call.arg[i] = argument(state, uop, i, lane);
    if (row->kind == EXEC_DEVICE_LAST_ERROR || row->kind == EXEC_DEVICE_PEEK_ERROR) {
        set_result(state, uop, lane, *last);
        *last = row->kind == EXEC_DEVICE_LAST_ERROR ? 0 : *last;
        return true;
    }
    if (row->kind == EXEC_DEVICE_PREPARE) {
        get_extent(call.grid, state, uop, 1, lane);
        get_extent(call.block, state, uop, 2, lane);
    }
    code = services && services->device_call ? services->device_call(services->ctx, &call)
                                             : CODE_NOT_SUPPORTED;
    if (code == 0 && row->stores && !poke_bytes(warp, lane, call.arg[0], call.bytes, row->stores)) {
        fault_set(warp, warp->pc, lane, call.arg[0],
                  "a call of the device's runtime cannot write to 0x%" PRIx64, call.arg[0]);
        return false;
    }
    *last = code ? code : *last;
    set_result(state, uop, lane, row->returns_value ? (code ? 0 : call.value) : code);
    return true;
}

static enum exec_event run_device(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                                  struct exec_access *access)
{
    (void)access;
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        if (!device_lane(warp, uop, lowest_lane(rest)))
            return EXEC_FAULT;
    return advance(warp);
}

/* Decoding. */

static int decode_argument(struct decoder *d, struct call_value *value, const struct ptx_var *var,
                           const struct ptx_operand *operand, uint32_t bytes, bool written)
{
    struct call_place *place = written ? &value->to : &value->from;
    value->bytes = bytes;
    if (var->size != bytes &&
        !(var->space == SPACE_REG && isa_type_info(var->type)->bytes == bytes))
        return decode_refuse(d, "parameter '%s' of the system's '%s' has %u bytes", var->name,
                             d->insn->operands[0].func->name, bytes);
    return decode_call_place(d, place, operand, bytes, written);
}

int decode_system(struct decoder *d)
{
    const struct ptx_insn *insn = d->insn;
    const struct ptx_func *func = insn->operands[0].func;
    const struct system_row *row = &rows[decode_system_call(func)];
    const struct ptx_operand *results = &insn->operands[1], *args = &insn->operands[2];
    struct uop_system *call = arena_alloc(d->arena, sizeof *call);
    uint32_t count = 0;
    if (!call)
        return error_memory();
    while (count < SYSTEM_ARGS_MAX && row->bytes[1 + count])
        count++;
    if (func->param_count != count || func->return_count != (row->bytes[0] > 0))
        return decode_refuse(d, "'%s' is not declared as the system has it", func->name);
    if (insn->operand_count < 3 || args->count != count || results->count != func->return_count)
        return decode_refuse(d, "call of '%s' with %u arguments and %u results", func->name,
                             insn->operand_count < 3 ? 0 : args->count, results->count);
    int rc = SONDE_OK;
    for (uint32_t i = 0; rc == SONDE_OK && i < count; i++)
        rc = decode_argument(d, &call->args[i], &func->params[i], &args->elems[i],
                             row->bytes[1 + i], false);
    if (rc == SONDE_OK && func->return_count)
        rc = decode_argument(d, &call->result, &func->returns[0], &results->elems[0], row->bytes[0],
                             true);
    d->uop->run = row->run;
    d->uop->option = (uint16_t)(row - rows);
    d->uop->system = call;
    bool allocates = row->run == run_device && row->kind == EXEC_DEVICE_MALLOC;
    d->program->calls_runtime |= row->run == run_device;
    d->program->uses_heap |=
        allocates || row->run == run_heap_take || row->run == run_heap_take_aligned;
    return rc;
}
