/* Pictures to learn from: the drawn ones in every size, folders good and bad. */
#define _GNU_SOURCE /* mkdtemp, nftw */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ftw.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/models/drawn.h"
#include "core/train/pictures.h"

enum { SIDE = DRAWN_SIDE, PLANE = SIDE * SIDE, CELLS = PLANE * 3, PATH = 256 };

static Preprocess plain(int width, int height, int channels)
{
    return (Preprocess){.width = width,
                        .height = height,
                        .channels = channels,
                        .resize_w = width,
                        .resize_h = height,
                        .filter = FILTER_BILINEAR};
}

/* --- drawn --- */

static void drawn_as_they_are(void **state)
{
    (void)state;
    static float pixels[CELLS];
    static uint8_t bytes[CELLS], mask[PLANE], cover[PLANE];
    Preprocess p = plain(SIDE, SIDE, 3);
    Pictures *s = pictures_drawn(&p, 1);
    assert_int_equal(pictures_classes(s), DRAWN_CLASSES);
    assert_string_equal(pictures_names(s)[5], "star");
    assert_true(pictures_have_masks(s));
    for (int set = PICTURES_TRAIN; set <= PICTURES_CHECK; set++)
        assert_int_equal(pictures_count(s, (PictureSet)set), 0);
    for (uint64_t n = 0; n < 50; n++) {
        assert_int_equal(pictures_get(s, PICTURES_HELD_OUT, n, 1, pixels, mask), drawn_series(999, n, 1, bytes, cover));
        assert_memory_equal(mask, cover, PLANE);
        for (size_t i = 0; i < CELLS; i++)
            assert_true((int)pixels[i] == bytes[i % PLANE * 3 + i / PLANE]);
    }
    pictures_free(s);
    pictures_free(NULL);
}

static uint64_t hash_set(const Pictures *s, PictureSet set, double difficulty)
{
    static float pixels[CELLS];
    uint64_t h = 1;
    for (uint64_t n = 0; n < 20; n++) {
        h = (h ^ (uint64_t)pictures_get(s, set, n, difficulty, pixels, NULL)) * UINT64_C(1099511628211);
        for (size_t i = 0; i < CELLS; i++)
            h = (h ^ (uint64_t)pixels[i]) * UINT64_C(1099511628211);
    }
    return h;
}

/* The sets, another seed's training set and the program's own pictures have nothing in common. */
static void sets_are_apart(void **state)
{
    (void)state;
    enum { EACH = 300, SETS = 5 };
    static uint64_t seen[EACH * SETS];
    static float pixels[CELLS];
    static uint8_t bytes[CELLS];
    Preprocess p = plain(SIDE, SIDE, 3);
    Pictures *a = pictures_drawn(&p, 1), *b = pictures_drawn(&p, 2), *again = pictures_drawn(&p, 1),
             *last = pictures_drawn(&p, UINT64_MAX);
    for (size_t k = 0; k < EACH * SETS; k++) {
        uint64_t h = UINT64_C(14695981039346656037), n = k % EACH;
        switch (k / EACH) {
        case 0: pictures_get(a, PICTURES_TRAIN, n, 1, pixels, NULL); break;
        case 1: pictures_get(a, PICTURES_HELD_OUT, n, 1, pixels, NULL); break;
        case 2: pictures_get(a, PICTURES_CHECK, n, 1, pixels, NULL); break;
        case 3: pictures_get(b, PICTURES_TRAIN, n, 1, pixels, NULL); break;
        default:
            drawn_picture(n, bytes, NULL);
            for (size_t i = 0; i < CELLS; i++)
                pixels[i] = (float)bytes[i % PLANE * 3 + i / PLANE];
        }
        for (size_t i = 0; i < CELLS; i++)
            h = (h ^ (uint64_t)pixels[i]) * UINT64_C(1099511628211);
        for (size_t i = 0; i < k; i++)
            assert_true(seen[i] != h);
        seen[k] = h;
    }
    assert_true(hash_set(a, PICTURES_TRAIN, 0.5) == hash_set(again, PICTURES_TRAIN, 0.5));
    assert_true(hash_set(a, PICTURES_TRAIN, 0.5) != hash_set(a, PICTURES_TRAIN, 1));
    assert_true(hash_set(a, PICTURES_HELD_OUT, 1) == hash_set(b, PICTURES_HELD_OUT, 1));
    assert_true(hash_set(a, PICTURES_CHECK, 1) == hash_set(b, PICTURES_CHECK, 1));
    assert_true(hash_set(last, PICTURES_TRAIN, 1) != hash_set(last, PICTURES_HELD_OUT, 1));
    pictures_free(a);
    pictures_free(b);
    pictures_free(again);
    pictures_free(last);
}

/* In another size: what resizing the drawn picture and its mask gives. */
static void drawn_and_resized(void **state)
{
    (void)state;
    static const struct {
        int width, height, channels;
        ResizeMode mode;
    } sizes[] = {{24, 24, 3, RESIZE_SQUASH}, {96, 64, 3, RESIZE_SQUASH}, {28, 28, 1, RESIZE_SQUASH},
                 {48, 48, 1, RESIZE_SQUASH}, {64, 32, 3, RESIZE_COVER},  {1, 1, 3, RESIZE_SQUASH}};
    static float pixels[96 * 64 * 3], expected[96 * 64 * 3];
    static uint8_t bytes[CELLS], cover[PLANE], mask[96 * 64];
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        Preprocess p = plain(sizes[k].width, sizes[k].height, sizes[k].channels), one;
        p.mode = sizes[k].mode;
        one = p;
        one.channels = 1;
        size_t plane = (size_t)p.width * (size_t)p.height;
        Pictures *s = pictures_drawn(&p, 3);
        assert_int_equal(pictures_get(s, PICTURES_CHECK, 8, 1, pixels, mask), drawn_series(1000, 8, 1, bytes, cover));
        Image in = {.width = SIDE, .height = SIDE, .channels = 3, .data = bytes},
              grey = {.width = SIDE, .height = SIDE, .channels = 1, .data = cover}, out;
        assert_true(preprocess_run(&p, &in, &out, expected, NULL));
        assert_memory_equal(pixels, expected, plane * (size_t)p.channels * sizeof *pixels);
        image_free(&out);
        assert_true(preprocess_run(&one, &grey, &out, NULL, NULL));
        assert_memory_equal(mask, out.data, plane);
        image_free(&out);
        memset(expected, 0, sizeof expected);
        pictures_get(s, PICTURES_CHECK, 8, 1, expected, NULL); /* without a mask nothing changes */
        assert_memory_equal(pixels, expected, plane * (size_t)p.channels * sizeof *pixels);
        pictures_free(s);
    }
}

typedef struct Job {
    const Pictures *s;
    uint64_t first;
    int label[40];
    float pixels[40][CELLS];
} Job;

static void *work(void *context)
{
    Job *j = context;
    for (uint64_t i = 0; i < 40; i++)
        j->label[i] = pictures_get(j->s, PICTURES_TRAIN, j->first + i, 0.7, j->pixels[i], NULL);
    return NULL;
}

static void any_thread(void **state)
{
    (void)state;
    Preprocess p = plain(SIDE, SIDE, 3);
    Pictures *s = pictures_drawn(&p, 9);
    Job *a = calloc(3, sizeof *a);
    pthread_t thread[2];
    for (int i = 0; i < 2; i++) {
        a[i] = (Job){.s = s, .first = 100};
        assert_int_equal(pthread_create(&thread[i], NULL, work, &a[i]), 0);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    a[2] = (Job){.s = s, .first = 100};
    work(&a[2]);
    for (int i = 0; i < 2; i++) {
        assert_memory_equal(a[i].label, a[2].label, sizeof a->label);
        assert_memory_equal(a[i].pixels, a[2].pixels, sizeof a->pixels);
    }
    free(a);
    pictures_free(s);
}

/* --- folders --- */

typedef struct Place {
    char top[PATH];
} Place;

static int take_away(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st, (void)kind, (void)at;
    return remove(path);
}

static int make_place(void **state)
{
    Place *f = calloc(1, sizeof *f);
    const char *tmp = getenv("TMPDIR");
    snprintf(f->top, sizeof f->top, "%.200s/vitrine-pictures-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    *state = f;
    return mkdtemp(f->top) ? 0 : -1;
}

static int drop_place(void **state)
{
    Place *f = *state;
    nftw(f->top, take_away, 8, FTW_DEPTH | FTW_PHYS);
    free(f);
    return 0;
}

static const char *path_of(const Place *f, const char *name)
{
    static char path[2 * PATH];
    snprintf(path, sizeof path, "%s/%s", f->top, name);
    return path;
}

static void add_class(const Place *f, const char *name)
{
    assert_int_equal(mkdir(path_of(f, name), 0777), 0);
}

/* A picture of one colour; another size each time, so that it has to be resized. */
static void add_picture(const Place *f, const char *name, int value)
{
    Image im;
    Err err;
    image_init(&im, 5 + value % 7, 3 + value % 5, 3);
    memset(im.data, value, (size_t)im.width * (size_t)im.height * 3);
    assert_true(image_write_pnm(&im, path_of(f, name), &err));
    image_free(&im);
}

static void add_bytes(const Place *f, const char *name, const char *text)
{
    assert_true(file_write(path_of(f, name), text, strlen(text), NULL));
}

/* 23 pictures of b, 11 of a, 2 of C: value says which. */
static void fill(const Place *f)
{
    static const struct {
        const char *name;
        int count, base;
    } classes[] = {{"b", 23, 100}, {"a", 11, 50}, {"C", 2, 10}};
    for (size_t k = 0; k < 3; k++) {
        add_class(f, classes[k].name);
        for (int i = 0; i < classes[k].count; i++) {
            char name[64];
            snprintf(name, sizeof name, "%s/%02d.ppm", classes[k].name, i);
            add_picture(f, name, classes[k].base + i);
        }
    }
}

static bool count_calls(void *context, size_t done, size_t total)
{
    size_t *calls = context;
    assert_true(done == *calls && total == 36);
    ++*calls;
    return true;
}

static void a_folder(void **state)
{
    Place *f = *state;
    Preprocess p = plain(4, 6, 3);
    Err err = {{0}};
    size_t calls = 0;
    float pixels[4 * 6 * 3];
    uint8_t mask[4 * 6];
    fill(f);
    add_bytes(f, ".hidden", "x");
    add_bytes(f, "a/.DS_Store", "x");
    Pictures *s = pictures_folder(f->top, &p, count_calls, &calls, &err);
    if (!s)
        fail_msg("%s", err.text);
    assert_int_equal(calls, 37);
    assert_int_equal(pictures_classes(s), 3);
    assert_string_equal(pictures_names(s)[0], "C"); /* bytewise: capitals first */
    assert_string_equal(pictures_names(s)[1], "a");
    assert_string_equal(pictures_names(s)[2], "b");
    assert_false(pictures_have_masks(s));
    size_t held = pictures_count(s, PICTURES_HELD_OUT);
    bool out[256] = {false};             /* who is held out, by value */
    assert_true(held >= 3 && held <= 9); /* one of each class, about a tenth */
    assert_int_equal(pictures_count(s, PICTURES_CHECK), held);
    assert_int_equal(pictures_count(s, PICTURES_TRAIN), 36 - held);
    for (uint64_t i = 0; i < held; i++) {
        pictures_get(s, PICTURES_HELD_OUT, i, 1, pixels, NULL);
        out[(int)pixels[0]] = true;
    }
    for (int set = PICTURES_TRAIN; set <= PICTURES_CHECK; set++) {
        uint64_t n = pictures_count(s, (PictureSet)set);
        int order[2][36], differs = 0;
        for (uint64_t round = 0; round < 2; round++) {
            bool seen[256] = {false};
            for (uint64_t i = 0; i < n; i++) {
                int label = pictures_get(s, (PictureSet)set, round * n + i, 1, pixels, mask), v = (int)pixels[0];
                assert_int_equal(label, v >= 100 ? 2 : v >= 50 ? 1 : 0);
                for (size_t k = 0; k < sizeof pixels / sizeof *pixels; k++)
                    assert_true((int)pixels[k] == v);
                assert_false(seen[v]); /* each once in a round */
                seen[v] = true;
                assert_int_equal(out[v], set != PICTURES_TRAIN);
                order[round][i] = v;
            }
            assert_int_equal(mask[0], 0);
        }
        for (uint64_t i = 0; i < n; i++)
            differs += order[0][i] != order[1][i];
        assert_true(differs > 1);
    }
    assert_int_equal(pictures_get(s, PICTURES_TRAIN, UINT64_MAX, 1, pixels, NULL) >= 0, 1);
    pictures_free(s);
}

/* Values of the pictures in a set, as bits. */
static void values_of(const Pictures *s, PictureSet set, bool in[256])
{
    float pixels[4 * 4 * 3];
    memset(in, 0, 256 * sizeof *in);
    for (uint64_t i = 0; i < pictures_count(s, set); i++) {
        pictures_get(s, set, i, 1, pixels, NULL);
        in[(int)pixels[0]] = true;
    }
}

static Pictures *open_by(const Place *f, const FolderRule *rule)
{
    Preprocess p = plain(4, 4, 3);
    Err err = {{0}};
    Pictures *s = pictures_folder_by(f->top, &p, rule, NULL, NULL, &err);
    if (!s)
        fail_msg("%s", err.text);
    return s;
}

/* Who is held out depends on nobody else: files that go, come or are renamed move no other picture to the other side,
 * where it would count as never learned from. */
static void sides_are_kept(void **state)
{
    Place *f = *state;
    const FolderRule by_content = {.split = FOLDER_BY_CONTENT};
    bool before[256], after[256], learnt[256];
    fill(f);
    for (int i = 0; i < 60; i++) { /* so many that each class has some on both sides by itself */
        char name[64];
        snprintf(name, sizeof name, "a/more%02d.ppm", i);
        add_picture(f, name, 140 + i);
        snprintf(name, sizeof name, "b/more%02d.ppm", i);
        add_picture(f, name, 180 + i);
    }
    Pictures *s = open_by(f, &by_content);
    values_of(s, PICTURES_HELD_OUT, before);
    values_of(s, PICTURES_TRAIN, learnt);
    assert_true(pictures_write_learnt(s, path_of(f, ".learnt"), NULL));
    uint64_t hash = pictures_learnt_hash(s);
    pictures_free(s);
    remove(path_of(f, "a/00.ppm"));
    remove(path_of(f, "b/00.ppm"));
    char old[2 * PATH];
    strcpy(old, path_of(f, "b/more07.ppm"));
    assert_int_equal(rename(old, path_of(f, "b/0.ppm")), 0);
    s = open_by(f, &by_content);
    values_of(s, PICTURES_HELD_OUT, after);
    for (int v = 0; v < 256; v++)
        assert_false(after[v] && learnt[v]);
    int held = 0;
    for (int v = 0; v < 256; v++)
        held += after[v] && before[v];
    assert_true(held >= 8);
    assert_true(pictures_learnt_hash(s) != hash || pictures_learnt(s) == 0);
    pictures_free(s);
    /* by the list: everything else, new pictures too */
    FolderRule rule = {.split = FOLDER_UNLEARNT};
    uint64_t *list;
    Err err = {{0}};
    assert_true(folder_read_learnt(path_of(f, ".learnt"), &list, &rule.learnt_count, &err));
    rule.learnt = list;
    add_picture(f, "C/new.ppm", 250);
    s = open_by(f, &rule);
    values_of(s, PICTURES_HELD_OUT, after);
    for (int v = 0; v < 256; v++)
        assert_false(after[v] && learnt[v]);
    assert_true(after[250]);
    pictures_free(s);
    free(list);
    s = open_by(f, &(FolderRule){.split = FOLDER_ALL});
    assert_int_equal(pictures_count(s, PICTURES_HELD_OUT), 36 - 2 + 120 + 1);
    assert_int_equal(pictures_learnt(s), 0);
    pictures_free(s);
}

static void bad_lists(void **state)
{
    Place *f = *state;
    static const char *const BAD[] = {"",
                                      "x",
                                      "0123456789abcdef",
                                      "0123456789abcdeg\n",
                                      "0000000000000002\n0000000000000001\n",
                                      "0000000000000001\n\n"};
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        uint64_t *list = NULL;
        size_t n;
        Err err = {{0}};
        add_bytes(f, "learnt.txt", BAD[i]);
        assert_false(folder_read_learnt(path_of(f, "learnt.txt"), &list, &n, &err));
        assert_non_null(strstr(err.text, "learnt.txt"));
        assert_null(list);
    }
}

static bool stop_at_five(void *context, size_t done, size_t total)
{
    (void)context, (void)total;
    return done < 5;
}

/* The message of a folder that is refused. */
static void refused(const Place *f, const char *first, const char *second)
{
    Preprocess p = plain(4, 4, 3);
    Err err = {{0}};
    assert_null(pictures_folder(f->top, &p, NULL, NULL, &err));
    if (!strstr(err.text, first) || !strstr(err.text, second) || strchr(err.text, '\n'))
        fail_msg("'%s' has no '%s' or no '%s'", err.text, first, second);
}

static void bad_folders(void **state)
{
    Place *f = *state;
    char old[2 * PATH];
    Preprocess p = plain(4, 4, 3);
    Err err = {{0}};
    refused(f, f->top, "0 classes");
    add_class(f, "a");
    refused(f, "/a", "no picture");
    add_picture(f, "a/1.ppm", 7);
    refused(f, "/a", "one picture");
    add_picture(f, "a/2.ppm", 7);
    refused(f, f->top, "1 class.");
    add_class(f, "b");
    refused(f, "/b", "no picture");
    add_picture(f, "b/1.ppm", 7);
    add_bytes(f, "b/notes.txt", "these are no pixels\n");
    refused(f, "b/notes.txt", "");
    remove(path_of(f, "b/notes.txt"));
    add_class(f, "b/deeper");
    refused(f, "b/deeper", "folder");
    remove(path_of(f, "b/deeper"));
    assert_int_equal(mkfifo(path_of(f, "b/pipe"), 0666), 0); /* must not be waited for */
    refused(f, "b/pipe", "pipe");
    remove(path_of(f, "b/pipe"));
    add_bytes(f, "b/2.ppm", "");
    refused(f, "b/2.ppm", "empty");
    add_picture(f, "b/2.ppm", 7);
    add_picture(f, "loose.ppm", 7);
    refused(f, "loose.ppm", "beside the classes");
    remove(path_of(f, "loose.ppm"));
    strcpy(old, path_of(f, "b"));
    assert_int_equal(rename(old, path_of(f, "b\xff")), 0);
    refused(f, "b?", "UTF-8");
    assert_int_equal(rename(path_of(f, "b\xff"), old), 0);
    assert_int_equal(symlink("nowhere", path_of(f, "b/3.ppm")), 0);
    refused(f, "b/3.ppm", "");
    remove(path_of(f, "b/3.ppm"));
    assert_null(pictures_folder(path_of(f, "not there"), &p, NULL, NULL, &err));
    assert_non_null(strstr(err.text, "not there"));
    assert_null(pictures_folder(path_of(f, "a/1.ppm"), &p, NULL, NULL, &err));
    Preprocess many = plain(4, 4, 4);
    assert_null(pictures_folder(f->top, &many, NULL, NULL, &err));
    assert_non_null(strstr(err.text, "channels"));
    Preprocess huge = plain(16384, 4096, 3); /* 11 of 192 MB */
    for (int i = 3; i < 12; i++) {
        char name[32];
        snprintf(name, sizeof name, "a/%d.ppm", i);
        add_picture(f, name, i);
    }
    assert_null(pictures_folder(f->top, &huge, NULL, NULL, &err));
    assert_non_null(strstr(err.text, "MB"));
    Pictures *s = pictures_folder(f->top, &p, NULL, NULL, &err); /* what is left is right */
    assert_non_null(s);
    assert_int_equal(pictures_classes(s), 2);
    pictures_free(s);
}

static void stopped(void **state)
{
    Place *f = *state;
    Preprocess p = plain(4, 4, 1);
    Err err = {{0}};
    fill(f);
    assert_null(pictures_folder(f->top, &p, stop_at_five, NULL, &err));
    assert_non_null(strstr(err.text, "stopped after 5 of 36"));
    Pictures *s = pictures_folder(f->top, &p, NULL, NULL, &err); /* grey */
    float pixels[16];
    assert_non_null(s);
    for (uint64_t i = 0; i < 27; i++) {
        int label = pictures_get(s, PICTURES_TRAIN, i, 1, pixels, NULL);
        assert_int_equal(label, pixels[15] >= 100 ? 2 : pixels[15] >= 50 ? 1 : 0);
    }
    pictures_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drawn_as_they_are),
        cmocka_unit_test(sets_are_apart),
        cmocka_unit_test(drawn_and_resized),
        cmocka_unit_test(any_thread),
        cmocka_unit_test_setup_teardown(a_folder, make_place, drop_place),
        cmocka_unit_test_setup_teardown(sides_are_kept, make_place, drop_place),
        cmocka_unit_test_setup_teardown(bad_lists, make_place, drop_place),
        cmocka_unit_test_setup_teardown(bad_folders, make_place, drop_place),
        cmocka_unit_test_setup_teardown(stopped, make_place, drop_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
