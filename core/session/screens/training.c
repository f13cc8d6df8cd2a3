/* How it learned, snapshot by snapshot: positions, or of text the attention of one head; and the curves. */
#include <string.h>

#include "core/session/ask/say.h"
#include "core/session/learned/film.h"
#include "core/session/learned/measures.h"
#include "core/session/options.h"
#include "core/session/play.h"
#include "core/session/screens.h"
#include "core/train/task.h"

static bool training_word(Session *s, const char *word, int column, Err *err)
{
    int value;
    bool relative;
    const char *problem = session_history_problem(s);
    if (strcmp(word, "twin") == 0 || strcmp(word, "own") == 0) {
        if (*word == 't' && !session_history_twin(s))
            return err_set(err, "%s",
                           problem ? problem : "no twin, trained without the scale, is known for this model");
        s->look.training.twin = *word == 't';
        return true;
    }
    const History *h = session_history_shown(s);
    int last = h ? h->snapshot_count - 1 : -1, at = clamp(s->look.training.snapshot, 0, last < 0 ? 0 : last);
    bool first = strcmp(word, "first") == 0, end = strcmp(word, "last") == 0,
         counts = args_number(word, &value, &relative);
    if (!first && !end && !counts)
        return err_set(err,
                       "column %d: expected the number of a snapshot, +1, -1, first, last, twin or own, found '%s'",
                       column, word);
    if (last < 0)
        return err_set(err, "%s", problem ? problem : "no record of training is known for this model");
    if (counts && !relative && (value < 0 || value > last))
        return err_set(err, "column %d: there is no snapshot %d: they go from 0 to %d", column, value, last);
    s->look.training.snapshot = first ? 0 : end ? last : clamp(relative ? at + value : value, 0, last);
    return true;
}

static bool shows_patterns(const Session *s)
{
    const TaskKind *task = session_task(s);
    return task && task->film_of_patterns;
}

/* What the film is of: the table of positions; of a text model the attention in focus, or the last one. */
static const char *film_path(const Session *s, const Graph *g)
{
    if (!shows_patterns(s) || !anatomy_attentions(g))
        return site_path_any(g, site_node_any(g, SITE_POSITIONS) == NO_NODE ? SITE_EMBED : SITE_POSITIONS);
    int part = session_block(s) < 0 ? NO_PART : session_attention(s, g, -1);
    return site_path(g, part == NO_PART ? anatomy_attention(g, anatomy_attentions(g) - 1) : part, SITE_PATTERN);
}

static bool run_training(Session *s, const Args *a, Err *err)
{
    bool arrives = s->place.screen != SCREEN_TRAINING;
    measures_open_history(s);
    const Graph *g = session_base(s);
    const char *patch = args_named(a, "patch");
    int p = graph_role(g, ROLE_PLACE, SEQUENCE_ANY), at = 0;
    if (patch && (p == AXIS_NONE || !axis_parse(&g->axes[p], patch, &at)))
        return err_set(err, "patch=%s: this model has no such patch", patch);
    for (int i = 0; i < a->count; i++)
        if (!training_word(s, a->word[i], a->column[i], err))
            return false;
    if (patch) {
        s->place.at[p] = at;
        session_sync(s, p);
    }
    if (arrives && !screen_go(s, SCREEN_TRAINING, film_path(s, g), err))
        return false;
    if (session_history_problem(s) && !session_history(s))
        session_say(s, "%s", session_history_problem(s));
    return true;
}

/* Along the film, and through the patches column by column, so that two keys reach every one. */
static void move_in_training(Session *s, int dy, int dx)
{
    const History *h = session_history_shown(s);
    const Graph *g = session_base(s);
    int p = graph_role(g, ROLE_PLACE, SEQUENCE_ANY), row, col;
    WordFilm film;
    if (dy && session_word_film(s, &film)) /* of text: through the words that ask */
        move_axis(s, ROLE_QUERY, dy);
    if (h && h->snapshot_count)
        s->look.training.snapshot = clamp(s->look.training.snapshot + dx, 0, h->snapshot_count - 1);
    if (!dy || p == AXIS_NONE || !axis_patch(&g->axes[p], s->place.at[p], &row, &col))
        return;
    int rows = g->axes[p].n / g->axes[p].cols, at = clamp(col * rows + row + dy, 0, g->axes[p].n - 1);
    s->place.at[p] = at % rows * g->axes[p].cols + at / rows;
    session_sync(s, p);
}

/* Snapshot by snapshot. */
static bool play_film(Session *s)
{
    const History *h = session_history_shown(s);
    return play_index(s, &s->look.training.snapshot, h ? h->snapshot_count : 0);
}

/* The same map, of the model as it is now. */
static bool enter_film(Session *s, Err *err)
{
    return shows_patterns(s) ? enter_pattern(s, err) : come_positions(s, SCREEN_POSITIONS, err);
}

/* Raw, centred; then the same of the twin where there is one. Of a text model the next head. */
static bool next_film(Session *s, Err *err)
{
    WordFilm film;
    (void)err;
    if (session_word_film(s, &film)) { /* of text: the heads one after the other */
        session_set_index(s, session_role(s, ROLE_HEAD), (film.head + 1) % film.history->text.heads);
        return true;
    }
    if (s->look.positions.centred && session_history_twin(s))
        s->look.training.twin = !s->look.training.twin;
    s->look.positions.centred = !s->look.positions.centred;
    return true;
}

static void put_record(const Teller *t, const char *word, const char *what, const History *h, int snapshot, bool twin)
{
    const PositionGrid *g = session_history_grid(t->s, twin, snapshot);
    buf_printf(t->out, "%s step %d ", word, h->snapshot[snapshot].step);
    if (g)
        buf_printf(t->out, "%.0f %%%s", 100 * g->near4, what);
}

static void put_look(const WordFilm *f, int snapshot, Buf *out)
{
    int most = word_film_most(f, snapshot);
    buf_printf(out, "at step %d most at %s, ", f->history->snapshot[snapshot].step, word_film_key(f, most));
    ask_put_short(out, word_film_pattern(f, snapshot)[(size_t)f->row * (size_t)f->keys + (size_t)most]);
}

static void put_word_film(const Teller *t, const WordFilm *f, int at)
{
    char name[ATTENTION_NAME];
    int last = f->history->snapshot_count - 1;
    buf_printf(t->out, "Snapshot %d of %d. In %s head %d the word %s looks ", at + 1, last + 1,
               session_attention_name(t->g, f->part, name), f->head, word_film_asks(f, f->row));
    put_look(f, at, t->out);
    if (at < last) {
        buf_puts(t->out, "; ");
        put_look(f, last, t->out);
    }
    buf_printf(t->out, ". The text is the one that was recorded: %d words that look at %d.", f->queries, f->keys);
}

static bool say_training(const Teller *t)
{
    const History *h = session_history_shown(t->s);
    if (!h || !h->snapshot_count) {
        buf_puts(t->out, "No record of this model's training is known.");
        return true;
    }
    bool twin = h == session_history_twin(t->s);
    int last = h->snapshot_count - 1, at = t->s->look.training.snapshot < 0      ? 0
                                           : t->s->look.training.snapshot > last ? last
                                                                                 : t->s->look.training.snapshot;
    WordFilm words;
    if (session_word_film(t->s, &words)) {
        put_word_film(t, &words, at);
        return true;
    }
    if (!session_history_grid(t->s, twin, at)) {
        buf_printf(t->out, "Snapshot %d of %d, at step %d%s.", at + 1, last + 1, h->snapshot[at].step,
                   twin ? ", of the twin without 1/√d_k" : "");
        return true;
    }
    put_record(t, twin ? "Without 1/√d_k, at" : "At", " of the positions are most similar to a neighbour on the grid",
               h, at, twin);
    if (at < last)
        put_record(t, ", at", "", h, last, twin);
    buf_printf(t->out, " (by chance %.0f %%).", 100 * session_history_grid(t->s, twin, at)->chance4);
    const PositionFilm *film = session_film(t->s, twin);
    if (film && !position_film_frame(film, at))
        measures_step(t->s, 0); /* makes one frame, that of the chosen snapshot first */
    const PositionFilmFrame *frame = film ? position_film_frame(film, at) : NULL;
    int p = teller_index(t, ROLE_PLACE), n = film ? film->rows * film->cols : 0;
    if (!frame || n < 2 || p >= n)
        return true;
    const float *row = frame->cosine[t->s->look.positions.centred ? FILM_CENTRED : FILM_RAW] + (size_t)p * (size_t)n;
    int best = p ? 0 : 1;
    for (int i = 0; i < n; i++)
        best = i != p && row[i] > row[best] ? i : best;
    char here[64], most[64];
    buf_printf(t->out, " At that step the position most similar to %s is %s, cosine %.2f.",
               teller_label(t, ROLE_PLACE, p, here), teller_label(t, ROLE_PLACE, best, most), (double)row[best]);
    return true;
}

static bool snapshot_there(Session *s, int value, Err *err)
{
    if (value == 0)
        return true;
    measures_read_history(s);
    const History *h = session_history_shown(s);
    int last = h ? h->snapshot_count - 1 : 0;
    return (value > 0 && value <= last) || err_set(err, "there is no snapshot %d: they go from 0 to %d", value, last);
}

static bool twin_there(Session *s, int value, Err *err)
{
    if (!value)
        return true;
    measures_read_history(s);
    return session_history_twin(s) || err_set(err, "no twin, trained without the scale, is known for this model");
}

static const LookOption OPTIONS[] = {
    {.name = "twin", .kind = OPTION_SWITCH, .at = LOOK(training.twin), .there = twin_there},
    {.name = "snapshot", .kind = OPTION_NUMBER, .at = LOOK(training.snapshot), .there = snapshot_there},
    {.name = NULL}};

static const Command OWN = COMMAND("training", "learned", "training [N, +1, -1, first, last] [twin, own] [patch=PATCH]",
                                   "show how the model learned, snapshot by snapshot: positions, curves",
                                   COMMAND_SESSION, run_training, NULL);

/* Nothing was recorded of this model, as far as one has looked. */
static bool no_record(const Session *s)
{
    const TaskKind *task = session_task(s);
    return !task || !task_makes(task, s->now->model) ||
           (measures_history_read(s) && !session_history(s) && !session_history_problem(s));
}

SCREEN_SPEC(TRAINING, .name = "training", .about = "film strip and curves of the training run", .group = GROUP_LEARNED,
            .command = "training", .own = {&OWN, 1, NULL}, .move = move_in_training, .enter = enter_film,
            .next = next_film, .empty = no_record, .play = play_film, .work = measures_step_film, .say = say_training,
            .options = OPTIONS);
