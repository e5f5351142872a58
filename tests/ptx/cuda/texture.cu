// Source of accept/nvcc_texture.ptx: nvcc -arch=sm_90 -ptx. Textures and surfaces of every geometry.
extern "C" __global__ void fetch(float4 *out, cudaTextureObject_t t, float x, float y, float z)
{
    float4 *at = out + 16 * threadIdx.x;
    at[0] = tex1D<float4>(t, x);
    at[1] = tex1Dfetch<float4>(t, threadIdx.x);
    at[2] = tex2D<float4>(t, x, y);
    at[3] = tex3D<float4>(t, x, y, z);
    at[4] = tex2DLayered<float4>(t, x, y, 3);
    at[5] = texCubemap<float4>(t, x, y, z);
    at[6] = tex2DLod<float4>(t, x, y, z);
    at[7] = tex2DGrad<float4>(t, x, y, make_float2(z, x), make_float2(x, z));
    at[8] = tex2Dgather<float4>(t, x, y, 1);
    at[9] = tex1DLayered<float4>(t, x, 2);
    at[10] = texCubemapLayered<float4>(t, x, y, z, 1);
}

extern "C" __global__ void touch(cudaSurfaceObject_t s, int x, int y)
{
    surf2Dwrite(surf2Dread<unsigned>(s, x * 4, y) + 1, s, x * 4, y);
    surf1Dwrite(surf1Dread<float2>(s, x * 8, cudaBoundaryModeZero), s, x * 8, cudaBoundaryModeClamp);
    surf3Dwrite(surf3Dread<uchar1>(s, x, y, 2), s, x, y, 3);
}
