# Vitrine. `make help` lists the targets.
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules
# All processors, unless -j is given. `make deps test` is two steps, the second of which needs the first.
JOBS := $(shell nproc 2>/dev/null || echo 2)
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(JOBS)
endif
ifneq ($(filter deps deps-all clean,$(MAKECMDGOALS)),)
.NOTPARALLEL:
endif

CC      ?= cc
ifeq ($(origin CC),default)
CC      := cc
endif
AR      ?= ar
VARIANT ?= release
B       := build/$(VARIANT)
OPT     ?= -O2
WARN    := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef -Wdouble-promotion
CFLAGS_ALL := -std=c11 -D_POSIX_C_SOURCE=200809L $(OPT) -g -ffp-contract=off -ffunction-sections -fdata-sections -fno-math-errno $(WARN) $(WERROR) -MMD -MP -I. $(CPPFLAGS) $(CFLAGS)
V       ?= 0
Q       := $(if $(filter 1,$(V)),,@)
say      = $(if $(filter 1,$(V)),,@printf '  %-7s %s\n' '$(1)' '$(2)')

# $(B) may be for another machine: HOST_B is a build that runs here.
HOST_B  ?= $(B)
STRIP   ?= strip
PREFIX  ?= /usr/local
DESTDIR ?=

# One static library per storey, in the order of the arrows: a storey may use those before it. A large storey has rooms
# (folders inside it), which are one library with it.
LAYERS  := core/base core/kernels core/graph core/io core/models core/train core/eval core/diff core/session lessons tui/canvas tui/views tui/cli
lib_of   = $(B)/$(subst /,_,$(1)).a
ROOMS_core/session := ask edit learned screens
ROOMS_tui/views    := attention explain learned lesson picture tensor text
SRC_OF   = $(sort $(wildcard $(1)/*.c $(foreach r,$(ROOMS_$(1)),$(1)/$(r)/*.c)))
TUI_OBJ := $(patsubst %.c,$(B)/%.o,$(call SRC_OF,tui))
LDLIBS  := -lmd4c -ljansson -lz -lpcre2-8 -lutf8proc -lm -lpthread
LDLIBS_TUI := -lncursesw -ltinfo

# stb's inverse DCT wraps around on a damaged JPEG, and where a scan ends early it shifts a 0 by more than 31 bits; so may it.
FLAGS_core_io_image_decode := -fwrapv -fno-sanitize=shift

##@ the program
.PHONY: all
# What is installed beside the program, written by a build that runs here, when that is built.
PAGES := vitrine.1 vitrine.bash vitrine.zsh vitrine.fish
all: $(B)/vitrine $(if $(filter $(B),$(HOST_B)),$(PAGES:%=$(B)/%)) ## build/release/vitrine, the program (default)

$(B)/%.o: %.c
	@mkdir -p $(@D)
	$(call say,cc,$<)
	$(Q)$(CC) $(CFLAGS_ALL) $(FLAGS_$(subst /,_,$(<:.c=))) -c -o $@ $<

define layer_rule
$(call lib_of,$(1)): $$(patsubst %.c,$(B)/%.o,$$(call SRC_OF,$(1)))
	@mkdir -p $$(@D)
	$(Q)rm -f $$@ && $(AR) rcs $$@ $$^
endef
$(foreach l,$(LAYERS),$(eval $(call layer_rule,$(l))))

# libraries that a folder links with: itself and everything below it, uppermost first
reverse = $(if $(1),$(call reverse,$(wordlist 2,$(words $(1)),$(1))) $(firstword $(1)))
UP_TO_core_base    := core/base
UP_TO_core_kernels := $(UP_TO_core_base) core/kernels
UP_TO_core_graph   := $(UP_TO_core_kernels) core/graph
UP_TO_core_io      := $(UP_TO_core_graph) core/io
UP_TO_core_models  := $(UP_TO_core_io) core/models
UP_TO_core_train   := $(UP_TO_core_models) core/train
UP_TO_core_eval    := $(UP_TO_core_train) core/eval
UP_TO_core_diff    := $(UP_TO_core_eval) core/diff
UP_TO_core_session := $(UP_TO_core_diff) core/session
UP_TO_lessons      := $(UP_TO_core_session) lessons
UP_TO_tui_canvas   := core/base tui/canvas
UP_TO_tui_views    := $(UP_TO_lessons) tui/canvas tui/views
UP_TO_tui_cli      := $(UP_TO_tui_views) tui/cli
UP_TO_tui          := $(UP_TO_tui_cli)
libs_for = $(foreach l,$(call reverse,$(UP_TO_$(1))),$(call lib_of,$(l))) $(if $(filter core/session,$(UP_TO_$(1))),$(ASSETS_LIB))

include assets/assets.mk
$(B)/lessons/lessons.o: $(wildcard lessons/*.md)
LIBS := $(call libs_for,tui)

$(B)/vitrine: $(TUI_OBJ) $(LIBS)
	$(call say,link,$@)
	$(Q)$(CC) $(CFLAGS_ALL) -o $@ $(TUI_OBJ) $(LIBS) $(LDFLAGS) $(LDLIBS_TUI) $(LDLIBS)

$(HOST_B)/vitrine.1: $(HOST_B)/vitrine
	$(Q)$< --man >$@
$(HOST_B)/vitrine.%: $(HOST_B)/vitrine
	$(Q)$< --completion $* >$@

# Which source this is: of a tarball what git archive put into .revision, else what git says.
.PHONY: FORCE
$(B)/revision.h: FORCE
	@mkdir -p $(@D)
	@r=$$(cat .revision); case $$r in *Format*) r=$$([ ! -e .git ] || git log -1 --format='%H %cs' 2>/dev/null) ;; esac; \
	    [ -z "$$r" ] || r=$$(printf '%.12s, %s' $$r); printf '#define REVISION "%s"\n' "$$r" >$@.new; \
	    if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi
$(B)/tui/main.o: $(B)/revision.h
FLAGS_tui_main = -include $(B)/revision.h

$(B)/tui/cli/demo.o: $(wildcard assets/demos/*.txt)
$(B)/tui/cli/pages.o: $(wildcard docs/*.md)
$(B)/tui/cli/exercise.o: $(wildcard lessons/exercise.*.in)

# The same in one file that needs no shared library, for machines where nobody has root.
# Where the system has no static md4c (Debian has none) that file plays its own lessons from a record of what md4c said
# about them when it was built, and no others. Users' names come from the files in /etc: what asks a directory service is
# a shared library.
HOSTCC ?= cc
$(B)/lessons/static/record: lessons/static/record.c lessons/static/recorded.h
	@mkdir -p $(@D)
	$(Q)$(HOSTCC) -std=c11 -O1 $(WARN) -I. -o $@ $< -lmd4c
$(B)/lessons/static/recorded.c: $(B)/lessons/static/record $(wildcard lessons/*.md)
	$(Q)$< $(sort $(wildcard lessons/*.md)) >$@
$(B)/lessons/static/recorded.o: $(B)/lessons/static/recorded.c
	$(Q)$(CC) $(CFLAGS_ALL) -c -o $@ $<
MD4C_STATIC := $(findstring /,$(shell $(CC) -print-file-name=libmd4c.a))
STATIC_OBJ = $(B)/core/base/static/users.o $(if $(MD4C_STATIC),,$(B)/lessons/static/replay.o $(B)/lessons/static/recorded.o)
$(B)/static/vitrine: $(TUI_OBJ) $(LIBS) $(STATIC_OBJ)
	@mkdir -p $(@D)
	$(call say,link,$@)
	$(Q)$(CC) $(CFLAGS_ALL) -static -o $@ $(TUI_OBJ) $(STATIC_OBJ) $(LIBS) $(LDFLAGS) $(LDLIBS_TUI) \
	    $(if $(MD4C_STATIC),$(LDLIBS),$(filter-out -lmd4c,$(LDLIBS)))

.PHONY: run static install uninstall dist
COMPLETIONS := bash-completion/completions/vitrine zsh/site-functions/_vitrine fish/vendor_completions.d/vitrine.fish
run: ## build it and open it
	@$(MAKE) --no-print-directory all
	@$(B)/vitrine $(ARGS)

static: $(B)/static/vitrine ## build/release/static/vitrine: one file without shared libraries, for machines where nobody has root
	@if ldd $< >/dev/null 2>&1; then echo "$<: not static"; ldd $<; exit 1; fi
	@ls -lh $< | awk '{print "$<: " $$5 ", no shared library"}'

install: $(B)/vitrine $(PAGES:%=$(HOST_B)/%) ## the program, its manual page and completions for bash, zsh and fish, to PREFIX (/usr/local)
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/man/man1
	install -d $(addprefix $(DESTDIR)$(PREFIX)/share/,$(dir $(COMPLETIONS)))
	install -m 755 $(B)/vitrine $(DESTDIR)$(PREFIX)/bin/vitrine
	$(STRIP) $(DESTDIR)$(PREFIX)/bin/vitrine
	install -m 644 $(HOST_B)/vitrine.1 $(DESTDIR)$(PREFIX)/share/man/man1/vitrine.1
	install -m 644 $(HOST_B)/vitrine.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/vitrine
	install -m 644 $(HOST_B)/vitrine.zsh $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_vitrine
	install -m 644 $(HOST_B)/vitrine.fish $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/vitrine.fish

uninstall: ## takes them away again
	rm -f $(DESTDIR)$(PREFIX)/bin/vitrine $(DESTDIR)$(PREFIX)/share/man/man1/vitrine.1
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/share/,$(COMPLETIONS))

# The source as of HEAD, the same bytes each time: gzip without its name and time.
VERSION = $(shell git describe --tags --always 2>/dev/null)
dist: ## build/dist: the source of HEAD as vitrine-VERSION.tar.gz with its SHA-256
	@git rev-parse --verify -q HEAD >/dev/null || { echo "make dist: no git repository here"; exit 1; }
	@git diff --quiet HEAD || echo "make dist: what is not committed is not in it"
	@mkdir -p build/dist
	git archive --format=tar --prefix=vitrine-$(VERSION)/ HEAD | gzip -9n >build/dist/vitrine-$(VERSION).tar.gz
	cd build/dist && sha256sum vitrine-$(VERSION).tar.gz >SHA256SUMS && cat SHA256SUMS

.PHONY: pictures
pictures: $(B)/vitrine ## the pictures of the README, drawn by the program: docs/film.svg and three stills
	docs/pictures.sh $(B)/vitrine docs

##@ models and figures
# --- models for trying out size: weights from a seed, answers mean nothing
## vit-tiny: one model from a seed, into build/models: a tiny one
## vit-b16: likewise ViT-B/16 at 224
## vit-b16-384: likewise ViT-B/16 at 384
## vit-l16: likewise ViT-L/16
## vit-h14: likewise ViT-H/14
.PHONY: vit-b
vit-b: $(B)/make_vit ## build/models/vit-b16: a ViT-B/16 at 224×224 from a seed (346 MB, some seconds), for trying out size
	@echo "build/models/vit-b16: 86.6 million weights from seed 1, 346 MB, some seconds"
	@$(MAKE) --no-print-directory vit-b16
	@echo "open it: $(B)/vitrine -m build/models/vit-b16"

# --- the bundled model, trained anew
.PHONY: train
train: $(B)/vitrine ## trains the bundled models (a quarter of an hour on two cores with AVX2) and compares with the shipped files
	@echo "two runs of 8,000 steps and the translator's 2,000, a quarter of an hour together on two cores with AVX2; interrupted, they go on with the next make train"
	@assets/train.sh $(B)/vitrine build/train $(ARGS)

##@ packages
.PHONY: deps deps-all
deps: ## installs what `make` and `make test` need (asks for root only if something is missing)
	@sh tests/deps.sh
deps-all: ## and what `make test-all` and `make fresh` need: clang, musl, aarch64 + qemu, tmux, debootstrap, …
	@sh tests/deps.sh all

##@ tests
# tests/<layer>/test_*.c, each a program linked with its layer and those below.
# (Object files of their own: a change of the program links them again and compiles none. They are compiled in less time
# and linked without the debugger's lines, or the 131 programs take longer to build than the product, and 2 GB.)
$(B)/tests/%.o: OPT := -O1
$(B)/tests/bench/%.o: OPT := -O2
LINES ?= -Wl,--strip-debug
define test_rule
$(B)/tests/$(1)/%: $(B)/tests/$(1)/%.o $(filter-out $(B)/tui/main.o,$(2)) $$(call libs_for,$(1))
	$$(call say,test,$$@)
	$(Q)$(CC) $(CFLAGS_ALL) -o $$@ $$^ $(LINES) $(LDFLAGS) -lcmocka $(3) $(LDLIBS)
TESTS += $$(patsubst tests/%.c,$(B)/tests/%,$$(sort $$(wildcard tests/$(1)/test_*.c)))
endef
TESTED := core_base core_kernels core_graph core_io core_models core_train core_eval core_diff core_session lessons tui_canvas tui_views
$(foreach l,$(TESTED),$(eval $(call test_rule,$(l))))
$(eval $(call test_rule,tui_cli,$(TUI_OBJ),$(LDLIBS_TUI)))
$(eval $(call test_rule,tui,$(TUI_OBJ),$(LDLIBS_TUI)))

# Without cmocka, jansson or zlib, so that these build wherever a C compiler is: what reads files goes with its section.
PORTABLE := $(patsubst tests/%.c,$(B)/tests/%,$(sort $(wildcard tests/portable/*.c)))
PORTABLE_LIBS := $(foreach l,core/train core/models core/graph core/kernels core/base,$(call lib_of,$(l)))
$(PORTABLE): $(B)/tests/%: tests/%.c $(PORTABLE_LIBS)
	@mkdir -p $(@D)
	$(call say,link,$@)
	$(Q)$(CC) $(CFLAGS_ALL) -o $@ $< $(PORTABLE_LIBS) $(LDFLAGS) -Wl,--gc-sections -lm -lpthread

.SECONDARY: $(addsuffix .o,$(TESTS))

list-tests:
	@printf '%s\n' $(TESTS)
# Fuzzers: libFuzzer programs, VARIANT=fuzz CC=clang with its instrumentation (tests/fuzz.sh).
FUZZERS := $(patsubst tests/%.c,$(B)/tests/%,$(sort $(wildcard tests/fuzz/*.c)))
FUZZ_OBJ := $(filter-out $(B)/tui/main.o,$(TUI_OBJ))
$(FUZZERS): $(B)/tests/%: tests/%.c $(FUZZ_OBJ) $(LIBS)
	@mkdir -p $(@D)
	$(call say,link,$@)
	$(Q)$(CC) $(CFLAGS_ALL) -o $@ $< $(FUZZ_OBJ) $(LIBS) $(LDFLAGS) $(FUZZ_LINK) $(LDLIBS_TUI) $(LDLIBS)
fuzzers: $(FUZZERS)

# Programs that drive the program: on a terminal of its own, and with calls that fail.
DRIVERS := $(patsubst tests/%.c,$(B)/tests/%,$(sort $(wildcard tests/pty/*.c)))
$(DRIVERS): $(B)/tests/%: tests/%.c tests/pty/pty.h
	@mkdir -p $(@D)
	$(call say,link,$@)
	$(Q)$(CC) $(filter-out -std=c11 -D_POSIX_C_SOURCE=200809L,$(CFLAGS_ALL)) -std=gnu11 -o $@ $< $(LDFLAGS) -lutil
$(B)/tests/faults/sweep: tests/faults/sweep.c
	@mkdir -p $(@D)
	$(call say,link,$@)
	$(Q)$(CC) $(filter-out -std=c11 -D_POSIX_C_SOURCE=200809L,$(CFLAGS_ALL)) -std=gnu11 -o $@ $< $(LDFLAGS)
PRELOADED := $(B)/tests/faults/fail.so $(B)/tests/faults/storm.so
$(PRELOADED): $(B)/%.so: %.c
	@mkdir -p $(@D)
	$(call say,link,$@)
	$(Q)$(CC) -std=gnu11 -O1 -Wall -Wextra -fPIC -shared -fno-builtin -o $@ $< -ldl
drivers: $(DRIVERS) $(B)/tests/faults/sweep $(PRELOADED)

# What tests/all.sh drives: the suites, the driver of golden screens, a model from a seed, programs on a terminal.
DRAW := $(B)/tests/tui_cli/draw
.SECONDARY: $(DRAW).o
## tests: builds the suites
## tested: builds them, the program and all that drives it
## drivers: builds what drives the program
## fuzzers: builds the fuzzers (VARIANT=fuzz CC=clang)
## portable: builds what tests/portable.sh runs on other machines
## list-tests: the suites by name
.PHONY: tests list-tests portable tested fuzzers drivers
tests: $(TESTS) $(DRAW)
portable: $(PORTABLE)
tested: all tests drivers $(B)/make_vit $(B)/assets/make_half
TESTING = MAKE='$(MAKE)' B=$(B) CC='$(CC)' VARIANT=$(VARIANT)

.PHONY: test test-all fresh quick golden e2e layers exact format fuzz faults soak tsan planted trained mutants
# (Made by a make of their own: with deps beside it this one does one thing at a time.)
test: ## what a change must pass: suites, screens, layers, README, command line, terminal (about five minutes on two cores)
	+@$(MAKE) --no-print-directory tested && $(TESTING) tests/all.sh
test-all: ## and the rest: both compilers, sanitizers, other machines, fuzzing, failing calls, a class … (half an hour or more)
	+@$(MAKE) --no-print-directory tested && $(TESTING) tests/all.sh all
fresh: ## the README's commands on a bare Debian in a folder of its own, as root and as a user (root, debootstrap and a network)
	@tests/fresh.sh
quick: tested ## the unit suites alone, warnings being errors (80 s on two cores once they are built)
	@tests/unit.sh $(TESTS)
quick: WERROR := -Werror
golden: tested ## writes the golden screens anew (look at the difference!)
	@B=$(B) tests/golden.sh update
e2e: tested ## the program in a real terminal
	@$(TESTING) tests/all.sh e2e
layers: all ## who includes whom: arrows only upward
	@B=$(B) tests/layers.sh
exact: tested ## the same bits from every kernel, thread count and compiler
	+@$(TESTING) tests/exact.sh
format: ## formats the tree (clang-format 14)
	@tests/format.sh write
fuzz: ## feeds every parser nonsense for a minute each (needs clang)
	+@MAKE='$(MAKE)' FUZZ_SECONDS=$(or $(FUZZ_SECONDS),60) tests/fuzz.sh
faults: tested ## every call of the system fails once, in every verb: allocation, read, write, open, fork, mmap, poll (half an hour)
	@B=$(B) FAULT_POINTS=$(or $(FAULT_POINTS),0) tests/faults.sh
soak: drivers ## 100,000 random keys with resizes, with address and undefined-behaviour checks (six minutes of processor time; KEYS=… SEED=…)
	+@$(TESTING) KEYS=$(or $(KEYS),100000) SEED=$(or $(SEED),1) tests/soak.sh
tsan: ## the unit suites that use threads, with a checker of data races
	+@MAKE='$(MAKE)' tests/tsan.sh all
PLANTS := $(addprefix $(B)/tests/core_diff/test_diff_,planted turns hub families words wired dropout dropped)
planted: $(PLANTS) ## mistakes planted in models of pictures and texts: how many diff names, from which recordings (five minutes)
	@set -e; for suite in $(PLANTS); do PLANTED=all $$suite; done
trained: $(B)/vitrine ## weights that somebody trained, against recorded texts and numbers: DIR=folder with the files (half a minute); names those it lacks
	@/usr/bin/python3 tests/trained.py $< $(DIR)
mutants: ## plants 40 faults into core and tui and counts those that the suites of their folder notice (a minute or more each; COUNT= SEED= FOLDERS=)
	+@MAKE='$(MAKE)' tests/mutants.sh $(COUNT)

##@ speed
# Never part of the tests; figures are ratios within one run
BENCH_LIBS := $(call libs_for,core_models)
BENCH_MODELS ?= b16
$(B)/bench/bench: $(B)/tests/bench/bench.o $(B)/tests/bench/peak.o $(BENCH_LIBS)
$(B)/bench/serve_forward: $(B)/tests/bench/serve_forward.o $(BENCH_LIBS)
$(B)/bench/serve_text: $(B)/tests/bench/serve_text.o $(B)/tests/bench/peak.o $(BENCH_LIBS)
$(B)/bench/bench_ui: $(B)/tests/bench/bench_ui.o $(BENCH_LIBS)
$(B)/bench/bench_class: $(B)/tests/bench/bench_class.o $(BENCH_LIBS)
$(B)/bench/%:
	@mkdir -p $(@D)
	$(call say,link,$@)
	$(Q)$(CC) $(CFLAGS_ALL) -o $@ $^ $(LDFLAGS) $(LDLIBS) -ldl
.PHONY: bench bench-ui bench-class bench-torch bench-text-torch
bench: $(B)/bench/bench $(B)/bench/serve_text bench-ui ## contractions and whole passes of pictures and texts against this processor's peak, and the screen's latency (minutes)
	$(Q)$(B)/bench/bench $(B)/bench.json $(BENCH_MODELS)
	$(Q)$(B)/bench/serve_text gpt2 1 f32 table
	$(Q)$(B)/bench/serve_text llama1b 1 bf16 table
	$(Q)$(B)/bench/serve_text llama1b 2 bf16 table
bench-ui: $(B)/bench/bench_ui $(B)/vitrine ## key to frame, what-if to frame, start, idle CPU, of vit-b16 too; AGAINST=PROGRAM: another build, by turns, and the ratio
	$(Q)$(B)/bench/bench_ui $(B)/vitrine -o $(B)/bench_ui.json $(if $(AGAINST),--against $(AGAINST)) $(addprefix --large ,$(wildcard build/models/vit-b16))
bench-class: $(B)/bench/bench_class $(B)/vitrine ## a presenter alone, with 60 followers, with 200 readers: key to frame, to the last follower, bytes a step (two minutes)
	$(Q)$(B)/bench/bench_class $(B)/vitrine
bench-torch: $(B)/bench/serve_forward ## against PyTorch (Debian: python3-torch), interleaved in one run
	$(Q)/usr/bin/python3 tests/bench/bench_torch.py $(B)/bench/serve_forward -o $(B)/bench_torch.json
bench-text-torch: $(B)/bench/serve_text ## text models against PyTorch: GPT-2's size and Llama 3.2 1B's, 128 tokens read and 64 written
	$(Q)/usr/bin/python3 tests/bench/bench_text_torch.py $(B)/bench/serve_text $(BENCH_TEXT)

##@ the rest
.PHONY: clean help
clean: ## removes build/
	rm -rf build

help: ## this list
	@sed '/^##@ models/r assets/assets.mk' Makefile | sed -nE 's/^##@ (.*)/|\1/p; s/^([a-z0-9-]+):.*## (.*)/\1|\2/p; s/^## ([a-z0-9-]+): (.*)/\1|\2/p' | \
	    awk -F'|' '$$1 == "" {print "\n" $$2 ":"; next} {printf "  make %-11s %s\n", $$1, $$2}'

-include $(shell find $(B) -name '*.d' 2>/dev/null)
