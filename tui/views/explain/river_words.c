/* What is written above the river and below it: the part of the cursor, the legend, what its letters stand for. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "tui/views/explain/river.h"

enum {
    LETTERS_FROM = 10,
    LETTERS_LEAST = 4, /* … of A − B, whose scale is its own: once is enough for three rivers beside each other */
    WROTE = 24,        /* columns of a number in full; of " wrote 0.07168 more in A than in B" */
    WROTE_APART = 35,
    BESIDE = 2,     /* … between two words of a legend */
    SEEN = 50,      /* parts of the height of which a bar is seen */
    NUMBER_HERE = 8 /* … of ": -1.235" */
};

/* What the number is in a pass without the part, and why that is not what it wrote, in as many words as there is room
 * for. */
static void put_lost(const Paint *p, const LedgerView *v, float lost, Rect r)
{
    const float *value = session_peek(v->s, v->side, ledger_view_path(v, v->l->value));
    const char *less = lost < 0 ? "more" : "less";
    enum { WAYS = 4 };
    char text[WAYS][128];
    int k = 0;
    if (isnan(lost) || !value)
        return;
    double size = fabs((double)lost), without = (double)*value - (double)lost;
    /* of what is read from one token the part is out there alone, while `census` switches it off at all of them */
    const bool one = v->l->token >= 0;
    snprintf(text[0], sizeof text[0], " of it. Run %s: %.4g instead of %.4g; later parts read it too",
             one ? "with it off at this token" : "without that part", without, (double)*value);
    snprintf(text[2], sizeof text[2], ". %s: %.4g, %.4g %s", one ? "Off at this token" : "Run without it", without,
             size, less);
    utf8_print(text[1], sizeof text[1], "%s; later parts read it too", text[2]);
    snprintf(text[3], sizeof text[3], "; %s: %.4g", one ? "off at this token" : "run without it", without);
    while (k + 1 < WAYS && utf8_cells(text[k]) > r.w)
        k++;
    if (utf8_cells(text[k]) <= r.w)
        canvas_text(p->c, r.y, r.x, r.w, STYLE_DIM, text[k]);
}

/* "2 cross h0", "3 MLP" */
static void brief_name(const LedgerView *v, const Tributary *t, Buf *out)
{
    char name[ATTENTION_NAME];
    session_attention_name(v->g, anatomy_of(v->g, graph_node(v->g, t->e->part)->path), name);
    buf_clear(out);
    if (t->head < 0)
        buf_printf(out, "%d MLP", t->e->layer);
    else
        buf_printf(out, "%s h%d", strcspn(name, " ") < strlen(name) ? strchr(name, ' ') + 1 : name, t->head);
}

/* ", r1c2 2.002": the token that `why` named, and what the head wrote by looking at it. Returns its columns. */
static int token_text(const River *r, const Tributary *t, char *out, size_t size)
{
    const LedgerView *v = r->v;
    const int token = ledger_why_token(v->s, v->side, t->e, t->head);
    LedgerVia via;
    char label[64], number[16];
    *out = '\0';
    if (token < 0 || !ledger_via(v->s, v->side, 0, &via))
        return 0;
    axis_label(&v->g->axes[node_role(v->g, t->e->tokens, ROLE_KEY)], token, label, sizeof label);
    number_text(number, sizeof number, via.vote, 6);
    return utf8_print(out, size, ", %s %s", label, number);
}

/* "block 11: -0.081": of rivers of one bar a block what that of the cursor is, before what its head wrote. Returns the
 * columns used. */
static int put_block(const Paint *p, const River *r, Rect line)
{
    for (int i = 0; i < r->count; i++)
        if (river_is_here(r, &r->at[i])) {
            char number[24];
            number_text(number, sizeof number, r->at[i].wrote, 6);
            const int used = canvas_printf(p->c, line.y, line.x, line.w, STYLE_TITLE, "block %d", r->here.e->layer);
            return used + canvas_printf(p->c, line.y, line.x + used, line.w - used, STYLE_TEXT, ": %s", number) + 2;
        }
    return 0;
}

void river_put_here(const Paint *p, const River *r, Rect line, bool token)
{
    const Tributary *t = &r->here;
    char vote[96] = "";
    Shown shown;
    Buf part = {0};
    LedgerLine l = {.entry = t->e, .head = t->head};
    if (!t->e || !shown_open(p->s, r->v->side, ledger_view_path(r->v, t->node), &shown))
        return;
    if (r->blocks)
        rect_cut(&line, 'l', put_block(p, r, line));
    int beside = NUMBER_HERE + (token ? token_text(r, t, vote, sizeof vote) : 0);
    brief_name(r->v, t, &part);
    if (line.w - utf8_cells(buf_str(&part)) < beside) {
        *vote = '\0';
        beside = NUMBER_HERE;
    }
    buf_clear(&part);
    ledger_part_text(r->v->g, &l, &part);
    if (line.w - utf8_cells(buf_str(&part)) < beside) /* rather the numbers than all of the name */
        brief_name(r->v, t, &part);
    if (r->blocks && line.w - utf8_cells(buf_str(&part)) < NUMBER_HERE) { /* the bar's own is what is there */
        buf_free(&part);
        return;
    }
    int used = canvas_printf(p->c, line.y, line.x, line.w, STYLE_TITLE, "%s", buf_str(&part));
    buf_free(&part);
    if (line.w - used < (r->v->less ? WROTE_APART : WROTE)) { /* the number alone, but all of it */
        char text[24];
        number_text(text, sizeof text, t->wrote, 6);
        used += canvas_text(p->c, line.y, line.x + used, line.w - used, STYLE_TEXT, ": ");
        int cells = canvas_text(p->c, line.y, line.x + used, line.w - used, STYLE_STRONG, text);
        canvas_ref(p->c, line.y, line.x + used, cells, shown_ref(&shown, t->cell));
        used += cells;
        used += canvas_text(p->c, line.y, line.x + used, line.w - used, STYLE_TEXT, vote);
        if (*ledger_view_out(r->v, t->node, t->cell) && line.w - used >= 4)
            canvas_text(p->c, line.y, line.x + used, 4, STYLE_TEXT, " out");
    } else if (r->v->less)
        canvas_printf(p->c, line.y, line.x + used, line.w - used, STYLE_TEXT, " wrote %.4g %s in A than in B%s",
                      fabs((double)t->wrote), t->wrote < 0 ? "less" : "more", ledger_view_out(r->v, t->node, t->cell));
    else {
        used += canvas_text(p->c, line.y, line.x + used, line.w - used, STYLE_TEXT, " wrote ");
        used += shown_full(p, &shown, t->cell, line.y, line.x + used, line.w - used > 12 ? 12 : line.w - used,
                           STYLE_STRONG);
        put_lost(p, r->v, t->lost, (Rect){line.y, line.x + used, 1, line.w - used});
    }
}

/* "c" of a head where its block has an attention of another kind, too. */
static void kind_text(const River *r, const Tributary *t, char out[2])
{
    bool two = false;
    char name[ATTENTION_NAME];
    for (int i = 0; i < r->count; i++)
        two |= r->at[i].e->kind == LEDGER_HEADS && r->at[i].e->layer == t->e->layer && r->at[i].e->part != t->e->part;
    session_attention_name(r->v->g, anatomy_of(r->v->g, graph_node(r->v->g, t->e->part)->path), name);
    const char *last = two ? strrchr(name, ' ') : NULL;
    out[0] = last ? last[1] : '\0';
    out[1] = '\0';
}

void river_wrote_text(const River *r, const Tributary *t, bool named, char out[32])
{
    int used = named && r->groups ? utf8_print(out, 32, "%d", t->e->layer) : 0;
    const int sign = named && t->wrote > 0;
    char kind[2];
    if (named && t->head < 0)
        used += utf8_print(out + used, (size_t)(32 - used), "M ");
    else if (named) {
        kind_text(r, t, kind);
        used += utf8_print(out + used, (size_t)(32 - used), "%sh%d ", kind, t->head);
    }
    out[used] = '+';
    number_text(out + used + sign, (size_t)(32 - used - sign), t->wrote, 6);
}

/* As long as there is room: the words in full, short or shortest, "lost" alone, no blank behind a mark, not what the
 * river is. */
static const struct {
    int brief;
    bool lost_alone;
    int blank, gap, from;
} FORMS[] = {{0, false, 1, 2, STREAM}, {0, true, 1, 2, STREAM}, {1, true, 1, 1, STREAM},
             {1, true, 0, 1, STREAM},  {2, true, 0, 1, STREAM}, {1, true, 0, 1, ADDS}};
enum { FORM_COUNT = sizeof FORMS / sizeof *FORMS, MARKS_OF_STREAM = 2 /* above 0, and below */ };

/* Draws it where p is not NULL. Returns its columns. */
static int legend(const Paint *p, const River *r, int form, bool lost, int y, int x)
{
    static const char *const OWN[][3] = {[STREAM] = {"so far", "so far", "sum"},
                                         [ADDS] = {"adds", "adds", "adds"},
                                         [TAKES] = {"takes", "takes", "takes"},
                                         [LOST] = {"lost without it", "lost", "lost"}},
                             *const OF_BOTH[][3] = {[STREAM] = {"apart so far", "apart", "apart"},
                                                    [ADDS] = {"more in A", "more", "more"},
                                                    [TAKES] = {"less in A", "less", "less"},
                                                    [LOST] = {"", "", ""}};
    const int from = x;
    for (int w = FORMS[form].from; w < LOST + lost; w++) {
        const char *text = (r->v->less ? OF_BOTH : OWN)[w][w == LOST ? FORMS[form].lost_alone : FORMS[form].brief];
        const int marks = w == STREAM ? MARKS_OF_STREAM : 1;
        x += w == FORMS[form].from ? 0 : FORMS[form].gap;
        for (int k = 0; k < marks && p; k++)
            river_put_key(p, y, x + k, (Water)w, k == 0, w == LOST && r->wide == 1);
        x += marks + FORMS[form].blank;
        if (p)
            canvas_text(p->c, y, x, utf8_cells(text), STYLE_DIM, text);
        x += utf8_cells(text);
    }
    return x - from;
}

bool river_against(const River *r)
{
    const float seen = (r->high - r->low) / SEEN;
    for (int i = 0; i < r->count; i++)
        if (r->at[i].before * r->at[i].wrote < 0 && fabsf(r->at[i].before) > seen && fabsf(r->at[i].wrote) > seen)
            return true;
    return false;
}

/* Is a head named by a letter? */
static bool lettered(const River *r)
{
    for (int i = 0; i < r->count && r->wide == 1; i++)
        if (r->at[i].number >= 0 && r->at[i].head >= 10)
            return true;
    return false;
}

/* Where such a bar begins, in as many words as there is room for. */
static const char *const AGAINST[] = {"bars of the other sign than the river start at 0, not at its end",
                                      "other sign than the river: bar from 0", "other sign: bar from 0",
                                      "other sign from 0"};
enum { AGAINST_COUNT = sizeof AGAINST / sizeof *AGAINST };

/* Columns of the fewest words, and of what is between them and the next. */
static int against_least(const River *r)
{
    return river_against(r) ? utf8_cells(AGAINST[AGAINST_COUNT - 1]) + BESIDE : 0;
}

void river_put_against(const Paint *p, River *r, Rect line, int used)
{
    for (int k = 0; k < AGAINST_COUNT && !r->against_told; k++)
        if (utf8_cells(AGAINST[k]) <= line.w - used) {
            canvas_text(p->c, line.y, line.x + used, line.w - used, STYLE_DIM, AGAINST[k]);
            r->against_told = true;
        }
}

/* What "rest" stands for, rather in fewer words than without what follows it. Returns the columns used. */
static int put_rest(const Paint *p, River *r, Rect line, int used)
{
    static const char *const REST[] = {"M: MLP, rest: no head, no MLP", "rest: neither head nor MLP",
                                       "rest: no head, no MLP"};
    enum { FORMS_OF_REST = sizeof REST / sizeof *REST };
    const int beside = against_least(r);
    for (int both = 1; both >= 0; both--)
        for (int k = r->wide >= MLP_FROM; k < FORMS_OF_REST; k++)
            if (utf8_cells(REST[k]) <= line.w - used - (both ? beside : 0)) {
                r->mlp_told = k == 0;
                return used + canvas_text(p->c, line.y, line.x + used, line.w - used, STYLE_DIM, REST[k]) + BESIDE;
            }
    return used;
}

bool river_put_legend(const Paint *p, River *r, Rect line)
{
    const bool lost = r->v->measured && !r->blocks && (r->wide > 1 || line.w >= RIVER_MARKED); /* is it drawn? */
    int form = 0, used = 0;
    const bool beside = lost || (session_compares(r->v->s) && !r->v->less); /* the same words for A and B */
    while (form < FORM_COUNT && legend(NULL, r, form, beside, line.y, line.x) > line.w)
        form++;
    if (form == FORM_COUNT)
        return false;
    used = legend(p, r, form, lost, line.y, line.x) + FORMS[form].gap;
    if (r->blocks) {
        if (river_against(r))
            river_put_against(p, r, line, used);
        return false;
    }
    int one_by_one = 0, all = 0, head;
    const LedgerEntry *e;
    for (int i = 0; i < r->count; i++)
        one_by_one += r->at[i].number >= 0 && r->at[i].head >= 0;
    for (int i = 0; ledger_tributary(r->v->g, r->v->l, i, &e, &head); i++)
        all += head >= 0;
    const char *of_b = session_edited(r->v->s) && !session_pinned(r->v->s) ? "lost: undo with u" : "lost: of B only";
    if (session_compares(r->v->s) && r->v->side == SIDE_A && !r->v->measured &&
        (r->wide > 1 || line.w >= RIVER_MARKED) && line.w - used >= utf8_cells(of_b))
        used += canvas_text(p->c, line.y, line.x + used, line.w - used, STYLE_DIM, of_b) + BESIDE;
    else if (one_by_one < all) {
        char text[64];
        const int apart = against_least(r);
        const char *ten = lettered(r) ? ", a: head 10" : "", *mlp = r->wide < MLP_FROM ? ", M: MLP" : "";
        if (utf8_print(text, sizeof text, "%d of %d heads, +: the others%s%s", one_by_one, all, ten, mlp) >
                line.w - used - apart &&
            (!apart || utf8_print(text, sizeof text, "+: other heads%s%s", ten, mlp) > line.w - used - apart) &&
            utf8_print(text, sizeof text, "%d of %d heads, +: the others%s%s", one_by_one, all, ten, mlp) >
                line.w - used &&
            utf8_print(text, sizeof text, "%d of %d heads, +: the others%s", one_by_one, all, ten) > line.w - used &&
            utf8_print(text, sizeof text, "+: the others%s", ten) > line.w - used)
            utf8_print(text, sizeof text, "+ more, a: 10");
        if (utf8_cells(text) > line.w - used)
            return false;
        used += canvas_text(p->c, line.y, line.x + used, line.w - used, STYLE_TEXT, text) + BESIDE;
        r->mlp_told = strstr(text, "M: MLP") != NULL;
        if (apart)
            river_put_against(p, r, line, used);
        return true;
    }
    if (one_by_one == all && line.w >= RIVER_NARROW && r->v->l->start != NO_NODE)
        used = put_rest(p, r, line, used);
    static const char TEN[] = "a: head 10";
    const bool ten = lettered(r), told = !ten || (int)sizeof TEN - 1 <= line.w - used;
    if (ten && told)
        used += canvas_text(p->c, line.y, line.x + used, line.w - used, STYLE_DIM, TEN) + BESIDE;
    if (river_against(r))
        river_put_against(p, r, line, used);
    return one_by_one == all && told;
}

void river_put_letters(const Paint *p, River *r, Rect *names, Rect *room)
{
    const bool several = r->v->several, mlp = r->wide < MLP_FROM && names->w >= (several ? 33 : 22);
    if (room->h <= (several && r->v->less ? LETTERS_LEAST : LETTERS_FROM) || r->blocks)
        return;
    rect_cut(room, 'b', 1);
    names->y--;
    char text[96];
    bool rest = false;
    for (int i = 0; i < r->count; i++)
        rest = rest || r->at[i].number < 0;
    const char *others = several && !rest ? "s self, c cross"
                         : several        ? "s self, c cross, + others"
                         : rest           ? "+: other heads"
                                          : "",
               *of_mlp = mlp ? ", M: MLP" : "";
    if (!lettered(r) || utf8_print(text, sizeof text, "%s%s, a: head 10", others, of_mlp) > names->w)
        utf8_print(text, sizeof text, "%s%s", others, of_mlp);
    if (several && !mlp && r->wide < MLP_FROM)
        utf8_print(text, sizeof text, rest ? "self cross MLP, + others" : "s self, c cross, M: MLP");
    canvas_text(p->c, names->y + names->h, names->x, names->w, STYLE_DIM, text + strspn(text, ", "));
    r->mlp_told = r->mlp_told || strstr(text, "M: MLP");
}
