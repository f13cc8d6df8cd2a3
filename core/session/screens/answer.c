/* The answer: classes with their probabilities, or word after word. */
#include "core/session/screens/answer.h"

#include <math.h>
#include <string.h>

#include "core/models/drawn.h"
#include "core/session/ask/number.h"
#include "core/session/ask/say.h"
#include "core/session/learned/measures.h"
#include "core/session/place.h"
#include "core/session/screens.h"

/* --- the order in which classes are listed --- */

/* Does class a stand before class b: larger first, NaN last, ties in the order of the classes. */
static bool before(Ranking r, size_t a, size_t b)
{
    float x = r.by_size ? fabsf(r.v[a]) : r.v[a], y = r.by_size ? fabsf(r.v[b]) : r.v[b];
    if (isnan(x) || isnan(y))
        return isnan(x) == isnan(y) ? a < b : isnan(y);
    return x > y || (!(x < y) && a < b);
}

size_t ranking_rank(Ranking r, size_t which)
{
    size_t rank = 0;
    for (size_t i = 0; i < r.n; i++)
        rank += i != which && before(r, i, which);
    return rank;
}

size_t ranking_best(Ranking r)
{
    size_t best = 0;
    for (size_t i = 1; i < r.n; i++)
        if (before(r, i, best))
            best = i;
    return best;
}

size_t ranking_next(Ranking r, size_t which)
{
    size_t found = r.n;
    for (size_t i = 0; i < r.n; i++)
        if (i != which && before(r, which, i) && (found == r.n || before(r, i, found)))
            found = i;
    return found;
}

size_t ranking_previous(Ranking r, size_t which)
{
    size_t found = r.n;
    for (size_t i = 0; i < r.n; i++)
        if (i != which && before(r, i, which) && (found == r.n || before(r, found, i)))
            found = i;
    return found;
}

static size_t worst(Ranking r)
{
    size_t last = 0;
    for (size_t i = 1; i < r.n; i++)
        if (before(r, last, i))
            last = i;
    return last;
}

size_t ranking_move(Ranking r, size_t which, int by)
{
    if (by >= (int)r.n || by <= -(int)r.n)
        return by > 0 ? worst(r) : ranking_best(r);
    for (; by != 0; by += by < 0 ? 1 : -1) {
        size_t to = by > 0 ? ranking_next(r, which) : ranking_previous(r, which);
        if (to == r.n)
            break;
        which = to;
    }
    return which;
}

/* --- the screen --- */

enum { TOP_CLASSES = 10 };

static bool fits_answer(const Graph *g, NodeId n)
{
    return screen_leads_to(g, n, SITE_PROBS) || screen_is_site(g, n, SITE_LOGITS);
}

static bool come_answer(Session *s, Screen to, Err *err)
{
    const Graph *g = session_graph(s, SIDE_B);
    Err cancelled;
    if (site_node_any(g, SITE_PROBS) == NO_NODE)
        return err_set(err, "%s", session_no_answer(s, SIDE_B));
    const char *probs = site_path_any(g, SITE_PROBS);
    session_need(s, SIDE_B, probs, &cancelled); /* the cursor goes to the answer; cancelled, it stays where it was */
    return session_go(s, probs, to, err);
}

/* Along the list as it is shown: from what is largest down, where A and B are compared from what changed most. */
static void move_on_classes(Session *s, int dy, int dx)
{
    const Graph *g = session_graph(s, SIDE_B);
    const char *probs = site_path_any(g, SITE_PROBS);
    NodeId n = session_node(s, SIDE_B, probs);
    int axis = n == NO_NODE ? AXIS_NONE : node_role(g, n, ROLE_ANSWER);
    const float *change = session_compares(s) ? session_peek(s, SIDE_DIFF, probs) : NULL;
    const float *x = change ? change : session_peek(s, SIDE_B, probs);
    if (axis == AXIS_NONE || !x) {
        move_axis(s, ROLE_ANSWER, dy + dx);
        return;
    }
    size_t count = (size_t)g->axes[axis].n, cell = session_cell(s, SIDE_B, n), first = cell / count * count;
    Ranking shown = {x + first, count, change != NULL};
    session_set_index(s, axis, (int)ranking_move(shown, cell - first, dy + dx));
}

static void put_probability(const Teller *t, float p)
{
    char text[32];
    share_text(text, sizeof text, p);
    buf_puts(t->out, text);
}

static void put_class(const Teller *t, size_t o, const float *probs)
{
    char label[64];
    bool named = t->s->model.class_names != NULL;
    buf_printf(t->out, "%s%s ", named ? "" : "class ", teller_label(t, ROLE_ANSWER, (int)o, label));
    put_probability(t, probs[o]);
}

static bool say_writing(const Teller *t);

/* How much the distance from what was seen tells: which share of other pictures it tells apart. */
static void put_unlike(const Teller *t)
{
    buf_puts(t->out, " Of the held-out photographs 5 % are called that");
    for (int i = 0; i < UNLIKE_COUNT; i++) {
        const AccuracySure a = photos_unlike((PhotosUnlike)i);
        if (a.pictures)
            buf_printf(t->out, ", of %s %.0f %%", photos_unlike_text((PhotosUnlike)i),
                       100 * (double)a.right / (double)a.pictures);
    }
    buf_puts(t->out, ".");
}

bool say_answer(const Teller *t)
{
    NodeId n;
    const float *probs = teller_values(t, teller_model(t, SITE_PROBS), &n);
    const Input *in = session_input(t->s, t->side);
    const char *seen = site_path_any(session_base(t->s), SITE_SEEN_DISTANCE); /* which the note depends on */
    if (!probs || (seen && !session_need(t->s, session_judged(t->s), seen, t->err)))
        return false;
    char about[SESSION_NOTE];
    const char *note = session_model_note(t->s, about);
    if (node_role(t->g, n, ROLE_QUERY) != AXIS_NONE) /* a row for every word: the one at the cursor */
        return say_writing(t);
    size_t classes = graph_cells(t->g, n), first = largest_of(probs, classes), shown = classes < 3 ? classes : 3;
    buf_puts(t->out, "The answer is ");
    put_class(t, first, probs);
    for (size_t k = 2, last = first; k <= shown; k++) {
        size_t next = ranking_next((Ranking){probs, classes, false}, last);
        if (next == classes)
            break;
        buf_puts(t->out, k == 2 ? ", then " : " and ");
        put_class(t, next, probs);
        last = next;
    }
    buf_putc(t->out, '.');
    char sure[SURE_TEXT];
    float far;
    if (session_sure_text(t->s, t->side, probs[first], sure))
        buf_printf(t->out, " It knows ten classes, whatever it sees; over %zu held-out photographs it got %s.",
                   photos_pictures(), sure);
    if (in->drawn && in->label >= 0 && in->label < DRAWN_CLASSES)
        buf_printf(t->out, " What was drawn is %s %s.", SHAPES_NAMES[in->label][0] == 'a' ? "an" : "a",
                   SHAPES_NAMES[in->label]);
    if (strcmp(note, "untrained") == 0)
        buf_puts(t->out, " The model is untrained: the arithmetic is exact, the answer means nothing.");
    else if (session_photos(t->s) && strncmp(note, "one of", 6) == 0 && session_seen(t->s, &far))
        buf_printf(t->out,
                   " By the one measure there is this picture is not unlike those photographs: it lies %.1f from their "
                   "mean, 95 %% of them lie below %.1f. Pictures of other things can pass too.",
                   (double)far, (double)t->s->model.seen.limit);
    else if (*note)
        buf_printf(t->out, " Note: %s.", note);
    if (session_photos(t->s) && strstr(note, "unlike"))
        put_unlike(t);
    return true;
}

bool tell_answer(const Teller *t)
{
    Teller logits;
    const char *path = teller_model(t, SITE_PROBS), *raw = teller_model(t, SITE_LOGITS);
    Teller p;
    size_t index[TOP_CLASSES];
    char label[64];
    if (graph_find(t->g, path) == NO_NODE || graph_find(t->g, raw) == NO_NODE)
        return true;
    if (!teller_at(t->s, t->side, path, t->out, t->err, &p) || !teller_at(t->s, t->side, raw, t->out, t->err, &logits))
        return false;
    size_t count; /* of a text: the row of the word at the cursor */
    const float *shares = teller_row(&p, p.x, p.n, p.cell, &count);
    const float *scores = teller_row(&logits, logits.x, logits.n, logits.cell, &count);
    size_t n = largest_first(shares, count, index, TOP_CLASSES);
    for (size_t i = 0; i < n; i++) {
        buf_printf(t->out, "%zu. %s: probability ", i + 1,
                   axis_label(teller_last_axis(&p), (int)index[i], label, sizeof label));
        put_probability(t, shares[index[i]]);
        buf_puts(t->out, ", logit ");
        ask_put_short(t->out, scores[index[i]]);
        buf_puts(t->out, ".\n");
    }
    return true;
}

SCREEN_SPEC(ANSWER, .name = "answer", .about = "what the model answers, with probabilities", .command = "view answer",
            .come = come_answer, .fits = fits_answer, .move = move_on_classes, .enter = enter_arithmetic,
            .next = enter_tensor, .say = say_answer, .tell = tell_answer);

/* --- word after word --- */

static bool come_writing(Session *s, Screen to, Err *err)
{
    const Graph *g = session_graph(s, SIDE_B);
    NodeId n = site_node_any(g, SITE_PROBS);
    if (n == NO_NODE || node_role(g, n, ROLE_QUERY) == AXIS_NONE)
        return err_set(err, "%s",
                       session_words(s, SIDE_B) ? session_no_answer(s, SIDE_B)
                                                : "this model writes no words: `view answer` shows its classes");
    return session_go(s, site_path_any(g, SITE_PROBS), to, err);
}

static bool enter_answer(Session *s, Err *err)
{
    return come_answer(s, SCREEN_ANSWER, err);
}

/* Rows are the words that were read; the answer's words go along. */
static void move_in_writing(Session *s, int dy, int dx)
{
    move_axis(s, ROLE_QUERY, dy);
    move_axis(s, ROLE_ANSWER, dx);
}

static void put_word(const Teller *t, NodeId n, const float *row, size_t word)
{
    Dims d = graph_node(t->g, n)->dims;
    char label[64];
    buf_printf(t->out, "%s ", axis_label(&t->g->axes[d.axis[d.n - 1]], (int)word, label, sizeof label));
    put_probability(t, row[word]);
}

static bool say_writing(const Teller *t)
{
    NodeId n;
    const float *probs = teller_values(t, teller_model(t, SITE_PROBS), &n);
    if (!probs)
        return false;
    if (node_role(t->g, n, ROLE_QUERY) == AXIS_NONE) /* A may be a model that writes nothing */
        return say_answer(t);
    Dims d = graph_node(t->g, n)->dims;
    const Axis *tokens = &t->g->axes[d.axis[0]];
    size_t count, cell = session_cell(t->s, t->side, n);
    const float *row = teller_row(t, probs, n, cell, &count);
    size_t best = largest_of(row, count), second = ranking_next((Ranking){row, count, false}, best);
    char label[64];
    int at = (int)(cell / count);
    if (tokens->sequence == SEQUENCE_TARGET)
        buf_printf(t->out, "Step %d of %d: after %s the model writes ", at + 1, tokens->n,
                   axis_label(tokens, at, label, sizeof label));
    else
        buf_printf(t->out, "At %s the model names ", axis_label(tokens, at, label, sizeof label));
    put_word(t, n, row, best);
    if (second < count) {
        buf_puts(t->out, ", before ");
        put_word(t, n, row, second);
    }
    buf_printf(t->out, ", of %zu words.", count);
    if (!t->s->model.trained)
        buf_puts(t->out, " The model is untrained: the arithmetic is exact, the word means nothing.");
    return true;
}

/* Every step on a line: after which word which one is written. */
static bool tell_writing(const Teller *t)
{
    NodeId n;
    const float *probs = teller_values(t, teller_model(t, SITE_PROBS), &n);
    if (!probs)
        return false;
    Dims d = graph_node(t->g, n)->dims;
    const Axis *tokens = &t->g->axes[d.axis[0]], *words = &t->g->axes[d.axis[d.n - 1]];
    char token[64], word[64];
    for (int i = 0; d.n == 2 && i < tokens->n; i++) {
        const float *row = probs + (size_t)i * (size_t)words->n;
        size_t best = largest_of(row, (size_t)words->n);
        buf_printf(t->out, "%d. %s %s: %s ", i + 1, tokens->sequence == SEQUENCE_TARGET ? "after" : "at",
                   axis_label(tokens, i, token, sizeof token), axis_label(words, (int)best, word, sizeof word));
        put_probability(t, row[best]);
        buf_puts(t->out, ".\n");
    }
    return true;
}

SCREEN_SPEC(WRITING, .name = "writing", .about = "the steps of decoding: what is written after every word",
            .command = "view writing", .come = come_writing, .words = true, .move = move_in_writing,
            .enter = enter_answer, .next = enter_answer, .off = OFF_NOTHING, .say = say_writing, .tell = tell_writing);
