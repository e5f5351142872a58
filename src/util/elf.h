/* Sections of a 64-bit ELF file. Nothing is read outside the file; nothing is allocated but its
 * mapping. */
#ifndef SONDE_UTIL_ELF_H
#define SONDE_UTIL_ELF_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf {
    const uint8_t *data;
    size_t bytes;
    const Elf64_Shdr *sections;
    size_t section_count;
};

/* Maps the file that is open as `fd`, which stays the caller's. False: no such file, or none that
 * has sections. */
bool elf_open(struct elf *out, int fd);
void elf_close(struct elf *elf);

/* The section's entries of so many bytes each; NULL, *count 0: it is damaged. */
const void *elf_entries(const struct elf *elf, const Elf64_Shdr *section, size_t entry_bytes,
                        size_t *count);
/* The text at an offset of section number `strings`; "" where it does not end inside of it. */
const char *elf_text(const struct elf *elf, uint32_t strings, uint64_t offset);

#endif
