/*
 * judge FILE...: does the front end take each file's modules? A file holds modules one after the
 * other, each behind a line "//// NAME". Prints a line for each: the name, then "ok",
 * "unsupported" (an instruction that the grammar knows but no row implements) or "refused", and
 * the first diagnostic. For tests/ptx/mutants.py.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/ir.h"
#include "util/error.h"

static const char mark[] = "//// ";

static void judge(const char *name, size_t name_length, const char *text, size_t length)
{
    struct ptx_module *module = NULL;
    int code = ptx_parse(&module, "m", text, length);
    const char *verdict = code == 0 ? "ok" : code == SONDE_EUNSUPPORTED ? "unsupported" : "refused";
    const char *why = code == 0 ? "" : error_text();
    printf("%.*s\t%s\t%.*s\n", (int)name_length, name, verdict, (int)strcspn(why, "\n"), why);
    ptx_module_destroy(module);
}

static char *read_all(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0)
        return NULL;
    long length = ftell(file);
    char *text = length >= 0 ? calloc(1, (size_t)length + 1) : NULL;
    rewind(file);
    if (text != NULL && fread(text, 1, (size_t)length, file) != (size_t)length)
        text[0] = '\0';
    fclose(file);
    return text;
}

static void judge_file(const char *text)
{
    const char *at = strstr(text, mark);
    while (at != NULL) {
        const char *name = at + sizeof mark - 1;
        size_t name_length = strcspn(name, "\n");
        const char *body = name + name_length;
        const char *next = strstr(body, mark);
        judge(name, name_length, body, next != NULL ? (size_t)(next - body) : strlen(body));
        at = next;
    }
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        char *text = read_all(argv[i]);
        if (text == NULL) {
            fprintf(stderr, "judge: cannot read %s\n", argv[i]);
            return 4;
        }
        judge_file(text);
        free(text);
    }
    return 0;
}
