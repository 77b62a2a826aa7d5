# Generated sources: embedded JSON Schemas, the run-time part of ahead-of-time sources, and GEMM kernels. Also the test doubles of the CUDA driver and cuBLASLt.
$(GEN)/launch.schema.inc: lib/launch/config/launch.schema.json
$(GEN)/report.schema.inc: lib/report/folder/report.schema.json
$(GEN)/aot_runtime.inc: lib/aot/runtime.h
$(GEN)/launch.schema.inc $(GEN)/report.schema.inc $(GEN)/aot_runtime.inc:
	@mkdir -p $(@D)
	$(call say,GEN,$@)
	$(Q)od -An -v -tx1 $< | sed 's/ \([0-9a-f][0-9a-f]\)/0x\1,/g' > $@

# Fuzz targets use objects of their own, so the dependency names $(OBJ).
$(OBJ)/lib/launch/config/schema.o: $(GEN)/launch.schema.inc
$(OBJ)/lib/report/folder/schema.o: $(GEN)/report.schema.inc
$(OBJ)/lib/aot/write.o: $(GEN)/aot_runtime.inc

# lib/gemm embeds the kernel sources that it compiles, with the files that they include: GEMM_SOURCE(name, bytes..., 0).
GEMM_KERNELS := kernels/product/product.mlir $(sort $(wildcard kernels/gemm/*.mlir)) \
                $(patsubst %,kernels/ranks/%.mlir,all_gather all_reduce reduce_scatter)
$(GEN)/gemm_sources.inc: $(GEMM_KERNELS) $(wildcard kernels/ranks/*.inc) mk/launch.mk
	@mkdir -p $(@D)
	$(call say,GEN,$@)
	$(Q)for k in $(GEMM_KERNELS); do echo "GEMM_SOURCE($$(basename $$k .mlir),"; \
	    awk -v folder=$$(dirname $$k) '$$1 == "//!include" { gsub(/"/, "", $$2); \
	        while ((getline line < (folder "/" $$2)) > 0) print line; close(folder "/" $$2); next } { print }' $$k | \
	    od -An -v -tx1 | sed 's/ \([0-9a-f][0-9a-f]\)/0x\1,/g'; echo '0)'; done > $@.new && mv $@.new $@

$(OBJ)/lib/gemm/table.o: $(GEN)/gemm_sources.inc

$(BUILD)/tests/lib%.so: tests/data/%.c
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) -std=c17 -D_GNU_SOURCE -O1 -g -fPIC -shared -Wl,-z,nodelete -Wall -Wextra -o $@ $<

check-now check-cli: $(STAND_INS)
