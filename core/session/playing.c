#include "core/session/playing.h"

#include <string.h>

#include "core/graph/explain.h"
#include "core/session/screens.h"

int playing_terms(const Session *s)
{
    enum { MOST = 1000000 };
    const Graph *g = session_graph(s, SIDE_B);
    NodeId n = session_node(s, SIDE_B, s->place.path);
    if (n == NO_NODE || graph_node(g, n)->op == OP_LEAF)
        return 0;
    Explain e = explain_open(g, n, session_cell(s, SIDE_B, n));
    return e.terms > MOST ? MOST : (int)e.terms;
}

void playing_end(Session *s)
{
    s->look.worked.terms = 0;
    s->look.worked.playing = false;
}

void playing_tick(Session *s)
{
    if (s->place.screen != SCREEN_WORKED || ++s->look.worked.terms >= playing_terms(s))
        playing_end(s);
}

static bool run_play(Session *s, const Args *a, Err *err)
{
    const char *word = a->count ? a->word[0] : "";
    bool step = strcmp(word, "step") == 0, all = strcmp(word, "all") == 0;
    if (*word && !step && !all)
        return err_set(err, "column %d: expected step or all, found '%s'", a->column[0], a->word[0]);
    if (all) {
        playing_end(s);
        return true;
    }
    int terms = playing_terms(s);
    if (terms < 2)
        return err_set(err, "%s",
                       terms ? "this number is made of one term: there is nothing to play"
                             : "this number is given: the arithmetic begins here");
    if (!come_here(s, SCREEN_WORKED, err))
        return false;
    bool begins = s->look.worked.terms <= 0 || s->look.worked.terms >= terms;
    bool playing = !step && (begins || !s->look.worked.playing);
    s->look.worked.terms = begins ? 1 : s->look.worked.terms + step;
    s->look.worked.playing = playing;
    if (s->look.worked.terms >= terms)
        playing_end(s);
    return true;
}

static const Command COMMANDS[] = {
    {"play", "look", "play [step, all]", "the arithmetic of this cell term by term; again: stop", 0, run_play, NULL},
};

CommandTable session_commands_playing(void)
{
    return (CommandTable){COMMANDS, (int)(sizeof COMMANDS / sizeof *COMMANDS), NULL};
}
