/*
 * Host side of the ray tracer, of the kind that Bakhoda et al. (ISPASS 2009) run: up to five
 * reflections, shadows, a scene in constant memory, CTAs of 16 x 8. Size: the picture's side, a
 * multiple of 16.. The host traces with the same text: both agree to the bit.
 */
#include "workloads/workload.h"

#include "workloads/raytrace/trace.h"
#include "util/error.h"

#define BLOCK_X 16
#define BLOCK_Y 8
#define SIDE_MAX 4096

static void make_scene(struct scene *scene, struct rng *rng)
{
    *scene = (struct scene){.eye = {0, 1, -4}, .floor = -1, .floor_mirror = 0.2f};
    scene->light = unit(vec_of(-1, 2, -1.5f));
    for (int i = 0; i < SPHERES; i++) {
        struct sphere *sphere = &scene->spheres[i];
        double place[3], colour[3];
        for (int k = 0; k < 3; k++) {
            place[k] = rng_double(rng);
            colour[k] = rng_double(rng);
        }
        sphere->radius = 0.5f + 0.1f * (float)i;
        sphere->centre = vec_of(-3.5f + (float)i + 0.5f * (float)place[0],
                                -0.5f + 2.5f * (float)place[1], 1.0f + 4.0f * (float)place[2]);
        sphere->colour = vec_of((float)colour[0], (float)colour[1], (float)colour[2]);
        sphere->mirror = i % 4 == 3 ? 0 : 0.3f + 0.1f * (float)(i % 4);
    }
}

int workload_raytrace(struct workbench *bench)
{
    uint32_t side = bench->size, count = side * side;
    if (side == 0 || side % BLOCK_X || side > SIDE_MAX) {
        return error_set(SONDE_EINPUT, "side %u is no multiple of %d up to %d", side, BLOCK_X,
                         SIDE_MAX);
    }
    struct scene scene;
    make_scene(&scene, &bench->rng);
    size_t bytes = count * sizeof(uint32_t);
    uint32_t *got = workbench_array(bench, count, sizeof *got);
    uint32_t *wanted = workbench_array(bench, count, sizeof *wanted);
    uint64_t at_picture;
    if (!got || !wanted) {
        return SONDE_ENOMEM;
    }
    struct workbench_shape shape = {{side / BLOCK_X, side / BLOCK_Y, 1}, {BLOCK_X, BLOCK_Y, 1}};
    int rc = workbench_symbol(bench, "scene", &scene, sizeof scene);
    rc = rc < 0 ? rc : workbench_upload(bench, &at_picture, NULL, bytes);
    rc = rc < 0 ? rc : WORKBENCH_LAUNCH(bench, "raytrace", shape, &at_picture, &side);
    rc = rc < 0 ? rc : workbench_download(bench, got, at_picture, bytes);
    for (uint32_t i = 0; i < count; i++) {
        wanted[i] = trace(&scene, i % side, i / side, side);
    }
    return rc < 0 ? rc : workbench_expect_words(got, wanted, count);
}
