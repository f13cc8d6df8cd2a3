#!/usr/bin/env bash
# The tree as clang-format writes it (.clang-format). format.sh: looks; format.sh write: formats. Columns are counted as
# characters, so that √ is one. clang-format 14 decides: other versions break a few lines elsewhere.
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
FORMAT=${CLANG_FORMAT:-$(command -v clang-format-14 || command -v clang-format)}
[ -n "$FORMAT" ] || { skip "clang-format is not installed (make deps-all installs it)"; finish format; exit; }
if ! "$FORMAT" --version | grep -q 'version 14\.'; then
    skip "$("$FORMAT" --version): the tree is formatted by version 14"
    finish format
    exit
fi
files() { git ls-files --cached --others --exclude-standard -- '*.c' '*.h' '*.inc' '*.def' 2>/dev/null || find core lessons tui assets tests -name '*.[ch]' -o -name '*.inc' -o -name '*.def'; }

# formatted FILE: its text as it should be (a .def is a table of C macros)
formatted() { "$FORMAT" --style=file --assume-filename="${1%.*}.c" <"$1"; }

if [ "${1:-}" = write ]; then
    files | while read -r f; do
        [ -f "$f" ] || continue
        formatted "$f" >"$f.formatted" && if cmp -s "$f" "$f.formatted"; then rm "$f.formatted"; else cat "$f.formatted" >"$f" && rm "$f.formatted" && echo "  $f"; fi
    done
    exit
fi
# first whether it sees anything at all
printf 'int f(void){return 0;}\n' >"${TMPDIR:-/tmp}/format.$$.c"
check "a badly formatted line was not seen" sh -c "! '$FORMAT' --style=file <'${TMPDIR:-/tmp}/format.$$.c' | cmp -s - '${TMPDIR:-/tmp}/format.$$.c'"
rm -f "${TMPDIR:-/tmp}/format.$$.c"
while read -r f; do
    [ -f "$f" ] || continue
    if ! formatted "$f" | cmp -s - "$f"; then fail "$f: make format"; else pass; fi
done < <(files)
long=$(files | xargs grep -HnE '^.{121,}' | cut -d: -f1,2)
same "lines of more than 120 columns" "" "$long"
finish format
