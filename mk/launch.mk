# lib/launch carries its JSON Schema inside; tests carry a stand-in for the CUDA driver.
$(GEN)/launch.schema.inc: lib/launch/launch.schema.json
	@mkdir -p $(@D)
	$(call say,GEN,$@)
	$(Q)od -An -v -tx1 $< | sed 's/ \([0-9a-f][0-9a-f]\)/0x\1,/g' > $@

$(OBJ)/lib/launch/schema.o: $(GEN)/launch.schema.inc

$(BUILD)/tests/libfakecuda.so: tests/data/fakecuda.c
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) -std=c17 -D_GNU_SOURCE -O1 -g -fPIC -shared -Wall -Wextra -o $@ $<

check-now check-cli: $(BUILD)/tests/libfakecuda.so
