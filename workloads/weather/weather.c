/*
 * Host side of the microphysics. Size: columns of air from west to east; 58 of 71 as many from
 * north to south, as in the sample of Bakhoda's WP. Ten time steps of a minute. The reference goes
 * level by level in double precision and keeps a column in one struct.
 */
#include "workloads/workload.h"

#include <math.h>

#include "util/error.h"

#define LEVELS 27
#define STEPS 10
#define BLOCK 8
#define SIZE_LIMIT 1024
#define FIELDS 6
#define STEP_S 60.0f
#define THICKNESS_M 500.0f
#define COOLING_K 0.3f
#define TOLERANCE 2e-3 /* ten steps of a float's powers and exponentials */
#define ABSOLUTE 2e-3  /* of grams a kilogram */

struct air {
    uint32_t nx, ny;
    float step, thickness, cooling;
};

enum field { THETA, VAPOUR, CLOUD, RAIN, SNOW, FALLEN };

struct sky {
    float pressure[LEVELS], density[LEVELS], exner[LEVELS];
    uint32_t columns;
    float *field[FIELDS]; /* by levels; what has fallen is one level */
};

struct level {
    double celsius, vapour, cloud, rain, snow;
};

static uint32_t levels_of(int field)
{
    return field == FALLEN ? 1 : LEVELS;
}

/* g/kg over water (over_ice 0) or ice. */
static double saturation(double celsius, double pressure, int over_ice)
{
    double exponent =
        over_ice ? 22.46 * celsius / (celsius + 272.62) : 17.67 * celsius / (celsius + 243.5);
    double e = 6.112 * exp(exponent);
    return 622 * e / (pressure - 0.378 * e);
}

static double bounded(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

/* Cloud becomes rain and snow; snow melts. */
static void collect(struct level *l, double dt, double cold)
{
    double rain = 0.001 * fmax(l->cloud - 0.5, 0) + 0.0022 * l->cloud * pow(l->rain, 0.875);
    double snow = 0.001 * cold * l->cloud * sqrt(l->snow + 0.01);
    double share = dt * (rain + snow) > l->cloud ? l->cloud / (rain + snow) : dt;
    l->cloud -= share * (rain + snow);
    l->rain += share * rain;
    l->snow += share * snow;
    l->celsius += 0.33 * share * snow;
    if (l->celsius > 0) {
        double melted = dt * 0.002 * l->celsius * sqrt(l->snow + 0.01) * (1 + l->rain / 10);
        melted = fmin(melted, l->snow);
        l->snow -= melted;
        l->rain += melted;
        l->celsius -= 0.33 * melted;
    }
}

/* Rain and snow lose vapour to the air or take it. */
static void exchange(struct level *l, double dt, double cold, double pressure, double density)
{
    double mass = density * l->rain + 1e-6;
    double dry = fmax(1 - l->vapour / saturation(l->celsius, pressure, 0), 0);
    double dried = dt * 0.0004 * dry * (1.6 + 0.57 * pow(mass, 0.2046)) * pow(mass, 0.525);
    double excess = l->vapour / saturation(l->celsius, pressure, 1) - 1;
    double grown = dt * 0.0002 * cold * excess * sqrt(l->snow + 0.01);
    dried = fmin(dried, l->rain);
    grown = fmin(fmax(grown, -l->snow), l->vapour / 10);
    l->rain -= dried;
    l->snow += grown;
    l->vapour += dried - grown;
    l->celsius += 2.83 * grown - 2.5 * dried;
}

static void condense(struct level *l, double pressure)
{
    for (int i = 0; i < 2; i++) {
        double water = saturation(l->celsius, pressure, 0);
        double slope = 4302.6 / pow(l->celsius + 243.5, 2);
        double amount = fmax((l->vapour - water) / (1 + 2.5 * slope * water), -l->cloud);
        l->vapour -= amount;
        l->cloud += amount;
        l->celsius += 2.5 * amount;
    }
}

/* Rain and snow of a column, one part step after the other; what reaches the ground. */
static double fall(struct level *column, const struct sky *sky)
{
    double speed[LEVELS][2], fastest = 0, ground = 0;
    for (int k = 0; k < LEVELS; k++) {
        double density = sky->density[k], thin = sqrt(sky->density[0] / density);
        speed[k][0] = 36.34 * pow(density * column[k].rain / 1000 + 1e-12, 0.1364) * thin;
        speed[k][1] = 4.84 * pow(density * column[k].snow / 1000 + 1e-12, 0.0625) * thin;
        fastest = fmax(fastest, fmax(speed[k][0], speed[k][1]));
    }
    int parts = 1 + (int)(fastest * STEP_S / THICKNESS_M);
    for (int i = 0; i < parts; i++) {
        double above[2] = {0, 0}, dt = STEP_S / (double)parts;
        for (int k = LEVELS - 1; k >= 0; k--) {
            double *amount[2] = {&column[k].rain, &column[k].snow};
            for (int kind = 0; kind < 2; kind++) {
                double out = sky->density[k] * *amount[kind] * speed[k][kind];
                *amount[kind] += dt / (sky->density[k] * THICKNESS_M) * (above[kind] - out);
                above[kind] = out;
            }
        }
        ground += dt * (above[0] + above[1]);
    }
    return ground;
}

/* A column's step: falls, then each level by itself. */
static void advance(double *const *field, const struct sky *sky, uint32_t at)
{
    struct level column[LEVELS];
    for (uint32_t k = 0; k < LEVELS; k++) {
        size_t i = (size_t)k * sky->columns + at;
        column[k] =
            (struct level){.celsius = field[THETA][i] * sky->exner[k] - 273.15 - (double)COOLING_K,
                           .vapour = field[VAPOUR][i],
                           .cloud = field[CLOUD][i],
                           .rain = field[RAIN][i],
                           .snow = field[SNOW][i]};
    }
    field[FALLEN][at] += fall(column, sky);
    for (uint32_t k = 0; k < LEVELS; k++) {
        struct level *l = &column[k];
        size_t i = (size_t)k * sky->columns + at;
        double cold = bounded(-l->celsius / 20, 0, 1);
        l->rain = fmax(l->rain, 0);
        l->snow = fmax(l->snow, 0);
        collect(l, (double)STEP_S, cold);
        exchange(l, (double)STEP_S, cold, sky->pressure[k], sky->density[k]);
        condense(l, sky->pressure[k]);
        field[THETA][i] = (l->celsius + 273.15) / sky->exner[k];
        field[VAPOUR][i] = l->vapour;
        field[CLOUD][i] = l->cloud;
        field[RAIN][i] = l->rain;
        field[SNOW][i] = l->snow;
    }
}

/* A standard atmosphere, moist near the ground, with clouds and showers here and there. */
static int make_sky(struct sky *sky, struct workbench *bench, uint32_t columns)
{
    sky->columns = columns;
    for (int i = 0; i < FIELDS; i++) {
        sky->field[i] = workbench_array(bench, (size_t)levels_of(i) * columns, sizeof(float));
        if (!sky->field[i]) {
            return SONDE_ENOMEM;
        }
    }
    for (uint32_t k = 0; k < LEVELS; k++) {
        double height = (k + 0.5) * (double)THICKNESS_M,
               kelvin = 288.15 - 0.0065 * fmin(height, 11000);
        double pressure = 1013.25 * exp(-height / 8000);
        sky->pressure[k] = (float)pressure;
        sky->exner[k] = (float)pow(pressure / 1000, 0.2857);
        sky->density[k] = (float)(100 * pressure / (287.05 * kelvin));
        for (uint32_t column = 0; column < columns; column++) {
            size_t i = (size_t)k * columns + column;
            double humid = 0.5 + 0.55 * rng_double(&bench->rng) * exp(-height / 9000);
            bool cloudy = column % 16 < 5 && k > 3 && k < 18;
            sky->field[THETA][i] = (float)((kelvin + rng_double(&bench->rng)) / sky->exner[k]);
            sky->field[VAPOUR][i] = (float)(humid * saturation(kelvin - 273.15, pressure, 0));
            sky->field[CLOUD][i] = cloudy ? (float)(1.5 * rng_double(&bench->rng)) : 0;
            sky->field[RAIN][i] = cloudy && k < 9 ? (float)rng_double(&bench->rng) : 0;
            sky->field[SNOW][i] = cloudy && k >= 7 ? (float)rng_double(&bench->rng) : 0;
        }
    }
    return 0;
}

static int run(struct workbench *bench, struct sky *sky, const struct air *air)
{
    uint64_t fields[FIELDS], profile[3];
    const float *const levels[3] = {sky->pressure, sky->density, sky->exner};
    int rc = 0;
    for (int i = 0; rc == 0 && i < 3; i++) {
        rc = workbench_upload(bench, &profile[i], levels[i], sizeof sky->pressure);
    }
    for (int i = 0; rc == 0 && i < FIELDS; i++) {
        rc = workbench_upload(bench, &fields[i], sky->field[i],
                              (size_t)levels_of(i) * sky->columns * sizeof(float));
    }
    struct workbench_shape shape = {
        {(air->nx + BLOCK - 1) / BLOCK, (air->ny + BLOCK - 1) / BLOCK, 1}, {BLOCK, BLOCK, 1}};
    for (int i = 0; rc == 0 && i < STEPS; i++) {
        rc = WORKBENCH_LAUNCH(bench, "weather", shape, fields, profile, air);
    }
    for (int i = 0; rc == 0 && i < FIELDS; i++) {
        rc = workbench_download(bench, sky->field[i], fields[i],
                                (size_t)levels_of(i) * sky->columns * sizeof(float));
    }
    return rc;
}

int workload_weather(struct workbench *bench)
{
    struct air air = {bench->size, (bench->size * 58 + 70) / 71, STEP_S, THICKNESS_M, COOLING_K};
    struct sky sky;
    double *wanted[FIELDS];
    if (bench->size > SIZE_LIMIT) {
        return error_set(SONDE_EINPUT, "%u columns, %d at most", bench->size, SIZE_LIMIT);
    }
    int rc = make_sky(&sky, bench, air.nx * air.ny);
    for (int i = 0; rc == 0 && i < FIELDS; i++) {
        size_t count = (size_t)levels_of(i) * sky.columns;
        wanted[i] = workbench_array(bench, count, sizeof(double));
        rc = wanted[i] ? 0 : SONDE_ENOMEM;
        for (size_t k = 0; rc == 0 && k < count; k++) {
            wanted[i][k] = sky.field[i][k];
        }
    }
    for (uint32_t i = 0; rc == 0 && i < STEPS * sky.columns; i++) {
        advance(wanted, &sky, i % sky.columns);
    }
    rc = rc < 0 ? rc : run(bench, &sky, &air);
    for (int i = 0; rc == 0 && i < FIELDS; i++) {
        rc = workbench_expect_floats(sky.field[i], wanted[i], (size_t)levels_of(i) * sky.columns,
                                     TOLERANCE, ABSOLUTE);
    }
    return rc;
}
