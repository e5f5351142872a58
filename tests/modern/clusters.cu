// Blocks that work together: distributed shared memory, stores and boxes that arrive at other blocks' barriers, launches that begin before the one in front
// has ended, sums by atomics of vectors, flags between blocks.
#include "modern.cuh"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

static __device__ uint32_t address_of(const void *p, uint32_t rank)
{
    uint32_t there;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(smem(p)), "r"(rank));
    return there;
}

template <class... P, class... A> static void launch_cluster(void (*kernel)(P...), int blocks, int threads, int cluster, A... args)
{
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute = {};
    config.gridDim = blocks, config.blockDim = threads, config.attrs = &attribute, config.numAttrs = 1;
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = cluster, attribute.val.clusterDim.y = 1, attribute.val.clusterDim.z = 1;
    OK(cudaLaunchKernelEx(&config, kernel, P(args)...));
}

// ---- numbers in order over a cluster: what lies far apart is compared in the other block's memory ----

__global__ void __launch_bounds__(256) in_order(uint32_t *data)
{
    constexpr int EACH = 512;
    __shared__ uint32_t mine[EACH];
    auto cluster = cg::this_cluster();
    int rank = cluster.block_rank(), count = EACH * cluster.num_blocks();
    size_t first = (size_t)(blockIdx.x - rank) * EACH;
    for (int i = threadIdx.x; i < EACH; i += 256) mine[i] = data[first + rank * EACH + i];
    cluster.sync();
    for (int size = 2; size <= count; size *= 2)
        for (int far = size / 2; far > 0; far /= 2) {
            uint32_t next[2];
            for (int part = 0; part < 2; part++) {
                int i = rank * EACH + threadIdx.x + part * 256, other = i ^ far;
                uint32_t here = mine[i % EACH], there = *cluster.map_shared_rank(&mine[other % EACH], other / EACH);
                bool up = !(i & size), low = i < other;
                next[part] = up == low ? min(here, there) : max(here, there);
            }
            cluster.sync();
            for (int part = 0; part < 2; part++) mine[threadIdx.x + part * 256] = next[part];
            cluster.sync();
        }
    for (int i = threadIdx.x; i < EACH; i += 256) data[first + rank * EACH + i] = mine[i];
}

static void run_order()
{
    const int count = 2 * 4 * 512;
    buffer<uint32_t> data(count);
    std::vector<uint32_t> begin(count);
    for (auto &v : begin) v = draw() ^ draw() << 20;
    for (int i = 0; i < 2; i++) {
        data.fill([&](size_t at) { return begin[at]; });
        launch_cluster(in_order, 8, 256, 4, data.device);
        OK(cudaDeviceSynchronize());
    }
    std::vector<double> wanted;
    for (int half = 0; half < 2; half++) {
        std::vector<uint32_t> part(begin.begin() + half * 2048, begin.begin() + (half + 1) * 2048);
        for (size_t i = 1; i < part.size(); i++) // by insertion
            for (size_t at = i; at > 0 && part[at - 1] > part[at]; at--) std::swap(part[at - 1], part[at]);
        wanted.insert(wanted.end(), part.begin(), part.end());
    }
    tell("in_order", data, wanted, 0);
}

// ---- heat along a rod whose parts lie in eight blocks: borders are sent to the neighbours' barriers ----

__global__ void __cluster_dims__(8, 1, 1) __launch_bounds__(128) heat(float *out, const float *in, int turns)
{
    __shared__ float rod[2][130];
    __shared__ uint64_t arrived[2];
    auto cluster = cg::this_cluster();
    int rank = cluster.block_rank(), x = threadIdx.x + 1;
    int neighbours = (rank > 0) + (rank < 7);
    if (threadIdx.x == 0) {
        bar_init(&arrived[0], 1), bar_init(&arrived[1], 1);
        bar_fence();
        for (int i = 0; i < 2; i++) rod[i][0] = rod[i][129] = 0;
        bar_expect(&arrived[0], 4 * neighbours), bar_expect(&arrived[1], 4 * neighbours);
    }
    rod[0][x] = in[blockIdx.x * 128 + threadIdx.x];
    cluster.sync();
    auto send = [&](int at, int to, int place) {
        asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.f32 [%0], %1, [%2];" ::"r"(address_of(&rod[at][place], to)), "f"(rod[at][x]),
                     "r"(address_of(&arrived[at], to)) : "memory");
    };
    for (int turn = 0; turn < turns; turn++) {
        int at = turn & 1;
        if (threadIdx.x == 0 && rank > 0) send(at, rank - 1, 129);
        if (threadIdx.x == 127 && rank < 7) send(at, rank + 1, 0);
        bar_wait(&arrived[at], turn / 2 & 1);
        __syncthreads();
        rod[at ^ 1][x] = fmaf(0.25f, rod[at][x - 1] + rod[at][x + 1], 0.5f * rod[at][x]);
        if (threadIdx.x == 0) bar_expect(&arrived[at], 4 * neighbours);
        cluster.sync();
    }
    out[blockIdx.x * 128 + threadIdx.x] = rod[turns & 1][x];
}

static void run_heat()
{
    const int count = 1024, turns = 13;
    buffer<float> in(count), out(count);
    in.real_numbers();
    std::vector<float> now(count + 2), next(count + 2);
    for (int i = 0; i < count; i++) now[i + 1] = in.host[i];
    for (int turn = 0; turn < turns; turn++, now.swap(next))
        for (int i = 1; i <= count; i++) next[i] = fmaf(0.25f, now[i - 1] + now[i + 1], 0.5f * now[i]);
    for (int i = 0; i < 2; i++) heat<<<8, 128>>>(out.device, in.device, turns);
    tell("heat", out, std::vector<double>(now.begin() + 1, now.end() - 1), 0);
}

// ---- a box for four blocks: each fetches a quarter of it for all ----

__global__ void __cluster_dims__(4, 1, 1) __launch_bounds__(128) spread(float *out, const __grid_constant__ CUtensorMap table, const float *x, int rows)
{
    __shared__ alignas(128) float ring[2][32][32];
    __shared__ uint64_t full[2], empty[2];
    auto cluster = cg::this_cluster();
    int rank = cluster.block_rank(), steps = rows / 32;
    if (threadIdx.x == 0) {
        for (int i = 0; i < 2; i++) bar_init(&full[i], 1), bar_init(&empty[i], 4);
        bar_fence();
    }
    cluster.sync();
    float sum = 0;
    auto fetch = [&](int step) {
        int at = step & 1;
        if (step >= 2) bar_wait(&empty[at], (step / 2 - 1) & 1);
        bar_expect(&full[at], 4096);
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(
                         smem(ring[at][rank * 8])), "l"(&table), "r"(0), "r"(step * 32 + rank * 8), "r"(smem(&full[at])), "h"((uint16_t)15) : "memory");
    };
    if (threadIdx.x == 0) fetch(0);
    for (int step = 0; step < steps; step++) {
        if (threadIdx.x == 0 && step + 1 < steps) fetch(step + 1);
        bar_wait(&full[step & 1], step / 2 & 1);
        for (int row = threadIdx.x / 32; row < 32; row += 4) sum = fmaf(ring[step & 1][row][threadIdx.x % 32], x[blockIdx.x * rows + step * 32 + row], sum);
        __syncthreads();
        if (threadIdx.x < 4)
            asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(address_of(&empty[step & 1], threadIdx.x)) : "memory");
    }
    __shared__ float parts[128];
    parts[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x < 32) out[blockIdx.x * 32 + threadIdx.x] = parts[threadIdx.x] + parts[threadIdx.x + 32] + parts[threadIdx.x + 64] + parts[threadIdx.x + 96];
    cluster.sync();
}

static void run_spread()
{
    const int rows = 192, blocks = 8;
    buffer<float> table(rows * 32), x(blocks * rows), out(blocks * 32);
    table.real_numbers(), x.real_numbers();
    std::vector<double> wanted(blocks * 32), added(blocks * 32);
    for (int i = 0; i < blocks * 32; i++)
        for (int row = 0; row < rows; row++) {
            double term = (double)table.host[row * 32 + i % 32] * x.host[i / 32 * rows + row];
            wanted[i] += term, added[i] += fabs(term);
        }
    CUtensorMap map = box_map(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, table.device, {32, 192}, {32, 8});
    for (int i = 0; i < 2; i++) spread<<<blocks, 128>>>(out.device, map, x.device, rows);
    tell("spread", out, wanted, 1e-6, &added);
}

// ---- a histogram in the memory of whoever has the bin, and copies from block to block ----

__global__ void __cluster_dims__(4, 1, 1) __launch_bounds__(256) bins(uint32_t *out, const uint32_t *in, int count)
{
    __shared__ uint32_t part[64];
    __shared__ alignas(16) uint32_t all[4][64];
    __shared__ uint64_t bar;
    auto cluster = cg::this_cluster();
    int rank = cluster.block_rank();
    if (threadIdx.x < 64) part[threadIdx.x] = 0;
    if (threadIdx.x == 0) bar_init(&bar, 1), bar_fence();
    cluster.sync();
    for (int i = blockIdx.x * 256 + threadIdx.x; i < count; i += gridDim.x * 256) {
        uint32_t bin = in[i] >> 24;
        uint32_t lanes = __match_any_sync(__activemask(), bin); // one of those of a warp that have the same
        if ((threadIdx.x & 31) == __ffs(lanes) - 1)
            asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], %1;" ::"r"(address_of(&part[bin % 64], bin / 64)), "r"(__popc(lanes)) : "memory");
    }
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
    fence_async();
    if (rank == 0 && threadIdx.x == 0) bar_expect(&bar, 1024);
    cluster.sync();
    if (threadIdx.x == 0)
        asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" ::"r"(address_of(all[rank], 0)), "r"(smem(part)),
                     "r"(address_of(&bar, 0)) : "memory");
    if (rank == 0) {
        bar_wait(&bar, 0);
        atomicAdd(&out[threadIdx.x], all[threadIdx.x / 64][threadIdx.x % 64]);
    }
    cluster.sync();
}

static void run_bins()
{
    const int count = 5000;
    buffer<uint32_t> in(count), out(256);
    in.fill([](size_t) { return (draw() & draw() & 0xff) << 24 | draw() >> 9; });
    std::vector<double> wanted(256);
    for (uint32_t v : in.host) wanted[v >> 24]++;
    for (int i = 0; i < 2; i++) {
        out.fill([](size_t) { return 0u; });
        bins<<<8, 256>>>(out.device, in.device, count);
        OK(cudaDeviceSynchronize());
    }
    tell("bins", out, wanted, 0);
}

// ---- three launches, each of which begins while the one in front still runs ----

__global__ void __launch_bounds__(128) chained(float *data, float factor, int count)
{
    float add = 0; // what needs nothing of the launch in front
    for (int i = 0; i < 32; i++) add = fmaf(add, 0.5f, factor);
    asm volatile("griddepcontrol.wait;" ::: "memory");
    asm volatile("griddepcontrol.launch_dependents;");
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i < count) data[i] = data[i] * factor + add;
}

static void run_chained()
{
    const int count = 3000;
    buffer<float> data(count);
    data.real_numbers();
    std::vector<double> wanted(count);
    const float factors[] = {1.5f, 0.25f, 3.0f};
    for (int i = 0; i < count; i++) {
        float v = data.host[i];
        for (float factor : factors) {
            float add = 0;
            for (int turn = 0; turn < 32; turn++) add = fmaf(add, 0.5f, factor);
            v = fmaf(v, factor, add);
        }
        wanted[i] = v;
    }
    cudaStream_t stream;
    OK(cudaStreamCreate(&stream));
    for (float factor : factors) {
        cudaLaunchConfig_t config = {};
        cudaLaunchAttribute attribute = {};
        attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attribute.val.programmaticStreamSerializationAllowed = 1;
        config.gridDim = (count + 127) / 128, config.blockDim = 128, config.stream = stream, config.attrs = &attribute, config.numAttrs = 1;
        OK(cudaLaunchKernelEx(&config, chained, data.device, factor, count));
    }
    OK(cudaStreamSynchronize(stream));
    OK(cudaStreamDestroy(stream));
    tell("chained", data, wanted, 0);
}

// ---- sums of the blocks in front by flags that say how much is known ----

__global__ void __launch_bounds__(128) look_back(uint32_t *out, const uint32_t *in, uint64_t *flags, uint32_t *ticket, int count)
{
    __shared__ uint32_t tile, before;
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    __shared__ uint32_t sums[4];
    if (threadIdx.x == 0) tile = atomicAdd(ticket, 1);
    __syncthreads();
    int i = tile * 128 + threadIdx.x;
    uint32_t v = i < count ? in[i] : 0, sum = cg::inclusive_scan(warp, v);
    if (warp.thread_rank() == 31) sums[warp.meta_group_rank()] = sum;
    __syncthreads();
    for (unsigned w = 0; w < warp.meta_group_rank(); w++) sum += sums[w];
    uint32_t all = sums[0] + sums[1] + sums[2] + sums[3];
    if (threadIdx.x == 0) {
        uint64_t say = (uint64_t)(tile == 0 ? 2 : 1) << 32 | all;
        asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(flags + tile), "l"(say) : "memory");
        before = 0;
    }
    if (threadIdx.x < 32 && tile > 0) {
        uint32_t known = 0;
        for (int look = (int)tile - 1 - (int)threadIdx.x;; look -= 32) {
            uint64_t flag = (uint64_t)2 << 32;
            if (look >= 0)
                do {
                    asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(flag) : "l"(flags + look) : "memory");
                    if (!(flag >> 32)) __nanosleep(20);
                } while (!(flag >> 32));
            uint32_t whole = __ballot_sync(~0u, flag >> 32 == 2);
            uint32_t last = whole ? __ffs(whole) - 1 : 31;
            known += __reduce_add_sync(~0u, threadIdx.x <= last ? (uint32_t)flag : 0);
            if (whole) break;
        }
        if (elected()) {
            uint64_t say = (uint64_t)2 << 32 | (known + all);
            asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(flags + tile), "l"(say) : "memory");
            before = known;
        }
    }
    __syncthreads();
    if (i < count) out[i] = before + sum;
}

static void run_look_back()
{
    const int count = 128 * 150 - 5;
    buffer<uint32_t> in(count), out(count), ticket(1);
    buffer<uint64_t> flags(150);
    in.fill([](size_t) { return draw(); });
    std::vector<double> wanted(count);
    uint32_t sum = 0;
    for (int i = 0; i < count; i++) wanted[i] = sum += in.host[i];
    for (int i = 0; i < 2; i++) {
        ticket.fill([](size_t) { return 0u; }), flags.fill([](size_t) { return (uint64_t)0; });
        look_back<<<150, 128>>>(out.device, in.device, flags.device, ticket.device, count);
        OK(cudaDeviceSynchronize());
    }
    tell("look_back", out, wanted, 0);
}

// ---- atomics of vectors and pairs, and what warps agree on ----

__global__ void __launch_bounds__(128) vectors(float *quads, __half *halves, bf16 *pairs, uint32_t *agreed, const int *where)
{
    int i = blockIdx.x * 128 + threadIdx.x, at = where[i];
    float v = (float)(i % 7) - 3;
    asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(quads + at * 4), "f"(v), "f"(v + 1), "f"(v * 2), "f"(1.0f) : "memory");
    uint32_t two = 0x3c00bc00, one = 0x3f803f80; // 1, -1 in f16; 1, 1 in bf16
    asm volatile("red.global.add.noftz.v4.f16x2 [%0], {%1, %1, %1, %1};" ::"l"(halves + at * 8), "r"(two) : "memory");
    asm volatile("atom.global.add.noftz.bf16x2 %0, [%1], %2;" : "=r"(two) : "l"(pairs + at * 2), "r"(one) : "memory");
    uint32_t low = __reduce_min_sync(~0u, (unsigned)at), high = __reduce_max_sync(~0u, (unsigned)at), some = __reduce_or_sync(~0u, 1u << at),
             odd = __reduce_xor_sync(~0u, 1u << at), same = __match_any_sync(~0u, at);
    int all, everyone = __match_all_sync(~0u, at, &all);
    uint32_t quarter = 0;
    if (i & 1) quarter = __reduce_add_sync(0xaaaaaaaa, at); // half of the lanes
    agreed[i] = low + high * 3 + some * 5 + odd * 7 + same * 11 + (uint32_t)everyone + (uint32_t)all + quarter * 13;
}

static void run_vectors()
{
    const int blocks = 3, count = blocks * 128;
    buffer<float> quads(32 * 4);
    buffer<__half> halves(32 * 8);
    buffer<bf16> pairs(64);
    buffer<uint32_t> agreed(count);
    buffer<int> where(count);
    where.fill([](size_t i) { return i / 32 == 5 ? 9 : (int)(draw() % 19); });
    std::vector<double> want_quads(128), want_halves(256), want_pairs(64), want_agreed(count);
    for (int i = 0; i < count; i++) {
        int at = where.host[i], v = i % 7 - 3;
        want_quads[at * 4] += v, want_quads[at * 4 + 1] += v + 1, want_quads[at * 4 + 2] += v * 2, want_quads[at * 4 + 3] += 1;
        for (int e = 0; e < 8; e++) want_halves[at * 8 + e] += e % 2 ? 1 : -1;
        want_pairs[at * 2]++, want_pairs[at * 2 + 1]++;
        uint32_t low = ~0u, high = 0, some = 0, odd = 0, same = 0, quarter = 0;
        for (int lane = 0; lane < 32; lane++) {
            uint32_t there = where.host[i / 32 * 32 + lane];
            low = there < low ? there : low, high = there > high ? there : high, some |= 1u << there, odd ^= 1u << there;
            same |= (uint32_t)((int)there == at) << lane;
            quarter += lane % 2 && i % 2 ? there : 0;
        }
        want_agreed[i] = low + high * 3 + some * 5 + odd * 7 + same * 11 + (same == ~0u ? ~0u + 1u : 0u) + quarter * 13;
    }
    for (int i = 0; i < 2; i++) {
        quads.fill([](size_t) { return 0.0f; }), halves.fill([](size_t) { return __half(0.0f); }), pairs.fill([](size_t) { return bf16(0.0f); });
        vectors<<<blocks, 128>>>(quads.device, halves.device, pairs.device, agreed.device, where.device);
        OK(cudaDeviceSynchronize());
    }
    tell("vector_quads", quads, want_quads, 0);
    tell("vector_halves", halves, want_halves, 0);
    tell("vector_pairs", pairs, want_pairs, 0);
    tell("agreed", agreed, want_agreed, 0);
}

// ---- a product whose depth is shared out: the last to come adds the parts up ----

__global__ void __launch_bounds__(256) split(float *c, float *parts, uint32_t *arrived, const __half *a, const __half *b, int n, int k)
{
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4, depth = k / gridDim.z;
    const __half *pa = a + (size_t)(blockIdx.y * 16) * k + blockIdx.z * depth, *pb = b + (size_t)(blockIdx.x * 64 + warp * 8) * k + blockIdx.z * depth;
    float d[4] = {};
    for (int e = 0; e < depth; e += 16) {
        uint32_t ra[4], rb[2];
        for (int i = 0; i < 4; i++) ra[i] = *(const uint32_t *)&pa[(size_t)(g + i % 2 * 8) * k + e + t * 2 + i / 2 * 8];
        for (int i = 0; i < 2; i++) rb[i] = *(const uint32_t *)&pb[(size_t)g * k + e + t * 2 + i * 8];
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
    }
    size_t tile = blockIdx.y * gridDim.x + blockIdx.x, size = gridDim.x * gridDim.y * 1024;
    for (int i = 0; i < 4; i++) parts[blockIdx.z * size + tile * 1024 + (g + i / 2 * 8) * 64 + warp * 8 + t * 2 + i % 2] = d[i];
    __shared__ bool last;
    __syncthreads();
    if (threadIdx.x == 0) {
        uint32_t before;
        asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;" : "=r"(before) : "l"(arrived + tile) : "memory");
        last = before % gridDim.z == gridDim.z - 1;
    }
    __syncthreads();
    if (!last) return;
    for (int i = threadIdx.x; i < 1024; i += 256) {
        float sum = 0;
        for (unsigned z = 0; z < gridDim.z; z++) sum += __ldcg(&parts[z * size + tile * 1024 + i]);
        c[(size_t)(blockIdx.y * 16 + i / 64) * n + blockIdx.x * 64 + i % 64] = sum;
    }
}

static void run_split()
{
    const int m = 32, n = 128, k = 512, ways = 4;
    buffer<__half> a(m * k), b(n * k);
    buffer<float> c(m * n), parts(ways * m * n);
    buffer<uint32_t> arrived(4);
    a.real_numbers(), b.real_numbers();
    arrived.fill([](size_t) { return 0u; });
    std::vector<double> added, wanted = product(a, k, b, k, m, n, k, false, &added);
    for (int i = 0; i < 2; i++) split<<<dim3(n / 64, m / 16, ways), 256>>>(c.device, parts.device, arrived.device, a.device, b.device, n, k);
    tell("split", c, wanted, 1e-5, &added);
}

static const kernel_test tests[] = {{"in_order", run_order}, {"heat", run_heat},           {"spread", run_spread},   {"bins", run_bins},
                                    {"chained", run_chained}, {"look_back", run_look_back}, {"vectors", run_vectors}, {"split", run_split}};
RUN_ALL(tests)
