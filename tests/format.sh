#!/usr/bin/env bash
# The tree as clang-format writes it (.clang-format). format.sh: looks; format.sh write: formats. Columns are counted as
# characters, so that √ is one. clang-format 14 decides: other versions break a few lines elsewhere. The guard of a header is
# its path: core/graph/axis.h is guarded by VITRINE_GRAPH_AXIS_H, tui/app.h by VITRINE_TUI_APP_H.
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
there() { files | while read -r f; do [ ! -f "$f" ] || echo "$f"; done; }

# unguarded FILE…: "FILE GUARD WANTED" of every header whose first #ifndef is not its path
unguarded() {
    awk 'function wanted(f) { sub(/^core\//, "", f); gsub(/[^A-Za-z0-9]/, "_", f); return "VITRINE_" toupper(f) }
        FILENAME != file { if (file) print file, "none", wanted(file); file = FILENAME }
        /^#ifndef / { if ($2 != wanted(file)) print file, $2, wanted(file); file = ""; nextfile }
        END { if (file) print file, "none", wanted(file) }' "$@"
}
# badly FILE…: the files that clang-format would write otherwise
badly() { "$FORMAT" --style=file --dry-run "$@" 2>&1 | sed -n 's/^\([^ :]*\):[0-9]*:[0-9]*: .*/\1/p' | sort -u; }

mapfile -t ALL < <(there)
mapfile -t HEADERS < <(there | grep '\.h$')
if [ "${1:-}" = write ]; then
    unguarded "${HEADERS[@]}" | while read -r f is wanted; do
        [ "$is" = none ] && { echo "  $f has no guard"; continue; }
        echo "  $f" && sed -i "s/\b$is\b/$wanted/" "$f"
    done
    badly "${ALL[@]}" | while read -r f; do echo "  $f" && "$FORMAT" --style=file -i "$f"; done
    exit
fi
# first whether it sees anything at all
bad=${TMPDIR:-/tmp}/format.$$.h
printf '#ifndef A\n#define A\nint f(void){return 0;}\n#endif\n' >"$bad"
same "a badly formatted line was not seen" "$bad" "$(badly "$bad")"
same "a guard that is not the header's path was not seen" "$bad A" "$(unguarded "$bad" | cut -d' ' -f1,2)"
rm -f "$bad"
same "make format would write these otherwise" "" "$(badly "${ALL[@]}")"
same "headers whose guard is not their path (make format renames it)" "" "$(unguarded "${HEADERS[@]}")"
same "lines of more than 120 columns" "" "$(grep -HnE '^.{121,}' "${ALL[@]}" | cut -d: -f1,2)"
finish format
