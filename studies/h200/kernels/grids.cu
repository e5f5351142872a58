// Regular grids: transposes, stencils, convolutions.
#define SIDE 32
#define PART 8
#define RADIUS 3

extern "C" {
__constant__ float weights[64] = {0.05f, 0.1f, 0.05f, 0.1f, 0.4f, 0.1f, 0.05f, 0.1f, 0.05f};

__global__ void transpose_naive(float *to, const float *__restrict__ from, unsigned side)
{
    unsigned x = blockIdx.x * SIDE + threadIdx.x, y = blockIdx.y * SIDE + threadIdx.y;
    for (unsigned k = 0; k < SIDE; k += PART) {
        to[x * side + y + k] = from[(y + k) * side + x];
    }
}

__global__ void transpose_shared(float *to, const float *__restrict__ from, unsigned side)
{
    __shared__ float s[SIDE][SIDE];
    unsigned x = blockIdx.x * SIDE + threadIdx.x, y = blockIdx.y * SIDE + threadIdx.y;
    for (unsigned k = 0; k < SIDE; k += PART) {
        s[threadIdx.y + k][threadIdx.x] = from[(y + k) * side + x];
    }
    __syncthreads();
    x = blockIdx.y * SIDE + threadIdx.x;
    y = blockIdx.x * SIDE + threadIdx.y;
    for (unsigned k = 0; k < SIDE; k += PART) {
        to[(y + k) * side + x] = s[threadIdx.x][threadIdx.y + k];
    }
}

__global__ void transpose_padded(float *to, const float *__restrict__ from, unsigned side)
{
    __shared__ float s[SIDE][SIDE + 1];
    unsigned x = blockIdx.x * SIDE + threadIdx.x, y = blockIdx.y * SIDE + threadIdx.y;
    for (unsigned k = 0; k < SIDE; k += PART) {
        s[threadIdx.y + k][threadIdx.x] = from[(y + k) * side + x];
    }
    __syncthreads();
    x = blockIdx.y * SIDE + threadIdx.x;
    y = blockIdx.x * SIDE + threadIdx.y;
    for (unsigned k = 0; k < SIDE; k += PART) {
        to[(y + k) * side + x] = s[threadIdx.x][threadIdx.y + k];
    }
}

__global__ void stencil5(float *to, const float *__restrict__ from, unsigned side)
{
    unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, i = y * side + x;
    if (x > 0 && x < side - 1 && y > 0 && y < side - 1) {
        to[i] = 0.6f * from[i] + 0.1f * (from[i - 1] + from[i + 1] + from[i - side] + from[i + side]);
    }
}

__global__ void stencil5_tiled(float *to, const float *__restrict__ from, unsigned side)
{
    __shared__ float s[10][34];
    unsigned tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, i = y * side + x;
    s[ty][tx] = from[i];
    if (tx == 1 && x > 0) {
        s[ty][0] = from[i - 1];
    }
    if (tx == 32 && x < side - 1) {
        s[ty][33] = from[i + 1];
    }
    if (ty == 1 && y > 0) {
        s[0][tx] = from[i - side];
    }
    if (ty == 8 && y < side - 1) {
        s[9][tx] = from[i + side];
    }
    __syncthreads();
    if (x > 0 && x < side - 1 && y > 0 && y < side - 1) {
        to[i] = 0.6f * s[ty][tx] + 0.1f * (s[ty][tx - 1] + s[ty][tx + 1] + s[ty - 1][tx] + s[ty + 1][tx]);
    }
}

// A thread goes along z and keeps what it needs again.
__global__ void stencil7(float *to, const float *__restrict__ from, unsigned side, unsigned depth)
{
    unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, plane = side * side;
    if (x == 0 || x >= side - 1 || y == 0 || y >= side - 1) {
        return;
    }
    unsigned i = y * side + x;
    float below = from[i], here = from[i + plane];
    for (unsigned z = 1; z < depth - 1; z++) {
        i += plane;
        float above = from[i + plane];
        to[i] = 0.4f * here +
                0.1f * (below + above + from[i - 1] + from[i + 1] + from[i - side] + from[i + side]);
        below = here;
        here = above;
    }
}

__global__ void convolve3(float *to, const float *__restrict__ from, unsigned side)
{
    unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x == 0 || x >= side - 1 || y == 0 || y >= side - 1) {
        return;
    }
    float sum = 0;
    for (int dy = -1; dy <= 1; dy++) {
        for (int dx = -1; dx <= 1; dx++) {
            sum = fmaf(weights[dy * 3 + dx + 4], from[(y + dy) * side + x + dx], sum);
        }
    }
    to[y * side + x] = sum;
}

__global__ void convolve7_tiled(float *to, const float *__restrict__ from, unsigned side)
{
    __shared__ float s[16 + 2 * RADIUS][32 + 2 * RADIUS];
    int left = (int)(blockIdx.x * 32) - RADIUS, top = (int)(blockIdx.y * 16) - RADIUS, last = (int)side - 1;
    for (int y = threadIdx.y; y < 16 + 2 * RADIUS; y += 16) {
        for (int x = threadIdx.x; x < 32 + 2 * RADIUS; x += 32) {
            int fx = min(max(left + x, 0), last), fy = min(max(top + y, 0), last);
            s[y][x] = from[fy * (int)side + fx];
        }
    }
    __syncthreads();
    float sum = 0;
    for (int dy = 0; dy < 7; dy++) {
        for (int dx = 0; dx < 7; dx++) {
            sum = fmaf(weights[dy * 7 + dx], s[threadIdx.y + dy][threadIdx.x + dx], sum);
        }
    }
    to[(blockIdx.y * 16 + threadIdx.y) * side + blockIdx.x * 32 + threadIdx.x] = sum;
}

// Wave equation of one dimension, many steps in registers and shared memory.
__global__ void wave(float *to, const float *__restrict__ from, unsigned steps)
{
    __shared__ float s[2][256 + 2];
    unsigned t = threadIdx.x, i = blockIdx.x * 256 + t;
    float before = 0, here = from[i];
    s[0][t + 1] = here;
    if (t == 0) {
        s[0][0] = s[1][0] = s[0][257] = s[1][257] = 0;
    }
    __syncthreads();
    for (unsigned k = 0; k < steps; k++) {
        float next = 2 * here - before + 0.25f * (s[k & 1][t] - 2 * here + s[k & 1][t + 2]);
        before = here;
        here = next;
        s[(k + 1) & 1][t + 1] = here;
        __syncthreads();
    }
    to[i] = here;
}
}
