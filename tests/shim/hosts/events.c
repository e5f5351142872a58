/* Events: times, states, and what has none. */
#include "host.h"

int cuEventCreate(handle *, unsigned);
int cuEventDestroy_v2(handle);
int cuEventRecord(handle, handle);
int cuEventRecordWithFlags(handle, handle, unsigned);
int cuEventQuery(handle);
int cuEventSynchronize(handle);
int cuEventElapsedTime(float *, handle, handle);

int main(int argc, char **argv)
{
    handle module = argc == 2 ? begin(argv, "kernels.ptx") : NULL;
    handle scale = function(module, "scale"), stream, a, b, untimed;
    int n = 4096, factor = 1;
    float ms = -1, none = -1;
    address p = take(4096);
    void *args[] = {&p, &n, &factor};
    OK(cuStreamCreate(&stream, 0));
    OK(cuEventCreate(&a, 0));
    OK(cuEventCreate(&b, 1));
    OK(cuEventCreate(&untimed, 2));
    GIVES(1, cuEventCreate(&b, 64));
    OK(cuEventQuery(a)); /* never recorded */
    GIVES(400, cuEventElapsedTime(&ms, a, b));
    OK(cuEventRecord(a, stream));
    for (int i = 0; i < 5; i++) {
        OK(launch(scale, 32, 128, stream, args));
    }
    OK(cuEventRecordWithFlags(b, stream, 0));
    OK(cuEventSynchronize(b));
    OK(cuEventQuery(a));
    OK(cuEventElapsedTime(&ms, a, b));
    OK(cuEventElapsedTime(&none, a, a));
    EXPECT(ms >= 0 && none == 0);
    EXPECT(word(p, 4095) == 1 + 5 * 5);
    OK(cuEventRecord(untimed, stream));
    OK(cuEventSynchronize(untimed));
    GIVES(400, cuEventElapsedTime(&ms, a, untimed));
    OK(cuEventDestroy_v2(a));
    GIVES(400, cuEventRecord(NULL, stream));
    OK(cuEventDestroy_v2(b));
    OK(cuEventDestroy_v2(untimed));
    OK(cuStreamDestroy_v2(stream));
    return 0;
}
