/* What the suites of lessons share. */
#ifndef VITRINE_TESTS_LESSONS_LESSONS_TEST_H
#define VITRINE_TESTS_LESSONS_LESSONS_TEST_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/graph/explain.h"
#include "lessons/check.h"
#include "lessons/layout.h"

static Session s;

static int start(void **state)
{
    (void)state;
    Err err = {{0}};
    if (!session_init(&s, NULL, NULL, 1, NULL, NULL, &err))
        fail_msg("%s", err.text);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    session_free(&s);
    return 0;
}

/* One card with these statements and examples, opened and entered. */
static void open_text(Player *p, const char *text)
{
    Lesson l;
    Err err = {{0}};
    if (!lesson_parse(&l, "t.md", text, strlen(text), 0, &err) || !player_open(p, &s, &l, &err) ||
        !player_enter(p, 0, &err))
        fail_msg("%s", err.text);
}

static inline void unused(void)
{
    (void)start;
    (void)stop;
    (void)open_text;
}
#endif
