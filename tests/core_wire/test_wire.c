/* The wire: messages cut in any place, hostile ones, places with wrong owners and modes, guests who do not read, who
 * say nothing, who say too much. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/wire/caller.h"
#include "core/wire/hub.h"

static char base[64];

static int folder(void **state)
{
    (void)state;
    snprintf(base, sizeof base, "/tmp/vitrine-wire-XXXXXX");
    if (!mkdtemp(base))
        return -1;
    setenv("XDG_RUNTIME_DIR", base, 1);
    setenv("VITRINE_SHARE", base, 1);
    return 0;
}

static int no_folder(void **state)
{
    (void)state;
    char line[128];
    snprintf(line, sizeof line, "rm -rf '%s'", base);
    return system(line);
}

/* ---- messages ---- */

static void test_messages(void **state)
{
    (void)state;
    Buf bytes = {0};
    static const char TEXT[] = "place x[t=1]\nhead 2\nwith a \0 in it";
    message_put(MESSAGE_STEP, TEXT, sizeof TEXT, &bytes);
    message_put(MESSAGE_CAPTION, "", 0, &bytes);
    message_put(MESSAGE_FILE, TEXT, sizeof TEXT, &bytes);
    for (size_t chunk = 1; chunk <= bytes.len; chunk++) { /* cut in any place */
        Inbox in = {.from_us = true};
        Message m;
        Err err;
        int seen = 0;
        for (size_t at = 0; at < bytes.len; at += chunk) {
            inbox_add(&in, bytes.data + at, at + chunk < bytes.len ? chunk : bytes.len - at);
            int took;
            while ((took = message_take(&in, &m, &err)) != 0) {
                static const MessageKind KINDS[] = {MESSAGE_STEP, MESSAGE_CAPTION, MESSAGE_FILE};
                assert_int_equal(took, 1);
                assert_int_equal(m.kind, KINDS[seen]);
                assert_int_equal(m.size, seen == 1 ? 0 : sizeof TEXT);
                assert_memory_equal(m.text, TEXT, m.size);
                seen++;
            }
        }
        assert_int_equal(seen, 3);
        inbox_free(&in);
    }
    buf_free(&bytes);
}

static void refused(const char *bytes, bool from_us)
{
    Inbox in = {.from_us = from_us};
    Message m;
    Err err = {{0}};
    inbox_add(&in, bytes, strlen(bytes));
    assert_int_equal(message_take(&in, &m, &err), -1);
    assert_true(*err.text);
    inbox_free(&in);
}

static void test_hostile(void **state)
{
    (void)state;
    refused("z1 x\n", true);
    refused("d1 x\n", false);  /* who listens does not send steps */
    refused("A3 x 1\n", true); /* and who presents no answers */
    refused("A65 ", false);    /* longer than an answer may be: said before it is there */
    refused("A999999999999999 ", false);
    refused("A x\n", false); /* no length */
    refused("A-1 x\n", false);
    refused("A3 abcd\n", false); /* its end is elsewhere */
    refused("\n", false);
    Inbox in = {.from_us = false};
    Message m;
    Err err;
    inbox_add(&in, "A3 ab", 5);
    assert_int_equal(message_take(&in, &m, &err), 0);
    assert_in_range(inbox_most(&in), 100, 1000); /* whatever they send, this is all that is kept */
    inbox_free(&in);
}

/* ---- places ---- */

static void test_places(void **state)
{
    (void)state;
    char directory[PLACE_PATH], path[PLACE_PATH], notes[PLACE_PATH], line[256];
    Err err;
    uid_t owner;
    struct stat st;
    static const char *const BAD[] = {"",    "../x", ".x",
                                      "a b", "a/b",  "an-name-that-is-longer-than-forty-characters-is"};
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++)
        assert_false(place_share(BAD[i], directory, path, &err));
    assert_true(place_share("class", directory, path, &err));
    assert_int_equal(place_connect(directory, path, &owner, &err), -1); /* nobody there */
    int fd = place_listen_shared(directory, path, NULL, &err);
    assert_true(fd >= 0);
    assert_int_equal(lstat(directory, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0711);
    assert_int_equal(lstat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0666);
    int guest = place_connect(directory, path, &owner, &err);
    assert_true(guest >= 0 && owner == geteuid());
    close(guest);
    assert_int_equal(place_listen_shared(directory, path, NULL, &err), -1); /* a second presenter */
    assert_non_null(strstr(err.text, "already"));
    chmod(directory, 0733); /* others could put a socket of theirs there */
    assert_int_equal(place_connect(directory, path, &owner, &err), -1);
    chmod(directory, 0711);
    close(fd); /* as after a crash: the socket stays, nobody listens */
    assert_int_equal(place_connect(directory, path, &owner, &err), -1);
    assert_non_null(strstr(err.text, "any more"));
    fd = place_listen_shared(directory, path, NULL, &err);
    assert_true(fd >= 0);
    if (geteuid() == 0) { /* somebody else's directory, somebody else's socket */
        assert_int_equal(chown(directory, 12345, 12345), 0);
        assert_int_equal(place_connect(directory, path, &owner, &err), -1);
        assert_int_equal(chown(path, 12345, 12345), 0);
        assert_int_equal(place_connect(directory, path, &owner, &err), -1);
        assert_non_null(strstr(err.text, "not who owns it"));
        assert_int_equal(place_listen_shared(directory, path, NULL, &err), -1);
        assert_non_null(strstr(err.text, "another user"));
        assert_int_equal(chown(directory, 0, 0) + chown(path, 0, 0), 0);
    }
    close(fd);
    place_remove(directory, path);
    assert_int_equal(lstat(directory, &st), -1); /* nothing is left behind */
    assert_int_equal(place_listen_shared(directory, path, "no-such-group", &err), -1);
    assert_non_null(strstr(err.text, "no group 'no-such-group'"));
    assert_int_equal(lstat(directory, &st), -1);
    if (geteuid() == 0) { /* one may not share with a group of others, and not come in where one is not meant */
        enum { NOBODY = 65534 };
        assert_int_equal(chmod(base, 0711) + chown(base, NOBODY, 0) + seteuid(NOBODY), 0);
        fd = place_listen_shared(directory, path, "daemon", &err);
        assert_int_equal(seteuid(0) + chown(base, 0, 0), 0);
        assert_int_equal(fd, -1);
        assert_non_null(strstr(err.text, "you are not in the group 'daemon'"));
        assert_int_equal(lstat(directory, &st), -1);
        fd = place_listen_shared(directory, path, "daemon", &err);
        assert_true(fd >= 0);
        assert_int_equal(seteuid(NOBODY), 0);
        guest = place_connect(directory, path, &owner, &err);
        assert_int_equal(seteuid(0), 0);
        assert_int_equal(guest, -1);
        assert_non_null(strstr(err.text, "a group that you are not in"));
        close(fd);
        place_remove(directory, path);
        chmod(base, 0700);
    }

    assert_int_equal(symlink(base, directory), 0); /* a link is no directory */
    assert_int_equal(place_listen_shared(directory, path, NULL, &err), -1);
    unlink(directory);

    assert_true(place_notes(notes, &err));
    snprintf(line, sizeof line, "touch '%s'", notes);
    assert_int_equal(system(line), 0);
    assert_int_equal(place_listen(notes, 0600, &err), -1); /* somebody's file is not taken away */
    unlink(notes);
    fd = place_listen(notes, 0600, &err);
    assert_true(fd >= 0);
    assert_int_equal(lstat(notes, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    chmod(notes, 0666);
    assert_int_equal(place_connect(NULL, notes, &owner, &err), -1); /* not private any more */
    close(fd);
    unlink(notes);

    chmod(base, 0777); /* names below it could be taken away */
    assert_int_equal(place_listen_shared(directory, path, NULL, &err), -1);
    assert_non_null(strstr(err.text, "take its files away"));
    char runtime[PLACE_PATH];
    assert_true(place_runtime(runtime, &err));
    assert_string_not_equal(runtime, base); /* not private: another one is taken */
    chmod(base, 0700);
}

/* ---- the hub ---- */

typedef struct Seen {
    Hub *hub;
    int welcomes, messages, left;
    char last[128];
} Seen;

static void on_welcome(void *context, int id, HubRole role)
{
    Seen *s = context;
    (void)role;
    s->welcomes++;
    hub_send_to(s->hub, id, MESSAGE_STATE, "state", 5);
}

static void on_message(void *context, int id, HubRole role, const Message *m)
{
    Seen *s = context;
    (void)id, (void)role;
    s->messages++;
    snprintf(s->last, sizeof s->last, "%.100s", m->text);
}

static void on_left(void *context, int id)
{
    (void)id;
    ((Seen *)context)->left++;
}

static Seen seen;
static int64_t now;

static void step(void)
{
    HubEvents e = {&seen, on_welcome, on_message, on_left};
    hub_step(seen.hub, &e, now);
}

static int64_t second = 1000000000;

/* A raw guest: says these bytes. */
static int guest(const char *path, const char *bytes)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    snprintf(a.sun_path, sizeof a.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_true(fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof a) == 0);
    assert_int_equal(write(fd, bytes, strlen(bytes)), (int)strlen(bytes));
    return fd;
}

/* Everything that is there to be read. */
static size_t drain(int fd)
{
    char bytes[65536];
    size_t sum = 0;
    for (ssize_t n; (n = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT)) > 0;)
        sum += (size_t)n;
    return sum;
}

static void test_hub(void **state)
{
    (void)state;
    enum { GUESTS = 60 };
    char directory[PLACE_PATH], path[PLACE_PATH], notes[PLACE_PATH];
    Err err;
    int fd[GUESTS];
    now = 100 * second;
    assert_true(place_share("hub", directory, path, &err) && place_notes(notes, &err));
    seen = (Seen){.hub = hub_new()};
    hub_listen(seen.hub, place_listen_shared(directory, path, NULL, &err), false);
    hub_listen(seen.hub, place_listen(notes, 0600, &err), true);
    for (int i = 0; i < GUESTS; i++) {
        fd[i] = guest(path, "H8 2 follow\n");
        step();
    }
    step();
    assert_int_equal(hub_count(seen.hub, HUB_FOLLOWER), GUESTS);
    assert_int_equal(seen.welcomes, GUESTS);
    static const char STEP[] = "place blocks.1.attn.pattern[h=2,t=r3c4,u=r4c4]";
    hub_send(seen.hub, HUB_FOLLOWER, MESSAGE_STEP, STEP, sizeof STEP - 1);
    step();
    for (int i = 0; i < GUESTS; i++)
        assert_int_equal(drain(fd[i]), 3 + 5 + 1 + 4 + sizeof STEP - 1 + 1);

    /* wrong ones: notes by the open socket, a wrong version, nonsense, two hellos, too much at once */
    static const char *const WRONG[] = {
        "H7 2 notes\n",          "H8 1 follow\n", "C4 next\n", "GET / HTTP/1.0\r\n", "H8 2 follow\nH8 2 follow\n",
        "H8 2 follow\nC4 next\n"};
    int before = hub_count(seen.hub, HUB_FOLLOWER);
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
        int g = guest(path, WRONG[i]);
        for (int k = 0; k < 3; k++)
            step();
        assert_int_equal(hub_count(seen.hub, HUB_FOLLOWER), before);
        close(g);
    }
    assert_int_equal(seen.messages, 0);
    int loud = guest(path, "H8 2 follow\n");
    for (int i = 0; i < 3 * HUB_RATE && i < 100; i++)
        (void)!send(loud, "A10 00000001 1\n", 15, MSG_NOSIGNAL | MSG_DONTWAIT);
    for (int i = 0; i < 5; i++)
        step();
    assert_in_range(seen.messages, 1, HUB_RATE);
    assert_int_equal(hub_count(seen.hub, HUB_FOLLOWER), before);
    close(loud);

    /* the notes terminal may drive */
    int speaker = guest(notes, "H7 2 notes\nC4 next\n");
    seen.messages = 0;
    step();
    step();
    assert_int_equal(seen.messages, 1);
    assert_string_equal(seen.last, "next");
    assert_int_equal(hub_count(seen.hub, HUB_NOTES), 1);
    close(speaker);

    /* one never reads: nobody waits for it, the others get everything; when it reads again it gets the whole state */
    static char big[4000];
    memset(big, 'x', sizeof big);
    seen.welcomes = 0;
    int64_t began = clock_ns();
    for (int i = 0; i < 400; i++) {
        hub_send(seen.hub, HUB_FOLLOWER, MESSAGE_STEP, big, sizeof big);
        step();
        for (int k = 1; k < GUESTS; k++)
            drain(fd[k]);
    }
    assert_true(clock_ns() - began < 20 * second);
    assert_int_equal(seen.welcomes, 0);
    assert_int_equal(hub_count(seen.hub, HUB_FOLLOWER), before);
    size_t got = 0;
    for (int i = 0; i < 200 && !seen.welcomes; i++) {
        got += drain(fd[0]);
        step();
    }
    assert_int_equal(seen.welcomes, 1);
    assert_true(got < 400 * sizeof big); /* what it missed was not kept for it */

    /* one that reads no more at all is let go, and so is one that says nothing */
    int mute = guest(path, "");
    for (int i = 0; i < 200; i++) {
        hub_send(seen.hub, HUB_FOLLOWER, MESSAGE_STEP, big, sizeof big);
        step();
    }
    now += (HUB_SILENT_S + 1) * second;
    for (int k = 1; k < GUESTS; k++)
        while (drain(fd[k]))
            step();
    step();
    now += (HUB_SLOW_S + 1) * second;
    step();
    step();
    assert_int_equal(hub_count(seen.hub, HUB_FOLLOWER), before - 1);
    assert_int_equal(hub_dropped(seen.hub), 1);
    char one;
    assert_int_equal(recv(mute, &one, 1, MSG_DONTWAIT), 0); /* hung up */
    close(mute);

    /* killed ones */
    for (int k = 0; k < GUESTS; k += 2)
        close(fd[k]);
    seen.left = 0;
    hub_send(seen.hub, HUB_FOLLOWER, MESSAGE_STEP, "x", 1);
    step();
    assert_int_equal(hub_count(seen.hub, HUB_FOLLOWER), GUESTS / 2);
    assert_int_equal(seen.left, GUESTS / 2 - 1);
    for (int k = 1; k < GUESTS; k += 2)
        close(fd[k]);
    hub_free(seen.hub);
    place_remove(directory, path);
    place_remove(NULL, notes);
}

/* The other end: connects when somebody is there, reads a large picture, connects again. */
static void test_caller(void **state)
{
    (void)state;
    char directory[PLACE_PATH], path[PLACE_PATH];
    Err err;
    Caller c;
    Message m;
    now = 100 * second;
    assert_true(place_share("call", directory, path, &err));
    caller_init(&c, directory, path, "follow");
    caller_step(&c, now);
    assert_int_equal(c.fd, -1);
    assert_true(*c.why);
    seen = (Seen){.hub = hub_new()};
    hub_listen(seen.hub, place_listen_shared(directory, path, NULL, &err), false);
    caller_step(&c, now + second / 2); /* not yet */
    assert_int_equal(c.fd, -1);
    now += 2 * second;
    assert_true(caller_step(&c, now));
    caller_step(&c, now);
    step();
    caller_step(&c, now);
    assert_true(caller_take(&c, &m));
    assert_int_equal(m.kind, MESSAGE_STATE);
    char *picture = xcalloc(1, MESSAGE_PICTURE);
    picture[MESSAGE_PICTURE - 1] = 7;
    hub_send(seen.hub, HUB_FOLLOWER, MESSAGE_FILE, picture, MESSAGE_PICTURE);
    bool there = false;
    for (int i = 0; i < 5000 && !there; i++) {
        step();
        caller_step(&c, now);
        there = caller_take(&c, &m);
    }
    assert_true(there);
    assert_int_equal(m.size, MESSAGE_PICTURE);
    assert_memory_equal(m.text, picture, MESSAGE_PICTURE);
    free(picture);
    hub_free(seen.hub); /* who presents is gone */
    place_remove(directory, path);
    assert_true(caller_step(&c, now));
    assert_int_equal(c.fd, -1);
    seen = (Seen){.hub = hub_new()};
    hub_listen(seen.hub, place_listen_shared(directory, path, NULL, &err), false);
    now += 2 * second;
    assert_true(caller_step(&c, now));
    caller_close(&c);
    hub_free(seen.hub);
    place_remove(directory, path);
}

/* Another version is told which one this is and let go, and who hears of another one says so. */
static void test_versions(void **state)
{
    (void)state;
    char directory[PLACE_PATH], path[PLACE_PATH], bytes[64] = "";
    Err err;
    Caller c;
    Message m;
    now = 100 * second;
    assert_true(place_share("version", directory, path, &err));
    seen = (Seen){.hub = hub_new()};
    hub_listen(seen.hub, place_listen_shared(directory, path, NULL, &err), false);
    int old = guest(path, "H8 1 follow\nA10 00000001 1\n");
    for (int i = 0; i < 3; i++)
        step();
    assert_int_equal(recv(old, bytes, sizeof bytes - 1, MSG_DONTWAIT), 5);
    assert_string_equal(bytes, "h1 2\n");
    assert_int_equal(recv(old, bytes, sizeof bytes, MSG_DONTWAIT), 0);
    assert_int_equal(hub_strangers(seen.hub), 1);
    assert_int_equal(seen.messages + seen.welcomes, 0);
    assert_int_equal(hub_count(seen.hub, HUB_FOLLOWER), 0);
    close(old);
    hub_free(seen.hub);
    place_remove(directory, path);

    static const struct {
        const char *hello, *why;
    } SAID[] = {{"h6 1 prof\n", "an older Vitrine"}, {"h7 31 prof\n", "a newer Vitrine"}, {"", "without a word"}};
    for (size_t i = 0; i < sizeof SAID / sizeof *SAID; i++) {
        int listener = place_listen_shared(directory, path, NULL, &err);
        assert_true(listener >= 0);
        caller_init(&c, directory, path, "follow");
        assert_true(caller_step(&c, now));
        int fd = accept(listener, NULL, NULL);
        assert_true(fd >= 0);
        assert_int_equal(write(fd, SAID[i].hello, strlen(SAID[i].hello)), (int)strlen(SAID[i].hello));
        close(fd);
        caller_step(&c, now);
        assert_false(caller_take(&c, &m));
        assert_int_equal(c.fd, -1);
        assert_non_null(strstr(c.why, SAID[i].why));
        caller_close(&c);
        close(listener);
        place_remove(directory, path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_messages), cmocka_unit_test(test_hostile),
                                       cmocka_unit_test(test_places),   cmocka_unit_test(test_hub),
                                       cmocka_unit_test(test_caller),   cmocka_unit_test(test_versions)};
    return cmocka_run_group_tests(tests, folder, no_folder);
}
