#!/usr/bin/env bash
# Presenter mode: every plausible key and a click is next, only . blanks, clickers' keys are harmless, an excursion comes back to the very
# same screen, leaving asks, a rehearsal says its times.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib.sh
. tests/e2e/tmux.sh
T=$HOME_DIR
export HOME=$T XDG_STATE_HOME=$T/state
cd "$T" || exit 1
cat >talk.txt <<'END'
title Two words
goto blocks.1.attn.pattern[h=2,t=r3c4]; view matrix
caption One. {max blocks.1.attn.pattern[h=2,t=r3c4]}
pause 2
head 3
caption Two.
pause 3
open #66; set scale off
caption Three: {A answer} and {B answer}.
pause 1
view answer; compare b
caption Four.
