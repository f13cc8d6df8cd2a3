#!/usr/bin/env bash
# Remedies that are printed are tried: each row of tests/data/remedies.txt is a message by which the program tells somebody what to do, with its
# trial, in which the message is provoked, the remedy is taken from what was printed, carried out, and the complaint is gone.
# VITRINE=build/release/vitrine tests/e2e/remedies.sh [PATTERN: only messages with it, and all that is said]
#
# In the table a message is followed by the lines of its trial, indented by a blank:
#   ! COMMAND    provokes it
#   ~ PATTERN    an extended regular expression that what was printed has to match; its groups are $1, $2, …
#   > COMMAND    the remedy: ends with 0 (>3: with 3) and the message is not printed again
#   * COMMAND    the same with each of what $1 lists, in turn, as $it
cd "$(dirname "$0")/../.." || exit 1
. tests/lib.sh
V=$(realpath "${VITRINE:-build/release/vitrine}")
[ -x "$V" ] || { fail "$V is not built"; finish remedies; exit 1; }
TOP=$PWD TABLE=$PWD/tests/data/remedies.txt BIN=$(dirname "$V")
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
export HOME=$T/home XDG_STATE_HOME=$T/state
unset NO_COLOR VITRINE_ISA COLORTERM VITRINE_FONT

# --- what trials work with
D=$TOP/tests/data DATA=$TOP/tests/data/oracle/tiny
cd "$T" || exit 1
P=$DATA/image.ppm
v() { "$V" "$@" </dev/null; }
x() { "$V" screen --size 80x24 -c "$@" </dev/null; }    # commands on the bundled model
w() { "$V" screen --size 80x24 -m translator -c "$@" </dev/null; } # on one of words
plain() { printf '%s\n' "$@" | "$V" --plain; }
tty() { "$BIN/tests/pty/run" "$@"; } # on a terminal
# A model folder of its own, one value of config.json put in or changed, and what else is to be done to it.
model() { # NAME [KEY VALUE]…
    local to=$1
    rm -rf "$to" && cp -r "${FROM:-$DATA}" "$to" && chmod -R u+w "$to"
    shift
    while [ $# -gt 1 ]; do put "$to/config.json" "$1" "$2"; shift 2; done
}
put() { # FILE KEY VALUE: into a JSON object
    tr '\n' ' ' <"$1" | sed -E "s/\"$2\": *(\[[^]]*\]|\"[^\"]*\"|\{[^}]*\}|[^,} ]*) *,?//; s|\{|{\"$2\": $3, |; s/, *\}/}/g" >put.json
    cp put.json "$1"
}
. "$TOP/tests/files.sh"
. "$TOP/tests/data/remedies.sh" # files of a trace, a damaged picture …

# --- the trials
only=${1:-}
glob() { # a format as a pattern of the shell
    sed -E 's/%%/\x01/g; s/[][*?\\]/\\&/g; s/\\\\n$//; s/%[-+#0 ]*[0-9.*\\]*(hh|h|ll|l|z|j)?[diouxXeEfgGcs]/*/g; s/%[0-9]*/*/g; s/\x01/%/g' <<<"$1"
}
items() { # "a, b or c" as lines
    sed -E 's/, (and )?perhaps.*//; s/,? (or|and) /,/g; s/, */\n/g' <<<"$1" | tr -d '`' | sed 's/^ *//; s/ *$//' | grep .
}
said='' want='' text='' tried=0 groups=() provoked=''
carry_out() { # STATUS COMMAND
    local got status expected=$1 command=$2
    set -- "${groups[@]}"
    got=$(eval "$command" 2>&1)
    status=$?
    if [ $status != "$expected" ]; then
        fail "$text: the remedy '$command' (1: '${1:-}'${it:+, '$it'}) ends with $status: ${got:0:300}"
    elif [[ $got == $want ]]; then
        fail "$text: printed again by the remedy '$command': ${got:0:300}"
    else
        pass
    fi
}
finish_trial() {
    [ -n "$text" ] && [ "$tried" = 0 ] && fail "$text: no trial"
    text=''
}
count=0
while IFS= read -r line; do
    case $line in
    '') continue ;;
    ' '*) [ -n "$text" ] || continue ;;
    *)
        finish_trial
        text=${line#|}
        if [ -n "$only" ] && [[ $text != *$only* ]]; then text=''; continue; fi
        want="*$(glob "$text")*" tried=0 groups=() provoked=''
        count=$((count + 1))
        continue
        ;;
    esac
    rest=${line#' '? }
    case $line in
    ' ! '*)
        said=$(eval "$rest" 2>&1)
        provoked=1
        [ -z "$only" ] || printf '%s\n  %s\n' "$rest" "${said:0:600}"
        if [[ $said == $want ]]; then pass; else fail "$text: '$rest' says: ${said:0:400}"; provoked=''; fi
        ;;
    ' ~ '*)
        if [[ -n $provoked && $said =~ $rest ]]; then groups=("${BASH_REMATCH[@]:1}"); else
            [ -n "$provoked" ] && fail "$text: no '$rest' in: ${said:0:400}"
            provoked=''
        fi
        ;;
    ' > '* | ' >3 '*)
        tried=$((tried + 1)) it=''
        status=0
        [[ $line == ' >3 '* ]] && status=3 rest=${line#' >3 '}
        [ -n "$provoked" ] && carry_out $status "$rest"
        ;;
    ' * '*)
        tried=$((tried + 1))
        while [ -n "$provoked" ] && IFS= read -r it; do carry_out 0 "$rest"; done < <(items "${groups[0]}")
        it=''
        ;;
    *) fail "tests/data/remedies.txt: not understood: $line" ;;
    esac
done <"$TABLE"
finish_trial
printf '  %d remedies tried\n' "$count"
finish remedies
