/*
 * Runs a kernel of a PTX file on a simulated GPU and prints what it wrote and what it cost.
 *
 *     cc saxpy.c $(pkg-config --cflags --libs sonde) -o saxpy
 *     ./saxpy saxpy.ptx sim:gtx780
 */
#include <sonde/sonde.h>
#include <stdio.h>
#include <stdlib.h>

static void print(void *ctx, const char *text, size_t bytes)
{
    (void)ctx;
    fwrite(text, 1, bytes, stdout);
}

int main(int argc, char **argv)
{
    static const char *const args[] = {"y=fill:f32:8:1", "x=iota:f32:8", "f32:2", "u32:8"};
    static const char *const prints[] = {"y"};
    struct sonde_exec_options options = {
        .ptx_path = argc > 1 ? argv[1] : "saxpy.ptx",
        .grid = {1, 1, 1},
        .block = {32, 1, 1},
        .args = args,
        .arg_count = sizeof(args) / sizeof(args[0]),
        .print = print,
        .prints = prints,
        .print_count = 1,
    };
    char *costs;
    if (sonde_exec(&costs, argc > 2 ? argv[2] : "sim:gtx780", &options) < 0) {
        fprintf(stderr, "%s\n", sonde_error_last());
        return EXIT_FAILURE;
    }
    fputs(costs, stdout);
    sonde_free(costs);
    return EXIT_SUCCESS;
}
