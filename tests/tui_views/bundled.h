/* A session of the bundled model, for tests of views. Included once, after cmocka.h. */
#ifndef VITRINE_TESTS_TUI_VIEWS_BUNDLED_H
#define VITRINE_TESTS_TUI_VIEWS_BUNDLED_H
#include "core/base/clock.h"
#include "tui/views/view.h"

static Session session;

static inline void open_bundled(void)
{
    Err err;
    if (!session_init(&session, NULL, NULL, 1, NULL, NULL, &err))
        fail_msg("%s", err.text);
}

/* Goes to a node that must be there. */
static inline void focus_on(const char *path)
{
    assert_int_not_equal(session_node(&session, SIDE_B, path), NO_NODE);
    assert_true(session_go(&session, path, SCREEN_TENSOR, NULL));
}

static inline void compute(const Needs *needs)
{
    assert_true(session_step(&session, needs->item, needs->count, CLOCK_NEVER));
}
#endif
