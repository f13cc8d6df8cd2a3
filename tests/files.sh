# Files of other programs, byte by byte, by the shell alone. Source it.

# le NUMBER BYTES: the least significant first
le() { local v=$1; for _ in $(seq "$2"); do printf "\\x$(printf %02x $((v & 255)))"; v=$((v >> 8)); done; }
# npy SHAPE <VALUES >FILE: float32 in C order
npy() {
    local head="{'descr': '<f4', 'fortran_order': False, 'shape': ($1), }" bytes
    bytes=$(((${#head} + 11 + 63) / 64 * 64 - 10))
    printf '\x93NUMPY\x01\x00'
    le $bytes 2
    printf "%-$((bytes - 1))s\n" "$head"
    cat
}
# values FILE.npy: what npy was given
values() { tail -c +$((11 + $(od -An -tu2 -j8 -N2 "$1"))) "$1"; }
# hex FILE.npy: its values, four bytes a line; unhex: bytes again
hex() { values "$1" | od -An -v -tx1 -w4; }
unhex() { printf "$(tr -d '\n' | sed 's/ /\\x/g')"; }
# header FILE.safetensors: its JSON
header() { tail -c +9 "$1" | head -c "$(od -An -tu8 -N8 "$1" | tr -d ' ')"; }
# safetensors HEADER <VALUES >FILE
safetensors() {
    le "$(printf %s "$1" | wc -c)" 8
    printf %s "$1"
    cat
}
# zipped ARCHIVE NAME FILE [NAME FILE]…: stored, not compressed; gzip knows the sum
zipped() {
    local to=$1 at=0 n=0 size work
    shift
    work=$(mktemp -d)
    : >"$to"
    while [ $# -gt 0 ]; do
        size=$(stat -c %s "$2")
        gzip -c "$2" | tail -c 8 | head -c 4 >"$work/sum"
        { printf '\x14\0\0\0\0\0\0\0\x21\0'; cat "$work/sum"; le "$size" 4; le "$size" 4; le ${#1} 2; le 0 2; } >"$work/entry"
        { printf 'PK\x03\x04'; cat "$work/entry"; printf '%s' "$1"; cat "$2"; } >>"$to"
        { printf 'PK\x01\x02\x14\0'; cat "$work/entry"; le 0 10; le $at 4; printf '%s' "$1"; } >>"$work/directory"
        at=$(stat -c %s "$to") n=$((n + 1))
        shift 2
    done
    { cat "$work/directory"; printf 'PK\x05\x06'; le 0 4; le $n 2; le $n 2; le "$(stat -c %s "$work/directory")" 4; le $at 4; le 0 2; } >>"$to"
    rm -r "$work"
}
