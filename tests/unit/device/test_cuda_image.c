/* Images of a real GPU's driver, by a driver that the test makes up: what it lacks is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "device/cuda.h"
#include "util/error.h"

static int arrays; /* that there are */

static cu_result enter(cu_context context)
{
    (void)context;
    return CU_SUCCESS;
}

static cu_result array_create(cu_array *array, const struct cu_array_spec *spec)
{
    (void)spec;
    *array = (cu_array)&arrays; /* only compared with NULL */
    arrays++;
    return CU_SUCCESS;
}

static cu_result array_destroy(cu_array array)
{
    (void)array;
    arrays--;
    return CU_SUCCESS;
}

static struct cu_texture_resource asked; /* of the last object */
static struct cu_texture_view view_asked;
static cu_result answer;

static cu_result texture_create(uint64_t *handle, const struct cu_texture_resource *resource,
                                const struct cu_texture_view *view, const void *resource_view)
{
    assert_null(resource_view);
    asked = *resource;
    view_asked = *view;
    *handle = 77;
    return answer;
}

static cu_result name_error(cu_result error, const char **text)
{
    (void)error;
    *text = "some error";
    return CU_SUCCESS;
}

static cu_result surface_create(uint64_t *handle, const struct cu_texture_resource *resource)
{
    asked = *resource;
    *handle = 78;
    return answer;
}

/* A driver that has every function; those that no test calls are only there. */
static void driver_init(struct cuda *cuda)
{
    memset(cuda, 0, sizeof(*cuda));
    memset(&cuda->api, 1, sizeof(cuda->api));
    cuda->api.context_set = enter;
    cuda->api.array_create = array_create;
    cuda->api.array_destroy = array_destroy;
    cuda->api.texture_create = texture_create;
    cuda->api.surface_create = surface_create;
    cuda->api.error_name = cuda->api.error_string = name_error;
    answer = CU_SUCCESS;
    strcpy(cuda->device.info.name, "card");
}

static const struct image_spec line = {.shape = IMAGE_1D,
                                       .width = 64,
                                       .height = 1,
                                       .depth = 1,
                                       .levels = 1,
                                       .format = {TEXEL_UNSIGNED, 32, 1}};

static void a_driver_with_all_functions_makes_an_image(void **state)
{
    (void)state;
    struct cuda cuda;
    struct device_image *image = NULL;
    driver_init(&cuda);
    assert_int_equal(cuda_image_create(&cuda.device, &image, &line), SONDE_OK);
    assert_int_equal(arrays, 1);
    assert_int_equal(cuda_image_destroy(&cuda.device, image), SONDE_OK);
    assert_int_equal(arrays, 0);
}

static void the_driver_makes_objects_of_what_the_view_says(void **state)
{
    (void)state;
    struct cuda cuda;
    struct device_image *image = NULL;
    const struct texture_view view = {.address = {TEXTURE_CLAMP, TEXTURE_WRAP, TEXTURE_MIRROR},
                                      .linear = true,
                                      .normalized = true,
                                      .level_linear = true,
                                      .level_bias = 0.5f,
                                      .level_min = 1,
                                      .level_max = 2,
                                      .border = {3, 4, 5, 6}};
    driver_init(&cuda);
    assert_int_equal(cuda_image_create(&cuda.device, &image, &line), SONDE_OK);
    uint64_t handle = 0;
    assert_int_equal(cuda_texture_object(&cuda.device, &handle, image, &view), SONDE_OK);
    assert_int_equal(handle, 77);
    assert_int_equal(asked.type, CU_RESOURCE_ARRAY);
    assert_ptr_equal(asked.as.array, &arrays);
    assert_int_equal(view_asked.flags, CU_NORMALIZED_COORDINATES);
    assert_int_equal(view_asked.filter_mode, 1);
    assert_int_equal(view_asked.mipmap_filter_mode, 1);
    assert_true(view_asked.mipmap[0] == 0.5f);
    assert_true(view_asked.mipmap[1] == 1 && view_asked.mipmap[2] == 2);
    for (int i = 0; i < 4; i++) {
        assert_true(view_asked.border[i] == 3 + (float)i);
        assert_true(i == 3 || view_asked.address_mode[i] == (int)view.address[i]);
    }
    assert_int_equal(cuda_surface_object(&cuda.device, &handle, image), SONDE_OK);
    assert_int_equal(handle, 78);
    answer = (cu_result)1;
    assert_true(cuda_texture_object(&cuda.device, &handle, image, &view) < 0);
    assert_non_null(strstr(error_text(), "cuTexObjectCreate"));
    assert_true(cuda_surface_object(&cuda.device, &handle, image) < 0);
    assert_non_null(strstr(error_text(), "cuSurfObjectCreate"));
    assert_int_equal(cuda_image_destroy(&cuda.device, image), SONDE_OK);
}

static void a_driver_without_one_of_the_functions_has_no_images(void **state)
{
    (void)state;
    struct cuda cuda;
    struct device_image *image;
#define WITHOUT(member)                                                                            \
    driver_init(&cuda);                                                                            \
    cuda.api.member = NULL;                                                                        \
    assert_int_equal(cuda_image_create(&cuda.device, &image, &line), SONDE_EUNSUPPORTED);          \
    assert_string_equal(error_text(), "the driver of card has no arrays, textures and surfaces");
    WITHOUT(array_create)
    WITHOUT(array_destroy)
    WITHOUT(mipmap_create)
    WITHOUT(mipmap_level)
    WITHOUT(mipmap_destroy)
    WITHOUT(copy_box)
    WITHOUT(surface_create)
    WITHOUT(surface_destroy)
    WITHOUT(texture_create)
    WITHOUT(texture_destroy)
#undef WITHOUT
    assert_int_equal(arrays, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_driver_with_all_functions_makes_an_image),
        cmocka_unit_test(the_driver_makes_objects_of_what_the_view_says),
        cmocka_unit_test(a_driver_without_one_of_the_functions_has_no_images),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
