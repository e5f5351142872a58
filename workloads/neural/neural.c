/*
 * Host side of the net. Size: digits. They are drawn from strokes, shifted and noisy; each must be
 * recognised. The weights of the first three layers are random; a digit's output is nearest where
 * the third layer's is nearest to the mean of that digit's examples, of which the last layer's
 * weights are made: w = mean, bias = -|mean|^2 / 2, both scaled. The reference is in double
 * precision and one function for all layers.
 */
#include "workloads/workload.h"

#include <math.h>
#include <string.h>

#include "util/error.h"

#define SIDE 29
#define LAYERS 4
#define EXAMPLES 4 /* of each digit: one of each shift */
#define DIGITS 10
#define SIZE_LIMIT 10000
#define TOLERANCE 1e-4
#define SCALE 0.05 /* of the last layer's weights: outputs stay away from the ends of tanh */

/* Maps, their side, and the window that they have on the maps before. */
struct layer {
    uint32_t maps, side, window, step;
    const char *kernel;
};

static const struct layer layers[LAYERS + 1] = {
    {1, SIDE, 0, 0, NULL},
    {6, 13, 5, 2, "neural_first"},
    {50, 5, 5, 2, "neural_second"},
    {100, 1, 5, 1, "neural_third"},
    {DIGITS, 1, 1, 1, "neural_fourth"},
};

static uint32_t neurons(const struct layer *layer)
{
    return layer->maps * layer->side * layer->side;
}

/* Weights of a map: a bias and the windows on all maps before. */
static uint32_t weights_of(const struct layer *layer)
{
    return 1 + layer[-1].maps * layer->window * layer->window;
}

static double squashed(double x)
{
    return 1.7159 * tanh(x * 2 / 3);
}

static void forward(double *out, const struct layer *layer, const double *in, const float *weights)
{
    const struct layer *before = layer - 1;
    for (uint32_t i = 0; i < neurons(layer); i++) {
        uint32_t map = i / (layer->side * layer->side), y = i / layer->side % layer->side,
                 x = i % layer->side, windows = before->maps * layer->window * layer->window;
        const float *weight = weights + (size_t)map * weights_of(layer);
        double sum = weight[0];
        for (uint32_t k = 0; k < windows; k++) {
            uint32_t column = k % layer->window, row = k / layer->window % layer->window,
                     from = k / (layer->window * layer->window);
            sum += weight[1 + k] * in[(from * before->side + y * layer->step + row) * before->side +
                                      x * layer->step + column];
        }
        out[i] = squashed(sum);
    }
}

/* A digit as the seven strokes of a display show it. */
static void draw(float *picture, struct rng *rng, uint32_t digit, uint32_t shift)
{
    static const uint8_t strokes[DIGITS] = {0x77, 0x24, 0x5d, 0x6d, 0x2e,
                                            0x6b, 0x7b, 0x25, 0x7f, 0x6f};
    /* Where each stroke begins, and whether it goes across. */
    static const struct {
        uint8_t x, y, across;
    } places[7] = {{8, 4, 1},  {8, 4, 0},   {18, 4, 0}, {8, 14, 1},
                   {8, 14, 0}, {18, 14, 0}, {8, 24, 1}};
    uint32_t dx = shift & 1, dy = shift >> 1;
    for (int i = 0; i < SIDE * SIDE; i++) {
        picture[i] = (float)(0.1 * rng_double(rng)) - 0.05f;
    }
    for (int s = 0; s < 7; s++) {
        for (uint32_t i = 0; strokes[digit] >> s & 1 && i < 22; i++) {
            uint32_t along = i / 2, beside = i % 2;
            uint32_t x = places[s].x + dx + (places[s].across ? along : beside);
            uint32_t y = places[s].y + dy + (places[s].across ? beside : along);
            picture[y * SIDE + x] = 1;
        }
    }
}

static void activate(double *at[LAYERS + 1], const float *picture, float *const *weights,
                     uint32_t last)
{
    for (int i = 0; i < SIDE * SIDE; i++) {
        at[0][i] = picture[i];
    }
    for (uint32_t l = 1; l <= last; l++) {
        forward(at[l], &layers[l], at[l - 1], weights[l]);
    }
}

/* The first layers at random, of a spread that keeps sums near 1; the last from examples. */
static int train(float *weights[LAYERS + 1], struct workbench *bench, double *at[LAYERS + 1])
{
    float picture[SIDE * SIDE];
    for (uint32_t l = 1; l <= LAYERS; l++) {
        float spread = 1.5f / sqrtf((float)weights_of(&layers[l]));
        weights[l] = workbench_floats(bench, (size_t)layers[l].maps * weights_of(&layers[l]),
                                      -spread, spread);
        at[l] = workbench_array(bench, neurons(&layers[l]), sizeof **at);
        if (!weights[l] || !at[l]) {
            return SONDE_ENOMEM;
        }
    }
    for (uint32_t digit = 0; digit < DIGITS; digit++) {
        uint32_t inputs = layers[3].maps;
        float *weight = weights[LAYERS] + digit * (1 + inputs);
        double square = 0;
        memset(weight, 0, (1 + inputs) * sizeof *weight);
        for (uint32_t example = 0; example < EXAMPLES; example++) {
            draw(picture, &bench->rng, digit, example);
            activate(at, picture, weights, 3);
            for (uint32_t i = 0; i < inputs; i++) {
                weight[1 + i] += (float)(at[3][i] / EXAMPLES);
            }
        }
        for (uint32_t i = 0; i < inputs; i++) {
            square += (double)weight[1 + i] * weight[1 + i];
            weight[1 + i] *= (float)SCALE;
        }
        weight[0] = (float)(-0.5 * SCALE * square);
    }
    return 0;
}

static int launch(struct workbench *bench, float *const *weights, uint64_t in, uint64_t *out)
{
    uint64_t at_weights;
    int rc = 0;
    for (uint32_t l = 1; rc == 0 && l <= LAYERS; l++) {
        const struct layer *layer = &layers[l];
        size_t bytes = (size_t)layer->maps * weights_of(layer) * sizeof(float);
        rc = workbench_upload(bench, &at_weights, weights[l], bytes);
        rc = rc < 0 ? rc
                    : workbench_upload(bench, out, NULL,
                                       (size_t)bench->size * neurons(layer) * sizeof(float));
        struct workbench_shape shape = {{layer->maps, bench->size, 1},
                                        {layer->side, layer->side, 1}};
        rc = rc < 0 ? rc : WORKBENCH_LAUNCH(bench, layer->kernel, shape, out, &in, &at_weights);
        in = *out;
    }
    return rc;
}

/* The largest output is the digit's. */
static int recognise(const float *got, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t best = 0;
        for (uint32_t k = 1; k < DIGITS; k++) {
            best = got[i * DIGITS + k] > got[i * DIGITS + best] ? k : best;
        }
        if (best != i % DIGITS) {
            return error_set(SONDE_EINTERNAL, "digit %u was read as %u", i % DIGITS, best);
        }
    }
    return 0;
}

int workload_neural(struct workbench *bench)
{
    float *weights[LAYERS + 1];
    double *at[LAYERS + 1];
    uint64_t in, out = 0;
    uint32_t count = bench->size;
    if (count > SIZE_LIMIT) {
        return error_set(SONDE_EINPUT, "%u digits, %d at most", count, SIZE_LIMIT);
    }
    float *pictures = workbench_array(bench, (size_t)count * SIDE * SIDE, sizeof *pictures);
    float *got = workbench_array(bench, (size_t)count * DIGITS, sizeof *got);
    double *wanted = workbench_array(bench, (size_t)count * DIGITS, sizeof *wanted);
    at[0] = workbench_array(bench, (size_t)SIDE * SIDE, sizeof **at);
    int rc = pictures && got && wanted && at[0] ? train(weights, bench, at) : SONDE_ENOMEM;
    for (uint32_t i = 0; rc == 0 && i < count; i++) {
        draw(pictures + (size_t)i * SIDE * SIDE, &bench->rng, i % DIGITS,
             (uint32_t)rng_below(&bench->rng, EXAMPLES));
        activate(at, pictures + (size_t)i * SIDE * SIDE, weights, LAYERS);
        memcpy(wanted + (size_t)i * DIGITS, at[LAYERS], DIGITS * sizeof **at);
    }
    rc = rc < 0 ? rc
                : workbench_upload(bench, &in, pictures,
                                   (size_t)count * SIDE * SIDE * sizeof *pictures);
    rc = rc < 0 ? rc : launch(bench, weights, in, &out);
    rc = rc < 0 ? rc : workbench_download(bench, got, out, (size_t)count * DIGITS * sizeof *got);
    rc = rc < 0
             ? rc
             : workbench_expect_floats(got, wanted, (size_t)count * DIGITS, TOLERANCE, TOLERANCE);
    return rc < 0 ? rc : recognise(got, count);
}
