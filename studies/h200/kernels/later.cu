// What programs do to memory all day, written when the other files had been worked on for long: conversions of layout and type, copies
// of every shape, updates of several arrays, neighbours in one to three dimensions, tables.
#define AT (blockIdx.x * blockDim.x + threadIdx.x)
#define ALL (gridDim.x * blockDim.x)
#define COLUMN (blockIdx.x * blockDim.x + threadIdx.x)
#define ROW (blockIdx.y * blockDim.y + threadIdx.y)

__device__ unsigned mix(unsigned x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

extern "C" {
__global__ void rgb_to_gray(unsigned char *to, const unsigned char *__restrict__ from, unsigned n)
{
    unsigned i = AT;
    if (i < n) {
        to[i] = (unsigned char)((77 * from[3 * i] + 150 * from[3 * i + 1] + 29 * from[3 * i + 2]) >> 8);
    }
}

__global__ void bytes_to_floats(float *to, const unsigned char *__restrict__ from, unsigned n)
{
    unsigned i = AT;
    if (i < n) {
        to[i] = (float)from[i] * 0.0078125f - 1.0f;
    }
}

__global__ void quantize(uchar4 *to, const float4 *__restrict__ from, unsigned n)
{
    unsigned i = AT;
    if (i < n) {
        float4 v = from[i];
        to[i] = make_uchar4((unsigned char)(v.x * 255.0f), (unsigned char)(v.y * 255.0f), (unsigned char)(v.z * 255.0f),
                            (unsigned char)(v.w * 255.0f));
    }
}

__global__ void records_to_planes(unsigned *to, const unsigned *__restrict__ from, unsigned n)
{
    unsigned i = AT;
    if (i < n) {
        for (unsigned k = 0; k < 5; k++) {
            to[k * n + i] = from[5 * i + k];
        }
    }
}

__global__ void planes_to_records(unsigned *to, const unsigned *__restrict__ from, unsigned n)
{
    unsigned i = AT;
    if (i < n) {
        for (unsigned k = 0; k < 6; k++) {
            to[6 * i + k] = from[k * n + i];
        }
    }
}

__global__ void interleave(float2 *to, const float *__restrict__ a, const float *__restrict__ b, unsigned n)
{
    unsigned i = AT;
    if (i < n) {
        to[i] = make_float2(a[i], b[i]);
    }
}

__global__ void reverse(unsigned *to, const unsigned *__restrict__ from, unsigned n)
{
    unsigned i = AT;
    if (i < n) {
        to[n - 1 - i] = from[i];
    }
}

__global__ void shifted_copy(unsigned *to, const unsigned *__restrict__ from, unsigned shift, unsigned n)
{
    unsigned i = AT;
    if (i + shift < n) {
        to[i] = from[i + shift];
    }
}

__global__ void masked_copy(unsigned *to, const unsigned *__restrict__ from, const unsigned char *__restrict__ flags, unsigned n)
{
    unsigned i = AT;
    if (i < n && (flags[i] & 1)) {
        to[i] = from[i];
    }
}

__global__ void segments(unsigned *to, const unsigned *__restrict__ from, const unsigned *__restrict__ rows, unsigned n)
{
    unsigned row = AT / 32, lane = threadIdx.x % 32;
    if (row < n) {
        for (unsigned i = rows[row] + lane; i < rows[row + 1]; i += 32) {
            to[i] = from[i] + row;
        }
    }
}

__global__ void blocked_sums(unsigned *to, const unsigned *__restrict__ from, unsigned n)
{
    unsigned i = AT;
    if (i < n) {
        unsigned sum = 0;
        for (unsigned k = 0; k < 8; k++) {
            sum += from[8 * i + k];
        }
        to[i] = sum;
    }
}

__global__ void blocked_write(unsigned *to, unsigned n)
{
    unsigned i = AT;
    if (i < n) {
        for (unsigned k = 0; k < 8; k++) {
            to[8 * i + k] = i ^ k;
        }
    }
}

__global__ void persistent_copy(uint4 *to, const uint4 *__restrict__ from, unsigned n)
{
    for (unsigned i = AT; i < n; i += ALL) {
        to[i] = from[i];
    }
}

__global__ void four_in_flight(unsigned *sums, const unsigned *__restrict__ from, unsigned n)
{
    unsigned sum = 0;
    for (unsigned i = AT; i + 3 * ALL < n; i += 4 * ALL) {
        unsigned a = from[i], b = from[i + ALL], c = from[i + 2 * ALL], d = from[i + 3 * ALL];
        sum += (a ^ b) + (c ^ d);
    }
    sums[AT] = sum;
}

__global__ void fill_bytes(unsigned char *to, unsigned n)
{
    for (unsigned i = AT; i < n; i += ALL) {
        to[i] = (unsigned char)(i >> 3);
    }
}

__global__ void exchange(unsigned *words, unsigned n)
{
    unsigned i = AT;
    if (i < n) {
        unsigned a = words[i], b = words[n + i];
        words[i] = b;
        words[n + i] = a;
    }
}

__global__ void dropout(float *to, unsigned char *kept, const float *__restrict__ from, float scale, unsigned n)
{
    unsigned i = AT;
    if (i < n) {
        bool keep = mix(i) & 3;
        to[i] = keep ? from[i] * scale : 0.0f;
        kept[i] = keep;
    }
}

__global__ void momentum(float *weights, float *first, float *second, const float *__restrict__ gradient, float rate, unsigned n)
{
    unsigned i = AT;
    if (i < n) {
        float g = gradient[i];
        float m = 0.9f * first[i] + 0.1f * g, v = 0.99f * second[i] + 0.01f * g * g;
        first[i] = m;
        second[i] = v;
        weights[i] -= rate * m * rsqrtf(v + 1e-6f);
    }
}

__global__ void complex_scale(float2 *to, const float2 *__restrict__ a, const float2 *__restrict__ b, unsigned n)
{
    unsigned i = AT;
    if (i < n) {
        float2 x = a[i], y = b[i];
        to[i] = make_float2(x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x);
    }
}

__global__ void signs(unsigned *to, const float *__restrict__ from, unsigned n)
{
    unsigned i = AT;
    if (i < n) {
        unsigned bits = __ballot_sync(0xffffffffu, from[i] > 0.5f);
        if (threadIdx.x % 32 == 0) {
            to[i / 32] = bits;
        }
    }
}

__global__ void column_sums(float *to, const float *__restrict__ from, unsigned columns, unsigned rows)
{
    unsigned x = AT;
    if (x < columns) {
        float sum = 0;
        for (unsigned y = 0; y < rows; y++) {
            sum += from[y * columns + x];
        }
        to[x] = sum;
    }
}

__global__ void row_sums(float *to, const float *__restrict__ from, unsigned columns, unsigned rows)
{
    unsigned y = AT;
    if (y < rows) {
        float sum = 0;
        for (unsigned x = 0; x < columns; x++) {
            sum += from[y * columns + x];
        }
        to[y] = sum;
    }
}

__global__ void row_most(float *to, const float *__restrict__ from, unsigned columns)
{
    __shared__ float most[8];
    float m = 0;
    for (unsigned x = threadIdx.x; x < columns; x += blockDim.x) {
        m = fmaxf(m, from[blockIdx.x * columns + x]);
    }
    for (unsigned d = 16; d; d /= 2) {
        m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, d));
    }
    most[threadIdx.x / 32] = m;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (unsigned w = 0; w < 8; w++) {
            m = fmaxf(m, most[w]);
        }
        to[blockIdx.x] = m;
    }
}

__global__ void lattice(float *to, const float *__restrict__ from, unsigned side)
{
    unsigned x = COLUMN, y = ROW, cells = side * side;
    float f[9], sum = 0;
    for (int k = 0; k < 9; k++) {
        unsigned sx = (x + side - (unsigned)(k % 3 - 1)) & (side - 1), sy = (y + side - (unsigned)(k / 3 - 1)) & (side - 1);
        f[k] = from[k * cells + sy * side + sx];
        sum += f[k];
    }
    for (int k = 0; k < 9; k++) {
        to[k * cells + y * side + x] = f[k] + 0.1f * (sum * 0.111f - f[k]);
    }
}

__global__ void stencil27(float *to, const float *__restrict__ from, unsigned side)
{
    unsigned x = COLUMN, y = ROW & (side - 1), z = ROW / side, plane = side * side;
    if (x == 0 || y == 0 || z == 0 || x + 1 >= side || y + 1 >= side || z + 1 >= side) {
        return;
    }
    float sum = 0;
    for (int dz = -1; dz <= 1; dz++) {
        for (int dy = -1; dy <= 1; dy++) {
            for (int dx = -1; dx <= 1; dx++) {
                sum += from[(z + dz) * plane + (y + dy) * side + x + dx];
            }
        }
    }
    to[z * plane + y * side + x] = sum * 0.037f;
}

__global__ void line_stencil(double *to, const double *__restrict__ from, unsigned n)
{
    unsigned i = AT + 4;
    if (i + 4 < n) {
        double sum = 0;
        for (int d = -4; d <= 4; d++) {
            sum += from[i + d] * (5 - abs(d));
        }
        to[i] = sum;
    }
}

__global__ void halve_image(float *to, const float *__restrict__ from, unsigned side)
{
    unsigned x = COLUMN, y = ROW;
    const float2 *rows = (const float2 *)from;
    float2 a = rows[2 * y * side + x], b = rows[(2 * y + 1) * side + x];
    to[y * side + x] = 0.25f * (a.x + a.y + b.x + b.y);
}

__global__ void double_image(float *to, const float *__restrict__ from, unsigned side)
{
    unsigned x = COLUMN, y = ROW, width = side / 2;
    unsigned x0 = x / 2, y0 = y / 2, x1 = min(x0 + 1, width - 1), y1 = min(y0 + 1, width - 1);
    float u = (x & 1) * 0.5f, v = (y & 1) * 0.5f;
    float top = from[y0 * width + x0] * (1 - u) + from[y0 * width + x1] * u;
    float bottom = from[y1 * width + x0] * (1 - u) + from[y1 * width + x1] * u;
    to[y * side + x] = top * (1 - v) + bottom * v;
}

__global__ void windows(float *to, const float *__restrict__ from, unsigned side)
{
    unsigned x = COLUMN, y = ROW, cells = side * side;
    for (unsigned k = 0; k < 9; k++) {
        unsigned sx = min(x + k % 3, side - 1), sy = min(y + k / 3, side - 1);
        to[k * cells + y * side + x] = from[sy * side + sx];
    }
}

__global__ void triangle(float *to, const float *__restrict__ from, unsigned side)
{
    unsigned x = COLUMN, y = ROW;
    if (x <= y) {
        to[y * side + x] = from[y * side + x] * 2.0f;
    }
}

__global__ void diagonals(float *to, const float *__restrict__ bands, const float *__restrict__ x, unsigned n)
{
    unsigned i = AT;
    if (i < n) {
        float sum = 0;
        for (unsigned k = 0; k < 5; k++) {
            unsigned j = (i + k * 513) & (n - 1);
            sum += bands[k * n + i] * x[j];
        }
        to[i] = sum;
    }
}

__global__ void embedding(float4 *to, const float4 *__restrict__ table, const unsigned *__restrict__ words, unsigned n)
{
    unsigned row = AT / 16, part = threadIdx.x % 16;
    if (row < n) {
        to[row * 16 + part] = table[words[row] * 16 + part];
    }
}

__global__ void permute_near(unsigned *to, const unsigned *__restrict__ from, const unsigned *__restrict__ places, unsigned n)
{
    unsigned i = AT;
    if (i < n) {
        to[i] = from[i] + from[places[i]] + from[places[places[i]]];
    }
}

__global__ void jump(unsigned *to, unsigned *ranks, const unsigned *__restrict__ next, const unsigned *__restrict__ before, unsigned n)
{
    unsigned i = AT;
    if (i < n) {
        unsigned j = next[i];
        to[i] = next[j];
        ranks[i] = before[i] + before[j];
    }
}

__global__ void probe(unsigned *to, const uint4 *__restrict__ buckets, const unsigned *__restrict__ keys, unsigned mask, unsigned n)
{
    unsigned i = AT;
    if (i < n) {
        unsigned key = keys[i], at = mix(key) & mask, found = 0;
        for (unsigned k = 0; k < 3; k++) {
            uint4 b = buckets[(at + k) & mask];
            if (((b.x ^ key) & 3) == 0) {
                found = b.y + k;
                break;
            }
        }
        to[i] = found;
    }
}

__global__ void polygon(unsigned *to, const uint2 *__restrict__ edges, const float4 *__restrict__ points, unsigned n)
{
    unsigned i = AT;
    if (i < n) {
        uint2 e = edges[i];
        float4 a = points[e.x], b = points[e.y];
        to[i] = (unsigned)((a.x - b.x) * (a.x - b.x) * 1000.0f) + (a.y > b.y) + (a.z > b.w);
    }
}
}
