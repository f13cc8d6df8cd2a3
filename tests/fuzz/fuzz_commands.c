/* libFuzzer: any text as a line of commands, or as a remembered place, with the screen drawn after it. The first two
 * bytes say how large the screen is and which of the two it is. An error is one clean line; a place that fails changes
 * nothing; whatever happened, the frame can be drawn and no cell of it holds a control character. */
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/utf8.h"
#include "core/session/state.h"
#include "tui/app.h"
#include "tui/frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

enum { LINE_MAX_BYTES = 600, ROUNDS = 200, BUDGET_NS = 40000000 };

static Session s;
static Commands all;

static void fresh(void)
{
    Err err = {{0}};
    session_free(&s);
    if (!session_init(&s, NULL, "#17", 1, NULL, NULL, &err))
        abort();
}

static void draw(int h, int w)
{
    static Needs needs;
    Canvas c;
    canvas_init(&c, h, w);
    Paint p = {.s = &s, .c = &c, .mode = MODE_256};
    Frame f = frame_layout(&s, h, w, false);
    FrameState state = {.message = "", .status = ""};
    memset(&needs, 0, sizeof needs);
    frame_needs(&s, &f, &needs);
    int64_t until = clock_ns() + BUDGET_NS;
    session_step(&s, needs.item, needs.count, until);
    frame_draw(&p, &f, &state);
    for (int i = 0; i < h * w; i++)
        if (c.cells[i].ch && !utf8_printable(c.cells[i].ch))
            abort();
    canvas_free(&c);
}

static void apply_whole(const char *line)
{
    Err err = {{0}};
    int edits = s.edits.count;
    Place place = s.place;
    if (!session_read(&s, &all, line, COMMAND_EDIT, &err) &&
        (s.edits.count != edits || strcmp(place.path, s.place.path) != 0))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static int round;
    static const int SIZES[][2] = {{24, 80}, {40, 120}, {60, 200}, {10, 40}, {1, 1}, {3, 300}};
    if (n < 2 || n > LINE_MAX_BYTES || memchr(bytes, 0, n))
        return 0;
    if (!all.count) {
        Commands own = session_command_set();
        commands_add(&all, app_commands(NULL));
        commands_add_all(&all, &own);
        commands_free(&own);
    }
    if (round++ % ROUNDS == 0)
        fresh();
    char line[LINE_MAX_BYTES + 1];
    memcpy(line, bytes + 2, n - 2);
    line[n - 2] = 0;
    Err err = {{0}};
    int size = bytes[0] % 6;
    if (bytes[1] & 1) {
        fresh();
        apply_whole(line);
    } else if (!command_do(&s, &all, line, COMMAND_EDIT | COMMAND_UI, &err) && (!*err.text || strchr(err.text, '\n')))
        abort();
    s.quit = false;
    draw(SIZES[size][0], SIZES[size][1]);
    return 0;
}
