/*
 * Streams: order in one, between two by an event, by a callback, a flag that another one sets. Once
 * more, after a reset.
 */
#include "host.h"

int cuStreamCreateWithPriority(handle *, unsigned, int);
int cuStreamGetPriority(handle, int *);
int cuStreamGetFlags(handle, unsigned *);
int cuStreamGetId(handle, unsigned long long *);
int cuStreamQuery(handle);
int cuStreamWaitEvent(handle, handle, unsigned);
int cuStreamAddCallback(handle, void (*)(handle, int, void *), void *, unsigned);
int cuLaunchHostFunc(handle, void (*)(void *), void *);
int cuEventCreate(handle *, unsigned);
int cuEventRecord(handle, handle);
int cuMemsetD32Async(address, unsigned, size_t, handle);
int cuCtxGetStreamPriorityRange(int *, int *);
int cuDevicePrimaryCtxReset_v2(int);

static handle called_with;
static int host_calls;

static void called(handle stream, int status, void *ctx)
{
    called_with = stream;
    *(int *)ctx = status;
}

static void on_host(void *ctx)
{
    host_calls += *(int *)ctx;
}

static void streams(handle module)
{
    handle scale = function(module, "scale"), wait_for = function(module, "wait_for");
    handle a, b, event;
    int least, greatest, priority, status = -1, two = 2, n = 100, factor = 3;
    unsigned flags;
    unsigned long long first, second;
    OK(cuCtxGetStreamPriorityRange(&least, &greatest));
    EXPECT(greatest < least);
    OK(cuStreamCreate(&a, 1));
    OK(cuStreamCreateWithPriority(&b, 1, greatest));
    OK(cuStreamGetPriority(b, &priority));
    OK(cuStreamGetFlags(b, &flags));
    EXPECT(priority == greatest && flags == 1);
    OK(cuStreamGetId(a, &first));
    OK(cuStreamGetId(b, &second));
    EXPECT(first != second);
    OK(cuEventCreate(&event, 0));
    address p = take(100), flag = take(1), seen = take(1);
    OK(cuMemsetD32_v2(flag, 0, 1));
    OK(cuCtxSynchronize());
    void *args[] = {&p, &n, &factor}, *waits[] = {&flag, &seen};
    OK(launch(scale, 1, 128, a, args));
    OK(cuEventRecord(event, a));
    OK(cuStreamWaitEvent(b, event, 0));
    OK(launch(scale, 1, 128, b, args));
    OK(cuStreamAddCallback(b, called, &status, 0));
    OK(cuLaunchHostFunc(b, on_host, &two));
    OK(cuStreamSynchronize(b));
    EXPECT(called_with == b && status == 0 && host_calls == 2);
    EXPECT(word(p, 99) == (1 * 3 + 5) * 3 + 5);
    OK(launch(wait_for, 1, 1, a, waits));
    GIVES(600, cuStreamQuery(a));
    OK(cuMemsetD32Async(flag, 7, 1, b));
    OK(cuStreamSynchronize(a));
    OK(cuStreamQuery(a));
    EXPECT(word(seen, 0) == 7);
    OK(cuStreamDestroy_v2(a));
    OK(cuStreamDestroy_v2(b));
}

int main(int argc, char **argv)
{
    streams(argc == 2 ? begin(argv, "kernels.ptx") : NULL);
    OK(cuDevicePrimaryCtxReset_v2(0));
    host_calls = 0;
    streams(begin(argv, "kernels.ptx"));
    return 0;
}
