/* Files: what is written is whole or not there, whatever stands in the way. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/file.h"

/* Every test runs in an empty folder of its own. */
static char folder[64];
static char *came_from;

static int enter(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/vitrine-file-XXXXXX");
    came_from = getcwd(NULL, 0);
    return came_from && mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int leave(void **state)
{
    (void)state;
    DIR *d = opendir(".");
    for (struct dirent *e; d && (e = readdir(d));)
        if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
            if (unlink(e->d_name) != 0)
                rmdir(e->d_name);
    closedir(d);
    int bad = chdir(came_from) | rmdir(folder);
    free(came_from);
    return bad;
}

static int entries(void)
{
    int n = -2;
    DIR *d = opendir(".");
    assert_non_null(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

static void put(const char *path, const char *text)
{
    Err e = {{0}};
    if (!file_write(path, text, strlen(text), &e))
        fail_msg("%s", e.text);
}

static void expect(const char *path, const char *text)
{
    Err e = {{0}};
    Buf b = {0};
    if (!file_read(path, 1 << 20, &b, &e))
        fail_msg("%s", e.text);
    assert_string_equal(buf_str(&b), text);
    buf_free(&b);
}

static void refused(const char *path, const char *why)
{
    Err e = {{0}};
    assert_false(file_write(path, "new", 3, &e));
    if (!strstr(e.text, why))
        fail_msg("'%s' does not say '%s'", e.text, why);
}

static void unreadable(const char *path, const char *why)
{
    Err e = {{0}};
    Buf b = {0};
    buf_puts(&b, "kept");
    assert_false(file_read(path, 10, &b, &e));
    assert_string_equal(buf_str(&b), "kept");
    assert_int_equal(b.len, 4);
    buf_free(&b);
    if (!strstr(e.text, why))
        fail_msg("'%s' does not say '%s'", e.text, why);
}

static mode_t mode_of(const char *path)
{
    struct stat st;
    assert_int_equal(lstat(path, &st), 0);
    return st.st_mode;
}

static void writes_new_files_under_the_umask(void **state)
{
    (void)state;
    mode_t old = umask(027);
    put("a", "hello");
    umask(old);
    expect("a", "hello");
    assert_int_equal(mode_of("a") & 07777, 0640);
    put("empty", "");
    assert_true(file_exists("empty"));
    assert_int_equal(entries(), 2);
    put("a file with spaces \xc3\xa9", "x");
    char long_name[256];
    memset(long_name, 'n', 255);
    long_name[255] = 0;
    put(long_name, "x"); /* the temporary file's name is no longer than this */
}

static void replaces_and_keeps_the_mode(void **state)
{
    (void)state;
    put("a", "old old old");
    assert_int_equal(chmod("a", 0600), 0);
    put("a", "new");
    expect("a", "new");
    assert_int_equal(mode_of("a") & 07777, 0600);
    assert_int_equal(entries(), 1);
}

static void follows_links(void **state)
{
    (void)state;
    assert_int_equal(mkdir("d", 0777), 0);
    put("d/target", "old");
    assert_int_equal(symlink("d/target", "link"), 0);
    assert_int_equal(symlink("link", "link2"), 0);
    put("link2", "new");
    assert_true(S_ISLNK(mode_of("link")) && S_ISLNK(mode_of("link2")));
    expect("d/target", "new");
    assert_int_equal(symlink("d/fresh", "dangling"), 0);
    put("dangling", "born");
    assert_true(S_ISLNK(mode_of("dangling")));
    expect("d/fresh", "born");
    assert_int_equal(symlink("loop", "loop"), 0);
    refused("loop", "Links point to each other");
    char absolute[200];
    snprintf(absolute, sizeof absolute, "%s/d/target", folder);
    assert_int_equal(symlink(absolute, "far"), 0);
    put("far", "by an absolute link");
    expect("d/target", "by an absolute link");
    assert_int_equal(symlink("/dev/null", "sink"), 0);
    refused("sink", "device");
    unlink("d/target");
    unlink("d/fresh");
}

static void refuses_what_is_not_a_file(void **state)
{
    (void)state;
    assert_int_equal(mkdir("d", 0777), 0);
    assert_int_equal(mkfifo("pipe", 0666), 0);
    refused("d", "is a folder. Name a file in it.");
    refused("d/", "names no file");
    refused("", "names no file");
    refused("pipe", "device or a pipe");
    refused("/dev/null", "or - for standard output");
    refused("/dev/full", "or - for standard output");
    refused("missing/a", "mkdir -p");
    put("plain", "x");
    refused("plain/a", "not a folder");
    char name[400];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = 0;
    refused(name, "shorter name");
    refused("missing\x1b[2J/a", "missing?[2J/a");
    assert_int_equal(entries(), 3);
}

static void respects_write_protection(void **state)
{
    (void)state;
    bool root = geteuid() == 0; /* root may write anywhere: be somebody else for a while */
    if (root) {
        assert_int_equal(chown(".", 65534, 65534), 0);
        assert_int_equal(seteuid(65534), 0);
    }
    put("a", "old");
    assert_int_equal(chmod("a", 0444), 0);
    refused("a", "write-protected");
    expect("a", "old");
    assert_int_equal(chmod("a", 0), 0);
    unreadable("a", "may not be read");
    assert_int_equal(mkdir("d", 0555), 0);
    refused("d/a", "may not write in that folder");
    if (root)
        assert_int_equal(seteuid(0), 0);
}

static void file_size_limit_leaves_the_old_file(void **state)
{
    (void)state;
    put("a", "old");
    struct rlimit before, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 4096;
    char *big = calloc(1, 100000);
    Err e = {{0}};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    bool ok = file_write("a", big, 100000, &e);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    free(big);
    assert_false(ok);
    assert_non_null(strstr(e.text, "ulimit -f"));
    expect("a", "old");
    assert_int_equal(entries(), 1);
}

/* Writes to standard output while it is fd; returns whether it worked. */
static bool write_standard(int fd, const char *text, Err *e)
{
    fflush(stdout);
    int saved = dup(STDOUT_FILENO);
    assert_true(saved >= 0);
    if (fd >= 0)
        dup2(fd, STDOUT_FILENO);
    else
        close(STDOUT_FILENO);
    bool ok = file_write("-", text, strlen(text), e);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    return ok;
}

static void standard_output_is_checked(void **state)
{
    (void)state;
    Err e = {{0}};
    int full = open("/dev/full", O_WRONLY);
    assert_true(full >= 0);
    assert_false(write_standard(full, "x", &e));
    assert_string_equal(
        e.text,
        "standard output: can't be written (No space left on device). Free some space, or write to another disk.");
    close(full);
    assert_false(write_standard(-1, "x", &e));
    assert_non_null(strstr(e.text, "closed: name a file"));
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_true(write_standard(ends[1], "through", &e));
    char got[8] = {0};
    assert_int_equal(read(ends[0], got, 7), 7);
    assert_string_equal(got, "through");
    close(ends[0]);
    void (*old)(int) = signal(SIGPIPE, SIG_IGN);
    assert_false(write_standard(ends[1], "x", &e));
    signal(SIGPIPE, old);
    assert_non_null(strstr(e.text, "has ended"));
    close(ends[1]);
}

static void pieces_are_all_or_nothing(void **state)
{
    (void)state;
    Err e = {{0}};
    FileOut f;
    put("a", "old");
    assert_true(file_create(&f, "a", &e));
    assert_true(file_append(&f, "one ", 4, &e));
    assert_true(file_append(&f, "", 0, &e));
    assert_true(file_append(&f, "two", 3, &e));
    assert_int_equal(f.written, 7);
    expect("a", "old");
    assert_int_equal(entries(), 2);
    file_abandon(&f);
    file_abandon(&f);
    expect("a", "old");
    assert_int_equal(entries(), 1);
    assert_true(file_create(&f, "a", &e));
    assert_true(file_append(&f, "three", 5, &e));
    assert_true(file_commit(&f, &e));
    expect("a", "three");
    assert_int_equal(entries(), 1);
    /* A rename that can't be: a folder took the place meanwhile. */
    assert_true(file_create(&f, "b", &e));
    assert_int_equal(mkdir("b", 0777), 0);
    assert_false(file_commit(&f, &e));
    assert_int_equal(entries(), 2);
    FileOut zero = {0};
    file_abandon(&zero);
}

/* Whoever ends in the middle (die does, out of memory) leaves nothing behind. */
static void ending_takes_what_is_unfinished_along(void **state)
{
    (void)state;
    put("old", "old");
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        Err e;
        FileOut f;
        exit(file_create(&f, "old", &e) && file_append(&f, "half", 4, &e) && entries() == 2 ? 0 : 1);
    }
    int status = 0;
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(entries(), 1);
    expect("old", "old");
}

static void reading_is_bounded(void **state)
{
    (void)state;
    put("ten", "0123456789");
    put("eleven", "0123456789a");
    put("empty", "");
    assert_int_equal(mkdir("d", 0777), 0);
    assert_int_equal(mkfifo("pipe", 0666), 0);
    Err e = {{0}};
    Buf b = {0};
    assert_true(file_read("ten", 10, &b, &e));
    assert_true(file_read("ten", 10, &b, &e));
    assert_string_equal(buf_str(&b), "01234567890123456789");
    buf_free(&b);
    unreadable("eleven", "larger than the 10 bytes");
    unreadable("empty", "is empty");
    unreadable("d", "is a folder, not a file. Name a file in it.");
    unreadable("pipe", "is a pipe"); /* and does not wait for a writer */
    unreadable("/dev/zero", "is a device");
    unreadable("missing", "no such file");
    unreadable("ten/x", "not a folder");
    unreadable("a\x1b]0;x\x07", "a?]0;x?: there is no such file");
    int s = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "socket"};
    assert_int_equal(bind(s, (struct sockaddr *)&address, sizeof address), 0);
    unreadable("socket", "is a socket");
    close(s);
}

static void reads_at_a_place(void **state)
{
    (void)state;
    put("ten", "0123456789");
    Err e = {{0}};
    uint64_t size = 0;
    int fd = file_open("ten", &size, &e);
    assert_true(fd >= 0);
    assert_int_equal(size, 10);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    char out[5] = {0};
    assert_true(file_read_at(fd, "ten", out, 4, 6, &e));
    assert_string_equal(out, "6789");
    assert_false(file_read_at(fd, "ten", out, 4, 7, &e));
    assert_string_equal(e.text, "ten: ends before byte 11. The file is cut short: fetch it again.");
    assert_false(file_read_at(fd, "ten", out, 4, UINT64_MAX, &e));
    assert_false(file_read_at(fd, "ten", out, 4, (uint64_t)INT64_MAX, &e));
    assert_true(file_read_at(fd, "ten", out, 0, 10, &e));
    close(fd);
    fd = open("ten", O_WRONLY); /* what can't be read is said to be that, and not that somebody stopped it */
    assert_true(fd >= 0);
    errno = EINTR;
    assert_false(file_read_at(fd, "ten", out, 4, 0, &e));
    assert_non_null(strstr(e.text, "ten: reading failed ("));
    close(fd);
}

static void standard_input_is_read(void **state)
{
    (void)state;
    Err e = {{0}};
    int ends[2], saved = dup(STDIN_FILENO);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "from a pipe", 11), 11);
    close(ends[1]);
    dup2(ends[0], STDIN_FILENO);
    Buf b = {0};
    bool ok = file_read("-", 11, &b, &e), again = file_read("-", 11, &b, &e);
    dup2(saved, STDIN_FILENO);
    close(saved);
    close(ends[0]);
    assert_true(ok);
    assert_false(again);
    assert_string_equal(e.text, "standard input: is empty. Check that it was saved or copied completely.");
    assert_string_equal(buf_str(&b), "from a pipe");
    buf_free(&b);
}

static void names_are_taken_apart(void **state)
{
    (void)state;
    assert_string_equal(file_suffix("a/b.PNG"), "PNG");
    assert_string_equal(file_suffix("a.b/c"), "");
    assert_string_equal(file_suffix("a/.png"), "");
    assert_string_equal(file_suffix("x.tar.gz"), "gz");
    assert_string_equal(file_suffix("x."), "");
    assert_string_equal(file_suffix(""), "");
    assert_true(file_is_dir("."));
    assert_false(file_is_dir("missing"));
    assert_false(file_exists("missing"));
    put("a", "x");
    assert_true(file_exists("a"));
    assert_false(file_is_dir("a"));
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(writes_new_files_under_the_umask),
        IN_FOLDER(replaces_and_keeps_the_mode),
        IN_FOLDER(follows_links),
        IN_FOLDER(refuses_what_is_not_a_file),
        IN_FOLDER(respects_write_protection),
        IN_FOLDER(file_size_limit_leaves_the_old_file),
        IN_FOLDER(standard_output_is_checked),
        IN_FOLDER(pieces_are_all_or_nothing),
        IN_FOLDER(ending_takes_what_is_unfinished_along),
        IN_FOLDER(reading_is_bounded),
        IN_FOLDER(reads_at_a_place),
        IN_FOLDER(standard_input_is_read),
        IN_FOLDER(names_are_taken_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
