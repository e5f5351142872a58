// Maxwell's equations by a discontinuous Galerkin method of order 6 on tetrahedra (Hesthaven, Warburton 2008): 84 nodes in an
// element, 28 on each of its four faces. A block an element. The first kernel takes the curls within it, by products with
// the three derivatives' matrices; the second adds what flows through the faces, upwind, by one more matrix; the third
// is a stage of a Runge-Kutta method that keeps one more vector (Carpenter, Kennedy 1994). Fields and matrices are read
// as textures; fields and fluxes are shared by a block in shared memory.

#define NODES 84
#define PITCH 96 // of a field of an element
#define FIELDS 6 // hx hy hz ex ey ez
#define FACE_NODES 28
#define SURFACE (4 * FACE_NODES)

// Derivatives by x, y, z of the unit simplex' coordinates.
struct metric {
    float r[3], s[3], t[3];
};

// Of an element's face: the outer normal, and surface by volume; `wall`: nothing beyond, a perfect conductor.
struct face {
    float nx, ny, nz, scale;
    unsigned wall;
};

struct sum {
    float r, s, t;
};

__device__ static void add(struct sum &sum, float4 d, float value)
{
    sum.r = fmaf(d.x, value, sum.r);
    sum.s = fmaf(d.y, value, sum.s);
    sum.t = fmaf(d.z, value, sum.t);
}

__device__ static float along(const struct sum &sum, const struct metric &m, unsigned axis)
{
    return m.r[axis] * sum.r + m.s[axis] * sum.s + m.t[axis] * sum.t;
}

extern "C" __global__ void maxwell_volume(float *change, cudaTextureObject_t fields, cudaTextureObject_t derivatives,
                                          const struct metric *metrics)
{
    __shared__ float share[FIELDS][NODES];
    unsigned node = threadIdx.x, first = blockIdx.x * FIELDS * PITCH + node;
    for (unsigned f = 0; f < FIELDS; f++)
        share[f][node] = tex1Dfetch<float>(fields, first + f * PITCH);
    __syncthreads();
    struct sum hx = {0, 0, 0}, hy = hx, hz = hx, ex = hx, ey = hx, ez = hx;
#pragma unroll 2
    for (unsigned m = 0; m < NODES; m++) {
        float4 d = tex1Dfetch<float4>(derivatives, m * NODES + node);
        add(hx, d, share[0][m]);
        add(hy, d, share[1][m]);
        add(hz, d, share[2][m]);
        add(ex, d, share[3][m]);
        add(ey, d, share[4][m]);
        add(ez, d, share[5][m]);
    }
    const struct metric metric = metrics[blockIdx.x];
    change[first] = along(ey, metric, 2) - along(ez, metric, 1);
    change[first + PITCH] = along(ez, metric, 0) - along(ex, metric, 2);
    change[first + 2 * PITCH] = along(ex, metric, 1) - along(ey, metric, 0);
    change[first + 3 * PITCH] = along(hz, metric, 1) - along(hy, metric, 2);
    change[first + 4 * PITCH] = along(hx, metric, 2) - along(hz, metric, 0);
    change[first + 5 * PITCH] = along(hy, metric, 0) - along(hx, metric, 1);
}

extern "C" __global__ void maxwell_surface(float *change, cudaTextureObject_t fields, cudaTextureObject_t lift,
                                           const unsigned *inside, const unsigned *outside, const struct face *faces)
{
    __shared__ float flux[FIELDS][SURFACE];
    unsigned thread = threadIdx.x, point = blockIdx.x * SURFACE + thread;
    const struct face face = faces[blockIdx.x * 4 + thread / FACE_NODES];
    unsigned in = inside[point], out = outside[point];
    float h[3], e[3];
    // Jumps outwards; at a wall that of E is twice its inner value, of H nothing.
    for (unsigned i = 0; i < 3; i++) {
        float inner = tex1Dfetch<float>(fields, in + (3 + i) * PITCH);
        h[i] = face.wall ? 0.0f : tex1Dfetch<float>(fields, out + i * PITCH) - tex1Dfetch<float>(fields, in + i * PITCH);
        e[i] = face.wall ? -2 * inner : tex1Dfetch<float>(fields, out + (3 + i) * PITCH) - inner;
    }
    float half = 0.5f * face.scale;
    float nh = face.nx * h[0] + face.ny * h[1] + face.nz * h[2];
    float ne = face.nx * e[0] + face.ny * e[1] + face.nz * e[2];
    flux[0][thread] = half * (face.nz * e[1] - face.ny * e[2] + h[0] - nh * face.nx);
    flux[1][thread] = half * (face.nx * e[2] - face.nz * e[0] + h[1] - nh * face.ny);
    flux[2][thread] = half * (face.ny * e[0] - face.nx * e[1] + h[2] - nh * face.nz);
    flux[3][thread] = half * (face.ny * h[2] - face.nz * h[1] + e[0] - ne * face.nx);
    flux[4][thread] = half * (face.nz * h[0] - face.nx * h[2] + e[1] - ne * face.ny);
    flux[5][thread] = half * (face.nx * h[1] - face.ny * h[0] + e[2] - ne * face.nz);
    __syncthreads();
    if (thread >= NODES)
        return;
    float sum[FIELDS] = {0, 0, 0, 0, 0, 0};
#pragma unroll 1
    for (unsigned m = 0; m < SURFACE; m += 4) {
        float4 l = tex1Dfetch<float4>(lift, m / 4 * NODES + thread);
#pragma unroll
        for (unsigned f = 0; f < FIELDS; f++) {
            sum[f] = fmaf(l.x, flux[f][m], sum[f]);
            sum[f] = fmaf(l.y, flux[f][m + 1], sum[f]);
            sum[f] = fmaf(l.z, flux[f][m + 2], sum[f]);
            sum[f] = fmaf(l.w, flux[f][m + 3], sum[f]);
        }
    }
    unsigned first = blockIdx.x * FIELDS * PITCH + thread;
    for (unsigned f = 0; f < FIELDS; f++)
        change[first + f * PITCH] += sum[f];
}

extern "C" __global__ void maxwell_stage(float *fields, float *kept, const float *change, float a, float b, float step,
                                         unsigned count)
{
    unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < count) {
        float now = fmaf(a, kept[at], step * change[at]);
        kept[at] = now;
        fields[at] = fmaf(b, now, fields[at]);
    }
}
