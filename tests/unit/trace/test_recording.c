/* Sets of traces, their files, and what is refused in a file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "trace/csv.h"
#include "trace/recording.h"
#include "trace/sha256.h"
#include "trace/source.h"
#include "util/error.h"
#include "util/fileio.h"

static struct traceset *sample_set(void)
{
    struct traceset *set;
    assert_int_equal(traceset_create(&set), 0);
    struct trace_device *device = traceset_device(set);
    *device = (struct trace_device){.sms = 12,
                                    .compute_major = 3,
                                    .compute_minor = 5,
                                    .clock_hz = 863000000,
                                    .memory_bytes = UINT64_C(3) << 30,
                                    .l2_bytes_reported = 1572864,
                                    .shared_per_sm_bytes = 49152,
                                    .shared_per_block_bytes = 49152,
                                    .memory_bandwidth_reported = 208000000000};
    strcpy(device->name, "sample");
    strcpy(device->driver, "sonde 0");
    strcpy(device->kind, "sim");
    assert_int_equal(traceset_add_kernel(set, "chase.ca", "ptx", 3), 0);
    assert_int_equal(traceset_add_note(set, "defaults.chase", "op=ca"), 0);

    struct trace trace;
    struct trace_request request;
    static const uint32_t ring[] = {0, 512, 128, 4096};
    uint32_t latency[100], next[100], start[2] = {0, 6400};
    for (uint32_t i = 0; i < 100; i++) {
        latency[i] = 116 + i % 7 * 100;
        next[i] = (i + 1) % 100 * 128;
    }
    trace_request_init(&request, "chase");
    trace_request_set_u64(&request, "window", 50);
    assert_int_equal(trace_init(&trace, &request), 0);
    assert_int_equal(trace_add_column(&trace, "latency", TRACE_U32, latency, 100), 0);
    assert_int_equal(trace_add_column(&trace, "next", TRACE_U32, next, 100), 0);
    assert_int_equal(trace_add_column(&trace, "start", TRACE_U32, start, 2), 0);
    assert_int_equal(traceset_add(set, &trace, NULL), 0);

    static const double cycles[] = {1234.5, -0.0, 1e300};
    static const uint64_t wide[] = {UINT64_MAX, 0, UINT64_C(1) << 63};
    request.ring = ring;
    request.ring_count = 4;
    assert_int_equal(trace_init(&trace, &request), 0);
    assert_int_equal(trace_add_column(&trace, "cycles", TRACE_F64, cycles, 3), 0);
    assert_int_equal(trace_add_column(&trace, "wide", TRACE_U64, wide, 3), 0);
    assert_int_equal(trace_add_column(&trace, "none", TRACE_U32, NULL, 0), 0);
    trace.status = SONDE_EDEVICE;
    strcpy(trace.reason, "too much shared memory");
    assert_int_equal(traceset_add(set, &trace, NULL), 0);
    return set;
}

static void assert_traces_equal(const struct trace *a, const struct trace *b)
{
    char key[TRACE_KEY_MAX], other[TRACE_KEY_MAX];
    trace_request_key(&a->request, key);
    trace_request_key(&b->request, other);
    assert_string_equal(key, other);
    assert_int_equal(a->request.ring_count, b->request.ring_count);
    assert_int_equal(a->status, b->status);
    assert_string_equal(a->reason, b->reason);
    assert_int_equal(a->column_count, b->column_count);
    for (size_t i = 0; i < a->column_count; i++) {
        const struct trace_column *one = &a->columns[i], *two = &b->columns[i];
        assert_string_equal(one->name, two->name);
        assert_int_equal(one->type, two->type);
        assert_int_equal(one->count, two->count);
        assert_memory_equal(one->data, two->data, one->count * trace_type_bytes(one->type));
    }
}

static char path[64];

/* The bytes of the sample's file. */
static char *sample_file(size_t *size)
{
    struct traceset *set = sample_set();
    char *data;
    snprintf(path, sizeof(path), "/tmp/sonde-recording-%ld", (long)getpid());
    assert_int_equal(traceset_write(set, path), 0);
    assert_int_equal(file_read_all(&data, size, path, 1 << 20), 0);
    remove(path);
    traceset_destroy(set);
    return data;
}

static void what_is_written_reads_back_the_same(void **state)
{
    (void)state;
    struct traceset *set = sample_set(), *back = NULL;
    size_t size;
    char *data = sample_file(&size);
    assert_int_equal(traceset_parse(&back, "file", data, size), 0);
    assert_int_equal(traceset_count(back), 2);
    for (size_t i = 0; i < 2; i++) {
        assert_traces_equal(traceset_at(set, i), traceset_at(back, i));
    }
    assert_memory_equal(traceset_device(set), traceset_device(back), sizeof(struct trace_device));
    assert_int_equal(traceset_kernel_count(back), 1);
    assert_string_equal(traceset_kernel_at(back, 0)->name, "chase.ca");
    assert_string_equal(traceset_kernel_at(back, 0)->hash, traceset_kernel_at(set, 0)->hash);
    assert_int_equal(traceset_note_count(back), 1);
    assert_string_equal(traceset_note_at(back, 0)->text, "op=ca");
    free(data);
    traceset_destroy(set);
    traceset_destroy(back);
}

static void equal_sets_give_equal_bytes(void **state)
{
    (void)state;
    size_t size, other_size;
    char *data = sample_file(&size), *other = sample_file(&other_size);
    assert_int_equal(size, other_size);
    assert_memory_equal(data, other, size);
    free(data);
    free(other);
}

/* A whole file whose compressed data end early: length and checksum are right. */
static void a_frame_that_ends_early_is_refused(void **state)
{
    (void)state;
    size_t size;
    unsigned char *data = (unsigned char *)sample_file(&size);
    for (size_t cut = 1; cut < size - RECORDING_HEADER_BYTES; cut++) {
        size_t frame_bytes = size - RECORDING_HEADER_BYTES - cut;
        struct traceset *set = (struct traceset *)1;
        struct sha256 hash;
        recording_put_u64(data + 24, frame_bytes);
        sha256_start(&hash);
        sha256_add(&hash, data, RECORDING_HASHED_BYTES);
        sha256_add(&hash, data + RECORDING_HEADER_BYTES, frame_bytes);
        sha256_end(&hash, data + RECORDING_HASHED_BYTES);
        assert_int_equal(traceset_parse(&set, "early", data, size - cut), SONDE_EINPUT);
        assert_null(set);
        char text[80];
        snprintf(text, sizeof(text), "early: byte %zu: zstd: the frame has no end", size - cut);
        assert_string_equal(error_text(), text);
    }
    free(data);
}

static void a_file_cut_short_anywhere_is_refused_with_the_place(void **state)
{
    (void)state;
    size_t size;
    char *data = sample_file(&size);
    for (size_t length = 0; length < size; length++) {
        struct traceset *set = (struct traceset *)1;
        char *part = malloc(length + 1);
        memcpy(part, data, length);
        assert_int_equal(traceset_parse(&set, "cut", part, length), SONDE_EINPUT);
        assert_null(set);
        char place[64];
        snprintf(place, sizeof(place), "cut: byte %zu: cut short", length);
        assert_int_equal(strncmp(error_text(), place, strlen(place)), 0);
        free(part);
    }
    free(data);
}

static void any_flipped_bit_is_noticed(void **state)
{
    (void)state;
    size_t size;
    char *data = sample_file(&size);
    for (size_t bit = 0; bit < size * 8; bit++) {
        struct traceset *set = NULL;
        data[bit / 8] ^= (char)(1 << bit % 8);
        assert_int_equal(traceset_parse(&set, "flipped", data, size), SONDE_EINPUT);
        data[bit / 8] ^= (char)(1 << bit % 8);
    }
    free(data);
}

/* Puts a right checksum on a changed file. */
static void seal(char *data, size_t size)
{
    struct sha256 hash;
    sha256_start(&hash);
    sha256_add(&hash, data, RECORDING_HASHED_BYTES);
    sha256_add(&hash, data + RECORDING_HEADER_BYTES, size - RECORDING_HEADER_BYTES);
    sha256_end(&hash, (unsigned char *)data + RECORDING_HASHED_BYTES);
}

static void other_versions_trailing_bytes_and_false_sizes_are_told_apart(void **state)
{
    (void)state;
    size_t size;
    char *data = sample_file(&size), *more = calloc(1, size + 1);
    struct traceset *set = NULL;
    memcpy(more, data, size);
    assert_int_equal(traceset_parse(&set, "f", more, size + 1), SONDE_EINPUT);
    assert_non_null(strstr(error_text(), "too long"));

    more[8] = 2;
    assert_int_equal(traceset_parse(&set, "f", more, size), SONDE_EINPUT);
    assert_string_equal(error_text(), "f: byte 8: version 2, this Sonde reads 1");
    more[8] = 1;

    recording_put_u64((unsigned char *)more + 16, 10);
    seal(more, size);
    assert_int_equal(traceset_parse(&set, "f", more, size), SONDE_EINPUT);
    assert_non_null(strstr(error_text(), "longer than said"));

    recording_put_u64((unsigned char *)more + 16, RECORDING_PAYLOAD_MAX);
    seal(more, size);
    assert_int_equal(traceset_parse(&set, "f", more, size), SONDE_EINPUT);
    assert_non_null(strstr(error_text(), "said are"));

    recording_put_u64((unsigned char *)more + 16, UINT64_MAX);
    assert_int_equal(traceset_parse(&set, "f", more, size), SONDE_EINPUT);
    assert_non_null(strstr(error_text(), "the limit is"));
    free(data);
    free(more);
}

static int parse_index(struct traceset **set, const char *index, const void *binary, size_t bytes)
{
    unsigned char payload[4096];
    size_t length = strlen(index);
    assert_true(8 + length + bytes <= sizeof(payload));
    recording_put_u64(payload, length);
    memcpy(payload + 8, index, length);
    if (bytes) {
        memcpy(payload + 8 + length, binary, bytes);
    }
    return recording_parse_payload(set, "p", payload, 8 + length + bytes);
}

#define HEAD                                                                                       \
    "{\"device\":{\"name\":\"d\",\"driver\":\"\",\"kind\":\"sim\",\"sms\":1,\"compute_major\":1,"  \
    "\"compute_minor\":1,\"clock_hz\":1,\"memory_bytes\":1,\"l2_bytes_reported\":1,"               \
    "\"shared_per_sm_bytes\":1,\"shared_per_block_bytes\":1},\"kernels\":{},\"notes\":{},"         \
    "\"traces\":["
#define COLUMN(count) "{\"name\":\"a\",\"type\":\"u32\",\"count\":" #count ",\"coding\":\"planes\"}"

static void a_wrong_index_is_refused_with_trace_and_column(void **state)
{
    (void)state;
    static const struct {
        const char *index, *message;
    } rows[] = {
        {"", ""},
        {"[]", "p: 'device' is missing"},
        {"{\"device\":{}}", "p: device: 'name' is missing or is no text of at most 383 bytes"},
        {HEAD "]", ""},
        {HEAD "7]}", "p: trace 0: 'probe' is missing or is no text of at most 23 bytes"},
        {HEAD "{\"probe\":\"x\"}]}", "p: trace 0: 'params' is missing"},
        {HEAD "{\"probe\":\"x\",\"params\":{\"a b\":\"1\"}}]}",
         "p: trace 0: 'params': 'a b' is no name of a parameter"},
        {HEAD "{\"probe\":\"x\",\"params\":{},\"columns\":[" COLUMN(3) "]}]}",
         "p: trace 0: column 'a': needs 3 numbers of 4 bytes, 8 bytes are left"},
        {HEAD "{\"probe\":\"x\",\"params\":{},\"columns\":[" COLUMN(4611686018427387905) "]}]}",
         "p: trace 0: column 'a': needs 4611686018427387905 numbers of 4 bytes, 8 bytes are left"},
        {HEAD "{\"probe\":\"x\",\"params\":{},\"columns\":[" COLUMN(-1) "]}]}",
         "p: trace 0: column 'a': 'count' is missing or is no whole number up to "
         "9223372036854775807"},
        {HEAD "{\"probe\":\"x\",\"params\":{},\"columns\":[" COLUMN(1) "," COLUMN(1) "]}]}",
         "p: trace 0: column 'a': two columns 'a'"},
        {HEAD "{\"probe\":\"x\",\"params\":{},\"columns\":[" COLUMN(1) "]}]}",
         "p: 4 bytes after the last column"},
        {HEAD "{\"probe\":\"x\",\"params\":{},\"status\":1,\"reason\":\"\",\"columns\":[]}]}",
         "p: trace 0: 'status' is no error code"},
        {HEAD "{\"probe\":\"x\",\"params\":{},\"columns\":[]},"
              "{\"probe\":\"x\",\"params\":{},\"columns\":[]}]}",
         "p: trace 1: measured twice: x"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct traceset *set = (struct traceset *)1;
        assert_int_equal(parse_index(&set, rows[i].index, "12345678", 8), SONDE_EINPUT);
        assert_null(set);
        if (rows[i].message[0]) {
            assert_string_equal(error_text(), rows[i].message);
        }
    }
}

static void a_request_that_is_not_in_the_recording_is_not_recorded(void **state)
{
    (void)state;
    struct traceset *set = sample_set();
    struct trace_source source = traceset_source(set);
    struct trace_request request;
    const struct trace *trace = NULL;
    trace_request_init(&request, "chase");
    assert_int_equal(trace_get(&source, &trace, &request), SONDE_ENOTRECORDED);
    assert_string_equal(error_text(), "not recorded: chase");
    trace_request_set_u64(&request, "window", 50);
    assert_int_equal(trace_get(&source, &trace, &request), 0);
    size_t count;
    assert_non_null(trace_u32(trace, "latency", &count));
    assert_int_equal(count, 100);
    assert_null(trace_f64(trace, "latency", &count));
    assert_int_equal(count, 0);
    traceset_destroy(set);
}

static void adding_a_key_twice_fails_and_takes_the_trace_all_the_same(void **state)
{
    (void)state;
    struct traceset *set = sample_set();
    struct trace trace;
    struct trace_request request;
    trace_request_init(&request, "chase");
    trace_request_set_u64(&request, "window", 50);
    assert_int_equal(trace_init(&trace, &request), 0);
    assert_int_equal(traceset_add(set, &trace, NULL), SONDE_EINPUT);
    assert_int_equal(trace.column_count, 0);
    assert_int_equal(traceset_count(set), 2);
    traceset_destroy(set);
}

static void a_full_disk_is_an_error(void **state)
{
    (void)state;
    struct traceset *set = sample_set();
    assert_int_equal(traceset_write(set, "/dev/full"), SONDE_EIO);
    assert_int_equal(traceset_write(set, "/nonexistent/folder/file"), SONDE_EIO);
    traceset_destroy(set);
}

static void csv_repeats_a_windows_start_in_its_rows(void **state)
{
    (void)state;
    struct trace trace;
    struct trace_request request;
    static const uint32_t latency[] = {10, 20, 30, 40}, start[] = {0, 512};
    static const double odd[] = {0.1, 1e20, 3};
    char *csv;
    trace_request_init(&request, "chase");
    assert_int_equal(trace_init(&trace, &request), 0);
    trace_add_column(&trace, "latency", TRACE_U32, latency, 4);
    trace_add_column(&trace, "start", TRACE_U32, start, 2);
    trace_add_column(&trace, "odd", TRACE_F64, odd, 3);
    assert_int_equal(trace_csv(&csv, &trace), 0);
    assert_string_equal(csv, "window,latency,start,odd\n0,10,0,0.1\n0,20,0,1e+20\n1,30,512,3\n"
                             "1,40,512,\n");
    free(csv);
    trace_clear(&trace);
}

static void hashes_are_those_of_the_standard(void **state)
{
    (void)state;
    char hex[65];
    sha256_hex(hex, "abc", 3); /* FIPS 180-4, examples */
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    sha256_hex(hex, "", 0);
    assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    char million[1000];
    memset(million, 'a', sizeof(million));
    struct sha256 hash;
    unsigned char digest[32];
    sha256_start(&hash);
    for (int i = 0; i < 1000; i++) {
        sha256_add(&hash, million, sizeof(million));
    }
    sha256_end(&hash, digest);
    static const unsigned char expected[] = {0xcd, 0xc7, 0x6e, 0x5c, 0x99, 0x14, 0xfb, 0x92};
    assert_memory_equal(digest, expected, sizeof(expected));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_reads_back_the_same),
        cmocka_unit_test(equal_sets_give_equal_bytes),
        cmocka_unit_test(a_file_cut_short_anywhere_is_refused_with_the_place),
        cmocka_unit_test(a_frame_that_ends_early_is_refused),
        cmocka_unit_test(any_flipped_bit_is_noticed),
        cmocka_unit_test(other_versions_trailing_bytes_and_false_sizes_are_told_apart),
        cmocka_unit_test(a_wrong_index_is_refused_with_trace_and_column),
        cmocka_unit_test(a_request_that_is_not_in_the_recording_is_not_recorded),
        cmocka_unit_test(adding_a_key_twice_fails_and_takes_the_trace_all_the_same),
        cmocka_unit_test(a_full_disk_is_an_error),
        cmocka_unit_test(csv_repeats_a_windows_start_in_its_rows),
        cmocka_unit_test(hashes_are_those_of_the_standard),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
