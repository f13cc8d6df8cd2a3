#include "core/train/folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/base/utf8.h"

enum { NAME_SHOWN = 200, CLASSES_MAX = 1 << 16 };
static const size_t BYTES_MAX = (size_t)1 << 31; /* of pixels */

/* What a folder holds, but for names that begin with a dot. */
typedef struct Names {
    const char **at;
    size_t count, cap;
} Names;

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool list_folder(Arena *arena, const char *path, Names *out, Err *err)
{
    char shown[NAME_SHOWN];
    DIR *d = opendir(path);
    if (!d)
        return err_set(err,
                       "%s: can't be opened as a folder (%s). Name a folder with one sub-folder of pictures per class.",
                       utf8_clean(shown, sizeof shown, path), strerror(errno));
    errno = 0;
    for (struct dirent *e; (e = readdir(d)); errno = 0)
        if (e->d_name[0] != '.') {
            out->at = grow(out->at, &out->cap, out->count, sizeof *out->at);
            out->at[out->count++] = arena_strdup(arena, e->d_name);
        }
    int code = errno;
    closedir(d);
    if (code)
        return err_set(err, "%s: can't be listed (%s). Check the disk it lies on.",
                       utf8_clean(shown, sizeof shown, path), strerror(code));
    if (out->count)
        qsort(out->at, out->count, sizeof *out->at, compare_names);
    return true;
}

/* Pictures as they are found: those of a class together, in the order of their names. */
typedef struct Found {
    FolderPicture *at;
    size_t count, cap;
} Found;

/* The files of a model take other names for classes in another form, by which nothing would find them again. */
static bool is_utf8(const char *s)
{
    enum { REPLACEMENT = 0xfffd };
    for (uint32_t c; (c = utf8_next(&s)) != 0;)
        if (c == REPLACEMENT)
            return false;
    return true;
}

static bool list_class(Folder *f, const char *folder, int label, Found *found, Err *err)
{
    char shown[NAME_SHOWN];
    Names names = {0};
    const char *path = arena_printf(&f->names, "%s/%s", folder, f->class_name[label]);
    if (!is_utf8(f->class_name[label]))
        return err_set(err, "%s: the name of a class must be UTF-8. Rename the folder.",
                       utf8_clean(shown, sizeof shown, path));
    if (!file_is_dir(path))
        return err_set(err, "%s: lies beside the classes. Put every picture into a sub-folder named after its class.",
                       utf8_clean(shown, sizeof shown, path));
    bool ok = list_folder(&f->names, path, &names, err);
    if (ok && names.count < 2)
        ok = err_set(err, "%s: the class has %s. Put two or more there: one to learn from and one to be examined on.",
                     utf8_clean(shown, sizeof shown, path), names.count ? "one picture only" : "no picture");
    for (size_t i = 0; ok && i < names.count; i++) {
        found->at = grow(found->at, &found->cap, found->count, sizeof *found->at);
        found->at[found->count++] = (FolderPicture){arena_printf(&f->names, "%s/%s", path, names.at[i]), label};
    }
    free(names.at);
    return ok;
}

static bool list_classes(Folder *f, const char *folder, Found *found, Err *err)
{
    char shown[NAME_SHOWN];
    Names names = {0};
    bool ok = list_folder(&f->names, folder, &names, err);
    f->class_name = names.at;
    for (size_t i = 0; ok && i < names.count && i < CLASSES_MAX; i++)
        ok = list_class(f, folder, (int)i, found, err);
    if (ok && (names.count < 2 || names.count > CLASSES_MAX))
        ok = err_set(err, "%s: has %zu class%s. Make one sub-folder of pictures for each class, from 2 to %d.",
                     utf8_clean(shown, sizeof shown, folder), names.count, names.count == 1 ? "" : "es",
                     (int)CLASSES_MAX);
    f->classes = (int)names.count;
    return ok;
}

/* Those to learn from first, those held out after them. */
static void divide(Folder *f, const Found *found)
{
    f->picture = xcalloc(found->count, sizeof *f->picture);
    for (int held = 0; held < 2; held++) {
        size_t *n = held ? &f->held : &f->learnt;
        for (size_t i = 0, nth = 0; i < found->count; i++) {
            nth = i && found->at[i].label == found->at[i - 1].label ? nth + 1 : 0;
            if ((nth % FOLDER_PART == 0) == held)
                f->picture[(held ? f->learnt : 0) + (*n)++] = found->at[i];
        }
    }
}

static bool read_picture(const char *path, const Preprocess *p, size_t size, uint8_t *pixels, Err *err)
{
    char shown[NAME_SHOWN];
    Image in, out;
    if (!image_read(&in, path, err))
        return false;
    bool ok = preprocess_run(p, &in, &out, NULL, err);
    image_free(&in);
    if (!ok)
        return err_prefix(err, "%s", utf8_clean(shown, sizeof shown, path));
    memcpy(pixels, out.data, size);
    image_free(&out);
    return true;
}

static bool read_pictures(Folder *f, const char *path, const Preprocess *p,
                          bool (*progress)(void *context, size_t done, size_t total), void *context, Err *err)
{
    char shown[NAME_SHOWN];
    size_t count = f->learnt + f->held;
    utf8_clean(shown, sizeof shown, path);
    f->size = size_mul(size_mul((size_t)p->width, (size_t)p->height), (size_t)p->channels);
    if (count > BYTES_MAX / f->size)
        return err_set(err,
                       "%s: %zu pictures of %zu bytes are more than the %zu MB that are kept. Take fewer, or a model "
                       "for smaller pictures.",
                       shown, count, f->size, BYTES_MAX >> 20);
    f->pixels = xmalloc(size_mul(count, f->size));
    for (size_t i = 0; i < count; i++) {
        if (progress && !progress(context, i, count))
            return err_set(err, "%s: stopped after %zu of %zu pictures", shown, i, count);
        if (!read_picture(f->picture[i].path, p, f->size, f->pixels + i * f->size, err))
            return false;
    }
    if (progress)
        progress(context, count, count);
    return true;
}

/* Two multiplications for eight bytes, with the constants of SplitMix64's finaliser: a check against mistakes, not
 * against malice. */
static uint64_t digest_bytes(uint64_t h, const void *bytes, size_t n)
{
    const uint8_t *p = bytes;
    for (size_t i = 0; i < n; i += 8) {
        uint64_t word = n - i < 8 ? n - i : 0;
        for (size_t k = 0; k < 8 && i + k < n; k++)
            word ^= (uint64_t)p[i + k] << (8 * k);
        h = (h ^ word) * UINT64_C(0xbf58476d1ce4e5b9);
        h = (h ^ (h >> 29)) * UINT64_C(0x94d049bb133111eb);
    }
    return h ^ (h >> 31);
}

/* The names as they stand below the folder, so that it may be moved. */
static uint64_t digest_of(const Folder *f, const char *folder)
{
    uint64_t h = 0;
    for (int i = 0; i < f->classes; i++)
        h = digest_bytes(h, f->class_name[i], strlen(f->class_name[i]) + 1);
    for (size_t i = 0; i < f->learnt + f->held; i++) {
        const char *name = f->picture[i].path + strlen(folder);
        h = digest_bytes(h, name, strlen(name) + 1);
        h = digest_bytes(h, f->pixels + i * f->size, f->size);
    }
    return h;
}

bool folder_read(Folder *f, const char *path, const Preprocess *p,
                 bool (*progress)(void *context, size_t done, size_t total), void *context, Err *err)
{
    Found found = {0};
    *f = (Folder){.classes = 0};
    bool ok = list_classes(f, path, &found, err);
    if (ok) {
        divide(f, &found);
        ok = read_pictures(f, path, p, progress, context, err);
    }
    free(found.at);
    if (ok)
        f->digest = digest_of(f, path);
    else
        folder_free(f);
    return ok;
}

void folder_free(Folder *f)
{
    free(f->class_name);
    free(f->picture);
    free(f->pixels);
    arena_free(&f->names);
    *f = (Folder){.classes = 0};
}
