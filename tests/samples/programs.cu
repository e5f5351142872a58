/*
 * Programs for samples (compare.py): each does what long programs do, at a size and with data that
 * its arguments choose, and prints a sum of its results.
 *
 *     programs NAME SCALE SEED
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

static uint64_t rng_state;
static uint32_t draw()
{
    rng_state = rng_state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(rng_state >> 33);
}
static uint32_t draw_between(uint32_t low, uint32_t high) { return low + draw() % (high - low + 1); }

template <typename T> static T *device(const std::vector<T> &host)
{
    T *at;
    cudaMalloc(&at, host.size() * sizeof(T));
    cudaMemcpy(at, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice);
    return at;
}
template <typename T> static std::vector<T> host(const T *at, size_t count)
{
    std::vector<T> out(count);
    cudaMemcpy(out.data(), at, count * sizeof(T), cudaMemcpyDeviceToHost);
    return out;
}
template <typename T> static void print_sum(const char *name, const T *at, size_t count)
{
    uint64_t hash = 14695981039346656037ull;
    std::vector<T> all = host(at, count);
    const unsigned char *bytes = (const unsigned char *)all.data();
    for (size_t i = 0; i < count * sizeof(T); i++) hash = (hash ^ bytes[i]) * 1099511628211ull;
    printf("%s %016llx\n", name, (unsigned long long)hash);
}
static std::vector<float> random_floats(size_t count)
{
    std::vector<float> out(count);
    for (auto &x : out) x = (float)(draw() % 1000) / 1000.0f;
    return out;
}

/* ---- the same launch again and again ---- */

__global__ void stencil_step(float *out, const float *in, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && y > 0 && x < n - 1 && y < n - 1)
        out[y * n + x] = 0.2f * (in[y * n + x] + in[y * n + x - 1] + in[y * n + x + 1] +
                                 in[(y - 1) * n + x] + in[(y + 1) * n + x]);
}
static void stencil(int scale)
{
    int n = 128 + 32 * (draw() % 5);
    float *a = device(random_floats((size_t)n * n)), *b = device(std::vector<float>((size_t)n * n));
    dim3 block(32, 4), grid((n + 31) / 32, (n + 3) / 4);
    for (int i = 0; i < 40 * scale; i++) {
        stencil_step<<<grid, block>>>(b, a, n);
        std::swap(a, b);
    }
    print_sum("stencil", a, (size_t)n * n);
}

__global__ void gemm_tile(float *c, const float *a, const float *b, int n)
{
    __shared__ float s[16][16], t[16][16];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        s[threadIdx.y][threadIdx.x] = a[y * n + k + threadIdx.x];
        t[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + x];
        __syncthreads();
        for (int i = 0; i < 16; i++) sum += s[threadIdx.y][i] * t[i][threadIdx.x];
        __syncthreads();
    }
    c[y * n + x] = sum * (2.0f / n);
}
static void gemm(int scale)
{
    int n = 64 + 16 * (draw() % 5);
    float *a = device(random_floats((size_t)n * n)), *b = device(random_floats((size_t)n * n));
    float *c = device(std::vector<float>((size_t)n * n));
    for (int i = 0; i < 20 * scale; i++) {
        gemm_tile<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(c, a, b, n);
        std::swap(a, c);
    }
    print_sum("gemm", a, (size_t)n * n);
}

__global__ void nbody_step(float4 *out, const float4 *in, int n)
{
    __shared__ float4 tile[128];
    int i = blockIdx.x * 128 + threadIdx.x;
    float4 p = in[i];
    float x = 0, y = 0, z = 0;
    for (int k = 0; k < n; k += 128) {
        tile[threadIdx.x] = in[k + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < 128; j++) {
            float dx = tile[j].x - p.x, dy = tile[j].y - p.y, dz = tile[j].z - p.z;
            float r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
            float f = r * r * r * tile[j].w;
            x += f * dx, y += f * dy, z += f * dz;
        }
        __syncthreads();
    }
    out[i] = make_float4(p.x + 1e-4f * x, p.y + 1e-4f * y, p.z + 1e-4f * z, p.w);
}
static void nbody(int scale)
{
    int n = 128 * draw_between(4, 8);
    std::vector<float4> bodies(n);
    for (auto &b : bodies)
        b = make_float4(draw() % 100, draw() % 100, draw() % 100, 1 + draw() % 3);
    float4 *a = device(bodies), *b = device(bodies);
    for (int i = 0; i < 10 * scale; i++) {
        nbody_step<<<n / 128, 128>>>(b, a, n);
        std::swap(a, b);
    }
    print_sum("nbody", a, n);
}

/* ---- several kernels that leave each other data in the caches ---- */

__global__ void spmv(float *y, const float *x, const int *row, const int *column,
                     const float *value, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int k = row[i]; k < row[i + 1]; k++) sum += value[k] * x[column[k]];
    y[i] = sum;
}
__global__ void scale_and_add(float *x, const float *y, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = 0.5f * x[i] + a * y[i];
}
__global__ void dot(float *out, const float *x, const float *y, int n)
{
    __shared__ float part[128];
    float sum = 0;
    for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128) sum += x[i] * y[i];
    part[threadIdx.x] = sum;
    for (int s = 64; s > 0; s /= 2) {
        __syncthreads();
        if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
    }
    if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}
static void sparse(int scale)
{
    int n = 1000 * draw_between(2, 8);
    std::vector<int> row(n + 1), column;
    for (int i = 0; i < n; i++) {
        int length = draw() % 8 == 0 ? draw_between(8, 40) : draw_between(1, 8);
        for (int k = 0; k < length; k++)
            column.push_back(draw() % 3 ? (i + draw() % 64) % n : draw() % n);
        row[i + 1] = (int)column.size();
    }
    std::vector<float> value(column.size(), 0.05f);
    int *r = device(row), *c = device(column);
    float *v = device(value), *x = device(random_floats(n)), *y = device(random_floats(n));
    float *parts = device(std::vector<float>(32));
    for (int i = 0; i < 15 * scale; i++) {
        spmv<<<(n + 127) / 128, 128>>>(y, x, r, c, v, n);
        dot<<<32, 128>>>(parts, x, y, n);
        scale_and_add<<<(n + 127) / 128, 128>>>(x, y, 0.3f, n);
    }
    print_sum("sparse", x, n);
}

__global__ void bitonic(uint32_t *data, int j, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, other = i ^ j;
    if (other > i) {
        uint32_t a = data[i], b = data[other];
        if ((a > b) == ((i & k) == 0)) data[i] = b, data[other] = a;
    }
}
static void sort(int scale)
{
    int n = 1 << draw_between(12, 14);
    std::vector<uint32_t> data(n);
    for (auto &x : data) x = draw();
    uint32_t *at = device(data);
    for (int round = 0; round < (scale + 1) / 2; round++) {
        cudaMemcpy(at, data.data(), n * 4, cudaMemcpyHostToDevice);
        for (int k = 2; k <= n; k *= 2)
            for (int j = k / 2; j > 0; j /= 2) bitonic<<<n / 256, 256>>>(at, j, k);
    }
    print_sum("sort", at, n);
}

/* ---- sizes and data that vary ---- */

__global__ void add(float *c, const float *a, const float *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
static void sizes(int scale)
{
    int most = 1 << 15;
    float *a = device(random_floats(most)), *b = device(random_floats(most));
    float *c = device(random_floats(most));
    for (int i = 0; i < 40 * scale; i++) {
        int n = draw_between(most / 8, most);
        add<<<(n + 127) / 128, 128>>>(c, a, b, n);
        std::swap(a, c);
    }
    print_sum("sizes", a, most);
}

__global__ void histogram(uint32_t *out, const uint8_t *data, int n)
{
    __shared__ uint32_t bins[256];
    bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)
        atomicAdd(&bins[data[i]], 1);
    __syncthreads();
    atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}
static void skew(int scale)
{
    int n = 1 << 15;
    uint32_t *out = device(std::vector<uint32_t>(256));
    std::vector<uint8_t> data(n);
    uint8_t *at = device(data);
    for (int i = 0; i < 20 * scale; i++) {
        if (i % 4 == 0) {
            int values = 1 << draw_between(0, 8);
            for (auto &x : data) x = (uint8_t)(draw() % values);
            cudaMemcpy(at, data.data(), n, cudaMemcpyHostToDevice);
        }
        histogram<<<24, 256>>>(out, at, n);
    }
    print_sum("skew", out, 256);
}

__global__ void gather(float *out, const float *in, const int *index, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[index[i]] + 1;
}
/* The order of the indices decays from launch to launch: same instructions, more and more lines. */
static void decay(int scale)
{
    int n = 1 << 14, launches = 25 * scale;
    std::vector<int> index(n);
    for (int i = 0; i < n; i++) index[i] = i;
    float *a = device(random_floats(n)), *b = device(random_floats(n));
    int *at = device(index);
    for (int i = 0; i < launches; i++) {
        for (int k = 0; k < 2 * n / launches; k++)
            std::swap(index[draw() % n], index[draw() % n]);
        cudaMemcpy(at, index.data(), n * 4, cudaMemcpyHostToDevice);
        gather<<<n / 128, 128>>>(b, a, at, n);
        std::swap(a, b);
    }
    print_sum("decay", a, n);
}

__global__ void collatz(uint32_t *steps, const uint32_t *from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uint32_t count = 0;
    for (uint64_t x = from[i]; x > 1; count++) x = x % 2 ? 3 * x + 1 : x / 2;
    steps[i] = count;
}
/* Divergence that depends on data which is new in each launch. */
static void diverge(int scale)
{
    int n = 1 << 12;
    std::vector<uint32_t> from(n);
    uint32_t *a = device(from), *b = device(from);
    for (int i = 0; i < 10 * scale; i++) {
        for (auto &x : from) x = 1 + draw() % 5000;
        cudaMemcpy(a, from.data(), n * 4, cudaMemcpyHostToDevice);
        collatz<<<n / 128, 128>>>(b, a, n);
    }
    print_sum("diverge", b, n);
}

/* ---- launches that grow and shrink ---- */

__global__ void bfs_level(int *level, const int *row, const int *column, const int *frontier,
                          int count, int *next, int *next_count, int depth)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    int node = frontier[i];
    for (int k = row[node]; k < row[node + 1]; k++)
        if (atomicCAS(&level[column[k]], -1, depth) == -1)
            next[atomicAdd(next_count, 1)] = column[k];
}
static void bfs(int scale)
{
    int n = 20000, degree = draw_between(3, 6);
    std::vector<int> row(n + 1), column;
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < degree; k++)
            column.push_back(draw() % 4 ? (i + draw() % 400) % n : draw() % n);
        row[i + 1] = (int)column.size();
    }
    int *r = device(row), *c = device(column), *level, *a, *b, *count;
    cudaMalloc(&level, n * 4), cudaMalloc(&a, n * 4), cudaMalloc(&b, n * 4), cudaMalloc(&count, 4);
    for (int round = 0; round < scale; round++) {
        int source = draw() % n, depth = 0, size = 1, zero = 0;
        cudaMemset(level, 0xff, n * 4);
        cudaMemcpy(level + source, &zero, 4, cudaMemcpyHostToDevice);
        cudaMemcpy(a, &source, 4, cudaMemcpyHostToDevice);
        while (size > 0) {
            cudaMemset(count, 0, 4);
            bfs_level<<<(size + 127) / 128, 128>>>(level, r, c, a, size, b, count, ++depth);
            cudaMemcpy(&size, count, 4, cudaMemcpyDeviceToHost);
            std::swap(a, b);
        }
    }
    print_sum("bfs", level, n);
}

__global__ void eliminate(float *m, int n, int pivot)
{
    int column = pivot + blockIdx.x * blockDim.x + threadIdx.x, row = pivot + 1 + blockIdx.y;
    if (column < n && row < n) {
        float factor = m[row * (n + 1) + n] ;
        m[row * (n + 1) + column] -= factor * m[pivot * (n + 1) + column];
    }
}
__global__ void factors(float *m, int n, int pivot)
{
    int row = pivot + 1 + blockIdx.x * blockDim.x + threadIdx.x;
    if (row < n) m[row * (n + 1) + n] = m[row * (n + 1) + pivot] / m[pivot * (n + 1) + pivot];
}
static void eliminates(int scale)
{
    int n = 96 + 32 * draw_between(0, 2);
    for (int round = 0; round < scale; round++) {
        std::vector<float> m = random_floats((size_t)n * (n + 1));
        for (int i = 0; i < n; i++) m[i * (n + 1) + i] += n;
        float *at = device(m);
        for (int pivot = 0; pivot < n - 1; pivot++) {
            factors<<<(n - pivot + 127) / 128, 128>>>(at, n, pivot);
            eliminate<<<dim3((n - pivot + 63) / 64, n - pivot - 1), 64>>>(at, n, pivot);
        }
        if (round == scale - 1) print_sum("eliminates", at, (size_t)n * (n + 1));
        cudaFree(at);
    }
}

/* ---- one long launch ---- */

__global__ void mandelbrot(uint32_t *out, int width, float x0, float y0, float step)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float cx = x0 + step * (i % width), cy = y0 + step * (i / width), x = 0, y = 0;
    uint32_t n = 0;
    for (; n < 200 && x * x + y * y < 4; n++) {
        float t = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = t;
    }
    out[i] = n;
}
static void fractal(int scale)
{
    int width = 256, height = 32 * scale;
    uint32_t *out = device(std::vector<uint32_t>((size_t)width * height));
    float step = 3.0f / height;
    mandelbrot<<<width * height / 128, 128>>>(out, width, -2.0f + (draw() % 100) * 0.01f,
                                             -1.5f, step);
    print_sum("fractal", out, (size_t)width * height);
}
static void stream(int scale)
{
    int n = 20000 * scale;
    float *a = device(random_floats(n)), *b = device(random_floats(n)), *c;
    cudaMalloc(&c, n * 4);
    add<<<(n + 127) / 128, 128>>>(c, a, b, n);
    print_sum("stream", c, n);
}
__global__ void rows(float *out, const float *in, const int *row, int n)
{
    int i = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (i >= n) return;
    float sum = 0;
    for (int k = row[i] + threadIdx.x % 32; k < row[i + 1]; k += 32) sum += in[k];
    for (int s = 16; s > 0; s /= 2) sum += __shfl_down_sync(~0u, sum, s);
    if (threadIdx.x % 32 == 0) out[i] = sum;
}
/* Blocks differ, and those at the end more than those at the beginning. */
static void ragged(int scale)
{
    int n = 1000 * scale;
    std::vector<int> row(n + 1);
    for (int i = 0; i < n; i++)
        row[i + 1] = row[i] + draw_between(1, 100) + (i > n / 2 ? draw_between(0, 100) : 0);
    float *in = device(random_floats(row[n])), *out = device(std::vector<float>(n));
    int *r = device(row);
    rows<<<(n + 3) / 4, 128>>>(out, in, r, n);
    print_sum("ragged", out, n);
}
static void product(int scale)
{
    int n = 16 * (4 + scale);
    float *a = device(random_floats((size_t)n * n)), *b = device(random_floats((size_t)n * n));
    float *c = device(std::vector<float>((size_t)n * n));
    gemm_tile<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(c, a, b, n);
    print_sum("product", c, (size_t)n * n);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(int scale);
    } programs[] = {{"stencil", stencil}, {"gemm", gemm},       {"nbody", nbody},
                    {"sparse", sparse},   {"sort", sort},       {"sizes", sizes},
                    {"skew", skew},       {"decay", decay},     {"diverge", diverge},
                    {"bfs", bfs},         {"eliminates", eliminates}, {"fractal", fractal},
                    {"stream", stream},   {"ragged", ragged},   {"product", product}};
    if (argc < 2) {
        for (auto &p : programs) printf("%s\n", p.name);
        return 0;
    }
    rng_state = argc > 3 ? strtoull(argv[3], nullptr, 10) * 7919 + 1 : 1;
    for (auto &p : programs)
        if (strcmp(p.name, argv[1]) == 0) {
            p.run(argc > 2 ? atoi(argv[2]) : 1);
            return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
        }
    fprintf(stderr, "%s: no such program\n", argv[1]);
    return 2;
}
