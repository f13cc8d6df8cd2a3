/* The tree of beginnings that a search looked at: the command that asks for one, the way into a beginning, and what is
 * said of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/byte_text.h"
#include "core/base/dmath.h"
#include "core/session/ask/say.h"
#include "core/session/exhibit.h"
#include "core/session/input.h"
#include "core/session/learned/decoding.h"
#include "core/session/options.h"
#include "core/session/screens.h"

/* --- the command --- */

static bool put_option(Session *s, const char *name, const char *value, Err *err)
{
    const LookOption *o;
    for (const LookOption *own = screen_spec(SCREEN_DECODING)->options; (o = own)->name; own++)
        if (strcmp(o->name, name) == 0)
            return look_option_set(o, s, value, err) || err_prefix(err, "%s", name);
    return err_set(err, "there is no %s", name);
}

/* The beam's width or the seed, as a number or so much more or less. */
static bool put_number(Session *s, const char *word, Err *err)
{
    bool relative = *word == '+' || *word == '-', draws = s->look.decoding.by == DECODE_SAMPLE;
    char *end, value[32];
    long n = strtol(word, &end, 10);
    if (end == word || *end)
        return err_set(err, "expected greedy, beam, draw or a number, found '%.40s'", word);
    if (n < -1000000 || n > 1000000)
        return draws ? err_set(err, "a seed is 0 to 1000000, not %.40s", word)
                     : err_set(err, "a beam is 1 to %d wide, not %.40s", DECODE_WIDTH_MAX, word);
    if (relative && s->look.decoding.by == DECODE_GREEDY)
        return err_set(
            err, "`decode beam` has a width and `decode draw` a seed; greedy, which takes the most probable word, "
                 "has neither");
    n += !relative ? 0 : draws ? s->look.decoding.seed : s->look.decoding.width;
    if (!relative && s->look.decoding.by == DECODE_GREEDY)
        s->look.decoding.by = DECODE_BEAM;
    if (relative && draws && n < 0)
        n = 0;
    snprintf(value, sizeof value, "%ld", n);
    return put_option(s, draws ? "seed" : "beam", value, err);
}

static bool put_words(Session *s, const Args *a, Err *err)
{
    static const char *const NAMED[] = {"alpha", "temperature", "top-k", "top-p"};
    for (int i = 0; i < a->count; i++) {
        bool number = a->word[i][strcspn(a->word[i], "0123456789")] != 0;
        if (number ? !put_number(s, a->word[i], err) : !put_option(s, "decode-by", a->word[i], err))
            return err_prefix(err, "column %d", a->column[i]);
    }
    for (size_t i = 0; i < sizeof NAMED / sizeof *NAMED; i++)
        if (args_named(a, NAMED[i]) && !put_option(s, NAMED[i], args_named(a, NAMED[i]), err))
            return false;
    const char *cache = args_named(a, "cache");
    if (cache && strcmp(cache, "toggle") == 0)
        cache = s->look.decoding.kept ? "off" : "on";
    return !cache || put_option(s, "cache", cache, err);
}

/* Back from a beginning that was run. */
static bool open_typed(Session *s, Err *err)
{
    const char *typed = decoding_typed(s);
    if (!typed)
        return err_set(err, "the text on show is no beginning that Enter has run: there is none to go back to");
    char *spec = xstrdup(typed);
    const bool ok = session_open_input(s, spec, err) &&
                    session_go(s, site_path_any(session_graph(s, SIDE_B), SITE_PROBS), SCREEN_DECODING, err);
    free(spec);
    s->look.decoding.line = ok ? 0 : s->look.decoding.line;
    s->place.text = ok ? decoding_note(s) : s->place.text;
    return ok;
}

bool decoding_command(Session *s, const Args *a, Err *err)
{
    const Graph *g = session_graph(s, SIDE_B);
    const Exhibit *e = s->now;
    const LookAt was = s->look;
    if (!model_way(e->model))
        return err_set(err, "this model writes no words: vitrine \"the animal did not cross the street\" opens one "
                            "that does");
    if (model_way(e->model) == MODEL_READS)
        return err_set(err, "an encoder alone writes no text");
    if (a->count == 1 && strcmp(a->word[0], "typed") == 0)
        return open_typed(s, err);
    bool ok = put_words(s, a, err);
    if (ok && (s->look.decoding.by != was.decoding.by || s->place.screen != SCREEN_DECODING))
        s->look.decoding.line = s->look.decoding.other = 0;
    ok = ok &&
         (s->place.screen == SCREEN_DECODING || session_go(s, site_path_any(g, SITE_PROBS), SCREEN_DECODING, err));
    if (!ok)
        s->look = was;
    return ok;
}

static void move_in_decoding(Session *s, int dy, int dx)
{
    Err err;
    decoding_all(s, &err); /* on the screen it is done long before a key comes */
    const Decoding *d = session_decoding(s, session_side(s) == SIDE_A ? SIDE_A : SIDE_B);
    int last = d && d->lines ? d->lines - 1 : 0, at = d ? decoding_line(s, d) : 0;
    int depth = d && d->lines ? d->line[at].depth : 0;
    const DecodeDraw *draw = decoding_draw(s, d);
    if (!dx) {
        s->look.decoding.line = 1 + clamp(at + dy, 0, last);
        s->look.decoding.other = 0;
    } else if (draw) /* through what the word was drawn from */
        s->look.decoding.other = clamp(decoding_other(s, d) + 1 + dx, 0, draw->count);
    else /* to the next line, or the one before, of a column that is no further in */
        for (int i = at + (dx > 0 ? 1 : -1); i >= 0 && i <= last; i += dx > 0 ? 1 : -1)
            if (d->line[i].depth <= depth) {
                s->look.decoding.line = i + 1;
                break;
            }
}

/* Greedy, beam, drawn. */
static bool next_decoding(Session *s, Err *err)
{
    (void)err;
    s->look.decoding.by = (s->look.decoding.by + 1) % (DECODE_SAMPLE + 1);
    s->look.decoding.line = 0;
    return true;
}

/* --- into a beginning --- */

static void put_label(const char *label, Buf *out)
{
    if (*label && *label != '<')
        buf_printf(out, "%.*s ", (int)strcspn(label, "#"), label);
}

static void put_numbers(const int *number, int n, Buf *out)
{
    buf_puts(out, "ids:");
    for (int i = 0; i < n; i++)
        buf_printf(out, "%s%d", i ? "," : "", number[i]);
}

/* Is a text, as the model's tokeniser cuts it, these tokens and no others? */
static bool is_cut_as(const Vocabulary *v, const char *text, const int *number, int n)
{
    Words w = {0};
    const bool same = *text != '#' && !words_look_numbered(text) && words_parse(&w, v, text, false, NULL) && w.n == n &&
                      memcmp(w.number, number, (size_t)n * sizeof *number) == 0;
    words_free(&w);
    return same;
}

/* Where a tokeniser cuts texts its pieces are not typed: joined by blanks they are other tokens. What is opened is the
 * text if it is cut into the same tokens again, else their numbers; beside an encoder's text always the numbers. */
static void put_cut_beginning(const Session *s, const Decode *d, int node, int then, Buf *out)
{
    const Model *m = s->now->model;
    const Vocabulary *v = &m->target;
    const Text *source = &s->now->input.text[TEXT_SOURCE], *target = &s->now->input.text[TEXT_TARGET];
    const int own = source->count || !target->count ? 0
                    : model_starts(m)               ? 1
                                                    : 0,
              before = source->count ? 0 : target->count - own, length = d->node[node].length;
    int *number = xcalloc((size_t)before + (size_t)length + 2, sizeof *number), n = before;
    if (before)
        memcpy(number, target->word + own, (size_t)before * sizeof *number);
    for (int at = node, i = before + length; d->node[at].parent >= 0 && i > before; at = d->node[at].parent)
        number[--i] = d->node[at].word;
    n += length;
    n -= length && vocabulary_ends(v, number[n - 1]);
    if (then >= 0)
        number[n++] = then;
    Buf text = {0};
    if (source->count) {
        put_numbers(source->word, source->count, out);
        buf_puts(out, " > ");
    } else
        words_text(v, number, n, &text);
    if (text.len && is_cut_as(v, buf_str(&text), number, n))
        buf_puts(out, buf_str(&text));
    else if (n)
        put_numbers(number, n, out);
    buf_free(&text);
    free(number);
}

static void put_beginning(const Session *s, const Decode *d, int node, int then, Buf *out)
{
    const Model *m = s->now->model;
    const Vocabulary *v = &m->target;
    int path[512], n = 0;
    if (then >= 0)
        path[n++] = then;
    for (int at = node; d->node[at].parent >= 0 && n < 512; at = d->node[at].parent)
        path[n++] = d->node[at].word;
    while (n-- > 0)
        if (!vocabulary_ends(v, path[n]) && path[n] >= 0 && path[n] < v->n) {
            char number[16]; /* what a word without a name is called, and can be typed as */
            snprintf(number, sizeof number, "w%d", path[n]);
            put_label(v->word ? v->word[path[n]] : number, out);
        }
}

/* The text on show with what is written up to a node, and another word behind it (−1: none), as one would type it. */
static bool put_spec(const Session *s, const Decode *d, int node, int then, Buf *out, Err *err)
{
    const Text *source = &s->now->input.text[TEXT_SOURCE], *target = &s->now->input.text[TEXT_TARGET];
    const bool cut = s->now->model->target.cutter;
    if ((source->count && !source->label) || !target->label)
        return err_set(err, "this model's words have no names: open a text of numbers instead");
    for (int i = 0; !cut && i < source->count; i++)
        put_label(source->label[i], out);
    if (!cut && source->count)
        buf_puts(out, "> ");
    for (int i = model_starts(s->now->model); !cut && !source->count && i < target->count; i++)
        put_label(target->label[i], out);
    (cut ? put_cut_beginning : put_beginning)(s, d, node, then, out);
    return true;
}

/* probs[token, word]: the row before that word, which follows so many written ones. */
static bool go_word(Session *s, Screen to, int row, int word, Err *err)
{
    const Graph *g = session_graph(s, SIDE_B);
    if (!session_go(s, site_path_any(g, SITE_PROBS), to, err))
        return false;
    Dims at = graph_node(g, site_node_any(g, SITE_PROBS))->dims;
    if (at.n == 2) {
        session_set_index(s, at.axis[0], row);
        session_set_index(s, at.axis[1], word);
        session_sync(s, at.axis[0]);
    }
    return true;
}

/* A word that was not drawn is the next one in B. With an encoder A is the text as it was written, and both stand as
 * the target, for a text is written from its start. A decoder alone goes on from both: A is the text up to the word
 * that was drawn, as long as B, and goes on as it was written; behind B the same random numbers are drawn. */
static bool take_other(Session *s, const Decoding *d, int other, Err *err)
{
    const int word = decoding_draw(s, d)->choice[other].word, node = d->line[decoding_line(s, d)].node,
              parent = d->text->node[node].parent, length = d->text->node[parent].length;
    const bool encoder = s->now->input.text[TEXT_SOURCE].count;
    Buf spec = {0}, written = {0};
    Input in;
    if (vocabulary_ends(&s->now->model->target, word))
        return err_set(err, "this one ends the text: nothing goes on behind it");
    s->place.text = decoding_note(s);
    bool ok = put_spec(s, d->text, parent, word, &spec, err) &&
              put_spec(s, d->text, encoder ? d->text->best : node, -1, &written, err) &&
              input_open(&in, s->now->model, buf_str(&spec), err);
    if (ok && !session_open_input(s, buf_str(&written), err)) {
        input_free(&in);
        ok = false;
    }
    ok = ok && session_beside(s, &in, err);
    buf_free(&spec);
    buf_free(&written);
    if (!ok)
        return false;
    s->look.decoding.line = s->look.decoding.other = 0;
    s->compare = s->compare == COMPARE_OFF ? COMPARE_SIDES : s->compare;
    ok = encoder ? go_word(s, SCREEN_WRITING, length, word, err)
                 : go_word(s, SCREEN_DECODING, s->now->input.text[TEXT_TARGET].count - 2, word, err);
    s->place.text = decoding_note(s);
    if (ok)
        session_say(s, encoder ? "A keeps the text as written; B takes this word. Backspace takes it back."
                               : "A ends in the word drawn, B in this one; both go on. Backspace takes it back.");
    return ok;
}

/* The beginning at the cursor becomes the target: its words are then rows of the pass, and the share of its last word
 * is a cell that explains itself. */
static bool enter_decoding(Session *s, Err *err)
{
    const Decoding *d = decoding_all(s, err) ? session_decoding(s, SIDE_B) : NULL;
    const Text *source = &s->now->input.text[TEXT_SOURCE], *target = &s->now->input.text[TEXT_TARGET];
    if (!d || !d->lines)
        return false;
    const int other = decoding_other(s, d);
    const DecodingLine *l = &d->line[decoding_line(s, d)];
    const DecodeNode *n = &d->text->node[l->node];
    if (other >= 0 && decoding_draw(s, d)->choice[other].word != n->word)
        return take_other(s, d, other, err);
    const int length = n->length, word = n->word, before = source->count ? 0 : target->count - 1;
    Buf spec = {0};
    /* the row before the last word is shown: where the model cannot read that word too, it is left out */
    const bool all = before + 1 + length <= seq2seq_longest(&s->now->model->text);
    bool ok = put_spec(s, d->text, all ? l->node : n->parent, -1, &spec, err);
    if (ok) {
        s->place.text = decoding_note(s);
        decoding_keep_typed(s, buf_str(&spec));
        ok = session_open_input(s, buf_str(&spec), err);
    }
    buf_free(&spec);
    ok = ok && go_word(s, SCREEN_WRITING, before + length - 1, word, err);
    s->place.text = ok ? decoding_note(s) : s->place.text;
    if (ok && decoding_typed(s))
        session_say(s, "This beginning is the text now. Backspace goes back to yours and its tree.");
    return ok;
}

/* --- in words --- */

static void put_draw(const Session *s, const Decoding *d, Buf *out)
{
    static const char *const OUT[] = {
        [DECODE_DRAWABLE] = "", [DECODE_TOP_K] = ", cut by top-k", [DECODE_TOP_P] = ", cut by top-p"};
    const DecodeDraw *draw = decoding_draw(s, d);
    const Vocabulary *v = &s->now->model->target;
    if (!draw)
        return;
    buf_printf(out, "\"%s\" was drawn from %d of %d words (top-k left %d):\n", d->line[decoding_line(s, d)].word,
               draw->left, draw->words, draw->top_k);
    for (int i = 0; i < draw->count; i++) {
        const DecodeChoice *c = &draw->choice[i];
        if (v->word)
            buf_printf(out, "%s", v->word[c->word]);
        else
            buf_printf(out, "w%d", c->word);
        buf_puts(out, ": drawn with ");
        buf_fixed(out, 0, c->drawn, 4);
        buf_puts(out, ", at temperature 1 ");
        buf_fixed(out, 0, (double)c->share, 4);
        buf_printf(out, "%s.\n", OUT[c->out]);
    }
}

static void put_text(const Decoding *d, int node, Buf *out)
{
    const char *word[512];
    int n = 0;
    for (int at = node; d->text->node[at].parent >= 0 && n < 512; at = d->text->node[at].parent)
        for (int i = 0; i < d->lines; i++)
            if (d->line[i].node == at)
                word[n++] = d->line[i].word;
    while (n-- > 0)
        if (*word[n] != '<' || byte_text_raw(word[n]))
            buf_printf(out, "%s%s", word[n], n && word[n][strlen(word[n]) - 1] != '\'' ? " " : "");
    while (out->len && out->data[out->len - 1] == ' ')
        out->data[--out->len] = '\0';
}

static bool say_decoding(const Teller *t)
{
    Err err = {{0}};
    if (!decoding_all(t->s, &err)) {
        buf_printf(t->out, "%s.", err.text);
        return true;
    }
    const Decoding *d = session_decoding(t->s, t->side);
    if (!d || !d->lines) {
        buf_puts(t->out, "This model writes no words.");
        return true;
    }
    const DecodeNode *best = &d->text->node[d->text->best];
    decoding_put_how(&d->how, t->out);
    *t->out->data = *t->out->data >= 'a' && *t->out->data <= 'z' ? (char)(*t->out->data - 'a' + 'A') : *t->out->data;
    buf_puts(t->out, " writes: ");
    put_text(d, d->text->best, t->out);
    buf_printf(t->out, ". %d beginnings in %d steps; the shares of its words multiplied are %.3g", d->lines,
               d->text->cost.steps, best->log_share > -700 ? dm_exp(best->log_share) : 0);
    if (d->how.kind == DECODE_BEAM)
        buf_printf(t->out, ", the score is %.3f", best->score);
    if (d->text->anew)
        buf_puts(t->out, ". A change reaches other tokens than its own: no keys and values were kept.");
    else
        buf_printf(t->out, ". Without keys and values kept it takes %.1f times the multiply-adds%s.",
                   d->without.multiply_adds / d->kept.multiply_adds, d->same ? ", for the same bits" : "");
    return true;
}

static bool tell_decoding(const Teller *t)
{
    const Decoding *d = session_decoding(t->s, t->side);
    static const char *const FATE[] = {[DECODING_READ] = "",
                                       [DECODING_LEFT] = ", dropped",
                                       [DECODING_CUT] = ", cut",
                                       [DECODING_ENDED] = ", ended",
                                       [DECODING_BEST] = ", best"};
    for (int i = 0; d && i < d->lines; i++) {
        const DecodeNode *n = &d->text->node[d->line[i].node];
        put_text(d, d->line[i].node, t->out);
        buf_printf(t->out, "%s: share ",
                   *d->line[i].word == '<' && !byte_text_raw(d->line[i].word) ? " and the end" : "");
        buf_fixed(t->out, 0, n->share, 4);
        buf_puts(t->out, ", score ");
        buf_fixed(t->out, 0, n->score, 3);
        buf_printf(t->out, "%s.\n", FATE[d->line[i].fate]);
    }
    if (d)
        put_draw(t->s, d, t->out);
    return true;
}

static const char *by_word(int i)
{
    static const char *const WORDS[] = {[DECODE_GREEDY] = "greedy", [DECODE_BEAM] = "beam", [DECODE_SAMPLE] = "draw"};
    return i < (int)(sizeof WORDS / sizeof *WORDS) ? WORDS[i] : NULL;
}

/* Options that decode_options_check would refuse are no options. */
static DecodeOptions of_kind(DecodeKind kind)
{
    DecodeOptions o = decode_options_default();
    o.kind = kind;
    return o;
}

static bool width_there(Session *s, int value, Err *err)
{
    (void)s;
    DecodeOptions o = of_kind(DECODE_BEAM);
    o.width = value;
    return decode_options_check(&o, err);
}

static bool alpha_there(Session *s, int value, Err *err)
{
    (void)s;
    DecodeOptions o = of_kind(DECODE_BEAM);
    o.alpha = value / 100.0;
    return decode_options_check(&o, err);
}

static bool temperature_there(Session *s, int value, Err *err)
{
    (void)s;
    DecodeOptions o = of_kind(DECODE_SAMPLE);
    o.temperature = value / 100.0;
    return decode_options_check(&o, err);
}

static bool top_p_there(Session *s, int value, Err *err)
{
    (void)s;
    DecodeOptions o = of_kind(DECODE_SAMPLE);
    o.top_p = value / 100.0;
    return decode_options_check(&o, err);
}

static const LookOption OPTIONS[] = {{"decode-by", OPTION_WORD, LOOK(decoding.by), by_word, NULL, DECODE_GREEDY},
                                     {"beam", OPTION_NUMBER, LOOK(decoding.width), NULL, width_there, 4},
                                     {"alpha", OPTION_HUNDREDTHS, LOOK(decoding.alpha), NULL, alpha_there, 60},
                                     {"temperature", OPTION_HUNDREDTHS, LOOK(decoding.temperature), NULL,
                                      temperature_there, 100},
                                     {"top-k", OPTION_NUMBER, LOOK(decoding.top_k), NULL, NULL, 0},
                                     {"top-p", OPTION_HUNDREDTHS, LOOK(decoding.top_p), NULL, top_p_there, 100},
                                     {"seed", OPTION_NUMBER, LOOK(decoding.seed), NULL, NULL, 1},
                                     {"cache", OPTION_SWITCH, LOOK(decoding.kept), NULL, NULL, true},
                                     {"beginning", OPTION_NUMBER, LOOK(decoding.line), NULL, NULL, 0},
                                     {"other", OPTION_NUMBER, LOOK(decoding.other), NULL, NULL, 0},
                                     {.name = NULL}};

SCREEN_SPEC(DECODING, .name = "decoding",
            .about = "greedy, a beam or drawn words: the tree of beginnings with their scores", .command = "decode",
            .words = true, .move = move_in_decoding, .enter = enter_decoding, .next = next_decoding, .off = OFF_NOTHING,
            .work = decoding_step, .say = say_decoding, .tell = tell_decoding, .options = OPTIONS);
