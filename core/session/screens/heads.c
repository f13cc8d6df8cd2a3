/* Every head over many pictures: how far it looks and how evenly, and what is lost without it. */
#include "core/session/screens/heads.h"

#include <math.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/graph/anatomy.h"
#include "core/session/ask/ledgers.h"
#include "core/session/ask/say.h"
#include "core/session/learned/measures.h"
#include "core/session/options.h"
#include "core/session/screens.h"

/* A kind of place as it is said of a head. */
static const char *place_word(const Session *s, const HeadPlacesResult *r, int place)
{
    static const char *const PLACES[HEAD_PLACES] = {[PLACE_ITSELF] = "the patch itself",
                                                    [PLACE_NEIGHBOURS] = "neighbours",
                                                    [PLACE_ROW] = "its row",
                                                    [PLACE_COLUMN] = "its column",
                                                    [PLACE_PREFIX] = "tokens that are no patches",
                                                    [PLACE_FARTHER] = "patches farther off"};
    static const char *const WORDS[WORD_PLACES] = {[WORD_ITSELF] = "its own place",
                                                   [WORD_BEFORE] = "the place before",
                                                   [WORD_AFTER] = "the place after",
                                                   [WORD_MARK] = "the start or the end",
                                                   [WORD_FARTHER] = "words farther off"};
    const PictureGrid grid = model_grid(s->now->model);
    if (r->places == WORD_PLACES)
        return WORDS[place];
    return place == PLACE_PREFIX && grid.class_token && grid.prefix == 1 ? "the class token" : PLACES[place];
}

static void put_places(const Session *s, const HeadPlacesResult *r, int cell, Buf *out)
{
    const bool words = r->places == WORD_PLACES;
    const char *token = words ? "word" : "patch";
    const int attention = cell / r->heads, most = head_places_most(r, cell);
    buf_printf(out, "looks %.1f ±%.1g %s (uniform: %.1f)", r->distance[cell].mean, r->distance[cell].margin,
               words ? "words away" : "pixels away", r->uniform[attention]);
    if (most == r->places)
        buf_printf(out, ", at no kind of %s more than uniform attention would", token);
    else
        buf_printf(out, ", at %s: %.0f %% ±%.1g of a %s's attention (uniform: %.0f %%)", place_word(s, r, most),
                   100 * r->share[cell][most].mean, 100 * r->share[cell][most].margin, token,
                   100 * r->even[attention][most]);
    buf_printf(out, "; mean over %zu %s, model as trained", r->inputs,
               words ? "sentences of unseen combinations" : "held-out pictures");
}

/* A head of a model that is measured on random tokens: what it is, then its share of each kind, with n and what it is
 * to be held against. */
static void put_kinds(const HeadKindsResult *r, int cell, Buf *out)
{
    int named = 0, attention = cell / r->heads;
    for (HeadKind k = 0; k < HEAD_KINDS; k++)
        if (head_kinds_is(r, cell, k))
            buf_printf(out, "%s%s head", named++ ? " and " : "", head_kind_word(k));
    buf_puts(out, named ? ". It puts" : "of no kind that is looked for. It puts");
    named = 0;
    for (HeadKind k = 0; k < HEAD_KINDS; k++)
        if (r->applies[attention][k])
            buf_printf(
                out,
                "%s %.1f %% ±%.1f of its weight on %s (asked by tokens %d to %d; uniform %.1f %%; %s %.1f %% ±%.1f)",
                named++ ? ";" : "", 100 * r->share[cell][k].mean, 100 * r->share[cell][k].margin, head_kind_about(k),
                r->rows[attention][k].first, r->rows[attention][k].last, 100 * r->uniform[attention][k],
                head_kind_control(k), 100 * r->control[cell][k].mean, 100 * r->control[cell][k].margin);
    if (!isnan(r->copies[cell].mean))
        buf_printf(out,
                   ". Looking at a token raises that token more than %.0f %% ±%.0f of the text's others do (by chance "
                   "50 %%)",
                   100 * r->copies[cell].mean, 100 * r->copies[cell].margin);
    buf_printf(out, "; over %zu texts of %d random tokens%s, the first token is 0, model as trained", r->texts,
               r->tokens, head_kinds_twice(r, attention) ? ", each twice" : "");
}

/* "Block 0, head 1: looks 7.8 ±0.1 px away (uniform: 24.8), at neighbours: …; over 500 pictures." */
static void put_looks(const Session *s, int cell, Buf *out)
{
    const HeadPlacesResult *r = session_head_places(s);
    const HeadKindsResult *kinds = session_head_kinds(s);
    const Measure *m = session_measure(s, MEASURE_LOOKS, NULL);
    if (kinds && cell < kinds->attentions * kinds->heads)
        put_kinds(kinds, cell, out);
    else if (r && cell < r->attentions * r->heads)
        put_places(s, r, cell, out);
    else if (session_photos(s))
        buf_printf(out,
                   "looks %.2f ±%.2f pixels away, the entropy of its rows is %.1f ±%.1f %% of the maximum; mean over "
                   "%zu held-out photographs, model as trained",
                   photos_distance(cell).mean, photos_distance(cell).margin, 100 * photos_entropy(cell).mean,
                   100 * photos_entropy(cell).margin, photos_pictures());
    else if (m && m->done)
        buf_printf(out, "where it looks is being measured, %zu of %zu %s", m->done, m->total, session_measured_over(s));
    else
        buf_puts(out, "where it looks is not measured yet (:heads measure)");
}

/* Of a decoder: how much more its texts surprise it. */
static void put_nats(const Session *s, const Measure *m, int cell, Buf *out)
{
    if (m->pictures == 1)
        buf_printf(out, "surprise by %+.3f nats a token, from %.3f (one window of %s, too few for an interval)",
                   m->more[cell].mean, m->base_nats.mean, session_texts(s));
    else
        buf_printf(out,
                   "surprise by %+.3f ±%.3f nats a token, from %.3f ±%.3f (%zu tokens in %zu windows of %s, model as "
                   "trained)%s",
                   m->more[cell].mean, m->more[cell].margin, m->base_nats.mean, m->base_nats.margin, m->tokens,
                   m->pictures, session_texts(s), measure_more_differs(m, cell) ? "" : ", which may be chance");
}

static void put_loss(const Session *s, int cell, Buf *out)
{
    const Measure *m = session_measure(s, MEASURE_CENSUS, NULL);
    char share[48];
    if (m && m->nats && cell < m->rows * m->cols && !isnan(m->value[cell])) {
        buf_puts(out, " Without it its texts ");
        put_nats(s, m, cell, out);
        buf_putc(out, '.');
        return;
    }
    if (!m || cell >= m->rows * m->cols || isnan(m->value[cell]) || !m->pair) {
        buf_puts(out, " What is lost without it is not measured yet (:heads measure).");
        return;
    }
    Paired pair = m->pair[cell];
    buf_printf(out, " Without it accuracy falls by %.1f ±%.1f points from %s (%zu held-out %s)%s.",
               100 * paired_lost(pair), 100 * paired_margin(pair),
               measure_share_text(m->base_right, m->pictures, share, sizeof share), m->pictures,
               session_measured_over(s), paired_differs(pair) ? "" : ", which may be chance");
}

/* Why no head of this model can have one: a line, or NULL. */
static const char *head_words_why(const Session *s)
{
    const char *why;
    session_measure(s, MEASURE_LOOKS, &why);
    return session_photos(s) ? NULL : why; /* whose means are known */
}

void head_words_looks(const Session *s, int row, int head, Buf *out)
{
    const char *why = head_words_why(s);
    if (why)
        buf_printf(out, "nothing over many inputs: %s", why);
    else
        put_looks(s, row * session_heads(s) + head, out);
    buf_putc(out, '.');
}

void head_words_put(const Session *s, int row, int head, Buf *out)
{
    char name[ATTENTION_NAME];
    const Graph *g = session_base(s);
    if (session_by_attention(s))
        buf_printf(out, "%s, head %d: ", session_attention_name(g, anatomy_attention(g, row), name), head);
    else
        buf_printf(out, "Block %d, head %d: ", row, head);
    head_words_looks(s, row, head, out);
    const Measure *census = session_measure(s, MEASURE_CENSUS, NULL);
    if (!head_words_why(s) && (!session_kinds_apply(s) || (census && census->nats && census->whole)))
        put_loss(s, row * session_heads(s) + head, out);
}

int head_words_rows(const Session *s)
{
    return session_by_attention(s) ? anatomy_attentions(session_base(s)) : session_blocks(s);
}

int head_words_row(const Session *s)
{
    const Graph *g = session_base(s);
    int block = session_block(s), number = anatomy_attention_number(g, session_attention(s, g, -1));
    return session_by_attention(s) ? (number < 0 ? 0 : number) : block < 0 ? 0 : block;
}

bool head_words_all(Session *s, Buf *out, Err *err)
{
    if (!session_measure_all(s, MEASURE_LOOKS, 1, err) ||
        (!session_kinds_apply(s) && !session_measure_all(s, MEASURE_CENSUS, 1, err)))
        return false;
    for (int b = 0; b < head_words_rows(s); b++)
        for (int h = 0; h < session_heads(s); h++) {
            head_words_put(s, b, h, out);
            buf_putc(out, '\n');
        }
    return true;
}

/* --- where heads look --- */

/* A node of the attention in focus, of the last block's where none is; NULL: the model has none. */
static const char *in_attention(const Session *s, Site site)
{
    const Graph *g = session_graph(s, SIDE_B);
    int block = session_block(s);
    const char *path = session_attention_site(s, g, block < 0 ? session_blocks(s) - 1 : block, site);
    return path && graph_find(g, path) != NO_NODE ? path : NULL;
}

/* 0: the kind that most heads are of. */
static const char *kind_word(int i)
{
    return i == 0 ? "most" : i > 0 && i <= HEAD_KINDS ? head_kind_word((HeadKind)(i - 1)) : NULL;
}

HeadKind heads_kind(const Session *s)
{
    const HeadKindsResult *r = session_head_kinds(s);
    int named[HEAD_KINDS] = {0}, best = HEAD_INDUCTION;
    if (s->look.heads.kind > 0 && s->look.heads.kind <= HEAD_KINDS)
        return (HeadKind)(s->look.heads.kind - 1);
    for (int k = 0; r && k < HEAD_KINDS; k++) {
        for (int i = 0; i < r->attentions * r->heads; i++)
            named[k] += r->applies[i / r->heads][k] && head_kinds_is(r, i, (HeadKind)k);
        best = named[k] > named[best] ? k : best;
    }
    return (HeadKind)best;
}

static bool run_heads(Session *s, const Args *a, Err *err)
{
    const char *path = in_attention(s, SITE_PATTERN);
    bool measure = a->count == 1 && strcmp(a->word[0], "measure") == 0;
    if (a->count && !measure)
        return err_set(err, "column %d: expected measure or nothing, found '%s'", a->column[0], a->word[0]);
    if (measure) {
        Buf text = {0};
        bool ok = head_words_all(s, &text, err);
        if (ok)
            session_say(s, "%s", buf_str(&text));
        buf_free(&text);
        return ok;
    }
    if (!path)
        return err_set(err, "this model has no attention");
    return screen_go(s, SCREEN_HEADS, path, err);
}

void move_over_attentions(Session *s, int dy, int dx, bool one_stack)
{
    const Graph *g = session_graph(s, SIDE_B);
    int here = anatomy_attention_number(g, session_attention(s, g, -1)), last = anatomy_attentions(g) - 1;
    move_axis(s, ROLE_HEAD, dx);
    if (!dy || here < 0)
        return;
    int to = clamp(here + dy, 0, last);
    const char *stack = anatomy_part(g, anatomy_attention(g, here))->stack;
    while (one_stack && strcmp(anatomy_part(g, anatomy_attention(g, to))->stack, stack) != 0)
        to += to < here ? 1 : -1;
    session_to_attention(s, to);
}

static void move_on_attentions(Session *s, int dy, int dx)
{
    move_over_attentions(s, dy, dx, false);
}

/* How many of all heads look less far. */
static bool count_nearer(const Teller *t, float distance, int *nearer, int *all)
{
    *nearer = *all = 0;
    for (int a = NO_PART; (a = anatomy_next(t->g, a, PART_ATTENTION)) != NO_PART;) {
        NodeId n;
        const char *path = site_path(t->g, a, SITE_DISTANCE);
        const float *x = path ? teller_values(t, path, &n) : NULL;
        if (!x)
            return false;
        for (size_t h = 0; h < graph_cells(t->g, n); h++, ++*all)
            *nearer += x[h] < distance;
    }
    return true;
}

/* The head in focus over many pictures. It is the model's as trained, so of B's heads only. */
bool say_head_over_pictures(const Teller *t)
{
    int head = teller_index(t, ROLE_HEAD);
    if (t->side == SIDE_A && session_pinned(t->s))
        return true;
    buf_puts(t->out, t->out->len ? "\n" : "");
    head_words_put(t->s, head_words_row(t->s), head, t->out);
    return true;
}

static bool say_heads(const Teller *t)
{
    float distance, uniform, entropy;
    int nearer, all, block = session_block(t->s), head = teller_index(t, ROLE_HEAD);
    NodeId n;
    if (!*teller_site(t, SITE_DISTANCE)) {
        head_words_put(t->s, head_words_row(t->s), head, t->out);
        return true;
    }
    const float *x = teller_values(t, teller_site(t, SITE_DISTANCE), &n);
    if (!x || !teller_value(t, teller_model(t, SITE_DISTANCE_UNIFORM), &uniform))
        return false;
    head = head < (int)graph_cells(t->g, n) ? head : (int)graph_cells(t->g, n) - 1;
    distance = x[head];
    buf_printf(t->out, "Head %d of block %d looks ", head, block < 0 ? 0 : block);
    ask_put_short(t->out, distance);
    buf_puts(t->out, " pixels away on average; uniform attention would look ");
    ask_put_short(t->out, uniform);
    buf_putc(t->out, '.');
    if (!count_nearer(t, distance, &nearer, &all))
        return false;
    buf_printf(t->out, " %d of the %d heads look at nearer patches.", nearer, all);
    if (session_node(t->s, t->side, teller_site(t, SITE_ENTROPY_SHARE_MEAN)) == NO_NODE)
        return say_head_over_pictures(t);
    x = teller_values(t, teller_site(t, SITE_ENTROPY_SHARE_MEAN), &n);
    if (!x)
        return false;
    entropy = x[head];
    buf_printf(t->out, " The mean entropy of its rows is %.0f %% of the maximum.", 100 * (double)entropy);
    return say_head_over_pictures(t);
}

/* Another kind in the middle, where not all have room. */
static bool next_heads(Session *s, Err *err)
{
    if (!session_kinds_apply(s))
        return enter_sheet(s, err);
    s->look.heads.kind = (heads_kind(s) + 1) % HEAD_KINDS + 1;
    return true;
}

static const LookOption OPTIONS[] = {
    {.name = "head-kind", .kind = OPTION_WORD, .at = LOOK(heads.kind), .word = kind_word}, {.name = NULL}};

static const Command HEADS = COMMAND(
    "heads", "learned", "heads [measure]",
    "show how far every head looks, and how evenly; measure: a sentence on each, over many inputs", COMMAND_SESSION,
    run_heads, NULL);

SCREEN_SPEC(HEADS, .name = "heads", .about = "how far and how evenly every head looks; of texts also its kind",
            .group = GROUP_LEARNED, .shipped = true, .command = "heads", .own = {&HEADS, 1, NULL},
            .move = move_on_attentions, .enter = enter_pattern, .next = next_heads, .work = measures_step_looks,
            .say = say_heads, .tell = tell_heads, .options = OPTIONS);

/* --- what each is missed by --- */

static bool run_census(Session *s, const Args *a, Err *err)
{
    const char *path = in_attention(s, SITE_Z);
    if (a->count)
        return err_set(err, "column %d: '%.40s' means nothing here", a->column[0], a->word[0]);
    if (!path)
        return err_set(err, "this model has no attention");
    const char *why;
    if (!screen_go(s, SCREEN_CENSUS, path, err))
        return false;
    if (!session_measure(s, MEASURE_CENSUS, &why) && why)
        ledger_answer(s, NULL); /* of this input alone, where the answer can be taken apart */
    return true;
}

static const LedgerEntry *heads_of_row(const Session *s, int row)
{
    const Graph *g = session_graph(s, SIDE_B);
    return row < anatomy_attentions(g) ? ledger_heads(s, SIDE_B, anatomy_attention(g, row)) : NULL;
}

bool census_in_ledger(const Session *s, int row)
{
    return heads_of_row(s, row);
}

float census_here(const Session *s, int row, int head)
{
    const LedgerEntry *e = heads_of_row(s, row);
    return e ? session_ledger_effect(s, SIDE_B, TAKEN_HEADS, e, head) : NAN;
}

/* Without labelled inputs: what this one's answer loses, by the same change that x makes. */
static bool work_census(Session *s, int64_t deadline_ns)
{
    const char *why;
    session_measure(s, MEASURE_CENSUS, &why);
    return why ? ledger_step_taken(s, TAKEN_HEADS, deadline_ns) : measures_step_census(s, deadline_ns);
}

/* "98.0 % (97.1–98.7) of 500 pictures are named right: …" */
static void put_right(const Teller *t, const Measure *m, int cell)
{
    char text[48];
    const Paired pair = m->pair[cell];
    buf_printf(t->out, "%s of %zu %s", measure_share_text(m->right[cell], m->pictures, text, sizeof text), m->pictures,
               say_right_of(t->s));
    buf_printf(t->out, ": %.1f ±%.1f points less than with it (%zu %s right only with it, %zu only without)",
               100 * paired_lost(pair), 100 * paired_margin(pair), pair.lost, session_measured_over(t->s), pair.won);
    buf_puts(t->out, paired_differs(pair) ? "." : ", which may be chance.");
}

static bool say_census(const Teller *t)
{
    const char *why;
    const Measure *m = session_measure(t->s, MEASURE_CENSUS, &why);
    int row = head_words_row(t->s), head = teller_index(t, ROLE_HEAD);
    const Graph *g = session_base(t->s);
    char name[ATTENTION_NAME];
    if (why) {
        /* what the screen draws then, for those who only hear it: begun and measured to the end */
        if (!*t->s->ledger.path)
            ledger_answer(t->s, NULL);
        while (!ledger_step_taken(t->s, TAKEN_HEADS, clock_ns() + 20000000))
            if (t->s->progress && !t->s->progress(t->s->progress_context, "switching one head off after the other", 0))
                break;
        buf_printf(t->out, "How much accuracy is lost without a head cannot be measured: %s.", why);
        float effect = census_here(t->s, row, head);
        if (*t->s->ledger.path && !census_in_ledger(t->s, row))
            buf_puts(t->out, " For this input alone this head is not measured: it writes into another stack than the "
                             "one that the answer is read from, and is in no ledger of it.");
        if (isnan(effect))
            return true;
        buf_puts(t->out, " For this input alone: with ");
        buf_printf(t->out, "head %d of %s switched off at every token, ", head,
                   session_attention_name(g, anatomy_attention(g, row), name));
        ledger_text(t->s, t->out);
        buf_puts(t->out, effect < 0 ? " rises by " : " falls by ");
        ask_put_short(t->out, fabsf(effect));
        buf_putc(t->out, '.');
        return true;
    }
    if (m && (row >= m->rows || head >= m->cols))
        return true; /* measured of B: nothing of what only A has */
    float share = m ? m->value[row * m->cols + head] : NAN;
    session_attention_name(g, anatomy_attention(g, row), name);
    if (isnan(share)) {
        buf_printf(t->out, "How much is lost without head %d of %s is being measured.", head, name);
        return true;
    }
    int all = m->rows * m->cols, first, last, cell = row * m->cols + head;
    buf_printf(t->out, "Without head %d of %s ", head, name);
    if (m->nats) {
        buf_puts(t->out, "its texts ");
        put_nats(t->s, m, cell, t->out);
        buf_putc(t->out, '.');
    } else
        put_right(t, m, cell);
    measure_places(m, cell, &first, &last);
    if (m->nats && m->pictures == 1) /* without an interval no rank */
        return true;
    if (m->whole && first == last)
        buf_printf(t->out, " By what is lost it ranks %d of %d.", first, all);
    else if (m->whole)
        buf_printf(t->out, " By what is lost it ranks %d to %d of %d: the intervals overlap.", first, last, all);
    *name = (char)(*name >= 'a' && *name <= 'z' ? *name - 'a' + 'A' : *name);
    buf_printf(t->out, "\n%s, head %d: ", name, head);
    head_words_looks(t->s, row, head, t->out);
    return true;
}

static bool tell_census(const Teller *t)
{
    const char *why;
    const Measure *m = session_measure(t->s, MEASURE_CENSUS, &why);
    const Graph *g = session_base(t->s);
    char of[ATTENTION_NAME];
    for (int b = 0; why && *t->s->ledger.path && b < head_words_rows(t->s); b++) {
        buf_printf(t->out, "%s:", session_attention_name(g, anatomy_attention(g, b), of));
        for (int h = 0; h < g->axes[session_role(t->s, ROLE_HEAD)].n; h++) {
            float loss = census_here(t->s, b, h);
            buf_printf(t->out, "%s head %d %s", h ? "," : "", h, isnan(loss) ? "not measured yet" : "");
            if (!isnan(loss))
                ask_put_short(t->out, loss);
        }
        buf_puts(t->out, ".\n");
    }
    if (!m || why)
        return true; /* the sentence has said so */
    if (m->nats)
        buf_printf(t->out, "Nats a token more without each head, over %zu windows of %s%s:\n", m->pictures,
                   session_texts(t->s), m->pictures == 1 ? ", too few for an interval" : ", with 95 % intervals");
    else
        buf_printf(t->out, "Points of accuracy lost without each head, over %zu held-out %s, with 95 %% intervals:\n",
                   m->pictures, session_measured_over(t->s));
    for (int b = 0; b < m->rows; b++) {
        char name[ATTENTION_NAME];
        buf_printf(t->out, "%s:", session_attention_name(g, anatomy_attention(g, b), name));
        for (int h = 0; h < m->cols; h++) {
            int cell = b * m->cols + h;
            if (isnan(m->value[cell]) || (!m->pair && !m->nats))
                buf_printf(t->out, "%s head %d not measured yet", h ? "," : "", h);
            else if (m->nats && m->pictures == 1)
                buf_printf(t->out, "%s head %d %+.3f", h ? "," : "", h, m->more[cell].mean);
            else if (m->nats)
                buf_printf(t->out, "%s head %d %+.3f ±%.3f", h ? "," : "", h, m->more[cell].mean, m->more[cell].margin);
            else
                buf_printf(t->out, "%s head %d %.1f ±%.1f", h ? "," : "", h, 100 * paired_lost(m->pair[cell]),
                           100 * paired_margin(m->pair[cell]));
        }
        buf_puts(t->out, ".\n");
    }
    return true;
}

static const Command CENSUS = COMMAND("census", "learned", "census", "show the accuracy lost without each head",
                                      COMMAND_SESSION, run_census, NULL);

SCREEN_SPEC(CENSUS, .name = "census", .about = "accuracy lost without each head", .group = GROUP_LEARNED,
            .shipped = true, .command = "census", .own = {&CENSUS, 1, NULL}, .move = move_on_attentions,
            .enter = enter_pattern, .next = enter_tensor, .work = work_census, .say = say_census, .tell = tell_census);
