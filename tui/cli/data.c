/* `vitrine data`: the drawn pictures, by number: on the terminal, as files, as a folder to learn from. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/stop.h"
#include "core/base/utf8.h"
#include "core/io/image.h"
#include "core/models/drawn.h"
#include "tui/cli/verbs.h"
#include "tui/views/picture/picture.h"

/* Numbers of drawn pictures as they are typed: 17, #17, 0-99. */
typedef struct Numbers {
    struct {
        uint64_t first, last;
    } range[OPTION_WORDS];
    int ranges;
    uint64_t count; /* of all: 1 … NUMBERS_MAX */
} Numbers;

enum { NUMBERS_MAX = 1000000 };

/* A whole number from 0 of digits only, up to 2⁶⁴ − 1; *end (may be NULL: the text ends there) is what follows it. */
static bool number_parse(const char *text, uint64_t *out, const char **end)
{
    char *after;
    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    unsigned long long v = strtoull(text, &after, 10);
    if (errno == ERANGE || (!end && *after))
        return false;
    *out = v;
    if (end)
        *end = after;
    return true;
}

/* One or more words. False when one is neither a number nor a range, or they are too many. */
static bool numbers_parse(Numbers *out, const char *const *word, int count, Err *err)
{
    Numbers n = {.ranges = 0};
    for (int i = 0; i < count; i++) {
        const char *text = word[i][0] == '#' ? word[i] + 1 : word[i], *end;
        uint64_t first = 0, last;
        bool number = number_parse(text, &first, &end);
        last = first;
        if (!number || (*end && (*end != '-' || !number_parse(end + 1, &last, NULL))))
            return err_set(err, "'%.60s' is no picture: expected a number from 0 such as 17, or a range such as 0-99",
                           word[i]);
        if (last < first)
            return err_set(err, "'%.60s' runs backwards: put the smaller number first", word[i]);
        if (last - first >= NUMBERS_MAX || n.count + (last - first + 1) > NUMBERS_MAX)
            return err_set(err, "more than %d pictures: ask for fewer at a time", (int)NUMBERS_MAX);
        n.range[n.ranges].first = first;
        n.range[n.ranges++].last = last;
        n.count += last - first + 1;
    }
    if (!n.count)
        return err_set(err, "which pictures? Name numbers such as 17 or 0-99");
    *out = n;
    return true;
}

static uint64_t numbers_at(const Numbers *n, uint64_t i)
{
    for (int k = 0; k < n->ranges; k++) {
        uint64_t length = n->range[k].last - n->range[k].first + 1;
        if (i < length)
            return n->range[k].first + i;
        i -= length;
    }
    UNREACHABLE("a number past the last");
}

enum { SIDE = DRAWN_SIDE, PLANE = SIDE * SIDE, GAP = 2, GAP_GREY = 128, SHEET_MAX = 10000 };

typedef enum Target { TARGET_NONE, TARGET_FILE, TARGET_FOLDER } Target;

typedef struct Request {
    Numbers numbers;
    uint64_t series;
    double difficulty;
    Target target;
} Request;

typedef struct Drawn {
    uint64_t number;
    int label;
    double covered; /* share of the picture, 0 … 1 */
    Image image;    /* the picture, or its mask in grey */
} Drawn;

static bool parse_target(const Options *o, Target *out, Err *err)
{
    const char *path = o->output;
    *out = TARGET_NONE;
    if (path && (path[strlen(path) - 1] == '/' || file_is_dir(path)))
        *out = TARGET_FOLDER;
    else if (path && (strcmp(path, "-") == 0 || file_is(path, "png ppm")))
        *out = TARGET_FILE;
    else if (path)
        return err_set(err, "%.200s: expected a name that ends in .png or .ppm, or in / for a folder", path);
    if (o->by_class && *out != TARGET_FOLDER)
        return err_set(err, "--by-class sorts files into folders: give it -o FOLDER/");
    if (path && strcmp(path, "-") == 0 && o->json)
        return err_set(err, "--json and -o - both write to standard output: name a file");
    if (path && strcmp(path, "-") == 0 && isatty(STDOUT_FILENO))
        return err_set(err, "-o - writes a PNG, and standard output is a terminal: leave -o away, or name a file");
    return true;
}

static bool parse(const Options *o, Request *r, Err *err)
{
    char *end = NULL;
    *r = (Request){.series = DRAWN_SERIES, .difficulty = 1};
    if (!numbers_parse(&r->numbers, o->word + 1, o->word_count - 1, err) || !parse_target(o, &r->target, err))
        return false;
    if (o->series && !number_parse(o->series, &r->series, NULL))
        return err_set(err, "--series %.40s: expected a number from 0", o->series);
    if (o->difficulty) {
        bool digit = (*o->difficulty >= '0' && *o->difficulty <= '9') || *o->difficulty == '.';
        r->difficulty = digit ? strtod(o->difficulty, &end) : -1;
        if (!end || *end || !(r->difficulty >= 0 && r->difficulty <= 1))
            return err_set(err, "--difficulty %.40s: expected a number from 0 to 1", o->difficulty);
    }
    if (r->target == TARGET_FILE && r->numbers.count > SHEET_MAX)
        return err_set(err, "%llu pictures on one sheet are too many (%d at most); -o FOLDER/ writes a file for each",
                       (unsigned long long)r->numbers.count, (int)SHEET_MAX);
    return true;
}

static bool check(const Options *o, const Link *l, Err *err)
{
    Request r;
    (void)l;
    return parse(o, &r, err);
}

static void draw(const Request *r, uint64_t i, bool masks, Drawn *d)
{
    uint8_t mask[PLANE];
    double sum = 0;
    image_init(&d->image, SIDE, SIDE, 3);
    d->number = numbers_at(&r->numbers, i);
    d->label = drawn_series(r->series, d->number, r->difficulty, d->image.data, mask);
    for (int k = 0; k < PLANE; k++)
        sum += mask[k];
    d->covered = sum / (255.0 * PLANE);
    if (!masks)
        return;
    image_free(&d->image);
    image_init(&d->image, SIDE, SIDE, 1);
    memcpy(d->image.data, mask, PLANE);
}

static bool write_image(Image *im, const char *path, Err *err)
{
    if (!file_is(path, "ppm"))
        return image_write_png(im, path, err);
    image_convert(im, 3);
    return image_write_pnm(im, path, err);
}

static bool make_folder(const char *path, Err *err)
{
    if (mkdir(path, 0777) == 0 || (errno == EEXIST && file_is_dir(path)))
        return true;
    return errno == EEXIST
               ? err_set(err, "%s: is a file, not a folder. Name another folder.", path)
               : err_set(err, "%s: the folder can't be made (%s). Make the one it lies in, or name another.", path,
                         strerror(errno));
}

/* FOLDER/17-star.png, or FOLDER/star/17-star.png; the folders are made. Appended to path. */
static bool place_file(const Options *o, const Drawn *d, Buf *path, Err *err)
{
    size_t n = strlen(o->output);
    buf_puts(path, o->output);
    if (!make_folder(buf_str(path), err))
        return false;
    buf_puts(path, o->output[n - 1] == '/' ? "" : "/");
    if (o->by_class) {
        buf_puts(path, SHAPES_NAMES[d->label]);
        if (!make_folder(buf_str(path), err))
            return false;
        buf_putc(path, '/');
    }
    buf_printf(path, "%llu-%s%s.png", (unsigned long long)d->number, SHAPES_NAMES[d->label], o->mask ? "-mask" : "");
    return true;
}

static void report(const Options *o, const Drawn *d, const char *path, bool first, Buf *out)
{
    if (o->json) {
        buf_printf(out, "%s\n{\"number\":%llu,\"class\":\"%s\",\"label\":%d,\"covered\":%.9g", first ? "[" : ",",
                   (unsigned long long)d->number, SHAPES_NAMES[d->label], d->label, d->covered);
        if (*path) {
            buf_puts(out, ",\"file\":");
            buf_json(out, path);
        }
        buf_putc(out, '}');
        return;
    }
    char covered[32], clean[400];
    if (first)
        buf_printf(out, "%10s  %-8s  covered\n", "number", "class");
    utf8_print(covered, sizeof covered, "%.1f %%", 100 * d->covered);
    buf_printf(out, "%10llu  %-8s  %7s%s%s\n", (unsigned long long)d->number, SHAPES_NAMES[d->label], covered,
               *path ? "  " : "", utf8_clean(clean, sizeof clean, path));
}

/* As large as it is drawn: two pixels a cell where there are half blocks, else a cell is two rows of two pixels. */
static void show(const Options *o, const Image *im, Buf *drawn)
{
    Canvas c;
    Image colour;
    canvas_init(&c, SIDE / 2, SIDE);
    c.ascii = o->ascii;
    image_crop(&colour, im, 0, 0, SIDE, SIDE);
    image_convert(&colour, 3);
    Paint p = {.c = &c, .mode = screen_mode(o), .light = o->light};
    picture_file(&p, (Rect){0, 0, c.h, c.w}, &colour);
    buf_putc(drawn, '\n');
    screen_print(&c, o, drawn);
    image_free(&colour);
    canvas_free(&c);
}

/* A grid about as wide as it is high. */
static void sheet_init(Image *sheet, int count, int channels)
{
    int columns = 1;
    while (columns * columns < count)
        columns++;
    int rows = (count + columns - 1) / columns;
    image_init(sheet, columns * (SIDE + GAP) - GAP, rows * (SIDE + GAP) - GAP, channels);
    if (count > 1)
        memset(sheet->data, GAP_GREY, (size_t)sheet->width * (size_t)sheet->height * (size_t)channels);
}

static void sheet_put(Image *sheet, int i, const Image *im)
{
    int columns = (sheet->width + GAP) / (SIDE + GAP);
    size_t left = (size_t)(i % columns * (SIDE + GAP)), top = (size_t)(i / columns * (SIDE + GAP)),
           pixel = (size_t)im->channels;
    for (size_t y = 0; y < SIDE; y++)
        memcpy(sheet->data + ((top + y) * (size_t)sheet->width + left) * pixel, im->data + y * SIDE * pixel,
               SIDE * pixel);
}

/* Every picture, to where it belongs; the sheet, if that is wanted, is complete afterwards. */
static bool draw_all(Work *w, const Request *r, Image *sheet, Err *err)
{
    const Options *o = w->options;
    Buf path = {0};
    bool ok = true;
    for (uint64_t i = 0; ok && i < r->numbers.count; i++) {
        Drawn d;
        draw(r, i, o->mask, &d);
        buf_clear(&path);
        if (r->target == TARGET_FILE)
            sheet_put(sheet, (int)i, &d.image);
        else if (r->target == TARGET_FOLDER)
            ok = place_file(o, &d, &path, err) && write_image(&d.image, buf_str(&path), err);
        if (ok)
            report(o, &d, buf_str(&path), i == 0, &w->out);
        if (ok && r->target == TARGET_NONE && r->numbers.count == 1 && !o->json)
            show(o, &d.image, &w->drawn);
        image_free(&d.image);
        if (ok && !work_progress(w, "drawing", (double)i / (double)r->numbers.count))
            ok = stop_refuse(err);
    }
    buf_free(&path);
    return ok;
}

static int data(Work *w, Err *err)
{
    const Options *o = w->options;
    Request r;
    Image sheet = {0};
    if (!parse(o, &r, err))
        return STATUS_USAGE;
    if (r.target == TARGET_FILE)
        sheet_init(&sheet, (int)r.numbers.count, o->mask ? 1 : 3);
    bool ok = draw_all(w, &r, &sheet, err) && (r.target != TARGET_FILE || write_image(&sheet, o->output, err));
    image_free(&sheet);
    if (o->json)
        buf_puts(&w->out, "\n]\n");
    if (r.target == TARGET_FILE && work_to_stdout(w))
        buf_clear(&w->out); /* the picture is there */
    w->written = true;
    return ok ? STATUS_DONE : STATUS_BAD;
}

const Verb VERB_DATA = {
    .name = "data",
    .usage = "data NUMBERS [-o FILE]",
    .summary = "the drawn pictures, by number: class and object, on the terminal or into files",
    .details = "NUMBERS are single ones and ranges: 17 0-99. Prints each picture's class and how much of it the object "
               "covers; a single picture is drawn here. -o FILE.png or .ppm saves it, several in a grid; -o FOLDER/ "
               "saves each in its own file, with --by-class in a folder for each class, as training needs it. --mask "
               "gives the objects instead, white where they cover a pixel. --series takes another series of pictures "
               "than the program's own, --difficulty an easier one.",
    .example = "vitrine data 0-999 -o shapes/ --by-class",
    .flags = VERB_JSON | VERB_ALONE,
    .check = check,
    .run = data};
