/* util/yaml_glue.h: the tree and its places; what is refused, and where the message points. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "util/container/arena.h"
#include "util/error.h"
#include "util/container/strbuf.h"
#include "util/glue/yaml_glue.h"

static int make_arena(void **state)
{
    *state = arena_create();
    return *state ? 0 : -1;
}

static int drop_arena(void **state)
{
    arena_destroy(*state);
    return 0;
}

static int parse(struct yaml_node **root, void **state, const char *text)
{
    return yaml_parse(root, *state, text, strlen(text), "m.yaml");
}

static struct yaml_node *parse_sound(void **state, const char *text)
{
    struct yaml_node *root = NULL;
    if (parse(&root, state, text) < 0) {
        fail_msg("%s", error_text());
    }
    return root;
}

static void nodes_know_their_places(void **state)
{
    struct yaml_node *root = parse_sound(state, "name: gtx780\n"
                                                "l1:\n"
                                                "  size: 16 KiB   # data sheet\n"
                                                "  ways: [4, 5]\n"
                                                "  note: \"4\"\n");
    assert_int_equal(root->kind, YAML_MAPPING);
    assert_int_equal(root->child_count, 2);
    struct yaml_node *l1 = yaml_get(root, "l1");
    struct yaml_node *size = yaml_get(l1, "size");
    assert_int_equal(l1->key_line, 2);
    assert_string_equal(size->text, "16 KiB");
    assert_string_equal(size->key, "size");
    assert_int_equal(size->key_line, 3);
    assert_int_equal(size->key_column, 3);
    assert_int_equal(size->line, 3);
    assert_int_equal(size->column, 9);
    assert_false(size->quoted);
    struct yaml_node *ways = yaml_get(l1, "ways");
    assert_int_equal(ways->kind, YAML_SEQUENCE);
    assert_int_equal(ways->child_count, 2);
    assert_string_equal(yaml_at(ways, 1)->text, "5");
    assert_null(yaml_at(ways, 1)->key);
    assert_null(yaml_at(ways, 2));
    assert_true(yaml_get(l1, "note")->quoted);
    assert_null(yaml_get(l1, "sets"));
    assert_null(yaml_get(size, "sets"));
    assert_null(yaml_get(NULL, "sets"));
    assert_ptr_equal(root->first->next, l1);
}

static void scalars_become_values(void **state)
{
    struct yaml_node *root = parse_sound(state, "{size: 1.5 MiB, share: 25%, on: true, off: false, "
                                                "name: x, quoted: 'true', list: [1]}");
    uint64_t size;
    double share;
    bool flag;
    const char *text;
    assert_int_equal(yaml_u64(&size, yaml_get(root, "size"), UNIT_BYTES), 0);
    assert_int_equal(size, 1572864);
    assert_int_equal(yaml_double(&share, yaml_get(root, "share"), UNIT_FRACTION), 0);
    assert_true(share == 0.25);
    assert_int_equal(yaml_bool(&flag, yaml_get(root, "on")), 0);
    assert_true(flag);
    assert_int_equal(yaml_bool(&flag, yaml_get(root, "off")), 0);
    assert_false(flag);
    assert_int_equal(yaml_text(&text, yaml_get(root, "name")), 0);
    assert_string_equal(text, "x");

    assert_int_equal(yaml_u64(&size, yaml_get(root, "size"), UNIT_CYCLES), SONDE_EINPUT);
    assert_string_equal(error_text(), "m.yaml:1:8: '1.5 MiB' is bytes; expected cycles");
    assert_int_equal(yaml_bool(&flag, yaml_get(root, "quoted")), SONDE_EINPUT);
    assert_int_equal(yaml_bool(&flag, yaml_get(root, "name")), SONDE_EINPUT);
    assert_int_equal(yaml_text(&text, yaml_get(root, "list")), SONDE_EINPUT);
    assert_non_null(strstr(error_text(), "expected text, found a sequence"));
    assert_int_equal(yaml_u64(&size, NULL, UNIT_BYTES), SONDE_EINPUT);
    assert_int_equal(yaml_double(&share, root, UNIT_BYTES), SONDE_EINPUT);
}

static void an_empty_document_is_an_empty_mapping(void **state)
{
    struct yaml_node *root = parse_sound(state, "# nothing here\n");
    assert_int_equal(root->kind, YAML_MAPPING);
    assert_int_equal(root->child_count, 0);
    root = parse_sound(state, "");
    assert_null(root->first);
}

static void what_is_refused_is_pointed_at(void **state)
{
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"a: 1\nb: 2\na: 3\n", "m.yaml:3:1: the key 'a' is here twice"},
        {"a: &x 1\n", "m.yaml:1:4: anchors are not allowed"},
        {"a: *x\n", "m.yaml:1:4: aliases are not allowed"},
        {"a: &x [1]\n", "m.yaml:1:4: anchors are not allowed"},
        {"a: !!int 3\n", "m.yaml:1:4: tags are not allowed"},
        {"a: !!map {}\n", "m.yaml:1:4: tags are not allowed"},
        {"? [1, 2]\n: 3\n", "m.yaml:1:3: a key must be plain text"},
        {"{{}: 1}", "m.yaml:1:2: a key must be plain text"},
        {"a: 1\n---\nb: 2\n", "m.yaml:2:1: a second document begins"},
        {"a: \"x\\0y\"\n", "m.yaml:1:4: a text holds a zero byte"},
        {"a: [1, 2\n", "m.yaml:2:1: "},
        {"a: b: c\n", "m.yaml:1:5: "},
        {"\tx: 1\n", "m.yaml:1:1: "},
        {"a: 1\n b: 2\n", "m.yaml:2:"},
        {"a: \xff\n", "m.yaml: "},
        {"a: 'x\n", "m.yaml:2:1: "},
        {"}", "m.yaml:1:1: "},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct yaml_node *root = NULL;
        error_clear();
        if (parse(&root, state, rows[i].text) != SONDE_EINPUT ||
            strncmp(error_text(), rows[i].message, strlen(rows[i].message)) != 0) {
            fail_msg("'%s': '%s', expected '%s'", rows[i].text, error_text(), rows[i].message);
        }
        assert_null(root);
    }
}

static void hostile_sizes_are_refused(void **state)
{
    struct yaml_node *root = NULL;
    struct strbuf text = {0};
    for (int i = 0; i < YAML_DEPTH_MAX; i++) {
        strbuf_append(&text, "[");
    }
    for (int i = 0; i < YAML_DEPTH_MAX; i++) {
        strbuf_append(&text, "]");
    }
    assert_int_equal(parse(&root, state, strbuf_text(&text)), 0);
    strbuf_clear(&text);
    for (int i = 0; i < 10000; i++) {
        strbuf_append(&text, "[");
    }
    assert_int_equal(parse(&root, state, strbuf_text(&text)), SONDE_EINPUT);
    assert_non_null(strstr(error_text(), "nested too deeply"));
    strbuf_clear(&text);
    strbuf_append(&text, "[");
    for (int i = 0; i < YAML_NODES_MAX + 10; i++) {
        strbuf_append(&text, "1,");
    }
    strbuf_append(&text, "1]");
    assert_int_equal(parse(&root, state, strbuf_text(&text)), SONDE_EINPUT);
    assert_non_null(strstr(error_text(), "more values"));
    strbuf_clear(&text);
    strbuf_printf(&text, "a: %*s\n", (int)YAML_BYTES_MAX, "x");
    assert_int_equal(parse(&root, state, strbuf_text(&text)), SONDE_EINPUT);
    assert_non_null(strstr(error_text(), "longer than the limit"));
    strbuf_free(&text);
}

static void many_keys_stay_fast(void **state)
{
    struct strbuf text = {0};
    for (int i = 0; i < 40000; i++) {
        strbuf_printf(&text, "key_%d: %d\n", i, i);
    }
    struct yaml_node *root = parse_sound(state, strbuf_text(&text));
    assert_int_equal(root->child_count, 40000);
    strbuf_free(&text);
}

static void an_absent_file_is_an_error(void **state)
{
    struct yaml_node *root = NULL;
    assert_int_equal(yaml_parse_file(&root, *state, "/nowhere/m.yaml"), SONDE_EIO);
    assert_int_equal(yaml_parse_file(&root, *state, "/tmp"), SONDE_EINPUT);
}

#define WITH_ARENA(test) cmocka_unit_test_setup_teardown(test, make_arena, drop_arena)

static void a_document_that_is_opened_is_closed(void **state)
{
    struct yaml_node *root = parse_sound(state, "# head\n---\na: 1\n...\n# tail\n");
    assert_int_equal(root->child_count, 1);
    parse_sound(state, "a: 1\n...\n");
    assert_int_equal(parse(&root, state, "---\na: 1\n"), SONDE_EINPUT);
    assert_string_equal(
        error_text(),
        "m.yaml:3:1: the file is cut off: it begins with --- and does not end with ...");
    assert_int_equal(parse(&root, state, "---\n"), SONDE_EINPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ARENA(nodes_know_their_places),
        WITH_ARENA(scalars_become_values),
        WITH_ARENA(an_empty_document_is_an_empty_mapping),
        WITH_ARENA(a_document_that_is_opened_is_closed),
        WITH_ARENA(what_is_refused_is_pointed_at),
        WITH_ARENA(hostile_sizes_are_refused),
        WITH_ARENA(many_keys_stay_fast),
        WITH_ARENA(an_absent_file_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
