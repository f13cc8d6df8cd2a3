/* Many pictures read together are those that image_read gives one by one: every kind, small and large, turned and
 * damaged ones among them, and whether or not the child that decodes them lives to its end. */
#define _GNU_SOURCE /* mkdtemp */
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/core_io/image_test.h"

enum { NOISE = 30, SIDE = 600, COUNT = NOISE + 12, DAMAGED = NOISE + 3 };

typedef struct Files {
    char folder[64], name[COUNT][128];
    const char *path[COUNT];
    size_t taken;
    bool kill; /* whatever child there is, at the first picture */
} Files;

static void noise(const char *path, int seed)
{
    Image im;
    Err err = {""};
    uint32_t x = (uint32_t)seed * 2654435761u + 1;
    image_init(&im, SIDE, SIDE, 3);
    for (size_t i = 0; i < (size_t)SIDE * SIDE * 3; i++) {
        x = x * 1664525u + 1013904223u;
        im.data[i] = (uint8_t)(i % 4 ? x >> 24 : 0);
    }
    assert_true(image_write_png(&im, path, &err));
    image_free(&im);
}

/* Noise first, so that there is more than one batch and each takes its child a while; then one of every kind. */
static int start(void **state)
{
    static const char *const KINDS[COUNT - NOISE] = {"orientation.jpg", "grey1.png",    "rgb8.png",  NULL,
                                                     "grey8.bmp",       "noise.jpg",    "grey2.png", "grey16.png",
                                                     "greya8.png",      "palette1.png", "grey.jpg",  "rgb8.png.pnm"};
    Files *f = calloc(1, sizeof *f);
    snprintf(f->folder, sizeof f->folder, "%s/vitrine-many-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    if (!mkdtemp(f->folder))
        return -1;
    for (int i = 0; i < COUNT; i++) {
        const char *kind = i < NOISE ? NULL : KINDS[i - NOISE];
        if (kind)
            snprintf(f->name[i], sizeof f->name[i], "tests/data/image/%s", kind);
        else
            snprintf(f->name[i], sizeof f->name[i], "%s/%d.png", f->folder, i);
        if (i < 2 || (!kind && i >= NOISE))
            noise(f->name[i], i);
        else if (!kind) { /* the same two by turns: noise is slow to write */
            char other[128];
            snprintf(other, sizeof other, "%s/%d.png", f->folder, i % 2);
            if (link(other, f->name[i]) != 0)
                return -1;
        }
        f->path[i] = f->name[i];
    }
    *state = f;
    return 0;
}

static int stop(void **state)
{
    Files *f = *state;
    for (int i = 0; i < COUNT; i++)
        if (strncmp(f->name[i], f->folder, strlen(f->folder)) == 0)
            unlink(f->name[i]);
    int r = rmdir(f->folder);
    free(f);
    return r;
}

static void kill_children(void)
{
    char path[80], text[200] = "";
    snprintf(path, sizeof path, "/proc/self/task/%ld/children", (long)syscall(SYS_gettid));
    FILE *list = fopen(path, "r"); /* some kernels have no such file: then they live */
    if (!list)
        return;
    size_t n = fread(text, 1, sizeof text - 1, list);
    text[n] = 0;
    fclose(list);
    for (char *at = text, *end;; at = end) {
        long pid = strtol(at, &end, 10);
        if (end == at || pid <= 1)
            return;
        kill((pid_t)pid, SIGKILL);
    }
}

static bool same(void *files, size_t i, Image *im, Err *err)
{
    Files *f = files;
    Image alone;
    assert_int_equal(i, f->taken++);
    if (f->kill)
        kill_children();
    f->kill = false;
    assert_true(image_read(&alone, f->path[i], err));
    assert_int_equal(im->width, alone.width);
    assert_int_equal(im->height, alone.height);
    assert_int_equal(im->channels, alone.channels);
    assert_int_equal(im->had_alpha, alone.had_alpha);
    assert_int_equal(im->was_16_bit, alone.was_16_bit);
    assert_int_equal(im->orientation, alone.orientation);
    assert_memory_equal(im->data, alone.data, (size_t)im->width * (size_t)im->height * (size_t)im->channels);
    image_free(&alone);
    return true;
}

static void as_one_by_one(void **state)
{
    Files *f = *state;
    Err err = {""};
    for (int killed = 0; killed < 2; killed++) {
        f->taken = 0;
        f->kill = killed;
        if (!image_read_all(f->path, COUNT, same, f, &err))
            fail_msg("%s", err.text);
        assert_int_equal(f->taken, COUNT);
    }
    assert_true(image_read_all(f->path, 0, same, f, &err));
}

static void a_damaged_one(void **state)
{
    Files *f = *state;
    Err all = {""}, one = {""};
    Image im;
    assert_int_equal(truncate(f->name[DAMAGED], 5000), 0);
    f->taken = 0;
    assert_false(image_read_all(f->path, COUNT, same, f, &all));
    assert_int_equal(f->taken, DAMAGED);
    assert_false(image_read(&im, f->path[DAMAGED], &one));
    assert_string_equal(all.text, one.text);
    assert_non_null(strstr(all.text, f->path[DAMAGED]));
}

static bool no_more(void *files, size_t i, Image *im, Err *err)
{
    (void)im;
    ((Files *)files)->taken++;
    return i < 5 || err_set(err, "enough");
}

static void ended_by_who_takes(void **state)
{
    Files *f = *state;
    Err err = {""};
    f->taken = 0;
    assert_false(image_read_all(f->path, COUNT, no_more, f, &err));
    assert_string_equal(err.text, "enough");
    assert_int_equal(f->taken, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_one_by_one),
        cmocka_unit_test(ended_by_who_takes),
        cmocka_unit_test(a_damaged_one),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
