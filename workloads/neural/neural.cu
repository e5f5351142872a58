// A net that recognises digits, of the shape of Simard, Steinkraus and Platt (ICDAR 2003): 29 x 29 inputs, 6 maps of 13 x 13
// by windows of 5 x 5, 50 maps of 5 x 5 by windows on all six, 100 neurons, 10 outputs. A launch a layer, a thread a neuron,
// a block a map of one digit - which in the last two layers is one thread. Weights, inputs and outputs are in global
// memory; loops are left as loops, as the compilers of 2009 left them, with addresses that move on by a weight.

#define SIDE 29
#define FIRST_SIDE 13
#define FIRST_MAPS 6
#define SECOND_SIDE 5
#define SECOND_MAPS 50
#define WINDOW 5
#define THIRD 100
#define FOURTH 10

// 1.7159 tanh(2x/3)
__device__ static float squashed(float x)
{
    return 1.7159f * (1 - 2 / (1 + __expf(1.3333333f * x)));
}

extern "C" __global__ void neural_first(float *out, const float *in, const float *weights)
{
    unsigned map = blockIdx.x, digit = blockIdx.y, x = threadIdx.x, y = threadIdx.y;
    const float *weight = weights + map * (1 + WINDOW * WINDOW);
    const float *from = in + digit * SIDE * SIDE + 2 * y * SIDE + 2 * x;
    float sum = *weight++;
#pragma unroll 1
    for (unsigned row = 0; row < WINDOW; row++, from += SIDE, weight += WINDOW)
#pragma unroll 1
        for (unsigned column = 0; column < WINDOW; column++)
            sum += weight[column] * from[column];
    out[((digit * FIRST_MAPS + map) * FIRST_SIDE + y) * FIRST_SIDE + x] = squashed(sum);
}

extern "C" __global__ void neural_second(float *out, const float *in, const float *weights)
{
    unsigned map = blockIdx.x, digit = blockIdx.y, x = threadIdx.x, y = threadIdx.y;
    const float *weight = weights + map * (1 + FIRST_MAPS * WINDOW * WINDOW);
    float sum = *weight++;
#pragma unroll 1
    for (unsigned input = 0; input < FIRST_MAPS; input++) {
        const float *from = in + (digit * FIRST_MAPS + input) * FIRST_SIDE * FIRST_SIDE + 2 * y * FIRST_SIDE + 2 * x;
#pragma unroll 1
        for (unsigned row = 0; row < WINDOW; row++, from += FIRST_SIDE, weight += WINDOW)
#pragma unroll 1
            for (unsigned column = 0; column < WINDOW; column++)
                sum += weight[column] * from[column];
    }
    out[((digit * SECOND_MAPS + map) * SECOND_SIDE + y) * SECOND_SIDE + x] = squashed(sum);
}

__device__ static float neuron(const float *in, const float *weight, unsigned inputs)
{
    float sum = *weight++;
#pragma unroll 1
    for (unsigned i = 0; i < inputs; i++)
        sum += weight[i] * in[i];
    return sum;
}

extern "C" __global__ void neural_third(float *out, const float *in, const float *weights)
{
    const unsigned inputs = SECOND_MAPS * SECOND_SIDE * SECOND_SIDE;
    unsigned at = blockIdx.y * THIRD + blockIdx.x;
    out[at] = squashed(neuron(in + blockIdx.y * inputs, weights + blockIdx.x * (1 + inputs), inputs));
}

extern "C" __global__ void neural_fourth(float *out, const float *in, const float *weights)
{
    unsigned at = blockIdx.y * FOURTH + blockIdx.x;
    out[at] = squashed(neuron(in + blockIdx.y * THIRD, weights + blockIdx.x * (1 + THIRD), THIRD));
}
