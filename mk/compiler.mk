# The compiler half: cute-opt, cute-ptx and cute-lsp, linked statically to LLVM and MLIR, so that they start in milliseconds.
MLIR_INC   := -isystem $(LLVM)/include
IR_CFLAGS  := $(MLIR_INC)
# LLVM may be built without RTTI; Debian's has it.
RTTI       := $(if $(filter NO,$(shell $(LLVM)/bin/llvm-config --has-rtti 2>/dev/null)),-fno-rtti)
IR_CXXFLAGS = -std=c++17 -D_GNU_SOURCE -fno-exceptions $(RTTI) -funwind-tables -fPIC -fvisibility=hidden -O1 -DNDEBUG \
              -ffunction-sections -fdata-sections -Wall -Wextra -Wno-unused-parameter $(XHARD) $(MLIR_INC)

# Without upstream test dialects, servers and the JIT; the other libraries provide the passes of mlir-opt.
MLIR_LIBS  = $(shell ls $(LLVM)/lib/libMLIR*.a 2>/dev/null | grep -vE \
             'Test|Query|Reduce|TblgenLib|Lsp|libMLIRExecutionEngine\.a|CAPIExecutionEngine|JitRunner')
# MLIR 22 and later reference all LLVM targets.
TARGETS    = $(if $(wildcard $(LLVM)/lib/libMLIRXeVMTarget.a),all-targets,amdgpu nvptx)
LLVM_LIBS  = $(shell $(LLVM)/bin/llvm-config --link-static --libs $(TARGETS) core support passes bitwriter irreader 2>/dev/null)
# lib/ir/text/placeholders.cpp wraps the destructors that MLIR's parser and contexts call.
IR_WRAP    := -Wl,--wrap=_ZN4mlir9Operation7destroyEv -Wl,--wrap=_ZN4mlir5BlockD1Ev -Wl,--wrap=_ZN4mlir11MLIRContextD1Ev
# --as-needed drops libxml2, z3 and tinfo, which saves 20 % of the start-up time.
IR_LDFLAGS = -fuse-ld=$(LLVM)/bin/ld.lld $(OWN_PIE) -Wl,-z,pack-relative-relocs -Wl,--as-needed -Wl,--gc-sections $(IR_WRAP) \
             -L$(LLVM)/lib $(SAN) $(LDFLAGS)
# The programs export MLIR's C interface, which plugins call: all of it, also functions that the program itself does not use.
# The names are found by the linker in MLIR's own libraries, so no table has to follow its versions. MLIR's C++ stays hidden, and
# libcute-compiler.so exports none of it: a program may have an MLIR of its own.
IR_EXPORT  := -Wl,--undefined-glob='mlir[A-Z]*' -Wl,--export-dynamic-symbol='mlir[A-Z]*'
# System libraries of Debian's LLVM, if installed; another LLVM may need fewer.
IR_SYSTEM  = -Wl,--as-needed $(foreach l,libxml2.so.2 libz3.so.4 libtinfo.so.6,$(if $(wildcard /usr/lib/$(l) /usr/lib64/$(l) /usr/lib/*/$(l) /lib/*/$(l)),-l:$(l)))
IR_LDLIBS  = -Wl,--start-group $(MLIR_LIBS) $(LLVM_LIBS) -Wl,--end-group -l:libz.so.1 -l:libzstd.so.1 \
             $(IR_SYSTEM) -l:libjansson.a -lm -ldl -lpthread

$(OBJ)/lib/ir/%.o $(OBJ)/lib/passes/%.o $(OBJ)/lib/ptx/%.o $(OBJ)/lib/builder/%.o $(OBJ)/lib/lsp/%.o $(OBJ)/tools/cute-opt/%.o \
    $(OBJ)/tools/cute-ptx/%.o $(OBJ)/tools/cute-lsp/%.o: \
    OWN_CFLAGS += $(IR_CFLAGS)

# Precompile the header that declares all operations, with clang and without a compiler cache.
PCH := $(if $(findstring clang,$(CXX)),$(if $(findstring cache,$(CXX)),,$(XOBJ)/lib/ir/dialects/cute_nvgpu.h.pch))
WITH_PCH := $(SHARDS:%=$(XOBJ)/lib/ir/dialects/cute_ops_%.o) \
            $(patsubst %.cpp,$(XOBJ)/%.o,$(shell grep -l '^.include "lib/ir/dialects/cute_nvgpu.h"' $(IR_CXX)))
$(WITH_PCH): $(PCH)
$(XOBJ)/lib/ir/dialects/cute_nvgpu.h.pch: lib/ir/dialects/cute_nvgpu.h $(GENERATED) $(XSTAMP)
	@mkdir -p $(@D)
	$(call say,PCH,$<)
	$(Q)$(CXX) $(OWN_CPPFLAGS) $(IR_CXXFLAGS) $(MAP) $(CPPFLAGS) $(CXXFLAGS) $(ERR) -x c++-header $< -o $@

# C++ is built without sanitizers: LLVM's inline allocators are shared with LLVM libraries, which are not sanitized.
$(XOBJ)/lib/ir/dialects/cuda.o $(XOBJ)/lib/ir/dialects/newer.o: $(CUDA_GENERATED)
define compile_cxx
	@mkdir -p $(@D)
	$(call say,CXX,$<)
	$(Q)$(CXX) $(OWN_CPPFLAGS) $(IR_CXXFLAGS) $(MAP) $(CPPFLAGS) $(CXXFLAGS) $(ERR) $(if $(filter $@,$(WITH_PCH)),$(PCH:%=-include-pch %)) -c $< -o $@
endef
$(XOBJ)/%.o: %.cpp $(GENERATED) $(XSTAMP)
	$(compile_cxx)
# Each shard defines the type checks of all operations.
$(XOBJ)/lib/ir/dialects/cute_ops_%.o: IR_CXXFLAGS += -Wno-unused-function
$(XOBJ)/lib/ir/dialects/cute_ops_%.o: $(INC)/cute_ops_%.cpp $(GENERATED) $(XSTAMP)
	$(compile_cxx)

# Objects of the run-time half that the compiler half uses.
IR_COMMON := $(patsubst %.c,$(OBJ)/%.o,$(call sources,base plugin model layout atoms toolkit,c))

$(BUILD)/libcute-compiler.a: $(IR_OBJ) $(IR_COMMON)
	@rm -f $@
	$(call say,AR,$@)
	$(Q)$(AR) rcsD $@ $^

# The same as a shared library with LLVM and MLIR hidden. It uses the arenas and diagnostics of libcute.so, so that both libraries
# share these types. It cannot be unloaded (-z nodelete), since LLVM's registries cannot be undone.
SHARED_BASE := $(patsubst %,$(OBJ)/lib/base/%.o,arena version $(addprefix diagnostics/,causes diag explanation render))
SO_LDLIBS   := -Wl,--start-group $(MLIR_LIBS) $(LLVM_LIBS) -Wl,--end-group -lz -lzstd $(IR_SYSTEM) \
               -ljansson -lm -ldl -lpthread
$(BUILD)/libcute-compiler.so: $(IR_OBJ) $(filter-out $(SHARED_BASE),$(IR_COMMON)) $(BUILD)/libcute.so lib/libcute-compiler.map
	$(call say,LINK,$@)
	$(Q)$(CXX) -shared -fuse-ld=$(LLVM)/bin/ld.lld -Wl,-soname,libcute-compiler.so.$(MAJOR) -Wl,-z,nodelete $(if $(SAN),,-Wl,-z,defs) \
	    -Wl,--version-script=lib/libcute-compiler.map -Wl,--exclude-libs,ALL -Wl,-Bsymbolic -Wl,--gc-sections \
	    -Wl,-z,pack-relative-relocs -Wl,--as-needed $(IR_WRAP) -L$(LLVM)/lib $(SAN) $(LDFLAGS) -o $@ $(filter %.o,$^) -L$(BUILD) -lcute $(SO_LDLIBS)

define ir_tool
$(BIN)/$(1): $$(patsubst %.c,$(OBJ)/%.o,$$(sort $$(wildcard tools/$(1)/*.c))) $(BUILD)/libcute-compiler.a
	@mkdir -p $$(@D)
	$$(call say,LINK,$$@)
	$(Q)$(CXX) $$(IR_LDFLAGS) $(IR_EXPORT) -o $$@ $$^ $$(IR_LDLIBS)
endef
$(foreach t,$(IR_TOOLS),$(eval $(call ir_tool,$(t))))
# The language server is not part of the library.
LSP_OBJ := $(patsubst %.c,$(OBJ)/%.o,$(call sources,lsp calculator,c))
$(BIN)/cute-lsp: $(LSP_OBJ)
# emit-gpu-binary links cubins.
$(BIN)/cute-opt: $(patsubst %.c,$(OBJ)/%.o,$(call sources,cubin,c))
