#!/usr/bin/env bash
# Terminals and locales as they are found: nothing that cannot be shown is sent, and where it can't work a line says so.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib.sh
command -v tmux >/dev/null || { skip "terminals (make deps-all installs tmux)"; finish terminals; exit; }
. tests/e2e/tmux.sh

only_ascii() { ! screen_text | LC_ALL=C grep -q '[^ -~]'; }
no_garbage() { # what a byte sent to the wrong terminal looks like
    ! screen_text | grep -qE '\^\[|\[[0-9;]+[mHK]|�|M-b'
}
colours() { tm capture-pane -p -e -t pane | grep -cE $'\e\\[[0-9;]*(3[0-8]|4[0-8]|9[0-7])[;m]'; }

walk() { # WHAT: some steps, a menu, an edit; then out
    for i in 2 3 4 5; do
        send Space
        shows "$1: step $i" "step $i of" || return
    done
    check "$1: garbage on the screen" no_garbage
    send s
    shows "$1: s" 'scale off'
    check "$1: garbage on the screen after s" no_garbage
    send '?'
    shows "$1: help" 'what do you want'
    send Escape
    unsee 'what do you want' || fail "$1: Esc does not close help"
}

shell_open 80 24 TERM=vt100
start
walk vt100
same "vt100: lines in colour" 0 "$(colours)"
quit vt100

shell_open 80 24 LANG=C
start
walk LANG=C
quit LANG=C

shell_open 80 24 LANG= LC_CTYPE=UTF-8
start
walk LC_CTYPE=UTF-8
quit LC_CTYPE=UTF-8

shell_open 80 24 LANG=xx_YY.UTF-8
start
walk 'unknown locale'
quit 'unknown locale'

shell_open 80 24 NO_COLOR=1
start
walk NO_COLOR=1
same "NO_COLOR: lines in colour" 0 "$(colours)"
quit NO_COLOR=1

shell_open 80 24
start --ascii
walk --ascii
check "--ascii: other characters on the screen" only_ascii
quit --ascii

for c in 8 256 true mono; do
    shell_open 80 24
    start --colour $c
    send Space
    shows "colour $c" 'step 2 of'
    if [ $c = mono ]; then same "colour $c: lines in colour" 0 "$(colours)"; else check "colour $c: no colour" [ "$(colours)" -gt 3 ]; fi
    quit "colour $c"
done

# where there is no screen: exit 2, one line that names the reason, no escape byte
shell_open 80 24
for t in 'TERM=' 'TERM=nonsense' 'TERM=dumb'; do
    send C-l
    line "env $t \$V >out 2>err; echo \"status=\$?\" end"
    shows "$t" 'status=2 end'
done
send C-l
line 'env -u TERM $V 2>err; echo "status=$?" end'
shows "TERM unset" 'status=2 end'
same "TERM unset: lines of message" 1 "$(grep -c . "$HOME_DIR/err")"
check "TERM unset: the message does not name TERM" grep -q TERM "$HOME_DIR/err"

no_tty() { # WHAT: the program with no terminal at all
    same "$1: status" 2 "$2"
    same "$1: lines of message" 1 "$(grep -c . "$HOME_DIR/err")"
    check "$1: escape bytes" bash -c '! grep -q $'"'\\e'"' "$1" "$2"' _ "$HOME_DIR/out" "$HOME_DIR/err"
}
"$VITRINE" </dev/null >"$HOME_DIR/out" 2>"$HOME_DIR/err"
no_tty "no terminal" $?
TERM=xterm setsid -w "$VITRINE" <&- >"$HOME_DIR/out" 2>"$HOME_DIR/err"
no_tty "stdin closed" $?
send C-l
line '$V <&- 2>err; echo "status=$?" end'
shows "stdin closed in a terminal" 'status=2 end'
line '$V >out 2>err; echo "status=$?" out'
shows "stdout is a file" 'status=2 out'
no_tty "stdout is a file" 2
finish terminals
