/* Names as C++ writes them. See symbol.h. */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "util/text/symbol.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

char *symbol_readable(const char *name)
{
    typedef char *demangle(const char *, char *, size_t *, int *);
    /* C++ programs bring the function that reads their names; the others have none to read. A name
     * that does not begin so could be read as a type's: `f` as float. */
    union {
        void *object;
        demangle *function;
    } found = {.object =
                   strncmp(name, "_Z", 2) == 0 ? dlsym(RTLD_DEFAULT, "__cxa_demangle") : NULL};
    int status = -1;
    char *text = found.object ? found.function(name, NULL, NULL, &status) : NULL;
    return text ? text : strdup(name);
}

/* Where a name stands in what the C++ runtime writes: `returned name<arguments>(parameters)`. */
struct parts {
    size_t name;      /* behind what is returned */
    size_t arguments; /* the first '<' of it, or its end where it has none */
    size_t end;       /* behind the arguments */
};

/* Spaces and parentheses count outside of brackets alone: `(anonymous namespace)::`,
 * `{lambda(int)#1}` and the arguments' own are passed over. */
static struct parts parts_of(const char *text)
{
    struct parts parts = {.arguments = SIZE_MAX, .end = strlen(text)};
    size_t depth = 0;
    for (size_t i = 0; text[i]; i++) {
        bool space_of_names = strncmp(text + i, "(anonymous", 10) == 0;
        if (depth == 0 && text[i] == '(' && !space_of_names) {
            parts.end = i;
            break;
        }
        if (depth == 0 && text[i] == ' ') {
            parts.name = i + 1;
            parts.arguments = SIZE_MAX;
        }
        if (depth == 0 && text[i] == '<' && parts.arguments == SIZE_MAX) {
            parts.arguments = i;
        }
        if (strchr("<({", text[i])) {
            depth++;
        } else if (strchr(">)}", text[i]) && depth > 0) {
            depth--;
        }
    }
    if (parts.arguments > parts.end) {
        parts.arguments = parts.end;
    }
    return parts;
}

char *symbol_bare(char *name)
{
    if (name) {
        struct parts parts = parts_of(name);
        memmove(name, name + parts.name, parts.end - parts.name);
        name[parts.end - parts.name] = 0;
    }
    return name;
}

char *symbol_brief(char *name, size_t most)
{
    if (!name || strlen(name) <= most) {
        return name;
    }
    struct parts parts = parts_of(name);
    size_t length = parts.end - parts.name;
    const char *close = "";
    if (length > most) {
        /* Of arguments that leave no place for a letter of theirs nothing is shown. */
        bool inside = parts.arguments < parts.end && parts.arguments - parts.name + 5 <= most;
        close = inside ? "...>" : "...";
        length = most - strlen(close);
    }
    memmove(name, name + parts.name, length);
    memcpy(name + length, close, strlen(close) + 1);
    return name;
}
