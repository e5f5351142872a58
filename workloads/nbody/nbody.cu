// Accelerations of bodies that attract one another, all pairs. A block's threads load one tile of
// bodies into shared memory and each adds up the tile's pull on its own body. The fourth component
// is the mass; `softening` keeps close pairs finite. The count is a multiple of the tile.

#define TILE 128

extern "C" __global__ void nbody(float4 *accelerations, const float4 *bodies, unsigned count,
                                 float softening)
{
    __shared__ float4 tile[TILE];
    float4 own = bodies[blockIdx.x * TILE + threadIdx.x];
    float ax = 0, ay = 0, az = 0;
    for (unsigned first = 0; first < count; first += TILE) {
        tile[threadIdx.x] = bodies[first + threadIdx.x];
        __syncthreads();
#pragma unroll 8
        for (unsigned k = 0; k < TILE; k++) {
            float4 other = tile[k];
            float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
            float squared = fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, softening)));
            float inverse = rsqrtf(squared);
            float pull = other.w * inverse * inverse * inverse;
            ax = fmaf(dx, pull, ax);
            ay = fmaf(dy, pull, ay);
            az = fmaf(dz, pull, az);
        }
        __syncthreads();
    }
    accelerations[blockIdx.x * TILE + threadIdx.x] = make_float4(ax, ay, az, 0);
}
