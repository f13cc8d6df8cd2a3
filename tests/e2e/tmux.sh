# A real terminal to drive: one tmux server of its own, one pane with an interactive shell. Source it after tests/lib.sh.
# Every wait is for a text or a state, never for a time.
B=${B:-build/release}
TOP=$PWD
VITRINE=$(realpath "${VITRINE:-$B/vitrine}")
SERVER=vitrine-$$-$RANDOM
HOME_DIR=$(mktemp -d)
export TMUX_TMPDIR=$HOME_DIR # its socket goes with the rest
PATIENCE=${PATIENCE:-20} # seconds until a text must have appeared

# tm COMMAND…: our own server only; no settings of the user.
tm() { tmux -L "$SERVER" -f /dev/null "$@"; }
tidy() {
    tm kill-server 2>/dev/null
    local gone=0 # looked at twice: a program that was hung up may still write its place, and makes the folder anew for it
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        if [ -e "$HOME_DIR" ]; then gone=0; else gone=$((gone + 1)); fi
        [ $gone -lt 3 ] || break
        rm -rf "$HOME_DIR" 2>/dev/null
        sleep 0.1
    done
}
trap tidy EXIT
trap 'exit 130' INT TERM

# shell_open WIDTH HEIGHT [VAR=value]…: a fresh pane with bash in an empty home directory; the prompt is "ready>".
shell_open() {
    local w=$1 h=$2
    shift 2
    tm kill-session -t pane 2>/dev/null
    for _ in 1 2 3 4 5 6 7 8; do # a server whose last session just ended may take the new one with it
        tm new-session -d -s pane -x 80 -y 24 -c "$HOME_DIR" env -i PATH="$PATH" HOME="$HOME_DIR" XDG_STATE_HOME="$HOME_DIR/state" XDG_RUNTIME_DIR="$HOME_DIR" \
            TERM=tmux-256color LANG=C.UTF-8 V="$VITRINE" PS1='ready> ' "$@" bash --norc --noprofile -i 2>/dev/null
        sleep 0.1
        tm has-session -t pane 2>/dev/null && break
    done
    tm set-option -t pane -g status off >/dev/null
    tm set-option -g escape-time 0 >/dev/null
    see 'ready>' || fail "no shell in the pane"
    tm resize-window -t pane -x "$w" -y "$h"
}
screen_text() { tm capture-pane -p -t pane 2>/dev/null; }
send() { tm send-keys -t pane "$@"; }
line() { tm send-keys -t pane -l "$1" && tm send-keys -t pane Enter; }
size() { tm resize-window -t pane -x "$1" -y "$2"; }

# until_true COMMAND…: waits until it succeeds.
until_true() {
    local end=$(($(date +%s) + PATIENCE))
    until "$@"; do
        [ "$(date +%s)" -lt "$end" ] || return 1
        sleep 0.02
    done
}
# flat: a screen, and behind it the same as one line, so that a phrase is found wherever a path before it made it wrap
flat() { local text; text=$(cat); printf '%s\n' "$text"; tr -s ' \n│┃' ' ' <<<"$text"; }
has() { screen_text | flat | grep -qE -- "$1"; }
has_not() { ! has "$1"; }
see() { until_true has "$1"; }
unsee() { until_true has_not "$1"; }

# shows WHAT PATTERN: waits for it; shows the screen when it doesn't come.
shows() {
    if see "$2"; then
        pass
    else
        fail "$1: '$2' did not appear on the screen:"
        screen_text | sed 's/^/    |/'
        return 1
    fi
}
# child_of PID: the program that it started, by /proc (ps is not everywhere)
child_of() {
    local child name
    for child in $(cat "/proc/$1/task/$1/children" 2>/dev/null); do
        read -r name 2>/dev/null <"/proc/$child/comm" && [ "$name" = vitrine ] && echo "$child" && return
    done
}
# program pid, waited for; 0 when there is none
program() {
    local shell pid
    shell=$(tm display-message -p -t pane '#{pane_pid}')
    for _ in $(seq 200); do
        pid=$(child_of "$shell")
        [ -n "$pid" ] && break
        sleep 0.02
    done
    echo "${pid:-0}"
}
# signal NAME PID: to one process that we started, never to a group.
signal() {
    if [ "$2" -gt 1 ]; then kill -s "$1" "$2"; else fail "no process to send SIG$1 to"; fi
}
gone() { [ ! -e "/proc/$1" ]; }
pane_is() { [ "$(tm display-message -p -t pane "#{$1}")" = "$2" ]; }

# start [ARGUMENTS]: the program in the pane, up to its first frame. --fresh: without the place of the last time.
start() { # at the first step of #17, unless a model says otherwise
    local picture="-i '#17'"
    [[ " $* " == *' -m '* ]] && picture=''
    line "\$V --fresh $picture $*"
    shows "first frame of 'vitrine $*'" 'step 1 of [0-9]+|picture'
}
# back_in_shell WHAT STATUS: the program has ended so, and the terminal is as it was: no alternate screen, no mouse, echo on, cursor on.
back_in_shell() {
    until_true pane_is alternate_on 0 || fail "$1: the alternate screen stayed"
    send C-l
    line 'echo "status=$?" $(stty -a | tr " ;" "\n\n" | grep -xE -- "-?(icanon|echo|isig|icrnl|opost)" | tr "\n" " ") end'
    if see "status=[0-9]+ .* end"; then
        same "$1: how it left" "status=$2 icrnl opost isig icanon echo end" "$(screen_text | sed -nE 's/^(status=[0-9]+ .* end) *$/\1/p' | tail -n 1)"
    else
        fail "$1: the shell does not answer"
        screen_text | sed 's/^/    |/'
    fi
    check "$1: the mouse stayed on" pane_is mouse_any_flag 0
    check "$1: the cursor stayed off" pane_is cursor_flag 1
}
left() { [ -z "$(child_of "$(tm display-message -p -t pane '#{pane_pid}')")" ]; }
# quit WHAT: q closes what is open, then leaves.
quit() {
    local i j
    for i in 1 2 3 4 5 6; do
        send q
        for j in $(seq 50); do
            left && break 2
            sleep 0.02
        done
    done
    back_in_shell "$1" 0
}
