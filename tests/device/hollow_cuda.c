/* A library that loads and has nothing of a driver but its first call. */
int cuInit(unsigned flags);

int cuInit(unsigned flags)
{
    return (int)flags;
}
