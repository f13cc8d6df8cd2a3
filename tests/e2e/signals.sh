#!/usr/bin/env bash
# Suspended, resumed, killed, hung up: the terminal is as it was.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib.sh
command -v tmux >/dev/null || { skip "signals (make deps-all installs tmux)"; finish signals; exit; }
. tests/e2e/tmux.sh

shell_open 80 24
start
send Space
shows "a step" 'step 2 of'
send C-z
shows "^Z: stopped" 'Stopped'
check "^Z: the alternate screen stayed" pane_is alternate_on 0
send C-l
line 'stty -a | grep -o -- "-*icanon"; echo stopped-$((1+1))'
shows "^Z: the shell works" 'stopped-2'
check "^Z: the terminal is not in line mode" has '^icanon'
size 100 30
line fg
shows "fg draws again" 'step 2 of'
send Space
shows "and goes on" 'step 3 of'
pid=$(program)
signal STOP "$pid"
shows "stopped from outside" 'Stopped'
size 90 28
line fg
shows "stopped from outside: fg draws again" 'step 3 of'
send Space
shows "stopped from outside, resized, continued" 'step 4 of'
quit "after suspending"

# signal, exit status as the shell sees it
for s in 'TERM 143' 'HUP 129' 'INT 130' 'QUIT 131' 'SEGV 139' 'ABRT 134' 'BUS 135' 'FPE 136'; do
    # shellcheck disable=SC2086
    set -- $s
    shell_open 80 24
    line 'ulimit -c 0'
    start
    pid=$(program)
    signal "$1" "$pid"
    until_true gone "$pid" || fail "SIG$1: still running"
    back_in_shell "SIG$1" "$2"
done

# the terminal goes away, as when an ssh connection drops: the process ends by itself, at once
shell_open 80 24
start
pid=$(program)
tm kill-session -t pane
began=$(date +%s)
until_true gone "$pid" || fail "a dropped connection leaves process $pid"
check "a dropped connection: it took $(($(date +%s) - began)) s to end" [ $(($(date +%s) - began)) -le 2 ]

# no processor time while nothing happens
shell_open 80 24
start
pid=$(program)
until_true has 'trace [0-9a-f]{4}' || fail "the pass is never complete"
ticks() { awk '{print $14 + $15}' "/proc/$pid/stat"; }
before=$(ticks)
sleep 1
check "idle: $(($(ticks) - before)) ticks of processor time in a second" [ $(($(ticks) - before)) -le 2 ]
quit idle
finish signals
