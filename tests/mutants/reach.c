/*
 * Which blocks of the sources a test reaches: a byte for each, in the file that SONDE_REACH_FILE
 * names, which every process of the test maps. Without the variable the bytes go nowhere.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static unsigned char nowhere[SONDE_REACH_BLOCKS];
unsigned char *sonde_reached = nowhere;

__attribute__((constructor)) static void map_reached(void)
{
    const char *path = getenv("SONDE_REACH_FILE");
    int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0)
        return;
    void *bytes = mmap(NULL, sizeof nowhere, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (bytes != MAP_FAILED)
        sonde_reached = bytes;
    close(file);
}
