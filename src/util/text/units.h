/*
 * Quantities as people write them: "48 KiB", "116 cycles", "705 MHz", "16 B/cycle", "25%". Parsing
 * checks that the unit is of the kind that is asked for, and gives the value in the kind's base
 * unit:
 *
 *     kind                    base          accepted
 *     UNIT_NONE               1             a plain number
 *     UNIT_COUNT              1             a plain number, or with the name of what is counted
 *     UNIT_BYTES              byte          B, byte(s), KiB, MiB, GiB, TiB, kB, MB, GB, TB
 *     UNIT_CYCLES             cycle         cycle(s)
 *     UNIT_HZ                 hertz         Hz, kHz, MHz, GHz
 *     UNIT_PS                 picosecond    ps, ns, us, ms, s
 *     UNIT_BYTES_PER_CYCLE    byte/cycle    B/cycle, KiB/cycle
 *     UNIT_BYTES_PER_S        byte/second   B/s, kB/s, MB/s, GB/s, TB/s, KiB/s, MiB/s, GiB/s
 *     UNIT_FRACTION           1             a plain number from 0 to 1, or percent
 *
 * KB without the i is refused: it means 1000 to some and 1024 to others, and the message says so.
 */
#ifndef SONDE_UTIL_UNITS_H
#define SONDE_UTIL_UNITS_H

#include <stddef.h>
#include <stdint.h>

enum unit {
    UNIT_NONE,
    UNIT_COUNT,
    UNIT_BYTES,
    UNIT_CYCLES,
    UNIT_HZ,
    UNIT_PS,
    UNIT_BYTES_PER_CYCLE,
    UNIT_BYTES_PER_S,
    UNIT_FRACTION,
};

/* The value as a whole number of base units; a value that is not whole, negative or beyond 2^64 is
 * refused. 0 or SONDE_EINPUT with the reason. Numbers: decimal, 0x hexadecimal, with "_" or not. */
int units_parse_u64(uint64_t *value, const char *text, enum unit unit);

/* The same as a double; fractions of a base unit and (but for bytes, cycles, Hz) minus are fine. */
int units_parse_double(double *value, const char *text, enum unit unit);

/* What messages and documentation call a kind, "bytes", "a time"; and its base unit, "B", "ps". */
const char *units_name(enum unit unit);
const char *units_base(enum unit unit);

/* For people, "1.5 MiB", "705 MHz", "12 ns": the largest unit in which the number stays short. The
 * text parses back to the value exactly. Always terminated. Returns `text`. */
const char *units_format(char *text, size_t size, uint64_t value, enum unit unit);

#endif
