/*
 * A ray tracer of spheres above a chequered floor, for a kernel and for the host's reference: a
 * pixel's ray hits what is nearest, is lit by one light unless something stands between, and goes
 * on as a mirror's, up to DEPTH_MAX times. What each hit adds is kept and mixed from the last to
 * the first. All sums of products are written as fmaf(), so that no compiler has a choice and both
 * sides agree to the bit.
 */
#ifndef SONDE_WORKLOADS_RAYTRACE_TRACE_H
#define SONDE_WORKLOADS_RAYTRACE_TRACE_H

#include <math.h>

#ifdef __CUDACC__
#define TRACE_FN static __device__ inline
#define TRACE_LOOP _Pragma("unroll 1")
#else
#define TRACE_FN static inline
#define TRACE_LOOP
#endif

#define SPHERES 8
#define DEPTH_MAX 5
#define NEAR 0.001f
#define FAR 1e30f
#define NOTHING (-1)
#define FLOOR SPHERES

struct vec {
    float x, y, z;
};

struct sphere {
    struct vec centre;
    float radius;
    struct vec colour;
    float mirror; /* share of what comes by reflection */
};

struct scene {
    struct sphere spheres[SPHERES];
    struct vec eye, light; /* the light's direction has length 1 */
    float floor, floor_mirror;
};

TRACE_FN struct vec vec_of(float x, float y, float z)
{
    struct vec v = {x, y, z};
    return v;
}

/* a + t b */
TRACE_FN struct vec along(struct vec a, float t, struct vec b)
{
    return vec_of(fmaf(t, b.x, a.x), fmaf(t, b.y, a.y), fmaf(t, b.z, a.z));
}

TRACE_FN float dot(struct vec a, struct vec b)
{
    return fmaf(a.z, b.z, fmaf(a.y, b.y, a.x * b.x));
}

TRACE_FN struct vec unit(struct vec v)
{
    float length = sqrtf(dot(v, v));
    return vec_of(v.x / length, v.y / length, v.z / length);
}

/* The nearest thing on the ray, with its distance. */
TRACE_FN int nearest(float *distance, const struct scene *scene, struct vec from, struct vec ray)
{
    int hit = NOTHING;
    *distance = FAR;
    TRACE_LOOP
    for (int i = 0; i < SPHERES; i++) {
        const struct sphere *sphere = &scene->spheres[i];
        struct vec to = along(sphere->centre, -1.0f, from);
        float middle = dot(to, ray);
        float inside = fmaf(middle, middle, fmaf(sphere->radius, sphere->radius, -dot(to, to)));
        if (inside > 0) {
            float t = middle - sqrtf(inside);
            if (t > NEAR && t < *distance) {
                *distance = t;
                hit = i;
            }
        }
    }
    if (ray.y < 0) {
        float t = (scene->floor - from.y) / ray.y;
        if (t > NEAR && t < *distance) {
            *distance = t;
            hit = FLOOR;
        }
    }
    return hit;
}

TRACE_FN struct vec sky(struct vec ray)
{
    float up = fmaf(0.5f, ray.y, 0.5f);
    return vec_of(fmaf(-0.5f, up, 1.0f), fmaf(-0.3f, up, 1.0f), 1.0f);
}

/* Squares of side 1, one colour where the sum of their numbers is even. */
TRACE_FN struct vec floor_colour(struct vec at)
{
    int squares = (int)floorf(at.x) + (int)floorf(at.z);
    return squares & 1 ? vec_of(0.9f, 0.9f, 0.8f) : vec_of(0.2f, 0.25f, 0.2f);
}

TRACE_FN unsigned channel(float value)
{
    return (unsigned)(fminf(fmaxf(value, 0.0f), 1.0f) * 255.0f);
}

struct surface {
    struct vec at, normal, colour;
    float mirror;
};

TRACE_FN void meet(struct surface *out, const struct scene *scene, int hit, struct vec at)
{
    out->at = at;
    if (hit == FLOOR) {
        out->normal = vec_of(0, 1, 0);
        out->colour = floor_colour(at);
        out->mirror = scene->floor_mirror;
    } else {
        const struct sphere *sphere = &scene->spheres[hit];
        out->normal = unit(along(at, -1.0f, sphere->centre));
        out->colour = sphere->colour;
        out->mirror = sphere->mirror;
    }
}

/* Light that the surface scatters: some from everywhere, the rest where the light reaches it. */
TRACE_FN float lit(const struct scene *scene, const struct surface *surface)
{
    float facing = dot(surface->normal, scene->light), distance;
    if (facing <= 0 || nearest(&distance, scene, surface->at, scene->light) != NOTHING)
        return 0.2f;
    return fmaf(0.8f, facing, 0.2f);
}

/* The pixel's colour, a byte a channel. */
TRACE_FN unsigned trace(const struct scene *scene, unsigned x, unsigned y, unsigned side)
{
    struct vec colours[DEPTH_MAX + 1];
    float mirrors[DEPTH_MAX + 1];
    float scale = 2.0f / (float)side;
    struct vec from = scene->eye;
    struct vec ray = unit(vec_of(fmaf((float)x, scale, -1.0f), fmaf(-(float)y, scale, 0.8f), 1.5f));
    struct vec colour = vec_of(0, 0, 0);
    int kept = 0;
    TRACE_LOOP
    for (int depth = 0; depth <= DEPTH_MAX; depth++) {
        struct surface surface;
        float distance;
        int hit = nearest(&distance, scene, from, ray);
        if (hit == NOTHING) {
            colour = sky(ray);
            break;
        }
        meet(&surface, scene, hit, along(from, distance, ray));
        float light = lit(scene, &surface);
        colours[kept] =
            vec_of(light * surface.colour.x, light * surface.colour.y, light * surface.colour.z);
        mirrors[kept++] = surface.mirror;
        if (surface.mirror <= 0)
            break;
        from = surface.at;
        ray = unit(along(ray, -2.0f * dot(ray, surface.normal), surface.normal));
    }
    TRACE_LOOP
    while (kept-- > 0) {
        float share = 1.0f - mirrors[kept];
        colour =
            vec_of(mirrors[kept] * colour.x, mirrors[kept] * colour.y, mirrors[kept] * colour.z);
        colour = along(colour, share, colours[kept]);
    }
    return channel(colour.x) | channel(colour.y) << 8 | channel(colour.z) << 16;
}

#endif
