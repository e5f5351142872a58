// European calls by the binomial tree of Cox, Ross and Rubinstein (1979): a block an option. The values at expiry lie in
// shared memory; going back a step, a thread replaces the nodes of its columns, two arrays taking turns.

#define STEPS 512
#define BLOCK 256

struct option {
    float price, strike, up; // per step: the factor of a rise,
    float rise, fall;        // and the discounted probabilities
};

extern "C" __global__ void binomial(float *values, const struct option *options)
{
    __shared__ float nodes[2][STEPS + 1];
    const struct option option = options[blockIdx.x];
    unsigned thread = threadIdx.x, now = 0;
    for (unsigned i = thread; i <= STEPS; i += BLOCK) {
        float end = option.price * __expf(option.up * (2.0f * i - STEPS)) - option.strike;
        nodes[0][i] = end > 0 ? end : 0;
    }
    for (unsigned last = STEPS; last > 0; last--) {
        __syncthreads();
        for (unsigned i = thread; i < last; i += BLOCK)
            nodes[now ^ 1][i] = option.rise * nodes[now][i + 1] + option.fall * nodes[now][i];
        now ^= 1;
    }
    if (thread == 0)
        values[blockIdx.x] = nodes[now][0];
}
