/* Where the panes of a frame stand, and what they need. */
#include "tui/frame.h"

#include "core/session/play.h"
#include "core/session/screens.h"
#include "tui/views/attention/sheet_fit.h"
#include "tui/views/text/headline.h"

/* Every size at which the arrangement changes. A row of steps is read from the top: with at least so many lines or
 * columns, give so many; a negative number is a share: −3 a third. The last row ends it. */
typedef struct Step {
    int at_least, give;
} Step;
static const Step FOOTER_LINES[] = {{4, 1}, {0, 0}}, ANSWER_LINES[] = {{6, 1}, {0, 0}},
                  HEADER_LINES[] = {{8, 1}, {0, 0}}, HINT_LINES[] = {{18, 1}, {0, 0}},
                  SENTENCE_LINES[] = {{5, 1}, {0, 0}}, SENTENCE_LINES_NARROW[] = {{12, 2}, {5, 1}, {0, 0}};
/* columns: the map of steps by the screen's width, what stands beside the view by what is left */
static const Step STEPS_WIDTH[] = {{180, 50}, {110, 28}, {0, 18}}, STEPS_WIDTH_MAPS[] = {{180, 44}, {110, 28}, {0, 18}},
                  SIDE_WIDTH[] = {{150, 44}, {90, 32}, {0, 20}};
/* lines of what goes below a view */
static const Step BELOW_LINES[] = {{50, 17}, {30, 12}, {20, 7}, {0, 0}};
/* below three sides: what A and B answer; a row of attention as a profile, and where there is room the figures of it */
static const Step SIDES_ANSWER[] = {{50, 12}, {34, 8}, {16, 6}, {0, 0}},
                  SIDES_ANSWER_PROFILE[] = {{50, 9}, {25, 6}, {0, 0}},
                  SIDES_PROFILE[] = {{50, 12}, {34, 9}, {19, 7}, {16, 6}, {0, 0}}, SIDES_FIGURES[] = {{50, 6}, {0, 0}};
/* beside attention; the cursor: the node, its value or both and A − B, head, both tokens */
static const Step ATTENTION_INFO[] = {{40, 12}, {30, 9}, {0, 0}}, ATTENTION_ANSWER[] = {{40, 8}, {23, 5}, {0, 0}},
                  ATTENTION_CURSOR[] = {{16, 7}, {0, 0}}, ATTENTION_CURSOR_SIDES[] = {{16, 9}, {0, 0}};
/* beside any other view */
static const Step BESIDE_ANSWER[] = {{30, 13}, {18, 7}, {12, -3}, {0, 0}},
                  BESIDE_CURSOR[] = {{26, 10}, {10, -2}, {0, 0}};
enum {
    ONE_PANE_WIDTH = 40, /* narrower or lower than that there is one pane */
    ONE_PANE_LINES = 6,
    MAP_WIDTH = 76,       /* from here on the map of steps stands beside, and … */
    MAP_WIDTH_WIDE = 110, /* … beside a view that needs the width */
    SENTENCE_WIDTH = 78,  /* the longest sentence with its margin: a narrower screen wraps it */
    AROUND_LINES = 28,    /* inside a map of attention: from here on its row goes with it, … */
    LISTED_LINES = 25,    /* … a list of words leaves none for */
    PROFILE_LEAST = 7,    /* … as a profile of so many lines, */
    PROFILE_MOST = 12,
    HEADS_MOST = 17,   /* in every head, */
    WORDS_AROUND = 5,  /* of a matrix of words: its border, names of columns, scale and value */
    BESIDE_LEAST = 18, /* and over the picture in so many columns */
    ANSWERS_MOST = 50,
    ANSWERS_LESS = 2,
    SHEET_AROUND = 4, /* of a line for every head: the border, the words' names, the key */
    ANSWER_AROUND = 4 /* of a pane of answers: its border, what the columns are, what was drawn */
};

static int step_of(const Step *steps, int have)
{
    while (have < steps->at_least && steps->at_least > 0) /* less than nothing is left: the last step */
        steps++;
    return steps->give < 0 ? have / -steps->give : steps->give;
}

static void add_pane(Frame *f, const ViewSpec *view, Rect box, Side side, bool focus, bool steps)
{
    if (f->count == FRAME_PANES || box.h < 1 || box.w < 1)
        return;
    Rect inside = box.h > 2 && box.w > 2 ? rect_inset(box, 1) : (Rect){box.y, box.x, 0, 0};
    f->pane[f->count++] = (Pane){
        .view = view, .box = box, .inside = inside, .side = side, .focus = focus, .steps = steps};
}

/* Lines of the pane of answers with all of them in it. */
static int most_answers(const Session *s)
{
    const NodeId n = session_node(s, SIDE_B, shown_site(s, SIDE_B, SITE_PROBS));
    const size_t classes = n == NO_NODE ? 0 : graph_cells(session_graph(s, SIDE_B), n);
    return ANSWER_AROUND + (classes < ANSWERS_MOST ? (int)classes : ANSWERS_MOST);
}

/* Is it a sheet that has not all heads in one of three such panes? */
static bool crowded(const Session *s, int h, int w)
{
    Attend a;
    return view_now(s) == &VIEW_SHEET && attend_open(s, SIDE_B, -1, &a) && !attend_listed(&a) &&
           !sheet_detail(s, &a, h - 2, w / 3 - 2);
}

/* A, B and A − B in three columns, with the figures of attention; below them what both answer. */
static void layout_sides(const Session *s, Frame *f, Rect r)
{
    const ViewSpec *view = view_now(s);
    bool focus = !s->look.steps_focused, figures = view->traits & VIEW_ATTENTION;
    int high = r.h;
    Attend a;
    const bool listed = view->below && high < LISTED_LINES && attend_open(s, SIDE_B, -1, &a) && attend_listed(&a);
    int profile = figures && !listed ? step_of(SIDES_PROFILE, high) : 0; /* words in lines have their own bars */
    int answers = step_of(figures ? SIDES_ANSWER_PROFILE : SIDES_ANSWER, high);
    if (crowded(s, high - profile - answers - (figures ? step_of(SIDES_FIGURES, high) : 0), r.w) &&
        !crowded(s, high, r.w))
        profile = answers = 0;
    Rect under = rect_cut(&r, 'b', profile);
    if (answers && view->uses) /* what the picture has no use for goes to the answers, as many as there are */
        answers = clamp(most_answers(s), answers, r.h - 2 - view->uses(s, SIDE_B, r.h - 2 - answers, r.w / 3 - 2));
    if (view == &VIEW_MATRIX && attend_open(s, SIDE_B, -1, &a) && attend_listed(&a) &&
        a.t_axis->n + WORDS_AROUND > r.h - answers && a.t_axis->n + WORDS_AROUND <= r.h)
        answers = 0; /* rather a line and a name for every word; the first answer stands in the last line but one */
    const int lines = view == &VIEW_SHEET && attend_open(s, SIDE_B, -1, &a) && attend_listed(&a)
                          ? session_blocks_on(s, SIDE_B) * a.heads + SHEET_AROUND - (r.h - answers)
                          : 0;
    if (lines > 0 && lines <= ANSWERS_LESS &&
        answers > ANSWERS_LESS + 3) /* rather a line of names than an answer more */
        answers -= lines;
    Rect answer = rect_cut(&r, 'b', answers);
    int rows = figures ? step_of(SIDES_FIGURES, high) : 0;
    /* of numbers, where three would show half as many, A and B alone: A − B is a key away */
    const int panes = !figures && view->alone && view->alone(s, SIDE_B, high - 2, r.w / 3 - 2, r.w / 2 - 2) ? 2 : 3,
              width = r.w / panes;
    static const Side SIDES[] = {SIDE_A, SIDE_B, SIDE_DIFF};
    static const char *const LABELS[] = {"A", "B", "A − B"};
    for (int i = 0; i < panes; i++) {
        Rect column = rect_cut(&r, 'l', i < panes - 1 ? width : r.w), figure = rect_cut(&column, 'b', rows);
        add_pane(f, view, column, SIDES[i], focus && i == 1, false);
        f->pane[f->count - 1].label = SIDES[i] == SIDE_DIFF && view == &VIEW_WRITING ? "A and B"
                                                                                     : LABELS[i]; /* words */
        if (i == panes - 1 && f->pane[f->count - 1].inside.w > width - 2)
            f->pane[f->count - 1].inside.w = width - 2; /* all are drawn alike: the border has what is left */
        add_pane(f, &VIEW_FIGURES, figure, SIDES[i], false, false);
    }
    add_pane(f, &VIEW_ANSWER, answer, SIDE_B, false, false);
    add_pane(f, &VIEW_PROFILE, under, SIDE_B, false, false);
}

/* Does the view leave it to a panel beside it what the model answers? */
static bool side_answers(const Session *s, Side side)
{
    return !(view_now(s)->traits & VIEW_CLASSES) && session_node(s, side, shown_site(s, side, SITE_PROBS)) != NO_NODE;
}

static void layout_side_column(const Session *s, Frame *f, Rect r, Side side, bool lesson)
{
    unsigned traits = view_now(s)->traits;
    bool answers = side_answers(s, side);
    if (traits & VIEW_ATTENTION) {
        Rect info = rect_cut(&r, 'b', lesson ? 0 : step_of(ATTENTION_INFO, r.h));
        Rect answer = rect_cut(&r, 'b', answers ? step_of(ATTENTION_ANSWER, r.h) : 0);
        int lines = lesson ? 0 : step_of(session_compares(s) ? ATTENTION_CURSOR_SIDES : ATTENTION_CURSOR, r.h);
        Rect cursor = rect_cut(&r, 'b', lines);
        add_pane(f, &VIEW_ROW_TOP, r, side, false, false);
        add_pane(f, &VIEW_CURSOR, cursor, side, false, false);
        add_pane(f, &VIEW_ANSWER, answer, side, false, false);
        add_pane(f, &VIEW_STEP_INFO, info, side, false, false);
        return;
    }
    Rect answer = rect_cut(&r, 't', lesson ? r.h : answers ? step_of(BESIDE_ANSWER, r.h) : 0);
    Rect cursor = rect_cut(&r, 'b', step_of(BESIDE_CURSOR, r.h));
    add_pane(f, &VIEW_ANSWER, answer, side, false, false);
    add_pane(f, &VIEW_STEP_INFO, r, side, false, false);
    add_pane(f, &VIEW_CURSOR, cursor, side, false, false);
}

/* What a map of attention has no use for goes to its row: as a profile, over the picture, and in every head. */
static void layout_around(const Session *s, Frame *f, Rect *r, Side side)
{
    const ViewSpec *view = view_now(s);
    int h = r->h - 2, w = r->w - 2;
    NodeId n = session_node(s, side, s->place.path);
    bool picture = session_input(s, SIDE_B)->kind == INPUT_PICTURE && n != NO_NODE;
    if (!view->least || h < AROUND_LINES)
        return;
    view->least(s, side, &h, &w);
    int spare = r->h - 2 - h, half = (r->h - 2) / 2;
    spare = spare < half ? spare : half;
    int profile = spare < PROFILE_LEAST ? 0 : spare < 2 * PROFILE_LEAST ? spare : PROFILE_LEAST;
    profile = profile < PROFILE_MOST ? profile : PROFILE_MOST;
    int heads = s->look.average || spare - profile < PROFILE_LEAST ? 0 : spare - profile;
    add_pane(f, &VIEW_OTHER_HEADS, rect_cut(r, 'b', heads < HEADS_MOST ? heads : HEADS_MOST), side, false, false);
    add_pane(f, &VIEW_PROFILE, rect_cut(r, 'b', profile), side, false, false);
    int wide = r->w - 2 - w, least = r->w * 2 / 5;
    wide = wide < least ? wide : least;
    if (view->beside && picture && wide >= BESIDE_LEAST)
        add_pane(f, view->beside, rect_cut(r, 'r', wide), side, false, false);
}

static void layout_main(const Session *s, Frame *f, Rect r, bool side_column, bool lesson)
{
    const ViewSpec *view = view_now(s);
    Side side = session_side(s);
    if (side_column && (!lesson || view->traits & VIEW_ATTENTION || side_answers(s, side))) {
        Rect column = rect_cut(&r, 'r', step_of(SIDE_WIDTH, r.w));
        layout_side_column(s, f, column, side, lesson);
    }
    Attend a;
    const bool others = !attend_open(s, side, -1, &a) || a.heads > 1; /* a rollout has none */
    if (view->below && !s->look.average && others)                    /* the same query in the block's other heads */
        add_pane(f, view->below, rect_cut(&r, 'b', step_of(BELOW_LINES, r.h)), side, false, false);
    if (view->below && r.h >= AROUND_LINES && session_input(s, side)->kind != INPUT_TEXT) /* words have their bars */
        add_pane(f, &VIEW_PROFILE, rect_cut(&r, 'b', PROFILE_LEAST), side, false, false);
    layout_around(s, f, &r, side);
    add_pane(f, view, r, side, !s->look.steps_focused, false);
}

Frame frame_layout(const Session *s, int h, int w, unsigned besides)
{
    Frame f = {0};
    Rect r = {0, 0, h, w};
    bool hint = besides & FRAME_HINT;
    f.footer = rect_cut(&r, 'b', besides & FRAME_CARD_BELOW ? 0 : step_of(FOOTER_LINES, h));
    f.answer = rect_cut(&r, 'b', step_of(ANSWER_LINES, h));
    f.sentence = rect_cut(&r, 'b', step_of(w < SENTENCE_WIDTH ? SENTENCE_LINES_NARROW : SENTENCE_LINES, h));
    f.header = rect_cut(&r, 't', step_of(HEADER_LINES, h));
    f.words = rect_cut(&r, 't', headline_lines(s, h));
    f.hint = rect_cut(&r, 't', hint && !s->edits.count ? step_of(HINT_LINES, h) : 0); /* A and B need the line */
    const ViewSpec *view = view_now(s);
    int left = w - step_of(STEPS_WIDTH, w);
    left -= step_of(SIDE_WIDTH, left);
    bool wide = view->traits & VIEW_WIDE ||
                (w < MAP_WIDTH_WIDE && view->alone && view->alone(s, session_side(s), r.h - 2, left - 2, w - 2));
    bool sides = s->compare == COMPARE_SIDES && session_compares(s) && view->sides == SIDES_PANES;
    const bool bare = sides && crowded(s, r.h, w - step_of(STEPS_WIDTH_MAPS, w)) && !crowded(s, r.h, w);
    if (s->look.zoomed || w < ONE_PANE_WIDTH || r.h < ONE_PANE_LINES) {
        bool map = s->look.steps_focused;
        add_pane(&f, map ? &VIEW_STEPS : view, r, session_side(s), true, map);
        return f;
    }
    if (s->look.steps_focused || (!bare && w >= (sides || wide ? MAP_WIDTH_WIDE : MAP_WIDTH))) {
        const bool maps = sides && view->traits & VIEW_ATTENTION; /* three of them */
        Rect column = rect_cut(&r, 'l', step_of(maps ? STEPS_WIDTH_MAPS : STEPS_WIDTH, w));
        add_pane(&f, &VIEW_STEPS, column, session_side(s), s->look.steps_focused, true);
    }
    bool film = play_shows(s) && w >= MAP_WIDTH;
    Rect from = rect_cut(&r, 'l', film ? step_of(SIDE_WIDTH, r.w) : 0);
    if (sides)
        layout_sides(s, &f, r);
    else
        layout_main(s, &f, r, !film && !wide && !(view->traits & VIEW_TELLS) && w >= MAP_WIDTH, besides & FRAME_LESSON);
    add_pane(&f, &VIEW_PLAYED, from, session_side(s), false, false); /* after what it is lit by */
    return f;
}

void frame_needs(const Session *s, const Frame *f, Needs *out)
{
    for (int i = 0; i < f->count; i++) /* little, and it is seen how far the pass has come */
        if (f->pane[i].steps)
            steps_reached(s, f->pane[i].inside, out);
    for (int map = 0; map < 2; map++) /* the rest of the map waits for what the screen is about */
        for (int i = 0; i < f->count; i++)
            if (f->pane[i].view->needs && f->pane[i].steps == map)
                f->pane[i].view->needs(s, f->pane[i].side, f->pane[i].inside, out);
    needs_add(out, SIDE_A,
              shown_site(s, SIDE_A, SITE_PROBS)); /* the answer is always on screen; it comes last of all */
    needs_add(out, SIDE_B, shown_site(s, SIDE_B, SITE_PROBS));
    if (session_compares(s) && !shown_site(s, SIDE_B, SITE_PROBS))
        needs_add(out, SIDE_DIFF, shown_site(s, SIDE_B, SITE_EMBEDDING_UNIT)); /* their cosine */
    const Side judged = session_judged(s);
    needs_add(out, judged, shown_site(s, judged, SITE_SEEN_DISTANCE)); /* what the answer is worth stands beside it */
}
