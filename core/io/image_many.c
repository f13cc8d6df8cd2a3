/* Many pictures: small ones share a decoder child, which works while their files are read and the pictures before are
 * taken. Whatever is unusual (a large picture, another kind, one that its child did not survive) is read by itself, as
 * image_read does, and only that one can fail for it. */
#include <stdlib.h>

#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/base/stop.h"
#include "core/io/image_parts.h"

enum { TOGETHER = 1024, PIXELS_TOGETHER = 4 << 20, MEMORY_TOGETHER = 16 << 20, BYTES_TOGETHER = 16 << 20 };

typedef struct Batch {
    size_t first; /* of the paths */
    int count, items;
    Buf file[TOGETHER];
    int item_of[TOGETHER]; /* -1: read by itself */
    ImageItem item[TOGETHER];
    ImageChild child;
    int from, done; /* items of this child: from … from + done - 1 are decoded */
} Batch;

static void batch_free(Batch *b)
{
    image_child_free(&b->child);
    for (int i = 0; i < b->items; i++)
        image_plan_free(&b->item[i].plan);
    for (int i = 0; i < b->count; i++)
        buf_free(&b->file[i]);
    free(b);
}

static bool is_small(const ImagePlan *plan)
{
    return plan->memory <= MEMORY_TOGETHER && (size_t)plan->width * (size_t)plan->height <= PIXELS_TOGETHER / 8;
}

/* Path i, if it is one for the child. */
static bool add(Batch *b, const char *path)
{
    Err err;
    Buf *file = &b->file[b->count];
    ImageItem *item = &b->item[b->items];
    *file = (Buf){0};
    if (!file_read(path, BYTES_TOGETHER, file, &err) || !file->len)
        return false;
    item->bytes = (const uint8_t *)buf_str(file);
    item->n = file->len;
    const ImageKind *kind = image_kind_find(item->bytes, item->n);
    if (!kind || kind->format == IMAGE_NOT_READ || kind->format == IMAGE_PNM)
        return false;
    if (image_check(&item->plan, kind->format, item->bytes, item->n, &err) && is_small(&item->plan))
        return true;
    image_plan_free(&item->plan);
    return false;
}

static Batch *batch_start(const char *const *path, size_t first, size_t count, Err *err)
{
    Batch *b = xcalloc(1, sizeof *b);
    size_t pixels = 0, bytes = 0;
    b->first = first;
    b->child.fd = -1;
    while (first < count && b->count < TOGETHER && pixels < PIXELS_TOGETHER && bytes < BYTES_TOGETHER &&
           !stop_asked()) {
        bool together = add(b, path[first++]);
        if (together) {
            const ImagePlan *plan = &b->item[b->items].plan;
            pixels += (size_t)plan->width * (size_t)plan->height;
            bytes += b->file[b->count].len;
        } else
            buf_free(&b->file[b->count]);
        b->item_of[b->count++] = together ? b->items++ : -1;
    }
    if ((!stop_asked() || stop_refuse(err)) && (!b->items || image_child_start(&b->child, b->item, b->items, err)))
        return b;
    batch_free(b);
    return NULL;
}

/* What comes behind an item that ended its child goes to another one. */
static bool go_on_behind(Batch *b, int item, Err *err)
{
    image_child_free(&b->child);
    b->from = item + 1;
    b->done = 0;
    return b->from >= b->items || (image_child_start(&b->child, b->item + b->from, b->items - b->from, err) &&
                                   (image_child_end(&b->child, &b->done, err) || !stop_asked()));
}

static bool batch_take(Batch *b, const char *const *path, ImageTake *take, void *context, Err *err)
{
    if (b->items && !image_child_end(&b->child, &b->done, err) && stop_asked())
        return false;
    for (int i = 0; i < b->count; i++) {
        Image im;
        int item = b->item_of[i];
        bool there = item >= 0 && item < b->from + b->done && image_child_take(&b->child, item - b->from, &im, err);
        if (there)
            image_orient(&im, b->item[item].plan.orientation);
        else if (!image_read(&im, path[b->first + (size_t)i], err))
            return false;
        bool ok = take(context, b->first + (size_t)i, &im, err);
        image_free(&im);
        if (!ok || (item >= b->from + b->done && !go_on_behind(b, item, err)))
            return false;
    }
    return true;
}

bool image_read_all(const char *const *path, size_t count, ImageTake *take, void *context, Err *err)
{
    Batch *b = batch_start(path, 0, count, err), *next = NULL;
    bool ok = b != NULL;
    while (ok && b->count) {
        size_t behind = b->first + (size_t)b->count;
        next = batch_start(path, behind, count, err);
        ok = next && batch_take(b, path, take, context, err);
        batch_free(b);
        b = next;
    }
    if (b)
        batch_free(b);
    return ok;
}
