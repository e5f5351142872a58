/*
 * Whole files in, whole files out. A file that is written appears under its name only when all of
 * it is on the disk: a full disk or an interrupted run leaves nothing half-written.
 */
#ifndef SONDE_UTIL_FILEIO_H
#define SONDE_UTIL_FILEIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Reads a file into fresh memory (free() it) with a zero byte behind it that is not counted. "-" is
 * standard input. Directories and files longer than `limit_bytes` are refused.
 * SONDE_EIO, SONDE_EINPUT (too long, a directory) or SONDE_ENOMEM. */
int file_read_all(char **data, size_t *size_bytes, const char *path, size_t limit_bytes);

/*
 * Writing: open, write to `stream` (or with file_writer_write), then commit or abandon. Errors of
 * the stream are remembered by the stream itself and found at commit.
 *
 *     struct file_writer writer;
 *     int rc = file_writer_open(&writer, path);
 *     if (rc == 0) { fprintf(writer.stream, ...); rc = file_writer_commit(&writer); }
 */
struct file_writer {
    FILE *stream;
    char *path;      /* NULL: standard output */
    char *temp_path; /* NULL: the target is no regular file and is written directly */
};

/* "-" is standard output. The temporary file lies beside the target, so that the rename is atomic.
 */
int file_writer_open(struct file_writer *writer, const char *path);
int file_writer_write(struct file_writer *writer, const void *data, size_t size_bytes);
/* Flush, sync, close, rename. On any failure the temporary file is removed. Ends the writer. */
int file_writer_commit(struct file_writer *writer);
/* Removes what was written. Ends the writer; harmless on one that has ended. */
void file_writer_abandon(struct file_writer *writer);

/* All of it in one: open, write, commit. SONDE_EIO or SONDE_ENOMEM. */
int file_write_all(const char *path, const void *data, size_t size_bytes);

/* Makes a folder and its missing parents. */
int file_make_folder(const char *path);

/* Makes an empty folder of one's own, $TMPDIR/NAME.XXXXXX (/tmp where TMPDIR is not set or empty).
 * On failure path[0] is 0. SONDE_EIO. */
#define FILE_SCRATCH_MAX 4096
int file_make_scratch(char path[FILE_SCRATCH_MAX], const char *name);

/* What follows the last slash of a path, within it. */
const char *file_last_name(const char *path);

/* Whether two paths name one file, which need not exist yet. Devices and pipes are never the same:
 * what is written to them does not replace what was there. */
bool file_is_same(const char *a, const char *b);

#endif
