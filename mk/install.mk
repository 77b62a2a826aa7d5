# make install: programs, libraries, headers, files for pkg-config and CMake, man pages, completion for bash and zsh.
# make install-strip: the same, with stripped programs and libraries (two thirds of the size).
bindir       ?= $(PREFIX)/bin
libdir       ?= $(PREFIX)/lib
includedir   ?= $(PREFIX)/include
mandir       ?= $(PREFIX)/share/man
datadir      ?= $(PREFIX)/share/cute
completiondir ?= $(PREFIX)/share/bash-completion/completions
zshdir        ?= $(PREFIX)/share/zsh/site-functions
INSTALL      ?= install

MAJOR     := $(firstword $(subst ., ,$(VERSION)))
LIBRARIES := cute cute-compiler
HEADERS   := $(wildcard include/cute/*.h include/cute/*.hpp include/cute/*.def)
CMAKE     := cute-config.cmake cute-config-version.cmake
MAN       := $(wildcard docs/man/*.[1-9])
SCHEMA    := $(wildcard lib/*/*/*.schema.json)
SCRIPTS   := scripts/cute-lit
# An example of a plugin with its Makefile and test.
EXAMPLE   := $(wildcard docs/examples/plugin/*)
# Programs that use the libraries.
EXAMPLES  := $(wildcard docs/examples/*.c docs/examples/*.py)
man_path   = $(mandir)/man$(subst .,,$(suffix $(1)))/$(notdir $(1))

# The folder of files that contain PREFIX.
CONFIG ?= $(BUILD)
$(CONFIG)/%.pc: mk/%.pc.in VERSION mk/install.mk $(CONFIG)/prefix
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(libdir)|' -e 's|@INCLUDEDIR@|$(includedir)|' \
	    -e 's|@VERSION@|$(VERSION)|' $< > $@

# The package is found beside the libraries, so that it can be moved with them.
$(CMAKE:%=$(CONFIG)/%): $(CONFIG)/%: mk/%.in VERSION mk/install.mk $(CONFIG)/prefix
	sed -e 's|@VERSION@|$(VERSION)|' -e "s|@INCLUDE_FROM_CMAKE@|$$(realpath -ms --relative-to=$(libdir)/cmake/cute $(includedir))|" $< > $@

# Rewritten when an installation folder changes.
PREFIX_NOW := $(PREFIX) $(libdir) $(includedir)
.PHONY: force
$(CONFIG)/prefix: force
	@mkdir -p $(@D); echo '$(PREFIX_NOW)' | cmp -s - $@ || echo '$(PREFIX_NOW)' > $@

.PHONY: install install-strip uninstall
install-strip: STRIP := -s
install-strip: install
install: all $(LIBRARIES:%=$(CONFIG)/%.pc) $(CMAKE:%=$(CONFIG)/%)
	$(INSTALL) -d $(DESTDIR)$(bindir) $(DESTDIR)$(libdir)/pkgconfig $(DESTDIR)$(libdir)/cmake/cute $(DESTDIR)$(includedir)/cute \
	    $(DESTDIR)$(completiondir) $(DESTDIR)$(zshdir) $(DESTDIR)$(datadir)/plugin $(DESTDIR)$(datadir)/examples $(addprefix $(DESTDIR),$(sort $(dir $(foreach m,$(MAN),$(call man_path,$(m))))))
	$(if $(strip $(TOOLS)),$(INSTALL) $(STRIP) -m 755 $(TOOLS) $(DESTDIR)$(bindir))
	$(INSTALL) -m 644 $(BUILD)/libcute.a $(DESTDIR)$(libdir)
	$(foreach l,$(LIBRARIES),$(INSTALL) $(STRIP) -m 755 $(BUILD)/lib$(l).so $(DESTDIR)$(libdir)/lib$(l).so.$(VERSION) && \
	    ln -sf lib$(l).so.$(VERSION) $(DESTDIR)$(libdir)/lib$(l).so.$(MAJOR) && \
	    ln -sf lib$(l).so.$(MAJOR) $(DESTDIR)$(libdir)/lib$(l).so &&) true
	$(INSTALL) -m 644 $(HEADERS) $(DESTDIR)$(includedir)/cute
	$(INSTALL) -m 644 $(LIBRARIES:%=$(CONFIG)/%.pc) $(DESTDIR)$(libdir)/pkgconfig
	$(INSTALL) -m 644 $(CMAKE:%=$(CONFIG)/%) $(DESTDIR)$(libdir)/cmake/cute
	$(foreach m,$(MAN),$(INSTALL) -m 644 $(m) $(DESTDIR)$(call man_path,$(m)) &&) true
	$(foreach s,$(SCHEMA),$(INSTALL) -m 644 $(s) $(DESTDIR)$(datadir) &&) true
	$(INSTALL) -m 755 $(SCRIPTS) $(DESTDIR)$(bindir)
	$(INSTALL) -m 644 $(EXAMPLE) $(DESTDIR)$(datadir)/plugin
	$(INSTALL) -m 644 $(EXAMPLES) $(DESTDIR)$(datadir)/examples
	$(INSTALL) -m 644 mk/completion.zsh $(DESTDIR)$(zshdir)/_cute
	$(INSTALL) -m 644 mk/completion.bash $(DESTDIR)$(completiondir)/cute-opt
	$(foreach t,$(filter-out cute-opt,$(notdir $(TOOLS))),ln -sf cute-opt $(DESTDIR)$(completiondir)/$(t) &&) true

# The Python package with programs and libraries, for machines with the glibc of its name. WHEEL_LEVEL: compression, 0 to 9.
WHEEL_LEVEL ?= 6
.PHONY: wheel
wheel: all
	@scripts/wheel $(BUILD) $(BUILD)/dist $(WHEEL_LEVEL)

# A Debian package. DEB_COMPRESSION: xz, or none, which is fast.
.PHONY: deb
deb: all
	@scripts/deb $(BUILD) $(BUILD)/dist

uninstall:
	rm -f $(foreach t,$(notdir $(TOOLS)),$(DESTDIR)$(bindir)/$(t) $(DESTDIR)$(completiondir)/$(t)) \
	    $(DESTDIR)$(completiondir)/cute-opt $(DESTDIR)$(zshdir)/_cute $(DESTDIR)$(libdir)/libcute.a \
	    $(foreach l,$(LIBRARIES),$(DESTDIR)$(libdir)/lib$(l).so* $(DESTDIR)$(libdir)/pkgconfig/$(l).pc) \
	    $(CMAKE:%=$(DESTDIR)$(libdir)/cmake/cute/%) $(foreach h,$(HEADERS),$(DESTDIR)$(includedir)/cute/$(notdir $(h))) \
	    $(foreach m,$(MAN),$(DESTDIR)$(call man_path,$(m))) \
	    $(foreach s,$(SCHEMA),$(DESTDIR)$(datadir)/$(notdir $(s))) \
	    $(foreach s,$(SCRIPTS),$(DESTDIR)$(bindir)/$(notdir $(s))) $(foreach e,$(EXAMPLE),$(DESTDIR)$(datadir)/plugin/$(notdir $(e))) \
	    $(foreach e,$(EXAMPLES),$(DESTDIR)$(datadir)/examples/$(notdir $(e)))
	-rmdir $(DESTDIR)$(includedir)/cute $(DESTDIR)$(datadir)/plugin $(DESTDIR)$(datadir)/examples $(DESTDIR)$(datadir) $(DESTDIR)$(libdir)/cmake/cute 2>/dev/null || true
