/* The decoder library does not defend itself: what could hurt it, or make it wrong without saying so, is refused before
 * it is called. One file per format; each walks the file exactly as the library will, so that nothing hides between the
 * two readings. */
#include "core/io/image_parts.h"

bool image_check_sides(uint64_t width, uint64_t height, Err *err)
{
    if (width == 0 || height == 0)
        return err_set(err, "a damaged picture: its header says %llu x %llu pixels", (unsigned long long)width,
                       (unsigned long long)height);
    if (width > IMAGE_SIDE_MAX || height > IMAGE_SIDE_MAX || width * height > IMAGE_PIXELS_MAX)
        return err_set(
            err, "too large: %llu x %llu pixels; allowed are %d a side and %d million in all. Scale it down first",
            (unsigned long long)width, (unsigned long long)height, IMAGE_SIDE_MAX, IMAGE_PIXELS_MAX / 1000000);
    return true;
}

bool image_check(ImagePlan *plan, ImageFormat format, const uint8_t *bytes, size_t n, Err *err)
{
    static bool (*const checks[])(ImagePlan *, const uint8_t *, size_t, Err *) = {
        [IMAGE_PNG] = image_check_png, [IMAGE_JPEG] = image_check_jpeg, [IMAGE_BMP] = image_check_bmp};
    REQUIRE(format == IMAGE_PNG || format == IMAGE_JPEG || format == IMAGE_BMP);
    *plan = (ImagePlan){.format = format, .orientation = 1};
    return checks[format](plan, bytes, n, err);
}

void image_plan_free(ImagePlan *plan)
{
    buf_free(&plan->clean);
    *plan = (ImagePlan){0};
}
