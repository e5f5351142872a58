// What is computed: bodies, transforms, rays, options, random numbers, fractals.
#define AT (blockIdx.x * blockDim.x + threadIdx.x)
#define SPHERES 24

extern "C" {
__constant__ float4 spheres[SPHERES] = {
    {0, 0, 6, 1},       {2, 0.5f, 7, 0.8f},  {-2, -0.5f, 5, 0.7f}, {1, 1.5f, 8, 0.9f},  {-1, 1.5f, 6, 0.4f}, {0, -1.5f, 5, 0.5f},
    {3, -1, 9, 1.1f},   {-3, 1, 8, 1},       {1.5f, -1, 4, 0.3f},  {-1.5f, 0, 4, 0.3f}, {0.5f, 2, 7, 0.5f},  {-0.5f, -2, 7, 0.5f},
    {2.5f, 2, 9, 0.7f}, {-2.5f, -2, 9, 0.7f}, {4, 0, 12, 1.5f},    {-4, 0, 12, 1.5f},   {0, 4, 12, 1.5f},    {0, -4, 12, 1.5f},
    {1, 0, 3, 0.2f},    {-1, 0, 3, 0.2f},    {0, 1, 3, 0.2f},      {0, -1, 3, 0.2f},    {2, 2, 5, 0.4f},     {-2, 2, 5, 0.4f}};

__device__ float3 pull(float3 force, float4 me, float4 other)
{
    float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
    float r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f), s = other.w * r * r * r;
    return make_float3(fmaf(dx, s, force.x), fmaf(dy, s, force.y), fmaf(dz, s, force.z));
}

__global__ void nbody_simple(float4 *forces, const float4 *__restrict__ bodies, unsigned n)
{
    float4 me = bodies[AT];
    float3 force = make_float3(0, 0, 0);
    for (unsigned k = 0; k < n; k++) {
        force = pull(force, me, bodies[k]);
    }
    forces[AT] = make_float4(force.x, force.y, force.z, 0);
}

__global__ void nbody_tiled(float4 *forces, const float4 *__restrict__ bodies, unsigned n)
{
    __shared__ float4 s[128];
    float4 me = bodies[AT];
    float3 force = make_float3(0, 0, 0);
    for (unsigned k = 0; k < n; k += 128) {
        s[threadIdx.x] = bodies[k + threadIdx.x];
        __syncthreads();
#pragma unroll 8
        for (unsigned i = 0; i < 128; i++) {
            force = pull(force, me, s[i]);
        }
        __syncthreads();
    }
    forces[AT] = make_float4(force.x, force.y, force.z, 0);
}

// 512 points a CTA; the roots of unity are given.
__global__ void fft_shared(float2 *to, const float2 *__restrict__ from, const float2 *__restrict__ roots)
{
    __shared__ float2 s[512];
    unsigned t = threadIdx.x, base = blockIdx.x * 512;
    s[__brev(t) >> 23] = from[base + t];
    s[__brev(t + 256) >> 23] = from[base + t + 256];
    for (unsigned half = 1; half < 512; half *= 2) {
        __syncthreads();
        unsigned k = t & (half - 1), a = 2 * t - k, b = a + half;
        float2 w = roots[k * (256 / half)], u = s[a], v = s[b];
        float2 p = make_float2(v.x * w.x - v.y * w.y, v.x * w.y + v.y * w.x);
        s[a] = make_float2(u.x + p.x, u.y + p.y);
        s[b] = make_float2(u.x - p.x, u.y - p.y);
    }
    __syncthreads();
    to[base + t] = s[t];
    to[base + t + 256] = s[t + 256];
}

// One stage in global memory, with sine and cosine computed.
__global__ void fft_stage(float2 *data, unsigned half)
{
    unsigned t = AT, k = t & (half - 1), a = 2 * t - k, b = a + half;
    float sine, cosine;
    __sincosf(-3.14159265f * (float)k / (float)half, &sine, &cosine);
    float2 u = data[a], v = data[b];
    float2 p = make_float2(v.x * cosine - v.y * sine, v.x * sine + v.y * cosine);
    data[a] = make_float2(u.x + p.x, u.y + p.y);
    data[b] = make_float2(u.x - p.x, u.y - p.y);
}

__global__ void walsh(float *to, const float *__restrict__ from)
{
    __shared__ float s[1024];
    unsigned t = threadIdx.x, base = blockIdx.x * 1024;
    for (unsigned k = 0; k < 4; k++) {
        s[t + 256 * k] = from[base + t + 256 * k];
    }
    for (unsigned half = 512; half > 0; half /= 2) {
        __syncthreads();
        for (unsigned k = 0; k < 2; k++) {
            unsigned i = t + 256 * k, a = 2 * i - (i & (half - 1)), b = a + half;
            float u = s[a], v = s[b];
            s[a] = u + v;
            s[b] = u - v;
        }
    }
    __syncthreads();
    for (unsigned k = 0; k < 4; k++) {
        to[base + t + 256 * k] = s[t + 256 * k];
    }
}

__global__ void rays(unsigned *hits, unsigned side, unsigned bounces)
{
    unsigned x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, seen = 0;
    float ox = 0, oy = 0, oz = 0, dx = ((float)x / (float)side - 0.5f) * 1.5f, dy = ((float)y / (float)side - 0.5f) * 1.5f, dz = 1;
    float scale = rsqrtf(dx * dx + dy * dy + dz * dz);
    dx *= scale, dy *= scale, dz *= scale;
    for (unsigned bounce = 0; bounce < bounces; bounce++) {
        float nearest = 1e30f;
        int which = -1;
        for (int i = 0; i < SPHERES; i++) {
            float4 c = spheres[i];
            float px = c.x - ox, py = c.y - oy, pz = c.z - oz, b = px * dx + py * dy + pz * dz;
            float d = b * b - (px * px + py * py + pz * pz) + c.w * c.w;
            if (d > 0) {
                float t = b - sqrtf(d);
                if (t > 1e-3f && t < nearest) {
                    nearest = t;
                    which = i;
                }
            }
        }
        if (which < 0) {
            break;
        }
        seen++;
        float4 c = spheres[which];
        ox += dx * nearest, oy += dy * nearest, oz += dz * nearest;
        float nx = (ox - c.x) / c.w, ny = (oy - c.y) / c.w, nz = (oz - c.z) / c.w, k = 2 * (dx * nx + dy * ny + dz * nz);
        dx -= k * nx, dy -= k * ny, dz -= k * nz;
    }
    hits[y * side + x] = seen;
}

__device__ float normal(float d)
{
    float k = 1 / (1 + 0.2316419f * fabsf(d));
    float p = 0.39894228f * __expf(-0.5f * d * d) *
              (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
    return d > 0 ? 1 - p : p;
}

__global__ void black_scholes(float *call, float *put, const float *__restrict__ price, const float *__restrict__ strike,
                              const float *__restrict__ years, unsigned n)
{
    unsigned i = AT;
    if (i < n) {
        float s = 5 + 25 * price[i], x = 1 + 99 * strike[i], t = 0.25f + 9.75f * years[i], root = sqrtf(t);
        float d1 = (__logf(s / x) + (0.02f + 0.5f * 0.3f * 0.3f) * t) / (0.3f * root), d2 = d1 - 0.3f * root;
        float n1 = normal(d1), n2 = normal(d2), discount = x * __expf(-0.02f * t);
        call[i] = s * n1 - discount * n2;
        put[i] = discount * (1 - n2) - s * (1 - n1);
    }
}

// How many of a thread's random points lie in the circle.
__global__ void monte_carlo(unsigned *inside, unsigned rounds)
{
    unsigned x = AT * 747796405u + 2891336453u, y = x ^ 0x9e3779b9u, count = 0;
    for (unsigned i = 0; i < rounds; i++) {
        x ^= x << 13, x ^= x >> 17, x ^= x << 5;
        y = y * 1664525u + 1013904223u;
        float u = (float)(x >> 8) * 0x1p-24f, v = (float)(y >> 8) * 0x1p-24f;
        count += u * u + v * v < 1;
    }
    inside[AT] = count;
}

// Ten rounds of multiplications of 32 by 32 to 64 bits.
__global__ void random_words(uint4 *to, unsigned seed)
{
    unsigned a = AT, b = 0, c = seed, d = 0, k0 = seed, k1 = ~seed;
    for (int i = 0; i < 10; i++) {
        unsigned long long p = (unsigned long long)a * 0xd2511f53u, q = (unsigned long long)c * 0xcd9e8d57u;
        a = (unsigned)(q >> 32) ^ b ^ k0, b = (unsigned)q;
        c = (unsigned)(p >> 32) ^ d ^ k1, d = (unsigned)p;
        k0 += 0x9e3779b9u, k1 += 0xbb67ae85u;
    }
    to[AT] = make_uint4(a, b, c, d);
}

__global__ void mandelbrot(unsigned *to, unsigned side, unsigned limit)
{
    unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y, n = 0;
    float cx = (float)x * 3.0f / (float)side - 2.2f, cy = (float)y * 3.0f / (float)side - 1.5f, zx = 0, zy = 0;
    while (n < limit && zx * zx + zy * zy < 4) {
        float next = zx * zx - zy * zy + cx;
        zy = 2 * zx * zy + cy;
        zx = next;
        n++;
    }
    to[y * side + x] = n;
}

// Which of sixteen centres is nearest, in four dimensions.
__global__ void nearest(unsigned *which, const float4 *__restrict__ points, const float4 *__restrict__ centres, unsigned n)
{
    __shared__ float4 s[16];
    if (threadIdx.x < 16) {
        s[threadIdx.x] = centres[threadIdx.x];
    }
    __syncthreads();
    unsigned i = AT;
    if (i < n) {
        float4 p = points[i];
        float least = 1e30f;
        unsigned best = 0;
        for (unsigned k = 0; k < 16; k++) {
            float dx = p.x - s[k].x, dy = p.y - s[k].y, dz = p.z - s[k].z, dw = p.w - s[k].w;
            float d = dx * dx + dy * dy + dz * dz + dw * dw;
            if (d < least) {
                least = d;
                best = k;
            }
        }
        which[i] = best;
    }
}

// Rows of a matrix: softmax, one CTA a row.
__global__ void softmax(float *to, const float *__restrict__ from, unsigned width)
{
    __shared__ float s[32];
    const float *row = from + (size_t)blockIdx.x * width;
    unsigned t = threadIdx.x, lane = t % 32, warp = t / 32;
    float most = -1e30f, sum = 0;
    for (unsigned i = t; i < width; i += blockDim.x) {
        most = fmaxf(most, row[i]);
    }
    for (int k = 16; k > 0; k /= 2) {
        most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, k));
    }
    if (lane == 0) {
        s[warp] = most;
    }
    __syncthreads();
    for (unsigned w = 0; w < blockDim.x / 32; w++) {
        most = fmaxf(most, s[w]);
    }
    __syncthreads();
    for (unsigned i = t; i < width; i += blockDim.x) {
        sum += __expf(row[i] - most);
    }
    for (int k = 16; k > 0; k /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, k);
    }
    if (lane == 0) {
        s[warp] = sum;
    }
    __syncthreads();
    sum = 0;
    for (unsigned w = 0; w < blockDim.x / 32; w++) {
        sum += s[w];
    }
    for (unsigned i = t; i < width; i += blockDim.x) {
        to[(size_t)blockIdx.x * width + i] = __fdividef(__expf(row[i] - most), sum);
    }
}

// A warp a row of 1024, kept in registers.
__global__ void layer_norm(float *to, const float *__restrict__ from, const float *__restrict__ scale, float bias)
{
    unsigned row = AT / 32, lane = threadIdx.x % 32;
    const float4 *in = (const float4 *)(from + (size_t)row * 1024);
    float4 v[8];
    float sum = 0, squares = 0;
    for (int i = 0; i < 8; i++) {
        v[i] = in[i * 32 + lane];
        sum += v[i].x + v[i].y + v[i].z + v[i].w;
    }
    for (int k = 16; k > 0; k /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, k);
    }
    float mean = sum * (1.0f / 1024);
    for (int i = 0; i < 8; i++) {
        v[i].x -= mean, v[i].y -= mean, v[i].z -= mean, v[i].w -= mean;
        squares += v[i].x * v[i].x + v[i].y * v[i].y + v[i].z * v[i].z + v[i].w * v[i].w;
    }
    for (int k = 16; k > 0; k /= 2) {
        squares += __shfl_xor_sync(0xffffffffu, squares, k);
    }
    float by = rsqrtf(squares * (1.0f / 1024) + 1e-5f);
    float4 *out = (float4 *)(to + (size_t)row * 1024);
    for (int i = 0; i < 8; i++) {
        float4 w = ((const float4 *)scale)[i * 32 + lane];
        out[i * 32 + lane] = make_float4(v[i].x * by * w.x + bias, v[i].y * by * w.y + bias, v[i].z * by * w.z + bias,
                                         v[i].w * by * w.w + bias);
    }
}
}
