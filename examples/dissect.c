/*
 * Takes a device apart and prints one attribute's JSON: the smallest program on libsonde.
 *
 *     cc dissect.c $(pkg-config --cflags --libs sonde) -o dissect
 *     ./dissect sim:gtx560ti l1_data
 */
#include <sonde/sonde.h>
#include <stdio.h>
#include <stdlib.h>

static void show_progress(void *ctx, double fraction, const char *what)
{
    (void)ctx;
    fprintf(stderr, "\r%3.0f %% %-40.40s", fraction * 100, what);
}

static int fail(const char *what)
{
    fprintf(stderr, "\n%s: %s\n", what, sonde_error_last());
    return EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    const char *spec = argc > 1 ? argv[1] : "sim:gtx560ti";
    struct sonde_dissect_options options = {
        .only = argc > 2 ? argv[2] : "l1_data",
        .seed = 1,
        .watch = {.progress = show_progress},
    };
    struct sonde_device *device;
    if (sonde_device_open(&device, spec) < 0) {
        return fail(spec);
    }
    struct sonde_dissection *dissection;
    int rc = sonde_dissect(&dissection, device, &options);
    sonde_device_close(device);
    if (rc < 0) {
        return fail("dissecting");
    }
    fputc('\n', stderr);
    char *table;
    rc = sonde_dissection_table(&table, dissection, 0);
    if (rc == 0) {
        fputs(table, stdout);
        sonde_free(table);
    }
    sonde_dissection_destroy(dissection);
    return rc == 0 ? EXIT_SUCCESS : fail("printing");
}
