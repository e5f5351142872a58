/* Quantities as people write them: 30.1 MiB, 4.43 TB/s, 1 cycle. */
#ifndef SONDE_PAGE_QUANTITY_H
#define SONDE_PAGE_QUANTITY_H

#define QUANTITY_BYTES 48

/* `unit`: as a dissection has it, "B", "B/s", "cycles", "1", ""; any other stands behind the
 * number. Three or four significant digits. Returns `text`. */
const char *quantity(char text[QUANTITY_BYTES], double value, const char *unit);

#endif
