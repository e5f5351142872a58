/*
 * Modules: PTX is parsed and checked at load; variables of .global and .const space are placed in
 * device memory and initialised; a kernel is decoded when it is first asked for. Modules do not see
 * each other unless they are linked into one (link.c): an extern variable that its own module does
 * not define is an error when a kernel uses it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/schedule.h"
#include "rt/state.h"
#include "util/container/strbuf.h"
#include "util/error.h"

#define BANK_BYTES 65536 /* of constants (CUDA C Programming Guide, technical specifications) */

/* The file that a variable of the module stands in. */
static const char *file_of(const struct rt_module *module, const struct ptx_var *var)
{
    const char *file = var->owner ? var->owner->file : var->file;
    return file ? file : module->ptx->file;
}

static bool is_placed(const struct ptx_var *var)
{
    return (var->space == SPACE_GLOBAL || var->space == SPACE_CONST) &&
           var->linkage != LINK_EXTERN && var->size > 0;
}

/*
 * Constants lie in a bank of 64 KiB that the caches know by its addresses. A variable that takes a
 * large part of one begins where the bank does, so that bits of its offsets are those of addresses.
 */
static uint64_t least_alignment(const struct ptx_var *var)
{
    bool fills = var->space == SPACE_CONST && 2 * (uint64_t)var->size > BANK_BYTES;
    return fills ? BANK_BYTES : 1;
}

static int variable_place(struct rt_module *module, const struct ptx_var *var)
{
    const char *file = file_of(module, var);
    if (var->align > RT_ALIGN_BYTES) {
        return error_at(SONDE_EUNSUPPORTED, file, var->loc.line, var->loc.column,
                        "the alignment %u of variable '%s' is not supported (at most %d)",
                        var->align, var->name, RT_ALIGN_BYTES);
    }
    uint64_t address;
    char site[128];
    snprintf(site, sizeof site, "variable '%s'", var->name);
    checking_site(module->rt, site);
    int rc = memory_take(module->rt, &address, var->size, least_alignment(var));
    checking_site(module->rt, NULL);
    if (rc < 0) {
        return error_prefix(rc, "%s: variable '%s'", file, var->name);
    }
    if (u64_map_put(&module->addresses, (uintptr_t)var, address) < 0) {
        memory_give(module->rt, address);
        return error_memory();
    }
    checking_written(module->rt, address, var->size); /* zero, or its initialiser */
    return 0;
}

/* Place all, before any initialiser refers to another. */
static int variables_place(struct rt_module *module)
{
    const struct ptx_module *ptx = module->ptx;
    uint64_t const_bytes = 0, const_limit = module->rt->model->driver.const_bytes;
    for (uint32_t i = 0; i < ptx->var_count; i++) {
        const struct ptx_var *var = ptx->vars[i];
        if (!is_placed(var)) {
            continue;
        }
        const_bytes += var->space == SPACE_CONST ? var->size : 0;
        if (const_limit > 0 && const_bytes > const_limit) {
            return error_at(SONDE_EINPUT, file_of(module, var), var->loc.line, var->loc.column,
                            "with variable '%s' constant memory exceeds %llu bytes", var->name,
                            (unsigned long long)const_limit);
        }
        int rc = variable_place(module, var);
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}

static int relocate(struct rt_module *module, const struct ptx_var *var,
                    const struct ptx_reloc *reloc, uint8_t *bytes)
{
    uint64_t address = 0;
    if (reloc->func) {
        address = exec_function_address(module->ptx, reloc->func);
    } else if (!u64_map_get(&address, &module->addresses, (uintptr_t)reloc->var)) {
        return error_at(
            SONDE_EUNSUPPORTED, file_of(module, var), var->loc.line, var->loc.column,
            "the initialiser of '%s' needs the address of '%s', which is not a variable "
            "of global or constant memory defined here",
            var->name, reloc->var->name);
    }
    uint64_t value = (address + (uint64_t)reloc->addend) >> reloc->mask_shift;
    memcpy(bytes + reloc->offset, &value, reloc->bytes);
    return 0;
}

static int variables_initialise(struct rt_module *module)
{
    for (uint32_t i = 0; i < module->ptx->var_count; i++) {
        const struct ptx_var *var = module->ptx->vars[i];
        uint64_t address;
        if (!u64_map_get(&address, &module->addresses, (uintptr_t)var)) {
            continue;
        }
        uint8_t *bytes = (uint8_t *)(uintptr_t)address;
        if (var->init) {
            memcpy(bytes, var->init, var->size);
        } else {
            memset(bytes, 0, var->size);
        }
        for (uint32_t r = 0; r < var->reloc_count; r++) {
            int rc = relocate(module, var, &var->relocs[r], bytes);
            if (rc < 0) {
                return rc;
            }
        }
        gpu_host_copy(module->rt->gpu, address, var->size, true);
    }
    return 0;
}

/* PTX ISA, ".target": code runs on its own architecture and on newer ones; with 'a' on its own
 * alone, with 'f' on its family's. */
static bool target_fits(const struct ptx_module *ptx, uint32_t major, uint32_t minor)
{
    uint32_t target = (uint32_t)ptx->target_sm, own = major * 10 + minor;
    if (ptx->target_suffix == 'a') {
        return target == own;
    }
    return target <= own && (ptx->target_suffix != 'f' || target / 10 == major);
}

static int target_check(const struct model *model, const struct ptx_module *ptx)
{
    const struct driver_spec *driver = &model->driver;
    for (uint32_t i = 0; i < ptx->part_count; i++) {
        int rc = target_check(model, ptx->parts[i]);
        if (rc < 0) {
            return rc;
        }
    }
    if (ptx->part_count > 0 || target_fits(ptx, driver->compute_major, driver->compute_minor)) {
        return 0;
    }
    char suffix[2] = {ptx->target_suffix, '\0'};
    return error_set(SONDE_EINPUT,
                     "%s: its .target is sm_%d%s, and %s has compute capability %u.%u (sm_%u%u)",
                     ptx->file, ptx->target_sm, suffix, model->name, driver->compute_major,
                     driver->compute_minor, driver->compute_major, driver->compute_minor);
}

int rt_module_check_target(const struct rt_module *module, const struct model *model)
{
    return target_check(model ? model : module->rt->model, module->ptx);
}

/* Where pointers of 32 bits do not reach, a program with such pointers cannot run. */
static int check_reach(const struct rt *rt, const struct ptx_module *ptx)
{
    uint64_t base = exec_memory_base(rt->memory);
    if (ptx->address_size != 32 || base + exec_memory_range_bytes(rt->memory) <= UINT64_C(1)
                                                                                     << 32) {
        return 0;
    }
    return error_set(
        SONDE_EUNSUPPORTED,
        "%s: its pointers have 32 bits (.address_size 32, which is also what a missing "
        "directive means) and do not reach this device's memory at 0x%" PRIx64,
        ptx->file, base);
}

int module_create(struct rt *rt, struct rt_module **out, struct ptx_module *ptx)
{
    *out = NULL;
    int reach = check_reach(rt, ptx);
    if (reach < 0) {
        ptx_module_destroy(ptx);
        return reach;
    }
    struct rt_module *module = calloc(1, sizeof *module);
    if (!module) {
        ptx_module_destroy(ptx);
        return error_memory();
    }
    module->ptx = ptx;
    module->rt = rt;
    module->next = rt->modules;
    module->link = &rt->modules;
    if (module->next) {
        module->next->link = &module->next;
    }
    rt->modules = module;
    int rc = rt->model->sm.reorder ? ptx_schedule(ptx, rt->model->sm.lowering) : 0;
    if (rc == 0) {
        rc = variables_place(module);
    }
    if (rc == 0) {
        rc = variables_initialise(module);
    }
    if (rc < 0) {
        rt_module_unload(rt, module);
        return rc;
    }
    *out = module;
    return 0;
}

static const char *undefined_in(const struct ptx_func *func)
{
    for (uint32_t i = 0; i < func->insn_count; i++) {
        const struct ptx_operand *callee = func->insns[i].operands;
        if (func->insns[i].op != OP_CALL || callee->kind != OPERAND_FUNC) {
            continue;
        }
        const struct ptx_func *means = callee->func;
        if (!means->has_body && !means->alias_of && !means->is_prototype &&
            !exec_is_system_call(means->name)) {
            return means->name;
        }
    }
    return NULL;
}

const char *rt_module_undefined(const struct rt_module *module)
{
    const char *name = NULL;
    for (uint32_t i = 0; !name && i < module->ptx->func_count; i++) {
        name = undefined_in(module->ptx->funcs[i]);
    }
    return name;
}

int rt_module_load(struct rt *rt, struct rt_module **out, const char *file, const char *ptx,
                   size_t length)
{
    struct ptx_module *parsed;
    *out = NULL;
    int rc = context_check(rt);
    rc = rc < 0 ? rc : ptx_parse_late(&parsed, file, ptx, length);
    return rc < 0 ? rc : module_create(rt, out, parsed);
}

void rt_module_unload(struct rt *rt, struct rt_module *module)
{
    if (!module) {
        return;
    }
    for (struct rt_kernel *next, *kernel = module->kernels; kernel; kernel = next) {
        next = kernel->next;
        exec_program_destroy(kernel->program);
        free(kernel);
    }
    for (size_t i = 0; i < module->addresses.count; i++) {
        memory_give(rt, module->addresses.entries[i].value);
    }
    u64_map_free(&module->addresses);
    ptx_module_destroy(module->ptx);
    *module->link = module->next;
    if (module->next) {
        module->next->link = module->link;
    }
    free(module);
}

bool modules_hold(const struct rt *rt, uint64_t address)
{
    for (const struct rt_module *module = rt->modules; module; module = module->next) {
        for (size_t i = 0; i < module->addresses.count; i++) {
            if (module->addresses.entries[i].value == address) {
                return true;
            }
        }
    }
    return false;
}

static uint64_t variable_address(void *ctx, const struct ptx_var *var)
{
    struct rt_module *module = ctx;
    uint64_t address;
    if (u64_map_get(&address, &module->addresses, (uintptr_t)var)) {
        return address;
    }
    error_set(SONDE_EINPUT, "variable '%s' has no definition", var->name);
    return 0;
}

static int kernel_create(struct rt_kernel **out, struct rt_module *module,
                         const struct ptx_func *func)
{
    struct rt_kernel *kernel = calloc(1, sizeof *kernel);
    if (!kernel) {
        return error_memory();
    }
    kernel->module = module;
    kernel->func = func;
    struct exec_resolver resolver = {
        .var_address = variable_address, .ctx = module, .lowering = module->rt->model->sm.lowering};
    int rc = exec_program_create(&kernel->program, module->ptx, func, &resolver);
    if (rc < 0) {
        free(kernel);
        return rc;
    }
    kernel->next = module->kernels;
    module->kernels = kernel;
    *out = kernel;
    return 0;
}

struct rt_kernel *kernel_at(struct rt_module *module, uint64_t code_address)
{
    uint64_t index = (code_address - EXEC_CODE_BASE) / EXEC_CODE_STEP;
    const struct ptx_func *func =
        index < module->ptx->func_count ? module->ptx->funcs[index] : NULL;
    struct rt_kernel *kernel = module->kernels;
    while (kernel && kernel->func != func) {
        kernel = kernel->next;
    }
    if (!kernel && func && func->is_entry && func->has_body) {
        (void)kernel_create(&kernel, module, func);
    }
    return kernel;
}

/* "FILE: WHAT; its kernels are: a, b" */
static int error_kernels(int code, const struct ptx_module *ptx, const char *what)
{
    struct strbuf list = {0};
    for (uint32_t i = 0; i < ptx->func_count; i++) {
        if (ptx->funcs[i]->is_entry && ptx->funcs[i]->has_body) {
            strbuf_printf(&list, "%s%s", list.length ? ", " : "", ptx->funcs[i]->name);
        }
    }
    error_set(code, "%s: %s; %s%s", ptx->file, what,
              list.length ? "its kernels are: " : "there is no kernel in it", strbuf_text(&list));
    strbuf_free(&list);
    return code;
}

/* The name of the module's only kernel; NULL with the error set if it has none or several. */
static const char *only_kernel(const struct ptx_module *ptx, int *rc)
{
    const char *name = NULL;
    uint32_t count = 0;
    for (uint32_t i = 0; i < ptx->func_count; i++) {
        if (ptx->funcs[i]->is_entry && ptx->funcs[i]->has_body) {
            name = ptx->funcs[i]->name;
            count++;
        }
    }
    if (count == 0) {
        *rc = error_set(SONDE_EINPUT, "%s: there is no kernel in it", ptx->file);
    } else if (count > 1) {
        *rc = error_kernels(SONDE_EUSAGE, ptx, "say which");
    }
    return count == 1 ? name : NULL;
}

/* What a name means: of linked files each may have kernels of its own by that name, beside at most
 * one that all see, which comes first. */
static const struct ptx_func *named(const struct ptx_module *ptx, const char *name, int *rc)
{
    const struct ptx_func *found = NULL;
    uint32_t count = 0;
    for (uint32_t i = 0; i < ptx->func_count; i++) {
        const struct ptx_func *func = ptx->funcs[i];
        if (!func->is_entry || !func->has_body || strcmp(func->name, name) != 0) {
            continue;
        }
        if (func->linkage != LINK_INTERNAL) {
            return func;
        }
        found = func;
        count++;
    }
    if (count > 1) {
        *rc = error_set(SONDE_EINPUT, "%s have %u kernels '%s', none of them .visible", ptx->file,
                        count, name);
    }
    return found ? found : ptx_find_func(ptx, name);
}

int rt_kernel_get(struct rt_module *module, struct rt_kernel **out, const char *name)
{
    *out = NULL;
    int rc = 0;
    if (!name && !(name = only_kernel(module->ptx, &rc))) {
        return rc;
    }
    const struct ptx_func *func = named(module->ptx, name, &rc);
    if (rc < 0) {
        return rc;
    }
    for (struct rt_kernel *kernel = module->kernels; kernel; kernel = kernel->next) {
        if (kernel->func == func) {
            *out = kernel;
            return 0;
        }
    }
    if (!func || !func->is_entry || !func->has_body) {
        char what[256];
        snprintf(what, sizeof(what), "%s '%.200s'", func ? "not a kernel:" : "no kernel", name);
        return error_kernels(SONDE_EINPUT, module->ptx, what);
    }
    return kernel_create(out, module, func);
}

int rt_global_get(struct rt_module *module, const char *name, uint64_t *address, uint64_t *bytes)
{
    const struct ptx_var *var = ptx_find_var(module->ptx, name);
    if (!var || !u64_map_get(address, &module->addresses, (uintptr_t)var)) {
        return error_set(SONDE_EINPUT, "%s: no variable '%s' in global or constant memory",
                         module->ptx->file, name);
    }
    if (bytes) {
        *bytes = var->size;
    }
    return 0;
}

const char *rt_kernel_name(const struct rt_kernel *kernel)
{
    return kernel->func->name;
}

const struct exec_program *rt_kernel_program(const struct rt_kernel *kernel)
{
    return kernel->program;
}

void rt_kernel_info(const struct rt_kernel *kernel, uint32_t *registers, uint32_t *static_shared,
                    uint32_t *local_bytes)
{
    *registers = exec_program_register_count(kernel->program);
    *static_shared = exec_program_shared_bytes(kernel->program);
    *local_bytes = exec_program_local_bytes(kernel->program);
}

uint32_t rt_kernel_param_count(const struct rt_kernel *kernel)
{
    return kernel->func->param_count;
}

const struct ptx_var *rt_kernel_param(const struct rt_kernel *kernel, uint32_t i)
{
    return i < kernel->func->param_count ? &kernel->func->params[i] : NULL;
}
