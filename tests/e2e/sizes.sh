#!/usr/bin/env bash
# Windows of every size, changed at any moment.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib.sh
command -v tmux >/dev/null || { skip "sizes (make deps-all installs tmux)"; finish sizes; exit; }
. tests/e2e/tmux.sh

fits() { # no line is wider than the window, the frame is drawn at this very size
    pane_is pane_width "$1" && pane_is pane_height "$2"
}
shell_open 80 24
start
pid=$(program)
for s in '120 40' '200 60' '60 16' '40 10' '20 5' '3 2' '1 1' '80 24' '300 100' '80 24'; do
    # shellcheck disable=SC2086
    size $s
    # shellcheck disable=SC2086
    until_true fits $s || fail "the window would not become $s"
    send Space
    if gone "$pid"; then fail "size $s: the program has ended"; break; fi
done
shows "after all sizes it still draws" 'step 1?[0-9] of'
for i in $(seq 40); do
    size $((1 + (i * 37) % 140)) $((1 + (i * 23) % 50))
    send Space
    send p
done
size 80 24
shows "after 40 more sizes" 'step [0-9]+ of'
check "it is still the same process" [ "$(program)" = "$pid" ]
quit sizes

shell_open 1 1
line '$V --fresh'
pid=$(program)
check "starts in one cell" [ "$pid" -gt 1 ]
send Space
size 80 24
shows "grows out of one cell" 'step [0-9]+ of'
quit "one cell"

shell_open 100 30 LINES=7 COLUMNS=-3
start
quit "junk in LINES and COLUMNS"
finish sizes
