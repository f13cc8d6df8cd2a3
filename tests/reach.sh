#!/usr/bin/env bash
# What reaches a user besides the program: completions made from its tables, what `make install` leaves, `make dist`.
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
B=${B:-build/release}
VITRINE=$PWD/$B/vitrine
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT

# --- completions: every verb and option is in each of them, and bash completes with its own
for shell in bash zsh fish; do
    "$VITRINE" --completion $shell >"$WORK/$shell" || fail "$shell: no completions"
    for verb in $("$VITRINE" --help | sed -n 's/^  \([a-z]*\) .*/\1/p' | sort -u); do
        "$VITRINE" "$verb" --help >/dev/null 2>&1 || continue
        check "$shell knows $verb" grep -qw -- "$verb" "$WORK/$shell"
    done
    for option in input colour completion no-mouse; do
        check "$shell knows --$option" grep -q -- "$option" "$WORK/$shell"
    done
    if command -v $shell >/dev/null; then
        check "$shell takes it" $shell -n "$WORK/$shell"
    else
        echo "  not tried: $shell is not installed"
    fi
done
complete_with() { # WORD…: what bash offers for the last
    bash -c '. "$1"; shift; COMP_WORDS=(vitrine "$@"); COMP_CWORD=$#; _vitrine; printf "%s\n" "${COMPREPLY[@]}"' _ "$WORK/bash" "$@"
}
same "verbs" "ledger" "$(complete_with led)"
same "options" "--colour --completion --config --count" "$(complete_with run --co | grep -v commands | sort | xargs)"
same "choices" "mono" "$(complete_with --colour mo)"
same "commands" "gradient" "$(complete_with run -c grad)"
: >"$WORK/a picture.png"
same "files with blanks" "$WORK/a picture.png" "$(complete_with run -i "$WORK/a p")"
mkdir -p "$WORK/kinds/folder"
touch "$WORK/kinds/"{a.md,b.png,c.txt}
offered() { complete_with "$@" "$WORK/kinds/" | xargs -n 1 basename 2>/dev/null | sort | xargs; }
same "pictures" "b.png folder" "$(offered -i)"
same "pictures behind a verb" "b.png folder" "$(offered run)"
same "lessons" "a.md folder" "$(offered lesson)"
same "any file" "a.md b.png c.txt folder" "$(offered run -o)"
same "of another kind, where there is no other" "$WORK/kinds/c.txt" "$(complete_with lesson "$WORK/kinds/c")"
same "nothing to offer" "" "$(complete_with --threads '')"

# --- installed and taken away again
make -s VARIANT="$(basename "$B")" install DESTDIR="$WORK/root" PREFIX=/usr >/dev/null 2>&1 || fail "make install"
for f in bin/vitrine share/man/man1/vitrine.1 share/bash-completion/completions/vitrine share/zsh/site-functions/_vitrine \
    share/fish/vendor_completions.d/vitrine.fish; do
    check "$f is installed" [ -s "$WORK/root/usr/$f" ]
done
check "the installed program has its symbols yet" bash -c '! readelf -S "$1" | grep -qF .symtab' _ "$WORK/root/usr/bin/vitrine"
check "the installed program does not run" "$WORK/root/usr/bin/vitrine" --version >/dev/null
make -s VARIANT="$(basename "$B")" uninstall DESTDIR="$WORK/root" PREFIX=/usr >/dev/null 2>&1 || fail "make uninstall"
same "nothing is left" "" "$(find "$WORK/root" -type f)"

# --- for another machine: its program is copied, not run
mkdir "$WORK/cross"
printf '#!/bin/sh\ntouch %q\n' "$WORK/ran" >"$WORK/cross/vitrine" && chmod +x "$WORK/cross/vitrine"
make -s B="$WORK/cross" HOST_B="$B" STRIP=true -o "$WORK/cross/vitrine" install DESTDIR="$WORK/foreign" PREFIX=/usr >/dev/null 2>"$WORK/err" || fail "make install HOST_B=…: $(cat "$WORK/err")"
check "for another machine: the manual page" grep -q '^.TH VITRINE' "$WORK/foreign/usr/share/man/man1/vitrine.1"
check "for another machine: the completions" grep -q vitrine "$WORK/foreign/usr/share/bash-completion/completions/vitrine"
check "for another machine: its program was run" [ ! -e "$WORK/ran" ]
# --- what a distribution gives its builds
echo '#error CPPFLAGS reached' >"$WORK/seen.h"
check "CPPFLAGS is not honoured" grep -q 'CPPFLAGS reached' <(make -s B="$WORK/flags" CPPFLAGS="-include $WORK/seen.h" "$WORK/flags/core/base/clock.o" 2>&1)

# --- make help: every target once
listed=$(make -s help | sed -nE 's/^  make ([a-z0-9-]+) .*/\1/p')
same "make help: twice" "" "$(sort <<<"$listed" | uniq -d)"
same "make help: the targets" "$(make -npq help 2>/dev/null | sed -n 's/^\.PHONY: //p' | tr ' ' '\n' | grep -vx FORCE | sort)" "$(sort <<<"$listed")"

# --- the source, packed twice
if git rev-parse -q --verify HEAD >/dev/null 2>&1; then
    make -s dist >/dev/null 2>&1 || fail "make dist"
    cp build/dist/SHA256SUMS "$WORK/first"
    make -s dist >/dev/null 2>&1
    check "the same bytes twice" cmp -s "$WORK/first" build/dist/SHA256SUMS
    check "the checksum is right" sh -c 'cd build/dist && sha256sum -c --quiet SHA256SUMS'
    tar xzf "build/dist/$(cut -d" " -f3 build/dist/SHA256SUMS)" -C "$WORK"
    want=$(git log -1 --format='%H %cs' | sed -E 's/^(.{12}).* /\1, /')
    make -s -C "$WORK"/vitrine-*/ build/release/revision.h >/dev/null 2>&1
    same "the tarball knows its version" "#define REVISION \"$want\"" "$(cat "$WORK"/vitrine-*/build/release/revision.h)"
    same "the program says which source it is" "source     $want" "$("$VITRINE" --version | grep '^source')"
    check "the source is in it" sh -c 'tar tzf "build/dist/$(cut -d" " -f3 build/dist/SHA256SUMS)" | grep -q /core/graph/graph.c'
else
    skip "no git repository: make dist"
fi

# --- the README's pictures are what the program draws now
docs/pictures.sh "$VITRINE" "$WORK/pictures" || fail "docs/pictures.sh"
for f in film attention scale it; do
    check "docs/$f.svg is out of date: make pictures" cmp -s "docs/$f.svg" "$WORK/pictures/$f.svg"
done

finish reach
