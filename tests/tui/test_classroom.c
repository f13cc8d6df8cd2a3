/* The class as a directory: what is read of it whatever lies there, and what others can do to it. Root runs all of it
 * as two users, one who presents and one who follows; cases with more of them need root. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/machine.h"
#include "core/base/mem.h"
#include "core/session/play.h"
#include "core/session/state.h"
#include "tests/tui/opened.h"
#include "tui/follow.h"
#include "tui/share.h"

enum { PRESENTER = 54320, STRANGER = 54321, OTHER = 54322, READER = 54323 };

static char base[64], room[128];
static Session s, own; /* who presents; who follows */
static Commands all;
static Presenter presenter;
static Rollcall question;
static Share share;
static Follow follow;
static Desk desk;

/* From now on files are made and opened as that user, in that group besides; 0: as who runs the test. */
static void be_in(uid_t uid, gid_t group)
{
    if (getuid() != 0)
        return;
    assert_int_equal(seteuid(0), 0);
    assert_int_equal(setgroups(group != 0, &group), 0);
    assert_int_equal(setegid(uid), 0);
    assert_int_equal(seteuid(uid), 0);
}

static void be(uid_t uid)
{
    be_in(uid, 0);
}

static int begin_all(void **state)
{
    (void)state;
    opened_commands(&all, NULL);
    opened_session(&s, NULL, "#17");
    opened_session(&own, NULL, "#17");
    return 0;
}

static int end_all(void **state)
{
    (void)state;
    session_free(&s);
    session_free(&own);
    commands_free(&all);
    return 0;
}

static int begin(void **state)
{
    (void)state;
    Err err = {{0}};
    snprintf(base, sizeof base, "/tmp/vitrine-room-XXXXXX");
    if (!mkdtemp(base) || chmod(base, 01777) != 0)
        return -1;
    setenv("VITRINE_SHARE", base, 1);
    setenv("XDG_STATE_HOME", base, 1);
    setenv("XDG_RUNTIME_DIR", "/nowhere", 1);
    snprintf(room, sizeof room, "%s/vitrine-class-c", base);
    presenter = (Presenter){.deck = {.at = -1}};
    question = (Rollcall){.mine = -1};
    share = (Share){.s = &s, .presenter = &presenter, .question = &question};
    be(PRESENTER);
    bool open = share_open(&share, "c", NULL, &err) && follow_open(&follow, "c", NULL, &err);
    be(0);
    if (!open)
        fail_msg("%s", err.text);
    return 0;
}

static int end(void **state)
{
    (void)state;
    char line[128];
    be(PRESENTER);
    share_close(&share);
    be(0);
    follow_close(&follow, &own);
    snprintf(line, sizeof line, "rm -rf '%s'", base);
    return system(line);
}

/* As the loop does: on and on while lines wait, so that a busy machine changes nothing. Another user is asked about,
 * and known from then on. */
static void catch_up(Follow *f, Session *on)
{
    f->room.looked = 0;
    be(READER);
    do {
        follow_step(f, on, clock_ns());
        if (f->asks && f->room.owner == PRESENTER)
            assert_true(follow_answers(f, on, "y"));
    } while (follow_behind(f));
    be(0);
}

static void round_both(void)
{
    be(PRESENTER);
    share_step(&share, clock_ns());
    catch_up(&follow, &own);
}

#define TEXT(literal) (literal), sizeof(literal) - 1
static void append(const char *text, size_t n)
{
    char path[160];
    snprintf(path, sizeof path, "%s/" CLASS_LINES, room);
    int fd = open(path, O_WRONLY | O_APPEND);
    assert_true(fd >= 0 && write(fd, text, n) == (ssize_t)n);
    close(fd);
}

static void does(const char *line)
{
    Err err = {{0}};
    if (!command_do(&s, &all, line, LINE_OWN, &err))
        fail_msg("%s: %s", line, err.text);
    buf_puts(&share.entries, line);
}

static void reads(const char *what, const char *part)
{
    if (!strstr(what, part))
        fail_msg("'%s' is not in '%s'", part, what);
}

static void test_a_step_arrives(void **state)
{
    (void)state;
    round_both();
    assert_true(follow.room.live);
    does("goto blocks.1.attn.pattern\n");
    round_both();
    assert_string_equal(own.place.path, "blocks.1.attn.pattern");
    assert_false(follow.asks); /* one's own account is known */
    size_t before = share.since;
    does("head 2\n");
    round_both();
    Err err;
    assert_true(follow_join(&follow, &own, &desk, "", NULL, &err)); /* f: on one's own … */
    assert_false(follow.following);
    does("goto logits\n");
    round_both();
    assert_string_equal(own.place.path, "blocks.1.attn.pattern");
    assert_true(follow_join(&follow, &own, &desk, "", NULL, &err)); /* … and back, to the same lines */
    round_both();
    assert_string_equal(own.place.path, "logits");
    does("goto blocks.0.attn.q\n");
    before = share.since;
    round_both();
    assert_true(share.since > before && share.since - before < 100); /* a step is a short line */
}

/* The film of the presenter's: on a follower's screen each step fills too, and the next one comes with the presenter's,
 * at whichever pace. */
static void test_a_film_is_followed(void **state)
{
    (void)state;
    Err err = {{0}};
    does("goto blocks.0.attn.scores_raw\n");
    assert_true(command_do(&s, &all, "play", LINE_OWN, &err));
    for (int step = 0; step < 3; step++) {
        round_both();
        assert_string_equal(own.place.path, s.place.path);
        assert_true(own.look.playing && own.look.frame == 1);
        while (own.look.playing)
            own.look.playing = play_frame(&own);
        assert_string_equal(own.place.path, s.place.path); /* it waits there */
        round_both();
        assert_false(own.look.playing);
        int box = s.place.box;
        StateShot *was = state_shot(&s);
        while (s.place.box == box)
            assert_true(play_frame(&s));
        StateShot *now = state_shot(&s);
        state_between(&s, was, now, &share.entries);
        state_shot_free(was);
        state_shot_free(now);
    }
    assert_true(command_do(&s, &all, "play off", LINE_OWN, &err));
    round_both();
    assert_false(own.look.playing);
    assert_string_equal(own.place.path, s.place.path);
    assert_true(follow.following);
}

static void test_half_binary_and_huge_lines(void **state)
{
    (void)state;
    round_both();
    append(TEXT("goto blo"));
    round_both();
    append(TEXT("cks.0.attn.q\n"));
    round_both();
    assert_string_equal(own.place.path, "blocks.0.attn.q");
    append(TEXT("goto logits\0 \001\377\n"));
    round_both();
    reads(follow.trouble, "is no text");
    assert_string_equal(own.place.path, "blocks.0.attn.q");
    char *huge = xmalloc(3 * CLASS_LINE);
    memset(huge, 'x', 3 * CLASS_LINE);
    append(huge, 3 * CLASS_LINE);
    for (int i = 0; i < 6; i++)
        round_both();
    append(TEXT("\ngoto blocks.0.attn.k\n"));
    for (int i = 0; i < 6; i++)
        round_both();
    assert_string_equal(own.place.path, "blocks.0.attn.k");
    free(huge);
    append(TEXT("@card 99999999 -1\n@card a b c d e f\n@ask \"\n@state\n@ask 00000001 \"q\"\n@nothing\n"));
    round_both();
    assert_false(follow.question.open);
}

/* A flood of lines, or of commands in one, keeps nobody from keys and signals: a round takes some of them. */
static void test_a_flood_waits_for_the_next_round(void **state)
{
    (void)state;
    Buf flood = {0};
    round_both();
    for (int i = 0; i < 300; i++)
        buf_puts(&flood, "goto logits;");
    buf_putc(&flood, '\n');
    append(flood.data, flood.len);
    round_both();
    reads(follow.trouble, "more commands in one line");
    buf_clear(&flood);
    for (int i = 0; i < 20000; i++)
        buf_puts(&flood, "goto logits; set scale off; undo\n");
    append(flood.data, flood.len);
    follow_step(&follow, &own, clock_ns());
    assert_true(follow_behind(&follow));
    buf_free(&flood);
}

static void test_who_comes_late_begins_at_the_last_whole_state(void **state)
{
    (void)state;
    Err err;
    round_both();
    for (int i = 0; i < 3200; i++) {
        does(i % 2 ? "goto blocks.0.attn.k\n" : "goto blocks.1.attn.pattern[h=1]\n");
        be(PRESENTER);
        share_step(&share, clock_ns());
        be(0);
    }
    catch_up(&follow, &own); /* who was stopped all the while */
    assert_string_equal(own.place.path, "blocks.0.attn.k");
    Follow late = {.joined = false};
    assert_true(follow_open(&late, "c", NULL, &err));
    Session another;
    opened_session(&another, NULL, "#17");
    for (int i = 0; i < 4; i++)
        catch_up(&late, &another);
    assert_string_equal(another.place.path, "blocks.0.attn.k");
    assert_true(late.room.in.len < 2 * CLASS_FILE);
    late.following = false;
    assert_true(command_do(&another, &all, "goto logits", LINE_OWN, &err));
    assert_true(follow_join(&late, &another, &desk, "", NULL, &err)); /* f: back by the same lines */
    catch_up(&late, &another);
    assert_string_equal(another.place.path, "blocks.0.attn.k");
    follow_close(&late, &another);
    session_free(&another);
}

static void test_who_is_killed_leaves_the_lines(void **state)
{
    (void)state;
    Err err = {{0}};
    Share second = share;
    round_both();
    second.room.path[0] = 0;
    be(PRESENTER);
    assert_false(share_open(&second, "c", NULL, &err));
    be(0);
    reads(err.text, "running there already");
    close(share.room.lines); /* as the kernel does for a process that ends */
    share.room.lines = -1;
    catch_up(&follow, &own);
    assert_false(follow.room.live);
    reads(follow.room.why, "has left");
    Follow late = {.joined = false}; /* and whoever comes now hears so too, with what was on show */
    Buf said = {0};
    assert_true(follow_open(&late, "c", NULL, &err));
    catch_up(&late, &own);
    follow_line(&late, &said);
    reads(buf_str(&said), "has left, this is what was on show last");
    if (geteuid() == 0) { /* another user is asked about who has left in the same words */
        late.asks = true;
        follow_line(&late, &said);
        reads(buf_str(&said), "was presented by");
    }
    buf_free(&said);
    follow_close(&late, &own);
    share.room.path[0] = 0;
    close(share.room.folder);
    closedir(share.room.votes);
    be(PRESENTER);
    assert_true(share_open(&share, "c", NULL, &err)); /* and again, in their place */
    be(0);
    does("goto blocks.0.attn.v\n");
    round_both();
    round_both();
    assert_true(follow.room.live);
    assert_string_equal(own.place.path, "blocks.0.attn.v");
}

/* By the kernel, without a word: the directory stays until the next share. */
static void test_a_presenter_is_killed(void **state)
{
    (void)state;
    Err err = {{0}};
    int there[2];
    char byte;
    Follow f = {.joined = false};
    Share h = {.s = &s, .presenter = &presenter, .question = &question};
    assert_int_equal(pipe(there), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        be(PRESENTER);
        bool ok = share_open(&h, "k", NULL, &err);
        share_step(&h, clock_ns());
        if (ok && write(there[1], "k", 1) == 1)
            for (;;)
                pause();
        _exit(1);
    }
    close(there[1]);
    assert_int_equal(read(there[0], &byte, 1), 1);
    close(there[0]);
    assert_true(follow_open(&f, "k", NULL, &err));
    catch_up(&f, &own);
    assert_true(f.room.live);
    assert_int_equal(kill(pid, SIGKILL), 0);
    waitpid(pid, NULL, 0);
    catch_up(&f, &own);
    assert_false(f.room.live);
    reads(f.room.why, "has left");
    be(PRESENTER);
    assert_true(share_open(&h, "k", NULL, &err));
    share_step(&h, clock_ns());
    catch_up(&f, &own);
    assert_true(f.room.live);
    follow_close(&f, &own);
    be(PRESENTER);
    share_close(&h);
    be(0);
}

static void test_directories_that_are_not_used(void **state)
{
    (void)state;
    Err err = {{0}};
    char path[160], lines[180];
    Follow f = {.joined = false};
    Share h = {.s = &s, .presenter = &presenter, .question = &question};
    snprintf(path, sizeof path, "%s/vitrine-class-l", base);
    assert_int_equal(symlink(room, path), 0);
    assert_true(follow_open(&f, "l", NULL, &err));
    catch_up(&f, &own);
    assert_true(f.room.folder < 0);
    reads(f.room.why, "not used");
    assert_false(share_open(&h, "l", NULL, &err));
    follow_close(&f, &own);
    snprintf(path, sizeof path, "%s/vitrine-class-w", base);
    assert_true(mkdir(path, 0777) == 0 && chmod(path, 0777) == 0);
    assert_true(follow_open(&f, "w", NULL, &err));
    catch_up(&f, &own);
    reads(f.room.why, "not used");
    assert_false(share_open(&h, "w", NULL, &err));
    chmod(path, 0755);
    snprintf(lines, sizeof lines, "%s/" CLASS_LINES, path);
    assert_int_equal(mkfifo(lines, 0644), 0); /* opening it waits for nobody */
    catch_up(&f, &own);
    assert_true(f.room.lines < 0);
    unlink(lines);
    assert_int_equal(symlink("/etc/passwd", lines), 0);
    catch_up(&f, &own);
    assert_true(f.room.lines < 0);
    unlink(lines);
    int fd = open(lines, O_WRONLY | O_CREAT, 0644);
    assert_int_equal(ftruncate(fd, (off_t)1 << 40), 0); /* larger than anything that is read */
    close(fd);
    catch_up(&f, &own);
    assert_true(f.room.lines < 0);
    follow_close(&f, &own);
    assert_false(share_open(&h, "../x", NULL, &err));
    assert_false(share_open(&h, "c", "no-such-group", &err));
}

/* Every command there is, with every word that could be a file's name, as a line of the class. */
static void test_no_line_touches_a_file(void **state)
{
    (void)state;
    char victim[160], line[600];
    static const char *const WORDS[] = {"%s over=yes",
                                        "%s logits over=yes",
                                        "logits from=%s",
                                        "%s map=%s", /* … and what is no name at all: */
                                        "99999999999999999999 -1 nan",
                                        "blocks.99.attn.q[h=-1,t=99999999,u=] 1e999",
                                        "\"; export %s logits over=yes; \"",
                                        "$(touch %s) %%n%%s%%n \\x00\\",
                                        "= =1 a= [ ] { ( \"\" \"\" \"\" \"\" \"\" \"\" \"\" \"\" \"\" \"\" \"\" \"\""};
    snprintf(victim, sizeof victim, "%s/mine.csv", base);
    assert_true(file_write(victim, "mine\n", 5, NULL));
    round_both();
    for (int i = 0; command_at(&all, i); i++)
        for (size_t w = 0; w < sizeof WORDS / sizeof *WORDS; w++) {
            char words[400];
            snprintf(words, sizeof words, WORDS[w], victim, victim);
            snprintf(line, sizeof line, "%s %s\n", command_at(&all, i)->name, words);
            append(line, strlen(line));
            catch_up(&follow, &own);
            assert_false(own.quit || follow_behind(&follow));
            Buf b = {0};
            assert_true(file_read(victim, 100, &b, NULL));
            if (strcmp(buf_str(&b), "mine\n") != 0)
                fail_msg("'%s' changed it", line);
            buf_free(&b);
        }
    static const char OPENS[] = "open \"class:0123456789abcdef/x.png\"\n";
    append(OPENS, sizeof OPENS - 1);
    round_both();
    reads(follow.trouble, "has not come");
    append(TEXT("goto logits\n"));
    round_both();
    assert_string_equal(follow.trouble, "");
    snprintf(line, sizeof line, "open %s\n", victim);
    append(line, strlen(line));
    round_both();
    reads(follow.trouble, "is a file");
    assert_null(strstr(follow.trouble, "link")); /* it came from who presents */
    assert_false(own.quit);
    assert_string_equal(session_input(&own, SIDE_B)->path, "#17");
}

static void test_a_picture_comes_as_data(void **state)
{
    (void)state;
    char file[160], line[300];
    Buf b = {0};
    snprintf(file, sizeof file, "%s/a\"; export x.csv logits; open \"b.ppm", base);
    buf_puts(&b, "P6\n32 32\n255\n");
    for (int i = 0; i < 32 * 32 * 3; i++)
        buf_putc(&b, 'k');
    assert_true(file_write(file, b.data, b.len, NULL));
    buf_free(&b);
    round_both();
    buf_puts(&b, "open ");
    command_quote(file, &b);
    snprintf(line, sizeof line, "%s\n", buf_str(&b));
    assert_int_equal(chmod(file, 0644), 0);
    buf_free(&b);
    does(line);
    round_both();
    assert_string_equal(follow.trouble, "");
    assert_int_equal(session_input(&own, SIDE_B)->original.data[0], 'k');
    reads(session_input(&own, SIDE_B)->path, "class:");
    unlink(file);
    does("open #17\n");
    round_both();
    assert_string_equal(session_input(&own, SIDE_B)->path, "#17");
}

/* ---- other users ---- */

/* What fn does as that user, in a process of its own. */
static void as_user(uid_t uid, void (*fn)(void))
{
    be(0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        if (setgid(uid) != 0 || setuid(uid) != 0)
            _exit(9);
        fn();
        _exit(0);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    assert_int_equal(status, 0);
}

/* A question as it is said line by line: once, then its one answer. */
static void test_a_question_in_lines(void **state)
{
    (void)state;
    static const char *const HEADS[] = {"0", "1"};
    Buf said = {0};
    Err err;
    round_both();
    question = (Rollcall){.open = true, .mine = -1};
    assert_true(quiz_ask(&question.quiz, "Which head?", HEADS, 2, "", NULL));
    for (int i = 0; i < 2; i++) {
        be(PRESENTER);
        share_step(&share, clock_ns());
        be(READER);
        follow.room.looked = 0;
        follow_say(&follow, &own, &said);
        be(0);
    }
    reads(buf_str(&said), "Asked: Which head?\n0\n1\n");
    reads(buf_str(&said), " asks. Type the digit in front of your answer.\n");
    assert_null(strstr(strstr(buf_str(&said), "Asked") + 1, "Asked"));
    be(READER);
    assert_false(follow_vote(&follow, &own, 2, &err));
    assert_true(follow_vote(&follow, &own, 1, &err));
    Buf receipt = {0}; /* no terminal of ours is here: that is whose vote it was */
    follow_receipt(&follow, &receipt);
    reads(buf_str(&receipt), "Your answer, 1, is the one vote of ");
    buf_free(&receipt);
    share.counted = 0;
    round_both();
    round_both();
    assert_int_equal(rollcall_total(&follow.question), 1); /* how many have answered is said to all */
    be(PRESENTER);
    question.closed = true;
    share_step(&share, clock_ns());
    be(READER);
    buf_clear(&said);
    follow.room.looked = 0;
    follow_say(&follow, &own, &said);
    be(0);
    reads(buf_str(&said), "Which head?: 1 answer.\n0: 0 of 1\n1: 1 of 1, yours\n");
    buf_free(&said);
}

static void test_a_caption_keeps_its_lines(void **state)
{
    (void)state;
    Buf line = {0};
    round_both();
    buf_puts(&line, "@caption ");
    command_quote("One\ntwo \033[2J", &line);
    buf_putc(&line, '\n');
    append(line.data, line.len);
    catch_up(&follow, &own);
    buf_clear(&line);
    follow_line(&follow, &line);
    reads(buf_str(&line), "One\ntwo ");
    buf_clear(&line);
    for (int i = 0; i <= 550; i++) /* the longest that goes out */
        buf_puts(&line, i ? "é" : "@caption \"");
    buf_puts(&line, "\"\n");
    append(line.data, line.len);
    catch_up(&follow, &own);
    assert_int_equal(strlen(follow.caption), 1100);
    buf_free(&line);
}

static void need_root(void)
{
    if (geteuid() != 0) {
        print_message("other users: only root can be several\n");
        skip();
    }
}

static void ask(void)
{
    static const char *const HEADS[] = {"0", "1", "2", "3"};
    question = (Rollcall){.open = true, .mine = -1};
    assert_true(quiz_ask(&question.quiz, "Which head?", HEADS, 4, "", NULL));
    be(PRESENTER);
    share_step(&share, clock_ns());
    be(0);
}

static void count(void)
{
    be(PRESENTER);
    share_count(&share);
    be(0);
}

static void put_votes(int terminal, int count)
{
    char name[300];
    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof name, "%s/votes/%08x-%d-%d-%x%x", room, question.quiz.seed, terminal, i % 4, i + 1,
                 (unsigned)getuid());
        close(open(name, O_WRONLY | O_CREAT | O_EXCL, 0600));
    }
}

static void stuff(void)
{
    char path[300];
    put_votes(0, 300);
    for (int i = 0; i < 300; i++) /* terminals that are not, or not theirs */
        put_votes(i + 1, 1);
    snprintf(path, sizeof path, "%s/" CLASS_LINES, room); /* and nothing else is theirs to write */
    if (open(path, O_WRONLY) >= 0 || unlink(path) == 0)
        _exit(3);
    snprintf(path, sizeof path, "%s/other", room);
    if (open(path, O_WRONLY | O_CREAT, 0600) >= 0)
        _exit(4);
    snprintf(path, sizeof path, "%s/votes", room);
    if (open(path, O_RDONLY | O_DIRECTORY) >= 0) /* who voted is not theirs to list */
        _exit(5);
}

static void one_vote(void)
{
    put_votes(0, 1);
}

static void test_stuffed_votes(void **state)
{
    (void)state;
    need_root();
    round_both();
    ask();
    as_user(STRANGER, stuff);
    as_user(OTHER, one_vote);
    count();
    assert_int_equal(rollcall_total(&question), 2);
    assert_string_equal(question.note, "");
}

/* Folders that nobody can take away, many of them, and a name for somebody else's file. */
static void crowd(void)
{
    char path[300], inside[320];
    for (int i = 0; i < 700; i++) {
        snprintf(path, sizeof path, "%s/votes/%08x-0-1-%x", room, question.quiz.seed, i + 1);
        snprintf(inside, sizeof inside, "%s/x", path);
        if (mkdir(path, 0700) != 0 || mkdir(inside, 0700) != 0)
            _exit(3);
    }
}

static void litter(void)
{
    char path[300], inside[320];
    snprintf(path, sizeof path, "%s/votes/folder", room);
    snprintf(inside, sizeof inside, "%s/x", path);
    if (mkdir(path, 0700) != 0 || mkdir(inside, 0700) != 0)
        _exit(3);
}

/* What a stranger leaves there that nobody else can take away is said once, and keeps nobody from anything. */
static void test_a_strangers_folder(void **state)
{
    (void)state;
    need_root();
    Err err = {{0}};
    round_both();
    ask();
    as_user(STRANGER, litter);
    share.counted = INT64_MIN / 2;
    be(PRESENTER);
    assert_true(share_step(&share, 0));
    be(0);
    reads(share.news, "user 54321 puts files into the class that are no answers");
    share.news[0] = 0;
    as_user(OTHER, one_vote);
    count();
    assert_string_equal(share.news, "");
    assert_int_equal(rollcall_total(&question), 1);
    be(PRESENTER);
    share_close(&share);
    be(0);
    assert_int_equal(access(room, F_OK), 0);
    catch_up(&follow, &own);
    reads(follow.room.why, "nobody presents there now");
    be(PRESENTER);
    assert_true(share_open(&share, "c", NULL, &err));
    be(0);
    round_both();
    assert_true(follow.room.live);
}

static void test_a_crowd_hides_no_vote(void **state)
{
    (void)state;
    need_root();
    char from[300], to[300];
    round_both();
    ask();
    as_user(STRANGER, crowd);
    as_user(OTHER, one_vote);
    be(PRESENTER);
    for (int i = 0; i < 40; i++) { /* a look of no time takes some files, and goes on where the one before ended */
        share.counted = INT64_MIN / 2;
        share_step(&share, 0);
    }
    be(0);
    assert_int_equal(rollcall_total(&question), 1);
    as_user(READER, one_vote);
    count();
    assert_int_equal(rollcall_total(&question), 2);
    assert_string_equal(question.note, "");
    snprintf(from, sizeof from, "%s/somebodys", base); /* an empty file of another user's under the name of a vote */
    close(open(from, O_WRONLY | O_CREAT | O_EXCL, 0600));
    assert_int_equal(chown(from, 60000, 60000), 0);
    snprintf(to, sizeof to, "%s/votes/%08x-0-1-abc", room, question.quiz.seed);
    assert_int_equal(link(from, to), 0);
    count();
    assert_int_equal(rollcall_total(&question), 2);
}

/* Two hundred on one machine, more than the watches of one account: all of them read every line. */
static void test_two_hundred_read(void **state)
{
    (void)state;
    enum { READERS = 200 };
    ClassReader *r = xcalloc(READERS, sizeof *r);
    Err err;
    round_both();
    be(READER);
    int watched = 0;
    for (int i = 0; i < READERS; i++) {
        assert_true(reader_init(&r[i], "c", &err));
        reader_step(&r[i], clock_ns());
        while (reader_line(&r[i], &err))
            ;
        watched += r[i].watch >= 0;
    }
    for (int step = 0; step < 5; step++) {
        does(step % 2 ? "goto logits\n" : "goto blocks.0.attn.q\n");
        be(PRESENTER);
        share_step(&share, clock_ns());
        be(READER);
        for (int i = 0; i < READERS; i++) {
            struct pollfd woken; /* by the watch, at once; where there is none half a second later */
            if (reader_poll(&r[i], &woken, 1))
                assert_int_equal(poll(&woken, 1, 100), 1);
            assert_true(reader_step(&r[i], r[i].looked + (r[i].watch < 0 ? INT64_C(600000000) : 1)));
            const char *line = reader_line(&r[i], &err);
            assert_non_null(line);
            assert_string_equal(line, step % 2 ? "goto logits" : "goto blocks.0.attn.q");
        }
    }
    print_message("%d of %d readers were woken by a watch\n", watched, READERS);
    for (int i = 0; i < READERS; i++)
        reader_close(&r[i]);
    be(0);
    free(r);
}

static void test_a_group_alone(void **state)
{
    (void)state;
    need_root();
    const struct group *g = getgrnam("games");
    Err err = {{0}};
    Share h = {.s = &s, .presenter = &presenter, .question = &question};
    char path[300];
    if (!g || !g->gr_gid) {
        print_message("a group: there is no group 'games' here\n");
        skip();
    }
    be(PRESENTER); /* who is not in it */
    assert_false(share_open(&h, "g", "games", &err));
    reads(err.text, "no group 'games' that you are in");
    be_in(PRESENTER, g->gr_gid);
    assert_true(share_open(&h, "g", "games", &err));
    share_step(&h, clock_ns());
    ClassReader r;
    be_in(READER, g->gr_gid);
    assert_true(reader_init(&r, "g", &err));
    assert_true(reader_step(&r, clock_ns()) && r.live && reader_line(&r, &err));
    assert_true(reader_vote(&r, "00000001-0-1-1", &err));
    reader_close(&r);
    be(STRANGER);
    assert_true(reader_init(&r, "g", &err));
    reader_step(&r, clock_ns());
    reads(r.why, "a group that you are not in");
    assert_false(reader_vote(&r, "00000001-0-1-2", &err));
    reader_close(&r);
    snprintf(path, sizeof path, "%s/vitrine-class-g/" CLASS_LINES, base);
    assert_true(open(path, O_RDONLY) < 0 && errno == EACCES);
    be(PRESENTER);
    share_close(&h);
    be(0);
    snprintf(path, sizeof path, "%s/vitrine-class-g", base);
    assert_int_not_equal(access(path, F_OK), 0);
}

/* What a stranger has put where a class is to be. */
static void squat(void)
{
    char path[200];
    snprintf(path, sizeof path, "%s/vitrine-class-mine", base);
    if (mkdir(path, 0777) != 0 || chmod(path, 0755) != 0)
        _exit(3);
    snprintf(path, sizeof path, "%s/vitrine-class-link", base);
    if (symlink(room, path) != 0)
        _exit(4);
    snprintf(path, sizeof path, "%s/vitrine-class-file", base);
    close(open(path, O_WRONLY | O_CREAT | O_EXCL, 0666));
}

static void test_names_that_a_stranger_took(void **state)
{
    (void)state;
    need_root();
    static const char *const NAMES[] = {"mine", "link", "file"}, *const SAYS[] = {"54321", "54321", "54321"};
    Err err = {{0}};
    as_user(STRANGER, squat);
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        Share h = {.s = &s, .presenter = &presenter, .question = &question};
        be(PRESENTER);
        assert_false(share_open(&h, NAMES[i], NULL, &err));
        be(0);
        reads(err.text, SAYS[i]);
    }
    round_both(); /* what the link names is as it was */
    assert_true(follow.room.live);
}

/* However many have voted: no class is full. */
static void test_thousands_vote(void **state)
{
    (void)state;
    enum { VOTERS = 2100 };
    need_root();
    char name[300];
    round_both();
    ask();
    for (int i = 0; i < VOTERS; i++) {
        snprintf(name, sizeof name, "%s/votes/%08x-0-1-%x", room, question.quiz.seed, i + 1);
        close(open(name, O_WRONLY | O_CREAT | O_EXCL, 0600));
        assert_int_equal(chown(name, (uid_t)(60000 + i), 60000), 0);
    }
    count();
    assert_int_equal(rollcall_total(&question), VOTERS);
    assert_string_equal(question.note, "");
    round_both();
    assert_int_equal(rollcall_total(&follow.question), VOTERS);
}

static void test_a_stranger_is_asked_about(void **state)
{
    (void)state;
    need_root();
    char path[200], lines[220];
    static const char RUNS[] = "@state goto blocks.1.attn.v\n";
    Err err = {{0}};
    Buf said = {0};
    snprintf(path, sizeof path, "%s/vitrine-class-root", base);
    snprintf(lines, sizeof lines, "%s/" CLASS_LINES, path);
    assert_true(mkdir(path, 0755) == 0 && file_write(lines, RUNS, sizeof RUNS - 1, NULL));
    assert_true(chmod(lines, 0644) == 0 && chown(lines, STRANGER, STRANGER) == 0 &&
                chown(path, STRANGER, STRANGER) == 0);
    follow_close(&follow, &own);
    assert_true(follow_open(&follow, "root", NULL, &err));
    assert_true(command_do(&own, &all, "goto logits", LINE_OWN, &err));
    for (int i = 0; i < 3; i++)
        catch_up(&follow, &own);
    assert_true(follow.asks);
    assert_string_equal(own.place.path, "logits");
    follow_line(&follow, &said);
    reads(buf_str(&said), "54321"); /* by number; a name that it has not is not said */
    buf_free(&said);
    be(READER);
    assert_true(follow_answers(&follow, &own, "n")); /* says what comes of it, and asks again */
    reads(buf_str(&own.said), "join root asks again");
    assert_false(follow.joined);
    assert_true(follow_open(&follow, "root", NULL, &err));
    catch_up(&follow, &own);
    be(READER);
    assert_true(follow_answers(&follow, &own, "y"));
    catch_up(&follow, &own);
    assert_string_equal(own.place.path, "blocks.1.attn.v");
    follow_close(&follow, &own);
    assert_true(follow_open(&follow, "root", NULL, &err)); /* once */
    catch_up(&follow, &own);
    assert_false(follow.asks);
    assert_int_equal(chown(lines, OTHER, OTHER), 0); /* lines that are not the directory's owner's */
    follow_close(&follow, &own);
    assert_true(follow_open(&follow, "root", NULL, &err));
    catch_up(&follow, &own);
    assert_true(follow.room.lines < 0);
    Share h = {.s = &s, .presenter = &presenter, .question = &question};
    assert_false(share_open(&h, "root", NULL, &err));
    reads(err.text, "belongs to user 54321");
}

/* On a disk of its own, in a process of its own. */
static void fill_disk(void)
{
    Err err = {{0}};
    char path[200];
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("tmpfs", base, "tmpfs", 0, "size=48k,mode=1777") != 0)
        _exit(77);
    Share h = {.s = &s, .presenter = &presenter, .question = &question};
    be(PRESENTER);
    if (!share_open(&h, "d", NULL, &err))
        _exit(1);
    share_step(&h, clock_ns());
    snprintf(path, sizeof path, "%s/filler", base);
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    char bytes[512] = {0};
    while (write(fd, bytes, sizeof bytes) > 0)
        ;
    int64_t began = clock_ns();
    for (int i = 0; i < 400; i++) {
        const char *line = i % 2 ? "goto logits\n" : "goto blocks.0.attn.q\n";
        command_do(&s, &all, line, LINE_OWN, NULL);
        buf_puts(&h.entries, line);
        share_step(&h, clock_ns());
    }
    if (clock_ns() - began > INT64_C(5000000000) || !strstr(h.news, "Followers wait"))
        _exit(2);
    close(fd);
    unlink(path);
    share_step(&h, clock_ns() + INT64_C(1000000000));
    if (h.tried || !strstr(h.news, "written again"))
        _exit(3);
    Follow f = {.joined = false};
    if (!follow_open(&f, "d", NULL, &err))
        _exit(4);
    catch_up(&f, &own);
    catch_up(&f, &own);
    if (strcmp(own.place.path, "logits") != 0)
        _exit(5);
    _exit(0);
}

static void test_a_full_disk_is_said(void **state)
{
    (void)state;
    need_root();
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        fill_disk();
    int status = 0;
    waitpid(pid, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
        print_message("a full disk: no file system can be mounted here\n");
        skip();
    }
    assert_int_equal(status, 0);
}

/* Who asks whom to join is told who presents, and by whom: the name alone is anybody's. A folder in which nobody does,
 * and one that others write to, are none. */
static void test_who_presents(void **state)
{
    (void)state;
    Buf classes = {0};
    char dead[160], want[100], who[80];
    snprintf(dead, sizeof dead, "%s/vitrine-class-gone", base);
    assert_int_equal(mkdir(dead, 0700), 0);
    assert_int_equal(reader_classes(&classes), 1);
    snprintf(want, sizeof want, "c, by %s", machine_user(getuid() == 0 ? PRESENTER : getuid(), who));
    assert_string_equal(buf_str(&classes), want);
    be(PRESENTER);
    share_close(&share);
    be(0);
    assert_int_equal(reader_classes(&classes), 0);
    buf_free(&classes);
}

int main(void)
{
#define EACH(test) cmocka_unit_test_setup_teardown(test, begin, end)
    const struct CMUnitTest tests[] = {
        EACH(test_a_step_arrives),
        EACH(test_a_film_is_followed),
        EACH(test_half_binary_and_huge_lines),
        EACH(test_a_flood_waits_for_the_next_round),
        EACH(test_who_comes_late_begins_at_the_last_whole_state),
        EACH(test_who_is_killed_leaves_the_lines),
        EACH(test_a_presenter_is_killed),
        EACH(test_directories_that_are_not_used),
        EACH(test_no_line_touches_a_file),
        EACH(test_a_picture_comes_as_data),
        EACH(test_a_question_in_lines),
        EACH(test_a_caption_keeps_its_lines),
        EACH(test_stuffed_votes),
        EACH(test_a_crowd_hides_no_vote),
        EACH(test_a_strangers_folder),
        EACH(test_thousands_vote),
        EACH(test_two_hundred_read),
        EACH(test_a_group_alone),
        EACH(test_names_that_a_stranger_took),
        EACH(test_a_stranger_is_asked_about),
        EACH(test_a_full_disk_is_said),
        EACH(test_who_presents),
    };
    return cmocka_run_group_tests(tests, begin_all, end_all);
}
