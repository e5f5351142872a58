/* util/fileio.h: limits of reading; a file appears whole or not at all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/error.h"
#include "util/fileio.h"

/* Each test runs in an empty folder of its own. */
static int enter_folder(void **state)
{
    char *folder = strdup("/tmp/sonde-fileio.XXXXXX");
    *state = folder;
    return folder && mkdtemp(folder) ? chdir(folder) : -1;
}

static int leave_folder(void **state)
{
    char command[128];
    snprintf(command, sizeof(command), "rm -rf '%s'", (char *)*state);
    free(*state);
    return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

static int files_here(void)
{
    DIR *folder = opendir(".");
    int count = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        count += entry->d_name[0] != '.' || strlen(entry->d_name) > 2;
    }
    closedir(folder);
    return count;
}

static int write_text(const char *path, const char *text)
{
    struct file_writer writer;
    int rc = file_writer_open(&writer, path);
    if (rc == 0) {
        fputs(text, writer.stream);
        rc = file_writer_commit(&writer);
    }
    return rc;
}

static void assert_file_is(const char *path, const char *text)
{
    char *data;
    size_t size;
    assert_int_equal(file_read_all(&data, &size, path, 1000), 0);
    assert_int_equal(size, strlen(text));
    assert_string_equal(data, text);
    free(data);
}

static void what_was_written_is_read(void **state)
{
    (void)state;
    assert_int_equal(write_text("a", "one\n"), 0);
    assert_file_is("a", "one\n");
    assert_int_equal(write_text("a", "two"), 0);
    assert_file_is("a", "two");
    assert_int_equal(write_text("a", ""), 0);
    assert_file_is("a", "");
    assert_int_equal(files_here(), 1);
}

static void a_file_at_the_limit_is_read_and_one_beyond_is_not(void **state)
{
    (void)state;
    char *data = NULL;
    size_t size;
    write_text("a", "12345678");
    assert_int_equal(file_read_all(&data, &size, "a", 8), 0);
    free(data);
    assert_int_equal(file_read_all(&data, &size, "a", 7), SONDE_EINPUT);
    assert_string_equal(error_text(), "a: longer than the limit of 7 bytes");
    assert_int_equal(file_read_all(&data, &size, "/dev/zero", 100000), SONDE_EINPUT);
}

static void a_large_binary_file_is_read_whole(void **state)
{
    (void)state;
    size_t length = 100003;
    unsigned char *bytes = malloc(length);
    for (size_t i = 0; i < length; i++) {
        bytes[i] = (unsigned char)(i * i % 251);
    }
    struct file_writer writer;
    assert_int_equal(file_writer_open(&writer, "b"), 0);
    assert_int_equal(file_writer_write(&writer, bytes, length), 0);
    assert_int_equal(file_writer_commit(&writer), 0);
    char *data;
    size_t size;
    assert_int_equal(file_read_all(&data, &size, "b", 1 << 20), 0);
    assert_int_equal(size, length);
    assert_memory_equal(data, bytes, length);
    assert_int_equal(data[length], 0);
    free(data);
    free(bytes);
}

static void absent_files_and_folders_are_refused(void **state)
{
    (void)state;
    char *data;
    size_t size;
    assert_int_equal(file_read_all(&data, &size, "absent", 10), SONDE_EIO);
    assert_string_equal(error_text(), "cannot open absent: No such file or directory");
    assert_int_equal(file_read_all(&data, &size, ".", 10), SONDE_EINPUT);
    assert_non_null(strstr(error_text(), "is a folder"));
    assert_int_equal(write_text(".", "x"), SONDE_EIO);
    assert_int_equal(write_text("absent/x", "x"), SONDE_EIO);
    assert_non_null(strstr(error_text(), "absent/x"));
    assert_int_equal(files_here(), 0);
}

static void an_abandoned_file_leaves_nothing(void **state)
{
    (void)state;
    struct file_writer writer;
    write_text("a", "old");
    assert_int_equal(file_writer_open(&writer, "a"), 0);
    fputs("new", writer.stream);
    file_writer_abandon(&writer);
    file_writer_abandon(&writer);
    assert_file_is("a", "old");
    assert_int_equal(files_here(), 1);
}

/* A limit on the file's size stands for a full disk: write() fails in the middle of the data. */
static void a_full_disk_keeps_the_old_file(void **state)
{
    (void)state;
    write_text("a", "old");
    struct rlimit old, small;
    getrlimit(RLIMIT_FSIZE, &old);
    small = old;
    small.rlim_cur = 4096;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    struct file_writer writer;
    assert_int_equal(file_writer_open(&writer, "a"), 0);
    for (int i = 0; i < 10000; i++) {
        fputs("a line of the new file\n", writer.stream);
    }
    int rc = file_writer_commit(&writer);
    setrlimit(RLIMIT_FSIZE, &old);
    assert_int_equal(rc, SONDE_EIO);
    assert_file_is("a", "old");
    assert_int_equal(files_here(), 1);
}

static void a_full_device_is_an_error(void **state)
{
    (void)state;
    assert_int_equal(write_text("/dev/full", "x"), SONDE_EIO);
    assert_string_equal(error_text(), "cannot write /dev/full: No space left on device");
    assert_int_equal(write_text("/dev/null", "x"), 0);
}

/* As a file system does that reports a failed write only when the file is closed. */
static void an_error_of_the_last_close_is_told(void **state)
{
    (void)state;
    struct file_writer writer;
    assert_int_equal(file_writer_open(&writer, "/dev/null"), SONDE_OK);
    close(fileno(writer.stream));
    assert_int_equal(file_writer_commit(&writer), SONDE_EIO);
    assert_non_null(strstr(error_text(), "cannot write /dev/null"));
}

static void a_link_is_followed_and_stays(void **state)
{
    (void)state;
    struct stat status;
    write_text("target", "old");
    assert_int_equal(symlink("target", "link"), 0);
    assert_int_equal(write_text("link", "new"), 0);
    assert_file_is("target", "new");
    assert_int_equal(lstat("link", &status), 0);
    assert_true(S_ISLNK(status.st_mode));
}

static void a_new_file_has_the_usual_mode(void **state)
{
    (void)state;
    struct stat status;
    mode_t old = umask(022);
    write_text("a", "x");
    umask(old);
    assert_int_equal(stat("a", &status), 0);
    assert_int_equal(status.st_mode & 0777, 0644);
}

static void folders_are_made_with_their_parents(void **state)
{
    (void)state;
    struct stat status;
    assert_int_equal(file_make_folder("x/y/z"), 0);
    assert_int_equal(file_make_folder("x/y/z/"), 0);
    assert_int_equal(stat("x/y/z", &status), 0);
    assert_true(S_ISDIR(status.st_mode));
    write_text("file", "x");
    assert_int_equal(file_make_folder("file/y"), SONDE_EIO);
    assert_int_equal(file_make_folder("file"), SONDE_EIO);
}

static void two_paths_to_one_file_are_known(void **state)
{
    (void)state;
    assert_int_equal(file_make_folder("x"), 0);
    assert_true(file_is_same("new", "./new"));
    assert_true(file_is_same("x/../new", "new"));
    assert_false(file_is_same("new", "x/new"));
    assert_false(file_is_same("new", "old"));
    assert_true(file_is_same("absent/new", "absent/new"));
    write_text("new", "n");
    assert_int_equal(symlink("../new", "x/link"), 0);
    assert_true(file_is_same("x/link", "new"));
    assert_false(file_is_same("new", "newer"));
    assert_false(file_is_same("/dev/null", "/dev/null"));
}

/* What they name comes to be, and they stay. */
static void links_to_what_is_not_there_are_followed(void **state)
{
    (void)state;
    struct file_writer writer;
    struct stat status;
    assert_int_equal(file_make_folder("x"), 0);
    assert_int_equal(symlink("../new", "x/link"), 0);
    assert_int_equal(symlink("x/link", "again"), 0);
    assert_true(file_is_same("x/link", "new"));
    assert_true(file_is_same("again", "x/link"));
    assert_false(file_is_same("again", "newer"));
    assert_int_equal(file_writer_open(&writer, "again"), 0);
    assert_int_equal(file_writer_write(&writer, "n", 1), 0);
    assert_int_equal(file_writer_commit(&writer), 0);
    assert_int_equal(lstat("again", &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_int_equal(lstat("new", &status), 0);
    assert_true(S_ISREG(status.st_mode));
    assert_int_equal(status.st_size, 1);
    /* Links in a circle name nothing. */
    assert_int_equal(symlink("right", "left"), 0);
    assert_int_equal(symlink("left", "right"), 0);
    assert_false(file_is_same("left", "newer"));
}

/* In TMPDIR, which is taken as it is, and in /tmp without one. */
static void scratch_folders_are_made_where_tmpdir_says(void **state)
{
    (void)state;
    char a[FILE_SCRATCH_MAX], b[FILE_SCRATCH_MAX];
    setenv("TMPDIR", "here", 1);
    assert_int_equal(file_make_scratch(a, "x"), SONDE_EIO);
    assert_non_null(strstr(error_text(), "cannot make a folder in here: No such file"));
    assert_string_equal(a, "");
    assert_int_equal(file_make_folder("here"), 0);
    assert_int_equal(file_make_scratch(a, "x"), 0);
    assert_int_equal(file_make_scratch(b, "x"), 0);
    assert_int_equal(strncmp(a, "here/x.", 7), 0);
    assert_string_not_equal(a, b);
    assert_int_equal(rmdir(a) | rmdir(b), 0);
    char *deep = malloc(FILE_SCRATCH_MAX + 1);
    memset(deep, '/', FILE_SCRATCH_MAX);
    deep[FILE_SCRATCH_MAX] = '\0';
    setenv("TMPDIR", deep, 1);
    free(deep);
    assert_int_equal(file_make_scratch(a, "x"), SONDE_EIO);
    assert_string_equal(a, "");
    setenv("TMPDIR", "", 1);
    assert_int_equal(file_make_scratch(a, "x"), 0);
    assert_int_equal(strncmp(a, "/tmp/x.", 7), 0);
    assert_int_equal(rmdir(a), 0);
    unsetenv("TMPDIR");
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter_folder, leave_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(what_was_written_is_read),
        IN_FOLDER(a_file_at_the_limit_is_read_and_one_beyond_is_not),
        IN_FOLDER(a_large_binary_file_is_read_whole),
        IN_FOLDER(absent_files_and_folders_are_refused),
        IN_FOLDER(an_abandoned_file_leaves_nothing),
        IN_FOLDER(a_full_disk_keeps_the_old_file),
        IN_FOLDER(a_full_device_is_an_error),
        IN_FOLDER(an_error_of_the_last_close_is_told),
        IN_FOLDER(a_link_is_followed_and_stays),
        IN_FOLDER(a_new_file_has_the_usual_mode),
        IN_FOLDER(folders_are_made_with_their_parents),
        IN_FOLDER(two_paths_to_one_file_are_known),
        IN_FOLDER(links_to_what_is_not_there_are_followed),
        IN_FOLDER(scratch_folders_are_made_where_tmpdir_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
