#include "tui/canvas/letters.h"

#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"

enum { DOTS_W = 3, DOTS_H = 5, PITCH = DOTS_W + 1, LINES_MOST = 12, LINE_BYTES = 256 };

/* Five octal digits, a row each from the top; 4 is the left dot. From the blank to the underscore. */
static const char *const GLYPHS[] = {"00000", "22202", "55000", "57575", "36736", "51245", "25253", "22000",
                                     "12221", "42224", "05250", "02720", "00024", "00700", "00002", "11244",
                                     "75557", "26227", "71747", "71317", "55711", "74717", "74757", "71222",
                                     "75757", "75717", "02020", "02024", "12421", "07070", "42124", "71202",
                                     "75743", "25755", "65656", "34443", "65556", "74647", "74644", "34553",
                                     "55755", "72227", "11152", "55655", "44447", "57755", "65555", "25552",
                                     "65644", "25563", "65655", "34216", "72222", "55557", "55552", "55775",
                                     "55255", "55222", "71247", "64446", "44211", "31113", "25000", "00007"};

static const struct {
    uint32_t ch;
    const char *glyph;
} OTHERS[] = {{0x221a, "32262"}, {0x2212, "00700"}, {0x2013, "00700"}, {0x00d7, "05250"},
              {0x00b7, "00200"}, {0x2026, "00005"}, {0x2019, "22000"}};

static const char *glyph_of(uint32_t ch)
{
    for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++)
        if (OTHERS[i].ch == ch)
            return OTHERS[i].glyph;
    if (ch >= 'a' && ch <= 'z')
        ch -= 'a' - 'A';
    return ch >= ' ' && ch <= '_' ? GLYPHS[ch - ' '] : GLYPHS['?' - ' '];
}

int letters_rows(int scale)
{
    return (DOTS_H * scale + 1) / 2;
}

int letters_count(const char *text)
{
    int n = 0;
    while (*text) {
        utf8_next(&text);
        n++;
    }
    return n;
}

int letters_columns(const char *text, int scale)
{
    int n = letters_count(text);
    return n ? (n * PITCH - 1) * scale : 0;
}

static bool dot(const char *glyph, int row, int column)
{
    return row < DOTS_H && ((glyph[row] - '0') & (4 >> column));
}

static void draw_letter(Canvas *c, int y, int x, Style s, const char *glyph, int scale, int tall)
{
    enum { UPPER = 0x2580, LOWER = 0x2584, BOTH = 0x2588 };
    for (int row = 0; row < letters_rows(tall); row++)
        for (int i = 0; i < DOTS_W * scale; i++) {
            bool up = dot(glyph, 2 * row / tall, i / scale), down = dot(glyph, (2 * row + 1) / tall, i / scale);
            if (up || down)
                canvas_glyph(c, y + row, x + i, s, c->ascii ? '#' : up && down ? BOTH : up ? UPPER : LOWER);
        }
}

void letters_tall(Canvas *c, int y, int x, int width, Style s, const char *text, int scale, int tall)
{
    for (int end = x + width; *text; x += PITCH * scale) {
        const char *glyph = glyph_of(utf8_next(&text));
        if (x + DOTS_W * scale > end)
            return;
        draw_letter(c, y, x, s, glyph, scale, tall);
    }
}

void letters_line(Canvas *c, int y, int x, int width, Style s, const char *text, int scale)
{
    letters_tall(c, y, x, width, s, text, scale, scale);
}

/* Cuts text into lines of at most `most` letters; 0 where it takes more lines than there may be, or a word is longer.
 */
static int cut(const char *text, int most, char lines[LINES_MOST][LINE_BYTES])
{
    int n = 0, used = 0;
    for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
        char word[LINE_BYTES];
        size_t bytes = strcspn(text, " ");
        utf8_take(word, sizeof word, text, bytes);
        int cells = letters_count(word);
        if (cells > most)
            return 0;
        bool joins = n && used + 1 + cells <= most && strlen(lines[n - 1]) + bytes + 2 < LINE_BYTES;
        if (!joins && n == LINES_MOST)
            return 0;
        if (joins) {
            size_t at = strlen(lines[n - 1]);
            snprintf(lines[n - 1] + at, LINE_BYTES - at, " %s", word);
        } else
            snprintf(lines[n++], LINE_BYTES, "%s", word);
        used = joins ? used + 1 + cells : cells;
        text += bytes;
    }
    return n;
}

bool letters_fill(Canvas *c, Rect r, Style s, const char *text)
{
    for (int scale = LETTERS_SCALES; scale >= (c->ascii ? 2 : 1); scale--) {
        char lines[LINES_MOST][LINE_BYTES];
        int n = cut(text, (r.w / scale + 1) / PITCH, lines), rows = letters_rows(scale), gap = scale > 1 ? 2 : 1;
        int tall = n * rows + (n - 1) * gap;
        if (!n || tall > r.h)
            continue;
        for (int i = 0; i < n; i++) {
            int wide = letters_columns(lines[i], scale);
            letters_line(c, r.y + (r.h - tall) / 2 + i * (rows + gap), r.x + (r.w - wide) / 2, wide, s, lines[i],
                         scale);
        }
        return true;
    }
    return false;
}
