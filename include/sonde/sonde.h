/*
 * Sonde's public interface. Handles are opaque; functions return 0 or a negative SONDE_E... code, and
 * the text of the last failure on this thread is sonde_error_last().
 */
#ifndef SONDE_SONDE_H
#define SONDE_SONDE_H

#ifdef __cplusplus
extern "C" {
#endif

/* One row per error code: name, value, what it means. The values are part of the ABI. */
#define SONDE_ERRORS(X)                                                                            \
    X(SONDE_ENOMEM, -1, "out of memory")                                                           \
    X(SONDE_EINPUT, -2, "bad input")                                                               \
    X(SONDE_EDEVICE, -3, "the device is not available")                                            \
    X(SONDE_EIO, -4, "reading or writing a file failed")                                           \
    X(SONDE_EUNSUPPORTED, -5, "not supported")                                                     \
    X(SONDE_EFAULT, -6, "the program on the device faulted")                                       \
    X(SONDE_EUSAGE, -7, "wrong usage")                                                             \
    X(SONDE_ENOTRECORDED, -8, "not recorded")                                                      \
    X(SONDE_EINTERRUPTED, -9, "interrupted")                                                       \
    X(SONDE_EINTERNAL, -10, "internal error")

enum sonde_error {
    SONDE_OK = 0,
#define SONDE_ERROR_VALUE(name, value, text) name = value,
    SONDE_ERRORS(SONDE_ERROR_VALUE)
#undef SONDE_ERROR_VALUE
};

#ifdef __cplusplus
}
#endif

#endif
