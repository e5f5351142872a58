/* util/log.h and util/progress.h: who listens is told, who does not listen costs nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "util/log.h"
#include "util/progress.h"

static char heard[4096];

static void hear_log(void *context, enum log_level level, const char *text)
{
    snprintf(heard, sizeof(heard), "%s %d %s", (const char *)context, (int)level, text);
}

static void hear_progress(void *context, double fraction, const char *what)
{
    snprintf(heard, sizeof(heard), "%s %.2f %s", (const char *)context, fraction, what);
}

static void messages_up_to_the_level_are_heard(void **state)
{
    (void)state;
    struct log log = {.write = hear_log, .context = "ctx", .level = LOG_INFO};
    heard[0] = '\0';
    log_printf(&log, LOG_DEBUG, "not this");
    assert_string_equal(heard, "");
    log_printf(&log, LOG_INFO, "%d sets", 32);
    assert_string_equal(heard, "ctx 1 32 sets");
    log_printf(&log, LOG_WARNING, "%5000d", 1);
    assert_int_equal(strlen(heard), strlen("ctx 0 ") + 1023);
}

static void nobody_listening_is_fine(void **state)
{
    (void)state;
    struct log log = {0};
    struct progress progress = {0};
    log_printf(NULL, LOG_WARNING, "x");
    log_printf(&log, LOG_WARNING, "x");
    progress_report(NULL, 0.5, "x");
    progress_report(&progress, 0.5, "x");
}

static void progress_is_passed_on(void **state)
{
    (void)state;
    struct progress progress = {.report = hear_progress, .context = "p"};
    progress_report(&progress, 0.25, "chase");
    assert_string_equal(heard, "p 0.25 chase");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_up_to_the_level_are_heard),
        cmocka_unit_test(nobody_listening_is_fine),
        cmocka_unit_test(progress_is_passed_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
