/* util/elf.h: what a whole file tells, and that a damaged one is never read past its end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <unistd.h>

#include "util/elf.h"

enum { NOTHING, NAMES, SYMBOLS, SECTIONS };

/* A file of three sections: none, names, symbols. */
struct image {
    Elf64_Ehdr header;
    Elf64_Shdr sections[SECTIONS];
    Elf64_Sym symbols[2];
    char names[16];
};

static struct image whole(void)
{
    struct image image = {
        .header = {.e_shoff = offsetof(struct image, sections),
                   .e_shentsize = sizeof(Elf64_Shdr),
                   .e_shnum = SECTIONS,
                   .e_shstrndx = NAMES},
        .sections[NAMES] = {.sh_type = SHT_STRTAB,
                            .sh_offset = offsetof(struct image, names),
                            .sh_size = sizeof image.names},
        .sections[SYMBOLS] = {.sh_type = SHT_SYMTAB,
                              .sh_link = NAMES,
                              .sh_offset = offsetof(struct image, symbols),
                              .sh_size = sizeof image.symbols},
        .symbols[1] = {.st_name = 6},
        .names = "first\0second",
    };
    memcpy(image.header.e_ident, ELFMAG, SELFMAG);
    image.header.e_ident[EI_CLASS] = ELFCLASS64;
    return image;
}

static bool open_bytes(struct elf *out, const struct image *image, size_t bytes)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_int_equal(fwrite(image, 1, bytes, file), bytes);
    assert_int_equal(fflush(file), 0);
    bool is_open = elf_open(out, fileno(file));
    fclose(file); /* the mapping stays */
    return is_open;
}

static void sections_entries_and_names_are_read(void **state)
{
    (void)state;
    struct image image = whole();
    struct elf elf;
    assert_true(open_bytes(&elf, &image, sizeof image));
    assert_int_equal(elf.section_count, SECTIONS);
    size_t count;
    const Elf64_Sym *symbols = elf_entries(&elf, &elf.sections[SYMBOLS], sizeof *symbols, &count);
    assert_int_equal(count, 2);
    assert_string_equal(elf_text(&elf, NAMES, symbols[0].st_name), "first");
    assert_string_equal(elf_text(&elf, NAMES, symbols[1].st_name), "second");
    elf_close(&elf);
}

static void what_has_no_sections_is_not_opened(void **state)
{
    (void)state;
    struct elf elf;
    struct image image = whole();
    assert_false(open_bytes(&elf, &image, 0));
    assert_false(open_bytes(&elf, &image, sizeof image.header - 1));
    assert_false(open_bytes(&elf, &image, offsetof(struct image, symbols) - 1));
    image.header.e_ident[EI_MAG1] = 'e';
    assert_false(open_bytes(&elf, &image, sizeof image));
    image = whole();
    image.header.e_ident[EI_CLASS] = ELFCLASS32;
    assert_false(open_bytes(&elf, &image, sizeof image));
    image = whole();
    image.header.e_shentsize++;
    assert_false(open_bytes(&elf, &image, sizeof image));
    image = whole();
    image.header.e_shoff += 4; /* not where a section's header can be read */
    assert_false(open_bytes(&elf, &image, sizeof image));
    image = whole();
    image.header.e_shoff = UINT64_MAX - 7;
    assert_false(open_bytes(&elf, &image, sizeof image));
    image = whole();
    image.header.e_shstrndx = SECTIONS;
    assert_false(open_bytes(&elf, &image, sizeof image));
}

static void entries_beyond_the_file_are_none(void **state)
{
    (void)state;
    struct image image = whole();
    image.sections[SYMBOLS].sh_size = UINT64_MAX;
    image.sections[NOTHING] = whole().sections[SYMBOLS];
    image.sections[NOTHING].sh_offset += 4;
    struct elf elf;
    assert_true(open_bytes(&elf, &image, sizeof image));
    for (int i = 0; i < SECTIONS; i += SYMBOLS) {
        size_t count = 7;
        assert_null(elf_entries(&elf, &elf.sections[i], sizeof(Elf64_Sym), &count));
        assert_int_equal(count, 0);
    }
    elf_close(&elf);
}

static void a_text_that_does_not_end_in_its_section_is_empty(void **state)
{
    (void)state;
    struct image image = whole();
    image.sections[NAMES].sh_size = 12; /* "second" has no end */
    image.sections[NOTHING] = (Elf64_Shdr){.sh_offset = sizeof image, .sh_size = 1};
    struct elf elf;
    assert_true(open_bytes(&elf, &image, sizeof image));
    assert_string_equal(elf_text(&elf, NAMES, 0), "first");
    assert_string_equal(elf_text(&elf, NAMES, 6), "");
    assert_string_equal(elf_text(&elf, NAMES, 12), "");
    assert_string_equal(elf_text(&elf, NAMES, UINT64_MAX), "");
    assert_string_equal(elf_text(&elf, NOTHING, 0), "");
    assert_string_equal(elf_text(&elf, SECTIONS, 0), "");
    elf_close(&elf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sections_entries_and_names_are_read),
        cmocka_unit_test(what_has_no_sections_is_not_opened),
        cmocka_unit_test(entries_beyond_the_file_are_none),
        cmocka_unit_test(a_text_that_does_not_end_in_its_section_is_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
