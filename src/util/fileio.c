/*
 * Reading whole files with a limit, and writing files that appear whole or not at all: the data
 * goes to a temporary file in the target's folder, is synced, and is renamed over the target.
 * Targets that are no regular files (a pipe, /dev/stdout, /dev/full) are written directly.
 */
#include "util/fileio.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/error.h"

#define MOST_LINKS 40 /* symbolic links from one to the next: as many as Linux follows */

static int io_error(const char *what, const char *path)
{
    return errno == ENOMEM
               ? error_memory()
               : error_set(SONDE_EIO, "%s %s: %s", what, path[0] ? path : "''", strerror(errno));
}

/* Reads to the end of `file`, growing as it comes: a pipe or a /proc file has no size to trust. */
static int read_stream(char **data, size_t *size_bytes, FILE *file, const char *name,
                       size_t limit_bytes)
{
    size_t capacity = 0, used = 0;
    char *buffer = NULL;
    for (;;) {
        if (used + 1 >= capacity) {
            size_t grown = capacity ? capacity * 2 : 16384;
            char *memory = realloc(buffer, grown);
            if (!memory) {
                free(buffer);
                return error_memory();
            }
            buffer = memory;
            capacity = grown;
        }
        size_t got = fread(buffer + used, 1, capacity - used - 1, file);
        used += got;
        if (used > limit_bytes) {
            free(buffer);
            return error_set(SONDE_EINPUT, "%s: longer than the limit of %zu bytes", name,
                             limit_bytes);
        }
        if (got == 0) {
            break;
        }
    }
    if (ferror(file)) {
        int rc = io_error("cannot read", name);
        free(buffer);
        return rc;
    }
    buffer[used] = '\0';
    *data = buffer;
    *size_bytes = used;
    return SONDE_OK;
}

int file_read_all(char **data, size_t *size_bytes, const char *path, size_t limit_bytes)
{
    if (strcmp(path, "-") == 0) {
        return read_stream(data, size_bytes, stdin, "standard input", limit_bytes);
    }
    FILE *file = fopen(path, "rb");
    if (!file) {
        return io_error("cannot open", path);
    }
    struct stat status;
    int rc;
    if (fstat(fileno(file), &status) < 0) {
        rc = io_error("cannot read", path);
    } else if (S_ISDIR(status.st_mode)) {
        rc = error_set(SONDE_EINPUT, "%s: is a folder, not a file", path);
    } else {
        rc = read_stream(data, size_bytes, file, path, limit_bytes);
    }
    fclose(file);
    return rc;
}

static char *join(const char *a, const char *b)
{
    size_t length = strlen(a) + strlen(b) + 1;
    char *text = malloc(length);
    if (text) {
        snprintf(text, length, "%s%s", a, b);
    }
    return text;
}

/* What the symbolic link at `path` names, as seen from where it lies; NULL: it is none. */
static char *read_link(const char *path)
{
    char to[FILE_SCRATCH_MAX];
    ssize_t length = readlink(path, to, sizeof to - 1);
    if (length < 0) {
        return NULL;
    }
    to[length] = '\0';
    const char *slash = to[0] == '/' ? NULL : strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : join("", "");
    char *target = folder ? join(folder, to) : NULL;
    free(folder);
    return target;
}

/*
 * Where what is written to `path` comes to lie: symbolic links are followed, also to what is not
 * there yet. Owned; NULL: there is no memory.
 */
static char *resolve(const char *path)
{
    char *resolved = realpath(path, NULL);
    if (resolved) {
        return resolved;
    }
    char *at = join(path, ""), *target = at ? read_link(at) : NULL;
    for (int links = 0; target && links < MOST_LINKS; links++) {
        free(at);
        at = target;
        target = read_link(at);
    }
    free(target);
    return at;
}

/* mkstemp makes the file private; a result gets the mode that any new file would get. */
static void set_usual_mode(int fd)
{
    mode_t mask = umask(0);
    umask(mask);
    (void)fchmod(fd, 0666 & ~mask);
}

static int open_temp(struct file_writer *writer)
{
    writer->temp_path = join(writer->path, ".XXXXXX");
    if (!writer->temp_path) {
        return error_memory();
    }
    int fd = mkstemp(writer->temp_path);
    if (fd < 0) {
        int rc = io_error("cannot create", writer->path);
        free(writer->temp_path);
        writer->temp_path = NULL;
        return rc;
    }
    set_usual_mode(fd);
    writer->stream = fdopen(fd, "wb");
    if (!writer->stream) {
        close(fd);
        return error_memory();
    }
    return SONDE_OK;
}

static int open_direct(struct file_writer *writer)
{
    writer->stream = fopen(writer->path, "wb");
    return writer->stream ? SONDE_OK : io_error("cannot open", writer->path);
}

int file_writer_open(struct file_writer *writer, const char *path)
{
    *writer = (struct file_writer){0};
    if (strcmp(path, "-") == 0) {
        writer->stream = stdout;
        return SONDE_OK;
    }
    /* A symbolic link is followed: the file that it names is replaced, not the link. */
    writer->path = resolve(path);
    if (!writer->path) {
        return error_memory();
    }
    struct stat status;
    int rc;
    if (stat(writer->path, &status) < 0 || S_ISREG(status.st_mode)) {
        rc = open_temp(writer);
    } else if (S_ISDIR(status.st_mode)) {
        rc = error_set(SONDE_EIO, "cannot write %s: is a folder", path);
    } else {
        rc = open_direct(writer);
    }
    if (rc < 0) {
        file_writer_abandon(writer);
    }
    return rc;
}

int file_writer_write(struct file_writer *writer, const void *data, size_t size_bytes)
{
    if (size_bytes > 0 && fwrite(data, 1, size_bytes, writer->stream) != size_bytes) {
        return io_error("cannot write", writer->path ? writer->path : "standard output");
    }
    return SONDE_OK;
}

/* Flushes and syncs; finds errors that the stream met earlier. */
static int writer_flush(struct file_writer *writer)
{
    const char *name = writer->path ? writer->path : "standard output";
    errno = 0;
    bool failed_before = ferror(writer->stream) != 0;
    if (fflush(writer->stream) != 0) {
        return io_error("cannot write", name);
    }
    if (failed_before) {
        return error_set(SONDE_EIO, "cannot write %s: an earlier write failed", name);
    }
    if (writer->temp_path && fsync(fileno(writer->stream)) < 0) {
        return io_error("cannot write", name);
    }
    return SONDE_OK;
}

int file_writer_commit(struct file_writer *writer)
{
    int rc = writer_flush(writer);
    if (writer->stream != stdout) {
        FILE *stream = writer->stream;
        writer->stream = NULL;
        if (fclose(stream) != 0 && rc == SONDE_OK) {
            rc = io_error("cannot write", writer->path);
        }
    }
    if (rc == SONDE_OK && writer->temp_path) {
        if (rename(writer->temp_path, writer->path) < 0) {
            rc = io_error("cannot write", writer->path);
        } else {
            free(writer->temp_path);
            writer->temp_path = NULL;
        }
    }
    file_writer_abandon(writer);
    return rc;
}

void file_writer_abandon(struct file_writer *writer)
{
    if (writer->stream && writer->stream != stdout) {
        fclose(writer->stream);
    }
    if (writer->temp_path) {
        unlink(writer->temp_path);
    }
    free(writer->temp_path);
    free(writer->path);
    *writer = (struct file_writer){0};
}

int file_write_all(const char *path, const void *data, size_t size_bytes)
{
    struct file_writer writer;
    int rc = file_writer_open(&writer, path);
    if (rc < 0) {
        return rc;
    }
    rc = file_writer_write(&writer, data, size_bytes);
    if (rc < 0) {
        file_writer_abandon(&writer);
        return rc;
    }
    return file_writer_commit(&writer);
}

static int make_one_folder(const char *path)
{
    struct stat status;
    if (mkdir(path, 0777) == 0) {
        return SONDE_OK;
    }
    if (errno == EEXIST && stat(path, &status) == 0) {
        if (S_ISDIR(status.st_mode)) {
            return SONDE_OK;
        }
        errno = ENOTDIR;
    }
    return io_error("cannot create the folder", path);
}

int file_make_folder(const char *path)
{
    char *prefix = join(path, "");
    if (!prefix) {
        return error_memory();
    }
    int rc = SONDE_OK;
    for (char *p = prefix + (*prefix == '/'); rc == SONDE_OK && *p; p++) {
        if (*p == '/') {
            *p = '\0';
            rc = make_one_folder(prefix);
            *p = '/';
        }
    }
    if (rc == SONDE_OK) {
        rc = make_one_folder(prefix);
    }
    free(prefix);
    return rc;
}

int file_make_scratch(char path[FILE_SCRATCH_MAX], const char *name)
{
    const char *base = getenv("TMPDIR");
    base = base && *base ? base : "/tmp";
    int length = snprintf(path, FILE_SCRATCH_MAX, "%s/%s.XXXXXX", base, name);
    if (length >= FILE_SCRATCH_MAX) {
        errno = ENAMETOOLONG;
    }
    if (length >= FILE_SCRATCH_MAX || !mkdtemp(path)) {
        path[0] = '\0';
        return io_error("cannot make a folder in", base);
    }
    return SONDE_OK;
}

const char *file_last_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Whether the folders that hold `a` and `b` are one, and their last parts have one name. */
static bool same_place(const char *a, const char *b)
{
    const char *names[2] = {a, b};
    struct stat folders[2];
    for (int i = 0; i < 2; i++) {
        const char *path = names[i];
        const char *slash = strrchr(path, '/');
        char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : join(".", "");
        bool known = folder && stat(folder, &folders[i]) == 0;
        free(folder);
        if (!known) {
            return strcmp(a, b) == 0;
        }
        names[i] = slash ? slash + 1 : path;
    }
    return folders[0].st_dev == folders[1].st_dev && folders[0].st_ino == folders[1].st_ino &&
           strcmp(names[0], names[1]) == 0;
}

bool file_is_same(const char *a, const char *b)
{
    struct stat left, right;
    bool has_left = stat(a, &left) == 0, has_right = stat(b, &right) == 0;
    if (has_left && has_right) {
        return S_ISREG(left.st_mode) && left.st_dev == right.st_dev && left.st_ino == right.st_ino;
    }
    char *to_a = resolve(a), *to_b = resolve(b);
    bool same = !has_left && !has_right && to_a && to_b && same_place(to_a, to_b);
    free(to_a);
    free(to_b);
    return same;
}
