# What is embedded in the binary, made by a program of the project; and models made from a seed, for trying out size.
# Link a program with $(ASSETS_LIB) to have assets/assets.h.
ASSETS_LIB := $(B)/assets.a
ASSET_LIBS := $(foreach l,core/models core/io core/graph core/kernels core/base,$(call lib_of,$(l)))
FLAGS_assets_assets := -DASSET_DIR='"$(B)/assets"' -DASSET_SIZES='"$(B)/assets/sizes.h"'

$(B)/assets/make_assets: assets/make_assets.c $(ASSET_LIBS)
	@mkdir -p $(@D)
	$(if $(filter 1,$(V)),,@echo "  link    $@")
	$(Q)$(CC) $(CFLAGS_ALL) -o $@ $< $(ASSET_LIBS) $(LDFLAGS) $(LDLIBS)

$(B)/assets/make_half: assets/make_half.c $(ASSET_LIBS)
	@mkdir -p $(@D)
	$(if $(filter 1,$(V)),,@echo "  link    $@")
	$(Q)$(CC) $(CFLAGS_ALL) -o $@ $< $(ASSET_LIBS) $(LDFLAGS) $(LDLIBS)

$(B)/make_vit: assets/make_vit.c $(ASSET_LIBS)
	@mkdir -p $(@D)
	$(if $(filter 1,$(V)),,@echo "  link    $@")
	$(Q)$(CC) $(CFLAGS_ALL) -o $@ $< $(ASSET_LIBS) $(LDFLAGS) $(LDLIBS)

$(B)/assets/made: $(HOST_B)/assets/make_assets $(wildcard assets/trained/* assets/trained/translator/* assets/trained/photos/*)
	$(if $(filter 1,$(V)),,@echo "  assets  $(@D)")
	@mkdir -p $(@D)
	$(Q)$(HOST_B)/assets/make_assets $(@D) && touch $@

$(B)/assets/assets.o: $(B)/assets/made
$(B)/assets/scenes.o: assets/scenes.def
$(ASSETS_LIB): $(B)/assets/assets.o $(B)/assets/scenes.o
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

# --- the same of photos, over photographs that are not in the source
MAKE_PHOTOS := assets/make_photos.c assets/make_photos_maps.c
$(B)/make_photos: $(MAKE_PHOTOS) assets/make_photos.h $(ASSETS_LIB) $(call libs_for,core_eval)
	@mkdir -p $(@D)
	$(if $(filter 1,$(V)),,@echo "  link    $@")
	$(Q)$(CC) $(filter-out -MMD -MP,$(CFLAGS_ALL)) -o $@ $(MAKE_PHOTOS) $(ASSETS_LIB) $(call libs_for,core_eval) $(LDFLAGS) $(LDLIBS)

# DATA: folder of ten folders of photographs (docs/photos.md says which). Another model: assets/train-photos.sh keep puts its
# files in place, then make figures-photos KEEP=1 measures them, keeps the figures and writes them into its card. COUNT: over
# so many of the held-out photographs instead of all.
PHOTOS := $(B)/photos
.PHONY: train-photos figures-photos
train-photos: $(B)/vitrine $(B)/assets/make_half ## trains the model of photographs from DATA=FOLDER (about 100 minutes of two idle cores; interrupted, it goes on) and compares with the shipped files
	@assets/train-photos.sh $(B) build/train/photos "$(DATA)" $(ARGS)

figures-photos: $(B)/make_photos ## measures every figure about it over the held-out photographs of DATA=FOLDER (a quarter of an hour) and compares with the shipped ones
	@[ -d "$(DATA)" ] || { echo "make figures-photos DATA=FOLDER: a folder with a folder of photographs for each class; docs/photos.md says which"; exit 1; }
	@mkdir -p $(PHOTOS)
	$(Q)$(B)/make_photos assets/trained/photos "$(DATA)" $(PHOTOS)/seen.safetensors $(COUNT) >$(PHOTOS)/photos.def
	@[ -z "$(KEEP)" ] || { cp $(PHOTOS)/photos.def core/eval/ && cp $(PHOTOS)/seen.safetensors assets/trained/photos/ && assets/photos-card.sh write; }
	@cmp $(PHOTOS)/photos.def core/eval/photos.def && echo "equal      core/eval/photos.def"
	@cmp $(PHOTOS)/seen.safetensors assets/trained/photos/seen.safetensors && echo "equal      assets/trained/photos/seen.safetensors"
