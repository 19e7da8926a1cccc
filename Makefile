# go2heapsnapshot. `make` builds it; for `make demo` and `make check` see README.md. Everything that is built goes to build/.
# CROSS_COMPILE=aarch64-linux-gnu- builds for another machine, as in the kernel: the prefix of the compiler and of the binutils.
ifneq ($(CROSS_COMPILE),)
CC       := $(CROSS_COMPILE)gcc
CXX      := $(CROSS_COMPILE)g++
AR       := $(CROSS_COMPILE)ar
LD       := $(CROSS_COMPILE)ld
endif
CC       ?= cc
CXX      ?= g++
OBJCOPY  ?= $(CROSS_COMPILE)objcopy
STRIP    ?= $(CROSS_COMPILE)strip
# What users build has no asserts; tests give flags of their own, and so have them (src/base/contract.h).
CFLAGS   ?= -O3 -g -DNDEBUG
CXXFLAGS ?= -O3 -g
PREFIX   ?= /usr/local
BINDIR   ?= $(PREFIX)/bin
LIBDIR   ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
DATADIR  ?= $(PREFIX)/share
MANDIR   ?= $(DATADIR)/man
BUILD    ?= build
WERROR   ?=
# Recipes say in short what they make; V=1 prints whole commands, -s nothing.
V        ?=
IS_QUIET := $(findstring s,$(firstword -$(MAKEFLAGS)))
say       = $(if $(V),,@$(if $(IS_QUIET),,printf '  %-4s %s\n' $(1) $@;))
# If this is empty, the program is built without SQLite, and without the formats that SQLite writes.
WITH_SQLITE ?= yes
# Whether dumps, cores and executables that zstd, xz or lz4 packed are read, and whether libdeflate uncompresses DWARF; by default, if
# the library is there.
HASH := \#
INCLUDABLE := $(shell for header in zstd lzma lz4frame libdeflate TargetConditionals; do \
    printf '$(HASH)if __has_include(<%s.h>)\nhas_%s\n$(HASH)endif\n' $$header $$header; done | $(CC) $(CPPFLAGS) -x c -E -P - 2>/dev/null)
can_include = $(if $(filter has_$(1:.h=),$(INCLUDABLE)),yes)
WITH_ZSTD ?= $(call can_include,zstd.h)
WITH_LZMA ?= $(call can_include,lzma.h)
WITH_LZ4  ?= $(call can_include,lz4frame.h)
WITH_DEFLATE ?= $(call can_include,libdeflate.h)
WITH_ZSTD := $(WITH_ZSTD)
WITH_LZMA := $(WITH_LZMA)
WITH_LZ4  := $(WITH_LZ4)
WITH_DEFLATE := $(WITH_DEFLATE)

VERSION  := $(shell sed -n 's/.*G2H_VERSION "\(.*\)"/\1/p' include/go2heapsnapshot/version.h)
SOVERSION := 0

# The shared library: its name, the one that programs look for, the one that the linker looks for, and how it is linked. What it
# exports on macOS is what -fvisibility=hidden leaves visible.
ifeq ($(call can_include,TargetConditionals.h),yes)
MACOS         := yes
SHARED_NAME   := libgo2heapsnapshot.$(VERSION).dylib
SHARED_SONAME := libgo2heapsnapshot.$(SOVERSION).dylib
SHARED_LINK   := libgo2heapsnapshot.dylib
LINK_SHARED    = -dynamiclib -install_name $(LIBDIR)/$(SHARED_SONAME)
else
SHARED_NAME   := libgo2heapsnapshot.so.$(VERSION)
SHARED_SONAME := libgo2heapsnapshot.so.$(SOVERSION)
SHARED_LINK   := libgo2heapsnapshot.so
LINK_SHARED    = -shared -Wl,-soname,$(SHARED_SONAME) -Wl,--version-script=$(SYMBOLS)
endif

# The errors are errors with gcc 14 and clang 16 anyway; what an older compiler takes would fail there. Constants are enumerators, which
# clang 19 does not like to see beside floating-point numbers.
WARNINGS := -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes $(if $(WERROR),-Werror) \
            -Werror=implicit-function-declaration -Werror=int-conversion -Werror=incompatible-pointer-types -Wno-enum-float-conversion
ALL_CPPFLAGS = -Iinclude -Isrc -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 $(foreach with,SQLITE ZSTD LZMA LZ4 DEFLATE,$(if $(WITH_$(with)),-DWITH_$(with))) $(CPPFLAGS)
ALL_CFLAGS = -std=c17 $(WARNINGS) -fPIC -fvisibility=hidden -pthread $(CFLAGS)
LIBS     := -lz $(if $(WITH_SQLITE),-lsqlite3) $(if $(WITH_ZSTD),-lzstd) $(if $(WITH_LZMA),-llzma) $(if $(WITH_LZ4),-llz4) $(if $(WITH_DEFLATE),-ldeflate) -lm -pthread

MODULES  := base input dump heap types exe/image exe/dwarf exe/go exe process/attach process typing naming roots graph dominators view identity findings output output/heapsnapshot output/hprof output/report output/pprof output/sqlite output/html library inspect mcp
OF_SQLITE := src/output/database.c src/output/sqlite/%
LIB_SRC  := $(filter-out $(if $(WITH_SQLITE),,$(OF_SQLITE)),$(foreach module,$(filter-out inspect mcp,$(MODULES)),$(wildcard src/$(module)/*.c)))
CLI_SRC  := src/main.c $(wildcard src/cli/*.c)
# Modules of the program: programs that use the library cannot reach them.
INSPECT_SRC := $(wildcard src/inspect/*.c src/mcp/*.c)
PAGE     := $(BUILD)/src/output/html/sources
LIB_OBJ  := $(LIB_SRC:%.c=$(BUILD)/%.o) $(PAGE).o
CLI_OBJ  := $(CLI_SRC:%.c=$(BUILD)/%.o)
INSPECT_OBJ := $(INSPECT_SRC:%.c=$(BUILD)/%.o)

PROGRAM  := $(BUILD)/go2heapsnapshot
INTERNAL := $(BUILD)/internal.a
STATIC   := $(BUILD)/libgo2heapsnapshot.a
SHARED   := $(BUILD)/$(SHARED_NAME)
HEAPQUERY := $(if $(WITH_SQLITE),$(BUILD)/heapquery)
HEAPQUERY_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tools/heapquery/*.c))
SAMPLES  := $(patsubst %,$(BUILD)/%,$(basename $(wildcard samples/*.c samples/*.cc)))

.PHONY: all objects libs samples web demo check check-ci check-all bench fuzz zoo install uninstall dist deb clean
all: $(PROGRAM) $(HEAPQUERY) $(STATIC) $(SHARED)
	@$(if $(IS_QUIET),:,echo 'Built: $^')
objects: $(CLI_OBJ) $(INSPECT_OBJ) $(LIB_OBJ) $(if $(HEAPQUERY),$(HEAPQUERY_OBJ))

$(PROGRAM): $(CLI_OBJ) $(INTERNAL)
	$(call say,LD)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

# heapquery reads any V8 heap snapshot into the tables of --format sqlite: docs/sqlite.md.
$(BUILD)/heapquery: $(HEAPQUERY_OBJ) $(BUILD)/src/cli/target.o $(INTERNAL)
	$(call say,LD)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

# This library has all symbols of the modules, for the program and the tests.
$(INTERNAL): $(LIB_OBJ) $(INSPECT_OBJ)
	@rm -f $@
	$(call say,AR)$(AR) rcs $@ $^

# The static library has only the symbols of the public headers: it is one object, in which all other symbols are local. Apple's
# linker makes hidden symbols local by itself when it makes one object of several, unless it is given -keep_private_externs.
$(STATIC): $(LIB_OBJ)
	@rm -f $@
	$(if $(V),,@)$(LD) -r -o $(BUILD)/libgo2heapsnapshot.o $^
	$(if $(MACOS),,$(if $(V),,@)$(OBJCOPY) --wildcard --keep-global-symbol='g2h_*' $(BUILD)/libgo2heapsnapshot.o)
	$(call say,AR)$(AR) rcs $@ $(BUILD)/libgo2heapsnapshot.o

SYMBOLS  := src/library/symbols.map
$(SHARED): $(LIB_OBJ) $(SYMBOLS)
	$(call say,LD)$(CC) $(ALL_CFLAGS) $(LDFLAGS) $(LINK_SHARED) -o $@ $(LIB_OBJ) $(LIBS)

# Programs that use the library: samples/README.md.
samples:
	tools/setup samples
	$(MAKE) $(SAMPLES)

$(BUILD)/samples/%: samples/%.c $(STATIC)
	@mkdir -p $(@D)
	$(call say,CC)$(CC) -std=c17 $(WARNINGS) -Iinclude $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $< $(STATIC) $(LIBS)

$(BUILD)/samples/%: samples/%.cc $(STATIC)
	@mkdir -p $(@D)
	$(call say,CXX)$(CXX) -std=c++17 -Wall -Wextra -Iinclude $(CPPFLAGS) $(CXXFLAGS) $(LDFLAGS) -o $@ $< $(STATIC) $(LIBS)

# ---- the page that converts dumps in a browser: docs/web.md ----

# clang compiles the library for WebAssembly; wasi-libc lacks what src/web/libc/ has, and has no zlib.
WEB      := $(BUILD)/web
WEB_CC   ?= clang
ZLIB_SOURCE ?= $(shell tools/setup sources)/zlib
WEB_SRC  := $(filter-out $(OF_SQLITE),$(LIB_SRC)) $(wildcard src/web/*.c) src/cli/messages.c $(PAGE).c
WEB_ZLIB := $(patsubst %,$(WEB)/zlib/%.o,adler32 crc32 deflate gzclose gzlib gzread gzwrite inffast inflate inftrees trees zutil)
WEB_OBJ  := $(patsubst %.c,$(WEB)/%.o,$(WEB_SRC:$(BUILD)/%=%)) $(WEB_ZLIB)
WEB_FLAGS = --target=wasm32-wasi -O2 -DNDEBUG
WEB_CPPFLAGS = -Iinclude -Isrc -I$(ZLIB_SOURCE) -isystem src/web/libc -isystem /usr/include/wasm32-wasi -D_GNU_SOURCE -DHAVE_UNISTD_H=1 \
    $(patsubst %,-D_WASI_EMULATED_%,MMAN SIGNAL PROCESS_CLOCKS GETPID)
WEB_LIBS := $(patsubst %,-lwasi-emulated-%,mman signal process-clocks getpid) -lm
WEB_PARTS := $(patsubst %,src/web/%,page.html page.css page.js wasi.js worker.js)

web:
	tools/setup web
	$(MAKE) $(WEB)/go2heapsnapshot.html

$(WEB)/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC)$(WEB_CC) $(WEB_FLAGS) -std=c17 $(WARNINGS) $(WEB_CPPFLAGS) -MMD -MP -c -o $@ $<

$(WEB)/%.o: $(BUILD)/%.c
	@mkdir -p $(@D)
	$(call say,CC)$(WEB_CC) $(WEB_FLAGS) -std=c17 $(WEB_CPPFLAGS) -c -o $@ $<

$(WEB)/zlib/%.o: $(ZLIB_SOURCE)/%.c
	@mkdir -p $(@D)
	$(call say,CC)$(WEB_CC) $(WEB_FLAGS) -isystem /usr/include/wasm32-wasi -DHAVE_UNISTD_H=1 -w -c -o $@ $<

# A stack that grows too far ends in an error, not in data.
$(WEB)/go2heapsnapshot.wasm: $(WEB_OBJ)
	$(call say,LD)$(WEB_CC) $(WEB_FLAGS) -mexec-model=reactor -o $@ $^ $(WEB_LIBS) \
	    -Wl,-z,stack-size=8388608,--stack-first,--max-memory=4294967296,--strip-all

$(WEB)/go2heapsnapshot.html: $(WEB)/go2heapsnapshot.wasm $(WEB_PARTS) tools/web-page
	$(call say,GEN)tools/web-page $< src/web src/output/html/page.html $@

-include $(WEB_OBJ:.o=.d)

# Prints what a program must be linked with besides the static library.
libs:
	@echo '$(LIBS)'

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# The sources of the page that --format html writes, as bytes in C.
$(PAGE).c: $(patsubst %,src/output/html/page.%,html css js) Makefile
	@mkdir -p $(@D)
	$(call say,GEN){ echo '$(HASH)include "output/html/data.h"' && set page style script && for file in $(filter src/%,$^); do \
	    echo "const unsigned char html_$$1[] = {" && od -An -v -tx1 $$file | sed 's/[0-9a-f][0-9a-f]/0x&,/g' && \
	    echo "};" && echo "const size_t html_$$1_size = sizeof(html_$$1);" && shift || exit; done; } > $@.new
	@mv $@.new $@

$(PAGE).o: $(PAGE).c
	$(call say,CC)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# These depend on what is built in, so they are compiled anew when that changes.
WITH := $(BUILD)/with-$(WITH_SQLITE)-$(WITH_ZSTD)-$(WITH_LZMA)-$(WITH_LZ4)-$(WITH_DEFLATE)
$(WITH):
	@mkdir -p $(@D)
	@rm -f $(BUILD)/with-*
	@touch $@

# What libs prints, for scripts that make other targets with it.
$(BUILD)/libs: $(WITH) Makefile
	@echo '$(LIBS)' >$@

$(BUILD)/src/output/formats.o $(BUILD)/src/input/unpack.o $(BUILD)/src/exe/image/image.o: $(WITH)

-include $(LIB_OBJ:.o=.d) $(INSPECT_OBJ:.o=.d) $(CLI_OBJ:.o=.d) $(HEAPQUERY_OBJ:.o=.d) $(wildcard $(BUILD)/tests/*/*.d)

# ---- the two commands of the README ----

DEMO := $(BUILD)/demo
CONVERT = $(PROGRAM) --exe samples/leakserver.exe.gz
demo:
	tools/setup demo
	$(MAKE) $(PROGRAM)
	@mkdir -p $(DEMO)
	@$(CONVERT) --base samples/leakserver.1.dump.gz -o $(DEMO)/leak.txt samples/leakserver.2.dump.gz 2>$(DEMO)/log || { cat $(DEMO)/log; false; }
	@sed '/^GOROUTINES/,$$d' $(DEMO)/leak.txt
	@$(CONVERT) --base samples/leakserver.1.dump.gz -o $(DEMO)/leak.html samples/leakserver.2.dump.gz 2>$(DEMO)/log || { cat $(DEMO)/log; false; }
	@$(CONVERT) -o $(DEMO)/leak.1.heapsnapshot samples/leakserver.1.dump.gz 2>$(DEMO)/log || { cat $(DEMO)/log; false; }
	@$(CONVERT) -o $(DEMO)/leak.2.heapsnapshot samples/leakserver.2.dump.gz 2>$(DEMO)/log || { cat $(DEMO)/log; false; }
	@printf '%s\n' 'The report goes on in $(DEMO)/leak.txt. Open the same as a page, in a browser:' \
	    '  $(CURDIR)/$(DEMO)/leak.html' \
	    'Or both snapshots in Chrome, the first one first: F12, Memory, "Load profile". Then choose "Comparison"' \
	    'instead of "Summary", sort by "# Delta", open main.Session and select one: "Retainers" says what keeps it.' \
	    '  $(CURDIR)/$(DEMO)/leak.1.heapsnapshot' '  $(CURDIR)/$(DEMO)/leak.2.heapsnapshot' \
	    'samples/README.md walks on from there to the three leaks.'

# What a change must not break, in some minutes, with few packages: no Go, no browser.
check:
	tools/setup check
	tests/run

# What CI runs besides: other sanitizers, Go programs, live processes, DevTools in Chromium.
check-ci:
	tools/setup check-ci
	tests/run --tier ci

# All of these, with every release of Go that Debian has, with whole heaps, on other hosts, for hours. CONTINUE=1 resumes it.
check-all:
	tools/setup check-all
	SHARE=1 FUZZ_MINUTES=10 tests/run --tier all

# Fuzzes for MINUTES in total, which TARGETS share: see tests/fuzz/run.sh.
fuzz:
	tools/setup check-ci
	tests/fuzz/run.sh $(BUILD)/fuzz samples/dumps --long $${MINUTES:-10}

# Judges programs that are made from seeds for MINUTES: see tests/zoo/run.sh.
zoo:
	tools/setup check-ci
	$(MAKE) $(PROGRAM)
	MINUTES=$${MINUTES:-10} RATES=$(CURDIR)/$(BUILD)/zoo.tsv tests/zoo/run.sh

bench:
	tools/setup bench
	$(MAKE) $(PROGRAM)
	tools/bench/run
	tools/bench/process
	tools/bench/standstill

# ---- installing ----

# What has been built is installed as it is: nothing is written to build/ then, so root may install what a user has built. A
# packager builds and installs with the same PREFIX, LIBDIR and so on; DESTDIR is where the tree is put together.
DEST := $(DESTDIR)
define PKGCONFIG
prefix=$(PREFIX)
includedir=$(INCLUDEDIR)
libdir=$(LIBDIR)

Name: go2heapsnapshot
Description: Go heap dumps as V8 heap snapshots
Version: $(VERSION)
Requires.private: zlib$(if $(WITH_SQLITE), sqlite3)$(if $(WITH_ZSTD), libzstd)$(if $(WITH_LZMA), liblzma)$(if $(WITH_LZ4), liblz4)
Libs: -L$${libdir} -lgo2heapsnapshot
Libs.private: -lm -pthread$(if $(WITH_DEFLATE), -ldeflate)
Cflags: -I$${includedir}
endef

export PKGCONFIG

INSTALL_PROGRAM := install -m 755
INSTALL_DATA := install -m 644
install: all
	mkdir -p $(DEST)$(BINDIR) $(DEST)$(LIBDIR)/pkgconfig $(DEST)$(INCLUDEDIR)/go2heapsnapshot $(DEST)$(MANDIR)/man1 \
	    $(DEST)$(DATADIR)/bash-completion/completions $(DEST)$(DATADIR)/zsh/site-functions \
	    $(DEST)$(DATADIR)/fish/vendor_completions.d
	$(INSTALL_PROGRAM) $(PROGRAM) $(HEAPQUERY) $(DEST)$(BINDIR)
	$(INSTALL_DATA) $(STATIC) $(DEST)$(LIBDIR)
	$(INSTALL_PROGRAM) $(SHARED) $(DEST)$(LIBDIR)
	ln -sf $(SHARED_NAME) $(DEST)$(LIBDIR)/$(SHARED_SONAME)
	ln -sf $(SHARED_SONAME) $(DEST)$(LIBDIR)/$(SHARED_LINK)
	$(INSTALL_DATA) include/go2heapsnapshot/*.h $(DEST)$(INCLUDEDIR)/go2heapsnapshot
	printf '%s\n' "$$PKGCONFIG" > $(DEST)$(LIBDIR)/pkgconfig/go2heapsnapshot.pc
	$(INSTALL_DATA) docs/go2heapsnapshot.1 $(if $(HEAPQUERY),docs/heapquery.1) $(DEST)$(MANDIR)/man1
	$(INSTALL_DATA) tools/completions/go2heapsnapshot.bash $(DEST)$(DATADIR)/bash-completion/completions/go2heapsnapshot
	$(INSTALL_DATA) tools/completions/_go2heapsnapshot $(DEST)$(DATADIR)/zsh/site-functions
	$(INSTALL_DATA) tools/completions/go2heapsnapshot.fish $(DEST)$(DATADIR)/fish/vendor_completions.d

# Removes what install puts there, with the same variables.
uninstall:
	rm -f $(addprefix $(DEST)$(BINDIR)/,go2heapsnapshot heapquery) $(addprefix $(DEST)$(MANDIR)/man1/,go2heapsnapshot.1 heapquery.1) \
	    $(addprefix $(DEST)$(LIBDIR)/,libgo2heapsnapshot.a $(SHARED_LINK) $(SHARED_SONAME) $(SHARED_NAME) \
	    pkgconfig/go2heapsnapshot.pc) \
	    $(addprefix $(DEST)$(DATADIR)/,bash-completion/completions/go2heapsnapshot zsh/site-functions/_go2heapsnapshot \
	    fish/vendor_completions.d/go2heapsnapshot.fish)
	rm -rf $(DEST)$(INCLUDEDIR)/go2heapsnapshot

# ---- releases: docs/releases.md ----

# Static programs for Linux, the sources, checksums and a bill of materials, below build/dist.
dist:
	tools/setup dist
	tools/dist $(BUILD)/dist

# Debian packages, below build/deb.
deb:
	tools/setup deb
	tools/deb $(BUILD)/deb

clean:
	rm -rf $(BUILD)
