#include "tui/views/view.h"

#include <stdio.h>
#include <string.h>

void needs_add(Needs *n, Side side, const char *path)
{
    for (int i = 0; i < n->count; i++)
        if (n->item[i].side == side && strcmp(n->item[i].path, path) == 0)
            return;
    if (n->count >= VIEW_NEEDS || strlen(path) >= SESSION_PATH)
        return;
    Need *need = &n->item[n->count++];
    need->side = side;
    snprintf(need->path, sizeof need->path, "%s", path);
}

const ViewSpec *view_of(Screen s)
{
    static const ViewSpec *const BY_SCREEN[] = {
        [SCREEN_PICTURE] = &VIEW_PICTURE, [SCREEN_TENSOR] = &VIEW_TENSOR,  [SCREEN_SHEET] = &VIEW_SHEET,
        [SCREEN_MATRIX] = &VIEW_MATRIX,   [SCREEN_ROW] = &VIEW_ROW,        [SCREEN_POSITIONS] = &VIEW_POSITIONS,
        [SCREEN_EXPLAIN] = &VIEW_EXPLAIN, [SCREEN_ANSWER] = &VIEW_ANSWER,  [SCREEN_TRAINING] = &VIEW_TRAINING,
        [SCREEN_FILTERS] = &VIEW_FILTERS, [SCREEN_HEADS] = &VIEW_HEAD_MAP, [SCREEN_WHERE] = &VIEW_WHERE,
        [SCREEN_LENS] = &VIEW_LENS,       [SCREEN_SCALE] = &VIEW_SCALE,    [SCREEN_CENSUS] = &VIEW_CENSUS,
        [SCREEN_BLANKS] = &VIEW_BLANKS,
    };
    _Static_assert(sizeof BY_SCREEN / sizeof *BY_SCREEN == SCREEN_COUNT, "one view per screen");
    return BY_SCREEN[s < SCREEN_COUNT ? s : SCREEN_TENSOR];
}
