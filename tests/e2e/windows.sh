#!/usr/bin/env bash
# The screen as it is seen: stock xterm (black on white, TERM=xterm), xterm reversed and with 8 colours, the Linux console's palette, a terminal
# of VTE, under Xvfb. In the pictures themselves every colour of the text has a contrast of 4.5 on its ground. KEEP=FOLDER keeps them.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib.sh
B=${B:-build/release}
VITRINE=$(realpath "${VITRINE:-$B/vitrine}")
for program in Xvfb xterm xdotool import convert lxterminal; do
    command -v "$program" >/dev/null && continue
    skip "pictures of terminals: $program is not installed (make deps-all installs it)"
    finish windows
    exit
done
HOME_DIR=$(mktemp -d)
export HOME=$HOME_DIR XDG_CONFIG_HOME=$HOME_DIR/.config XDG_STATE_HOME=$HOME_DIR/state XDG_CACHE_HOME=$HOME_DIR/cache LANG=C.UTF-8
unset NO_COLOR COLORTERM TMUX SSH_CONNECTION SSH_TTY SSH_CLIENT VTE_VERSION XTERM_VERSION TERM_PROGRAM COLORFGBG WT_SESSION KONSOLE_VERSION
WINDOW=0 SERVER=0
close_window() {
    [ "$WINDOW" -gt 1 ] && kill "$WINDOW" 2>/dev/null && wait "$WINDOW" 2>/dev/null
    WINDOW=0
}
tidy() {
    close_window
    [ "$SERVER" -gt 1 ] && kill "$SERVER" 2>/dev/null && wait "$SERVER" 2>/dev/null
    for _ in 1 2 3 4 5; do rm -rf "$HOME_DIR" 2>/dev/null && break; sleep 0.1; done
}
trap tidy EXIT
trap 'exit 130' INT TERM
# without -noreset it starts anew when its last window closes, and the next window may be lost in that
Xvfb -displayfd 3 -noreset -screen 0 700x520x24 -nolisten tcp 3>"$HOME_DIR/display" >/dev/null 2>&1 &
SERVER=$!
for _ in $(seq 100); do [ -s "$HOME_DIR/display" ] && break; sleep 0.1; done
[ -s "$HOME_DIR/display" ] || { fail "Xvfb does not start"; finish windows; exit; }
DISPLAY=:$(cat "$HOME_DIR/display")
export DISPLAY

picture() { import -window root "$HOME_DIR/shot.png" 2>/dev/null; }
# still WHAT: the picture in $HOME_DIR/shot.png once it has a screen of ours on it and stands still; $KEEP/WHAT.png
still() {
    local before='' now n=0
    for _ in $(seq 150); do
        picture
        now=$(convert "$HOME_DIR/shot.png" -format '%# %k' info:)
        # a shell or an empty window has a handful of colours
        if [ "$now" = "$before" ] && [ "${now#* }" -ge "${FEWEST:-6}" ]; then n=$((n + 1)); else n=0; fi
        [ "$n" -ge 2 ] && break
        before=$now
        sleep 0.1
    done
    [ -z "${KEEP:-}" ] || cp "$HOME_DIR/shot.png" "$KEEP/${1//[^A-Za-z0-9]/-}.png"
    [ "$n" -ge 2 ] || fail "$1: no screen appears"
}
# on_xterm WHAT TERM 'ARGUMENTS OF XTERM' [ARGUMENTS]: 80 by 24 cells of 8 by 13 pixels, no antialiasing: only the colours that were asked for
on_xterm() {
    local what=$1 term=$2 how=$3
    shift 3
    close_window
    # shellcheck disable=SC2086
    xterm -geometry 80x24+0+0 -b 0 -bw 0 +sb -u8 -fn '-misc-fixed-medium-r-normal--13-*-*-*-c-80-iso10646-1' -fb '-misc-fixed-bold-r-normal--13-*-*-*-c-80-iso10646-1' \
        -xrm 'XTerm*cursorBlink: false' $how -e env TERM="$term" "$VITRINE" --fresh -i '#17' "$@" 2>/dev/null &
    WINDOW=$!
    still "$what"
}
# colours AREA: those in it, the most frequent first, as #RRGGBB
colours() { convert "$HOME_DIR/shot.png" -crop "$1" +repage -depth 8 -format %c histogram:info: | sort -rn | grep -oE '#[0-9A-F]{6}'; }
# read_everywhere WHAT GROUND: header, steps (their strips and the samples below them are data), sentence and footer, where no data are
read_everywhere() {
    local bad
    same "$1: the ground" "$2" "$(colours 640x312+0+0 | head -n 1)"
    bad=$( (colours 640x26+0+0; colours 96x195+8+39; colours 64x26+40+234; colours 640x39+0+273) | sort -u | awk -v ground="$2" '
        function part(hex, i) { return (index("0123456789ABCDEF", substr(hex, i, 1)) - 1) * 16 + index("0123456789ABCDEF", substr(hex, i + 1, 1)) - 1 }
        function light(v) { v /= 255; return v <= 0.04045 ? v / 12.92 : exp(2.4 * log((v + 0.055) / 1.055)) }
        function luminance(c) { return 0.2126 * light(part(c, 2)) + 0.7152 * light(part(c, 4)) + 0.0722 * light(part(c, 6)) + 0.05 }
        $0 != ground { a = luminance($0); b = luminance(ground); if ((a > b ? a / b : b / a) < 4.5) print; n++ }
        END { if (n < 2) print "nothing is there" }')
    same "$1: what can't be read" "" "$bad"
}
has_colour() { # WHAT COLOUR
    check "$1: no $2 on the screen" grep -qx "$2" <(colours 640x312+0+0)
}
lacks_colour() { check "$1: $2 is on the screen" bash -c '! grep -qx "$2"' _ "$1" "$2" < <(colours 640x312+0+0); }

WHITE='-fg black -bg white' BLACK='-fg white -bg black'
VGA='-xrm XTerm*color0:#000000 -xrm XTerm*color1:#aa0000 -xrm XTerm*color2:#00aa00 -xrm XTerm*color3:#aa5500 -xrm XTerm*color4:#0000aa -xrm XTerm*color5:#aa00aa
    -xrm XTerm*color6:#00aaaa -xrm XTerm*color7:#aaaaaa -xrm XTerm*color9:#ff5555 -xrm XTerm*color10:#55ff55 -xrm XTerm*color11:#ffff55 -xrm XTerm*color12:#5555ff
    -xrm XTerm*color13:#ff55ff -xrm XTerm*color14:#55ffff -xrm XTerm*color15:#ffffff'
on_xterm "stock xterm" xterm ''
read_everywhere "stock xterm" '#FFFFFF'
has_colour "stock xterm, in 256 colours for a light ground" '#005FAF'
xdotool type '?'
sleep 0.3
still "stock xterm, help"
read_everywhere "stock xterm, help" '#FFFFFF'
on_xterm "xterm on black" xterm "$BLACK"
read_everywhere "xterm on black" '#000000'
has_colour "xterm on black, in 256 colours" '#5FD7FF'
on_xterm "xterm on a grey of Nord" xterm-256color '-fg #d8dee9 -bg #2e3440'
read_everywhere "xterm on a grey of Nord" '#2E3440'
on_xterm "the option wins" xterm "$WHITE" --dark
has_colour "the option wins" '#5FD7FF'
on_xterm "8 colours on white" xterm "$WHITE" --colour 8
read_everywhere "8 colours on white" '#FFFFFF'
has_colour "8 colours on white" '#0000EE'
lacks_colour "8 colours on white" '#005FAF'
on_xterm "8 colours on black" xterm "$BLACK" --colour 8
read_everywhere "8 colours on black" '#000000'
on_xterm "the Linux console's palette" linux "-fg #aaaaaa -bg #000000 $VGA"
read_everywhere "the Linux console's palette" '#000000'
has_colour "the Linux console's palette" '#55FFFF'
export NO_COLOR=1 FEWEST=2
on_xterm "NO_COLOR" xterm "$WHITE"
same "NO_COLOR: black and white" '#000000 #FFFFFF' "$(colours 640x312+0+0 | sort | xargs)"
unset NO_COLOR FEWEST
close_window

# VTE: its letters are antialiased, so the colours that were asked for are only among those on the screen
mkdir -p "$XDG_CONFIG_HOME/lxterminal"
printf '[general]\nbgcolor=rgb(255,255,255)\nfgcolor=rgb(0,0,0)\nhidemenubar=true\nhidescrollbar=true\nfontname=Monospace 10\n' >"$XDG_CONFIG_HOME/lxterminal/lxterminal.conf"
printf '#!/bin/sh\nexec env TERM=xterm "%s" --fresh -i "#17"\n' "$VITRINE" >"$HOME_DIR/run" && chmod +x "$HOME_DIR/run"
lxterminal --no-remote --geometry=80x24 -e "$HOME_DIR/run" >/dev/null 2>&1 &
WINDOW=$!
still VTE
same "VTE: the ground" '#FFFFFF' "$(colours 600x400+0+0 | head -n 1)"
has_colour "VTE, for a light ground" '#005FAF'
finish windows
