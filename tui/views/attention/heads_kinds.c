/* Every head of a text model as what it is on texts of random tokens: a sheet of blocks and heads for each kind, side
 * by side or below each other where there is room for all, else one of them; below, the head in focus in words. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "core/session/screens/heads.h"
#include "tui/views/attention/block_sheet.h"
#include "tui/views/attention/heads_words.h"

enum { LABEL = 9, LABEL_STACK = 12, LEAST = 5, WIDEST = 8, COMFORT = 5, WORDS_LEAST = 4, WORDS_MOST = 10 };
enum { KIND = 16, FIGURE = 14 }; /* columns of the table of one head */

typedef struct Kinds {
    const Session *s;
    const HeadKindsResult *r; /* NULL: not measured yet */
    HeadKind kind;            /* of one sheet */
    HeadKind shown[HEAD_KINDS];
    int count;
    Rect at[HEAD_KINDS], status, words; /* of the sheets: their titles included */
    Rect below;                         /* of a second row of sheets: how near each head comes; empty: no room */
} Kinds;

static const char *const SHORT_CONTROL[HEAD_KINDS] = {[HEAD_INDUCTION] = "2nd half shuffled",
                                                      [HEAD_PREVIOUS] = "two tokens before",
                                                      [HEAD_NEXT] = "two tokens behind",
                                                      [HEAD_SINK] = "right behind the first"};

/* Does any attention of the model have it? An encoder has no induction, a decoder sees nothing behind. */
static bool kind_there(const Session *s, HeadKind kind)
{
    const Model *m = s->now->model;
    return kind == HEAD_INDUCTION ? (model_way(m) & MODEL_WRITES)
           : kind == HEAD_NEXT    ? (model_way(m) & MODEL_READS)
                                  : true;
}

static void put_cell(const void *context, int row, int col, int wide, SheetCell *out)
{
    (void)wide;
    const Kinds *k = context;
    int cell = row * session_heads(k->s) + col;
    if (!k->r)
        snprintf(out->text, sizeof out->text, "…");
    else if (!k->r->applies[row][k->kind])
        snprintf(out->text, sizeof out->text, "–");
    else {
        out->value = (float)k->r->share[cell][k->kind].mean;
        out->strong = head_kinds_is(k->r, cell, k->kind);
        utf8_print(out->text, sizeof out->text, "%.0f", 100 * (double)out->value);
    }
}

static void put_row(const void *context, int row, char out[SHEET_NAME])
{
    const Kinds *k = context;
    const Graph *g = session_base(k->s);
    char name[ATTENTION_NAME];
    snprintf(out, SHEET_NAME, "%s", session_attention_name(g, anatomy_attention(g, row), name));
}

static void put_col(const void *context, int row, int col, int wide, char out[SHEET_NAME])
{
    (void)row;
    const Kinds *k = context;
    const int digits = snprintf(NULL, 0, "%d", session_heads(k->s) - 1); /* one form for all of them */
    snprintf(out, SHEET_NAME, wide >= 5 + digits ? "head %d" : wide > digits ? "h%d" : "%d", col);
}

static BlockSheet sheet_of(const Paint *p, const Kinds *k)
{
    const Model *m = k->s->now->model;
    BlockSheet b = {.rows = head_words_rows(k->s),
                    .cols = session_heads(k->s),
                    .row = head_words_row(k->s),
                    .col = session_head(k->s),
                    .label = (model_way(m) & MODEL_WRITES) ? LABEL_STACK : LABEL,
                    .least = LEAST,
                    .widest = WIDEST,
                    .context = k,
                    .cell = put_cell,
                    .row_name = put_row,
                    .col_name = put_col};
    if (p)
        b.scale = colour_scale_of_range(p, 0, 1);
    return b;
}

/* The sheets side by side, below each other, or the chosen one alone. */
static void place_sheets(Kinds *k, Rect r)
{
    BlockSheet b = sheet_of(NULL, k);
    k->count = block_sheet_place(&b, r, COMFORT, k->count, k->at);
    if (k->count == 1) {
        HeadKind chosen = heads_kind(k->s);
        while (!kind_there(k->s, chosen)) /* an option may name any */
            chosen = (chosen + 1) % HEAD_KINDS;
        k->shown[0] = chosen;
    }
    int used = k->at[k->count - 1].y + k->at[k->count - 1].h + 1;
    const int end = k->words.y + k->words.h;
    if (!k->words.h || used >= k->words.y)
        return;
    k->words.y = used; /* what explains the sheets follows them */
    const int free = end - used - k->words.h - 1;
    if (k->count > 1 && k->at[0].y == k->at[1].y && free >= b.rows + 2)
        k->below = (Rect){end - free, r.x, free, r.w};
}

/* How far a head is over what is uniform and over its control, whichever is more: what makes it one of the kind. */
static void put_over(const void *context, int row, int col, int wide, SheetCell *out)
{
    put_cell(context, row, col, wide, out);
    const Kinds *k = context;
    const int cell = row * session_heads(k->s) + col;
    if (isnan(out->value))
        return;
    const double uniform = k->r->uniform[row][k->kind], control = k->r->control[cell][k->kind].mean;
    out->value -= (float)(uniform > control ? uniform : control);
    utf8_print(out->text, sizeof out->text, "%+.1f", 100 * (double)out->value);
}

/* Copies are no kind, and have no control. */
static void put_copies(const void *context, int row, int col, int wide, SheetCell *out)
{
    (void)wide;
    const Kinds *k = context;
    const double share = k->r->copies[row * session_heads(k->s) + col].mean;
    out->value = (float)share - 0.5F;
    utf8_print(out->text, sizeof out->text, isnan(share) ? "–" : "%.0f", 100 * share);
}

static void draw_copies(const Paint *p, const Kinds *k, Rect r)
{
    BlockSheet b = sheet_of(p, k);
    b.cell = put_copies;
    b.scale = colour_scale_of_range(p, -0.5F, 0.5F);
    Rect title = rect_cut(&r, 't', 1);
    const int used = canvas_text(p->c, title.y, title.x, title.w, STYLE_HEADER, "copies");
    canvas_text(p->c, title.y, title.x + used, title.w - used, STYLE_DIM,
                ": % of other tokens raised less; uniform 50");
    block_sheet_draw(p, &b, r, false);
}

static void draw_below(const Paint *p, Kinds *k)
{
    int used = 0;
    for (int i = 0; i < k->count && k->below.h; i++) {
        Rect at = {k->below.y, k->at[i].x, k->below.h, k->at[i].w}, title = rect_cut(&at, 't', 1);
        k->kind = k->shown[i];
        BlockSheet b = sheet_of(p, k);
        b.cell = put_over;
        b.scale = colour_scale_of_range(p, -0.01F * HEAD_KIND_POINTS, 0.01F * HEAD_KIND_POINTS);
        const int word = canvas_text(p->c, title.y, title.x, title.w, STYLE_HEADER, head_kind_word(k->kind));
        canvas_text(p->c, title.y, title.x + word, title.w - word, STYLE_DIM, ": points over uniform and control");
        used = block_sheet_draw(p, &b, at, false) + 2; /* its title, and a blank line */
    }
    Rect left = k->below;
    rect_cut(&left, 't', used < left.h ? used : left.h);
    if (used && left.h >= head_words_rows(k->s) + 2 && !isnan(k->r->copies[0].mean))
        draw_copies(p, k, left);
}

static Kinds open_kinds(const Session *s, Rect r)
{
    Kinds k = {.s = s, .r = session_head_kinds(s)};
    for (HeadKind kind = 0; kind < HEAD_KINDS; kind++)
        if (kind_there(s, kind))
            k.shown[k.count++] = kind;
    if (r.h > 3)
        k.status = rect_cut(&r, 't', 1);
    int rows = head_words_rows(s), all = k.count * (rows + 3); /* rather all sheets than all words */
    int words = clamp(r.h - (r.h >= all + WORDS_LEAST ? all : rows + 3), 0, WORDS_MOST);
    if (words >= WORDS_LEAST) {
        k.words = rect_cut(&r, 'b', words);
        rect_cut(&r, 'b', 1);
    }
    place_sheets(&k, r);
    return k;
}

/* Heads that are of one kind at least. */
static int named_heads(const Kinds *k)
{
    int named = 0;
    for (int i = 0; i < k->r->attentions * k->r->heads; i++) {
        bool is = false;
        for (HeadKind kind = 0; kind < HEAD_KINDS; kind++)
            is = is || (k->r->applies[i / k->r->heads][kind] && head_kinds_is(k->r, i, kind));
        named += is;
    }
    return named;
}

static void draw_status(const Paint *p, const Kinds *k)
{
    const Measure *m = session_measure(p->s, MEASURE_LOOKS, NULL);
    Rect r = k->status;
    char text[96];
    int used = 0;
    if (m && m->done < m->total)
        used = canvas_printf(p->c, r.y, r.x, r.w, STYLE_STRONG, "measuring %d %%  ",
                             (int)(100 * (double)m->done / (double)m->total));
    if (!k->r)
        return;
    const int named = named_heads(k), heads = k->r->attentions * k->r->heads;
    used += canvas_printf(p->c, r.y, r.x + used, r.w - used, STYLE_STRONG,
                          named == 1 ? "%d of %d heads is of a known kind" : "%d of %d heads are of a known kind",
                          named, heads);
    utf8_print(text, sizeof text, ": %% of a token's attention, %zu texts of %d random tokens", k->r->texts,
               k->r->tokens);
    canvas_printf(p->c, r.y, r.x + used, r.w - used, STYLE_DIM, "%s",
                  used + utf8_cells(text) <= r.w ? text : ": % of a token's attention");
}

static const char ANOTHER[] = "   v: another kind";

/* "induction, what it looks at: 2 heads; uniform 3 %": how many are of the kind, and what none is by chance. */
static void draw_title(const Paint *p, const Kinds *k, HeadKind kind, Rect r)
{
    int named = 0, heads = session_heads(p->s);
    double low = 1, high = 0;
    for (int i = 0; k->r && i < k->r->attentions * heads; i++) {
        int a = i / heads;
        if (!k->r->applies[a][kind])
            continue;
        named += head_kinds_is(k->r, i, kind);
        low = k->r->uniform[a][kind] < low ? k->r->uniform[a][kind] : low;
        high = k->r->uniform[a][kind] > high ? k->r->uniform[a][kind] : high;
    }
    int used = canvas_printf(p->c, r.y, r.x, r.w, STYLE_HEADER, "%s", head_kind_word(kind));
    if (!k->r || high < low)
        return;
    char text[64], about[160];
    if (high - low < 0.005)
        utf8_print(text, sizeof text, ": %d heads; uniform %.1f %%", named, 100 * high);
    else
        utf8_print(text, sizeof text, ": %d heads; uniform %.1f to %.1f %%", named, 100 * low, 100 * high);
    utf8_print(about, sizeof about, ", %s%s", head_kind_about(kind), text);
    const int room = r.w - used - (k->count == 1 ? utf8_cells(ANOTHER) : 0);
    used += utf8_cells(about) <= room ? canvas_text(p->c, r.y, r.x + used, room, STYLE_DIM, about)
                                      : canvas_text(p->c, r.y, r.x + used, r.w - used, STYLE_DIM, text);
    if (k->count == 1)
        canvas_text(p->c, r.y, r.x + used, r.w - used, STYLE_DIM, ANOTHER);
}

/* "dec 1 self, head 0: no known kind" */
static void draw_verdict(const Paint *p, const Kinds *k, int attention, int cell, Rect r)
{
    char name[SHEET_NAME];
    int named = 0;
    put_row(k, attention, name);
    int used = canvas_printf(p->c, r.y, r.x, r.w, STYLE_STRONG, "%s, head %d: ", name, session_head(k->s));
    for (HeadKind kind = 0; kind < HEAD_KINDS; kind++)
        if (k->r->applies[attention][kind] && head_kinds_is(k->r, cell, kind))
            used += canvas_printf(p->c, r.y, r.x + used, r.w - used, STYLE_STRONG, "%s%s head", named++ ? " and " : "",
                                  head_kind_word(kind));
    if (!named)
        canvas_text(p->c, r.y, r.x + used, r.w - used, STYLE_STRONG, "no known kind");
}

static void put_mean(const Paint *p, MeanOver m, int y, int x, int width, Style style)
{
    char text[32];
    utf8_print(text, sizeof text, "%.1f %% ±%.1f", 100 * m.mean, 100 * m.margin);
    canvas_right(p->c, y, x, width, style, text);
}

/* The first of three that has room. */
static void draw_about(const Paint *p, int y, int x, int width, const char *const about[3])
{
    for (int i = 0; i < 3; i++)
        if (utf8_cells(about[i]) <= width) {
            canvas_text(p->c, y, x, width, STYLE_DIM, about[i]);
            return;
        }
}

/* kind | this head | uniform | control, and what that is. */
static void draw_kind(const Paint *p, const Kinds *k, int attention, int cell, HeadKind kind, int y)
{
    const Rect r = k->words;
    const bool is = head_kinds_is(k->r, cell, kind);
    char text[96];
    int x = r.x + KIND;
    canvas_text(p->c, y, r.x, KIND - 1, is ? STYLE_STRONG : STYLE_AXIS, head_kind_word(kind));
    put_mean(p, k->r->share[cell][kind], y, x, FIGURE, is ? STYLE_STRONG : STYLE_TEXT);
    utf8_print(text, sizeof text, "%.1f %%", 100 * k->r->uniform[attention][kind]);
    canvas_right(p->c, y, x += FIGURE, FIGURE - 4, STYLE_TEXT, text);
    put_mean(p, k->r->control[cell][kind], y, x += FIGURE - 4, FIGURE, STYLE_TEXT);
    x += FIGURE + 2;
    const char *control = head_kind_control(kind);
    utf8_print(text, sizeof text, "%s; control: %s", head_kind_about(kind), control);
    draw_about(p, y, x, r.x + r.w - x, (const char *[]){text, control, SHORT_CONTROL[kind]});
}

static void draw_kind_header(const Paint *p, Rect r, int y)
{
    static const char *const HEADS[] = {"this head", "uniform", "control"};
    int x = r.x + KIND;
    canvas_text(p->c, y, r.x, KIND - 1, STYLE_HEADER, "kind");
    for (int i = 0; i < 3; i++) {
        const int w = i == 1 ? FIGURE - 4 : FIGURE;
        canvas_right(p->c, y, x, w, STYLE_HEADER, HEADS[i]);
        x += w;
    }
    enum { BOTH = 40 }; /* in less no kind has room for more than its control */
    const int room = r.x + r.w - x - 2;
    draw_about(p, y, x + 2, room,
               (const char *[]){room < BOTH ? "its control: weight on" : "what is looked at, or the control",
                                "its control: weight on", ""});
}

/* What a kind is, as far as there is room. */
static void draw_meaning(const Paint *p, const Kinds *k, int attention, int cell, Rect r)
{
    char least[64];
    utf8_print(least, sizeof least, "Of a kind: %d points over uniform and control.", HEAD_KIND_POINTS);
    const char *const said[] = {
        least, k->r->applies[attention][HEAD_INDUCTION] ? " Induction: behind the same token earlier." : "",
        k->r->applies[attention][HEAD_SINK] ? " Sink: special or first tokens." : "",
        isnan(k->r->copies[cell].mean) ? "" : " Copies (no kind): others raised less than the one seen."};
    char text[400] = "";
    for (size_t i = 0, n = 0; i < sizeof said / sizeof *said; i++) {
        utf8_print(text + n, sizeof text - n, "%s", said[i]);
        if (canvas_wrap_rows(p->c, r.w, text) > r.h)
            text[n] = '\0';
        n = strlen(text);
    }
    canvas_wrap(p->c, r, STYLE_DIM, text);
}

/* The head in focus: what it is, then its share of each kind beside what it is held against. */
static void draw_words(const Paint *p, const Kinds *k)
{
    const Rect r = k->words;
    const int attention = head_words_row(k->s), cell = attention * session_heads(k->s) + session_head(k->s),
              end = r.y + r.h;
    int y = r.y;
    if (!k->r || cell >= k->r->attentions * k->r->heads) {
        Buf words = {0};
        head_words_put(k->s, attention, session_head(k->s), &words);
        canvas_wrap(p->c, r, STYLE_TEXT, buf_str(&words));
        buf_free(&words);
        return;
    }
    if (y < end)
        draw_verdict(p, k, attention, cell, (Rect){y++, r.x, 1, r.w});
    if (y < end)
        draw_kind_header(p, r, y++);
    for (HeadKind kind = 0; kind < HEAD_KINDS; kind++)
        if (k->r->applies[attention][kind] && y < end)
            draw_kind(p, k, attention, cell, kind, y++);
    if (y < end && !isnan(k->r->copies[cell].mean)) {
        canvas_text(p->c, y, r.x, KIND - 1, STYLE_AXIS, "copies");
        put_mean(p, k->r->copies[cell], y, r.x + KIND, FIGURE, STYLE_TEXT);
        canvas_right(p->c, y, r.x + KIND + FIGURE, FIGURE - 4, STYLE_TEXT, "50.0 %");
        const int x = r.x + KIND + 3 * FIGURE - 2;
        draw_about(p, y, x, r.x + r.w - x,
                   (const char *[]){"of the text's other tokens it raises less than the one that it looks at",
                                    "(of other tokens raised less)", "(no control)"});
        y++;
    }
    if (y < end)
        canvas_printf(p->c, y, r.x, r.w, STYLE_DIM, "over %zu texts of %d random tokens%s, model as trained",
                      k->r->texts, k->r->tokens, head_kinds_twice(k->r, attention) ? ", each twice" : "");
    if (++y < end)
        draw_meaning(p, k, attention, cell, (Rect){y, r.x, end - y, r.w});
}

void heads_kinds_draw(const Paint *p, Rect r, bool focus)
{
    Kinds k = open_kinds(p->s, r);
    if (k.status.h)
        draw_status(p, &k);
    for (int i = 0; i < k.count; i++) {
        Rect at = k.at[i], title = rect_cut(&at, 't', 1);
        k.kind = k.shown[i];
        BlockSheet b = sheet_of(p, &k);
        draw_title(p, &k, k.kind, title);
        block_sheet_draw(p, &b, at, focus && i == 0);
    }
    if (k.words.h)
        draw_words(p, &k);
    if (k.r)
        draw_below(p, &k);
}

bool heads_kinds_click(const Paint *p, Rect r, int y, int x, Buf *command)
{
    Kinds k = open_kinds(p->s, r);
    BlockSheet b = sheet_of(NULL, &k);
    int row, col;
    for (int i = 0; i < k.count; i++) {
        Rect at = k.at[i];
        rect_cut(&at, 't', 1);
        if (!block_sheet_hit(&b, at, y, x, &row, &col))
            continue;
        if (row == b.row && col == b.col)
            buf_puts(command, "in");
        else
            buf_printf(command, "attention %d; head %d", row, col);
        return true;
    }
    return false;
}
