/* Direct loads and stores for any processor, and the choice. */
#define DIRECT_TARGET
#define DIRECT_NAME access_portable
#include "exec/memory/direct.inc"

direct_fn *const direct_portable = access_portable;

direct_fn *direct_access(void)
{
#if defined(__x86_64__) && defined(__GNUC__)
    if (direct_avx2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"))
        return direct_avx2;
#endif
    return direct_portable;
}
