/* Commands that change a word of the text on show. The text as it was stays beside it as A. */
#include <stdio.h>
#include <string.h>

#include "core/base/byte_text.h"
#include "core/base/utf8.h"
#include "core/models/text_model.h"
#include "core/session/command.h"
#include "core/session/difference.h"
#include "core/session/edit/edits.h"
#include "core/session/exhibit.h"
#include "core/session/input.h"
#include "core/session/learned/decoding.h"
#include "core/session/place.h"
#include "core/train/grammar.h"

static const char *const TEXT_WORD[TEXTS] = {[TEXT_SOURCE] = "source", [TEXT_TARGET] = "target"};

/* A label as it stands on the axes, or a place from 0. −1: no word of the text. */
static int place_named(const Text *t, const char *word)
{
    for (int i = 0; i < t->count; i++)
        if (t->label && strcmp(t->label[i], word) == 0)
            return i;
    int place = -1, plain = -1;
    for (int i = 0; i < t->count && t->label; i++) /* "▁Lily" as it is typed, where it is one token alone */
        if (axis_plain(t->label[i], word))
            plain = plain == -1 ? i : -2;
    if (plain >= 0)
        return plain;
    char rest;
    return sscanf(word, "%d%c", &place, &rest) == 1 && place >= 0 && place < t->count ? place : -1;
}

/* …or as a byte-level tokeniser stores it. */
static int place_of_word(const Model *m, const Text *t, const char *word)
{
    Buf as = {0};
    int place = place_named(t, word);
    if (place < 0 && model_vocabulary(m)->piece && byte_text(word, &as))
        place = place_named(t, buf_str(&as));
    buf_free(&as);
    return place;
}

/* The word without the "#2" that tells a second one apart. */
static void put_word(const char *label, Buf *out)
{
    buf_printf(out, "%.*s ", (int)strcspn(label, "#"), label);
}

enum { OTHERS_MOST = 3 /* words that B writes in place of A's, told one by one */ };

/* Is it one that a text may have typed in it? <s> and </s> are put there by the reader, and so is the start of what is
 * written, whatever it is called. */
static bool is_typed(const Model *m, const Text text[TEXTS], int k, int i)
{
    const char *label = text[k].label[i];
    return *label && (*label != '<' || byte_text_raw(label)) && !(k == TEXT_TARGET && i == 0 && model_starts(m));
}

typedef struct Change {
    int text, place; /* which text; which of its words */
    const char *word;
    bool keep; /* the target stays as it is, though the source changes */
} Change;

/* Is that text a part of what is opened? Behind another source the model writes the target itself. */
static bool is_given(const Change *c, int k)
{
    return k != TEXT_TARGET || c->text == TEXT_TARGET || c->keep;
}

/* "the cat is tired > le chat": what the model's family reads. */
static void put_texts(const Model *m, const Text text[TEXTS], const Change *c, Buf *out)
{
    for (int k = 0; k < TEXTS && is_given(c, k); k++) {
        if (k == TEXT_TARGET && text[TEXT_SOURCE].count)
            buf_puts(out, "> ");
        for (int i = 0; i < text[k].count; i++) {
            bool changed = k == c->text && i == c->place;
            if (changed || is_typed(m, text, k, i))
                put_word(changed ? c->word : text[k].label[i], out);
        }
    }
    while (out->len && out->data[out->len - 1] == ' ')
        out->data[--out->len] = '\0';
}

/* The number of the word to put there, by its piece or, where words have no names, as w7 or 7; −1: there is no such.
 * A word without a mark is the piece that has one, as a class of the answer is (axis_parse); but not where the text
 * begins with a piece that has none. */
static int number_of(const Vocabulary *v, const char *word, bool begins)
{
    static const char *const BEFORE[] = {"Ġ", "▁", "", "Ġ", "▁"};
    int number = -1;
    char rest;
    for (int k = begins ? 2 : 0; v->word && number < 0 && k < (int)(sizeof BEFORE / sizeof *BEFORE); k++) {
        char piece[128];
        utf8_print(piece, sizeof piece, "%s%s", BEFORE[k], word);
        number = vocabulary_find(v, piece, strlen(piece));
    }
    if (!v->word && (sscanf(word + (*word == 'w'), "%d%c", &number, &rest) != 1 || number >= v->n))
        return -1;
    return number;
}

static bool starts_word(const char *label)
{
    return strncmp(label, "Ġ", strlen("Ġ")) == 0 || strncmp(label, "▁", strlen("▁")) == 0;
}

/* The same as numbers, where a model's own tokeniser cuts texts and would put its template around it again, or where
 * a text has two segments. Of the word by its piece; false: there is no such. */
static bool put_numbers(const Model *m, const Text text[TEXTS], const Change *c, Buf *out, Err *err)
{
    const Vocabulary *v = c->text == TEXT_TARGET ? &m->target : &m->source;
    const char *was = text[c->text].label[c->place];
    const bool begins = (c->place == 0 || !is_typed(m, text, c->text, c->place - 1)) && !starts_word(was);
    const int number = number_of(v, c->word, begins);
    if (number < 0 && !v->word)
        return err_set(err, "there is no word '%.24s': this model's words have no names, and are 0 to %d", c->word,
                       v->n - 1);
    if (number < 0)
        return err_set(err,
                       "'%.60s' is no single piece of the model's vocabulary (`vitrine tokens -m` shows how it is "
                       "cut): `pin`, then `open` with the whole text, compares two texts",
                       c->word);
    for (int k = 0; k < TEXTS && is_given(c, k); k++) {
        const Text *t = &text[k];
        const int first = k == TEXT_TARGET && model_starts(m); /* the start, which opening puts in front */
        if (k == TEXT_TARGET && text[TEXT_SOURCE].count)
            buf_puts(out, " > ");
        for (int i = first; i < t->count; i++) {
            const bool second = i && t->segment && t->segment[i] != t->segment[i - 1];
            buf_printf(out, "%s%d",
                       i == first ? "ids:"
                       : second   ? " | ids:"
                                  : ",",
                       k == c->text && i == c->place ? number : t->word[i]);
        }
    }
    return true;
}

/* The text with another word becomes B; what was on show stays as A, unless something is pinned already. */
static bool show_beside(Session *s, const char *spec, Err *err)
{
    if (session_pinned(s))
        return session_open_input(s, spec, err);
    Input in;
    if (!input_open(&in, s->now->model, spec, err))
        return grammar_suggest(s->now->model, spec, "open", err);
    return session_beside(s, &in, err);
}

static void put_line(const Model *m, const Text text[TEXTS], Buf *out)
{
    const Text *t = &text[TEXT_TARGET];
    for (int i = 0; i < t->count; i++)
        if (is_typed(m, text, TEXT_TARGET, i))
            put_word(t->label[i], out);
    if (out->len && out->data[out->len - 1] == ' ')
        out->data[--out->len] = '\0';
}

/* "elle for il, large for fatigué": where B's text has other words than A's. False where they are of other lengths, or
 * many words apart. */
static bool put_others(const Text *a, const Text *b, Buf *out)
{
    int others = 0;
    for (int i = 0; a->count == b->count && i < b->count; i++)
        others += strcmp(a->label[i], b->label[i]) != 0;
    if (a->count != b->count || others > OTHERS_MOST)
        return false;
    for (int i = 0, k = 0; i < b->count; i++)
        if (strcmp(a->label[i], b->label[i]) != 0)
            buf_printf(out, "%s%.*s for %.*s", k++ ? ", " : "", (int)strcspn(b->label[i], "#"), b->label[i],
                       (int)strcspn(a->label[i], "#"), a->label[i]);
    buf_puts(out, others ? "" : "the same");
    return true;
}

static bool report(Session *s, const Change *c, const char *was, Err *err)
{
    const Text *t = s->now->input.text;
    Buf said = {0};
    Leak leak;
    buf_printf(&said, "B reads %s where A reads %.*s. ", c->word, (int)strcspn(was, "#"), was);
    if (c->text == TEXT_TARGET && leak_find(s, &leak, err)) {
        if (leak.differ || leak.changed != 1)
            leak_put(s, &leak, &said);
        else /* a line of a narrow screen; `leak` has the numbers */
            buf_printf(&said, "Nothing differs before place %d.", leak.first);
    } else if (c->text == TEXT_SOURCE && t[TEXT_TARGET].count && !c->keep) {
        const Text *a = &session_exhibit(s, SIDE_A)->input.text[TEXT_TARGET];
        buf_puts(&said, "B writes ");
        if (!session_compares(s) || !a->label || !put_others(a, &t[TEXT_TARGET], &said)) {
            said.data[said.len - 1] = ':';
            buf_putc(&said, ' ');
            put_line(s->now->model, t, &said);
        }
        buf_putc(&said, '.');
    }
    session_say(s, "%s", buf_str(&said));
    buf_free(&said);
    return true;
}

/* Of the axes that run over one text the cursor, where the reader has not moved it from the first word. */
static void move_from_start(Session *s, AxisRole role, Sequence of, int to)
{
    const int axis = graph_role(session_base(s), role, of);
    if (axis == AXIS_NONE || s->place.at[axis] || to <= 0 || to >= session_base(s)->axes[axis].n)
        return;
    session_set_index(s, axis, to);
    session_sync(s, axis);
}

/* The cursor to where A and B first differ: of what is read on the word that was changed, of what is written on the
 * word behind which they go on with another one. Before it both answer alike. */
static void stand_where_they_differ(Session *s, const Change *c)
{
    const Text *a = &session_exhibit(s, SIDE_A)->input.text[TEXT_TARGET], *b = &s->now->input.text[TEXT_TARGET];
    const bool answer = place_at_answer(s), rewritten = c->text == TEXT_SOURCE && !c->keep;
    int first = c->text == TEXT_TARGET ? c->place : 0;
    if (c->text == TEXT_SOURCE) {
        move_from_start(s, ROLE_QUERY, SEQUENCE_SOURCE, c->place);
        move_from_start(s, ROLE_KEY, SEQUENCE_SOURCE, c->place);
    }
    while (rewritten && first < a->count && first < b->count && a->word[first] == b->word[first])
        first++;
    move_from_start(s, ROLE_QUERY, SEQUENCE_TARGET, rewritten && first < b->count ? first - 1 : first);
    if (answer)
        place_on_answer(s);
}

static bool find_place(const Session *s, const Args *a, int at, const Text text[TEXTS], Change *c, Err *err)
{
    const Graph *g = session_base(s);
    const char *word = a->word[at];
    if (a->count - at == 1) { /* the word that asks, of the text that the focus is in */
        int axis = session_role(s, ROLE_QUERY);
        c->text = c->text >= 0                                                     ? c->text
                  : axis != AXIS_NONE && g->axes[axis].sequence == SEQUENCE_TARGET ? TEXT_TARGET
                                                                                   : TEXT_SOURCE;
        axis = graph_role(g, ROLE_QUERY, c->text == TEXT_TARGET ? SEQUENCE_TARGET : SEQUENCE_SOURCE);
        c->place = axis == AXIS_NONE ? -1 : s->place.at[axis];
    } else {
        for (int k = 0; k < TEXTS && c->text < 0; k++)
            c->text = place_of_word(s->now->model, &text[k], word) >= 0 ? k : -1;
        c->place = c->text < 0 ? -1 : place_of_word(s->now->model, &text[c->text], word);
    }
    if (c->place < 0 || c->place >= text[c->text].count)
        return err_set(err, "column %d: there is no '%.24s' in %s", a->column[at], word,
                       c->text < 0 ? text[TEXT_SOURCE].count && text[TEXT_TARGET].count ? "either text" : "the text"
                       : c->text == TEXT_TARGET ? "the target"
                                                : "the source");
    return is_typed(s->now->model, text, c->text, c->place) ||
           err_set(err, "column %d: %s stands for no word of a text", a->column[at], text[c->text].label[c->place]);
}

static bool run_word(Session *s, const Args *a, Err *err)
{
    const Text *text = s->now->input.text;
    Change c = {.text = -1, .place = -1};
    int at = 0, count = a->count;
    if (!session_words(s, SIDE_B))
        return err_set(
            err, "this model reads no words: vitrine \"the animal did not cross the street\" opens one that does");
    for (int k = 0; k < TEXTS && count > 1; k++)
        if (strcmp(a->word[0], TEXT_WORD[k]) == 0) {
            c.text = k;
            at = 1;
        }
    if (count > at + 1 && strcmp(a->word[count - 1], "keep") == 0) {
        c.keep = true;
        count--;
    }
    Args left = *a;
    left.count = count;
    if (count - at < 1 || count - at > 2)
        return err_set(err, "expected the word to change and the word to put there, such as tired wide; "
                            "`vitrine translate --vocabulary` lists the words");
    if (!find_place(s, &left, at, text, &c, err))
        return false;
    if (!text[c.text].label)
        return err_set(err, "this model's words have no names: open a text of numbers instead");
    c.word = a->word[count - 1];
    char was[64];
    Buf spec = {0};
    snprintf(was, sizeof was, "%s", text[c.text].label[c.place]);
    const Model *m = s->now->model;
    bool ok = true;
    if (model_vocabulary(m)->cutter || text[c.text].segment)
        ok = put_numbers(m, text, &c, &spec, err);
    else
        put_texts(m, text, &c, &spec);
    ok = ok && show_beside(s, buf_str(&spec), err);
    buf_free(&spec);
    if (ok && s->compare == COMPARE_OFF)
        s->compare = COMPARE_SIDES;
    if (ok && session_compares(s))
        stand_where_they_differ(s, &c);
    return ok && report(s, &c, was, err);
}

static bool run_leak(Session *s, const Args *a, Err *err)
{
    Leak leak;
    Buf said = {0};
    (void)a;
    if (!leak_find(s, &leak, err))
        return false;
    leak_put(s, &leak, &said);
    session_say(s, "%s", buf_str(&said));
    buf_free(&said);
    return true;
}

static bool run_wiring(Session *s, const Args *a, Err *err)
{
    Buf said = {0};
    (void)a;
    if (!model_wiring(s->now->model, &said, err))
        return false;
    session_say(s, "%s", buf_str(&said));
    buf_free(&said);
    return true;
}

static void complete_words(const Session *s, int index, Buf *out)
{
    const Text *text = s->now->input.text;
    const Graph *g = session_base(s);
    for (int k = 0; index == 0 && k < TEXTS; k++)
        for (int i = 0; text[k].label && i < text[k].count; i++)
            if (is_typed(s->now->model, text, k, i))
                buf_printf(out, "%s\n", text[k].label[i]);
    for (int i = 0; index > 0 && i < g->axis_count; i++) /* the vocabularies */
        for (int w = 0; g->axes[i].kind == AXIS_CLASS && g->axes[i].labels && w < g->axes[i].n; w++)
            if (*g->axes[i].labels[w] && (*g->axes[i].labels[w] != '<' || byte_text_raw(g->axes[i].labels[w])))
                buf_printf(out, "%s\n", g->axes[i].labels[w]);
}

static const Command COMMANDS[] = {
    COMMAND("word", "change", "word [source, target] [WORD] WORD [keep]",
            "replace a word of the text, and compare: word tired wide; keep: the target stays", COMMAND_EDIT, run_word,
            complete_words),
    COMMAND("wiring", "ask", "wiring",
            "compare the masks and wiring of encoder-decoder, decoder-only and encoder-only models", COMMAND_SESSION,
            run_wiring, NULL),
    COMMAND("decode", "look",
            "decode [greedy, beam, draw, typed] [N, +1, -1] [alpha=A] [temperature=T] [top-k=K] [top-p=P] [cache=on, "
            "off, toggle]",
            "write greedily (as `write`, if nothing is said), by a beam of width N, or drawn from seed N; show all "
            "beginnings as a tree; typed: back from one that Enter ran",
            COMMAND_SESSION, decoding_command, NULL),
    COMMAND("leak", "ask", "leak", "check that nothing before the target's changed word depends on it", COMMAND_SESSION,
            run_leak, NULL),
};

CommandTable session_commands_words(void)
{
    return (CommandTable){COMMANDS, (int)(sizeof COMMANDS / sizeof *COMMANDS), NULL};
}
