# Files made by mlir-tblgen from lib/ir/dialects/*.td.
TBLGEN := $(LLVM)/bin/mlir-tblgen -I $(LLVM)/include -I .
CUDA_TD := lib/ir/dialects/cuda.td lib/ir/dialects/newer.td
TD     := $(filter-out $(CUDA_TD),$(wildcard lib/ir/dialects/*.td))
INC    := $(GEN)/lib/ir/dialects
GENERATED := $(addprefix $(INC)/cute_,dialect.h.inc dialect.cpp.inc types.h.inc types.cpp.inc attrs.h.inc attrs.cpp.inc ops.h.inc ops.cpp.inc \
             nvgpu_dialect.h.inc nvgpu_dialect.cpp.inc nvgpu_ops.h.inc nvgpu_ops.cpp.inc)

$(INC)/cute_dialect.h.inc:   MODE := -gen-dialect-decls -dialect=cute
$(INC)/cute_dialect.cpp.inc: MODE := -gen-dialect-defs -dialect=cute
$(INC)/cute_types.h.inc:     MODE := -gen-typedef-decls -typedefs-dialect=cute
$(INC)/cute_types.cpp.inc:   MODE := -gen-typedef-defs -typedefs-dialect=cute
$(INC)/cute_attrs.h.inc:     MODE := -gen-attrdef-decls -attrdefs-dialect=cute
$(INC)/cute_attrs.cpp.inc:   MODE := -gen-attrdef-defs -attrdefs-dialect=cute
$(INC)/cute_nvgpu_dialect.h.inc:   MODE := -gen-dialect-decls -dialect=cute_nvgpu
$(INC)/cute_nvgpu_dialect.cpp.inc: MODE := -gen-dialect-defs -dialect=cute_nvgpu
# Classes are made of the definitions in this file only; other types are rows of types.def.
$(GENERATED): SOURCE := lib/ir/dialects/cute_types.td
$(filter $(INC)/cute_nvgpu%,$(GENERATED)): SOURCE := lib/ir/dialects/cute_nvgpu_types.td
$(filter $(INC)/cute_%ops.h.inc $(INC)/cute_%ops.cpp.inc,$(GENERATED)): SOURCE := lib/ir/dialects/cute.td
$(INC)/cute_ops.h.inc:         MODE := -gen-op-decls -op-include-regex='^cute\.'
$(INC)/cute_ops.cpp.inc:       MODE := -gen-op-defs -op-include-regex='^cute\.'
$(INC)/cute_nvgpu_ops.h.inc:   MODE := -gen-op-decls -op-include-regex='^cute_nvgpu\.'
$(INC)/cute_nvgpu_ops.cpp.inc: MODE := -gen-op-defs -op-include-regex='^cute_nvgpu\.'
# The operations of cute are compiled in parts, cute_ops_0.cpp and so on: as one they take half a minute.
$(INC)/cute_ops.h.inc $(INC)/cute_ops.cpp.inc: MODE += -op-shard-count=$(words $(SHARDS))
SHARD_CXX := $(SHARDS:%=$(INC)/cute_ops_%.cpp)
$(SHARD_CXX): $(INC)/cute_ops_%.cpp: mk/generate.mk
	@mkdir -p $(@D)
	$(Q)printf '#include "lib/ir/dialects/cute_nvgpu.h"\nusing namespace mlir;\n#define GET_OP_DEFS_$*\n#include "lib/ir/dialects/cute_ops.cpp.inc"\n' >$@
$(GENERATED): $(TD) mk/generate.mk
	@mkdir -p $(@D)
	$(call say,TBLGEN,$@)
	$(Q)$(TBLGEN) $(MODE) $(SOURCE) -o $@

# The dialect cuda, and operations that are newer than LLVM.
CUDA_GENERATED := $(addprefix $(INC)/cuda_,dialect.h.inc dialect.cpp.inc enums.h.inc enums.cpp.inc types.h.inc types.cpp.inc attrs.h.inc \
                  attrs.cpp.inc ops.h.inc ops.cpp.inc) $(addprefix $(INC)/newer_,ops.h.inc ops.cpp.inc)
$(INC)/cuda_dialect.h.inc:   MODE := -gen-dialect-decls -dialect=cuda
$(INC)/cuda_dialect.cpp.inc: MODE := -gen-dialect-defs -dialect=cuda
$(INC)/cuda_enums.h.inc:     MODE := -gen-enum-decls
$(INC)/cuda_enums.cpp.inc:   MODE := -gen-enum-defs
$(INC)/cuda_types.h.inc:     MODE := -gen-typedef-decls -typedefs-dialect=cuda
$(INC)/cuda_types.cpp.inc:   MODE := -gen-typedef-defs -typedefs-dialect=cuda
$(INC)/cuda_attrs.h.inc:     MODE := -gen-attrdef-decls -attrdefs-dialect=cuda
$(INC)/cuda_attrs.cpp.inc:   MODE := -gen-attrdef-defs -attrdefs-dialect=cuda
$(INC)/cuda_ops.h.inc $(INC)/newer_ops.h.inc:     MODE := -gen-op-decls
$(INC)/cuda_ops.cpp.inc $(INC)/newer_ops.cpp.inc: MODE := -gen-op-defs
$(INC)/cuda_%.inc: lib/ir/dialects/cuda.td
	@mkdir -p $(@D)
	$(call say,TBLGEN,$@)
	$(Q)$(TBLGEN) $(MODE) $< -o $@
$(INC)/newer_%.inc: lib/ir/dialects/newer.td lib/ir/dialects/cuda.td
	@mkdir -p $(@D)
	$(call say,TBLGEN,$@)
	$(Q)$(TBLGEN) $(MODE) -op-include-regex='^(nvvm|nvgpu)\.' $< -o $@

# Said before a hundred compilers say it worse.
$(GENERATED) $(CUDA_GENERATED) $(IR_OBJ) $(IR_TOOLS:%=$(OBJ)/tools/%/main.o): | $(LLVM)/bin/mlir-tblgen
$(LLVM)/bin/mlir-tblgen:
	@echo "LLVM and MLIR are not in $(LLVM): 'make setup' installs them, LLVM=<prefix> says where they are" >&2
	@exit 3

# The reference of the dialects, from the same .td files; committed, and tests/docs says when it is old.
.PHONY: docs
docs: docs/dialects/cute.md docs/dialects/cute_nvgpu.md docs/dialects/cuda.md
docs/dialects/cuda.md: $(CUDA_TD)
docs/dialects/%.md: $(TD) lib/ir/dialects/types.def lib/ir/dialects/words.def scripts/dialect-doc
	@mkdir -p $(@D)
	$(call say,GEN,$@)
	$(Q)scripts/dialect-doc $(LLVM) $* > $@.new && mv $@.new $@
