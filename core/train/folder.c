#include "core/train/pictures.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/base/utf8.h"

enum { NAME_SHOWN = 200, CLASSES_MAX = 1 << 16, LINE = 17, LEARNT_MAX = 1 << 30 };
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

/* wanted: what kind of folder is to be named instead. */
static bool list_folder(Arena *arena, const char *path, const char *wanted, Names *out, Err *err)
{
    char shown[NAME_SHOWN];
    DIR *d = file_folder(path);
    if (!d)
        return err_set(err, "%s: can't be opened as a folder (%s). Name a folder %s.",
                       utf8_clean(shown, sizeof shown, path), strerror(errno), wanted);
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

static void add_picture(Found *found, const char *path, int label)
{
    found->at = grow(found->at, &found->cap, found->count, sizeof *found->at);
    found->at[found->count] = (FolderPicture){.path = path, .label = label, .at = found->count};
    found->count++;
}

static const char OF_CLASSES[] = "with one sub-folder of pictures per class";

/* The files of a model take other names for classes in another form, by which nothing would find them again. */
static bool is_utf8(const char *s)
{
    enum { REPLACEMENT = 0xfffd };
    for (uint32_t c; (c = utf8_next(&s)) != 0;)
        if (c == REPLACEMENT)
            return false;
    return true;
}

static bool list_class(Folder *f, const char *folder, int label, size_t least, Found *found, Err *err)
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
    bool ok = list_folder(&f->names, path, OF_CLASSES, &names, err);
    if (ok && names.count < least)
        ok = err_set(err, "%s: the class has %s. Put %s.", utf8_clean(shown, sizeof shown, path),
                     names.count ? "one picture only" : "no picture",
                     least > 1 ? "two or more there: one to learn from and one to test on"
                               : "a picture there, or take the folder away");
    for (size_t i = 0; ok && i < names.count; i++)
        add_picture(found, arena_printf(&f->names, "%s/%s", path, names.at[i]), label);
    free(names.at);
    return ok;
}

static bool list_classes(Folder *f, const char *folder, size_t least, Found *found, Err *err)
{
    char shown[NAME_SHOWN];
    Names names = {0};
    bool ok = list_folder(&f->names, folder, OF_CLASSES, &names, err);
    f->class_name = names.at;
    for (size_t i = 0; ok && i < names.count && i < CLASSES_MAX; i++)
        ok = list_class(f, folder, (int)i, least, found, err);
    if (ok && (names.count < 2 || names.count > CLASSES_MAX))
        ok = err_set(err, "%s: has %zu class%s. Make one sub-folder of pictures for each class, from 2 to %d.",
                     utf8_clean(shown, sizeof shown, folder), names.count, names.count == 1 ? "" : "es",
                     (int)CLASSES_MAX);
    f->classes = (int)names.count;
    return ok;
}

/* Pictures that lie there, and those one folder below. */
static bool list_loose(Folder *f, const char *folder, bool below, Found *found, Err *err)
{
    Names names = {0};
    bool ok = list_folder(&f->names, folder, "of pictures", &names, err);
    for (size_t i = 0; ok && i < names.count; i++) {
        const char *path = arena_printf(&f->names, "%s/%s", folder, names.at[i]);
        if (below && file_is_dir(path))
            ok = list_loose(f, path, false, found, err);
        else
            add_picture(found, path, 0);
    }
    free(names.at);
    return ok;
}

/* --- who is held out --- */

static int compare_contents(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Pictures first … end-1 are of one class: some to learn from, some held out, whatever their contents are. */
static void mend_class(const FolderPicture *at, size_t first, size_t end, bool *held)
{
    size_t count = 0, least = first, most = first;
    for (size_t i = first; i < end; i++) {
        count += held[i];
        least = at[i].content < at[least].content ? i : least;
        most = at[i].content > at[most].content ? i : most;
    }
    bool copies = at[least].content == at[most].content; /* all of them: they can't be kept apart */
    for (size_t i = first; (count == 0 || count == end - first) && i < end; i++)
        held[i] = copies ? i == least : count ? at[i].content != at[most].content : at[i].content == at[least].content;
}

static void hold_out(const FolderPicture *at, size_t count, const FolderRule *rule, bool *held)
{
    for (size_t i = 0; i < count; i++)
        held[i] = rule->split == FOLDER_ALL ? true
                  : rule->split == FOLDER_BY_CONTENT
                      ? at[i].content % FOLDER_PART == 0
                      : !rule->learnt_count || !bsearch(&at[i].content, rule->learnt, rule->learnt_count,
                                                        sizeof *rule->learnt, compare_contents);
    for (size_t first = 0, end; rule->split == FOLDER_BY_CONTENT && first < count; first = end) {
        for (end = first + 1; end < count && at[end].label == at[first].label;)
            end++;
        mend_class(at, first, end, held);
    }
}

/* Those to learn from first, those held out after them. */
static bool divide(Folder *f, const char *path, const FolderRule *rule, Err *err)
{
    char shown[NAME_SHOWN];
    size_t count = f->learnt, next = 0;
    bool *held = xcalloc(count, sizeof *held);
    FolderPicture *at = xcalloc(count, sizeof *at);
    hold_out(f->picture, count, rule, held);
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; i < count; i++)
            if (held[i] == (side == 1))
                at[next++] = f->picture[i];
        f->learnt = side ? f->learnt : next;
    }
    f->held = count - f->learnt;
    free(f->picture);
    free(held);
    f->picture = at;
    return f->held || err_set(err,
                              "%s: the model learned from every picture in it. Name a folder of others, or measure on "
                              "these all the same with --all.",
                              utf8_clean(shown, sizeof shown, path));
}

static uint64_t content_of(const Image *im)
{
    const uint64_t prime = UINT64_C(0x100000001b3); /* FNV-1a, and a bijection at the end: every bit counts for % */
    uint64_t h = UINT64_C(0xcbf29ce484222325),
             head[] = {(uint64_t)im->width, (uint64_t)im->height, (uint64_t)im->channels};
    size_t n = image_bytes(im);
    for (size_t i = 0; i < sizeof head / sizeof *head; i++)
        h = (h ^ head[i]) * prime;
    for (size_t i = 0; i < n; i++)
        h = (h ^ im->data[i]) * prime;
    h = (h ^ h >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 29;
}

typedef struct Reading {
    Folder *f;
    const Preprocess *p;
    const char *shown;
    bool (*progress)(void *context, size_t done, size_t total);
    void *context;
} Reading;

static bool take_picture(void *reading, size_t i, Image *in, Err *err)
{
    const Reading *r = reading;
    FolderPicture *f = &r->f->picture[i];
    char shown[NAME_SHOWN];
    Image out;
    if (r->progress && !r->progress(r->context, i, r->f->learnt))
        return err_set(err, "%s: stopped after %zu of %zu pictures", r->shown, i, r->f->learnt);
    f->content = content_of(in);
    if (!preprocess_run(r->p, in, &out, NULL, err))
        return err_prefix(err, "%s", utf8_clean(shown, sizeof shown, f->path));
    memcpy(r->f->pixels + i * r->f->size, out.data, r->f->size);
    image_free(&out);
    return true;
}

static bool read_pictures(Folder *f, const char *path, const Preprocess *p,
                          bool (*progress)(void *context, size_t done, size_t total), void *context, Err *err)
{
    char shown[NAME_SHOWN];
    size_t count = f->learnt;
    Reading r = {f, p, utf8_clean(shown, sizeof shown, path), progress, context};
    f->size = size_mul(size_mul((size_t)p->width, (size_t)p->height), (size_t)p->channels);
    if (count > BYTES_MAX / f->size)
        return err_set(err,
                       "%s: %zu pictures of %zu bytes are more than the %zu MB that are kept. Take fewer, or a model "
                       "for smaller pictures.",
                       shown, count, f->size, BYTES_MAX >> 20);
    f->pixels = xmalloc(size_mul(count, f->size));
    const char **paths = xcalloc(count + 1, sizeof *paths);
    for (size_t i = 0; i < count; i++)
        paths[i] = f->picture[i].path;
    bool ok = image_read_all(paths, count, take_picture, &r, err);
    free(paths);
    if (ok && progress)
        progress(context, count, count);
    return ok;
}

bool folder_read(Folder *f, const char *path, const Preprocess *p, const FolderRule *rule,
                 bool (*progress)(void *context, size_t done, size_t total), void *context, Err *err)
{
    Found found = {0};
    *f = (Folder){.classes = 0};
    bool ok = list_classes(f, path, rule->split == FOLDER_BY_CONTENT ? 2 : 1, &found, err);
    f->picture = found.at;
    f->learnt = found.count;
    ok = ok && read_pictures(f, path, p, progress, context, err) && divide(f, path, rule, err);
    if (!ok)
        folder_free(f);
    return ok;
}

bool folder_read_loose(Folder *f, const char *path, const Preprocess *p, size_t most, size_t *all,
                       bool (*progress)(void *context, size_t done, size_t total), void *context, Err *err)
{
    char shown[NAME_SHOWN];
    Found found = {0};
    *f = (Folder){.classes = 0};
    bool ok = list_loose(f, path, true, &found, err);
    f->picture = found.at;
    f->learnt = found.count < most ? found.count : most;
    *all = found.count;
    if (ok && !found.count)
        ok = err_set(err, "%s: there is no picture in it. Put some there, or name another folder.",
                     utf8_clean(shown, sizeof shown, path));
    ok = ok && read_pictures(f, path, p, progress, context, err);
    f->held = f->learnt;
    f->learnt = 0;
    if (!ok)
        folder_free(f);
    return ok;
}

/* --- the list of what was learnt from --- */

uint64_t *folder_learnt(const Folder *f)
{
    uint64_t *content = xcalloc(f->learnt + 1, sizeof *content);
    for (size_t i = 0; i < f->learnt; i++)
        content[i] = f->picture[i].content;
    qsort(content, f->learnt, sizeof *content, compare_contents);
    return content;
}

bool folder_write_learnt(const Folder *f, const char *path, Err *err)
{
    uint64_t *content = folder_learnt(f);
    Buf text = {0};
    for (size_t i = 0; i < f->learnt; i++)
        buf_printf(&text, "%016llx\n", (unsigned long long)content[i]);
    bool ok = file_write(path, buf_str(&text), text.len, err);
    buf_free(&text);
    free(content);
    return ok;
}

static bool parse_content(const char *line, uint64_t *out)
{
    static const char DIGITS[] = "0123456789abcdef";
    *out = 0;
    for (int i = 0; i < LINE - 1; i++) {
        const char *d = line[i] ? strchr(DIGITS, line[i]) : NULL;
        if (!d)
            return false;
        *out = *out << 4 | (uint64_t)(d - DIGITS);
    }
    return line[LINE - 1] == '\n';
}

bool folder_read_learnt(const char *path, uint64_t **content, size_t *count, Err *err)
{
    char shown[NAME_SHOWN];
    Buf text = {0};
    if (!file_read(path, LEARNT_MAX, &text, err)) {
        buf_free(&text);
        return false;
    }
    size_t n = text.len / LINE;
    uint64_t *list = xcalloc(n + 1, sizeof *list);
    bool ok = n > 0 && text.len % LINE == 0;
    for (size_t i = 0; ok && i < n; i++)
        ok = parse_content(text.data + i * LINE, &list[i]) && (i == 0 || list[i] >= list[i - 1]);
    buf_free(&text);
    if (ok) {
        *content = list;
        *count = n;
        return true;
    }
    free(list);
    return err_set(err,
                   "%s: is not a list of training pictures. Copy it again from where the model comes from, or remove "
                   "it and say with --all that the model learned from none of this folder.",
                   utf8_clean(shown, sizeof shown, path));
}

void folder_free(Folder *f)
{
    free(f->class_name);
    free(f->picture);
    free(f->pixels);
    arena_free(&f->names);
    *f = (Folder){.classes = 0};
}
