/*
 * One argument as the user writes it, [NAME=]KIND:REST, read without any device. Errors are
 * SONDE_EUSAGE and quote the specification; a file that cannot be read is as api_read_result().
 */
#ifndef SONDE_API_EXEC_SPEC_H
#define SONDE_API_EXEC_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/image.h"
#include "isa/isa.h"
#include "sonde/sonde.h"
#include "util/error.h"

#define ARG_NAME_MAX 32

enum arg_form {
    ARG_VALUE,   /* u32:7 and the like: `data` is the value */
    ARG_BYTES,   /* hex:, bytes: a parameter of that size, whatever its type */
    ARG_BUFFER,  /* memory of the device; its address is passed */
    ARG_SAME,    /* another argument's buffer */
    ARG_TEXTURE, /* an image; a texture object of it is passed */
    ARG_SURFACE, /* likewise; a surface object */
};

struct exec_arg {
    const char *spec; /* as written, without NAME= */
    char name[ARG_NAME_MAX];
    enum arg_form form;
    enum isa_type type;  /* of the value, or of the buffer's elements (b8: not said) */
    unsigned char *data; /* what is passed or fills the buffer; NULL: zeros */
    uint64_t bytes;      /* of it */
    const char *same;    /* ARG_SAME: a name, or a number as text */
    char *out_path;      /* where the buffer goes afterwards, or NULL */
    uint64_t prints;     /* elements that are printed afterwards */
    struct image_spec image;
    struct texture_view view;
};

/* On failure nothing needs to be freed. */
int exec_arg_parse(struct exec_arg *arg, const char *text);
void exec_arg_free(struct exec_arg *arg);

/* NAME[:TYPE[:COUNT]] of --print; *type is TYPE_b8 and *count 0 where they are left out. */
struct exec_print {
    char name[ARG_NAME_MAX];
    enum isa_type type;
    bool typed;
    uint64_t count;
};
int exec_print_parse(struct exec_print *print, const char *text);

/* SONDE_EUSAGE, "--arg SPEC: WHY". */
static inline int bad_argument(const char *spec, const char *why)
{
    return error_set(SONDE_EUSAGE, "--arg %s: %s", spec, why);
}

/* ---- fill.c: buffers that are made, not read ---- */

/* data:TYPE:V,V,... iota:TYPE:COUNT[:START[:STEP]] fill:TYPE:COUNT:VALUE
 * random:TYPE:COUNT[:SEED] print:TYPE:COUNT. `rest` is what follows the kind. SONDE_EUSAGE. */
int exec_fill_parse(struct exec_arg *arg, const char *kind, const char *rest);
bool exec_fill_is(const char *kind);

/* hex:00FFa1 and bytes:1,2,0xff. SONDE_EUSAGE. */
int exec_bytes_parse(struct exec_arg *arg, const char *kind, const char *rest);

/* ---- image.c ---- */

/* texture:FORMAT:WIDTH[xHEIGHT[xDEPTH]]:PATH[,OPTION]... and surface:FORMAT:SIZE:PATH. */
int exec_image_parse(struct exec_arg *arg, const char *kind, const char *rest);

#endif
