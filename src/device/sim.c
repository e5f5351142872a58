/*
 * The simulator as a device: a thin layer over rt, which does what a driver does. What it tells
 * about itself is what the model's driver section says, true or not.
 *
 * A carve-out belongs to a kernel, as with a real driver: it is applied at each launch. Models
 * whose driver knows no such preference (before Volta) keep their division; a kernel may ask for
 * what that has.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/backend.h"
#include "model/model.h"
#include "ptx/ir.h"
#include "rt/queue/queue.h"
#include "util/error.h"
#include "util/text/suggest.h"

struct device_kernel {
    struct rt_kernel *kernel;
    uint64_t shared_bytes;      /* carve-out asked for; NO_PREFERENCE */
    uint32_t bank_bytes;        /* of shared memory; 0: the default */
    struct device_kernel *next; /* of its module */
};

struct device_module {
    struct rt_module *module;
    struct device_kernel *kernels;
    struct device_module *next;
};

struct sim {
    struct device device;
    struct model *model;
    struct rt *rt;
    struct device_module *modules;
    uint64_t carved_bytes;                 /* what was last asked of rt; NO_PREFERENCE at first */
    uint64_t mapped_address, mapped_bytes; /* the buffer that was mapped last */
    struct gpu_stats counted;              /* when work was counted last */
    uint64_t work_ns;
};

#define NO_PREFERENCE UINT64_MAX

static struct sim *sim_of(struct device *device)
{
    return (struct sim *)device;
}

/* The most shared memory that a launch can get: of the division in force where that is fixed. */
static uint64_t shared_available(const struct model *model)
{
    const struct carveout_spec *carveout = &model->carveout;
    uint64_t most = model->sm.shared.size_bytes;
    for (uint32_t i = 0; carveout->follows_preference && i < carveout->count; i++) {
        uint64_t shared = carveout->choice[i].shared_bytes;
        most = shared > most ? shared : most;
    }
    return most;
}

/* A limit on launches is no claim: a driver that names one grants it. */
static uint64_t shared_granted(const struct model *model)
{
    uint64_t claimed = model->driver.shared_per_block_bytes, most = shared_available(model);
    return claimed < most ? claimed : most;
}

static void describe(struct device_info *info, const struct model *model)
{
    const struct driver_spec *driver = &model->driver;
    uint32_t max_threads = model->sm.max_threads < 1024 ? model->sm.max_threads : 1024;
    *info = (struct device_info){
        .kind = DEVICE_SIM,
        .driver = "sonde " SONDE_VERSION,
        .compute_major = driver->compute_major,
        .compute_minor = driver->compute_minor,
        .sms = model->sms,
        .clock_hz =
            driver->clock_hz ? driver->clock_hz : UINT64_C(1000000000000) / model->core_period_ps,
        .memory_bytes = model->vm.memory_bytes,
        .l2_bytes_reported = driver->l2_bytes,
        .memory_bandwidth_reported = driver->memory_clock_hz / 4 * driver->memory_bus_bits,
        .shared_per_sm_bytes = driver->shared_per_sm_bytes,
        .shared_per_block_bytes = shared_granted(model),
        .max_threads_per_block = max_threads,
    };
    snprintf(info->name, sizeof(info->name), "%s",
             driver->device_name[0] ? driver->device_name : model->name);
}

static void free_module(struct sim *sim, struct device_module *module)
{
    for (struct device_kernel *kernel = module->kernels, *next; kernel; kernel = next) {
        next = kernel->next;
        free(kernel);
    }
    rt_module_unload(sim->rt, module->module);
    free(module);
}

static void sim_close(struct device *device)
{
    struct sim *sim = sim_of(device);
    for (struct device_module *module = sim->modules, *next; module; module = next) {
        next = module->next;
        free_module(sim, module);
    }
    rt_destroy(sim->rt);
    model_destroy(sim->model);
    free(sim);
}

static int sim_module_load(struct device *device, struct device_module **out, const char *name,
                           const char *ptx, size_t length)
{
    struct sim *sim = sim_of(device);
    struct device_module *module = calloc(1, sizeof(*module));
    if (!module) {
        return error_memory();
    }
    int rc = rt_module_load(sim->rt, &module->module, name, ptx, length);
    if (rc < 0) {
        free(module);
        return rc;
    }
    module->next = sim->modules;
    sim->modules = module;
    *out = module;
    return SONDE_OK;
}

static void sim_module_unload(struct device *device, struct device_module *module)
{
    struct sim *sim = sim_of(device);
    struct device_module **link = &sim->modules;
    while (*link != module) {
        link = &(*link)->next;
    }
    *link = module->next;
    free_module(sim, module);
}

static int sim_kernel_get(struct device *device, struct device_kernel **out,
                          struct device_module *module, const char *name)
{
    (void)device;
    struct rt_kernel *kernel;
    int rc = rt_kernel_get(module->module, &kernel, name);
    if (rc < 0) {
        return rc;
    }
    struct device_kernel *found = module->kernels;
    while (found && found->kernel != kernel) {
        found = found->next;
    }
    if (!found) {
        found = calloc(1, sizeof(*found));
        if (!found) {
            return error_memory();
        }
        *found = (struct device_kernel){
            .kernel = kernel, .shared_bytes = NO_PREFERENCE, .next = module->kernels};
        module->kernels = found;
    }
    *out = found;
    return SONDE_OK;
}

static int sim_mem_alloc(struct device *device, uint64_t *address, uint64_t bytes)
{
    return rt_mem_alloc(sim_of(device)->rt, address, bytes);
}

static int sim_mem_free(struct device *device, uint64_t address)
{
    return rt_mem_free(sim_of(device)->rt, address);
}

enum { HOST_LINE_NS = 140 }; /* a line of L2 that the host copies; fitted with struct cost_ns */

static int sim_copy_to(struct device *device, uint64_t dst, const void *src, uint64_t bytes)
{
    struct sim *sim = sim_of(device);
    if (sim->model->l2.enabled) {
        sim->work_ns += bytes / sim->model->l2.line_bytes * HOST_LINE_NS;
    }
    device->work = sim->work_ns / 1000;
    return rt_copy_to_device(sim->rt, dst, src, bytes);
}

static int sim_copy_from(struct device *device, void *dst, uint64_t src, uint64_t bytes)
{
    return rt_copy_from_device(sim_of(device)->rt, dst, src, bytes);
}

static int sim_module_global(struct device *device, struct device_module *module, const char *name,
                             uint64_t *address, uint64_t *bytes)
{
    (void)device;
    return rt_global_get(module->module, name, address, bytes);
}

/*
 * All simulated memory consists of pages of one size, which have frames once they are allocated:
 * mapping page by page makes no difference here. A buffer that grows gives its frames back first
 * and gets them again, for the lowest go first: so its pages stay where they were, as they do on a
 * real GPU, and what a line takes does not change with them.
 */
static int sim_mem_map(struct device *device, uint64_t *address, uint64_t bytes,
                       uint64_t *page_bytes)
{
    struct sim *sim = sim_of(device);
    struct rt *rt = sim->rt;
    uint64_t page = sim->model->vm.page_bytes, held = 0;
    if (bytes > UINT64_MAX - page) {
        return error_set(SONDE_ENOMEM, "%llu bytes of memory", (unsigned long long)bytes);
    }
    uint64_t whole = (bytes + page - 1) / page * page;
    int rc = SONDE_OK;
    if (*address != 0) {
        held = *address == sim->mapped_address ? sim->mapped_bytes : 0;
        rc = rt_mem_free(rt, *address);
        *address = 0;
    }
    rc = rc < 0 ? rc : rt_mem_alloc(rt, address, whole);
    if (rc < 0 && held > 0) { /* as it was */
        char why[256];
        snprintf(why, sizeof why, "%s", error_text());
        rc = rt_mem_alloc(rt, address, held) < 0 ? rc : error_set(rc, "%s", why);
        whole = held;
    }
    sim->mapped_address = *address;
    sim->mapped_bytes = whole;
    *page_bytes = page;
    return rc;
}

static int sim_texture_create(struct device *device, uint64_t *handle, uint64_t address,
                              uint64_t bytes)
{
    return rt_texture_create(sim_of(device)->rt, handle, address, bytes);
}

static int sim_texture_destroy(struct device *device, uint64_t handle)
{
    return rt_texture_destroy(sim_of(device)->rt, handle);
}

/* A device's image is the runtime's. */
static struct rt_image *image_of(struct device_image *image)
{
    return (struct rt_image *)(void *)image;
}

static int sim_image_create(struct device *device, struct device_image **out,
                            const struct image_spec *spec)
{
    struct rt_image *image;
    int rc = rt_image_create(sim_of(device)->rt, &image, spec);
    *out = (struct device_image *)(void *)image;
    return rc;
}

static int sim_image_destroy(struct device *device, struct device_image *image)
{
    return rt_image_destroy(sim_of(device)->rt, image_of(image));
}

static int sim_image_copy(struct device *device, struct device_image *image, uint32_t level,
                          void *texels, bool to_device)
{
    struct rt *rt = sim_of(device)->rt;
    struct rt_image_region region;
    int rc = rt_image_whole(&region, image_of(image), level);
    if (rc < 0) {
        return rc;
    }
    return to_device ? rt_image_write(rt, image_of(image), &region, texels)
                     : rt_image_read(rt, texels, image_of(image), &region);
}

static int sim_texture_object(struct device *device, uint64_t *handle, struct device_image *image,
                              const struct texture_view *view)
{
    return rt_texture_object(sim_of(device)->rt, handle, image_of(image), view);
}

static int sim_surface_object(struct device *device, uint64_t *handle, struct device_image *image)
{
    return rt_surface_object(sim_of(device)->rt, handle, image_of(image));
}

static int sim_surface_destroy(struct device *device, uint64_t handle)
{
    return rt_surface_destroy(sim_of(device)->rt, handle);
}

/* What a model lacks is refused now; what it has is set when the kernel is launched. */
static int sim_set_shared_bank_bytes(struct device *device, struct device_kernel *kernel,
                                     uint32_t bytes)
{
    int rc = rt_set_shared_bank_bytes(sim_of(device)->rt, bytes);
    if (rc == SONDE_OK) {
        kernel->bank_bytes = bytes;
    }
    return rc;
}

static int sim_set_carveout(struct device *device, struct device_kernel *kernel,
                            uint64_t shared_bytes)
{
    const struct model *model = sim_of(device)->model;
    if (shared_bytes > shared_available(model)) {
        return error_set(SONDE_EUNSUPPORTED,
                         "%s has at most %llu bytes of shared memory for a "
                         "kernel, not %llu",
                         device->info.name, (unsigned long long)shared_available(model),
                         (unsigned long long)shared_bytes);
    }
    kernel->shared_bytes = shared_bytes;
    return SONDE_OK;
}

/* A change of the division empties L1, so rt is told only what differs from the last launch. */
static int apply_carveout(struct sim *sim, const struct device_kernel *kernel)
{
    const struct carveout_spec *carveout = &sim->model->carveout;
    if (carveout->count == 0 || !carveout->follows_preference) {
        return SONDE_OK;
    }
    uint64_t wanted = kernel->shared_bytes;
    if (wanted == NO_PREFERENCE && carveout->follows_occupancy) {
        rt_drop_carveout(sim->rt);
        sim->carved_bytes = NO_PREFERENCE;
        return SONDE_OK;
    }
    if (wanted == NO_PREFERENCE) {
        wanted = carveout->choice[carveout->initial].shared_bytes;
    }
    if (wanted == sim->carved_bytes) {
        return SONDE_OK;
    }
    uint64_t l1_bytes;
    int rc = rt_set_carveout(sim->rt, wanted, &l1_bytes);
    if (rc == SONDE_OK) {
        sim->carved_bytes = wanted;
    }
    return rc;
}

static int check_args(const struct device_kernel *kernel, const struct device_launch *launch)
{
    uint32_t count = rt_kernel_param_count(kernel->kernel);
    if (launch->arg_count != count) {
        return error_set(SONDE_EINPUT, "the kernel takes %u arguments, not %u", count,
                         launch->arg_count);
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct ptx_var *param = rt_kernel_param(kernel->kernel, i);
        if (launch->arg_sizes[i] != param->size) {
            return error_set(SONDE_EINPUT, "argument %u (%s) has %llu bytes, not %u", i,
                             param->name, (unsigned long long)param->size, launch->arg_sizes[i]);
        }
    }
    return SONDE_OK;
}

/*
 * Nanoseconds of a core of a full host, fitted to 740 experiments of eleven dissections of drawn
 * machines: half of them took 0.86 to 1.29 of what this says, one of twenty less than 0.68 or more
 * than 1.85. A warp that is alone repeats itself by rote (core/issue/rote.c): its instructions
 * take a fifth, and its reads of first levels and memory a third to a half, of what those of many
 * warps do, which meet each other.
 */
struct cost_ns {
    uint64_t launch, cta, insn, front, tlb, l2, dram, flit;
};

static const struct cost_ns alone = {
    .launch = 27000, .insn = 25, .front = 80, .tlb = 110, .l2 = 300, .dram = 675, .flit = 880};
static const struct cost_ns together = {.launch = 60000,
                                        .cta = 600,
                                        .insn = 120,
                                        .front = 260,
                                        .tlb = 100,
                                        .l2 = 230,
                                        .dram = 1450,
                                        .flit = 880};

static uint64_t cost_of(const struct gpu_stats *done, const struct cost_ns *ns)
{
    uint64_t front =
        done->l1_reads + done->texture_reads + done->constant_reads + done->constant_l15_reads;
    uint64_t tlb = done->tlb_l1_reads + done->tlb_l2_reads;
    uint64_t l2 = done->l2_reads + done->l2_writes, dram = done->dram_reads + done->dram_writes;
    uint64_t flits = done->noc.requests.flits + done->noc.replies.flits;
    return done->launches * ns->launch + done->ctas * ns->cta + done->warp_insns * ns->insn +
           front * ns->front + tlb * ns->tlb + l2 * ns->l2 + dram * ns->dram + flits * ns->flit;
}

/* Adds what was done since the last time to the device's work. */
static void count_work(struct sim *sim, bool is_alone)
{
    struct gpu_stats now, done;
    gpu_stats(rt_gpu(sim->rt), &now);
    done = now;
    gpu_stats_since(&done, &sim->counted);
    sim->counted = now;
    sim->work_ns += cost_of(&done, is_alone ? &alone : &together);
    sim->device.work = sim->work_ns / 1000;
}

static bool is_one_warp(const struct device_launch *launch)
{
    enum { WARP = 32 };
    const uint32_t *grid = launch->grid, *block = launch->block;
    return (uint64_t)grid[0] * grid[1] * grid[2] == 1 && block[0] <= WARP &&
           block[1] * block[2] == 1;
}

static struct rt_launch launch_of(const struct device_launch *launch)
{
    return (struct rt_launch){
        .grid = {launch->grid[0], launch->grid[1], launch->grid[2]},
        .block = {launch->block[0], launch->block[1], launch->block[2]},
        .dynamic_shared_bytes = launch->dynamic_shared_bytes,
        .args = launch->args,
        .arg_count = launch->arg_count,
        .functional = launch->untimed,
    };
}

/* What a kernel's launch asks of the device before it. */
static int prepare(struct sim *sim, const struct device_kernel *kernel,
                   const struct device_launch *launch)
{
    int rc = check_args(kernel, launch);
    if (rc == SONDE_OK) {
        rc = apply_carveout(sim, kernel);
    }
    if (rc == SONDE_OK) {
        rc = rt_set_shared_bank_bytes(sim->rt, kernel->bank_bytes);
    }
    return rc;
}

static int sim_launch(struct device *device, struct device_kernel *kernel,
                      const struct device_launch *launch)
{
    struct sim *sim = sim_of(device);
    struct rt_launch run = launch_of(launch);
    int rc = prepare(sim, kernel, launch);
    if (rc < 0) {
        return rc;
    }
    uint64_t cycles;
    rt_set_cancel(sim->rt, device->cancel);
    rc = rt_launch(sim->rt, kernel->kernel, &run, &cycles);
    count_work(sim, is_one_warp(launch));
    rt_recover(sim->rt); /* one probe's fault does not cost the others their measurements */
    return rc;
}

static int sim_launch_together(struct device *device, struct device_kernel *const *kernels,
                               const struct device_launch *launches, uint32_t count)
{
    struct sim *sim = sim_of(device);
    struct rt_stream *streams[DEVICE_MAX_TOGETHER] = {NULL};
    int rc = SONDE_OK;
    rt_set_cancel(sim->rt, device->cancel);
    rt_set_watchdog(sim->rt, 0); /* nothing runs but when it is waited for */
    for (uint32_t i = 0; i < count && rc == SONDE_OK; i++) {
        struct rt_launch run = launch_of(&launches[i]);
        rc = prepare(sim, kernels[i], &launches[i]);
        rc = rc < 0 ? rc : rt_stream_create(sim->rt, &streams[i], RT_STREAM_NONBLOCKING, 0);
        rc = rc < 0 ? rc : rt_enqueue_launch(streams[i], kernels[i]->kernel, &run);
    }
    int ended = rt_sync(sim->rt);
    rc = rc < 0 ? rc : ended;
    for (uint32_t i = 0; i < count && streams[i]; i++) {
        rt_stream_destroy(streams[i]);
    }
    count_work(sim, false);
    rt_recover(sim->rt);
    return rc;
}

static const struct device_ops sim_ops = {
    .close = sim_close,
    .module_load = sim_module_load,
    .module_unload = sim_module_unload,
    .kernel_get = sim_kernel_get,
    .mem_alloc = sim_mem_alloc,
    .mem_free = sim_mem_free,
    .copy_to = sim_copy_to,
    .copy_from = sim_copy_from,
    .module_global = sim_module_global,
    .mem_map = sim_mem_map,
    .mem_unmap = sim_mem_free,
    .texture_create = sim_texture_create,
    .texture_destroy = sim_texture_destroy,
    .image_create = sim_image_create,
    .image_destroy = sim_image_destroy,
    .image_copy = sim_image_copy,
    .texture_object = sim_texture_object,
    .surface_object = sim_surface_object,
    .surface_destroy = sim_surface_destroy,
    .set_shared_bank_bytes = sim_set_shared_bank_bytes,
    .set_carveout = sim_set_carveout,
    .launch = sim_launch,
    .launch_together = sim_launch_together,
};

const char *sim_meant(const char *name)
{
    const char *dot = strrchr(name, '.');
    if (dot && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0)) {
        return name;
    }
    struct suggest suggest = suggest_begin(name);
    const char *longer = NULL;
    for (size_t i = 0; i < model_builtin_count(); i++) {
        const char *model = model_builtin_name(i);
        bool begins = *name && strncmp(model, name, strlen(name)) == 0;
        longer = begins && (!longer || strlen(model) < strlen(longer)) ? model : longer;
        suggest_offer(&suggest, model);
    }
    return longer ? longer : suggest_best(&suggest);
}

int sim_open(struct device **out, const char *name)
{
    struct sim *sim = calloc(1, sizeof(*sim));
    if (!sim) {
        return error_memory();
    }
    sim->device.ops = &sim_ops;
    sim->carved_bytes = NO_PREFERENCE;
    int rc = model_load(&sim->model, name);
    if (rc == SONDE_OK) {
        rc = rt_create(&sim->rt, sim->model);
    }
    if (rc < 0) {
        model_destroy(sim->model);
        free(sim);
        return rc;
    }
    describe(&sim->device.info, sim->model);
    *out = &sim->device;
    return SONDE_OK;
}

int sim_list(struct listing_vec *rows)
{
    for (size_t i = 0; i < model_builtin_count(); i++) {
        struct device_listing row = {.available = true};
        struct model *model;
        int rc = model_load(&model, model_builtin_name(i));
        if (rc < 0) {
            return rc;
        }
        snprintf(row.spec, sizeof(row.spec), "sim:%s", model_builtin_name(i));
        describe(&row.info, model);
        model_destroy(model);
        if (vec_push(rows, row) < 0) {
            return error_memory();
        }
    }
    return SONDE_OK;
}
