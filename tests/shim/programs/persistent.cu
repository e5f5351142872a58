// A kernel that stays and takes its work from the host through mapped memory, while the host calls other functions.
#include <atomic>
#include "check.h"
struct mailbox { volatile int ask, answer, question, stop; };
__global__ void serve(mailbox *m)
{
    for (int seen = 0; ; ) {
        if (m->stop) break;
        int ask = m->ask;
        if (ask == seen) continue;
        __threadfence_system();
        m->question = m->question * m->question;
        __threadfence_system();
        m->answer = seen = ask;
    }
}
PROGRAM
{
    mailbox *m; cudaStream_t s, t; int *p, h = 0;
    CHECK(cudaHostAlloc(&m, sizeof *m, cudaHostAllocMapped)); m->ask = m->answer = m->question = m->stop = 0;
    CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking)); CHECK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking)); CHECK(cudaMalloc(&p, 4));
    int *pinned; CHECK(cudaMallocHost(&pinned, 4));
    serve<<<1, 1, 0, s>>>(m); CHECK(cudaGetLastError());
    for (int i = 1; i <= 5; i++) {
        m->question = i + 1;
        std::atomic_thread_fence(std::memory_order_seq_cst);
        m->ask = i;
        while (m->answer != i) EXPECT(cudaStreamQuery(s) == cudaErrorNotReady);
        EXPECT(m->question == (i + 1) * (i + 1));
        *pinned = m->question; CHECK(cudaMemcpyAsync(p, pinned, 4, cudaMemcpyHostToDevice, t)); CHECK(cudaStreamSynchronize(t));
    }
    m->stop = 1;
    CHECK(cudaStreamSynchronize(s)); CHECK(cudaMemcpy(&h, p, 4, cudaMemcpyDeviceToHost)); EXPECT(h == 36);
}
