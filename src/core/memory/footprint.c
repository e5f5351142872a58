/*
 * The requests of a texture fetch: each 32 bytes that hold a texel of any lane's footprint (one
 * texel, or the 2, 4, 8 or 16 that filtering reads), in the order of the lanes. Texels are aligned
 * to their size and at most 16 bytes, so that none lies in two. Where the model says so,
 * two-dimensional linear memory is addressed as if it was tiled. What lies beside the image has no
 * address and reads nothing.
 */
#include "core/state.h"
#include "exec/texture/texture.h"

uint32_t texture_transactions(struct lsu_access *access, bool blocks)
{
    const struct exec_access *a = &access->detail->access;
    uint32_t count = 0;
    for (uint32_t m = a->mask; m; m &= m - 1) {
        uint64_t texels[FOOTPRINT_MAX];
        uint32_t bytes, lane = (uint32_t)__builtin_ctz(m), before = count;
        uint32_t texel_count = exec_texture_addresses(texels, &bytes, &access->warp->exec, a, lane);
        const struct exec_image *blocked =
            blocks ? exec_texture_image(&access->warp->exec, a, lane) : NULL;
        for (uint32_t k = 0; k < texel_count; k++) {
            uint64_t at = blocked ? image_blocked_address(blocked, texels[k]) : texels[k];
            uint64_t sector = at & ~(uint64_t)(COALESCE_SECTOR_BYTES - 1);
            uint32_t i = count;
            while (i > 0 && access->detail->transaction[i - 1].address != sector) {
                i--;
            }
            if (i == 0) {
                access->detail->transaction[count++] = (struct transaction){
                    .address = sector, .bytes = COALESCE_SECTOR_BYTES, .lanes = 1};
            } else if (i <= before) {
                access->detail->transaction[i - 1].lanes++;
            }
        }
    }
    return count;
}
