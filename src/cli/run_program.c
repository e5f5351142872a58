/*
 * Reads the dynamic section and the section names of a 64-bit ELF file. What is no such file (a
 * script, an interpreter's program) is let pass: what it loads is seen when it is loaded. Nothing
 * is read outside the file.
 */
#include "cli/run_program.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"

struct elf {
    const uint8_t *data;
    size_t bytes;
    const Elf64_Shdr *sections;
    size_t section_count;
};

struct findings {
    bool device_code, path;
    bool linked_runtime;     /* shim/linked finds its functions */
    const char *runtime;     /* libcudart.so.N */
    const char *unsupported; /* a library of machine code */
};

static const void *part(const struct elf *elf, uint64_t offset, uint64_t bytes)
{
    return offset <= elf->bytes && bytes <= elf->bytes - offset ? elf->data + offset : NULL;
}

/* A text that ends inside of its section. */
static const char *text_at(const struct elf *elf, const Elf64_Shdr *strings, uint64_t offset)
{
    const char *start = part(elf, strings->sh_offset, strings->sh_size);
    if (!start || offset >= strings->sh_size ||
        !memchr(start + offset, '\0', strings->sh_size - offset)) {
        return "";
    }
    return start + offset;
}

static bool open_sections(struct elf *elf)
{
    const Elf64_Ehdr *header = part(elf, 0, sizeof *header);
    if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_shentsize != sizeof(Elf64_Shdr) ||
        header->e_shoff % 8 != 0) {
        return false;
    }
    elf->section_count = header->e_shnum;
    elf->sections = part(elf, header->e_shoff, header->e_shnum * sizeof(Elf64_Shdr));
    return elf->sections && header->e_shstrndx < header->e_shnum;
}

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
    const Elf64_Dyn *entries = part(elf, section->sh_offset, section->sh_size);
    if (!entries || section->sh_offset % 8 != 0 || section->sh_link >= elf->section_count) {
        return;
    }
    for (size_t i = 0; i < section->sh_size / sizeof *entries; i++) {
        if (entries[i].d_tag == DT_NEEDED) {
            see_library(found,
                        text_at(elf, &elf->sections[section->sh_link], entries[i].d_un.d_val));
        }
        found->path |= entries[i].d_tag == DT_RPATH;
    }
}

static void see_symbols(struct findings *found, const struct elf *elf, const Elf64_Shdr *section)
{
    const Elf64_Sym *symbols = part(elf, section->sh_offset, section->sh_size);
    if (!symbols || section->sh_offset % 8 != 0 || section->sh_link >= elf->section_count) {
        return;
    }
    for (size_t i = 0; i < section->sh_size / sizeof *symbols; i++) {
        const char *name = text_at(elf, &elf->sections[section->sh_link], symbols[i].st_name);
        if (symbols[i].st_shndx != SHN_UNDEF && strcmp(name, "cudaGetExportTable") == 0) {
            found->linked_runtime = true;
        }
    }
}

static void see_file(struct findings *found, const struct elf *elf)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)elf->data;
    const Elf64_Shdr *names = &elf->sections[header->e_shstrndx];
    for (size_t i = 0; i < elf->section_count; i++) {
        const Elf64_Shdr *section = &elf->sections[i];
        if (strcmp(text_at(elf, names, section->sh_name), ".nvFatBinSegment") == 0) {
            found->device_code = true;
        } else if (section->sh_type == SHT_DYNAMIC) {
            see_dynamic(found, elf, section);
        } else if (section->sh_type == SHT_SYMTAB) {
            see_symbols(found, elf, section);
        }
    }
}

static int judge(const struct findings *found, const char *program)
{
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
    struct stat status;
    struct elf elf = {0};
    *runtime = '\0';
    int fd = open_program(program);
    if (fd < 0 || fstat(fd, &status) != 0 || status.st_size <= 0) {
        if (fd >= 0) {
            close(fd);
        }
        return EXIT_DONE; /* told when it is started */
    }
    elf.bytes = (size_t)status.st_size;
    void *map = mmap(NULL, elf.bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (map == MAP_FAILED) {
        return EXIT_DONE;
    }
    elf.data = map;
    int code = EXIT_DONE;
    if (open_sections(&elf)) {
        see_file(&found, &elf);
        code = judge(&found, program);
    }
    if (code == EXIT_DONE && found.path && found.runtime) {
        snprintf(runtime, NAME_MAX + 1, "%s", found.runtime);
    }
    munmap(map, elf.bytes);
    return code;
}
