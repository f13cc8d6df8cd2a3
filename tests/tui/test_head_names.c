/* Heads by their names, on every screen: of many heads in many blocks, at any width, no two of a drawing have the same
 * one, and none is an ellipsis that could stand for several. */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/clock.h"
#include "core/session/screens.h"
#include "core/session/state.h"
#include "tests/core_models/text_bench.h"
#include "tests/every.h"
#include "tests/tui/opened.h"
#include "tui/frame.h"

enum { WORD = 24, WORDS_MOST = 128, IN_A_ROW = 3, NARROWEST = 60, WIDEST = 200, STEP = 16, SCREENS_LEAST = 7 };

static Session s;
static Commands all;
static Err error;
static char where[160];

/* What stands between two blanks or borders of a line: "h3", "12", "h…". */
typedef struct Word {
    char text[WORD]; /* an ellipsis is '~', any other sign that is not ASCII '?' */
    int x, w;
} Word;

static int words_of(const Canvas *c, Rect r, int y, Word out[WORDS_MOST])
{
    int n = 0;
    for (int x = r.x; x < r.x + r.w && n < WORDS_MOST;) {
        Word *word = &out[n];
        *word = (Word){.x = x};
        for (; x < r.x + r.w; x++) {
            const Cell *k = &c->cells[y * c->w + x];
            if (k->level || k->ch <= ' ' || (k->ch >= 0x2500 && k->ch < 0x25a0)) /* a colour, a border, a bar */
                break;
            if (word->w < WORD - 1)
                word->text[word->w++] = k->ch == 0x2026 ? '~' : k->ch < 127 ? (char)k->ch : '?';
        }
        n += word->w > 0;
        x += !word->w;
    }
    return n;
}

static int number_of(const char *text)
{
    const size_t digits = strspn(text, "0123456789");
    return digits && digits < 5 && !text[digits] ? atoi(text) : -1;
}

/* The number of a head whose name begins at word i: "h3", ">h3", "[h3", "head 3"; −1: none does. */
static int head_of(const Word *w, int n, int i)
{
    const char *text = w[i].text + strspn(w[i].text, ">[");
    if (strcmp(text, "head") == 0 && i + 1 < n && w[i + 1].x == w[i].x + w[i].w + 1)
        return number_of(w[i + 1].text);
    return *text == 'h' ? number_of(text + 1) : -1;
}

/* Is a name cut: "h…", "h1…", "hea…", "head …", "head 1…"? Not of "all heads". */
static bool is_cut(const Word *w, int n, int i)
{
    if (i && strcmp(w[i - 1].text, "all") == 0)
        return false;
    const char *text = w[i].text + strspn(w[i].text, ">["), *end = strchr(text, '~');
    if ((strcmp(text, "head") == 0 || strcmp(text, "block") == 0) && i + 1 < n)
        return w[i + 1].x == w[i].x + w[i].w + 1 &&
               strchr(*text == 'h' ? "0123456789~" : "0123456789", w[i + 1].text[0]) && strchr(w[i + 1].text, '~');
    if (!end || end[1] || *text != 'h')
        return false;
    const size_t letters = (size_t)(end - text);
    return strncmp(text, "head", letters) == 0 || strspn(text + 1, "0123456789") == letters - 1;
}

/* Where numbers in a line are heads. */
static const bool BARE[SCREEN_COUNT] = {[SCREEN_SHEET] = true,
                                        [SCREEN_HEADS] = true,
                                        [SCREEN_CENSUS] = true,
                                        [SCREEN_LEDGER] = true,
                                        [SCREEN_PATCHES] = true};

/* Bare numbers that count up are names too, and what follows them goes on counting: none of it is cut, be it to an
 * ellipsis, be it to the first digits of the number that is due. */
static int bare_names(const Word *w, int n)
{
    int seen = 0;
    for (int i = 0; i < n; i++) {
        int k = 0;
        while (i + k < n && number_of(w[i + k].text) >= 0 && number_of(w[i + k].text) == number_of(w[i].text) + k)
            k++;
        if (k >= IN_A_ROW) {
            const char *next = i + k < n ? w[i + k].text : "";
            const int due = number_of(w[i].text) + k, there = number_of(next);
            if (there > number_of(w[i].text) && (there == due / 10 || there == due / 100))
                fail_msg("%s: %s stands where %d is due", where, next, due);
            if (*next == '~' || (isdigit((unsigned char)*next) && next[strspn(next, "0123456789")] == '~'))
                fail_msg("%s: behind %s stands a name that is cut", where, w[i + k - 1].text);
            seen += k;
        }
        i += k > 1 ? k - 1 : 0;
    }
    return seen;
}

/* Returns how many names are in that line. What begins anew is of another block, but not where it counts up and then
 * the same name follows itself. */
static int names_in(const Word *w, int n, int heads)
{
    int seen = 0, last = -1, ups = 0, end = -1;
    for (int i = 0; i < n; i++) {
        if (is_cut(w, n, i))
            fail_msg("%s: \"%s %s\" is cut", where, i ? w[i - 1].text : "", w[i].text);
        const int head = head_of(w, n, i);
        if (head < 0)
            continue;
        if (head >= heads)
            fail_msg("%s: there is no head %d", where, head);
        if (i && isdigit((unsigned char)w[i - 1].text[0]) && w[i - 1].text[w[i - 1].w - 1] == '~')
            fail_msg("%s: the block before %s is cut", where, w[i].text);
        if (head == last && end == i && ups)
            fail_msg("%s: two heads are called %s", where, w[i].text);
        ups += head > last && last >= 0;
        last = head;
        end = i + (strstr(w[i].text, "head") ? 2 : 1);
        seen++;
    }
    return seen + (BARE[s.place.screen] ? bare_names(w, n) : 0);
}

static int draw(int h, int w, int heads)
{
    Canvas c = {0};
    Word word[WORDS_MOST];
    int seen = 0;
    const size_t said = strlen(where);
    canvas_resize(&c, h, w);
    canvas_clear(&c);
    Frame f = frame_layout(&s, h, w, false);
    Needs needs = {.count = 0};
    frame_needs(&s, &f, &needs);
    while (!session_step_pass(&s, needs.item, needs.count, CLOCK_NEVER))
        continue;
    Paint p = {.s = &s, .c = &c, .mode = MODE_256};
    FrameState state = {.message = "", .status = "256c"};
    frame_draw(&p, &f, &state);
    for (int i = 0; i < f.count; i++)
        for (int y = f.pane[i].inside.y; y < f.pane[i].inside.y + f.pane[i].inside.h; y++) {
            snprintf(where + said, sizeof where - said, ", %dx%d, line %d", w, h, y);
            seen += names_in(word, words_of(&c, f.pane[i].inside, y, word), heads);
        }
    where[said] = '\0';
    canvas_free(&c);
    return seen;
}

/* The lines of a frame of so many columns. */
static int lines_of(int w)
{
    return w < 100 ? 24 : w < 150 ? 40 : 60;
}

/* Every screen of the model that is open; returns how many of them name a head at one width at least. */
static int every_screen(const char *model, int heads)
{
    static const char *const MORE[] = {"ledger; view next", "heads; view next"};
    const int more = (int)(sizeof MORE / sizeof *MORE);
    int screens = 0;
    for (int i = 0; i < SCREEN_COUNT + more; i++) {
        const char *command = i < SCREEN_COUNT ? screen_spec((Screen)i)->command : MORE[i - SCREEN_COUNT];
        int seen = 0;
        if (!session_read(&s, &all, "goto blocks.0.attn.pattern", LINE_FOREIGN | COMMAND_UI, &error) &&
            !session_read(&s, &all, "goto decoder.blocks.0.self_attn.pattern", LINE_FOREIGN | COMMAND_UI, &error))
            fail_msg("%s: %s", model, error.text);
        if (!session_read(&s, &all, command, LINE_FOREIGN | COMMAND_UI, &error))
            continue; /* of pictures, of words, of a worked example */
        snprintf(where, sizeof where, "%s, %s", model, command);
        for (int w = NARROWEST; w <= WIDEST; w += STEP)
            seen += draw(lines_of(w), w, heads);
        screens += seen > 0;
    }
    return screens;
}

/* As trained, and beside a second run: a third of the width is left. */
static void both_ways(const char *model, int heads)
{
    for (int sides = 0; sides < 2; sides++) {
        char name[96];
        snprintf(name, sizeof name, "%s%s", model, sides ? ", three panes" : "");
        if (sides && !session_read(&s, &all, "set scale off; compare sides", LINE_FOREIGN | COMMAND_UI, &error))
            fail_msg("%s: %s", name, error.text);
        const int screens = every_screen(name, heads);
        if (screens < SCREENS_LEAST)
            fail_msg("%s: only %d screens name heads", name, screens);
    }
    session_free(&s);
}

/* Maps of many patches are pooled until a name has hardly a column. */
static const struct {
    int heads, blocks, grid;
} FORMS[] = {{1, 1, 4},   {2, 12, 4},  {4, 48, 4},  {9, 3, 4},   {10, 2, 4},
             {11, 6, 14}, {12, 12, 4}, {16, 24, 4}, {24, 3, 14}, {24, 48, 4}};

/* In 80 × 24 the census has 12 heads of 12 blocks by their colours, where their numbers have no room. */
static void all_heads_are_counted(void **state)
{
    (void)state;
    enum { HEADS = 12 };
    VitConfig c = model_bundled_config();
    Model m = {0};
    c.image_h = c.image_w = 4 * c.patch_h;
    c.layers = c.heads = HEADS;
    c.head_dim = 2;
    c.width = 2 * c.heads;
    c.mlp = 8;
    c.scale = vit_scale(c.head_dim);
    model_seeded(&m, &c, 5);
    if (!session_init_model(&s, &m, NULL, 1, &error) ||
        !session_read(&s, &all, "census", LINE_FOREIGN | COMMAND_UI, &error))
        fail_msg("%s", error.text);
    snprintf(where, sizeof where, "census");
    assert_int_equal(draw(24, 80, HEADS), HEADS + 1); /* and the one in focus, beside them */
    session_free(&s);
}

static void of_pictures(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof FORMS / sizeof *FORMS; i += (size_t)cases_every(1)) {
        VitConfig c = model_bundled_config();
        char name[64];
        Model m = {0};
        c.image_h = c.image_w = FORMS[i].grid * c.patch_h;
        c.layers = FORMS[i].blocks;
        c.heads = FORMS[i].heads;
        c.head_dim = 2;
        c.width = 2 * c.heads;
        c.mlp = 8;
        c.scale = vit_scale(c.head_dim);
        model_seeded(&m, &c, 5);
        if (!session_init_model(&s, &m, NULL, 1, &error))
            fail_msg("%s", error.text);
        snprintf(name, sizeof name, "%d heads, %d blocks", FORMS[i].heads, FORMS[i].blocks);
        both_ways(name, FORMS[i].heads);
    }
}

static void of_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof FORMS / sizeof *FORMS; i += (size_t)cases_every(1)) {
        Seq2seqConfig c = text_tiny();
        char name[64];
        Model m;
        c.heads = FORMS[i].heads;
        c.head_dim = 2;
        c.width = 2 * c.heads;
        c.encoder_layers = c.decoder_layers = FORMS[i].blocks < 12 ? FORMS[i].blocks : 12;
        c.scale = vit_scale(c.head_dim);
        text_model_seeded(&m, &c, 5);
        m.source.word = m.target.word = NULL;
        if (!session_init_model(&s, &m, NULL, 1, &error))
            fail_msg("%s", error.text);
        snprintf(name, sizeof name, "words, %d heads, %d blocks", FORMS[i].heads, c.decoder_layers);
        both_ways(name, FORMS[i].heads);
    }
}

static int start(void **state)
{
    (void)state;
    static Ui ui;
    ui.commands = &all;
    opened_commands(&all, &ui);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    commands_free(&all);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(all_heads_are_counted, start, stop),
                                       cmocka_unit_test_setup_teardown(of_pictures, start, stop),
                                       cmocka_unit_test_setup_teardown(of_words, start, stop)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
