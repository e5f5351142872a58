// Swaptions in the LIBOR market model (Brace, Gatarek, Musiela 1997) by Monte Carlo: a thread follows the forward rates of
// one path and prices a portfolio on it. One kernel gives the value; the other goes back along the path as well, by the
// adjoint method (Giles, Glasserman 2006), for the derivative by today's last rate. Volatilities and options are in
// constant memory; rates, which no register can be told for, in local memory, for the adjoint those of all steps.
// Loops are left as loops, as they come from arrays.

#define RATES 80
#define STEPS 40 // and so many rates are still unknown at the end
#define OPTIONS 15
#define DELTA 0.25f

struct option {
    int maturity;
    float rate;
};

__constant__ float volatility[RATES], today[RATES];
__constant__ struct option options[OPTIONS];

// Moves rates n + 1 and later by one step; `after` keeps them, too, or is the same array.
__device__ static void step(float *after, const float *before, unsigned n, float z)
{
    float drift = 0, shock = 0.5f * z; // the root of DELTA
#pragma unroll 1
    for (unsigned i = n + 1; i < RATES; i++) {
        float lambda = volatility[i - n - 1], share = DELTA * lambda, rate = before[i];
        drift += share * rate / (1 + DELTA * rate);
        after[i] = rate * expf(share * drift + lambda * (shock - 0.5f * share));
    }
}

// The portfolio's value from the rates at the end, undiscounted; what bonds and annuities are worth on the way.
__device__ static float payoff(float *bond, float *annuity, const float *rates)
{
    float b = 1, s = 0, value = 0;
#pragma unroll 1
    for (unsigned i = 0; i < RATES - STEPS; i++) {
        b /= 1 + DELTA * rates[STEPS + i];
        s += DELTA * b;
        bond[i] = b;
        annuity[i] = s;
    }
#pragma unroll 1
    for (unsigned i = 0; i < OPTIONS; i++) {
        unsigned last = options[i].maturity - 1;
        float swap = bond[last] + options[i].rate * annuity[last] - 1;
        if (swap < 0)
            value -= 100 * swap;
    }
    return value;
}

__device__ static float discount(const float *rates)
{
    float factor = 1;
#pragma unroll 1
    for (unsigned i = 0; i < STEPS; i++)
        factor /= 1 + DELTA * rates[i];
    return factor;
}

extern "C" __global__ void libor_value(float *values, const float *normals, unsigned paths)
{
    unsigned path = blockIdx.x * blockDim.x + threadIdx.x;
    float rates[RATES], bond[RATES - STEPS], annuity[RATES - STEPS];
#pragma unroll 1
    for (unsigned i = 0; i < RATES; i++)
        rates[i] = today[i];
#pragma unroll 1
    for (unsigned n = 0; n < STEPS; n++)
        step(rates, rates, n, normals[n * paths + path]);
    values[path] = payoff(bond, annuity, rates) * discount(rates);
}

// Derivatives by the rates at the end.
__device__ static void payoff_back(float *by, const float *bond, const float *annuity, const float *rates, float factor,
                                   float value)
{
    float by_bond[RATES - STEPS], by_annuity[RATES - STEPS], b = 0, s = 0;
#pragma unroll 1
    for (unsigned i = 0; i < RATES - STEPS; i++)
        by_bond[i] = by_annuity[i] = 0;
#pragma unroll 1
    for (unsigned i = 0; i < OPTIONS; i++) {
        unsigned last = options[i].maturity - 1;
        if (bond[last] + options[i].rate * annuity[last] - 1 < 0) {
            by_bond[last] -= 100 * factor;
            by_annuity[last] -= 100 * factor * options[i].rate;
        }
    }
#pragma unroll 1
    for (int i = RATES - STEPS - 1; i >= 0; i--) {
        float one = 1 / (1 + DELTA * rates[STEPS + i]);
        s += by_annuity[i];
        b += by_bond[i] + DELTA * s;
        by[STEPS + i] = -b * bond[i] * DELTA * one;
        b *= one;
    }
#pragma unroll 1
    for (unsigned i = 0; i < STEPS; i++)
        by[i] = -value * DELTA / (1 + DELTA * rates[i]);
}

extern "C" __global__ void libor_delta(float *values, float *deltas, const float *normals, unsigned paths)
{
    unsigned path = blockIdx.x * blockDim.x + threadIdx.x;
    float rates[STEPS + 1][RATES], by[RATES], bond[RATES - STEPS], annuity[RATES - STEPS];
#pragma unroll 1
    for (unsigned i = 0; i < RATES; i++)
        rates[0][i] = today[i];
#pragma unroll 1
    for (unsigned n = 0; n < STEPS; n++) {
        // What is fixed by now stays.
        rates[n + 1][n] = rates[n][n];
        step(rates[n + 1], rates[n], n, normals[n * paths + path]);
    }
    // Rate i < STEPS was last moved by step i - 1.
#pragma unroll 1
    for (unsigned i = 0; i < STEPS; i++)
        rates[STEPS][i] = rates[i][i];
    float value = payoff(bond, annuity, rates[STEPS]), factor = discount(rates[STEPS]);
    value *= factor;
    payoff_back(by, bond, annuity, rates[STEPS], factor, value);
#pragma unroll 1
    for (int n = STEPS - 1; n >= 0; n--) {
        float by_drift = 0;
#pragma unroll 1
        for (int i = RATES - 1; i > n; i--) {
            float share = DELTA * volatility[i - n - 1], rate = rates[n][i], moved = rates[n + 1][i];
            float one = 1 / (1 + DELTA * rate);
            by_drift += by[i] * moved * share;
            by[i] = by[i] * moved / rate + by_drift * share * one * one;
        }
    }
    values[path] = value;
    deltas[path] = by[RATES - 1];
}
