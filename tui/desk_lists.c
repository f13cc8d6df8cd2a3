/* The list of lessons, the words of a card, its notes. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/base/utf8.h"
#include "core/models/names.h"
#include "core/session/ask/ask.h"
#include "core/session/ask/number.h"
#include "core/session/screens.h"
#include "lessons/numbers.h"
#include "tui/app.h"
#include "tui/desk.h"
#include "tui/progress.h"

static void about(const LessonFile *f, char *title, size_t n, int *minutes, int *cards)
{
    Lesson l;
    *title = 0;
    *minutes = *cards = 0;
    if (lesson_parse(&l, f->name, f->text, f->size, 0, NULL)) {
        utf8_print(title, n, "%s", l.title);
        *minutes = l.minutes;
        *cards = l.count;
    }
    lesson_free(&l);
}

static void put_progress(const LessonProgress *p, int cards, char *out, size_t n)
{
    if (!p->cards)
        snprintf(out, n, "%d cards", cards);
    else if (p->card == p->cards - 1)
        snprintf(out, n, "done");
    else
        snprintf(out, n, "card %d of %d", p->card + 1, p->cards);
}

static void which_of(const LessonFile *f, char *out, size_t n)
{
    if (f->number >= 0)
        snprintf(out, n, "%d", f->number);
    else
        utf8_print(out, n, "%.*s", (int)strcspn(f->name, "."), f->name);
}

/* Does a lesson say that it explains that screen ("": any), and that node ("": any)? Of a text that is translated one
 * about the translator; of a decoder alone one that names its node without speaking of the translator; what √d_k is for
 * is the same in all. */
static bool explains(const Session *s, const LessonFile *f, const char *screen, const char *path)
{
    Lesson l;
    const unsigned way = model_way(s->now->model); /* an encoder alone: neither about it nor about pictures is any */
    const Graph *g = session_base(s);
    bool found = false, scale = node_factor(g) == FACTOR_ROOT &&
                                (site_is(g, path, SITE_SCALE) || site_is(g, path, SITE_SCORES_SCALED));
    if (lesson_parse(&l, f->name, f->text, f->size, 0, NULL) &&
        (scale ||
         (way == MODEL_WRITES ? !l.translator.count && !*screen && strncmp(path, "decoder.", strlen("decoder.")) == 0
                              : way != MODEL_READS && (l.translator.count > 0) == (way != 0))))
        found = (!*screen || lesson_explains(&l, screen, "")) && (!*path || lesson_explains(&l, "", path));
    lesson_free(&l);
    return found;
}

/* What the reader changed of attention's scale says more of a row than the row itself: its node, or NULL. */
static const char *changed_scale(const Session *s)
{
    static const char SCALE[] = "set scale ";
    for (int i = 0; i < s->edits.count; i++)
        if (strncmp(s->edits.line[i], SCALE, strlen(SCALE)) == 0 && screen_now(s)->group == GROUP_ATTENTION)
            return session_attention_site(s, session_base(s), -1, SITE_SCALE);
    return NULL;
}

bool desk_offer(const Session *s, Buf *out)
{
    const char *screen = screen_name(s->place.screen), *path = s->place.path, *scale = changed_scale(s);
    bool learned = screen_now(s)->group == GROUP_LEARNED; /* there the screen says more than the node */
    const char *const CLAIMS[][2] = {{scale ? "" : screen, scale ? scale : path},
                                     {learned ? screen : "", learned ? "" : path},
                                     {screen, ""}};
    for (size_t pass = 0; pass < sizeof CLAIMS / sizeof *CLAIMS; pass++) {
        LessonFile f;
        for (int i = 0; lesson_at(i, &f); i++) {
            char title[100], which[64];
            int minutes, cards;
            if (!explains(s, &f, CLAIMS[pass][0], CLAIMS[pass][1]))
                continue;
            about(&f, title, sizeof title, &minutes, &cards);
            which_of(&f, which, sizeof which);
            buf_printf(out, "Lesson %s, %s, explains this: t.\n", which, title);
            return true;
        }
    }
    return false;
}

static void add_lesson(Overlay *o, const LessonFile *f, const char *before)
{
    char title[100], text[200], key[40], command[80], which[64];
    int minutes, cards;
    LessonProgress p = progress_load(f->name);
    about(f, title, sizeof title, &minutes, &cards);
    which_of(f, which, sizeof which);
    put_progress(&p, cards, key, sizeof key);
    utf8_print(text, sizeof text, "%s%s%s%s  %d min", before, f->number >= 0 ? which : "", f->number >= 0 ? ". " : "",
               title, minutes);
    snprintf(command, sizeof command, "lesson %s", which);
    overlay_add(o, text, key, command);
}

static void add_cards(Overlay *o)
{
    LessonFile f;
    overlay_add(o, "Cards", "", NULL);
    for (int i = 0; lesson_at(i, &f); i++)
        if (f.number < 0)
            add_lesson(o, &f, "");
}

void desk_add_lessons(Overlay *o)
{
    LessonFile f;
    for (int i = 0; lesson_at(i, &f); i++)
        if (f.number >= 0)
            add_lesson(o, &f, "");
    add_cards(o);
}

/* The lesson that a newcomer begins with: the one of the model's own kind (frame.c's hint says it too). */
static bool first_lesson(const Session *s, LessonFile *out)
{
    const unsigned way = model_way(s->now->model);
    return lesson_by_number(!way ? 0 : way == MODEL_WRITES ? 26 : 16, out);
}

typedef enum About { ABOUT_OWN, ABOUT_TEXTS, ABOUT_PICTURES } About;

/* Is a lesson about texts, and where a decoder alone is on show, without the translator about nodes that it has? */
static About lesson_about(const Session *s, const LessonFile *f)
{
    Lesson l;
    const Graph *g = session_base(s);
    const bool alone = model_way(s->now->model) == MODEL_WRITES;
    About about = ABOUT_PICTURES;
    if (lesson_parse(&l, f->name, f->text, f->size, 0, NULL)) {
        about = l.translator.count ? ABOUT_TEXTS : ABOUT_PICTURES;
        for (int i = 0; about == ABOUT_PICTURES && i < l.explains.count; i++)
            about = strncmp(l.explains.at[i].text, "decoder.", strlen("decoder.")) == 0 ? ABOUT_TEXTS : about;
        for (NodeId n = 0; alone && about == ABOUT_TEXTS && !l.translator.count && n < g->count; n++)
            about = strncmp(graph_node(g, n)->path, "decoder.", strlen("decoder.")) == 0 &&
                            lesson_explains(&l, "", graph_node(g, n)->path)
                        ? ABOUT_OWN
                        : about;
    }
    lesson_free(&l);
    return about;
}

/* Of a model of texts all lessons, those about texts first, and of these what it has itself. */
static void add_for_texts(Overlay *o, const Session *s)
{
    LessonFile f;
    for (About about = ABOUT_OWN; about <= ABOUT_PICTURES; about++) {
        if (about != ABOUT_TEXTS)
            overlay_add(o,
                        about == ABOUT_OWN ? "about texts"
                                           : "about pictures; attention and its arithmetic are the same",
                        "", NULL);
        for (int i = 0; lesson_at(i, &f); i++)
            if (f.number >= 0 && lesson_about(s, &f) == about)
                add_lesson(o, &f, "");
    }
    add_cards(o);
}

void desk_menu(Overlay *o, const Session *s)
{
    LessonFile f;
    overlay_list(o, "Lessons: digits or ↑↓ choose, Enter opens where you left it");
    char *last = state_load_file("lesson");
    for (int i = 0; last && lesson_at(i, &f); i++) {
        LessonProgress p = progress_load(f.name);
        if (strcmp(last, f.name) != 0)
            continue;
        if (!p.cards) /* left at the question before it */
            add_lesson(o, &f, "next: ");
        else if (p.card < p.cards - 1)
            add_lesson(o, &f, "go on: ");
        else if (f.number >= 0 && lesson_by_number(f.number + 1, &f))
            add_lesson(o, &f, "next: ");
    }
    free(last);
    const char *scale = changed_scale(s); /* who changed it asks about it */
    for (int i = 0; scale && lesson_at(i, &f); i++)
        if (explains(s, &f, "", scale))
            add_lesson(o, &f, "about this change: ");
    if (first_lesson(s, &f) && !progress_load(f.name).cards)
        add_lesson(o, &f, "begin here: ");
    for (int i = 0; lesson_at(i, &f); i++)
        if (!(scale && explains(s, &f, "", scale)) &&
            (explains(s, &f, screen_name(s->place.screen), "") || explains(s, &f, "", s->place.path)))
            add_lesson(o, &f, "about this screen: ");
    if (model_way(s->now->model))
        add_for_texts(o, s);
    else
        desk_add_lessons(o);
}

void lessons_text(Buf *out)
{
    LessonFile f;
    for (int i = 0; lesson_at(i, &f); i++) {
        char title[100], progress[40], which[64];
        int minutes, cards;
        LessonProgress p = progress_load(f.name);
        about(&f, title, sizeof title, &minutes, &cards);
        which_of(&f, which, sizeof which);
        put_progress(&p, cards, progress, sizeof progress);
        int column = f.number >= 0 ? 4 : 20, pad = 49 - column - utf8_cells(title); /* within 80 columns */
        buf_printf(out, "%-*s%s%*s %2d min  %s\n", column, which, title, pad > 0 ? pad : 0, "", minutes, progress);
    }
}

void desk_help(const Desk *d, Overlay *o)
{
    Buf text = {0};
    const Card *c = player_card(&d->player);
    for (int i = 0; i < c->item_count; i++)
        for (int k = 0; k < c->items[i].count; k++)
            if (c->items[i].spans[k].style == SPAN_TERM)
                ask_glossary(d->player.s, c->items[i].spans[k].text, &text, NULL);
    for (int i = 0; i < d->player.lesson.needs.count; i++)
        buf_printf(&text, "%s:lesson %s", i ? ", " : "Needs ", d->player.lesson.needs.at[i].text);
    if (d->player.lesson.needs.count)
        buf_puts(&text, "\n");
    for (int i = 0; i < d->player.lesson.reads.count; i++)
        buf_printf(&text, "Read on: %s\n", d->player.lesson.reads.at[i].text);
    buf_puts(&text, "Space reads on and leads to the next card, Backspace to the one before, digits answer, n skips a "
                    "question and tells what is right, ! hint, ? the card's words one by one, = where its numbers come "
                    "from, N notes for who teaches, . plays the arithmetic of a table's cell, q comes back from what "
                    "you went into, then leaves the lesson. While a question stands, letters only move about. Every "
                    "other key works as always: what you change here is put back when you leave.\n"
                    ":glossary WORD explains any word.\n");
    overlay_text(o, "Words of this card", buf_str(&text));
    buf_free(&text);
}

/* The first address of an expression that names something of what is on show, as `goto` takes it. */
static bool leads_to(const Player *p, const char *expression, Buf *out)
{
    Address at;
    const Example *e = player_shows(p, &at);
    for (const char *q = expression; *q;) {
        size_t n = isalpha((unsigned char)*q) ? cells_address(q) : 0;
        char text[160];
        if (!n || q[n] == '(' || n >= sizeof text) {
            q += n ? n : 1;
            continue;
        }
        utf8_print(text, sizeof text, "%.*s", (int)n, q);
        const char *colon = strchr(text, ':'), *name = colon ? colon + 1 : text;
        bool here = !colon || (colon == text + 1 && strchr("ab", *text)) ||
                    (e && strlen(e->name) == (size_t)(colon - text) && strncmp(e->name, text, strlen(e->name)) == 0);
        if (here && address_parse(p->s, session_graph(p->s, SIDE_B), name, &at, NULL) && at.is_node) {
            buf_printf(out, "goto %s%s", name, e ? "; view worked" : "");
            return true;
        }
        q += n;
    }
    return false;
}

static void add_number(const Player *p, Overlay *o, const char *number, const char *expression)
{
    char text[300];
    Buf go = {0}, value = {0};
    double x;
    bool leads = leads_to(p, expression, &go);
    if (player_value(p, expression, &x, NULL))
        number_put(x, x == dm_floor(x) ? -1 : 6, &value);
    utf8_print(text, sizeof text, "%s  is  %.240s", number, expression);
    overlay_add(o, text, buf_str(&value), leads ? buf_str(&go) : NULL);
    buf_free(&go);
    buf_free(&value);
}

/* The values {{EXPRESSION|DECIMALS}} of a text. */
static void add_live(const Player *p, Overlay *o, const char *text)
{
    for (const char *open = text; (open = strstr(open, "{{")) != NULL; open += 2) {
        char expression[256];
        Buf shown = {0}, live = {0};
        size_t n = strcspn(open, "}");
        buf_printf(&live, "%.*s}}", (int)n, open);
        utf8_print(expression, sizeof expression, "%.*s", (int)strcspn(open + 2, "|}"), open + 2);
        if (player_text(p, buf_str(&live), &shown, NULL))
            add_number(p, o, buf_str(&shown), expression);
        buf_free(&shown);
        buf_free(&live);
    }
}

/* What stands on the card before it is answered: the numbers of its answers stay theirs. */
static bool says_number(const Card *c, const char *number)
{
    bool says = c->question && strstr(c->question->text, number);
    for (int i = 0; i < c->item_count && !says; i++)
        for (int k = 0; k < c->items[i].count && !says; k++)
            says = strstr(c->items[i].spans[k].text, number) != NULL;
    return says;
}

void desk_numbers(const Desk *d, Overlay *o)
{
    const Player *p = &d->player;
    const Card *c = player_card(p);
    double x, half;
    overlay_list(o, "Numbers of this card: Enter goes there, q comes back");
    for (int e = 0, q = 0; e < c->expect_count || q < c->quoted.count;) {
        const Expectation *x1 = &c->expect[e];
        if (e < c->expect_count && (q >= c->quoted.count || x1->line < c->quoted.at[q].line)) {
            bool left = number_literal(x1->left, &x, &half);
            const char *number = left ? x1->left : x1->right;
            if (x1->relation == RELATION_EQUAL && left != number_literal(x1->right, &x, &half) &&
                says_number(c, number))
                add_number(p, o, number, left ? x1->right : x1->left);
            e++;
        } else {
            char text[200];
            const char *from = c->quoted.at[q + 1].text;
            bool number = number_literal(c->quoted.at[q].text, &x, &half), given = strcmp(from, "given") == 0;
            utf8_print(text, sizeof text, "%s  %s%.160s", c->quoted.at[q].text, given ? "" : "from ",
                       given ? "is what the card sets up" : from);
            if (number && says_number(c, c->quoted.at[q].text))
                overlay_add(o, text, "", NULL);
            q += 2;
        }
    }
    for (int i = 0; i < c->item_count; i++)
        for (int k = 0; k < c->items[i].count; k++)
            add_live(p, o, c->items[i].spans[k].text);
    add_live(p, o, c->question ? c->question->text : "");
}

void desk_notes(const Desk *d, Overlay *o)
{
    Buf text = {0};
    const Card *c = player_card(&d->player);
    const Lesson *l = &d->player.lesson;
    for (int i = 0; i < c->notes.count; i++) {
        player_text(&d->player, c->notes.at[i].text, &text, NULL);
        buf_puts(&text, "\n");
    }
    if (!c->notes.count)
        buf_puts(&text, "This card has no notes.\n");
    for (int i = 0; i < l->misconception.count; i++)
        buf_printf(&text, "The misconception of this lesson: %s\n", l->misconception.at[i].text);
    for (int i = 0; i < l->able.count; i++)
        buf_printf(&text, "Afterwards one can: %s\n", l->able.at[i].text);
    if (d->player.card + 1 < l->count)
        buf_printf(&text, "Next card: %s\n", l->cards[d->player.card + 1].title);
    overlay_text(o, "Notes for who teaches", buf_str(&text));
    buf_free(&text);
}
