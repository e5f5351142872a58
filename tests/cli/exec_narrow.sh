#!/bin/sh
# Programs whose pointers have 32 bits, as those of the GT200's time: memory lies below 4 GiB.
cat >scale.ptx <<'PTX'
.version 1.4
.target sm_13
.global .u32 table[4] = {5, 6, 7, 8};
.global .u32 where = table;
.entry scale (.param .u32 out, .param .u32 in, .param .u32 n)
{
    .reg .u32 r<9>;
    .reg .pred p;
    .shared .u32 s[64];
    cvt.u32.u16 r0, %tid.x;
    ld.param.u32 r1, [n];
    setp.ge.u32 p, r0, r1;
    @p bra DONE;
    mul.lo.u32 r2, r0, 4;
    ld.param.u32 r3, [in];
    add.u32 r3, r3, r2;
    ld.global.u32 r7, [r3];
    mov.u32 r4, s;
    add.u32 r4, r4, r2;
    st.shared.u32 [r4], r7;
    bar.sync 0;
    ld.shared.u32 r7, [r4];
    ld.global.u32 r5, [where];
    ld.global.u32 r6, [r5+8];
    mad.lo.u32 r7, r7, 10, r6;
    ld.param.u32 r3, [out];
    add.u32 r3, r3, r2;
    st.global.u32 [r3], r7;
DONE:
    exit;
}
PTX
printf '\001\0\0\0\002\0\0\0\003\0\0\0\004\0\0\0' >in
run sonde exec scale.ptx -d sim:gtx280 --block 4 --arg out:result:16 --arg file:in --arg u32:3 --functional -q
od -An -tu4 result
sed -e 's/1\.4/3.1/' -e 's/sm_13/sm_20\n.address_size 32/' -e 's/ld.global.u32 r7, \[r3\]/cvta.to.global.u32 r3, r3; ld.global.u32 r7, [r3]/' scale.ptx >fermi.ptx
run sonde exec fermi.ptx -d sim:gtx480 --block 4 --arg out:result:16 --arg file:in --arg u32:4 -q >/dev/null
od -An -tu4 result

echo "# what 32 bits do not reach: other windows' generic addresses, more memory than there are addresses"
sed -e 's/mov.u32 r4, s;/mov.u32 r4, s; cvta.shared.u32 r4, r4;/' fermi.ptx >window.ptx
run sonde exec window.ptx -d sim:gtx480 --block 4 --arg out:result:16 --arg file:in --arg u32:4 -q >/dev/null
printf 'name: large\ninherits: gtx480\nvm: {memory: 6 GiB}\n' >large.yaml
run sonde exec fermi.ptx -d sim:large.yaml --block 4 --arg out:result:16 --arg file:in --arg u32:4 -q >/dev/null
