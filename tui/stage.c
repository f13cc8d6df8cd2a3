#include "tui/stage.h"

#include <stdio.h>
#include <string.h>

void stage_close(Stage *t)
{
    script_free(&t->script);
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
    t->due = false;
    bool ok = (t->at > 0 || command_do(s, c, "reset edits", LINE_FOREIGN, err)) &&
              script_run(&t->script, t->at, s, c, LINE_FOREIGN | COMMAND_UI, err) &&
              script_caption(&t->script, t->at, s, &caption, err);
    if (ok)
        session_say(s, "%d/%d %s", t->at + 1, t->script.count, buf_str(&caption));
    buf_free(&caption);
    return ok;
}
