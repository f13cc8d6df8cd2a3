#!/usr/bin/env bash
# Nobody but the models' builders writes down what a node is called: everybody else asks the anatomy (core/graph/anatomy.h), so
# that a model with other scopes is no special case. Looks at every string outside comments.
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
CC=${CC:-cc}

# Who may: the builders and their tables of names (the second read-out of an examination is one); diff, whose tables hold other
# people's names; the training's own loss.
MAY='^(core/models/|core/diff/|assets/|core/train/vit_train\.c|core/eval/readout\.c)'
# A node's path, or a part of one that only paths have.
PATHS='blocks\.[0-9%*N]|(^|[".])(attn|mlp|ln1|ln2|self_attn|cross_attn)\.|\.(attn|mlp)[."]|resid_(pre|mid|post)|scores_(raw|scaled|masked)|(pos|patch|full)_embed|\.probe|(^|[".])(lens|where|guess|rollout|readout_mean|readout_cls|ln_final|fc_norm)\.|%s\.(z|q|k|v|pattern|out|scale|scores[a-z_]*)"'
WORDS='^"(probs|logits|pattern|image|pixels|full_embed|guess)"$'
# Words that mean something else there: a term of the glossary, a key of a file or of printed JSON, a command's word.
ELSE='^(core/session/ask/(ask_glossary\.c:"(logits|pattern)"|ask_diff\.c:"(image|pixels)")|core/train/history\.h:"guess"|tui/views/learned/blanks\.c:"guess"|tui/views/attention/heads\.c:"pixels"|(core/session/screens|tui/views/learned)/alike\.c:"pixels"|core/train/[a-z_]*\.c:"image"|core/io/tokenizer_[a-z]*\.c:"pattern"|tui/cli/[a-z_]*\.c:"(probs|logits|image)")$'
# The manual's and the usage lines' examples, which are of the bundled model: tests/e2e/cli.sh runs them.
EXAMPLES='^tui/cli/(man|help|show|ask|run|screen)\.c:'

# wrong FILE…: the paths written down in them. One compiler takes the comments out of all of them; its line markers name the file.
wrong() {
    "$CC" -fpreprocessed -E "$@" 2>/dev/null | awk '
        /^# [0-9]+ "/ {file = $3; gsub(/"/, "", file); next}
        /^ *# *include/ {next}
        {
            while (match($0, /"([^"\\]|\\.)*"/)) {
                print file ":" substr($0, RSTART, RLENGTH)
                $0 = substr($0, RSTART + RLENGTH)
            }
        }' | awk -F: -v paths="$PATHS" -v words="$WORDS" '{text = substr($0, length($1) + 2)} text ~ paths || text ~ words' |
        grep -vE "$ELSE|$EXAMPLES" | sort -u
}

# first whether it sees anything at all, and nothing that is not there
planted=$(mktemp -d)
trap 'rm -rf "$planted"' EXIT
printf '/* "blocks.0.attn.z" */\nconst char *a = "blocks.%%d.attn.z", *b = "probs", *c = "a block.", *d = "patterns", *e = "%%s.z";\n' >"$planted/x.c"
same "planted paths" '"%s.z" "blocks.%d.attn.z" "probs"' "$(wrong "$planted/x.c" | sed 's/.*x\.c://' | tr '\n' ' ' | sed 's/ $//')"

files=$(find core lessons tui assets -name '*.c' -o -name '*.h' 2>/dev/null | grep -vE "$MAY" | sort)
seen=$(wc -w <<<"$files")
while IFS= read -r found; do fail "$found"; done < <(wrong $files)
PASSED=$((PASSED + seen - FAILED))
check "fewer than 200 files were read" [ "$seen" -ge 200 ]
finish paths
