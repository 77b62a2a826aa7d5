# Tests: unit/ (one program a C file), lit/, cli/ (bats), fuzz/.
UNIT := $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(wildcard tests/unit/test_*.c))

$(BUILD)/tests/%: $(OBJ)/tests/unit/%.o $(BUILD)/libcute.a
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS)

.PHONY: unit
unit: $(UNIT)
