/* Direct loads and stores for x86-64 processors with AVX2, where comparing 64-bit lanes is cheap.
 */
#if defined(__x86_64__) && defined(__GNUC__)
#define DIRECT_TARGET __attribute__((target("avx2,bmi,bmi2,popcnt")))
#define DIRECT_NAME access_avx2
#define DIRECT_SHARED_NAME shared_avx2
#include "exec/memory/direct.inc"

direct_fn *const direct_avx2 = access_avx2;
direct_shared_fn *const direct_shared_avx2 = shared_avx2;
#else
#include "exec/memory/direct.h"
#include <stddef.h>

direct_fn *const direct_avx2 = NULL;
direct_shared_fn *const direct_shared_avx2 = NULL;
#endif
