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

/* A small model, a session that is used again, and work that is broken off soon. */
enum { LINE_MAX_BYTES = 600, ROUNDS = 1000, FRAME_NS = 300000, COMMAND_NS = 2000000 };

static Session s;
static Commands all;

static int64_t until; /* a command that takes longer is cancelled, as by a reader */

static bool progress(void *context, const char *what, double share)
{
    (void)context;
    (void)what;
    (void)share;
    return clock_ns() < until;
}

static void fresh(void)
{
    Err err = {{0}};
    session_free(&s);
    until = CLOCK_NEVER;
    if (!session_init(&s, "tests/data/oracle/tiny", "tests/data/oracle/tiny/image.ppm", 1, progress, NULL, &err))
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
    session_step(&s, needs.item, needs.count, clock_ns() + FRAME_NS);
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
    if (!session_read(&s, &all, line, LINE_FOREIGN, &err) &&
        (s.edits.count != edits || strcmp(place.path, s.place.path) != 0))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static int round;
    static const int SIZES[][2] = {{24, 80}, {18, 60}, {33, 110}, {10, 40}, {1, 1}, {3, 300}};
    if (n < 2 || n > LINE_MAX_BYTES || memchr(bytes + 2, 0, n - 2))
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
    until = clock_ns() + COMMAND_NS;
    if (bytes[1] & 1) {
        apply_whole(line);
    } else if (!command_do(&s, &all, line, LINE_FOREIGN | COMMAND_UI, &err) && (!*err.text || strchr(err.text, '\n')))
        abort();
    s.quit = false;
    draw(SIZES[size][0], SIZES[size][1]);
    return 0;
}
