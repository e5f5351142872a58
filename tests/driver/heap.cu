// Device malloc and free, new and delete: within a launch, across launches, until nothing is left.
struct node {
    node *next;
    unsigned value;
};

// Each thread makes a list of its own and leaves it in heads.
extern "C" __global__ void build(node **heads, unsigned length)
{
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    node *head = nullptr;
    for (unsigned i = 0; i < length; i++) {
        node *made = (node *)malloc(sizeof(node));
        if (made) {
            made->next = head;
            made->value = thread * 1000 + i;
            head = made;
        }
    }
    heads[thread] = head;
}

// Another launch adds the lists up and gives them back.
extern "C" __global__ void sum(node **heads, unsigned *sums)
{
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, total = 0;
    for (node *at = heads[thread], *next; at; at = next) {
        next = at->next;
        total += at->value;
        free(at);
    }
    sums[thread] = total;
    heads[thread] = nullptr;
}

extern "C" __global__ void take(void **out, unsigned long long bytes)
{
    out[threadIdx.x] = malloc(bytes);
}

extern "C" __global__ void give(void **out)
{
    free(out[threadIdx.x]);
}

extern "C" __global__ void aligned(void **out, unsigned long long bytes, unsigned long long align)
{
    out[threadIdx.x] = __nv_aligned_device_malloc(bytes, align);
}

struct counter {
    unsigned value;
    __device__ counter(unsigned start) : value(start) {}
};

extern "C" __global__ void objects(unsigned *out)
{
    counter *one = new counter(threadIdx.x);
    unsigned *many = new unsigned[8];
    for (unsigned i = 0; i < 8; i++)
        many[i] = one->value + i;
    out[threadIdx.x] = many[7];
    delete[] many;
    delete one;
}
