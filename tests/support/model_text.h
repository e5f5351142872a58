/* What the tests of model share: a text parsed, and what must come of it. */
#ifndef SONDE_TESTS_SUPPORT_MODEL_TEXT_H
#define SONDE_TESTS_SUPPORT_MODEL_TEXT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/model.h"
#include "util/error.h"

/* The model that `text` describes; the test fails where it is refused. */
static inline struct model *accept_text(const char *text)
{
    struct model *model = NULL;
    if (model_parse(&model, "m.yaml", text, strlen(text)) < 0) {
        fail_msg("refused: %s", error_text());
    }
    return model;
}

/* `text` must be refused as bad input with exactly this message. */
static inline void refuse_text(const char *text, const char *message)
{
    struct model *model = NULL;
    assert_int_equal(model_parse(&model, "m.yaml", text, strlen(text)), SONDE_EINPUT);
    assert_null(model);
    assert_string_equal(error_text(), message);
}

#endif
