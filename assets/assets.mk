# What is embedded in the binary, made by a program of the project; and models made from a seed, for trying out size.
# Link a program with $(ASSETS_LIB) to have assets/assets.h.
ASSETS_LIB := $(B)/assets.a
ASSET_LIBS := $(foreach l,core/models core/io core/graph core/kernels core/base,$(call lib_of,$(l)))
FLAGS_assets_assets := -DASSET_DIR='"$(B)/assets"' -DASSET_SIZES='"$(B)/assets/sizes.h"'

# $(B) may be for another machine: HOST_B is a build that runs here.
HOST_B ?= $(B)

$(B)/assets/make_assets: assets/make_assets.c $(ASSET_LIBS)
	@mkdir -p $(@D)
	$(if $(filter 1,$(V)),,@echo "  link    $@")
	$(Q)$(CC) $(CFLAGS_ALL) -o $@ $< $(ASSET_LIBS) $(LDFLAGS) $(LDLIBS)

$(B)/make_vit: assets/make_vit.c $(ASSET_LIBS)
	@mkdir -p $(@D)
	$(if $(filter 1,$(V)),,@echo "  link    $@")
	$(Q)$(CC) $(CFLAGS_ALL) -o $@ $< $(ASSET_LIBS) $(LDFLAGS) $(LDLIBS)

$(B)/assets/made: $(HOST_B)/assets/make_assets
	$(if $(filter 1,$(V)),,@echo "  assets  $(@D)")
	@mkdir -p $(@D)
	$(Q)$(HOST_B)/assets/make_assets $(@D) && touch $@

$(B)/assets/assets.o: $(B)/assets/made
$(ASSETS_LIB): $(B)/assets/assets.o
	$(Q)rm -f $@ && $(AR) rcs $@ $^

# make vit-b16: build/models/vit-b16 (346 MB), a ViT-B/16 with weights from seed 1
.PHONY: vit-tiny vit-b16 vit-l16 vit-h14
vit-tiny vit-b16 vit-l16 vit-h14: vit-%: $(B)/make_vit
	@mkdir -p build/models
	$(Q)$(B)/make_vit --size $* --seed 1 -o build/models/vit-$*
