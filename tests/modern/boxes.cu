// What the engine of bulk copies does: boxes with edges and holes, of one to five dimensions, im2col before wgmma, sums into device memory by rows and by
// boxes, rings of rows, tensor maps that a kernel changes.
#include "modern.cuh"

#include <cuda/barrier>

// ---- transposition: a box in, a box out; both are cut off at the edges ----

__global__ void __launch_bounds__(256) turn(const __grid_constant__ CUtensorMap in, const __grid_constant__ CUtensorMap out)
{
    __shared__ alignas(1024) float tile[32][32], turned[32][32];
    __shared__ uint64_t bar;
    if (threadIdx.x == 0) {
        asm volatile("prefetch.tensormap [%0];" ::"l"(&in) : "memory");
        bar_init(&bar, 1);
        bar_fence();
        bar_expect(&bar, sizeof tile);
        box_2d(tile, &in, blockIdx.x * 32, blockIdx.y * 32, &bar);
    }
    __syncthreads();
    bar_wait(&bar, 0);
    for (int i = threadIdx.x; i < 1024; i += 256) {
        int row = i % 32, column = i / 32; // of 16 bytes the places are exchanged by the row's number
        turned[column][row] = tile[row][(column / 4 ^ row % 8) * 4 + column % 4];
    }
    fence_async();
    __syncthreads();
    if (threadIdx.x == 0) {
        store_2d(&out, blockIdx.y * 32, blockIdx.x * 32, turned);
        bulk_commit();
        bulk_left_read<0>();
    }
}

static void run_turn()
{
    const int rows = 45, columns = 70;
    buffer<float> in(rows * 72), out(columns * 48);
    in.real_numbers();
    out.fill([](size_t) { return -7.0f; });
    std::vector<double> wanted(columns * 48, -7);
    for (int i = 0; i < rows * columns; i++) wanted[i % columns * 48 + i / columns] = in.host[i / columns * 72 + i % columns];
    CUtensorMap from = box_map(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, in.device, {70, 45}, {32, 32}, CU_TENSOR_MAP_SWIZZLE_128B, {}, false, 288);
    CUtensorMap to = box_map(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, out.device, {45, 70}, {32, 32}, CU_TENSOR_MAP_SWIZZLE_NONE, {}, false, 192);
    for (int i = 0; i < 2; i++) turn<<<dim3(3, 2), 256>>>(from, to);
    for (int i = 0; i < columns; i++) // a box writes the 16 bytes that hold a row's last element whole
        for (int j = rows; j < 48; j++) wanted[i * 48 + j] = 0;
    tell("turn", out, wanted, 0);
}

// ---- seven points: planes come one after the other through a ring of four ----

__global__ void __launch_bounds__(256) seven(float *out, const __grid_constant__ CUtensorMap in, int nx, int ny, int nz)
{
    typedef float plane_row[40];
    __shared__ alignas(128) float planes[4][416]; // of 10 rows each; a box lies at a multiple of 128 bytes
    auto plane = [&](int z) { return (const plane_row *)planes[(z + 4) % 4]; };
    __shared__ uint64_t full[4];
    int x0 = blockIdx.x * 32, y0 = blockIdx.y * 8, tx = threadIdx.x % 32, ty = threadIdx.x / 32;
    auto fetch = [&](int z) {
        bar_expect(&full[(z + 4) % 4], 1600);
        box_3d(planes[(z + 4) % 4], &in, x0 - 4, y0 - 1, z, &full[(z + 4) % 4]);
    };
    if (threadIdx.x == 0) {
        for (int i = 0; i < 4; i++) bar_init(&full[i], 1);
        bar_fence();
        for (int z = -1; z < 2; z++) fetch(z);
    }
    __syncthreads();
    uint32_t phases = 0;
    auto wait = [&](int z) {
        int at = (z + 4) % 4;
        bar_wait(&full[at], phases >> at & 1);
        phases ^= 1u << at;
    };
    wait(-1), wait(0);
    for (int z = 0; z < nz; z++) {
        if (threadIdx.x == 0 && z + 2 <= nz) fetch(z + 2);
        wait(z + 1);
        const plane_row *low = plane(z - 1), *here = plane(z), *high = plane(z + 1);
        int x = tx + 4, y = ty + 1;
        float sum = low[y][x] + high[y][x] + here[y - 1][x] + here[y + 1][x] + here[y][x - 1] + here[y][x + 1] - 6.0f * here[y][x];
        if (x0 + tx < nx && y0 + ty < ny) out[((size_t)z * ny + y0 + ty) * nx + x0 + tx] = sum;
        __syncthreads();
    }
}

static void run_seven()
{
    const int nx = 52, ny = 19, nz = 9;
    buffer<float> in(nx * ny * nz), out(nx * ny * nz);
    in.real_numbers();
    auto at = [&](int x, int y, int z) { return x < 0 || y < 0 || z < 0 || x >= nx || y >= ny || z >= nz ? 0.0 : (double)in.host[(z * ny + y) * nx + x]; };
    std::vector<double> wanted(nx * ny * nz);
    for (int i = 0; i < nx * ny * nz; i++) {
        int x = i % nx, y = i / nx % ny, z = i / nx / ny;
        wanted[i] = at(x, y, z - 1) + at(x, y, z + 1) + at(x, y - 1, z) + at(x, y + 1, z) + at(x - 1, y, z) + at(x + 1, y, z) - 6 * at(x, y, z);
    }
    CUtensorMap map = box_map(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, in.device, {52, 19, 9}, {40, 10, 1});
    for (int i = 0; i < 2; i++) seven<<<dim3(2, 3), 256>>>(out.device, map, nx, ny, nz);
    tell("seven", out, wanted, 1e-6);
}

// ---- a convolution of 3 x 3 by every other pixel: im2col and wgmma ----

static __device__ uint64_t described(const void *p)
{
    return (uint64_t)(smem(p) >> 4 & 0x3fff) | (uint64_t)1 << 16 | (uint64_t)64 << 32 | (uint64_t)1 << 62;
}

__global__ void __launch_bounds__(128) convolve(float *out, const __grid_constant__ CUtensorMap pixels, const __grid_constant__ CUtensorMap weights, int wide,
                                                int count, int by)
{
    __shared__ alignas(1024) __half sa[2][64][64], sb[2][32][64];
    __shared__ uint64_t full[2];
    int first = blockIdx.x * 64, w = first % wide * by - 1, h = first / wide % wide * by - 1, n = first / wide / wide;
    auto fetch = [&](int tap) {
        uint64_t *bar = &full[tap & 1];
        bar_expect(bar, sizeof sa[0] + sizeof sb[0]);
        asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %8};" ::"r"(
                         smem(sa[tap & 1])), "l"(&pixels), "r"(0), "r"(w), "r"(h), "r"(n), "r"(smem(bar)), "h"((uint16_t)(tap % 3)), "h"((uint16_t)(tap / 3))
                     : "memory");
        box_2d(sb[tap & 1], &weights, tap * 64, 0, bar);
    };
    if (threadIdx.x == 0) {
        bar_init(&full[0], 1), bar_init(&full[1], 1);
        bar_fence();
        fetch(0);
    }
    __syncthreads();
    float d[16];
    for (int i = 0; i < 16; i++) d[i] = 0;
    for (int tap = 0; tap < 9; tap++) {
        if (threadIdx.x == 0 && tap < 8) fetch(tap + 1);
        bar_wait(&full[tap & 1], tap / 2 & 1);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        for (int k = 0; k < 4; k++)
            asm volatile("wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, "
                         "%16, %17, 1, 1, 1, 0, 0;"
                         : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]),
                           "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15])
                         : "l"(described(sa[tap & 1]) + k * 2), "l"(described(sb[tap & 1]) + k * 2));
        asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
        for (int i = 0; i < 16; i++) asm volatile("" : "+f"(d[i]));
        __syncthreads();
    }
    int row = first + threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4;
    for (int i = 0; i < 16; i++) {
        int at = row + i / 2 % 2 * 8;
        if (at < count) out[(size_t)at * 32 + i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2] = d[i];
    }
}

static void run_convolve()
{
    const int images = 3, size = 18, channels = 64, filters = 32, wide = 9, count = images * wide * wide;
    buffer<__half> pixels(images * size * size * channels), weights(filters * 9 * channels);
    buffer<float> out(count * filters);
    pixels.real_numbers(), weights.real_numbers();
    std::vector<double> wanted(count * filters), added(count * filters);
    for (int i = 0; i < count * filters; i++) {
        int pixel = i / filters, f = i % filters, w = pixel % wide * 2 - 1, h = pixel / wide % wide * 2 - 1, n = pixel / wide / wide;
        for (int tap = 0; tap < 9; tap++) {
            int y = h + tap / 3, x = w + tap % 3;
            if (x < 0 || y < 0 || x >= size || y >= size) continue;
            for (int c = 0; c < channels; c++) {
                double term = number(pixels.host[((n * size + y) * size + x) * channels + c]) * number(weights.host[(f * 9 + tap) * channels + c]);
                wanted[i] += term, added[i] += fabs(term);
            }
        }
    }
    static CUtensorMap map_pixels;
    CUtensorMap map_weights = box_map(CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, weights.device, {9 * 64, 32}, {64, 32}, CU_TENSOR_MAP_SWIZZLE_128B);
    cuuint64_t dims[] = {64, 18, 18, 3}, strides[] = {128, 128 * 18, 128 * 18 * 18};
    int lower[] = {-1, -1}, upper[] = {-1, -1};
    cuuint32_t steps[] = {1, 2, 2, 1};
    auto encode = driver_function<encode_im2col>("cuTensorMapEncodeIm2col");
    OK(encode(&map_pixels, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 4, pixels.device, dims, strides, lower, upper, 64, 64, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
              CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
    for (int i = 0; i < 2; i++) convolve<<<(count + 63) / 64, 128>>>(out.device, map_pixels, map_weights, wide, count, 2);
    tell("convolve", out, wanted, 1e-5, &added);
}

// ---- rows of a table take the sums of what its words got ----

__global__ void __launch_bounds__(128) embed_back(float *sums, __nv_bfloat16 *narrow, int *highest, uint32_t *bits, const float *in, const int *words, int count)
{
    __shared__ alignas(128) float row[128];
    __shared__ alignas(128) __nv_bfloat16 small[128];
    __shared__ alignas(128) int whole[128];
    for (int i = blockIdx.x; i < count; i += gridDim.x) {
        float v = in[(size_t)i * 128 + threadIdx.x];
        row[threadIdx.x] = v, small[threadIdx.x] = __float2bfloat16(v), whole[threadIdx.x] = (int)(v * 1000) ^ i;
        fence_async();
        __syncthreads();
        if (threadIdx.x == 0) {
            size_t at = (size_t)words[i] * 128;
            asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], 512;" ::"l"(sums + at), "r"(smem(row)) : "memory");
            asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.bf16 [%0], [%1], 256;" ::"l"(narrow + at), "r"(smem(small)) : "memory");
            asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.max.s32 [%0], [%1], 512;" ::"l"(highest + at), "r"(smem(whole)) : "memory");
            asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.xor.b32 [%0], [%1], 512;" ::"l"(bits + at), "r"(smem(whole)) : "memory");
            bulk_commit();
            bulk_left<0>();
        }
        __syncthreads();
    }
}

static void run_embed()
{
    const int count = 90, table = 17;
    buffer<float> in(count * 128), sums(table * 128);
    buffer<bf16> narrow(table * 128);
    buffer<int> words(count), highest(table * 128);
    buffer<uint32_t> bits(table * 128);
    in.fill([](size_t) { return (float)(int)(draw() % 9) - 4; });
    words.fill([](size_t) { return (int)(draw() % 17); });
    std::vector<double> want(table * 128), want_high(table * 128, -5000), want_bits(table * 128);
    std::vector<uint32_t> all(table * 128);
    for (int launch = 0; launch < 2; launch++) {
        sums.fill([](size_t) { return 0.0f; }), narrow.fill([](size_t) { return bf16(0.0f); });
        highest.fill([](size_t) { return -5000; }), bits.fill([](size_t) { return 0u; });
        embed_back<<<6, 128>>>(sums.device, narrow.device, highest.device, bits.device, in.device, words.device, count);
        OK(cudaDeviceSynchronize());
    }
    for (int i = 0; i < count * 128; i++) {
        size_t at = words.host[i / 128] * 128 + i % 128;
        int whole = (int)(in.host[i] * 1000) ^ (i / 128);
        want[at] += in.host[i], want_high[at] = fmax(want_high[at], whole), all[at] ^= (uint32_t)whole;
    }
    for (size_t i = 0; i < all.size(); i++) want_bits[i] = all[i];
    tell("embed_sums", sums, want, 0);
    tell("embed_narrow", narrow, want, 0);
    tell("embed_highest", highest, want_high, 0);
    tell("embed_bits", bits, want_bits, 0);
}

// ---- boxes that overlap are added up; what lies outside is left ----

__global__ void __launch_bounds__(128) patches(const __grid_constant__ CUtensorMap out, const float *in, int across)
{
    __shared__ alignas(128) float box[16][16];
    for (int i = threadIdx.x; i < 256; i += 128) box[i / 16][i % 16] = in[blockIdx.x * 256 + i];
    fence_async();
    __syncthreads();
    if (threadIdx.x < 32 && elected()) {
        int x = (int)(blockIdx.x % across) * 8, y = (int)(blockIdx.x / across) * 12;
        asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&out), "r"(x), "r"(y), "r"(smem(box))
                     : "memory");
        bulk_commit();
        bulk_left<0>();
    }
}

static void run_patches()
{
    const int across = 5, down = 4, nx = 44, ny = 50;
    buffer<float> in(across * down * 256), out(nx * ny);
    in.fill([](size_t) { return (float)(int)(draw() % 33) - 16; });
    std::vector<double> wanted(nx * ny);
    for (int i = 0; i < across * down * 256; i++) {
        int box = i / 256, x = box % across * 8 + i % 16, y = box / across * 12 + i / 16 % 16;
        if (x < nx && y < ny) wanted[y * nx + x] += in.host[i];
    }
    CUtensorMap map = box_map(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, out.device, {44, 50}, {16, 16});
    for (int i = 0; i < 2; i++) {
        out.fill([](size_t) { return 0.0f; });
        patches<<<across * down, 128>>>(map, in.device, across);
        OK(cudaDeviceSynchronize());
    }
    tell("patches", out, wanted, 0);
}

// ---- holes: every other element, NaNs outside; and five dimensions of bytes ----

__global__ void __launch_bounds__(128) holes(__half *out, uint8_t *bytes, const __grid_constant__ CUtensorMap in, const __grid_constant__ CUtensorMap five)
{
    __shared__ alignas(128) __half box[8][16];
    __shared__ alignas(128) uint8_t cube[2][2][3][4][16];
    __shared__ uint64_t bar;
    if (threadIdx.x == 0) {
        bar_init(&bar, 1);
        bar_fence();
        bar_expect(&bar, sizeof box + sizeof cube);
        box_2d(box, &in, blockIdx.x * 24 - 8, blockIdx.x * 5 - 3, &bar);
        asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5, %6}], [%7];" ::"r"(
                         smem(cube)), "l"(&five), "r"((int)blockIdx.x * 16), "r"((int)blockIdx.x - 1), "r"(2 - (int)blockIdx.x), "r"(1), "r"((int)blockIdx.x),
                     "r"(smem(&bar)) : "memory");
    }
    __syncthreads();
    bar_wait(&bar, 0);
    for (int i = threadIdx.x; i < 128; i += 128) out[blockIdx.x * 128 + i] = box[i / 16][i % 16];
    for (int i = threadIdx.x; i < 768; i += 128) bytes[blockIdx.x * 768 + i] = ((uint8_t *)cube)[i];
}

static void run_holes()
{
    const int nx = 64, ny = 20, blocks = 3;
    buffer<__half> in(nx * ny), out(blocks * 128);
    buffer<uint8_t> five(48 * 5 * 4 * 3 * 3), cubes(blocks * 768);
    in.real_numbers();
    five.fill([](size_t) { return (uint8_t)draw(); });
    std::vector<double> wanted(blocks * 128), want_bytes(blocks * 768);
    for (int i = 0; i < blocks * 128; i++) {
        int block = i / 128, x = block * 24 - 8 + i % 16, y = block * 5 - 3 + i / 16 % 8 * 2;
        wanted[i] = x < 0 || y < 0 || x >= nx || y >= ny ? NAN : number(in.host[y * nx + x]);
    }
    for (int i = 0; i < blocks * 768; i++) {
        int block = i / 768, at[] = {block * 16 + i % 16, block - 1 + i / 16 % 4, 2 - block + i / 64 % 3, 1 + i / 192 % 2, block + i / 384 % 2};
        const int sizes[] = {48, 5, 4, 3, 3};
        bool inside = true;
        size_t index = 0;
        for (int dim = 4; dim >= 0; dim--) inside &= at[dim] >= 0 && at[dim] < sizes[dim], index = index * sizes[dim] + at[dim];
        want_bytes[i] = inside ? five.host[index] : 0;
    }
    CUtensorMap map = box_map(CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, in.device, {64, 20}, {16, 16}, CU_TENSOR_MAP_SWIZZLE_NONE, {1, 2}, true);
    CUtensorMap map5 = box_map(CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, five.device, {48, 5, 4, 3, 3}, {16, 4, 3, 2, 2});
    for (int i = 0; i < 2; i++) holes<<<blocks, 128>>>(out.device, cubes.device, map, map5);
    tell("holes", out, wanted, 0);
    tell("cubes", cubes, want_bytes, 0);
}

// ---- root mean square of rows: a ring of bulk copies with libcu++'s barriers, hints for L2 ----

__global__ void __launch_bounds__(128) rms_ring(float *out, const float *in, const float *weight, int rows)
{
    constexpr int width = 768, stages = 3;
    __shared__ alignas(128) float ring[stages][width], result[2][width];
    __shared__ float part[4];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ cuda::barrier<cuda::thread_scope_block> full[stages];
    if (threadIdx.x == 0) {
        for (int i = 0; i < stages; i++) init(&full[i], blockDim.x);
        cuda::device::experimental::fence_proxy_async_shared_cta();
    }
    __syncthreads();
    uint64_t policy;
    asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    int mine = (rows - (int)blockIdx.x + (int)gridDim.x - 1) / (int)gridDim.x;
    auto source = [&](int i) { return in + (size_t)(blockIdx.x + i * gridDim.x) * width; };
    auto begin = [&](int i) {
        if (threadIdx.x == 0) {
            if (i + 1 < mine) asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(source(i + 1)), "r"(width * 4) : "memory");
            cuda::device::memcpy_async_tx(ring[i % stages], source(i), cuda::aligned_size_t<16>(width * 4), full[i % stages]);
            return cuda::device::barrier_arrive_tx(full[i % stages], 1, width * 4);
        }
        return full[i % stages].arrive();
    };
    cuda::barrier<cuda::thread_scope_block>::arrival_token tokens[stages];
    for (int i = 0; i < stages - 1 && i < mine; i++) tokens[i] = begin(i);
    for (int i = 0; i < mine; i++) {
        if (i + stages - 1 < mine) tokens[(i + stages - 1) % stages] = begin(i + stages - 1);
        full[i % stages].wait(std::move(tokens[i % stages]));
        float sum = 0;
        for (int e = threadIdx.x; e < width; e += 128) sum = fmaf(ring[i % stages][e], ring[i % stages][e], sum);
        for (int far = 16; far; far >>= 1) sum += __shfl_down_sync(~0u, sum, far);
        if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
        if (threadIdx.x == 0) bulk_left_read<1>();
        __syncthreads();
        float by = rsqrtf((part[0] + part[1] + part[2] + part[3]) * (1.0f / width) + 1e-6f);
        for (int e = threadIdx.x; e < width; e += 128) result[i & 1][e] = ring[i % stages][e] * by * __ldg(&weight[e]);
        fence_async();
        __syncthreads();
        if (threadIdx.x == 0) {
            asm volatile("cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%0], [%1], %2, %3;" ::"l"(out + (source(i) - in)),
                         "r"(smem(result[i & 1])), "r"(width * 4), "l"(policy) : "memory");
            bulk_commit();
        }
    }
    if (threadIdx.x == 0) bulk_left<0>();
}

static void run_rms()
{
    const int rows = 31, width = 768;
    buffer<float> in(rows * width), weight(width), out(rows * width);
    in.real_numbers(), weight.real_numbers();
    std::vector<double> wanted(rows * width);
    for (int r = 0; r < rows; r++) {
        double sum = 0;
        for (int i = 0; i < width; i++) sum += (double)in.host[r * width + i] * in.host[r * width + i];
        for (int i = 0; i < width; i++) wanted[r * width + i] = in.host[r * width + i] / sqrt(sum / width + 1e-6) * weight.host[i];
    }
    for (int i = 0; i < 2; i++) rms_ring<<<4, 128>>>(out.device, in.device, weight.device, rows);
    tell("rms_ring", out, wanted, 1e-5);
}

// ---- groups of rows of their own lengths: each block changes a tensor map to its group's ----

__global__ void __launch_bounds__(128) grouped(CUtensorMap *scratch, const __grid_constant__ CUtensorMap shape, float *out, const float *in, const int *begins)
{
    __shared__ alignas(128) CUtensorMap mine;
    __shared__ alignas(128) float box[8][64];
    __shared__ uint64_t bar;
    int first = begins[blockIdx.x], last = begins[blockIdx.x + 1];
    CUtensorMap *there = scratch + blockIdx.x;
    if (threadIdx.x < 32) ((uint32_t *)&mine)[threadIdx.x] = ((const uint32_t *)&shape)[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"r"(smem(&mine)), "l"(in + (size_t)first * 64) : "memory");
        asm volatile("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 1, %1;" ::"r"(smem(&mine)), "r"(last - first) : "memory");
        bar_init(&bar, 1);
        bar_fence();
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;" ::"l"(there), "r"(smem(&mine))
                     : "memory");
        asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(there) : "memory");
    }
    float sum = 0;
    for (int row = 0, phase = 0; row < last - first; row += 8, phase ^= 1) {
        if (threadIdx.x == 0) {
            bar_expect(&bar, sizeof box);
            box_2d(box, there, 0, row, &bar);
        }
        __syncthreads();
        bar_wait(&bar, phase);
        for (int i = threadIdx.x / 64; i < 8; i += 2) sum += box[i][threadIdx.x % 64];
        __syncthreads();
    }
    box[threadIdx.x / 64][threadIdx.x % 64] = sum;
    __syncthreads();
    if (threadIdx.x < 64) out[blockIdx.x * 64 + threadIdx.x] = box[0][threadIdx.x] + box[1][threadIdx.x];
}

static void run_grouped()
{
    const int groups = 5;
    buffer<int> begins(groups + 1);
    const int lengths[] = {3, 17, 8, 1, 30};
    for (int i = 0; i < groups; i++) begins.host[i + 1] = begins.host[i] + lengths[i];
    begins.up();
    int rows = begins.host[groups];
    buffer<float> in(rows * 64), out(groups * 64);
    CUtensorMap *scratch;
    OK(cudaMalloc(&scratch, groups * sizeof *scratch));
    in.real_numbers();
    std::vector<double> wanted(groups * 64);
    for (int g = 0; g < groups; g++)
        for (int row = begins.host[g]; row < begins.host[g + 1]; row++)
            for (int i = 0; i < 64; i++) wanted[g * 64 + i] += in.host[row * 64 + i];
    CUtensorMap shape = box_map(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, in.device, {64, 1}, {64, 8});
    for (int i = 0; i < 2; i++) grouped<<<groups, 128>>>(scratch, shape, out.device, in.device, begins.device);
    tell("grouped", out, wanted, 1e-5);
    OK(cudaFree(scratch));
}

static const kernel_test tests[] = {{"turn", run_turn},   {"seven", run_seven},   {"convolve", run_convolve}, {"embed", run_embed},
                                    {"patches", run_patches}, {"holes", run_holes}, {"rms_ring", run_rms},      {"grouped", run_grouped}};
RUN_ALL(tests)
