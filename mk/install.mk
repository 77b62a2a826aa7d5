# make install: programs, library, headers, pkg-config file, man pages, completion for bash.
# make install-strip: the same with programs that have no symbols, a third of the size.
bindir       ?= $(PREFIX)/bin
libdir       ?= $(PREFIX)/lib
includedir   ?= $(PREFIX)/include
mandir       ?= $(PREFIX)/share/man
datadir      ?= $(PREFIX)/share/cute
completiondir ?= $(PREFIX)/share/bash-completion/completions
INSTALL      ?= install

MAJOR     := $(firstword $(subst ., ,$(VERSION)))
SONAME    := libcute.so.$(MAJOR)
HEADERS   := $(wildcard include/cute/*.h include/cute/*.def)
MAN       := $(wildcard docs/man/*.[1-9])
SCHEMA    := $(wildcard lib/*/*.schema.json)
man_path   = $(mandir)/man$(subst .,,$(suffix $(1)))/$(notdir $(1))

$(BUILD)/cute.pc: mk/cute.pc.in VERSION mk/install.mk $(BUILD)/prefix
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(libdir)|' -e 's|@INCLUDEDIR@|$(includedir)|' \
	    -e 's|@VERSION@|$(VERSION)|' $< > $@

# Changes when the folders do.
PREFIX_NOW := $(PREFIX) $(libdir) $(includedir)
.PHONY: force
$(BUILD)/prefix: force
	@mkdir -p $(@D); echo '$(PREFIX_NOW)' | cmp -s - $@ || echo '$(PREFIX_NOW)' > $@

.PHONY: install install-strip uninstall
install-strip: STRIP := -s
install-strip: install
install: all $(BUILD)/cute.pc
	$(INSTALL) -d $(DESTDIR)$(bindir) $(DESTDIR)$(libdir)/pkgconfig $(DESTDIR)$(includedir)/cute \
	    $(DESTDIR)$(completiondir) $(DESTDIR)$(datadir) $(addprefix $(DESTDIR),$(sort $(dir $(foreach m,$(MAN),$(call man_path,$(m))))))
	$(if $(strip $(TOOLS)),$(INSTALL) $(STRIP) -m 755 $(TOOLS) $(DESTDIR)$(bindir))
	$(INSTALL) -m 644 $(BUILD)/libcute.a $(DESTDIR)$(libdir)
	$(INSTALL) $(STRIP) -m 755 $(BUILD)/libcute.so $(DESTDIR)$(libdir)/libcute.so.$(VERSION)
	ln -sf libcute.so.$(VERSION) $(DESTDIR)$(libdir)/$(SONAME)
	ln -sf $(SONAME) $(DESTDIR)$(libdir)/libcute.so
	$(INSTALL) -m 644 $(HEADERS) $(DESTDIR)$(includedir)/cute
	$(INSTALL) -m 644 $(BUILD)/cute.pc $(DESTDIR)$(libdir)/pkgconfig
	$(foreach m,$(MAN),$(INSTALL) -m 644 $(m) $(DESTDIR)$(call man_path,$(m)) &&) true
	$(foreach s,$(SCHEMA),$(INSTALL) -m 644 $(s) $(DESTDIR)$(datadir) &&) true
	$(INSTALL) -m 644 mk/completion.bash $(DESTDIR)$(completiondir)/cute-opt
	$(foreach t,$(filter-out cute-opt,$(notdir $(TOOLS))),ln -sf cute-opt $(DESTDIR)$(completiondir)/$(t) &&) true

uninstall:
	rm -f $(foreach t,$(notdir $(TOOLS)),$(DESTDIR)$(bindir)/$(t) $(DESTDIR)$(completiondir)/$(t)) \
	    $(DESTDIR)$(completiondir)/cute-opt $(DESTDIR)$(libdir)/libcute.a $(DESTDIR)$(libdir)/libcute.so* \
	    $(foreach h,$(HEADERS),$(DESTDIR)$(includedir)/cute/$(notdir $(h))) $(DESTDIR)$(libdir)/pkgconfig/cute.pc \
	    $(foreach m,$(MAN),$(DESTDIR)$(call man_path,$(m))) \
	    $(foreach s,$(SCHEMA),$(DESTDIR)$(datadir)/$(notdir $(s)))
	-rmdir $(DESTDIR)$(includedir)/cute $(DESTDIR)$(datadir) 2>/dev/null || true
