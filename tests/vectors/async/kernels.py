#!/usr/bin/env python3
# Writes kernels.ptx and tables.c: the kernels of the recordings, and what the host knows of them.
import sys
out=[]
E=out.append
E(""".version 9.0
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 dyn[];
""")
SM=16384
def wgmma(name,shape_n,k,dt,at,bt,nd,areg=False,sparse=None,scale_d=1,sa=1,sb=1,ta=0,tb=0,sat=False,popc=False):
    isint = dt=='s32'
    reg = 'f' if dt=='f32' else 'r'
    E(f".visible .entry {name}(.param .u64 p_in,.param .u64 p_out,.param .u64 p_da,.param .u64 p_db){{")
    E(" .reg .b32 %r<300>; .reg .b32 %a<8>; .reg .f32 %f<300>; .reg .b64 %d<20>; .reg .pred %p<5>; .reg .b32 %t<20>; .reg .b32 %m;")
    E(" ld.param.u64 %d0,[p_in]; ld.param.u64 %d1,[p_out]; ld.param.u64 %d2,[p_da]; ld.param.u64 %d3,[p_db];")
    E(" cvta.to.global.u64 %d0,%d0; cvta.to.global.u64 %d1,%d1; mov.u32 %t0,%tid.x; mov.u32 %t1,dyn;")
    # copy smem
    E(f" shl.b32 %t2,%t0,2; cvt.u64.u32 %d4,%t2; add.u64 %d5,%d0,%d4; add.u32 %t3,%t1,%t2; mov.u32 %t4,0;")
    E(f"L1: ld.global.u32 %t5,[%d5]; st.shared.u32 [%t3],%t5; add.u64 %d5,%d5,512; add.u32 %t3,%t3,512; add.u32 %t4,%t4,512; setp.lt.u32 %p1,%t4,{SM}; @%p1 bra L1;")
    # areg: after SM: [i][thread]
    E(f" add.u64 %d6,%d0,%d4;")
    for i in range(4): E(f" ld.global.u32 %a{i},[%d6+{SM+i*512}];")
    E(f" ld.global.u32 %m,[%d6+{SM+4*512}];")
    for i in range(nd): E(f" ld.global.b32 %{reg}{i},[%d6+{SM+5*512+i*512}];")
    E(" fence.proxy.async; bar.sync 0;")
    E(" shr.u32 %t6,%t1,4; and.b32 %t6,%t6,16383; cvt.u64.u32 %d7,%t6; add.u64 %d2,%d2,%d7; add.u64 %d3,%d3,%d7;")
    E(" wgmma.fence.sync.aligned;")
    dl="{"+",".join(f"%{reg}{i}" for i in range(nd))+"}"
    a="{%a0,%a1,%a2,%a3}" if areg else "%d2"
    E(f" setp.ne.u32 %p2,{scale_d},0;")
    op="wgmma.mma_async"+(".sp" if sparse is not None else "")+f".sync.aligned.m64n{shape_n}k{k}.{dt}.{at}.{bt}"
    if popc: op+=".and.popc"
    if sat: op+=".satfinite"
    args=[dl,a,"%d3"]
    if sparse is not None: args+=["%m",str(sparse)]
    args.append("%p2")
    if not isint:
        args+=[str(sa),str(sb)]
        if at in('f16','bf16'):
            if not areg: args.append(str(ta))
            args.append(str(tb))
    E(f" {op} {','.join(args)};")
    E(" wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;")
    E(" add.u64 %d8,%d1,%d4;")
    for i in range(nd): E(f" st.global.b32 [%d8+{i*512}],%{reg}{i};")
    E(" ret;\n}")
forms=[]
def form(name,**kw):
    wgmma(name,**kw); forms.append((name,kw))
def nd(n,dt): return n//8*(2 if dt=='f16' else 4)
def add(name,n,k,dt,at,bt,**kw):
    form(name,shape_n=n,k=k,dt=dt,at=at,bt=bt,nd=nd(n,dt),**kw)
base=[('f32','f16','f16',16),('f16','f16','f16',16),('f32','bf16','bf16',16),('f32','tf32','tf32',8)]
for d in('f32','f16'):
    for a in('e4m3','e5m2'):
        for b in('e4m3','e5m2'): base.append((d,a,b,32))
for a in('s8','u8'):
    for b in('s8','u8'): base.append(('s32',a,b,32))
for d,a,b,k in base:
    add(f"{d}_{a}_{b}",8,k,d,a,b)
    add(f"{d}_{a}_{b}_reg",8,k,d,a,b,areg=True)
    add(f"{d}_{a}_{b}_sp0",8,2*k,d,a,b,sparse=0)
    add(f"{d}_{a}_{b}_sp0_reg",8,2*k,d,a,b,sparse=0,areg=True)
    if a in('f16','bf16','tf32'):
        add(f"{d}_{a}_{b}_sp1",8,2*k,d,a,b,sparse=1)
add("s32_s8_s8_sat",8,32,'s32','s8','s8',sat=True)
add("s32_u8_u8_sat",8,32,'s32','u8','u8',sat=True)
add("s32_b1",8,256,'s32','b1','b1',popc=True)
add("s32_b1_reg",8,256,'s32','b1','b1',popc=True,areg=True)
add("f32_f16_neg_a",8,16,'f32','f16','f16',sa=-1)
add("f32_f16_neg_b",8,16,'f32','f16','f16',sb=-1)
add("f16_f16_neg_ab",8,16,'f16','f16','f16',sa=-1,sb=-1)
add("f32_e4m3_neg_a",8,32,'f32','e4m3','e4m3',sa=-1)
add("f32_f16_zero",8,16,'f32','f16','f16',scale_d=0)
add("f32_e5m2_zero",8,32,'f32','e5m2','e5m2',scale_d=0)
for n in(16,24,256): add(f"f32_f16_n{n}",n,16,'f32','f16','f16')
for n in(16,24,64,256): add(f"s32_s8_n{n}",n,32,'s32','s8','s8')
add("f32_tf32_n64",64,8,'f32','tf32','tf32')
add("f16_e4m3_n64",64,32,'f16','e4m3','e4m3')
for ta in(0,1):
    for tb in(0,1):
        add(f"lay_{ta}{tb}",64,16,'f32','f16','f16',ta=ta,tb=tb)
        add(f"layb_{ta}{tb}",64,16,'f32','bf16','bf16',ta=ta,tb=tb)
add("lay_reg_tb1",64,16,'f32','f16','f16',areg=True,tb=1)
add("lay_s8",64,32,'s32','s8','s8')
add("lay_tf32",64,8,'f32','tf32','tf32')
add("lay_sp",64,32,'f32','f16','f16',sparse=0)
add("lay_sp_tb",64,32,'f32','f16','f16',sparse=0,tb=1)
add("lay_sp_ta",64,32,'f32','f16','f16',sparse=0,ta=1)
# ---- tensor copies
def head(name,params,extra=""):
    E(f".visible .entry {name}({params}){{\n .reg .b64 %d<20>; .reg .b32 %t<40>; .reg .pred %p<8>; .reg .b16 %h<8>; .reg .f32 %f<8>;\n .shared .align 8 .b64 bar;{extra}\n mov.u32 %t0,%tid.x; mov.u32 %t1,dyn; mov.u32 %t2,bar; setp.eq.u32 %p0,%t0,0;")
INIT=" @%p0 mbarrier.init.shared.b64 [%t2],1;\n fence.mbarrier_init.release.cluster; fence.proxy.async; bar.sync 0;"
WAIT=" mov.u32 %t39,0;\nW: add.u32 %t39,%t39,1; mbarrier.try_wait.parity.shared.b64 %p3,[%t2],0; @%p3 bra Z; setp.lt.u32 %p7,%t39,100000; @%p7 bra W;\nZ:"
FILL=" mov.u32 %t4,%t0; \nF: shl.b32 %t5,%t4,2; add.u32 %t5,%t5,%t1; st.shared.u32 [%t5],0xa5a5a5a5; add.u32 %t4,%t4,%ntid.x; setp.lt.u32 %p1,%t4,8192; @%p1 bra F;\n"
FILL=FILL.replace("%ntid.x","128")
# smem (32 KB) to out
DUMP=" cvta.to.global.u64 %d1,%d1; mov.u32 %t4,%t0;\nD: shl.b32 %t5,%t4,2; cvt.u64.u32 %d6,%t5; add.u64 %d6,%d6,%d1; add.u32 %t5,%t5,%t1; ld.shared.u32 %t6,[%t5]; st.global.u32 [%d6],%t6; add.u32 %t4,%t4,128; setp.lt.u32 %p1,%t4,8192; @%p1 bra D;\n"
LOADIN=" cvta.to.global.u64 %d1,%d1; mov.u32 %t4,%t0;\nD: shl.b32 %t5,%t4,2; cvt.u64.u32 %d6,%t5; add.u64 %d6,%d6,%d1; add.u32 %t5,%t5,%t1; ld.global.u32 %t6,[%d6]; st.shared.u32 [%t5],%t6; add.u32 %t4,%t4,128; setp.lt.u32 %p1,%t4,8192; @%p1 bra D;\n"
MAPP=".param .align 64 .b8 map[128],.param .u64 p_out,.param .u32 p_bytes,.param .u32 c0,.param .u32 c1,.param .u32 c2,.param .u32 c3,.param .u32 c4,.param .u32 o0,.param .u32 o1,.param .u32 o2"
LD=" ld.param.u64 %d1,[p_out]; ld.param.u32 %t3,[p_bytes];"+"".join(f" ld.param.u32 %t{10+i},[c{i}];" for i in range(5))+"".join(f" ld.param.u32 %t{20+i},[o{i}];" for i in range(3))+" mov.b64 %d2,map; cvta.param.u64 %d2,%d2;\n"
LD+="".join(f" cvt.u16.u32 %h{i},%t{20+i};" for i in range(3))
for r in range(1,6):
    cs="{"+",".join(f"%t{10+i}" for i in range(r))+"}"
    head(f"tile_load_{r}",MAPP); E(LD); E(FILL); E(" bar.sync 0;"); E(INIT)
    E(f" @%p0 mbarrier.arrive.expect_tx.shared.b64 _,[%t2],%t3;\n @%p0 cp.async.bulk.tensor.{r}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%t1],[%d2,{cs}],[%t2];")
    E(WAIT); E(DUMP); E(" ret;\n}")
    head(f"tile_store_{r}",MAPP); E(LD); E(LOADIN); E(" fence.proxy.async; bar.sync 0;")
    E(f" @%p0 cp.async.bulk.tensor.{r}d.global.shared::cta.tile.bulk_group [%d2,{cs}],[%t1];\n cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; ret;\n}}")
for r in range(3,6):
    cs="{"+",".join(f"%t{10+i}" for i in range(r))+"}"
    os="{"+",".join(f"%h{i}" for i in range(r-2))+"}"
    head(f"im2col_load_{r}",MAPP); E(LD); E(FILL); E(" bar.sync 0;"); E(INIT)
    E(f" @%p0 mbarrier.arrive.expect_tx.shared.b64 _,[%t2],%t3;\n @%p0 cp.async.bulk.tensor.{r}d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%t1],[%d2,{cs}],[%t2],{os};")
    E(WAIT); E(DUMP); E(" ret;\n}")
# bulk copies
RED=[("and","b32"),("or","b64"),("xor","b32"),("add","u32"),("add","s32"),("add","u64"),("inc","u32"),("dec","u32"),("min","s32"),("max","u32"),("min","s64"),("max","u64"),("add","f16.noftz"),("add","bf16.noftz"),("min","f16"),("max","bf16"),("add","f32"),("add","f64"),("min","bf16"),("max","f16")]
bulkred=[]
for op,t in RED:
    nm=f"bulkred_{op}_{t.replace('.noftz','')}"; bulkred.append(nm)
    tt=t.split('.')
    opn=f".{op}" + (".noftz" if 'noftz' in t else "")+f".{tt[0]}"
    head(nm,".param .u64 p_io,.param .u64 p_in"); E(" ld.param.u64 %d3,[p_io]; cvta.to.global.u64 %d3,%d3; ld.param.u64 %d1,[p_in];"); E(LOADIN)
    E(f" fence.proxy.async; bar.sync 0; @%p0 cp.reduce.async.bulk.global.shared::cta.bulk_group{opn} [%d3],[%t1],4096; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; ret;\n}}")
# vector atomics: 128 lanes, one op each: old values to out
VA=[("atom","add.v2.f32",2,"f32"),("atom","add.v4.f32",4,"f32"),("red","add.v2.f32",2,"f32"),("red","add.v4.f32",4,"f32")]
for v in(2,4,8):
    for t in("f16","bf16"):
        for op in("add.noftz","min.noftz","max.noftz"): VA.append(("atom",f"{op}.v{v}.{t}",v,t))
for v in(2,4):
    for t in("f16x2","bf16x2"):
        for op in("add.noftz","min.noftz","max.noftz"): VA.append(("atom",f"{op}.v{v}.{t}",v,t))
VA.append(("red","add.noftz.v4.bf16x2",4,"bf16x2")); VA.append(("red","max.noftz.v8.f16",8,"f16"))
vat=[]
for a,o,v,t in VA:
    nm=f"{a}_{o.replace('.','_')}"; vat.append(nm)
    by={"f32":4,"f16":2,"bf16":2,"f16x2":4,"bf16x2":4}[t]; w=v*by
    bt={4:"b32",2:"b16"}[by]
    head(nm,".param .u64 p_io,.param .u64 p_in,.param .u64 p_out"); E(f" .reg .{bt} %v<8>; .reg .{bt} %o<8>; ld.param.u64 %d1,[p_io]; ld.param.u64 %d2,[p_in]; ld.param.u64 %d3,[p_out]; cvta.to.global.u64 %d1,%d1; cvta.to.global.u64 %d2,%d2; cvta.to.global.u64 %d3,%d3; mul.wide.u32 %d6,%t0,{w}; add.u64 %d1,%d1,%d6; add.u64 %d2,%d2,%d6; add.u64 %d3,%d3,%d6;")
    for i in range(v): E(f" ld.global.{bt} %v{i},[%d2+{i*by}];")
    vl="{"+",".join(f"%v{i}" for i in range(v))+"}"; ol="{"+",".join(f"%o{i}" for i in range(v))+"}"
    if a=="atom":
        E(f" atom.global.{o} {ol},[%d1],{vl};")
        for i in range(v): E(f" st.global.{bt} [%d3+{i*by}],%o{i};")
    else: E(f" red.global.{o} [%d1],{vl};")
    E(" ret;\n}")
open("kernels.ptx","w").write("\n".join(out)+"\n")
L=[((0,128,256,0,0),(8192,128,256,0,0)),((0,1024,128,0,0),(8192,1024,128,0,0)),((0,128,1024,0,1),(8192,128,1024,0,1)),((32,16,1024,0,1),(8192+64,16,1024,0,1)),((0,128,512,0,2),(8192,128,512,0,2)),((32,128,512,0,2),(8192+32,128,512,0,2)),((0,128,256,0,3),(8192,128,256,0,3)),((0,2048,1024,0,1),(8192,2048,1024,0,1)),((0,1024,2048,0,1),(8192,1024,2048,0,1)),((0,512,1024,0,2),(8192,512,1024,0,2)),((0,1024,512,0,2),(8192,1024,512,0,2)),((0,256,512,0,3),(8192,512,256,0,3)),((512,128,1024,0,1),(8192+256,128,1024,0,1)),((512,128,1024,4,1),(8192+256,128,1024,2,1)),((128,128,1024,1,1),(8192+128,128,1024,1,1)),((256,128,512,2,2),(8192+128,128,512,1,2)),((0,0,0,0,0),(8192,0,0,0,0)),((0,4096,0,0,0),(8192,0,128,0,0))]
with open("tables.c","w") as f:
    f.write("/* Written by kernels.py. */\n#include \"async.h\"\n\nconst struct product all_products[] = {\n")
    for n,kw in forms: f.write(f'    {{"{n}", "{kw["dt"]}", "{kw["at"]}", {"true" if kw.get("sparse") is not None else "false"}, {kw["nd"]}}},\n')
    f.write("};\nconst struct layout layouts[] = {\n")
    for a_,b_ in L: f.write("    {{"+", ".join(map(str,a_))+"}, {"+", ".join(map(str,b_))+"}},\n")
    f.write("};\nconst char *const all_reductions[] = {"+", ".join(f'"{x}"' for x in bulkred)+"};\nconst char *const all_atomics[] = {"+", ".join(f'"{x}"' for x in vat)+"};\n")
    for a_,b_ in (("product","all_products"),("layout","layouts"),("reduction","all_reductions"),("atomic","all_atomics")): f.write(f"const size_t {a_}_count = sizeof {b_} / sizeof *{b_};\n")
