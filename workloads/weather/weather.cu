// Microphysics of a column of air, a thread a column: vapour, cloud water, rain and snow, and the heat that they set free,
// after the bulk schemes of Kessler (1969) and of Lin, Farley and Orville (1983), much shortened. A launch is a time step: the
// air rises and cools, rain and snow fall in as many part steps as the fastest of them needs, then
// each level is brought to balance. Levels' results on the way are kept in local memory and registers; loops over levels
// are left as loops. Powers and exponentials are the hardware's approximate ones.

#define LEVELS 27

struct air {
    unsigned nx, ny;
    float step, thickness, cooling;
};

// Of each level: pressure in hPa, density, Exner's function.
struct profile {
    const float *pressure, *density, *exner;
};

struct fields {
    float *theta, *vapour, *cloud, *rain, *snow, *fallen;
};

__device__ static float saturation(float celsius, float pressure, float a, float b)
{
    float vapour = 6.112f * __expf(a * celsius / (celsius + b));
    return 0.622f * vapour / (pressure - 0.378f * vapour);
}

extern "C" __global__ void weather(const struct fields f, const struct profile p, const struct air air)
{
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float rain[LEVELS], snow[LEVELS], rain_speed[LEVELS], snow_speed[LEVELS];
    if (x >= air.nx || y >= air.ny)
        return;
    unsigned column = y * air.nx + x, area = air.nx * air.ny;

    // Speeds of fall, and the fastest.
    float fastest = 0;
#pragma unroll 1
    for (unsigned k = 0; k < LEVELS; k++) {
        unsigned at = k * area + column;
        float density = p.density[k], thin = sqrtf(p.density[0] / density);
        rain[k] = f.rain[at];
        snow[k] = f.snow[at];
        rain_speed[k] = 36.34f * __powf(density * rain[k] * 0.001f + 1e-12f, 0.1364f) * thin;
        snow_speed[k] = 4.84f * __powf(density * snow[k] * 0.001f + 1e-12f, 0.0625f) * thin;
        fastest = fmaxf(fastest, fmaxf(rain_speed[k], snow_speed[k]));
    }

    // What falls out of a level falls into the one below it.
    int parts = 1 + (int)(fastest * air.step / air.thickness);
    float part = air.step / parts, fallen = 0;
#pragma unroll 1
    for (int i = 0; i < parts; i++) {
        float rain_flux = 0, snow_flux = 0;
#pragma unroll 1
        for (int k = LEVELS - 1; k >= 0; k--) {
            float density = p.density[k], share = part / (density * air.thickness);
            float rain_out = density * rain[k] * rain_speed[k], snow_out = density * snow[k] * snow_speed[k];
            rain[k] += share * (rain_flux - rain_out);
            snow[k] += share * (snow_flux - snow_out);
            rain_flux = rain_out;
            snow_flux = snow_out;
        }
        fallen += part * (rain_flux + snow_flux);
    }
    f.fallen[column] += fallen;

    // In g/kg; 2.5 K of warming for each that condenses, 0.33 K more where it freezes.
#pragma unroll 1
    for (unsigned k = 0; k < LEVELS; k++) {
        unsigned at = k * area + column;
        float exner = p.exner[k], pressure = p.pressure[k], density = p.density[k];
        float celsius = f.theta[at] * exner - 273.15f - air.cooling;
        float vapour = f.vapour[at], cloud = f.cloud[at], r = fmaxf(rain[k], 0.0f), s = fmaxf(snow[k], 0.0f);

        // Cloud to rain, by itself and by what falls through it; cloud to snow.
        float itself = fmaxf(0.001f * (cloud - 0.5f), 0.0f), swept = 0.0022f * cloud * __powf(r, 0.875f);
        float cold = fminf(fmaxf(-celsius * 0.05f, 0.0f), 1.0f);
        float rimed = 0.001f * cold * cloud * sqrtf(s + 0.01f);
        float taken = air.step * (itself + swept + rimed), scale = taken > cloud ? cloud / taken : 1.0f;
        float to_rain = air.step * scale * (itself + swept), to_snow = air.step * scale * rimed;
        cloud -= to_rain + to_snow;
        r += to_rain;
        s += to_snow;
        celsius += 0.33f * to_snow;

        // Snow melts, faster the more rain there is.
        float melting = celsius > 0 ? fminf(s, air.step * 0.002f * celsius * sqrtf(s + 0.01f) * (1 + 0.1f * r)) : 0.0f;
        s -= melting;
        r += melting;
        celsius -= 0.33f * melting;

        // Rain and snow into dry air.
        float water = 1000 * saturation(celsius, pressure, 17.67f, 243.5f);
        float dryness = fmaxf(1 - vapour / water, 0.0f);
        float wind = 1.6f + 0.57f * __powf(density * r + 1e-6f, 0.2046f);
        float dried = fminf(r, air.step * 0.0004f * dryness * wind * __powf(density * r + 1e-6f, 0.525f));
        float ice = 1000 * saturation(celsius, pressure, 22.46f, 272.62f);
        float growth = air.step * 0.0002f * cold * (vapour / ice - 1) * sqrtf(s + 0.01f);
        growth = fminf(fmaxf(growth, -s), vapour * 0.1f);
        r -= dried;
        s += growth;
        vapour += dried - growth;
        celsius += 2.83f * growth - 2.5f * dried;

        // Cloud condenses or goes until the air is saturated, twice for the warmth that this sets free.
#pragma unroll 1
        for (unsigned i = 0; i < 2; i++) {
            water = 1000 * saturation(celsius, pressure, 17.67f, 243.5f);
            float warmer = celsius + 243.5f, slope = 4302.6f / (warmer * warmer);
            float condensed = fmaxf((vapour - water) / (1 + 2.5f * slope * water), -cloud);
            vapour -= condensed;
            cloud += condensed;
            celsius += 2.5f * condensed;
        }
        f.theta[at] = (celsius + 273.15f) / exner;
        f.vapour[at] = vapour;
        f.cloud[at] = cloud;
        f.rain[at] = r;
        f.snow[at] = s;
    }
}
