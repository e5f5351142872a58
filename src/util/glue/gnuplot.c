/* Runs gnuplot, and takes only whole drawings from it. See gnuplot.h. */
#include "util/glue/gnuplot.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/container/strbuf.h"
#include "util/error.h"
#include "util/fileio.h"

static const struct format {
    const char *suffix, *terminal;
    const char *end; /* the last bytes of a whole file, a zero ending the text */
    size_t end_bytes;
} formats[GNUPLOT_FORMATS] = {
    {"svg", "svg size 800,500 background 'white'", "</svg>", 6},
    {"png", "pngcairo size 800,500", "IEND\xae\x42\x60\x82", 8},
};

/* What a drawing is called until it is whole. */
#define PART ".part"

int gnuplot_write(const char *folder, const char *id, const char *suffix, const char *text)
{
    struct strbuf path = {0};
    strbuf_printf(&path, "%s/%s.%s", folder, id, suffix);
    int rc = strbuf_failed(&path) ? error_memory()
                                  : file_write_all(strbuf_text(&path), text, strlen(text));
    strbuf_free(&path);
    return rc;
}

void gnuplot_put_output(struct strbuf *script, const char *id, size_t format)
{
    strbuf_printf(script, "set terminal %s\nset output '%s.%s'.part\n", formats[format].terminal,
                  id, formats[format].suffix);
}

/* 0: drawn; GNUPLOT_MISSING: it is not installed; other: it failed. */
static int run_gnuplot(const char *folder, const char *id)
{
    char script[128];
    int status = -1;
    snprintf(script, sizeof(script), "%s.gp", id);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        bool quiet = freopen("/dev/null", "w", stderr) != NULL;
        if (!quiet || chdir(folder) != 0) {
            _exit(1);
        }
        execlp("gnuplot", "gnuplot", "-e", "part='" PART "'", script, (char *)NULL);
        _exit(errno == ENOENT ? GNUPLOT_MISSING : 1);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* gnuplot says nothing of a disk that is full: a drawing is whole when it ends as its format does.
 */
static bool is_whole(const char *path, const struct format *format)
{
    char tail[64];
    FILE *file = fopen(path, "rb");
    bool whole = false;
    if (file && fseek(file, 0, SEEK_END) == 0) {
        long size = ftell(file);
        size_t want = size < (long)sizeof(tail) ? (size_t)(size < 0 ? 0 : size) : sizeof(tail);
        bool read = want >= format->end_bytes && fseek(file, -(long)want, SEEK_END) == 0 &&
                    fread(tail, 1, want, file) == want;
        /* A line may end behind the last mark. */
        while (read && want > format->end_bytes && tail[want - 1] == '\n') {
            want--;
        }
        whole =
            read && memcmp(tail + want - format->end_bytes, format->end, format->end_bytes) == 0;
    }
    if (file) {
        fclose(file);
    }
    return whole;
}

/* A whole drawing gets its name; anything else is removed. */
static int take_drawing(const char *folder, const char *id, const struct format *format, bool drawn)
{
    struct strbuf part = {0}, path = {0};
    strbuf_printf(&path, "%s/%s.%s", folder, id, format->suffix);
    strbuf_printf(&part, "%s" PART, strbuf_text(&path));
    int rc = 0;
    if (strbuf_failed(&path) || strbuf_failed(&part)) {
        rc = error_memory();
    } else if (drawn && !is_whole(strbuf_text(&part), format)) {
        rc = error_set(SONDE_EIO, "cannot write %s: gnuplot left a part of it", strbuf_text(&path));
    } else if (drawn && rename(strbuf_text(&part), strbuf_text(&path)) < 0) {
        rc = error_set(SONDE_EIO, "cannot write %s: %s", strbuf_text(&path), strerror(errno));
    }
    if (rc < 0 || !drawn) {
        unlink(strbuf_text(&part));
    }
    strbuf_free(&part);
    strbuf_free(&path);
    return rc;
}

/* All formats are taken or removed, whatever became of the first.
 */
int gnuplot_draw(const char *folder, const char *id, const char *script, int *failed)
{
    struct strbuf text = {0};
    strbuf_printf(&text, "if (!exists('part')) part = ''\n%sunset output\n", script);
    int rc =
        strbuf_failed(&text) ? error_memory() : gnuplot_write(folder, id, "gp", strbuf_text(&text));
    strbuf_free(&text);
    *failed = 0;
    if (rc < 0) {
        return rc;
    }
    *failed = run_gnuplot(folder, id);
    for (size_t i = 0; i < GNUPLOT_FORMATS; i++) {
        int taken = take_drawing(folder, id, &formats[i], *failed == 0 && rc == 0);
        rc = rc < 0 ? rc : taken;
    }
    return rc;
}
