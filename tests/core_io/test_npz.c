/* An archive costs what is asked of it: its directory when it is opened, a tensor's own bytes when that is read, and
 * nothing more once somebody asks to stop. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

#include "core/base/file.h"
#include "core/base/stop.h"
#include "core/io/tensor_parts.h"

enum { CELLS = 48 << 20, BATCH = 16, PIECE = 1 << 20 };

static char path[64];

static double cpu_seconds(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)u.ru_utime.tv_sec + (double)u.ru_stime.tv_sec +
           1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static void put_member(Buf *zip, Buf *directory, const char *name, uint32_t crc, size_t packed, size_t size)
{
    size_t at = zip->len;
    Buf common = {0};
    put_le(&common, 20, 2);
    put_le(&common, 0, 2);
    put_le(&common, 8, 2);
    put_le(&common, 0, 4);
    put_le(&common, crc, 4);
    put_le(&common, packed, 4);
    put_le(&common, size, 4);
    put_le(&common, strlen(name), 2);
    put_le(&common, 0, 2);
    buf_add(zip, "PK\3\4", 4);
    buf_add(zip, common.data, common.len);
    buf_puts(zip, name);
    buf_add(directory, "PK\1\2\24\0", 6);
    buf_add(directory, common.data, common.len);
    put_le(directory, 0, 10);
    put_le(directory, at, 4);
    buf_puts(directory, name);
    buf_free(&common);
}

/* zeros.npy [BATCH, …] and small.npy [3], both deflated. */
static int make_archive(void **state)
{
    (void)state;
    static uint8_t zeros[PIECE], room[1 << 16];
    const TensorOut shapes[] = {{.name = "zeros", .rank = 2, .shape = {BATCH, CELLS / BATCH}},
                                {.name = "small", .rank = 1, .shape = {3}}};
    Buf zip = {0}, directory = {0};
    for (int i = 0; i < 2; i++) {
        Buf header = {0}, packed = {0};
        size_t size = (i ? 3 : (size_t)CELLS) * sizeof(float), done = 0;
        npy_header(&header, &shapes[i]);
        z_stream z = {0};
        if (deflateInit2(&z, 1, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK)
            return -1;
        uLong crc = crc32(crc32(0, NULL, 0), (const Bytef *)header.data, (uInt)header.len);
        z.next_in = (Bytef *)header.data;
        z.avail_in = (uInt)header.len;
        for (int end = Z_OK; end != Z_STREAM_END;) {
            if (!z.avail_in && done < size) {
                size_t n = size - done < PIECE ? size - done : PIECE;
                z.next_in = zeros;
                z.avail_in = (uInt)n;
                crc = crc32(crc, zeros, (uInt)n);
                done += n;
            }
            z.next_out = room;
            z.avail_out = sizeof room;
            end = deflate(&z, done == size ? Z_FINISH : Z_NO_FLUSH);
            buf_add(&packed, room, sizeof room - z.avail_out);
        }
        deflateEnd(&z);
        put_member(&zip, &directory, i ? "small.npy" : "zeros.npy", (uint32_t)crc, packed.len, header.len + size);
        buf_add(&zip, packed.data, packed.len);
        buf_free(&header);
        buf_free(&packed);
    }
    size_t at = zip.len;
    buf_add(&zip, directory.data, directory.len);
    buf_add(&zip, "PK\5\6\0\0\0\0\2\0\2\0", 12);
    put_le(&zip, directory.len, 4);
    put_le(&zip, at, 4);
    put_le(&zip, 0, 2);
    strcpy(path, "/tmp/vitrine-npz-XXXXXX");
    Err err;
    close(mkstemp(path));
    bool ok = file_write(path, zip.data, zip.len, &err);
    buf_free(&zip);
    buf_free(&directory);
    return ok ? 0 : -1;
}

static int forget(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

static void what_is_not_asked_for_costs_nothing(void **state)
{
    (void)state;
    TensorFile f;
    Err err;
    float x[3] = {1, 1, 1};
    double start = cpu_seconds();
    for (int i = 0; i < 20; i++) {
        assert_true(tensors_open(&f, path, &err));
        assert_int_equal(f.count, 2);
        assert_true(tensors_read_f32(&f, tensors_find(&f, "small"), x, &err));
        assert_true(x[0] == 0 && x[2] == 0);
        tensors_close(&f);
    }
    double opening = (cpu_seconds() - start) / 20;
    float *all = xfloats(CELLS);
    assert_true(tensors_open(&f, path, &err));
    const TensorInfo *t = tensors_find(&f, "zeros");
    start = cpu_seconds();
    assert_true(tensors_read_first_f32(&f, t, all, t->cells / BATCH / 4, &err));
    double first = cpu_seconds() - start;
    start = cpu_seconds();
    assert_true(tensors_read_f32(&f, t, all, &err));
    double whole = cpu_seconds() - start;
    if (opening * 20 > whole || first * 4 > whole)
        fail_msg("opening takes %.4f s, a picture of %d %.4f s, all of it %.4f s", opening, BATCH * 4, first, whole);
    tensors_close(&f);
    free(all);
}

static void reading_can_be_stopped(void **state)
{
    (void)state;
    TensorFile f;
    Err err = {{0}};
    float *all = xfloats(CELLS);
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    assert_true(tensors_open(&f, path, &err));
    stop_hold();
    raise(SIGTERM);
    assert_true(stop_asked());
    double start = cpu_seconds();
    assert_false(tensors_read_f32(&f, tensors_find(&f, "zeros"), all, &err));
    assert_string_equal(err.text, "cancelled");
    assert_true(cpu_seconds() - start < 0.05);
    stop_take();
    assert_true(tensors_read_first_f32(&f, tensors_find(&f, "zeros"), all, 100, &err));
    stop_release(true);
    sigaction(SIGTERM, &ignore, &before); /* ignored, it is no request */
    stop_hold();
    raise(SIGTERM);
    assert_false(stop_asked());
    stop_release(false);
    sigaction(SIGTERM, &before, NULL);
    tensors_close(&f);
    free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_asked_for_costs_nothing),
        cmocka_unit_test(reading_can_be_stopped),
    };
    return cmocka_run_group_tests(tests, make_archive, forget);
}
