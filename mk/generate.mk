# Files made by mlir-tblgen from lib/ir/*.td.
TBLGEN := $(LLVM)/bin/mlir-tblgen -I $(LLVM)/include -I .
TD     := $(wildcard lib/ir/*.td)
INC    := $(GEN)/lib/ir
GENERATED := $(addprefix $(INC)/cute_,dialect.h.inc dialect.cpp.inc types.h.inc types.cpp.inc attrs.h.inc attrs.cpp.inc ops.h.inc ops.cpp.inc)

$(INC)/cute_dialect.h.inc:   MODE := -gen-dialect-decls -dialect=cute
$(INC)/cute_dialect.cpp.inc: MODE := -gen-dialect-defs -dialect=cute
$(INC)/cute_types.h.inc:     MODE := -gen-typedef-decls -typedefs-dialect=cute
$(INC)/cute_types.cpp.inc:   MODE := -gen-typedef-defs -typedefs-dialect=cute
$(INC)/cute_attrs.h.inc:     MODE := -gen-attrdef-decls -attrdefs-dialect=cute
$(INC)/cute_attrs.cpp.inc:   MODE := -gen-attrdef-defs -attrdefs-dialect=cute
$(INC)/cute_ops.h.inc:       MODE := -gen-op-decls
$(INC)/cute_ops.cpp.inc:     MODE := -gen-op-defs
$(GENERATED): $(TD)
	@mkdir -p $(@D)
	$(call say,TBLGEN,$@)
	$(Q)$(TBLGEN) $(MODE) lib/ir/cute.td -o $@

# Said before a hundred compilers say it worse.
$(GENERATED) $(IR_OBJ) $(IR_TOOLS:%=$(OBJ)/tools/%/main.o): | $(LLVM)/bin/mlir-tblgen
$(LLVM)/bin/mlir-tblgen:
	@echo "LLVM and MLIR 19 are not in $(LLVM): 'make setup' installs them, LLVM=<prefix> says where they are" >&2
	@exit 3

# The reference of the dialect, from the same .td files; committed, and tests/docs says when it is old.
.PHONY: docs
docs: docs/dialects/cute.md
docs/dialects/cute.md: $(TD) scripts/dialect-doc
	@mkdir -p $(@D)
	$(call say,GEN,$@)
	$(Q)scripts/dialect-doc $(LLVM) > $@.new && mv $@.new $@
