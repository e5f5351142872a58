/*
 * A thin layer over jansson. Building: the json_put_ functions add to an object; the first that
 * fails (memory out, text that is no UTF-8, a number that JSON cannot hold) is an error return, so
 * a document is whole or not there. Writing: insertion order, two spaces, numbers in their shortest
 * form that reads back exactly, so that equal results are equal bytes.
 */
#ifndef SONDE_UTIL_JSON_GLUE_H
#define SONDE_UTIL_JSON_GLUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

struct file_writer;

/* 0, SONDE_ENOMEM, or SONDE_EINPUT for what JSON cannot say. Texts that are no UTF-8 are repaired
 * with U+FFFD, as a device's name must not spoil a report. */
int json_put_string(json_t *object, const char *key, const char *text); /* NULL text: null */
int json_put_u64(json_t *object, const char *key, uint64_t value);
int json_put_i64(json_t *object, const char *key, int64_t value);
int json_put_double(json_t *object, const char *key, double value); /* NaN, infinity: refused */
int json_put_bool(json_t *object, const char *key, bool value);
int json_put_null(json_t *object, const char *key);

/* Takes over `value` in any case; NULL is "memory out". */
int json_put(json_t *object, const char *key, json_t *value);
int json_append(json_t *array, json_t *value);
/* A fresh object or array under a key, borrowed from its parent; NULL when memory is out. */
json_t *json_put_object(json_t *object, const char *key);
json_t *json_put_array(json_t *object, const char *key);

/* SONDE_ENOMEM if this thread's last json_put or json_append failed for want of memory, or any
 * before it, since this was asked. A builder that looks at no single return asks before it begins,
 * for what was lost before is others', and when it has ended. */
int json_check_whole(void);

/* The object of an array whose "id" is `id`, borrowed; NULL: none, or no array. */
json_t *json_find_id(const json_t *array, const char *id);

/* A number of an object; 0: none, or no object. */
double json_number_of(const json_t *object, const char *key);

/* The document as text with a newline at its end (free() it). */
int json_to_text(char **text, const json_t *value);
/* Writes it to a file, "-" for standard output, atomically. */
int json_to_file(const char *path, const json_t *value);

/* Parses text; `name` stands in messages as the file. Duplicate keys are refused. json_decref() it.
 */
int json_from_text(json_t **value, const char *text, size_t length, const char *name);
int json_from_file(json_t **value, const char *path, size_t limit_bytes);

#endif
