/* Device names, recordings as devices, and calls that a backend does not have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "device/device.h"
#include "trace/trace.h"
#include "util/error.h"

static void refuse(const char *spec, int code, const char *message)
{
    struct device *device = NULL;
    assert_int_equal(device_open(&device, spec), code);
    assert_null(device);
    if (message) {
        assert_string_equal(error_text(), message);
    }
}

static void names_that_are_none_are_usage_errors(void **state)
{
    (void)state;
    static const char *const none[] = {"", "sim", "sim:", "replay:", "cuda", "xyzzy:9"};
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        char message[200];
        snprintf(message, sizeof(message),
                 "'%s' is no device: expected sim:NAME, sim:PATH.yaml, cuda:N or replay:FILE",
                 none[i]);
        refuse(none[i], SONDE_EUSAGE, message);
    }
    refuse("gtx780", SONDE_EUSAGE, "'gtx780' is no device; did you mean 'sim:gtx780'?");
    refuse("SIM:gtx780", SONDE_EUSAGE, "'SIM:gtx780' is no device; did you mean 'sim:gtx780'?");
    refuse("gtx560", SONDE_EUSAGE, "'gtx560' is no device; did you mean 'sim:gtx560ti'?");
    refuse("a/b.yml", SONDE_EUSAGE, "'a/b.yml' is no device; did you mean 'sim:a/b.yml'?");
    refuse("cuda:", SONDE_EUSAGE, "'cuda:': expected the number of a GPU, as in cuda:0");
    refuse("cuda:-1", SONDE_EUSAGE, "'cuda:-1': expected the number of a GPU, as in cuda:0");
    refuse("cuda:0x", SONDE_EUSAGE, "'cuda:0x': expected the number of a GPU, as in cuda:0");
    refuse("cuda:99999999999999999999", SONDE_EUSAGE, NULL);
    refuse("sim:gtx78", SONDE_EUSAGE, "no shipped model 'gtx78'; did you mean 'gtx780'?");
}

static void bad_models_and_missing_files_are_told_apart(void **state)
{
    (void)state;
    refuse("sim:/nonexistent.yaml", SONDE_EIO, NULL);
    refuse("replay:/nonexistent.sonde", SONDE_EIO, NULL);
    refuse("replay:" SONDE_SOURCE_DIR "/LICENSE", SONDE_EINPUT, NULL);
    char path[] = "/tmp/sonde-test-XXXXXX.yaml";
    int fd = mkstemps(path, 5);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "sms: 0\n", 7), 7);
    close(fd);
    char spec[64], message[128];
    snprintf(spec, sizeof(spec), "sim:%s", path);
    snprintf(message, sizeof(message), "%s:1:6: sms: '0' is out of range: 1 to 1024", path);
    refuse(spec, SONDE_EINPUT, message);
    unlink(path);
}

static void a_recording_tells_what_its_device_told_and_runs_nothing(void **state)
{
    (void)state;
    char path[] = "/tmp/sonde-test-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    struct traceset *set;
    assert_int_equal(traceset_create(&set), 0);
    struct trace_device *recorded = traceset_device(set);
    strcpy(recorded->name, "GPU of old");
    strcpy(recorded->kind, "cuda");
    recorded->sms = 7;
    recorded->clock_hz = 123;
    assert_int_equal(traceset_write(set, path), 0);
    traceset_destroy(set);

    char spec[64];
    struct device *device;
    snprintf(spec, sizeof(spec), "replay:%s", path);
    assert_int_equal(device_open(&device, spec), 0);
    assert_int_equal(device->info.kind, DEVICE_REPLAY);
    assert_string_equal(device->info.name, "GPU of old");
    assert_int_equal(device->info.sms, 7);
    assert_int_equal(device->info.clock_hz, 123);
    assert_non_null(device->recording);
    uint64_t address;
    struct device_module *module;
    assert_int_equal(device_mem_alloc(device, &address, 16), SONDE_EUNSUPPORTED);
    assert_string_equal(error_text(), "GPU of old cannot allocate memory");
    assert_int_equal(device_module_load(device, &module, "x", "", 0), SONDE_EUNSUPPORTED);
    assert_int_equal(device_launch(device, NULL, &(struct device_launch){0}), SONDE_EUNSUPPORTED);
    device_module_unload(device, NULL);
    device_close(device);
    unlink(path);
}

static void closing_nothing_is_harmless(void **state)
{
    (void)state;
    device_close(NULL);
}

/* On a machine with or without GPUs: the models are there, and CUDA has at least one row. */
static void the_listing_has_the_shipped_models_and_cuda(void **state)
{
    (void)state;
    struct device_listing *rows;
    size_t count, sims = 0, cudas = 0;
    assert_int_equal(device_list(&rows, &count), 0);
    bool default_there = false;
    for (size_t i = 0; i < count; i++) {
        sims += rows[i].info.kind == DEVICE_SIM && rows[i].available;
        cudas += rows[i].info.kind == DEVICE_CUDA;
        assert_true(rows[i].available == (rows[i].why[0] == '\0'));
        if (strcmp(rows[i].spec, "sim:gtx780") == 0) {
            default_there = true;
            assert_string_equal(rows[i].info.name, "GeForce GTX 780");
            assert_int_equal(rows[i].info.sms, 12);
            assert_int_equal(rows[i].info.clock_hz, 863000000);
        }
    }
    assert_true(default_there);
    assert_true(sims >= 3);
    assert_true(cudas >= 1);
    free(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_that_are_none_are_usage_errors),
        cmocka_unit_test(bad_models_and_missing_files_are_told_apart),
        cmocka_unit_test(a_recording_tells_what_its_device_told_and_runs_nothing),
        cmocka_unit_test(closing_nothing_is_harmless),
        cmocka_unit_test(the_listing_has_the_shipped_models_and_cuda),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
