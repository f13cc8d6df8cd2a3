#!/bin/sh
# deps.sh [all]: looks for what building needs (all: for what every test pass needs) and installs what is missing with apt.
# Where there is no apt it names the packages of other systems and ends with 1.
set -u
want=${1:-build}

header() {
    for inc in "$@"; do printf '#include <%s>\n' "$inc"; done | ${CC:-cc} -E - >/dev/null 2>&1
}

header_of_pcre() {
    printf '#define PCRE2_CODE_UNIT_WIDTH 8\n#include <pcre2.h>\n' | ${CC:-cc} -E - >/dev/null 2>&1
}

# name, how to see that it is here, Debian, dnf, pacman, brew
TABLE='
build|command -v cc|gcc|gcc|gcc|gcc
build|command -v make|make|make|make|make
build|header stdio.h pthread.h|libc6-dev|glibc-devel|glibc|
build|header curses.h|libncurses-dev|ncurses-devel|ncurses|ncurses
build|header jansson.h|libjansson-dev|jansson-devel|jansson|jansson
build|header md4c.h|libmd4c-dev|md4c-devel|md4c|md4c
build|header zlib.h|zlib1g-dev|zlib-devel|zlib|zlib
build|header_of_pcre|libpcre2-dev|pcre2-devel|pcre2|pcre2
build|header utf8proc.h|libutf8proc-dev|utf8proc-devel|libutf8proc|utf8proc
build|header stb/stb_image.h stb/stb_image_write.h stb/stb_truetype.h|libstb-dev|stb-devel|stb|
build|header stdarg.h stddef.h stdint.h setjmp.h cmocka.h|libcmocka-dev|libcmocka-devel|cmocka|cmocka
build|command -v awk|mawk|gawk|gawk|gawk
all|command -v clang|clang|clang|clang|llvm
all|command -v ld.lld|lld|lld|lld|lld
all|clang_runtime|libclang-rt-dev|compiler-rt|compiler-rt|
all|command -v clang-format|clang-format|clang-tools-extra|clang|clang-format
all|command -v musl-gcc|musl-tools|musl-gcc|musl|
all|command -v aarch64-linux-gnu-gcc|gcc-aarch64-linux-gnu|gcc-aarch64-linux-gnu|aarch64-linux-gnu-gcc|
all|arm_headers|libc6-dev-arm64-cross||aarch64-linux-gnu-glibc|
all|command -v qemu-aarch64|qemu-user|qemu-user|qemu-user|
all|command -v groff|groff|groff|groff|groff
all|command -v tmux|tmux|tmux|tmux|tmux
all|monospaced|fonts-dejavu-core|dejavu-sans-mono-fonts|ttf-dejavu|font-dejavu
all|command -v Xvfb|xvfb|xorg-x11-server-Xvfb|xorg-server-xvfb|
all|command -v xterm|xterm xfonts-base|xterm|xterm|xterm
all|command -v lxterminal|lxterminal|lxterminal|lxterminal|
all|command -v xdotool|xdotool|xdotool|xdotool|xdotool
all|command -v import|imagemagick|ImageMagick|imagemagick|imagemagick
all|numpy|python3-numpy|python3-numpy|python-numpy|numpy
all|command -v debootstrap|debootstrap|debootstrap|debootstrap|
all|terminal_kinds|ncurses-base ncurses-term|ncurses-term|ncurses|ncurses
'

clang_runtime() {
    command -v clang >/dev/null && [ -n "$(find "$(clang -print-resource-dir)" -name 'libclang_rt.asan*' 2>/dev/null)" ]
}
arm_headers() {
    printf '#include <stdio.h>\n' | aarch64-linux-gnu-gcc -E - >/dev/null 2>&1
}
numpy() { # the exercise in Python is tried where it is
    for p in python3 /usr/bin/python3; do "$p" -c "import numpy" 2>/dev/null && return; done
    return 1
}
monospaced() { # one of those that core/io/font.c knows
    for f in $(grep -oE '"/[^"]*\.ttf"' "$(dirname "$0")/../core/io/font.c" | tr -d '"'); do [ -e "$f" ] && return; done
    return 1
}
terminal_kinds() {
    for t in vt100 xterm-256color tmux-256color; do infocmp "$t" >/dev/null 2>&1 || return 1; done
}

missing='' dnf='' pacman='' brew=''
while IFS='|' read -r kind look d f p b; do
    [ -n "$kind" ] || continue
    [ "$kind" = build ] || [ "$want" = all ] || continue
    if ! $look >/dev/null 2>&1; then
        missing="$missing $d" dnf="$dnf $f" pacman="$pacman $p" brew="$brew $b"
    fi
done <<END
$TABLE
END

if [ -z "$missing" ]; then
    echo "deps: everything is here"
    exit 0
fi
if ! command -v apt-get >/dev/null; then
    echo "deps: missing here, and there is no apt-get. Install one of:"
    echo "  dnf install$dnf"
    echo "  pacman -S --needed$pacman"
    echo "  brew install$brew"
    exit 1
fi

as_root=''
if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "deps: root is needed once: su -c 'apt-get install$missing'"
        exit 1
    fi
    as_root=sudo
    echo "deps: root is needed to install:$missing"
fi
$as_root apt-get update -qq || echo "deps: the package lists could not be renewed; trying with those that are here"
# shellcheck disable=SC2086
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing || {
    echo "deps: could not install:$missing"
    exit 1
}
echo "deps: installed:$missing"
