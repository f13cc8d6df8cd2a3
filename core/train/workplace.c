#include "core/train/workplace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/utf8.h"

static bool make(Workplace *w, const char *folder, Err *err)
{
    w->made = mkdir(folder, 0777) == 0;
    if (!w->made && errno != EEXIST)
        return err_set(err, "%.300s: cannot be made (%s). Name a folder whose parent exists with -o.", folder,
                       strerror(errno));
    return file_is_dir(folder) || err_set(err, "%.300s: is no folder. Name another with -o.", folder);
}

static bool lock(Workplace *w, const char *folder, Err *err)
{
    do
        w->fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (w->fd < 0 && errno == EINTR);
    if (w->fd < 0)
        return err_set(err, "%.300s: can't be opened (%s). Allow it with chmod u+rwx, or name another with -o.", folder,
                       strerror(errno));
    int bad;
    do
        bad = flock(w->fd, LOCK_EX | LOCK_NB);
    while (bad && errno == EINTR);
    if (!bad || errno != EWOULDBLOCK)
        return true;
    return err_set(err, "%.300s: another training is at work in this folder. Let it end, or name another with -o.",
                   folder);
}

/* Hours of steps are not made for a folder that takes no file. */
static bool may_write(const char *folder, Err *err)
{
    static const char *const FILES[] = {"training.safetensors",     "model.safetensors",   "config.json",
                                        "preprocessor_config.json", "history.safetensors", "recipe.json",
                                        "vocabulary.json"};
    char path[WORKPLACE_PATH];
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++) {
        FileOut f;
        utf8_print(path, sizeof path, "%.1000s/%s", folder, FILES[i]);
        if (!file_create(&f, path, err))
            return false;
        file_abandon(&f);
    }
    return true;
}

static bool take(Workplace *w, const char *folder, Err *err)
{
    char model[WORKPLACE_PATH];
    if (strlen(folder) > 1000)
        return err_set(err, "%.60s...: this path is too long. Name another with -o.", folder);
    if (!make(w, folder, err) || !lock(w, folder, err))
        return false;
    utf8_print(model, sizeof model, "%.1000s/model.safetensors", folder);
    utf8_print(w->state, sizeof w->state, "%.1000s/training.safetensors", folder);
    w->resumes = file_exists(w->state);
    if (file_exists(model) && !w->resumes)
        return err_set(err, "%.300s: holds a model already. Name another folder with -o, or remove it.", folder);
    file_tidy(w->fd, 0); /* under the lock nobody else's are there */
    return may_write(folder, err);
}

bool workplace_open(Workplace *w, const char *folder, Err *err)
{
    *w = (Workplace)WORKPLACE_NONE;
    snprintf(w->folder, sizeof w->folder, "%s", folder);
    if (take(w, folder, err))
        return true;
    workplace_close(w);
    return false;
}

void workplace_close(Workplace *w)
{
    if (w->fd >= 0)
        close(w->fd);
    w->fd = -1;
    if (w->made)
        rmdir(w->folder); /* only an empty one goes */
    w->made = false;
}
