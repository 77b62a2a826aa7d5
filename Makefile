# libcute and its tools. Targets: all (default) demo check bench install clean; `make help` lists them.
# Command-line settings: CC CXX OPT SANITIZE=address,undefined WERROR=1 V=1 LLVM=<prefix> PREFIX DESTDIR BUILD, and
# CFLAGS CXXFLAGS CPPFLAGS LDFLAGS, which are added after the project's own flags (OWN_*).

LLVM    ?= $(or $(MLIR_INSTALL_DIR),/usr/lib/llvm-19)
# Tools that contain LLVM are linked by its clang, so sanitized objects have to be compiled by the same clang.
CC      := $(if $(filter default,$(origin CC)),$(if $(SANITIZE),$(LLVM)/bin/clang,cc),$(CC))
CXX     := $(if $(filter default,$(origin CXX)),$(LLVM)/bin/clang++,$(CXX))
OPT     ?= -O2
PREFIX  ?= /usr/local
DESTDIR ?=
SANITIZE ?=
BUILD   ?= build$(if $(SANITIZE),/$(subst $(comma),-,$(SANITIZE)))
comma   := ,
VERSION := $(shell cat VERSION)

# One short line per command; V=1 prints the commands instead, -s nothing.
Q   := $(if $(V),,@)
say  = $(if $(V)$(findstring s,$(filter-out --%,$(firstword -$(MAKEFLAGS)))),,@printf '  %-6s %s\n' '$(1)' '$(patsubst $(BUILD)/%,%,$(2))')

BIN := $(BUILD)/bin
OBJ := $(BUILD)/obj
# C++ is built without sanitizers (see mk/compiler.mk), so C++ objects and generated files are shared with the plain build.
PLAIN := $(if $(and $(SANITIZE),$(filter file,$(origin BUILD))),build,$(BUILD))
XOBJ  := $(PLAIN)/obj
GEN   := $(PLAIN)/gen
# Every object depends on its stamp, which changes with the compile commands.
STAMP  := $(OBJ)/flags
XSTAMP := $(XOBJ)/flags-c++
# Linked into programs and tests. build/libcute.a, for users, exports only cute_*.
LIB   := $(OBJ)/libcute.a

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wvla \
        -Wwrite-strings -Wundef -Wformat=2 -Wimplicit-fallthrough -Werror=implicit-function-declaration
# Fuzz targets (mk/tests.mk) share the objects built with AddressSanitizer.
SAN  := $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=undefined -fno-omit-frame-pointer $(if $(findstring address,$(SANITIZE)),-fsanitize=fuzzer-no-link))
# _FORTIFY_SOURCE requires optimization, reports less than a sanitizer, and is left alone if the distribution has set it.
XHARD := -fstack-protector-strong $(if $(findstring _FORTIFY_SOURCE,$(CPPFLAGS) $(CFLAGS) $(CXXFLAGS))$(filter -O0 -Og,$(OPT) $(CFLAGS)),,\
         -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
HARD  := $(if $(SANITIZE),-fstack-protector-strong,$(XHARD))
# Line tables are all that the stack traces of sanitizers read, and a fifth of the time to compile is not spent on the rest.
DEBUG := $(if $(SANITIZE),-g1,-g)
OWN_CFLAGS   := -std=c17 -D_GNU_SOURCE $(OPT) $(DEBUG) -fPIC -fvisibility=hidden -ffunction-sections -fdata-sections $(WARN) $(SAN) $(HARD)
OWN_CPPFLAGS := -Iinclude -I. -I$(GEN) -DCUTE_VERSION='"$(VERSION)"' -MMD -MP
# Not in OWN_CFLAGS: -Werror changes no object, so it must not trigger a rebuild.
ERR := $(if $(WERROR),-Werror)
# Reproducible builds: objects do not contain the build folder.
MAP := -ffile-prefix-map=$(CURDIR)=. $(foreach b,$(BUILD) $(abspath $(BUILD)),-ffile-prefix-map=$(b)=build)
# Alignment changes the speed of the emulator's loops by up to 25 %. clang has no -falign-jumps.
CFLAGS_emulator := -falign-functions=32 -falign-loops=32 -falign-jumps=32 -Wno-ignored-optimization-argument
CFLAGS_numeric  := $(CFLAGS_emulator)
CFLAGS_checks   := -falign-functions=64 -falign-loops=64
# Stack protectors and fortified copies slow down emulation and checks by 3 to 18 % (bench/emulator, bench/checks), since functions
# keep values of 32 lanes on the stack. The PTX front end and option parsing, which read untrusted input, keep both.
UNGUARDED := $(filter-out $(foreach f,lexer parse declare decode expression unread cfg lines,lib/emulator/program/$(f).c) \
                 $(foreach f,flags allowed report,lib/checks/$(f).c), \
                 $(wildcard lib/emulator/*/*.c lib/numeric/*.c lib/checks/*.c))
OWN_LDFLAGS := -Wl,--gc-sections $(SAN)
# For programs.
OWN_PIE := -pie -Wl,-z,relro -Wl,-z,now
# Linked statically, so that programs run without these packages.
override LDLIBS += -l:libjansson.a -l:libz.a -l:libzstd.a -lm -ldl -lpthread

# Sources of rooms, including one level of folders.
sources = $(sort $(foreach r,$(1),$(wildcard lib/$(r)/*.$(2) lib/$(r)/*/*.$(2))))
# The run-time half: pure C, neither LLVM nor CUDA at link time.
RUN_ROOMS := base plugin model layout atoms calculator toolkit cubin numeric emulator checks device ranks launch epilogue aot tune gemm code report
RUN_SRC   := $(call sources,$(RUN_ROOMS),c)
RUN_OBJ   := $(RUN_SRC:%.c=$(OBJ)/%.o)
# The compiler half: C over MLIR's C interface, and the C++ of the dialects and the shim.
IR_C      := $(call sources,ir passes ptx builder embed,c)
IR_CXX    := $(call sources,ir passes ptx,cpp)
# The cute operations, compiled in shards. They take longest, so they are listed first.
SHARDS    := 0 1 2
IR_XOBJ   := $(SHARDS:%=$(XOBJ)/lib/ir/dialects/cute_ops_%.o) $(IR_CXX:%.cpp=$(XOBJ)/%.o)
IR_OBJ    := $(IR_XOBJ) $(IR_C:%.c=$(OBJ)/%.o)

RUN_TOOLS := $(filter-out cute-opt cute-ptx cute-lsp,$(notdir $(wildcard tools/cute-*)))
IR_TOOLS  := $(filter cute-opt cute-ptx cute-lsp,$(notdir $(wildcard tools/cute-*)))
TOOLS     := $(IR_TOOLS:%=$(BIN)/%) $(RUN_TOOLS:%=$(BIN)/%)

.PHONY: all
all: $(TOOLS) $(BUILD)/libcute.a $(BUILD)/libcute.so $(BUILD)/libcute-compiler.so

include mk/generate.mk
include mk/compiler.mk
include mk/tests.mk
include mk/launch.mk
include mk/install.mk

FLAGS := $(CC) $(CXX) $(LLVM) $(OWN_CPPFLAGS) $(OWN_CFLAGS) $(CFLAGS_emulator) $(IR_CFLAGS) $(IR_CXXFLAGS) $(CPPFLAGS) $(CFLAGS) $(CXXFLAGS)
# Compared here rather than in a recipe, so that a dry run writes nothing.
ifneq ($(strip $(FLAGS)),$(strip $(file <$(STAMP))))
$(STAMP): force
endif
XFLAGS := $(CXX) $(LLVM) $(OWN_CPPFLAGS) $(IR_CXXFLAGS) $(CPPFLAGS) $(CXXFLAGS)
ifneq ($(strip $(XFLAGS)),$(strip $(file <$(XSTAMP))))
$(XSTAMP): force
endif
$(STAMP): MADE_WITH = $(FLAGS)
$(XSTAMP): MADE_WITH = $(XFLAGS)
$(STAMP) $(XSTAMP):
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(MADE_WITH))' > $@

$(OBJ)/%.o: %.c $(STAMP)
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(OWN_CPPFLAGS) $(OWN_CFLAGS) $(CFLAGS_$(firstword $(subst /, ,$(patsubst lib/%,%,$*)))) $(if $(filter $<,$(UNGUARDED)),-fno-stack-protector -U_FORTIFY_SOURCE) $(MAP) $(CPPFLAGS) $(CFLAGS) $(ERR) -c $< -o $@

$(LIB): $(RUN_OBJ)
	@mkdir -p $(@D)
	@rm -f $@
	$(call say,AR,$@)
	$(Q)$(AR) rcsD $@ $^

# One relocatable object with hidden symbols made local, so that they cannot clash with a user's. Sections stay separate for
# --gc-sections.
OBJCOPY ?= objcopy
$(OBJ)/libcute.o: $(RUN_OBJ)
	@mkdir -p $(@D)
	$(Q)$(LD) -r -o $@ $^
	$(Q)$(OBJCOPY) --localize-hidden $@
$(BUILD)/libcute.a: $(OBJ)/libcute.o
	@rm -f $@
	$(call say,AR,$@)
	$(Q)$(AR) rcsD $@ $<

# Linked dynamically: the libjansson.a of distributions is not position-independent.
$(BUILD)/libcute.so: $(RUN_OBJ) lib/libcute.map
	$(call say,LINK,$@)
	$(Q)$(CC) -shared -Wl,-soname,libcute.so.$(MAJOR) -Wl,--version-script=lib/libcute.map $(OWN_LDFLAGS) $(LDFLAGS) -o $@ $(RUN_OBJ) $(patsubst -l:lib%.a,-l%,$(LDLIBS))

define run_tool
$(BIN)/$(1): $$(patsubst %.c,$(OBJ)/%.o,$$(sort $$(wildcard tools/$(1)/*.c))) $(LIB)
	@mkdir -p $$(@D)
	$$(call say,LINK,$$@)
	$(Q)$(CC) $(OWN_LDFLAGS) $(OWN_PIE) $(LDFLAGS) -o $$@ $$^ $(LDLIBS)
endef
$(foreach t,$(RUN_TOOLS),$(eval $(call run_tool,$(t))))

.PHONY: clean
clean:
	rm -rf $(BUILD)

-include $(shell [ -d $(OBJ) ] && find $(OBJ) -name '*.d')
ifneq ($(XOBJ),$(OBJ))
-include $(IR_XOBJ:%.o=%.d)
endif
