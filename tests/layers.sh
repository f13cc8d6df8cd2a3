#!/usr/bin/env bash
# Walks the include graph and the symbols of the objects: arrows point upward only.
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
B=${B:-build/release}

# folder: which folders its files may include from (its own always)
declare -A MAY=(
    [core/base]=""
    [core/kernels]="core/base"
    [core/graph]="core/base core/kernels"
    [core/io]="core/base"
    [core/models]="core/base core/kernels core/graph core/io"
    [core/train]="core/base core/kernels core/graph core/io core/models"
    [core/eval]="core/base core/kernels core/graph core/io core/models core/train"
    [core/diff]="core/base core/kernels core/graph core/io core/models core/train core/eval"
    [core/session]="core/base core/kernels core/graph core/io core/models core/train core/eval core/diff assets"
    [lessons]="core/base core/kernels core/graph core/io core/models core/train core/eval core/diff core/session"
    [lessons/static]=""
    [core/base/static]=""
    [tui/canvas]="core/base"
    [tui/views]="core/base core/kernels core/graph core/io core/models core/train core/eval core/diff core/session lessons tui/canvas"
    [tui/cli]="core/base core/kernels core/graph core/io core/models core/train core/eval core/diff core/session lessons tui/canvas tui/views tui"
    [tui]="core/base core/kernels core/graph core/io core/models core/train core/eval core/diff core/session lessons tui/canvas tui/views tui/cli"
    [assets]="core/base core/kernels core/graph core/io core/models core/train core/eval"
)

# A storey's rooms know what their storey knows, and one another; who may include from a storey may include from its rooms.
ROOMS="core/session/ask core/session/edit core/session/learned core/session/screens tui/views/attention tui/views/explain tui/views/learned tui/views/lesson
tui/views/picture tui/views/tensor tui/views/text"

# A header of a library: the only files that may include it.
declare -A ONLY=(
    ['curses|<term\.h>']='^tui/term_(ncurses\.c|draw\.c|events\.c|parts\.h)$'
    ['stb']='^core/io/'
    ['jansson']='^core/io/'
    ['zlib']='^core/io/'
    ['pcre2|utf8proc']='^core/io/'
    ['md4c']='^lessons/(markdown|static/(record|replay))\.c$'
)

# wrong_arrows: prints each include under the current directory that is not allowed, and "seen N" at the end.
wrong_arrows() {
    local key
    {
        for key in "${!MAY[@]}"; do printf 'may\t%s\t%s\n' "$key" " ${MAY[$key]} "; done
        for key in $ROOMS; do printf 'room\t%s\n' "$key"; done
        for key in "${!ONLY[@]}"; do printf 'only\t%s\t%s\n' "$key" "${ONLY[$key]}"; done
        find core lessons tui assets -type f | sed 's/^/file\t/'
        find core lessons tui assets -name '*.[ch]' -o -name '*.inc' -o -name '*.def' | sort |
            xargs grep -HnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*["<]' | sed -E 's/^([^:]*):([0-9]*):[^"<]*(["<][^">]*[">]).*/include\t\1\t\2\t\3/'
    } | awk -F'\t' '
        function folder(path) { sub(/\/[^\/]*$/, "", path); return path }
        function storey(path) { path = folder(path); return path in room ? folder(path) : path }
        $1 == "may" {may[$2] = $3; next}
        $1 == "room" {room[$2]; next}
        $1 == "only" {gsub(/\\/, "\\", $3); only[$2] = $3; next}
        $1 == "file" {file[$2]; next}
        {
            seen++
            from = storey($2); what = $4
            if (!(from in may)) print $2 ": no rule says what " from " may include; add it to tests/layers.sh"
            else if (sub(/^"/, "", what)) {
                sub(/"$/, "", what)
                to = storey(what)
                if (!(what in file)) print $2 ":" $3 ": \047" what "\047 is not written from the top of the tree"
                else if (to != from && !index(may[from], " " to " ")) print $2 ":" $3 ": " from " may not know " to
                else if (from == "tui/cli" && what ~ /^tui\/term/) print $2 ":" $3 ": the command line may not know the terminal"
            } else
                for (pattern in only)
                    if (what ~ pattern && $2 !~ only[pattern]) print $2 ":" $3 ": may not include " what
        }
        END {print "seen " seen + 0}'
}

# first whether it sees anything at all: a tree with three wrong arrows
planted=$(mktemp -d)
trap 'rm -rf "$planted"' EXIT
mkdir -p "$planted"/lessons "$planted"/core/base "$planted"/core/io "$planted"/tui/views "$planted"/assets
echo '#include "core/io/x.h"' >"$planted/core/base/x.c"
printf '# include <curses.h> /* screen */\n#include <stdio.h>\n' >"$planted/tui/views/x.c"
echo '#include "x.h"' >"$planted/core/io/x.h"
same "wrong arrows of a planted tree" 3 "$(cd "$planted" && wrong_arrows | grep -vc '^seen')"

wrong=$(wrong_arrows)
while read -r line; do
    case $line in
    seen\ *) check "fewer than 500 includes were seen" [ "${line#seen }" -ge 500 ]; PASSED=$((PASSED + ${line#seen })) ;;
    *) fail "$line" ;;
    esac
done <<<"$wrong"

# One way out for what is said (core/base/tell.c) and one for what is drawn (the terminal): nobody else writes to either.
loud=$(grep -nE '\b(stderr|STDERR_FILENO|stdout)\b|[^a-z_](printf|puts|putchar|perror|psignal)\(' -r core tui --include='*.c' |
    grep -vE '^(core/base/tell\.c|tui/term_[a-z]*\.c):|isatty\(STD[A-Z]*_FILENO\)|^[^:]*:[0-9]*: *(/\*|\*)|fflush\(stdout\)')
same 'who writes to a terminal beside tell.c and the terminal itself' '' "$loud"

# What differs between families of models is asked by capability (family.h, model_vit, model_text): only who makes a
# model says of which family it is.
families=$(grep -rlE '\bFAMILY_(VIT|TEXT)\b' core tui --include='*.[ch]' | grep -v '^core/models/' | tr '\n' ' ')
same "who names a family outside core/models" "core/train/task_pictures.c core/train/task_sentences.c core/train/task_decoder.c " "$families"

# … and how often another asks for a family's own settings, or whether what is shown is a picture or a text: a number that only
# falls. Whoever brings one down writes it here; whoever needs a new one asks a capability (family.h: model_way, model_grid, a
# field of its row; train/task.h: a row of the task) or the anatomy instead. The four are the rows of the three tasks, and who
# hands diff the settings that its mistakes are made in.
asked() { grep -rhoE "$1" core lessons tui --include='*.c' --exclude-dir=models | wc -l; }
families=$(asked '\b(model_(vit|text)|seq2seq_has_(en|de)coder)\(|\bFAMILY_(VIT|TEXT)\b|[!=]= SEQ2SEQ_(BOTH|DE|EN)')
kinds=$(asked '\bsession_words\(|[!=]= INPUT_[A-Z]+\b')
check "$families questions about the family above core/models: more than 4" [ "$families" -le 4 ]
check "$kinds questions about the kind of input above core/models: more than 68" [ "$kinds" -le 68 ]

# Words that somebody wrote are cut between two characters, and no number is -0.00: both are printed through core/base/utf8.
prints=$(grep -rlzP '\bv?snprintf\([^;]*?%[-+ #0-9*]*(\.[0-9*]+s|(\.[0-9*]+)?f)|\bvsnprintf\(' core tui lessons --include='*.c' | tr '\n' ' ')
same "who cuts text inside a character or prints -0.00" "core/base/utf8.c " "$prints"

# A screen is a line of screens.def and two files: its row and its view. No table lists screens, and nobody outside core/session/screens asks
# which one is on, but for those that stood there when this was counted.
screens=$(sed -nE 's/^SCREEN(_WITH)?\(([A-Z]+).*/\2/p' core/session/screens.def)
check "fewer than 20 screens were seen" [ "$(wc -w <<<"$screens")" -ge 20 ]
for screen in $screens; do
    same "files with the row of screen $screen, and with its view" "1 1" \
        "$(grep -lE "^SCREEN_SPEC\($screen," core/session/screens/*.c | wc -l) $(grep -lE "^VIEW_SPEC\($screen,|^const ViewSpec VIEW_$screen " -r tui/views | wc -l)"
done
asks=$(grep -nE '\[SCREEN_[A-Z]+\]|case SCREEN_|[!=]= SCREEN_[A-Z]+\b' -r core tui lessons --include='*.[ch]' | grep -vE '^core/session/screens/|SCREEN_COUNT' | cut -d: -f1 | sort | uniq -c | awk '{printf "%s%s %d", (NR > 1 ? ", " : ""), $2, $1}')
same "who asks which screen is on" "core/session/commands_go.c 1, core/session/find.c 2, core/session/state.c 1, core/session/state_place.c 2, tui/present.c 1" "$asks"
# … and a new one, with a setting, a command, moves and a sentence, costs no more: these three compile.
trial=$planted/trial
mkdir -p "$trial/core/session"
{ cat core/session/screens.def; echo; } | sed 's/^#undef SCREEN_WITH/SCREEN_WITH(TRIAL, trial, bool on;)\n&/' >"$trial/core/session/screens.def"
cat >"$trial/row.c" <<'C'
#include "core/session/ask/say.h"
#include "core/session/options.h"
#include "core/session/screens.h"
static void move(Session *s, int dy, int dx) { s->look.trial.on ^= dy != dx; }
static bool say(const Teller *t) { return buf_puts(t->out, t->s->look.trial.on ? "on" : "off"), true; }
static bool run(Session *s, const Args *a, Err *err) { return a->count ? err_set(err, "no") : screen_go(s, SCREEN_TRIAL, s->place.path, err); }
static const LookOption OPTIONS[] = {{.name = "on", .kind = OPTION_SWITCH, .at = LOOK(trial.on)}, {.name = NULL}};
static const Command OWN = COMMAND("trial", "learned", "trial", "a screen on trial", COMMAND_SESSION, run, NULL);
SCREEN_SPEC(TRIAL, .name = "trial", .about = "on trial", .command = "trial", .own = {&OWN, 1, NULL}, .move = move,
            .enter = enter_tensor, .next = enter_tensor, .say = say, .tell = tell_tensor, .options = OPTIONS);
C
cat >"$trial/view.c" <<'C'
#include "tui/views/shown.h"
static void draw(const Paint *p, Rect r, Side side, bool focus) { (void)side, (void)focus, shown_computing(p, r); }
static void needs(const Session *s, Side side, Rect r, Needs *out) { (void)r, needs_add(out, side, s->place.path); }
static bool click(const Paint *p, Rect r, Side side, int y, int x, Buf *b) { return (void)p, (void)r, (void)side, buf_printf(b, "%d", y + x), true; }
static void title(const Session *s, Side side, Buf *out) { (void)side, buf_puts(out, s->look.trial.on ? "on" : "off"); }
VIEW_SPEC(TRIAL, .name = "trial", .sentence = "A screen on trial.");
C
for f in "$trial/row.c" "$trial/view.c" core/session/screens.c core/session/options.c core/session/command.c tui/views/view.c tui/keymap.c tui/menus.c; do
    check "$f: a new screen costs more than two files and a line" "${CC:-cc}" -std=c11 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Werror -fsyntax-only -I"$trial" -I. "$f"
done

# What the objects themselves say. libm's functions differ in their last bit between C libraries; only the correctly rounded ones are used,
# on the screen as well: a golden screen is the same everywhere.
LIBM='(a?(sin|cos|tan)h?|exp|exp2|exp10|expm1|log|log2|log10|log1p|pow|cbrt|hypot|erfc?|[lt]gamma|atan2|fmod|remainder|sincos)[fl]?'
# Mutable state: the kernel table and the terminal; the hook for a fatal error; requests to end; the decoder's own, which live in its child process.
mutable() {
    objdump -t "$1" | awk 'NF > 4 && $(NF-2) ~ /^\.(data|bss)(\.|$)/ && $(NF-2) !~ /^\.data\.rel/ && $NF !~ /^\./ {sub(/\.[0-9]+$/, "", $NF); print $NF}' | grep -v '^\.'
}
seen=''
STATE='fatal_hook|stopping|unfinished|registered|current|stbi_.*|firstmap|mapping|invalid_chunk|arena_now'
for lib in "$B"/core_*.a "$B"/lessons.a "$B"/tui_*.a "$B"/tui/*.o; do
    [ -e "$lib" ] || { fail "$lib is not built"; continue; }
    same "$lib: libm functions" "" "$(nm -u "$lib" 2>/dev/null | awk '{print $2}' | sed 's/@.*//' | sort -u | grep -xE "$LIBM" | tr '\n' ' ')"
    [[ $lib == */tui/term* ]] && continue
    found=$(mutable "$lib")
    same "$lib: mutable globals" "" "$(printf "%s" "$found" | grep -vxE "$STATE" | tr '\n' ' ')"
    seen="$seen $found"
done
check "the kernel table was not seen among the mutable globals" [ "${seen/current/}" != "$seen" ]

# A command's row says what it touches, or there is no program (core/session/command.h).
row() { printf '#include "core/session/command.h"\nstatic bool run(Session *s, const Args *a, Err *e) { return s && a && e; }\nconst Command C[] = {COMMAND("x", "go", "x", "y", %s)};\n' "$1" | ${CC:-cc} -std=c11 -I. -fsyntax-only -xc - 2>/dev/null; }
check "a row that says what it touches does not compile" row 'COMMAND_SESSION, run, NULL'
check "a row that touches nothing compiles" eval '! row "0, run, NULL"'
check "a row without the statement compiles" eval '! row "run, NULL"'
finish layers
