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

/* A driver that has every function; those that no test calls are only there. */
static void driver_init(struct cuda *cuda)
{
    memset(cuda, 0, sizeof(*cuda));
    memset(&cuda->api, 1, sizeof(cuda->api));
    cuda->api.context_set = enter;
    cuda->api.array_create = array_create;
    cuda->api.array_destroy = array_destroy;
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
        cmocka_unit_test(a_driver_without_one_of_the_functions_has_no_images),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
