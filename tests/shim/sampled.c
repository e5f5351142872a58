/* One small kernel, launched 40 times: a program of which samples are taken (sampled.sh). */
#include <stddef.h>
#include <stdio.h>

int cuInit(unsigned flags);
int cuDeviceGet(int *device, int ordinal);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuModuleLoadData(void **module, const void *image);
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                   void *stream, void **params, void **extra);
int cuCtxSynchronize(void);

static const char text[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                           ".visible .entry turns()\n{\n.reg .u32 %r; .reg .pred %p;\n"
                           "mov.u32 %r, 50;\nTURN: sub.u32 %r, %r, 1;\n"
                           "setp.ne.u32 %p, %r, 0;\n@%p bra TURN;\nret;\n}\n";

int main(void)
{
    int device, code;
    void *context, *module, *function;
    code = cuInit(0) | cuDeviceGet(&device, 0) | cuDevicePrimaryCtxRetain(&context, device) |
           cuCtxSetCurrent(context) | cuModuleLoadData(&module, text) |
           cuModuleGetFunction(&function, module, "turns");
    for (int i = 0; code == 0 && i < 40; i++) {
        code = cuLaunchKernel(function, 4, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL);
    }
    code = code ? code : cuCtxSynchronize();
    if (code != 0) {
        printf("CUDA error %d\n", code);
    }
    return code != 0;
}
