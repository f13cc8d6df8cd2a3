/* What a picture may cost, and what protects the program from its decoder: large pictures, too little memory, the
 * confinement with and without a filter in force. */
#define _GNU_SOURCE /* syscall */
#include "tests/core_io/image_test.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "core/base/mem.h"
#include "core/io/image_parts.h"
#include "tests/core_io/png_seal.h"

/* The largest sort of picture within the stated limits: 16 bits, four channels, 64 million pixels. */
static void large_16_bit_png(void **state)
{
    (void)state;
    enum { SIDE = 8000 };
    static const uint8_t header[] = {0, 0, SIDE >> 8, SIDE & 255, 0, 0, SIDE >> 8, SIDE & 255, 16, 6, 0, 0, 0};
    if (!strncmp(image_sandbox(), "limits only: built", 18)) { /* a sanitizer makes minutes of it */
        print_message("  not tried: a picture of 64 million pixels, with a sanitizer\n");
        skip();
    }
    Buf b = {0}, packed = {0};
    uint8_t *row = xcalloc(1, 1 + SIDE * 8), *room = xmalloc(1 << 16);
    z_stream z = {0};
    assert_int_equal(deflateInit(&z, 1), Z_OK);
    for (int y = 0; y < SIDE; y++) {
        for (int x = 0; x < SIDE; x++) { /* red grows downwards, its low byte to the right; opaque */
            row[1 + 8 * x] = (uint8_t)(y >> 5);
            row[2 + 8 * x] = (uint8_t)(x >> 6);
            row[7 + 8 * x] = row[8 + 8 * x] = 255;
        }
        z.next_in = row;
        z.avail_in = 1 + SIDE * 8;
        do {
            z.next_out = room;
            z.avail_out = 1 << 16;
            deflate(&z, y == SIDE - 1 ? Z_FINISH : Z_NO_FLUSH);
            buf_add(&packed, room, (1 << 16) - z.avail_out);
        } while (z.avail_out == 0);
    }
    deflateEnd(&z);
    free(row);
    free(room);
    buf_add(&b, "\x89PNG\r\n\x1a\n", 8);
    add_chunk(&b, "IHDR", header, sizeof header);
    add_chunk(&b, "IDAT", packed.data, packed.len);
    add_chunk(&b, "IEND", NULL, 0);
    Image im = {0};
    Err err = {""};
    if (!image_decode(&im, "large.png", bytes_of(&b), b.len, &err))
        fail_msg("%s", err.text);
    assert_true(im.width == SIDE && im.height == SIDE && im.channels == 3 && im.was_16_bit);
    for (size_t y = 0; y < SIDE; y += 799)
        assert_int_equal(im.data[(y * SIDE + 4711) * 3], y >> 5);
    image_free(&im);
    /* and where there is no memory for it, that is said, not that it is damaged */
    pid_t pid = fork();
    if (pid == 0) {
        const struct rlimit room_left = {1u << 30, 1u << 30};
        setrlimit(RLIMIT_AS, &room_left);
        bool ok = image_decode(&im, "large.png", bytes_of(&b), b.len, &err);
        _exit(!ok && strstr(err.text, "memory") && !strstr(err.text, "damaged") ? 0 : 1);
    }
    int status = 1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    buf_free(&packed);
    buf_free(&b);
}

static void add_segment(Buf *b, uint8_t marker, const char *data, size_t n)
{
    const uint8_t head[] = {0xff, marker, (uint8_t)((n + 2) >> 8), (uint8_t)((n + 2) & 255)};
    buf_add(b, head, sizeof head);
    buf_add(b, data, n);
}

/* 834 bytes that ask for seconds of work: 64 scans over 64 million pixels, each of which refines every coefficient by
 * nothing. The limit is processor time, and it is the limit that is named: the file is as it should be. */
static void slow_picture(void **state)
{
    (void)state;
    enum { SCANS = 64, LIMIT = 2 };
    if (!strncmp(image_sandbox(), "limits only: built", 18)) { /* a sanitizer has ten times the limit */
        print_message("  not tried: the limit of processor time, with a sanitizer\n");
        skip();
    }
    Buf b = {0};
    char ones[65] = {0}, dc[18] = {0, 1}, ac[18] = {0x10, 1};
    memset(ones + 1, 1, 64);
    ac[17] = (char)0xe0; /* the end of the band, for 16384 blocks and more */
    buf_add(&b, "\xff\xd8", 2);
    add_segment(&b, 0xdb, ones, sizeof ones);
    add_segment(&b, 0xc2, "\x08\x1f\x40\x1f\x40\x01\x01\x11\0", 9); /* 8000 x 8000, grey, progressive */
    add_segment(&b, 0xc4, dc, sizeof dc);
    add_segment(&b, 0xc4, ac, sizeof ac);
    for (int i = 0; i < SCANS; i++) {
        add_segment(&b, 0xda, i ? "\x01\x01\0\x01\x3f\x10" : "\x01\x01\0\0\0\0", 6);
        buf_putc(&b, 0);
    }
    buf_add(&b, "\xff\xd9", 2);
    struct rusage before, after;
    Image im = {0};
    Err err = {""};
    getrusage(RUSAGE_CHILDREN, &before);
    bool ok = image_decode(&im, "slow.jpg", bytes_of(&b), b.len, &err);
    getrusage(RUSAGE_CHILDREN, &after);
    long spent = (after.ru_utime.tv_sec + after.ru_stime.tv_sec - before.ru_utime.tv_sec - before.ru_stime.tv_sec) *
                     1000 +
                 (after.ru_utime.tv_usec + after.ru_stime.tv_usec - before.ru_utime.tv_usec - before.ru_stime.tv_usec) /
                     1000;
    if (ok) /* a processor that is twice as fast as today's */
        assert_in_range(spent, 0, LIMIT * 1000 + 100);
    else {
        assert_in_range(spent, LIMIT * 1000 - 500, LIMIT * 1000 + 500);
        assert_non_null(strstr(err.text, "8000 x 8000"));
        assert_non_null(strstr(err.text, "more than 2 s of processor time"));
        assert_null(strstr(err.text, "damaged"));
    }
    image_free(&im);
    buf_free(&b);
}

/* A filter that allows everything: as in a container, strict mode is refused under it. */
static bool under_another_filter(void)
{
    static struct sock_filter allow[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const struct sock_fprog program = {.len = 1, .filter = allow};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* How a process ends that confines itself and then opens a file: wait status, or −1 where it could not confine. */
static int confined_then_opens(bool filtered)
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        if (filtered && !under_another_filter())
            _exit(9);
        if (!image_confine())
            _exit(9);
        syscall(SYS_getpid);
        syscall(SYS_exit, 0);
    }
    waitpid(pid, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 9 ? -1 : status;
}

static void protection_holds(void **state)
{
    (void)state;
    if (strncmp(image_sandbox(), "seccomp", 7) != 0) { /* said, and then there is nothing to hold */
        print_message("  not tried: seccomp, which is not here\n");
        skip();
    }
    int strictly = confined_then_opens(false), filtered = confined_then_opens(true);
    assert_true(strictly == -1 || WIFSIGNALED(strictly));
    assert_true(filtered == -1 || WIFSIGNALED(filtered));
    assert_false(strictly == -1 && filtered == -1);
    pid_t pid = fork();
    if (pid == 0) {
        Buf b = {0};
        Image im = {0};
        Err err = {""};
        if (!under_another_filter())
            _exit(0);
        slurp(&b, "image/rgb8.png");
        _exit(image_decode(&im, "a.png", bytes_of(&b), b.len, &err) && strstr(image_sandbox(), "a filter beside") ? 0
                                                                                                                  : 1);
    }
    int status = 1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

/* Which protection is in force is said in one of the known ways, and a picture is read under it, whatever it is. */
static void protection_is_named(void **state)
{
    (void)state;
    const char *said = image_sandbox();
    assert_true(!strncmp(said, "seccomp", 7) || !strncmp(said, "limits only", 11));
    Buf b = {0};
    Image im = {0};
    Err err = {""};
    slurp(&b, "image/rgb8.png");
    assert_true(image_decode(&im, "a.png", bytes_of(&b), b.len, &err));
    assert_true(im.width > 0 && im.height > 0);
    image_free(&im);
    buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(protection_is_named),
        cmocka_unit_test(large_16_bit_png),
        cmocka_unit_test(slow_picture),
        cmocka_unit_test(protection_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
