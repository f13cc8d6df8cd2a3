#include <string.h>

#include "core/base/file.h"
#include "core/base/utf8.h"
#include "core/io/image_parts.h"

static bool decode(Image *out, const char *name, const uint8_t *bytes, size_t n, Err *err)
{
    if (n == 0)
        return err_set(err, "the file is empty. Give a PNG, JPEG, BMP or PPM picture");
    if (n > IMAGE_FILE_MAX)
        return err_set(err, "too large: %zu bytes, allowed are %d. Scale the picture down first", n, IMAGE_FILE_MAX);
    const ImageKind *kind = image_kind_find(bytes, n);
    if (!kind)
        return err_set(err, "not a picture of a known kind. Give a PNG, JPEG, BMP or PPM picture");
    if (kind->format == IMAGE_NOT_READ)
        return image_kind_refuse(kind, name, err);
    if (kind->format == IMAGE_PNM)
        return image_pnm(out, bytes, n, err);
    ImagePlan plan;
    Image im;
    bool ok = image_check(&plan, kind->format, bytes, n, err) && image_decode_confined(&im, &plan, bytes, n, err);
    if (ok) {
        image_orient(&im, plan.orientation);
        *out = im;
    }
    image_plan_free(&plan);
    return ok;
}

bool image_decode(Image *out, const char *name, const uint8_t *bytes, size_t n, Err *err)
{
    char shown[200];
    if (decode(out, name, bytes, n, err))
        return true;
    utf8_clean(shown, sizeof shown, strcmp(name, "-") != 0 ? name : "standard input");
    return err_prefix(err, "%s", shown);
}

bool image_read(Image *out, const char *path, Err *err)
{
    Buf file = {0};
    bool ok = file_read(path, IMAGE_FILE_MAX, &file, err) &&
              image_decode(out, path, (const uint8_t *)buf_str(&file), file.len, err);
    buf_free(&file);
    return ok;
}
