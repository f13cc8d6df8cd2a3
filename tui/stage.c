#include "tui/stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void forget(Stage *t)
{
    edit_state_free(&t->edits);
    edits_history_free(&t->history);
    free(t->input);
    t->edits = (EditState){.count = 0};
    t->input = NULL;
    t->kept = false;
}

/* A film goes on changing things by itself, so its state is not kept. */
static void keep(Stage *t, const Session *s)
{
    forget(t);
    if (s->look.playing)
        return;
    t->edits = edit_state_copy(&s->edits);
    t->input = xstrdup(s->now->input.path);
    for (int i = 0; i < s->undo_count; i++) {
        t->history.undo = grow(t->history.undo, &t->history.undo_cap, (size_t)i, sizeof *t->history.undo);
        t->history.undo[t->history.undo_count++] = edit_state_copy(&s->undo[i]);
    }
    t->kept = true;
}

static bool same_edits(const EditState *a, const EditState *b)
{
    bool same = a->count == b->count;
    for (int i = 0; same && i < a->count; i++)
        same = strcmp(a->line[i], b->line[i]) == 0;
    return same;
}

/* What the viewer changed since the last step is undone, so that the next one's caption is true. *undone: there was
 * something. */
static bool take_back(Stage *t, Session *s, bool *undone, Err *err)
{
    bool input = t->kept && strcmp(t->input, s->now->input.path) != 0;
    *undone = input || (t->kept && !same_edits(&t->edits, &s->edits));
    if (!t->kept || (input && !session_open_input(s, t->input, err)) ||
        (!same_edits(&t->edits, &s->edits) && !edits_apply(s, &t->edits, false, err)))
        return !t->kept;
    edits_history_put(s, &t->history); /* a step that undoes is about the step before it */
    return true;
}

void stage_close(Stage *t)
{
    script_free(&t->script);
    forget(t);
    *t = (Stage){.at = -1};
}

static void list(Overlay *o)
{
    overlay_list(o, "Demonstrations, about five minutes each");
    for (int i = 0; demo_at(i); i++) {
        Script s;
        char command[32];
        snprintf(command, sizeof command, "demo %d", i + 1);
        if (script_parse(&s, demo_at(i)->name, demo_at(i)->text, NULL))
            overlay_add(o, s.title, "", command);
        script_free(&s);
    }
}

bool stage_do(Stage *t, Overlay *o, const char *word, Buf *said, Err *err)
{
    bool next = strcmp(word, "next") == 0, notes = strcmp(word, "notes") == 0, end = strcmp(word, "close") == 0;
    if (!*word) {
        list(o);
        return true;
    }
    if (!next && !notes && !end) {
        Script s;
        bool ok = demo_open(word, &s, err);
        if (ok) {
            stage_close(t);
            *t = (Stage){.open = true, .script = s, .at = 0, .due = true};
        } else
            script_free(&s);
        return ok;
    }
    if (!t->open)
        return err_set(err, "no demonstration is open; `demo` lists them");
    if (notes) {
        const char *text = t->script.steps[t->at].notes;
        buf_puts(said, *text ? text : "No notes to this step.");
    } else if (end || t->at + 1 == t->script.count) {
        buf_printf(said, "The demonstration ends; the model is yours. `demo` lists the others.");
        stage_close(t);
    } else {
        t->at++;
        t->due = true;
    }
    return true;
}

bool stage_run(Stage *t, Session *s, const Commands *c, Err *err)
{
    Buf caption = {0};
    bool undone = false;
    t->due = false;
    bool ok = (t->at > 0 ? take_back(t, s, &undone, err) : command_do(s, c, "reset edits", LINE_FOREIGN, err)) &&
              script_run(&t->script, t->at, s, c, LINE_FOREIGN | COMMAND_UI, err) &&
              script_caption(&t->script, t->at, s, &caption, err);
    if (ok) {
        session_say(s, "%d/%d %s%s", t->at + 1, t->script.count, undone ? "Your change is undone. " : "",
                    buf_str(&caption));
        keep(t, s);
    }
    buf_free(&caption);
    return ok;
}
