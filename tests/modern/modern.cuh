// What the programs share: numbers drawn from a seed, buffers, tensor maps, and the line that is told of each kernel: its name, a hash of the bytes that it
// left, and how many of its values are not what the host's own loop makes. Status 1 says that some are not.
#ifndef SONDE_TESTS_MODERN_H
#define SONDE_TESTS_MODERN_H

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

typedef __nv_bfloat16 bf16;

#define OK(call)                                                                                                                                     \
    do {                                                                                                                                             \
        int ok_error = (int)(call);                                                                                                                  \
        if (ok_error) {                                                                                                                              \
            printf("%s:%d: %s gives %d\n", __FILE__, __LINE__, #call, ok_error);                                                                     \
            exit(2);                                                                                                                                 \
        }                                                                                                                                            \
    } while (0)

static uint64_t state = UINT64_C(0x9E3779B97F4A7C15);
static bool all_right = true;

static uint32_t draw()
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 24);
}

// In (-1, 1).
static float real() { return (float)(int)(draw() & 0xffff) / 32768.0f - 1.0f; }

template <class T> struct buffer {
    std::vector<T> host;
    T *device;
    explicit buffer(size_t count) : host(count) { OK(cudaMalloc(&device, count * sizeof(T) + 256)); }
    ~buffer() { cudaFree(device); }
    buffer(const buffer &) = delete;
    void up() { OK(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice)); }
    void down() { OK(cudaMemcpy(host.data(), device, host.size() * sizeof(T), cudaMemcpyDeviceToHost)); }
    template <class F> buffer &fill(F make)
    {
        for (size_t i = 0; i < host.size(); i++) host[i] = make(i);
        up();
        return *this;
    }
    buffer &real_numbers()
    {
        return fill([](size_t) { return T(real()); });
    }
};

static double number(float v) { return v; }
static double number(double v) { return v; }
static double number(int v) { return v; }
static double number(unsigned v) { return v; }
static double number(int8_t v) { return v; }
static double number(uint8_t v) { return v; }
static double number(bf16 v) { return (double)(float)v; }
static double number(__half v) { return (double)(float)v; }
static double number(__nv_fp8_e4m3 v) { return (double)(float)v; }
static double number(__nv_fp8_e5m2 v) { return (double)(float)v; }

// Values may be `near` of what was added, and of 1, away from those that are wanted.
template <class T> void tell(const char *name, buffer<T> &got, const std::vector<double> &wanted, double near, const std::vector<double> *added = nullptr)
{
    OK(cudaDeviceSynchronize());
    got.down();
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    const unsigned char *bytes = (const unsigned char *)got.host.data();
    size_t far = 0, first = 0;
    for (size_t i = 0; i < wanted.size() * sizeof(T); i++) hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    for (size_t i = 0; i < wanted.size(); i++) {
        double scale = added ? (*added)[i] : 1 + fabs(wanted[i]);
        bool is = std::isnan(wanted[i]) ? std::isnan(number(got.host[i])) : fabs(number(got.host[i]) - wanted[i]) <= near * scale;
        if (!is && far++ == 0) first = i;
    }
    printf("%s %016llx %zu of %zu wrong", name, (unsigned long long)hash, far, wanted.size());
    if (far) printf(" (%zu: %g, wanted %g)", first, number(got.host[first]), wanted[first]);
    printf("\n");
    all_right &= far == 0;
}

// c = a bt, or with `b_rows` a b; what is added may be kept.
template <class A, class B>
std::vector<double> product(const buffer<A> &a, int lda, const buffer<B> &b, int ldb, int m, int n, int k, bool b_rows = false,
                            std::vector<double> *added = nullptr)
{
    std::vector<double> c((size_t)m * n);
    if (added) added->assign((size_t)m * n, 0);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0, all = 0;
            for (int e = 0; e < k; e++) {
                double term = number(a.host[(size_t)i * lda + e]) * number(b_rows ? b.host[(size_t)e * ldb + j] : b.host[(size_t)j * ldb + e]);
                sum += term;
                all += fabs(term);
            }
            c[(size_t)i * n + j] = sum;
            if (added) (*added)[(size_t)i * n + j] = all;
        }
    return c;
}

// ---- tensor maps, by the driver's function as the runtime finds it ----

typedef CUresult (*encode_tiled)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *, const cuuint32_t *,
                                 const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
typedef CUresult (*encode_im2col)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *, const int *, const int *,
                                  cuuint32_t, cuuint32_t, const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion,
                                  CUtensorMapFloatOOBfill);

template <class F> F driver_function(const char *name)
{
    void *found = nullptr;
    cudaDriverEntryPointQueryResult result;
    OK(cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &result));
    OK(result != cudaDriverEntryPointSuccess);
    return (F)found;
}

static CUtensorMap box_map(CUtensorMapDataType type, int bytes, void *at, std::vector<cuuint64_t> size, std::vector<cuuint32_t> box,
                           CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE, std::vector<cuuint32_t> step = {}, bool nan = false, size_t pitch = 0)
{
    static encode_tiled encode = driver_function<encode_tiled>("cuTensorMapEncodeTiled");
    static CUtensorMap map; // on the stack it may lie at less than 64 bytes, which the driver refuses
    std::vector<cuuint64_t> stride;
    cuuint64_t apart = pitch ? pitch : size[0] * bytes;
    for (size_t i = 1; i < size.size(); i++) {
        stride.push_back(apart);
        apart *= size[i];
    }
    if (step.empty()) step.assign(size.size(), 1);
    OK(encode(&map, type, (cuuint32_t)size.size(), at, size.data(), stride.data(), box.data(), step.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
              CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
              nan ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA : CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
    return map;
}

// ---- what kernels share ----

static __device__ uint32_t smem(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

static __device__ void bar_init(uint64_t *bar, uint32_t count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(smem(bar)), "r"(count) : "memory");
}
static __device__ void bar_fence() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
static __device__ void bar_expect(uint64_t *bar, uint32_t bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(smem(bar)), "r"(bytes) : "memory");
}
static __device__ void bar_arrive(uint64_t *bar)
{
    asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(smem(bar)) : "memory");
}
static __device__ void bar_wait(uint64_t *bar, uint32_t parity)
{
    uint32_t done;
    do
        asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [%1], %2, 20000;\nselp.u32 %0, 1, 0, p;\n}"
                     : "=r"(done) : "r"(smem(bar)), "r"(parity) : "memory");
    while (!done);
}
static __device__ void fence_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
static __device__ void bulk_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
template <int N> static __device__ void bulk_left() { asm volatile("cp.async.bulk.wait_group %0;" ::"n"(N) : "memory"); }
template <int N> static __device__ void bulk_left_read() { asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory"); }
static __device__ void box_2d(void *to, const CUtensorMap *map, int x, int y, uint64_t *bar)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(smem(to)), "l"(map),
                 "r"(x), "r"(y), "r"(smem(bar)) : "memory");
}
static __device__ void box_3d(void *to, const CUtensorMap *map, int x, int y, int z, uint64_t *bar)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];" ::"r"(smem(to)),
                 "l"(map), "r"(x), "r"(y), "r"(z), "r"(smem(bar)) : "memory");
}
static __device__ void store_2d(const CUtensorMap *map, int x, int y, const void *from)
{
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map), "r"(x), "r"(y), "r"(smem(from)) : "memory");
}
static __device__ bool elected()
{
    uint32_t is;
    asm volatile("{\n.reg .pred p;\nelect.sync _|p, 0xffffffff;\nselp.u32 %0, 1, 0, p;\n}" : "=r"(is));
    return is;
}
static __device__ void copy_async(void *to, const void *from, int bytes = 16)
{
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(smem(to)), "l"(from), "r"(bytes) : "memory");
}
static __device__ void copy_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> static __device__ void copy_left() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }
static __device__ void load_x4(uint32_t *r, const void *p)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(smem(p)));
}
static __device__ void load_x4_trans(uint32_t *r, const void *p)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(smem(p)));
}
static __device__ void load_x2(uint32_t *r, const void *p)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(r[0]), "=r"(r[1]) : "r"(smem(p)));
}
static __device__ void store_x4(const uint32_t *r, const void *p)
{
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(smem(p)), "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]) : "memory");
}
static __device__ void mma_bf16(float *d, const uint32_t *a, const uint32_t *b)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// All of the program's kernels, or those whose names follow.
struct kernel_test {
    const char *name;
    void (*run)();
};
static int run_all(const kernel_test *tests, size_t count, int argc, char **argv)
{
    for (size_t i = 0; i < count; i++) {
        bool wanted = argc < 2;
        for (int at = 1; at < argc; at++) wanted |= !strcmp(argv[at], tests[i].name);
        state = UINT64_C(0x9E3779B97F4A7C15) + i * 77;
        if (wanted) tests[i].run();
    }
    return all_right ? 0 : 1;
}
#define RUN_ALL(tests)                                                                                                                               \
    int main(int argc, char **argv) { return run_all(tests, sizeof tests / sizeof *tests, argc, argv); }

#endif
