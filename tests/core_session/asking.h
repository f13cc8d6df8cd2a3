/* Shared by the tests of the answers: a session on the bundled model, commands and what they say. */
#ifndef VITRINE_TESTS_CORE_SESSION_ASKING_H
#define VITRINE_TESTS_CORE_SESSION_ASKING_H
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/io/json.h"
#include "core/session/ask/ask.h"
#include "core/session/command.h"

static Session s;
static Commands commands;

static inline int start(void **state)
{
    (void)state;
    Err err = {""};
    if (!session_init(&s, NULL, NULL, 2, NULL, NULL, &err))
        fail_msg("%s", err.text);
    commands_free(&commands);
    commands = session_command_set();
    return 0;
}

static inline int stop(void **state)
{
    (void)state;
    session_free(&s);
    return 0;
}

static inline const char *run(const char *line)
{
    Err err = {""};
    if (!command_do(&s, &commands, line, LINE_OWN, &err))
        fail_msg("%s: %s", line, err.text);
    return buf_str(&s.said);
}

static inline void refused(const char *line, const char *why)
{
    Err err = {""};
    if (command_do(&s, &commands, line, LINE_OWN, &err))
        fail_msg("'%s' was accepted", line);
    if (!strstr(err.text, why))
        fail_msg("'%s' gave: %s", line, err.text);
}

static inline void has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' is not in: %s", part, text);
}

static inline const float *values(const char *path, NodeId *n)
{
    Err err = {""};
    *n = session_node(&s, SIDE_B, path);
    const float *x = session_need(&s, SIDE_B, path, &err);
    if (!x)
        fail_msg("%s", err.text);
    return x;
}

static inline Json *parse(const Buf *text)
{
    Err err = {""};
    Json *j = json_parse("answer", buf_str(text), text->len, &err);
    if (!j)
        fail_msg("%s in: %s", err.text, buf_str(text));
    return j;
}
#endif
