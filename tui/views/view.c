#include "tui/views/view.h"

#include <stdio.h>
#include <string.h>

void needs_add(Needs *n, Side side, const char *path)
{
    if (!path)
        return;
    for (int i = 0; i < n->count; i++) /* how far a node moved is no value of it */
        if (n->item[i].side == side && !need_of_both(n->item[i].what) && strcmp(n->item[i].path, path) == 0)
            return;
    needs_ask(n, side, path, NEED_VALUES, 0, 0);
}

void needs_ask(Needs *n, Side side, const char *path, NeedWhat what, size_t cell, size_t most)
{
    if (n->count >= VIEW_NEEDS || strlen(path) >= SESSION_PATH)
        return;
    for (int i = 0; i < n->count && need_of_both(what); i++) /* how far a node moved is asked for once */
        if (n->item[i].what == what && strcmp(n->item[i].path, path) == 0)
            return;
    Need *need = &n->item[n->count++];
    *need = (Need){.side = side, .what = what, .cell = cell, .most = most};
    snprintf(need->path, sizeof need->path, "%s", path);
}

const ViewSpec *view_of(Screen s)
{
    static const ViewSpec *const BY_SCREEN[SCREEN_COUNT] = {
#define SCREEN(symbol) [SCREEN_##symbol] = &VIEW_##symbol,
#include "core/session/screens.def"
#undef SCREEN
    };
    return BY_SCREEN[(unsigned)s < SCREEN_COUNT ? s : SCREEN_TENSOR];
}

const ViewSpec *view_now(const Session *s)
{
    return view_of(s->place.screen);
}

void view_draw(const ViewSpec *v, const Paint *p, Rect r, Side side, bool focus)
{
    if (r.h < 1 || r.w < 1)
        return;
    Rect old = canvas_clip(p->c, r);
    v->draw(p, r, side, focus);
    p->c->clip = old;
}

bool view_click(const ViewSpec *v, const Paint *p, Rect r, Side side, int y, int x, Buf *command)
{
    return v->click && rect_has(r, y, x) && v->click(p, r, side, y, x, command);
}
