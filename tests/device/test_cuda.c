/* cuda.c against fake_cuda.c: what it asks of a driver, and what it makes of each kind of failure.
 */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "device/backend.h"
#include "support/fake_cuda.h"
#include "util/error.h"

/* The library's own knobs: loading it again gives the same copy that cuda.c uses. */
static struct fake_cuda *fresh_fake(void)
{
    void *handle = dlopen(FAKE_CUDA, RTLD_NOW);
    struct fake_cuda *fake = handle ? dlsym(handle, "fake_cuda") : NULL;
    assert_non_null(fake);
    *fake = (struct fake_cuda){.count = 2, .compute_major = 9};
    return fake;
}

static struct device *open_fake(void)
{
    struct device *device = NULL;
    if (cuda_open(&device, 0, FAKE_CUDA) < 0) {
        fail_msg("%s", error_text());
    }
    return device;
}

static struct device_kernel *load_add(struct device *device)
{
    struct device_module *module;
    struct device_kernel *kernel;
    assert_int_equal(device_module_load(device, &module, "add.ptx", "fine", 4), 0);
    assert_int_equal(device_kernel_get(device, &kernel, module, "add"), 0);
    return kernel;
}

static int launch_add(struct device *device, struct device_kernel *kernel, uint64_t array,
                      uint32_t shared_bytes)
{
    uint32_t count = 4, addend = 5;
    struct device_launch launch = {.grid = {1, 2, 3},
                                   .block = {4, 5, 6},
                                   .dynamic_shared_bytes = shared_bytes,
                                   .args = {&array, &count, &addend},
                                   .arg_sizes = {8, 4, 4},
                                   .arg_count = 3};
    return device_launch(device, kernel, &launch);
}

static void a_device_tells_what_the_driver_told(void **state)
{
    (void)state;
    fresh_fake();
    struct device *device = open_fake();
    assert_int_equal(device->info.kind, DEVICE_CUDA);
    assert_string_equal(device->info.name, "Fake GPU");
    assert_string_equal(device->info.driver, "CUDA 13.2");
    assert_string_equal(device->info.uuid, "00102030-4050-6070-8090-a0b0c0d0e0f0");
    assert_int_equal(device->info.sms, 132);
    assert_int_equal(device->info.clock_hz, 1980000000);
    assert_int_equal(device->info.memory_bytes, (uint64_t)140 << 30);
    assert_int_equal(device->info.l2_bytes_reported, 60 << 20);
    assert_int_equal(device->info.shared_per_sm_bytes, 233472);
    assert_int_equal(device->info.shared_per_block_bytes, 232448);
    assert_int_equal(device->info.max_threads_per_block, 1024);
    device_close(device);
}

static void a_kernel_runs_and_everything_is_given_back(void **state)
{
    (void)state;
    struct fake_cuda *fake = fresh_fake();
    struct device *device = open_fake();
    struct device_kernel *kernel = load_add(device);
    uint32_t data[4] = {1, 2, 3, 4};
    uint64_t array;
    assert_int_equal(device_mem_alloc(device, &array, sizeof(data)), 0);
    assert_int_equal(device_copy_to(device, array, data, sizeof(data)), 0);
    assert_int_equal(launch_add(device, kernel, array, 100), 0);
    assert_int_equal(device_copy_from(device, data, array, sizeof(data)), 0);
    assert_int_equal(device_mem_free(device, array), 0);
    assert_int_equal(data[0], 6);
    assert_int_equal(data[3], 9);
    assert_int_equal(fake->grid[0] * 100 + fake->grid[1] * 10 + fake->grid[2], 123);
    assert_int_equal(fake->block[0] * 100 + fake->block[1] * 10 + fake->block[2], 456);
    assert_int_equal(fake->shared_bytes, 100);
    device_close(device);
    assert_int_equal(fake->retained, 1);
    assert_int_equal(fake->released, 1);
    assert_int_equal(fake->loaded, 1);
    assert_int_equal(fake->unloaded, 1);
    assert_int_equal(fake->freed, fake->allocated);
}

static void much_dynamic_shared_memory_is_asked_for_once(void **state)
{
    (void)state;
    struct fake_cuda *fake = fresh_fake();
    struct device *device = open_fake();
    struct device_kernel *kernel = load_add(device);
    uint64_t array;
    assert_int_equal(device_mem_alloc(device, &array, 16), 0);
    assert_int_equal(launch_add(device, kernel, array, 48128), 0);
    assert_int_equal(fake->dynamic_limit, 0);
    /* What the kernel itself declares may take it beyond 48 KiB. */
    assert_int_equal(launch_add(device, kernel, array, 49152), 0);
    assert_int_equal(fake->dynamic_limit, 49152);
    assert_int_equal(launch_add(device, kernel, array, 100000), 0);
    assert_int_equal(fake->dynamic_limit, 100000);
    fake->dynamic_limit = 0;
    assert_int_equal(launch_add(device, kernel, array, 60000), 0);
    assert_int_equal(fake->dynamic_limit, 0);
    assert_int_equal(launch_add(device, kernel, array, 232449), SONDE_EUNSUPPORTED);
    assert_string_equal(error_text(),
                        "Fake GPU gives a block 232448 bytes of shared memory, not 232449");
    device_mem_free(device, array);
    device_close(device);
}

static void a_carve_out_is_a_rounded_up_percentage_with_the_reserve(void **state)
{
    (void)state;
    struct fake_cuda *fake = fresh_fake();
    struct device *device = open_fake();
    struct device_kernel *kernel = load_add(device);
    assert_int_equal(device_set_carveout(device, kernel, 8192), 0);
    assert_int_equal(fake->carveout_percent, 4); /* 9216 of 233472 are 3.95 % */
    assert_int_equal(device_set_carveout(device, kernel, 232448), 0);
    assert_int_equal(fake->carveout_percent, 100);
    assert_int_equal(device_set_carveout(device, kernel, 232449), SONDE_EUNSUPPORTED);
    assert_int_equal(device_set_carveout(device, kernel, UINT64_MAX), SONDE_EUNSUPPORTED);
    device_close(device);
}

static void gpus_before_volta_keep_their_division(void **state)
{
    (void)state;
    struct fake_cuda *fake = fresh_fake();
    fake->compute_major = 6;
    struct device *device = open_fake();
    struct device_kernel *kernel = load_add(device);
    assert_int_equal(device_set_carveout(device, kernel, 8192), 0);
    assert_int_equal(fake->carveout_percent, 0);
    device_close(device);
}

static void the_compilers_log_is_in_the_error(void **state)
{
    (void)state;
    fresh_fake();
    struct device *device = open_fake();
    struct device_module *module;
    assert_int_equal(device_module_load(device, &module, "k.ptx", "broken", 6), SONDE_EINPUT);
    assert_string_equal(error_text(), "k.ptx: cuModuleLoadDataEx: CUDA_ERROR_INVALID_PTX (218)\n"
                                      "ptxas error : line 1: broken");
    assert_int_equal(device_module_load(device, &module, "k.ptx", "a\0b", 3), SONDE_EINPUT);
    assert_string_equal(error_text(), "k.ptx: holds a zero byte");
    device_close(device);
}

static void a_missing_kernel_and_exhausted_memory_are_named(void **state)
{
    (void)state;
    fresh_fake();
    struct device *device = open_fake();
    struct device_module *module;
    struct device_kernel *kernel;
    uint64_t address;
    assert_int_equal(device_module_load(device, &module, "k.ptx", "fine", 4), 0);
    assert_int_equal(device_kernel_get(device, &kernel, module, "sub"), SONDE_EINPUT);
    assert_string_equal(error_text(), "kernel 'sub': CUDA_ERROR_NOT_FOUND (500)");
    assert_int_equal(device_mem_alloc(device, &address, (uint64_t)1 << 40), SONDE_ENOMEM);
    assert_string_equal(error_text(),
                        "allocating 1099511627776 bytes: CUDA_ERROR_OUT_OF_MEMORY (2)");
    device_close(device);
}

static void after_a_fault_every_call_says_why(void **state)
{
    (void)state;
    struct fake_cuda *fake = fresh_fake();
    struct device *device = open_fake();
    struct device_kernel *kernel = load_add(device);
    uint64_t array;
    assert_int_equal(device_mem_alloc(device, &array, 16), 0);
    fake->launch_result = 700;
    assert_int_equal(launch_add(device, kernel, array, 0), SONDE_EFAULT);
    assert_string_equal(error_text(), "the kernel: CUDA_ERROR_ILLEGAL_ADDRESS (700): "
                                      "an illegal memory access was encountered");
    uint32_t word;
    assert_int_equal(device_copy_from(device, &word, array, 4), SONDE_EFAULT);
    assert_string_equal(error_text(),
                        "Fake GPU was lost to an earlier fault (the kernel: "
                        "CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was "
                        "encountered)");
    assert_int_equal(device_mem_free(device, array), SONDE_EFAULT);
    device_close(device);
    assert_int_equal(fake->released, 1);
    assert_int_equal(fake->unloaded, 0);
    free((void *)(uintptr_t)array);
}

static void mapped_memory_is_made_of_pages_and_grows_where_it_is(void **state)
{
    (void)state;
    struct fake_cuda *fake = fresh_fake();
    struct device *device = open_fake();
    uint64_t address = 0, page_bytes = 0, before;
    uint32_t word = 7, read = 0;
    assert_int_equal(device_mem_map(device, &address, 5 << 20, &page_bytes), 0);
    assert_int_equal(page_bytes, 2 << 20);
    assert_int_equal(fake->pages_mapped, 3);
    assert_int_equal(fake->accessible_bytes, 6 << 20);
    assert_int_equal(device_copy_to(device, address + (6 << 20) - 4, &word, 4), 0);
    before = address;
    assert_int_equal(device_mem_map(device, &address, 9 << 20, &page_bytes), 0);
    assert_int_equal(address, before);
    assert_int_equal(fake->pages_mapped, 5);
    assert_int_equal(device_copy_from(device, &read, address + (6 << 20) - 4, 4), 0);
    assert_int_equal(read, 7);
    assert_int_equal(device_mem_unmap(device, address), 0);
    assert_int_equal(fake->pages_mapped + fake->ranges, 0);
    assert_int_equal(fake->pages_released, fake->pages_created);
    assert_int_equal(device_mem_unmap(device, address), SONDE_EUSAGE);
    assert_int_equal(device_mem_map(device, &before, 1, &page_bytes), SONDE_EUSAGE);
    device_close(device);
}

static void too_few_pages_leave_a_mapping_as_it_was(void **state)
{
    (void)state;
    struct fake_cuda *fake = fresh_fake();
    struct device *device = open_fake();
    uint64_t address = 0, page_bytes = 0;
    volatile int cancel = 1;
    assert_int_equal(device_mem_map(device, &address, 2 << 20, &page_bytes), 0);
    fake->page_limit = 3;
    assert_int_equal(device_mem_map(device, &address, 20 << 20, &page_bytes), SONDE_ENOMEM);
    assert_int_equal(fake->pages_mapped, 1);
    assert_int_equal(device_mem_map(device, &address, (uint64_t)200 << 30, &page_bytes),
                     SONDE_ENOMEM);
    assert_int_equal(device_mem_map(device, &address, 6 << 20, &page_bytes), 0);
    fake->page_limit = 0;
    device->cancel = &cancel;
    assert_int_equal(device_mem_map(device, &address, 20 << 20, &page_bytes), SONDE_EINTERRUPTED);
    assert_int_equal(fake->pages_mapped, 3);
    device_close(device);
    assert_int_equal(fake->pages_mapped + fake->ranges, 0);
}

static void neighbours_in_a_mapping_come_from_different_places(void **state)
{
    (void)state;
    struct fake_cuda *fake = fresh_fake();
    /* The fake finds it when an address is mapped twice or not at all. */
    for (uint64_t pages = 1; pages <= 40; pages++) {
        struct device *device = open_fake();
        uint64_t address = 0, page_bytes = 0;
        fake->neighbours = 0;
        assert_int_equal(device_mem_map(device, &address, pages << 21, &page_bytes), 0);
        assert_int_equal(fake->pages_mapped, pages);
        assert_true(pages < 5 || fake->neighbours == 0);
        device_close(device);
        assert_int_equal(fake->pages_mapped, 0);
    }
}

static void textures_are_linear_words_and_given_back(void **state)
{
    (void)state;
    struct fake_cuda *fake = fresh_fake();
    struct device *device = open_fake();
    uint64_t handle = 0;
    assert_int_equal(device_texture_create(device, &handle, 0x7000, 8192), 0);
    assert_int_equal(fake->texture_address, 0x7000);
    assert_int_equal(fake->texture_bytes, 8192);
    assert_int_equal(device_texture_destroy(device, handle), 0);
    assert_int_equal(fake->textures, 0);
    device_close(device);
}

enum { LAYERED = 1, SURFACE = 2, CUBE = 4, GATHER = 8 };
static const struct {
    struct image_spec spec;
    uint64_t height, depth;
    int format;
    unsigned flags;
    uint64_t slices; /* of the last level */
} image_rows[] = {
    {{.shape = IMAGE_1D, .format = {TEXEL_UNSIGNED, 8, 4}, .width = 9}, 0, 0, 1, 0, 1},
    {{.shape = IMAGE_2D,
      .format = {TEXEL_SIGNED, 16, 2},
      .width = 9,
      .height = 5,
      .depth = 1,
      .surface = true},
     5,
     0,
     9,
     SURFACE | GATHER,
     1},
    {{.shape = IMAGE_3D,
      .format = {TEXEL_FLOAT, 16, 1},
      .width = 8,
      .height = 8,
      .depth = 8,
      .levels = 3},
     8,
     8,
     16,
     0,
     2},
    {{.shape = IMAGE_1D_LAYERED,
      .format = {TEXEL_FLOAT, 32, 1},
      .width = 8,
      .height = 1,
      .depth = 3},
     0,
     3,
     32,
     LAYERED,
     3},
    {{.shape = IMAGE_CUBE_LAYERED,
      .format = {TEXEL_SIGNED, 32, 1},
      .width = 8,
      .height = 8,
      .depth = 2},
     8,
     12,
     10,
     LAYERED | CUBE,
     12},
};

static void a_copy_has_the_sizes_of_a_level_that_is_there(void **state)
{
    (void)state;
    struct fake_cuda *fake = fresh_fake();
    struct device *device = open_fake();
    /* A height says nothing of one dimension, as on a simulated device. */
    const struct image_spec spec = {
        .shape = IMAGE_1D, .format = {TEXEL_UNSIGNED, 8, 1}, .width = 64, .height = 9};
    static const uint32_t missing[] = {1, 6, 40};
    struct device_image *image;
    uint8_t texels[64] = {0};
    assert_int_equal(device_image_create(device, &image, &spec), 0);
    assert_int_equal(device_image_write(device, image, 0, texels), 0);
    assert_int_equal(fake->array.copied_bytes[0], 64);
    assert_int_equal(fake->array.copied_bytes[1], 1);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(device_image_write(device, image, missing[i], texels), SONDE_EINPUT);
        assert_non_null(strstr(error_text(), "has no level"));
    }
    assert_int_equal(device_image_destroy(device, image), 0);
    device_close(device);
}

static void images_are_told_in_the_drivers_words(void **state)
{
    (void)state;
    struct fake_cuda *fake = fresh_fake();
    struct device *device = open_fake();
    for (size_t i = 0; i < sizeof(image_rows) / sizeof(*image_rows); i++) {
        const struct image_spec *spec = &image_rows[i].spec;
        uint32_t last = spec->levels > 1 ? spec->levels - 1 : 0;
        struct texture_view view = {.level_max = 1};
        struct device_image *image;
        uint64_t texture, surface;
        uint8_t texels[4096] = {0};
        assert_int_equal(device_image_create(device, &image, spec), 0);
        assert_int_equal(fake->array.width, spec->width);
        assert_int_equal(fake->array.height, image_rows[i].height);
        assert_int_equal(fake->array.depth, image_rows[i].depth);
        assert_int_equal(fake->array.format, image_rows[i].format);
        assert_int_equal(fake->array.channels, spec->format.channels);
        assert_int_equal(fake->array.flags, image_rows[i].flags);
        assert_int_equal(device_image_write(device, image, last, texels), 0);
        assert_int_equal(fake->array.copied_bytes[0],
                         (spec->width >> last) * spec->format.bits / 8 * spec->format.channels);
        assert_int_equal(fake->array.copied_bytes[2], image_rows[i].slices);
        assert_int_equal(device_image_read(device, texels, image, last), 0);
        assert_int_equal(device_texture_object(device, &texture, image, &view), 0);
        assert_int_equal(device_texture_destroy(device, texture), 0);
        if (spec->surface) {
            assert_int_equal(device_surface_object(device, &surface, image), 0);
            assert_int_equal(device_surface_destroy(device, surface), 0);
        }
        assert_int_equal(device_image_destroy(device, image), 0);
        assert_int_equal(fake->array.alive, 0);
    }
    device_close(device);
}

static void a_modules_variable_is_found_by_name(void **state)
{
    (void)state;
    fresh_fake();
    struct device *device = open_fake();
    struct device_module *module;
    uint64_t address = 0, bytes = 0;
    assert_int_equal(device_module_load(device, &module, "k.ptx", "fine", 4), 0);
    assert_int_equal(device_module_global(device, module, "constants", &address, &bytes), 0);
    assert_int_equal(bytes, 64);
    assert_int_equal(device_module_global(device, module, "others", &address, &bytes),
                     SONDE_EINPUT);
    assert_string_equal(error_text(), "variable 'others': CUDA_ERROR_NOT_FOUND (500)");
    device_close(device);
}

static void the_width_of_banks_is_keplers_to_choose(void **state)
{
    (void)state;
    struct fake_cuda *fake = fresh_fake();
    struct device *device = open_fake();
    assert_int_equal(device_set_shared_bank_bytes(device, load_add(device), 8), SONDE_EUNSUPPORTED);
    device_close(device);
    fake->compute_major = 3;
    device = open_fake();
    struct device_kernel *kernel = load_add(device);
    assert_int_equal(device_set_shared_bank_bytes(device, kernel, 8), 0);
    assert_int_equal(fake->bank_config, 2);
    assert_int_equal(device_set_shared_bank_bytes(device, kernel, 0), 0);
    assert_int_equal(fake->bank_config, 0);
    assert_int_equal(device_set_shared_bank_bytes(device, kernel, 16), SONDE_EUSAGE);
    device_close(device);
}

static void a_gpu_that_is_not_there_is_unavailable(void **state)
{
    (void)state;
    struct fake_cuda *fake = fresh_fake();
    struct device *device = NULL;
    assert_int_equal(cuda_open(&device, 2, FAKE_CUDA), SONDE_EDEVICE);
    assert_string_equal(error_text(), "there is no GPU 2: the driver has 2, counted from 0");
    fake->count = 0;
    assert_int_equal(cuda_open(&device, 0, FAKE_CUDA), SONDE_EDEVICE);
    assert_string_equal(error_text(), "the CUDA driver finds no GPU");
    fake->init_result = 100;
    assert_int_equal(cuda_open(&device, 0, FAKE_CUDA), SONDE_EDEVICE);
    assert_string_equal(error_text(), "starting the CUDA driver (cuInit): unknown error (100)");
    assert_null(device);
    *fake = (struct fake_cuda){.count = 1, .compute_major = 9, .no_context = 1};
    assert_int_equal(cuda_open(&device, 0, FAKE_CUDA), SONDE_EDEVICE);
    assert_string_equal(error_text(),
                        "cuda:0: cuDevicePrimaryCtxRetain: CUDA_ERROR_OUT_OF_MEMORY (2)");
    assert_int_equal(fake->released, 0);
}

static void a_driver_that_is_none_is_told_from_one_that_is_missing(void **state)
{
    (void)state;
    struct device *device = NULL;
    assert_int_equal(cuda_open(&device, 0, "libno-such-driver.so.1"), SONDE_EDEVICE);
    assert_memory_equal(error_text(), "no CUDA driver: cannot load libno-such-driver.so.1 (", 52);
    assert_int_equal(cuda_open(&device, 0, SONDE_SOURCE_DIR "/LICENSE"), SONDE_EDEVICE);
    assert_memory_equal(error_text(), "no CUDA driver: cannot load ", 28);
    assert_int_equal(cuda_open(&device, 0, HOLLOW_CUDA), SONDE_EDEVICE);
    assert_string_equal(error_text(),
                        HOLLOW_CUDA " is no usable CUDA driver: it has no cuDriverGetVersion");
}

static void the_listing_has_every_gpu_or_says_why_none(void **state)
{
    (void)state;
    struct fake_cuda *fake = fresh_fake();
    struct listing_vec rows = {0};
    assert_int_equal(cuda_list(&rows, FAKE_CUDA), 0);
    assert_int_equal(rows.count, 2);
    assert_string_equal(rows.data[1].spec, "cuda:1");
    assert_string_equal(rows.data[1].info.name, "Other GPU");
    assert_true(rows.data[1].available);
    assert_int_equal(fake->retained, 0);
    vec_clear(&rows);
    assert_int_equal(cuda_list(&rows, "libno-such-driver.so.1"), 0);
    assert_int_equal(rows.count, 1);
    assert_false(rows.data[0].available);
    assert_memory_equal(rows.data[0].why, "no CUDA driver: ", 16);
    vec_free(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_device_tells_what_the_driver_told),
        cmocka_unit_test(a_kernel_runs_and_everything_is_given_back),
        cmocka_unit_test(much_dynamic_shared_memory_is_asked_for_once),
        cmocka_unit_test(a_carve_out_is_a_rounded_up_percentage_with_the_reserve),
        cmocka_unit_test(gpus_before_volta_keep_their_division),
        cmocka_unit_test(the_compilers_log_is_in_the_error),
        cmocka_unit_test(a_missing_kernel_and_exhausted_memory_are_named),
        cmocka_unit_test(after_a_fault_every_call_says_why),
        cmocka_unit_test(mapped_memory_is_made_of_pages_and_grows_where_it_is),
        cmocka_unit_test(too_few_pages_leave_a_mapping_as_it_was),
        cmocka_unit_test(neighbours_in_a_mapping_come_from_different_places),
        cmocka_unit_test(textures_are_linear_words_and_given_back),
        cmocka_unit_test(a_copy_has_the_sizes_of_a_level_that_is_there),
        cmocka_unit_test(images_are_told_in_the_drivers_words),
        cmocka_unit_test(a_modules_variable_is_found_by_name),
        cmocka_unit_test(the_width_of_banks_is_keplers_to_choose),
        cmocka_unit_test(a_gpu_that_is_not_there_is_unavailable),
        cmocka_unit_test(a_driver_that_is_none_is_told_from_one_that_is_missing),
        cmocka_unit_test(the_listing_has_every_gpu_or_says_why_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
