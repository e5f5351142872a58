// Prices of European options, one call and one put a thread, in single precision with the hardware's
// approximate exponential, logarithm, division and reciprocal square root. Source of the formula:
// F. Black, M. Scholes, The Pricing of Options and Corporate Liabilities, 1973; the cumulative normal
// distribution is formula 26.2.17 of Abramowitz and Stegun, Handbook of Mathematical Functions.

__device__ static float normal_cdf(float d)
{
    float k = __fdividef(1.0f, fmaf(0.2316419f, fabsf(d), 1.0f));
    float poly = fmaf(k, 1.330274429f, -1.821255978f);
    poly = fmaf(k, poly, 1.781477937f);
    poly = fmaf(k, poly, -0.356563782f);
    poly = fmaf(k, poly, 0.319381530f) * k;
    float tail = 0.39894228f * __expf(-0.5f * d * d) * poly;
    return d > 0 ? 1.0f - tail : tail;
}

extern "C" __global__ void blackscholes(float *call, float *put, const float *price,
                                        const float *strike, const float *years, float rate,
                                        float volatility, unsigned count)
{
    unsigned stride = blockDim.x * gridDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
        float s = price[i], x = strike[i], t = years[i];
        float spread = volatility * __frcp_rn(rsqrtf(t));
        float d1 = __fdividef(fmaf(fmaf(0.5f * volatility, volatility, rate), t,
                                   __logf(__fdividef(s, x))), spread);
        float d2 = d1 - spread;
        float cdf1 = normal_cdf(d1), cdf2 = normal_cdf(d2);
        float discounted = x * __expf(-rate * t);
        call[i] = s * cdf1 - discounted * cdf2;
        put[i] = discounted * (1.0f - cdf2) - s * (1.0f - cdf1);
    }
}
