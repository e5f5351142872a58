/*
 * A study's file into rows. Everything about a row is checked here but its measure, whose words
 * belong to the way it is measured.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "study/read.h"
#include "study/study.h"
#include "util/container/arena.h"
#include "util/container/strbuf.h"
#include "util/glue/embed.h"
#include "util/error.h"
#include "util/text/suggest.h"
#include "util/glue/yaml_glue.h"

extern const struct embedded_file study_embedded[];

const char *study_name(size_t i)
{
    return study_embedded[i].name;
}

/* A text that must be there. */
static int find_role(size_t *index, const struct study *study, const struct yaml_node *node)
{
    const char *name = NULL;
    int rc = study_need_text(&name, node, "device");
    for (*index = 0; rc == 0 && *index < study->device_count; ++*index) {
        if (strcmp(study->devices[*index].name, name) == 0) {
            return 0;
        }
    }
    return rc < 0 ? rc : yaml_error(SONDE_EINPUT, node, "there is no device '%s'", name);
}

static int read_reading(struct study_reading *reading, const struct study *study,
                        const struct study_row *row, const struct yaml_node *node)
{
    const struct yaml_node *own = yaml_get(node, "published");
    reading->published = row->published;
    reading->device = row->device;
    int rc = yaml_get(node, "device") ? find_role(&reading->device, study, node) : 0;
    if (rc < 0) {
        return rc;
    }
    reading->measure = yaml_get(node, "measure");
    if (!reading->measure || reading->measure->kind != YAML_MAPPING || !reading->measure->first) {
        return yaml_error(SONDE_EINPUT, node, "'measure' is missing");
    }
    return own ? value_read(&reading->published, own) : 0;
}

static int read_readings(struct study_row *row, const struct study *study,
                         const struct yaml_node *node)
{
    const struct yaml_node *list = yaml_get(node, "readings");
    if (!list) {
        row->reading_count = 1;
        row->readings[0].literal = true;
        return read_reading(&row->readings[0], study, row, node);
    }
    if (list->kind != YAML_SEQUENCE || list->child_count > STUDY_MAX_READINGS ||
        list->child_count < 2) {
        return yaml_error(SONDE_EINPUT, list, "2 to %d readings", STUDY_MAX_READINGS);
    }
    size_t literal = 0;
    for (const struct yaml_node *item = list->first; item; item = item->next) {
        struct study_reading *reading = &row->readings[row->reading_count++];
        int rc = study_need_text(&reading->text, item, "reading");
        rc = rc < 0 ? rc : read_reading(reading, study, row, item);
        rc = rc < 0 || !yaml_get(item, "literal")
                 ? rc
                 : yaml_bool(&reading->literal, yaml_get(item, "literal"));
        if (rc < 0) {
            return rc;
        }
        if (reading->literal && yaml_get(item, "published")) {
            return yaml_error(SONDE_EINPUT, item, "a literal reading has the row's printed value");
        }
        literal += reading->literal;
    }
    return literal > 0 ? 0
                       : yaml_error(SONDE_EINPUT, list,
                                    "no reading is literal: what the paper says as it stands");
}

/* Nothing is assumed: a row that does not say it would be counted as what it is not. */
static int read_basis(enum study_basis *basis, const struct yaml_node *row)
{
    const struct yaml_node *node = yaml_get(row, "basis");
    const char *word = NULL;
    int rc = node ? yaml_text(&word, node) : 0;
    if (rc < 0) {
        return rc;
    }
    if (!word || (strcmp(word, "input") != 0 && strcmp(word, "prediction") != 0)) {
        return yaml_error(SONDE_EINPUT, node ? node : row,
                          "'basis' %s: write 'basis: input' if the model was set to this number, "
                          "'basis: prediction' if not",
                          word ? "has another word" : "is missing");
    }
    *basis = strcmp(word, "input") == 0 ? STUDY_INPUT : STUDY_PREDICTION;
    return 0;
}

static int read_row(struct study_row *row, const struct study *study, const struct yaml_node *node)
{
    const struct yaml_node *value = yaml_get(node, "published");
    const struct yaml_node *tolerance = yaml_get(node, "tolerance");
    const struct yaml_node *unit = yaml_get(node, "unit"), *note = yaml_get(node, "note");
    if (node->kind != YAML_MAPPING || !value || !tolerance) {
        return yaml_error(SONDE_EINPUT, node,
                          "a row has id, what, device, published, tolerance, basis");
    }
    *row = (struct study_row){.unit = "", .selected = true};
    int rc = study_need_text(&row->id, node, "id");
    rc = rc < 0 ? rc : study_need_text(&row->what, node, "what");
    rc = rc < 0 || !unit ? rc : yaml_text(&row->unit, unit);
    rc = rc < 0 || !note ? rc : yaml_text(&row->note, note);
    rc = rc < 0 ? rc : find_role(&row->device, study, node);
    rc = rc < 0 ? rc : value_read(&row->published, value);
    rc = rc < 0 ? rc : tolerance_read(&row->tolerance, tolerance);
    rc = rc < 0 ? rc : read_basis(&row->basis, node);
    row->any_order = yaml_get(node, "order") != NULL;
    return rc < 0 ? rc : read_readings(row, study, node);
}

static int read_devices(struct study *study, const struct yaml_node *node)
{
    if (!node || node->child_count == 0 || node->child_count > STUDY_MAX_DEVICES) {
        return yaml_error(SONDE_EINPUT, node, "%s: 1 to %d devices", study->name,
                          STUDY_MAX_DEVICES);
    }
    int rc = 0;
    for (const struct yaml_node *item = node->first; rc == 0 && item; item = item->next) {
        rc = study_read_role(study, &study->devices[study->device_count++], item);
    }
    return rc;
}

static int check_ids(const struct study *study, const struct yaml_node *rows)
{
    const struct yaml_node *node = rows->first;
    for (size_t i = 0; i < study->row_count && node; i++, node = node->next) {
        for (size_t k = 0; k < i; k++) {
            if (strcmp(study->rows[k].id, study->rows[i].id) == 0) {
                return yaml_error(SONDE_EINPUT, node, "'%s' comes twice", study->rows[i].id);
            }
        }
    }
    return 0;
}

static int read_study(struct study *study, const struct yaml_node *root)
{
    const struct yaml_node *rows = yaml_get(root, "rows");
    int rc = study_need_text(&study->name, root, "name");
    rc = rc < 0 ? rc : study_need_text(&study->title, root, "title");
    if (rc == 0 && yaml_get(root, "experiments")) {
        rc = study_need_text(&study->experiments, root, "experiments");
    }
    rc = rc < 0 ? rc : read_devices(study, yaml_get(root, "devices"));
    rc = rc < 0 ? rc : study_read_programs(study, yaml_get(root, "programs"));
    rc = rc < 0 ? rc : study_read_untested(study, yaml_get(root, "not_testable"));
    if (rc < 0) {
        return rc;
    }
    if (!rows || rows->kind != YAML_SEQUENCE || rows->child_count == 0) {
        return yaml_error(SONDE_EINPUT, root, "'rows' is missing");
    }
    study->rows = arena_array(study->arena, rows->child_count, sizeof(*study->rows));
    if (!study->rows) {
        return error_memory();
    }
    for (const struct yaml_node *node = rows->first; node; node = node->next) {
        rc = read_row(&study->rows[study->row_count++], study, node);
        if (rc < 0) {
            return rc;
        }
    }
    return check_ids(study, rows);
}

int study_parse(struct study **out, const char *file, const char *text, size_t length)
{
    struct arena *arena = arena_create();
    struct study *study = arena ? arena_alloc(arena, sizeof(*study)) : NULL;
    if (!study) {
        arena_destroy(arena);
        return error_memory();
    }
    struct yaml_node *root;
    study->arena = arena;
    int rc = yaml_parse(&root, arena, text, length, file);
    rc = rc < 0 ? rc : read_study(study, root);
    if (rc < 0) {
        arena_destroy(arena);
        return rc;
    }
    *out = study;
    return 0;
}

static int unknown_study(const char *name)
{
    struct strbuf list = {0};
    for (size_t i = 0; study_name(i); i++) {
        strbuf_printf(&list, "%s%s", i ? ", " : "", study_name(i));
    }
    error_set(SONDE_EUSAGE, "there is no study '%s'; there are: %s", name, strbuf_text(&list));
    strbuf_free(&list);
    return SONDE_EUSAGE;
}

int study_load(struct study **out, const char *name)
{
    const struct embedded_file *file = embed_find(study_embedded, name);
    if (file) {
        return study_parse(out, name, (const char *)file->data, file->size_bytes);
    }
    struct suggest suggest = suggest_begin(name);
    for (size_t i = 0; study_name(i); i++) {
        suggest_offer(&suggest, study_name(i));
    }
    const char *best = suggest_best(&suggest);
    return best ? error_set(SONDE_EUSAGE, "there is no study '%s'; did you mean '%s'?", name, best)
                : unknown_study(name);
}

void study_destroy(struct study *study)
{
    if (study) {
        arena_destroy(study->arena);
    }
}

/* `word` is `id`, or its beginning up to a dot. */
static bool begins(const char *id, const char *word, size_t length)
{
    return strncmp(id, word, length) == 0 && (id[length] == '\0' || id[length] == '.');
}

/* Each word of `only` must name something. */
static bool select_word(struct study *study, const char *word, size_t length)
{
    bool found = false;
    for (size_t i = 0; i < study->row_count; i++) {
        if (length > 0 && begins(study->rows[i].id, word, length)) {
            study->rows[i].selected = found = true;
        }
    }
    return found;
}

int study_select(struct study *study, const char *only)
{
    study->only = only;
    for (size_t i = 0; only && i < study->row_count; i++) {
        study->rows[i].selected = false;
    }
    for (const char *word = only; word;) {
        size_t length = strcspn(word, ",");
        if (!select_word(study, word, length)) {
            return error_set(SONDE_EUSAGE, "%s has no row '%.*s'; sonde study --list %s tells",
                             study->name, (int)length, word, study->name);
        }
        word = word[length] ? word + length + 1 : NULL;
    }
    return 0;
}

bool study_wants(const struct study *study, const char *id)
{
    for (size_t i = 0; i < study->row_count; i++) {
        if (study->rows[i].selected && begins(study->rows[i].id, id, strlen(id))) {
            return true;
        }
    }
    return false;
}

int study_device(struct study *study, const char *setting)
{
    const char *equals = strchr(setting, '=');
    size_t length = equals ? (size_t)(equals - setting) : 0;
    for (size_t i = 0; equals && i < study->device_count; i++) {
        struct study_role *role = &study->devices[i];
        if (strlen(role->name) == length && strncmp(role->name, setting, length) == 0) {
            if (strlen(equals + 1) >= sizeof(role->spec)) {
                return error_set(SONDE_EUSAGE, "the device's name is too long");
            }
            snprintf(role->spec, sizeof(role->spec), "%s", equals + 1);
            role->model = NULL;
            role->given = true;
            return 0;
        }
    }
    return error_set(SONDE_EUSAGE, "'%s': expected ROLE=DEVICE, where %s's first role is '%s'",
                     setting, study->name, study->devices[0].name);
}
