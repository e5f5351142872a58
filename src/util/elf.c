/* An ELF file's sections, where the file may be damaged. */
#include "util/elf.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

static const void *part(const struct elf *elf, uint64_t offset, uint64_t bytes)
{
    return offset <= elf->bytes && bytes <= elf->bytes - offset ? elf->data + offset : NULL;
}

static bool find_sections(struct elf *elf)
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

bool elf_open(struct elf *out, int fd)
{
    struct stat status;
    if (fstat(fd, &status) != 0 || status.st_size <= 0) {
        return false;
    }
    void *map = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (map == MAP_FAILED) {
        return false;
    }
    *out = (struct elf){.data = map, .bytes = (size_t)status.st_size};
    if (find_sections(out)) {
        return true;
    }
    elf_close(out);
    return false;
}

void elf_close(struct elf *elf)
{
    munmap((void *)(uintptr_t)elf->data, elf->bytes);
}

const void *elf_entries(const struct elf *elf, const Elf64_Shdr *section, size_t entry_bytes,
                        size_t *count)
{
    const void *entries =
        section->sh_offset % 8 == 0 ? part(elf, section->sh_offset, section->sh_size) : NULL;
    *count = entries ? section->sh_size / entry_bytes : 0;
    return entries;
}

const char *elf_text(const struct elf *elf, uint32_t strings, uint64_t offset)
{
    if (strings >= elf->section_count) {
        return "";
    }
    const Elf64_Shdr *section = &elf->sections[strings];
    const char *start = part(elf, section->sh_offset, section->sh_size);
    bool ends = start && offset < section->sh_size &&
                memchr(start + offset, '\0', section->sh_size - offset);
    return ends ? start + offset : "";
}
