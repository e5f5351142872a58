/* Direct loads and stores for any processor, and the choice. */
#define DIRECT_TARGET
#define DIRECT_NAME access_portable
#define DIRECT_SHARED_NAME shared_portable
#include "exec/memory/direct.inc"

direct_fn *const direct_portable = access_portable;
direct_shared_fn *const direct_shared_portable = shared_portable;

direct_fn *direct_access(void)
{
    return direct_avx2 && lanes_have_avx2() ? direct_avx2 : direct_portable;
}

direct_shared_fn *direct_shared(void)
{
    return direct_shared_avx2 && lanes_have_avx2() ? direct_shared_avx2 : direct_shared_portable;
}
