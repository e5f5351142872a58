/* Direct loads and stores for any processor, and the choice. */
#define DIRECT_TARGET
#define DIRECT_NAME access_portable
#define DIRECT_SHARED_NAME shared_portable
#include "exec/memory/direct.inc"

direct_fn *const direct_portable = access_portable;
direct_shared_fn *const direct_shared_portable = shared_portable;

static bool has_avx2(void)
{
#if defined(__x86_64__) && defined(__GNUC__)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
#else
    return false;
#endif
}

direct_fn *direct_access(void)
{
    return direct_avx2 && has_avx2() ? direct_avx2 : direct_portable;
}

direct_shared_fn *direct_shared(void)
{
    return direct_shared_avx2 && has_avx2() ? direct_shared_avx2 : direct_shared_portable;
}
