/*
 * Programs and libraries into which CUDA's runtime is linked, as nvcc does unless told otherwise.
 * The runtime's functions then stand in the program itself, where no library takes their place; the
 * program's symbol table tells where. `sonde run` preloads this library into the program and all
 * that the program starts. It writes a jump over the beginning of each such function, to the
 * function of that name in Sonde's libcudart of the same release, which is loaded at the first
 * call.
 *
 * It is initialised before every other library (-z initfirst), since constructors register
 * kernels; so it takes nothing from the C library that needs the environment or allocates.
 *
 * Out of reach: programs without a symbol table (strip), which `sonde run` refuses, and libraries
 * that are loaded by dlopen(), whose constructors run before anybody learns of them.
 */
#define _GNU_SOURCE /* dl_iterate_phdr(), dladdr() */
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/elf.h"

#if defined(__x86_64__)

/* A function of a runtime that was linked in; code reaches it by its address. */
struct slot {
    void *target; /* linked_first_call() until it was called */
    const char *name;
    const char *library;
};

/* An object's symbols, with the number of the section of their names. */
struct table {
    const struct elf *elf;
    const Elf64_Sym *symbols;
    size_t count;
    uint32_t names;
};

enum {
    JUMP_BYTES = 13,     /* movabs $slot, %r11; jmp *(%r11) */
    ALIGNMENT = 16,      /* of functions: the room a shorter one has */
    NOT_SUPPORTED = 801, /* cudaErrorNotSupported */
};

static const char *const names[] = {
#define RUNTIME(name, first, last) #name,
#define RUNTIME_MISSING(name, first, last) #name,
#define DRIVER(name)
#define DRIVER_MISSING(name)
#include "shim/api.def"
};

void linked_first_call(void);
void *linked_resolve(struct slot *slot) __attribute__((visibility("hidden")));

/* Keeps what carries arguments (rdi to r9, xmm0 to xmm7, al), asks for the slot's target and goes
 * there. */
__asm__(".text\n"
        ".hidden linked_first_call\n"
        ".globl linked_first_call\n"
        ".type linked_first_call, @function\n"
        "linked_first_call:\n"
        "    push %rdi; push %rsi; push %rdx; push %rcx; push %r8; push %r9; push %rax; push %r11\n"
        "    sub $136, %rsp\n"
        "    movups %xmm0, 0(%rsp); movups %xmm1, 16(%rsp)\n"
        "    movups %xmm2, 32(%rsp); movups %xmm3, 48(%rsp)\n"
        "    movups %xmm4, 64(%rsp); movups %xmm5, 80(%rsp)\n"
        "    movups %xmm6, 96(%rsp); movups %xmm7, 112(%rsp)\n"
        "    mov %r11, %rdi\n"
        "    call linked_resolve\n"
        "    movups 0(%rsp), %xmm0; movups 16(%rsp), %xmm1\n"
        "    movups 32(%rsp), %xmm2; movups 48(%rsp), %xmm3\n"
        "    movups 64(%rsp), %xmm4; movups 80(%rsp), %xmm5\n"
        "    movups 96(%rsp), %xmm6; movups 112(%rsp), %xmm7\n"
        "    add $136, %rsp\n"
        "    pop %r11; pop %rax; pop %r9; pop %r8; pop %rcx; pop %rdx; pop %rsi; pop %rdi\n"
        "    jmp *(%r11)\n"
        ".size linked_first_call, .-linked_first_call\n");

static int is_missing(void)
{
    return NOT_SUPPORTED;
}

/* The library beside this one. */
static void *load(const char *library)
{
    Dl_info own;
    char path[PATH_MAX] = "";
    if (dladdr((void *)(uintptr_t)is_missing, &own) && own.dli_fname) {
        const char *slash = strrchr(own.dli_fname, '/');
        int folder = slash ? (int)(slash + 1 - own.dli_fname) : 0;
        snprintf(path, sizeof path, "%.*s%s", folder, own.dli_fname, library);
    }
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

void *linked_resolve(struct slot *slot)
{
    void *library = load(slot->library);
    void *target = library ? dlsym(library, slot->name) : NULL;
    if (!target) {
        dprintf(STDERR_FILENO, "sonde: %s: %s\n", slot->name, dlerror());
        target = (void *)(uintptr_t)is_missing;
    }
    __atomic_store_n(&slot->target, target, __ATOMIC_RELEASE);
    return target;
}

/* False where there is none. */
static bool find_table(const struct elf *elf, struct table *table)
{
    for (size_t i = 0; i < elf->section_count; i++) {
        const Elf64_Shdr *section = &elf->sections[i];
        if (section->sh_type == SHT_SYMTAB) {
            table->elf = elf;
            table->symbols = elf_entries(elf, section, sizeof *table->symbols, &table->count);
            table->names = section->sh_link;
            return true;
        }
    }
    return false;
}

static const char *name_of(const struct table *table, const Elf64_Sym *symbol)
{
    bool is_function = ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx != SHN_UNDEF;
    return is_function ? elf_text(table->elf, table->names, symbol->st_name) : "";
}

static bool defines(const struct table *table, const char *name)
{
    for (size_t i = 0; i < table->count; i++) {
        if (strcmp(name_of(table, &table->symbols[i]), name) == 0) {
            return true;
        }
    }
    return false;
}

/* Texture references went with release 12, the second version of the properties' name with 13. */
static const char *library_of(const struct table *table)
{
    return defines(table, "cudaBindTexture2D")            ? "libcudart.so.11.0"
           : defines(table, "cudaGetDeviceProperties_v2") ? "libcudart.so.12"
                                                          : "libcudart.so.13";
}

static const char *known_name(const char *name)
{
    size_t under = strspn(name, "_");
    if (strncmp(name + under, "cuda", 4) != 0) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i], name) == 0) {
            return names[i];
        }
    }
    return NULL;
}

/* Pages of an object's code, writable or not. */
static int protect(const struct dl_phdr_info *object, int access)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        const Elf64_Phdr *header = &object->dlpi_phdr[i];
        uintptr_t begin = (object->dlpi_addr + header->p_vaddr) & ~(page - 1);
        uintptr_t end = object->dlpi_addr + header->p_vaddr + header->p_memsz;
        if (header->p_type == PT_LOAD && (header->p_flags & PF_X) &&
            mprotect((void *)begin, end - begin, PROT_READ | PROT_EXEC | access) != 0) {
            return -1;
        }
    }
    return 0;
}

static bool is_code(const struct dl_phdr_info *object, uint64_t begin, uint64_t bytes)
{
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        const Elf64_Phdr *header = &object->dlpi_phdr[i];
        if (header->p_type == PT_LOAD && (header->p_flags & PF_X) && begin >= header->p_vaddr &&
            begin - header->p_vaddr <= header->p_memsz &&
            bytes <= header->p_memsz - (begin - header->p_vaddr)) {
            return true;
        }
    }
    return false;
}

static void write_jump(uint8_t *code, const struct slot *slot)
{
    static const uint8_t jump[JUMP_BYTES] = {0x49, 0xbb, 0, 0, 0, 0, 0, 0, 0, 0, 0x41, 0xff, 0x23};
    uint64_t address = (uint64_t)(uintptr_t)slot;
    memcpy(code, jump, sizeof jump);
    memcpy(code + 2, &address, sizeof address);
}

static void lead_away(const struct dl_phdr_info *object, const struct table *table)
{
    const char *library = library_of(table);
    size_t used = 0;
    struct slot *slots = mmap(NULL, sizeof *slots * table->count, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (slots == MAP_FAILED || protect(object, PROT_WRITE) != 0) {
        dprintf(STDERR_FILENO, "sonde: the runtime linked into %s cannot be replaced\n",
                *object->dlpi_name ? object->dlpi_name : "the program");
        return;
    }
    for (size_t i = 0; i < table->count; i++) {
        const Elf64_Sym *symbol = &table->symbols[i];
        const char *name = known_name(name_of(table, symbol));
        if (name && symbol->st_value % ALIGNMENT == 0 &&
            is_code(object, symbol->st_value, JUMP_BYTES)) {
            slots[used] = (struct slot){(void *)(uintptr_t)linked_first_call, name, library};
            write_jump((uint8_t *)(object->dlpi_addr + symbol->st_value), &slots[used++]);
        }
    }
    protect(object, 0);
}

static int see_object(struct dl_phdr_info *object, size_t bytes, void *data)
{
    struct elf elf;
    struct table table;
    const char *slash = strrchr(object->dlpi_name, '/');
    const char *name = slash ? slash + 1 : object->dlpi_name;
    (void)bytes;
    (void)data;
    if (strncmp(name, "libcudart.so", 12) == 0) {
        return 0;
    }
    int fd = open(*object->dlpi_name ? object->dlpi_name : "/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return 0;
    }
    if (elf_open(&elf, fd)) {
        if (find_table(&elf, &table) && defines(&table, "cudaGetExportTable")) {
            lead_away(object, &table);
        }
        elf_close(&elf);
    }
    close(fd);
    return 0;
}

__attribute__((constructor)) static void begin(void)
{
    dl_iterate_phdr(see_object, NULL);
}

#endif
