# What is embedded in the binary, made by a program of the project; and models made from a seed, for trying out size.
# Link a program with $(ASSETS_LIB) to have assets/assets.h.
ASSETS_LIB := $(B)/assets.a
ASSET_LIBS := $(foreach l,core/models core/io core/graph core/kernels core/base,$(call lib_of,$(l)))
FLAGS_assets_assets := -DASSET_DIR='"$(B)/assets"' -DASSET_SIZES='"$(B)/assets/sizes.h"'

$(B)/assets/make_assets: assets/make_assets.c $(ASSET_LIBS)
	@mkdir -p $(@D)
	$(if $(filter 1,$(V)),,@echo "  link    $@")
	$(Q)$(CC) $(CFLAGS_ALL) -o $@ $< $(ASSET_LIBS) $(LDFLAGS) $(LDLIBS)

$(B)/make_vit: assets/make_vit.c $(ASSET_LIBS)
	@mkdir -p $(@D)
	$(if $(filter 1,$(V)),,@echo "  link    $@")
	$(Q)$(CC) $(CFLAGS_ALL) -o $@ $< $(ASSET_LIBS) $(LDFLAGS) $(LDLIBS)

$(B)/assets/made: $(HOST_B)/assets/make_assets $(wildcard assets/trained/* assets/trained/translator/*)
	$(if $(filter 1,$(V)),,@echo "  assets  $(@D)")
	@mkdir -p $(@D)
	$(Q)$(HOST_B)/assets/make_assets $(@D) && touch $@

$(B)/assets/assets.o: $(B)/assets/made
$(ASSETS_LIB): $(B)/assets/assets.o
	$(Q)rm -f $@ && $(AR) rcs $@ $^

# make vit-b16: build/models/vit-b16 (346 MB), a ViT-B/16 with weights from seed 1; make big-models: all of them but the tiny one
MODELS ?= build/models
BIG_MODELS := vit-b16 vit-b16-384 vit-l16 vit-h14
.PHONY: vit-tiny $(BIG_MODELS) big-models
vit-tiny $(BIG_MODELS): vit-%: $(B)/make_vit
	@mkdir -p $(MODELS)
	$(Q)$(B)/make_vit --size $* --seed 1 -o $(MODELS)/vit-$*

big-models: $(B)/make_vit ## ViT-B/16, L/16, H/14 at 224 and B/16 at 384 from a seed, for trying out size (4.5 GB, half a minute on a fast disk)
	@echo "Four models with weights from a seed, into $(MODELS): 4.5 GB, and about half a minute on a fast disk."
	@echo "  vit-b16      ViT-B/16 at 224    0.35 GB"
	@echo "  vit-b16-384  ViT-B/16 at 384    0.35 GB"
	@echo "  vit-l16      ViT-L/16 at 224    1.22 GB"
	@echo "  vit-h14      ViT-H/14 at 224    2.53 GB"
	$(Q)$(MAKE) --no-print-directory $(BIG_MODELS)

# --- the figures that are stated about the bundled model: measured by the program, shipped in core/eval/figures.def
$(B)/make_figures: assets/make_figures.c $(ASSETS_LIB) $(call libs_for,core_eval)
	@mkdir -p $(@D)
	$(if $(filter 1,$(V)),,@echo "  link    $@")
	$(Q)$(CC) $(CFLAGS_ALL) -o $@ $< $(ASSETS_LIB) $(call libs_for,core_eval) $(LDFLAGS) $(LDLIBS)

.PHONY: figures
figures: $(B)/make_figures $(B)/vitrine ## measures every figure about the bundled model and its twin over 5,000 held-out pictures (some minutes) and compares with the shipped ones
	$(Q)$(B)/make_figures >$(B)/figures.def
	$(Q)$(B)/vitrine evaluate --count 5000 >$(B)/evaluate.txt
	@cmp $(B)/figures.def core/eval/figures.def && echo "equal      core/eval/figures.def"
	@cmp $(B)/evaluate.txt assets/trained/evaluate.txt && echo "equal      assets/trained/evaluate.txt"
