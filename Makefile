# Vitrine. `make help` lists the targets.
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

CC      ?= cc
ifeq ($(origin CC),default)
CC      := cc
endif
VARIANT ?= release
B       := build/$(VARIANT)
OPT     ?= -O2
WARN    := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef -Wdouble-promotion
CFLAGS_ALL := -std=c11 -D_POSIX_C_SOURCE=200809L $(OPT) -g -ffp-contract=off -fno-math-errno $(WARN) $(WERROR) -MMD -MP -I. $(CFLAGS)
V       ?= 0
Q       := $(if $(filter 1,$(V)),,@)

# One static library per folder, in the order of ARCHITECTURE's arrows: a folder may use those before it.
LAYERS  := core/base core/kernels core/graph core/io core/models core/session tui/canvas tui/views tui/cli
LIBS    := $(foreach l,$(LAYERS),$(B)/$(subst /,_,$(l)).a)
lib_of   = $(B)/$(subst /,_,$(1)).a
SRC_OF   = $(sort $(wildcard $(1)/*.c))
TUI_SRC := $(call SRC_OF,tui)
LDLIBS  := -ljansson -lz -lm -lpthread
LDLIBS_TUI := -lncursesw -ltinfo

.PHONY: all
all: $(B)/vitrine

$(B)/%.o: %.c
	@mkdir -p $(@D)
	$(if $(filter 1,$(V)),,@echo "  cc      $<")
	$(Q)$(CC) $(CFLAGS_ALL) $(FLAGS_$(subst /,_,$(<:.c=))) -c -o $@ $<

define layer_rule
$(call lib_of,$(1)): $$(patsubst %.c,$(B)/%.o,$$(call SRC_OF,$(1)))
	@mkdir -p $$(@D)
	$(Q)rm -f $$@ && $(AR) rcs $$@ $$^
endef
$(foreach l,$(LAYERS),$(eval $(call layer_rule,$(l))))

# libraries that folder n links with: itself and everything below it, uppermost first
reverse = $(if $(1),$(call reverse,$(wordlist 2,$(words $(1)),$(1))) $(firstword $(1)))
UP_TO_core_base    := core/base
UP_TO_core_kernels := $(UP_TO_core_base) core/kernels
UP_TO_core_graph   := $(UP_TO_core_kernels) core/graph
UP_TO_core_io      := $(UP_TO_core_graph) core/io
UP_TO_core_models  := $(UP_TO_core_io) core/models
UP_TO_core_session := $(UP_TO_core_models) core/session
UP_TO_tui_canvas   := core/base tui/canvas
UP_TO_tui_views    := $(UP_TO_core_session) tui/canvas tui/views
UP_TO_tui_cli      := $(UP_TO_tui_views) tui/cli
libs_for = $(foreach l,$(call reverse,$(UP_TO_$(1))),$(call lib_of,$(l)))

# --- tests: tests/<layer>/test_*.c, each a program linked with its layer and those below
define test_rule
$(B)/tests/$(1)/%: tests/$(1)/%.c $(call libs_for,$(1))
	@mkdir -p $$(@D)
	$$(if $$(filter 1,$$(V)),,@echo "  test    $$<")
	$(Q)$(CC) $(CFLAGS_ALL) -o $$@ $$< $(call libs_for,$(1)) $(LDFLAGS) -lcmocka $(LDLIBS)
TESTS += $$(patsubst tests/%.c,$(B)/tests/%,$$(sort $$(wildcard tests/$(1)/test_*.c)))
endef
TESTED := core_base core_kernels core_graph core_io core_models core_session tui_canvas tui_views tui_cli
$(foreach l,$(TESTED),$(eval $(call test_rule,$(l))))

.PHONY: unit
unit: $(TESTS)
	@set -e; for t in $(TESTS); do $$t; done

.PHONY: clean
clean:
	rm -rf build

-include $(shell find $(B) -name '*.d' 2>/dev/null)
