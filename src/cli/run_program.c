/*
 * By the dynamic section, the symbols and the section names of a 64-bit ELF file. What is no such
 * file (a script, an interpreter's program) is let pass: what it loads is seen when it is loaded.
 */
#include "cli/run_program.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "util/elf.h"

struct findings {
    bool device_code, path;
    bool interpreted;        /* a dynamic loader starts it */
    bool linked_runtime;     /* shim/linked finds its functions */
    const char *runtime;     /* libcudart.so.N */
    const char *unsupported; /* a library of machine code */
};

static void see_library(struct findings *found, const char *name)
{
    static const char *const unsupported[] = {"libcublas", "libcudnn",    "libcufft",
                                              "libcurand", "libcusolver", "libcusparse",
                                              "libnccl",   "libnpp",      "libcutensor"};
    if (strncmp(name, "libcudart.so", 12) == 0) {
        found->runtime = name;
    }
    for (size_t i = 0; i < sizeof unsupported / sizeof *unsupported; i++) {
        if (strncmp(name, unsupported[i], strlen(unsupported[i])) == 0) {
            found->unsupported = name;
        }
    }
}

static void see_dynamic(struct findings *found, const struct elf *elf, const Elf64_Shdr *section)
{
    size_t count;
    const Elf64_Dyn *entries = elf_entries(elf, section, sizeof *entries, &count);
    for (size_t i = 0; i < count; i++) {
        if (entries[i].d_tag == DT_NEEDED) {
            see_library(found, elf_text(elf, section->sh_link, entries[i].d_un.d_val));
        }
        found->path |= entries[i].d_tag == DT_RPATH;
    }
}

static void see_symbols(struct findings *found, const struct elf *elf, const Elf64_Shdr *section)
{
    size_t count;
    const Elf64_Sym *symbols = elf_entries(elf, section, sizeof *symbols, &count);
    for (size_t i = 0; i < count; i++) {
        const char *name = elf_text(elf, section->sh_link, symbols[i].st_name);
        if (symbols[i].st_shndx != SHN_UNDEF && strcmp(name, "cudaGetExportTable") == 0) {
            found->linked_runtime = true;
        }
    }
}

static void see_file(struct findings *found, const struct elf *elf)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)elf->data;
    for (size_t i = 0; i < elf->section_count; i++) {
        const Elf64_Shdr *section = &elf->sections[i];
        const char *name = elf_text(elf, header->e_shstrndx, section->sh_name);
        if (strcmp(name, ".nvFatBinSegment") == 0) {
            found->device_code = true;
        } else if (strcmp(name, ".interp") == 0) {
            found->interpreted = true;
        } else if (section->sh_type == SHT_DYNAMIC) {
            see_dynamic(found, elf, section);
        } else if (section->sh_type == SHT_SYMTAB) {
            see_symbols(found, elf, section);
        }
    }
}

static int judge(const struct findings *found, const char *program)
{
    if (found->device_code && !found->interpreted) {
        cli_complain(
            ": %s is linked without a dynamic loader (-static), so that no library can take "
            "the place of CUDA's: link the C library dynamically",
            program);
        return EXIT_INPUT;
    }
    if (found->device_code && !found->runtime && !found->linked_runtime) {
        cli_complain(
            ": %s has CUDA's runtime linked into it and no symbols that tell where: do not "
            "strip it, or link it with nvcc -cudart shared",
            program);
        return EXIT_INPUT;
    }
    if (found->unsupported) {
        cli_complain(": %s needs %s, whose kernels are machine code for real GPUs; only PTX can be "
                     "simulated: use kernels of your own in its place",
                     program, found->unsupported);
        return EXIT_INPUT;
    }
    return EXIT_DONE;
}

/* As execvp() would find it. */
static int open_program(const char *program)
{
    if (strchr(program, '/')) {
        return open(program, O_RDONLY);
    }
    const char *path = getenv("PATH");
    for (const char *at = path ? path : ""; *at;) {
        size_t length = strcspn(at, ":");
        char file[PATH_MAX];
        snprintf(file, sizeof file, "%.*s/%s", (int)length, at, program);
        int fd = access(file, X_OK) == 0 ? open(file, O_RDONLY) : -1;
        if (fd >= 0) {
            return fd;
        }
        at += length + (at[length] == ':');
    }
    return -1;
}

int run_program_check(const char *program, char runtime[NAME_MAX + 1])
{
    struct findings found = {0};
    struct elf elf;
    *runtime = '\0';
    int fd = open_program(program);
    bool is_open = fd >= 0 && elf_open(&elf, fd);
    if (fd >= 0) {
        close(fd);
    }
    if (!is_open) {
        return EXIT_DONE; /* told when it is started */
    }
    see_file(&found, &elf);
    int code = judge(&found, program);
    if (code == EXIT_DONE && found.path && found.runtime) {
        snprintf(runtime, NAME_MAX + 1, "%s", found.runtime);
    }
    elf_close(&elf);
    return code;
}
