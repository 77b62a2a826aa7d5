# Tests: unit/ (one program per C file), lit/, cli/ (bats), fuzz/. tests/run runs them and prints a summary.
#   make check TESTS=<pattern>           only tests whose file or name matches
#   make check SANITIZE=address,undefined
#   make check-share SANITIZE=address,undefined   unit, lit, and the cli tests of parsers
#   make fuzz FUZZ_SECONDS=900           each fuzz target this long with random seeds; make check uses fixed seeds
TESTS        ?=
FUZZ_SECONDS ?= 10

# C++ tests use MLIR's C++ interface.
UNIT_CXX := $(patsubst tests/unit/%.cpp,$(BUILD)/tests/%,$(wildcard tests/unit/test_*.cpp))
UNIT     := $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(wildcard tests/unit/test_*.c)) $(UNIT_CXX)

$(UNIT_CXX): $(BUILD)/tests/%: $(XOBJ)/tests/unit/%.o $(BUILD)/libcute-compiler.a
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CXX) $(IR_LDFLAGS) -o $@ $^ $(IR_LDLIBS)

$(BUILD)/tests/%: $(OBJ)/tests/unit/%.o $(LIB)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(OWN_LDFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

# The builder's test uses the public interface of the libraries.
$(BUILD)/tests/test_build: $(OBJ)/tests/unit/test_build.o $(BUILD)/libcute-compiler.so $(BUILD)/libcute.so
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)ln -sf ../libcute.so $(@D)/libcute.so.$(MAJOR) && ln -sf ../libcute-compiler.so $(@D)/libcute-compiler.so.$(MAJOR)
	$(Q)$(CC) $(OWN_LDFLAGS) $(LDFLAGS) -Wl,-rpath,'$$ORIGIN' -o $@ $< -L$(BUILD) -lcute-compiler -lcute

# Keep the objects of tests, which are intermediate files to make.
.SECONDARY:

# Test doubles of the CUDA driver, cuBLASLt and NCCL.
STAND_INS := $(BUILD)/tests/libfakecuda.so $(BUILD)/tests/libfakecublas.so $(BUILD)/tests/libfakenccl.so $(BUILD)/tests/librecordcuda.so

.PHONY: unit
unit: $(UNIT) $(STAND_INS)

# Fuzz targets belong to the sanitizer build, whose objects have coverage instrumentation; `make check-share` uses the same
# objects. A plain build invokes the sanitizer build for them.
FUZZ_NAMES := $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_BUILD := $(if $(SANITIZE),$(BUILD),$(BUILD)/address-undefined)
FUZZ       := $(FUZZ_NAMES:%=$(FUZZ_BUILD)/fuzz/%)
ifeq ($(SANITIZE),)
.PHONY: fuzz-targets
fuzz-targets: $(GENERATED)
	@+$(MAKE) --no-print-directory SANITIZE=address,undefined BUILD=$(FUZZ_BUILD) PLAIN=$(BUILD) CC=$(LLVM)/bin/clang $(FUZZ)
else
fuzz-targets: $(FUZZ)
$(BUILD)/fuzz/fuzz_%: $(OBJ)/tests/fuzz/fuzz_%.o $(LIB)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(SAN) -fsanitize=fuzzer -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LDLIBS)

# Fuzz targets of the static checks, of the builder and of the language server, which link MLIR.
define link_compiler_fuzz
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CXX) $(SAN) -fsanitize=fuzzer $(IR_LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(IR_LDLIBS)
endef
FUZZ_MLIR := $(patsubst %,$(OBJ)/tests/fuzz/fuzz_%.o,async build lsp)
$(FUZZ_MLIR): OWN_CPPFLAGS += $(MLIR_INC)
$(FUZZ_MLIR): | $(GENERATED)
# fuzz_async embeds the kernels of the static checks as its corpus.
ASYNC_KERNELS := $(wildcard tests/static-checks/*.mlir)
$(GEN)/async_kernels.inc: $(ASYNC_KERNELS) mk/tests.mk
	@mkdir -p $(@D)
	$(call say,GEN,$@)
	$(Q)for k in $(ASYNC_KERNELS); do echo "KERNEL($$(basename $$k .mlir),"; \
	    od -An -v -tx1 $$k | sed 's/ \([0-9a-f][0-9a-f]\)/0x\1,/g'; echo '0)'; done > $@.new && mv $@.new $@
$(OBJ)/tests/fuzz/fuzz_async.o: $(GEN)/async_kernels.inc
$(BUILD)/fuzz/fuzz_async: $(OBJ)/tests/fuzz/fuzz_async.o $(BUILD)/libcute-compiler.a
	$(link_compiler_fuzz)
$(BUILD)/fuzz/fuzz_build: $(OBJ)/tests/fuzz/fuzz_build.o $(BUILD)/libcute-compiler.a
	$(link_compiler_fuzz)
FUZZ_LSP := $(patsubst %.c,$(OBJ)/%.o,$(call sources,lsp calculator,c))
$(BUILD)/fuzz/fuzz_lsp: $(OBJ)/tests/fuzz/fuzz_lsp.o $(FUZZ_LSP) $(BUILD)/libcute-compiler.a
	$(link_compiler_fuzz)
# The text preprocessor needs no MLIR.
$(BUILD)/fuzz/fuzz_defines: $(patsubst %,$(OBJ)/lib/ir/text/%.o,defines spellings nesting)
endif

# Kernels with planted bugs, and clean versions of them.
BUGS := $(BUILD)/bugs/bugs.txt
$(BUGS): $(wildcard tests/emulator/bugs/*.py tests/emulator/bugs/*.json)
	$(call say,GEN,$@)
	$(Q)python3 tests/emulator/bugs/generate.py $(@D)

.PHONY: bugs
bugs: $(BUGS)

# Re-run make after the packages and parts of CUDA are installed, on all cores unless -j is given.
AGAIN = case "$$MAKEFLAGS" in *-j*|*jobserver*) jobs= ;; *) jobs=-j$$(nproc) ;; esac; $(MAKE) --no-print-directory $$jobs
RUN   = tests/run --build $(BUILD) --fuzz-build $(FUZZ_BUILD) --llvm $(LLVM) --filter '$(TESTS)'

.PHONY: setup setup-build check check-now check-share check-share-now check-unit check-lit check-docs check-cli check-kernels fuzz fuzz-now
# The demo requires ptxas; other targets continue without parts that cannot be fetched.
CUDA_PARTS ?= scripts/cuda-toolkit
demo: CUDA_NEEDED := --need bin/ptxas
setup-build:
	@LLVM=$(LLVM) scripts/setup build
	@$(CUDA_PARTS) $(CUDA_NEEDED) build/cuda || \
	    $(if $(CUDA_NEEDED),exit 3,echo "continuing without the missing parts of CUDA" >&2)
	@mkdir -p $(BUILD); [ ! -d build/cuda ] || [ -e $(BUILD)/cuda ] || ln -s ../cuda $(BUILD)/cuda

setup: setup-build
	@LLVM=$(LLVM) scripts/setup build test
	@scripts/cuda-toolkit --compiler build/cuda || echo "continuing without nvcc; tests that need it are skipped" >&2

check: setup
	@+$(AGAIN) check-now
check-now: all $(UNIT) fuzz-targets $(STAND_INS) $(BUGS)
	@$(RUN)
check-share: setup
	@+$(AGAIN) check-share-now
check-share-now: $(TOOLS) $(UNIT) $(STAND_INS)
	@$(RUN) unit lit parsers
check-unit: $(UNIT) $(STAND_INS)
	@$(RUN) unit
check-lit: all
	@$(RUN) lit
# Output of commands in the documentation. It is committed; tests/docs/pages fails if it is out of date.
.PHONY: pages
pages: all
	tests/docs/pages $(BUILD)/bin --update | (! grep -A20 '^not ok')
check-docs: all
	@$(RUN) docs
check-kernels: all
	@$(RUN) kernels
check-cli: all $(STAND_INS) $(BUGS)
	@$(RUN) cli

# What `make check` runs a share of: tile programs, comparisons with kernels by hand, atoms.
.PHONY: proof
proof: all
	tests/proof $(BUILD)

fuzz: setup
	@+$(AGAIN) fuzz-now
fuzz-now: fuzz-targets
	@$(RUN) --fuzz-seconds $(FUZZ_SECONDS) fuzz

# Format all C and C++ with .clang-format; a test checks this.
CLANG_FORMAT ?= $(LLVM)/bin/clang-format
.PHONY: format
format:
	@LLVM=$(LLVM) scripts/setup format
	@git ls-files --cached --others --exclude-standard '*.c' '*.h' '*.cpp' | xargs $(CLANG_FORMAT) -i

# Compile and run vector_add, on the emulator if there is no GPU.
DEMO := $(BUILD)/demo
.PHONY: demo demo-now
demo: setup-build
	@+$(AGAIN) demo-now
demo-now: all
	@mkdir -p $(DEMO)
	@scripts/demo $(BIN) $(DEMO)

.PHONY: bench bench-now
bench: setup-build
	@LLVM=$(LLVM) scripts/setup bench || echo "continuing without hyperfine" >&2
	@+$(AGAIN) bench-now
bench-now: all
	@bench/run $(abspath $(BIN)) $(abspath $(BUILD))/kernels

.PHONY: help
help:
	@cat mk/help.txt
