#include "tui/task.h"

#include <stdio.h>
#include <string.h>

#include "core/models/names.h"
#include "core/session/state.h"

#define TASK(name, ...) name,
static const char *const NAMES[] = {
#include "tui/tasks.def"
};
#undef TASK
#define TASK(name, ...) {__VA_ARGS__},
static const TaskSpec TASKS[] = {
#include "tui/tasks.def"
};
#undef TASK
enum { TASK_COUNT = sizeof TASKS / sizeof *TASKS, BLOCK = 1, HEAD = 2 };

/* The one that a task speaks of, or the last there is. */
static int of_range(int wanted, int count)
{
    return count > wanted ? wanted : count > 0 ? count - 1 : 0;
}

/* The label of what the cursor is on, along the axis of that role. */
static void put_label(const Session *s, AxisRole role, Buf *out)
{
    char label[64];
    const Graph *g = session_base(s);
    int axis = graph_role(g, role, SEQUENCE_ANY);
    if (axis != AXIS_NONE)
        buf_puts(out, axis_label(&g->axes[axis], s->place.at[axis], label, sizeof label));
}

static void put_site(const Session *s, Site site, Buf *out)
{
    const char *path = session_attention_site(s, session_base(s), of_range(BLOCK, session_blocks(s)), site);
    buf_puts(out, path ? path : "");
}

static void put_edits(const Session *s, Buf *out)
{
    if (s->edits.count)
        buf_printf(out, ", your %d %s in force", s->edits.count, s->edits.count == 1 ? "change" : "changes");
}

/* The text, its {names} filled in. */
static void fill(const Session *s, const char *text, Buf *out)
{
    while (*text) {
        size_t plain = strcspn(text, "{");
        buf_add(out, text, plain);
        text += plain;
        size_t n = strcspn(text, "}");
        if (!*text || !text[n])
            break;
        if (strncmp(text, "{block}", ++n) == 0)
            buf_printf(out, "%d", of_range(BLOCK, session_blocks(s)));
        else if (strncmp(text, "{head}", n) == 0)
            buf_printf(out, "%d", of_range(HEAD, session_heads(s)));
        else if (strncmp(text, "{pattern}", n) == 0)
            put_site(s, SITE_PATTERN, out);
        else if (strncmp(text, "{z}", n) == 0)
            put_site(s, SITE_Z, out);
        else if (strncmp(text, "{patch}", n) == 0)
            put_label(s, ROLE_PLACE, out);
        else if (strncmp(text, "{edits}", n) == 0)
            put_edits(s, out);
        text += n;
    }
}

static bool allowed(const Session *s, const TaskSpec *t)
{
    return (t->only == TASK_ANY || (t->only == TASK_WORDS) == session_words(s, SIDE_B)) &&
           (!t->root || node_factor(session_base(s)) == FACTOR_ROOT);
}

static const char *for_input(const Session *s, const char *any, const char *words)
{
    return words && session_words(s, SIDE_B) ? words : any;
}

/* What becomes of what the reader has. */
static void put_kept(const Session *s, const Task *on, const TaskSpec *t, Buf *out)
{
    int edits = task_on(on) ? on->own.edits : s->edits.count;
    if (!t->clean)
        return;
    if (edits)
        buf_printf(out, " Your %d %s set apart and come%s back when you press q.", edits,
                   edits == 1 ? "change is" : "changes are", edits == 1 ? "s" : "");
    else
        buf_puts(out, " q: back to where you are now.");
}

const char *task_at(const Session *s, const Task *on, int i, Buf *text, Buf *changes)
{
    for (int k = 0; k < TASK_COUNT; k++) {
        const TaskSpec *t = &TASKS[k];
        if (!allowed(s, t) || i-- > 0)
            continue;
        fill(s, for_input(s, t->text, t->words), text);
        fill(s, for_input(s, t->changes, t->words_changes), changes);
        put_kept(s, on, t, changes);
        return NAMES[k];
    }
    return NULL;
}

bool task_on(const Task *t)
{
    return t && t->own.lines;
}

void task_free(Task *t)
{
    aside_free(&t->own);
    *t = (Task){.text = ""};
}

static bool clean(Session *s, const Commands *c, Err *err)
{
    EditHistory none;
    bool ok = command_do(s, c, "gradient off; ledger off; pin off; reset edits; reset view", LINE_FOREIGN, err);
    none = edits_history_take(s); /* what is undone in a task is what the task did */
    edits_history_free(&none);
    return ok;
}

bool task_begin(Task *t, Session *s, const Commands *c, const char *name, Err *err)
{
    int k = 0;
    while (k < TASK_COUNT && strcmp(NAMES[k], name) != 0)
        k++;
    if (k == TASK_COUNT)
        return err_set(err, "there is no task '%.40s'; `help` lists them", name);
    const TaskSpec *spec = &TASKS[k];
    if (!allowed(s, spec))
        return err_set(err, session_words(s, SIDE_B)
                                ? "this is for pictures, and this model reads words; `help` lists what it can do"
                                : "this is for words, and this model looks at pictures; `help` lists what it can do");
    Buf line = {0}, text = {0};
    bool fresh = spec->clean && !task_on(t);
    fill(s, for_input(s, spec->command, spec->words_command), &line);
    fill(s, for_input(s, spec->text, spec->words), &text);
    if (fresh)
        aside_put(&t->own, s);
    log_hold(s, true); /* the task is one entry, whatever its commands are */
    bool ok = (!spec->clean || clean(s, c, err)) &&
              command_do(s, c, buf_str(&line), LINE_REPLAY | COMMAND_PROCESS | COMMAND_UI, err);
    log_hold(s, false);
    if (!ok && fresh)
        task_end(t, s, NULL);
    if (ok && spec->clean)
        snprintf(t->text, sizeof t->text, "%s", buf_str(&text));
    if (ok && spec->asks && (!spec->words_command || session_words(s, SIDE_B))) {
        buf_clear(&text); /* line by line the command line that it opened was said already */
        buf_printf(&text, "%s%s%s", buf_str(&s->said), s->said.len ? " " : "", spec->asks);
        session_say(s, "%s", buf_str(&text));
    }
    buf_free(&line);
    buf_free(&text);
    return ok;
}

bool task_end(Task *t, Session *s, Err *err)
{
    if (!task_on(t))
        return err_set(err, "no task is on; `help` lists them");
    int edits = t->own.edits;
    log_hold(s, true);
    bool ok = aside_return(&t->own, s, err);
    log_hold(s, false);
    task_free(t);
    if (ok && edits)
        session_say(s, "Back where you were, your %d %s in force again.", edits, edits == 1 ? "change" : "changes");
    else if (ok)
        session_say(s, "Back where you were.");
    return ok;
}
