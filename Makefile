# elastobench: build, test, measure, install. `make help` lists the targets.
#
# Options: ASAN=1 UBSAN=1 TSAN=1 DEBUG=1 COVERAGE=1 (each its own build folder), ARCH=native, CC=clang BUILD=build-clang,
# WERROR=-Werror, NO_INSTALL=1 (deps only checks), PREFIX=/usr/local.

# ---- what to build with -------------------------------------------------------------------------
CC      ?= cc
PREFIX  ?= /usr/local
WERROR  ?=
VERSION := 0.1.0

# ---- variants: each sanitizer has a build folder of its own -----------------------------------------
VARIANT :=
SANITIZE :=
ifeq ($(ASAN),1)
  VARIANT := $(VARIANT)-asan
  SANITIZE += -fsanitize=address -fno-omit-frame-pointer
endif
ifeq ($(UBSAN),1)
  VARIANT := $(VARIANT)-ubsan
  SANITIZE += -fsanitize=undefined -fno-sanitize-recover=undefined
endif
ifeq ($(TSAN),1)
  VARIANT := $(VARIANT)-tsan
  SANITIZE += -fsanitize=thread
  CC := clang
endif
ifeq ($(COVERAGE),1)
  VARIANT := $(VARIANT)-coverage
  SANITIZE += --coverage
endif
ifeq ($(FUZZ),1)
  VARIANT := $(VARIANT)-fuzz
  SANITIZE += -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined
  CC := clang
endif
# Invariants (problems/base/assert.h) are checked with a sanitizer, and for debugging.
ifneq ($(DEBUG)$(SANITIZE),)
  CHECKED := -DEB_DEBUG=1
endif
ifeq ($(DEBUG),1)
  VARIANT := $(VARIANT)-debug
endif
# What the compiler builds for: on x86-64 processors with AVX2, elsewhere what the compiler takes by itself.
BASELINE     := $(if $(filter x86_64%,$(shell $(CC) -dumpmachine 2>/dev/null)),x86-64)
DEFAULT_ARCH := $(addsuffix -v3,$(BASELINE))
ARCH         ?= $(DEFAULT_ARCH)
MARCH        := $(addprefix -march=,$(ARCH))
ifneq ($(ARCH),$(DEFAULT_ARCH))
  VARIANT := $(VARIANT)-$(ARCH)
endif
BUILD := build$(VARIANT)
OPT := $(if $(SANITIZE),-O1 -g,$(if $(CHECKED),-O1 -g3,-O3 -g))

# ---- packages -----------------------------------------------------------------------------------
# What is needed, as Debian's PACKAGE=PROGRAM, or PACKAGE=NAMES:HEADER:LIBRARY with the names that pkg-config may know the
# library by, the most fitting first. What pkg-config does not know is looked for where compilers look (CPATH, LIBRARY_PATH).
PROGRAMS  := build-essential=cc pkg-config=pkg-config perl=perl gnuplot-nox=gnuplot
LIBRARIES := libhdf5-openmpi-dev=hdf5-openmpi/hdf5-mpich/hdf5:hdf5.h:hdf5 libopenmpi-dev=ompi-c/mpich/mpi-c:mpi.h:mpi \
             libopenblas-openmp-dev=openblas/openblaso:cblas.h:openblas \
             libjansson-dev=jansson:jansson.h:jansson libpng-dev=libpng/libpng16:png.h:png libgif-dev=libgif/libgif7:gif_lib.h:gif libxxhash-dev=libxxhash:xxhash.h:xxhash \
             libsuitesparse-dev=CHOLMOD:cholmod.h:cholmod libmetis-dev=metis:metis.h:metis
# PETSc and SLEPc are linked with what is built on them alone (solvers/petsc/loader.c).
ON_PETSC_LIBRARIES := libpetsc-real-dev=petsc/PETSc:petsc.h:petsc libslepc-real-dev=slepc/SLEPc:slepc.h:slepc
PACKAGES := $(PROGRAMS) $(LIBRARIES) $(ON_PETSC_LIBRARIES)
# What tests need beyond that: exact integers for references.
TEST_PACKAGES := libgmp-dev=gmp:gmp.h:gmp
comma := ,
# Where SuiteSparse's headers are a folder deeper than compilers look.
SUITESPARSE := $(firstword $(wildcard $(addsuffix /suitesparse,$(subst :, ,$(CPATH) $(C_INCLUDE_PATH)) /usr/local/include /usr/include)))
# $(call flags,--cflags or --libs,libraries): what pkg-config says of the first name that it knows; else -lLIBRARY.
flags = $(shell sh ./deps.sh $(1) $(2))
# Recursive on purpose: evaluated when something is compiled, after `deps` has run; and then kept.
once = $(eval $(1) := $(2))$(2)
PKG_CFLAGS = $(call once,PKG_CFLAGS,$(patsubst -I%,-isystem %,$(call flags,--cflags,$(ON_PETSC_LIBRARIES) $(LIBRARIES))) $(addprefix -isystem ,$(SUITESPARSE)))
PETSC_LIBS = $(call once,PETSC_LIBS,$(call flags,--libs,$(ON_PETSC_LIBRARIES)))
# HDF5 goes in whole where its archive is there: the shared one loads libcurl and with it thirty libraries of
# networks, half of the time that the program takes to start. Shared libraries cannot take it in. What other archives than
# the system's need, and whether they can go into a program like this one, is not known.
PKG_LIBS_SHARED = $(call once,PKG_LIBS_SHARED,$(call flags,--libs,$(LIBRARIES)) -lz -ldl -lm)
HDF5_ARCHIVE    = $(wildcard $(patsubst -L%,%/libhdf5.a,$(filter -L/usr/lib/%,$(PKG_LIBS_SHARED))))
HDF5_LIBS       = $(if $(HDF5_ARCHIVE),-l:libhdf5.a -lsz -Wl$(comma)--exclude-libs$(comma)libhdf5.a,-lhdf5)
PKG_LIBS        = $(patsubst -lhdf5,$(HDF5_LIBS),$(PKG_LIBS_SHARED))

# ---- flags ----------------------------------------------------------------------------------------
# Without AVX compilers note that vectors are passed in another way (psabi); all callers are compiled alike.
WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
            -Wpointer-arith -Wwrite-strings -Wundef -Wvla -Wno-unknown-pragmas -Wno-unknown-warning-option -Wno-format-truncation -Wno-psabi $(WERROR)
# Multiply-adds are contracted for speed, except where geometry must come out alike on every machine.
CONTRACT  = $(if $(filter problems/mesh/% problems/collision/% problems/contact/%penalty.c problems/scene% harness/audit/exact%,$<),-ffp-contract=off,-ffp-contract=fast)
CFLAGS   ?=
ALL_CFLAGS = -std=c17 -D_GNU_SOURCE $(OPT) $(MARCH) -fopenmp -fPIC -fno-math-errno \
             -fno-trapping-math -fvisibility=hidden $(CONTRACT) $(WARNINGS) -I. $(PKG_CFLAGS) $(SANITIZE) $(CHECKED) $(CFLAGS)
# Linking two hundred test programs takes mold a tenth of the time, gold a third; without them, or with a compiler that does not
# know them, the default linker does.
LINKER := $(firstword $(foreach l,mold gold,$(shell $(CC) -fuse-ld=$(l) -Wl,--version >/dev/null 2>&1 && echo -fuse-ld=$(l))))
ALL_LDFLAGS = -fopenmp -rdynamic $(LINKER) $(SANITIZE) $(LDFLAGS)

# ---- sources: found by room, so that a new file needs no line here -----------------------------------
LIB_SRC   := $(sort $(wildcard problems/*.c problems/*/*.c problems/*/*/*.c solvers/*.c solvers/*/*.c))
# Prints the tables of the scenes that the catalogue has as files.
SCENE_TOOL_SRC := problems/scenes/data/scene_tables.c
# What calls PETSc is in an object of its own.
PETSC_SRC := $(sort $(shell grep -l '^#include "solvers/petsc/session.h"' $(LIB_SRC)))
LIB_SRC   := $(filter-out $(PETSC_SRC) $(SCENE_TOOL_SRC),$(LIB_SRC))
TOOL_SRC  := $(sort $(filter-out harness/main.c,$(wildcard harness/*.c harness/*/*.c)))
TOOL_SRC  := $(filter-out harness/start.c harness/bench/bench_main.c harness/bench/bench_%.c,$(TOOL_SRC))
BENCH_SRC := $(sort $(wildcard harness/bench/bench_main.c harness/bench/bench_*.c))
TEST_SRC  := $(sort $(wildcard tests/*/test_*.c))
FUZZ_SRC  := $(sort $(wildcard tests/fuzz/fuzz_*.c))
SUPPORT_SRC := $(sort $(wildcard tests/support/*.c))
PLUGIN_SRC := $(sort $(wildcard tests/plugins/*.c))
SCRIPTS   := $(sort $(wildcard tests/*/*.t))

object   = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
LIB      := $(BUILD)/libelastobench.a
SHARED   := $(BUILD)/libelastobench.so
ON_PETSC := $(BUILD)/libelastobench-petsc.so
TOOLS    := $(BUILD)/libharness.a
PROGRAM  := $(BUILD)/elastobench
BENCH    := $(BUILD)/bench
TESTS    := $(patsubst tests/%.c,$(BUILD)/tests/%,$(TEST_SRC))
FUZZERS  := $(patsubst tests/fuzz/%.c,$(BUILD)/tests/fuzz/%,$(FUZZ_SRC))
PLUGINS  := $(patsubst tests/plugins/%.c,$(BUILD)/tests/plugins/%.so,$(PLUGIN_SRC))

# One line a step; V=1 shows the commands.
Q := $(if $(V),,@)

.SECONDARY:
.DEFAULT_GOAL := all
.PHONY: all help deps demo test check-tests bench install format format-check clean tests

all: $(PROGRAM) $(SHARED) $(ON_PETSC) ## build the program and the library

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 22

# ---- set-up ---------------------------------------------------------------------------------------
deps: ## install what is missing by Debian's packages (NO_INSTALL=1: only name them)
	@CC="$(CC)" CFLAGS="$(PKG_CFLAGS)" PACKAGES="$(PACKAGES)" NO_INSTALL="$(NO_INSTALL)" sh ./deps.sh

# ---- build ----------------------------------------------------------------------------------------
# Commit and flags are compiled in; the file changes only when they do.
COMMIT := $(shell git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
COMMIT_DATE := $(shell TZ=UTC0 git log -1 --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd 2>/dev/null)
# A record of what was measured is no change of what is measured.
DIRTY  := $(shell git status --porcelain -- . ':!results/history' 2>/dev/null | grep -q . && echo 1 || echo 0)
BUILD_INFO := $(BUILD)/obj/build_info.h
.PHONY: refresh
$(BUILD_INFO): refresh
	@mkdir -p $(@D)
	@printf '%s\n' '#define EB_VERSION "$(VERSION)"' '#define EB_COMMIT "$(COMMIT)"' '#define EB_COMMIT_DATE "$(COMMIT_DATE)"' \
	  '#define EB_DIRTY $(DIRTY)' '#define EB_COMPILER "$(shell $(CC) --version | head -n 1)"' \
	  '#define EB_FLAGS "$(strip $(OPT) $(MARCH) $(SANITIZE))"' > $@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@

$(call object,harness/environment.c): $(BUILD_INFO)
$(call object,harness/environment.c): ALL_CFLAGS += -I$(BUILD)/obj

# Templates, style sheets, suites, papers, skeletons and clients are compiled in, so that the installed program needs no folder of its own.
EMBEDDED := $(sort $(wildcard reports/gnuplot/*.gp reports/html/* reports/suites/*.ini \
                             reports/papers/*/*.ini reports/papers/*/*.tsv reports/laws/*.ini solvers/skeletons/*.in \
                             problems/scenes/file/*.in \
                             solvers/external/*/elastobench_client.* python/elastobench/client.py))
$(BUILD)/obj/embedded_files.c: reports/embed.pl $(EMBEDDED)
	@mkdir -p $(@D)
	@perl reports/embed.pl $(EMBEDDED) > $@
$(BUILD)/obj/embedded_files.o: $(BUILD)/obj/embedded_files.c
	$(Q)$(CC) $(ALL_CFLAGS) -c $< -o $@

$(BUILD)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(if $(V),,@echo "  CC   $<")
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c $< -o $@

# Scenes of the catalogue that are files are read when the program is built, by its own reader.
SCENE_FILES := $(sort $(wildcard problems/scenes/data/*/*.ini))
SCENE_TABLES := $(BUILD)/obj/scene_tables
$(SCENE_TABLES): $(call object,$(SCENE_TOOL_SRC) $(filter-out problems/scenes/registry.c,$(LIB_SRC)))
	$(if $(V),,@echo "  LINK $@")
	$(Q)$(CC) $(ALL_LDFLAGS) $^ -o $@ $(PKG_LIBS)
$(BUILD)/obj/scene_files.c: $(SCENE_TABLES) $(SCENE_FILES)
	$(if $(V),,@echo "  MAKE $@")
	$(Q)$(SCENE_TABLES) $(SCENE_FILES) > $@.new && mv $@.new $@
$(BUILD)/obj/scene_files.o: $(BUILD)/obj/scene_files.c
	$(Q)$(CC) $(ALL_CFLAGS) -c $< -o $@

$(LIB): $(call object,$(LIB_SRC)) $(BUILD)/obj/scene_files.o
	@rm -f $@
	$(Q)ar rcs $@ $^

$(TOOLS): $(call object,$(TOOL_SRC)) $(BUILD)/obj/embedded_files.o
	@rm -f $@
	$(Q)ar rcs $@ $^

$(SHARED): $(call object,$(LIB_SRC)) $(BUILD)/obj/scene_files.o solvers/exported.map
	$(if $(V),,@echo "  LINK $@")
	$(Q)$(CC) -shared $(ALL_LDFLAGS) -Wl,-soname,libelastobench.so.0 -Wl,--version-script=solvers/exported.map $(filter %.o,$^) -o $@ $(PKG_LIBS_SHARED)

# Its functions have the names of those in the library that load it: visible here, hidden there.
$(call object,$(PETSC_SRC)): ALL_CFLAGS += -fvisibility=default
$(ON_PETSC): $(call object,$(PETSC_SRC)) $(LIB) solvers/petsc/exported.map
	$(if $(V),,@echo "  LINK $@")
	$(Q)$(CC) -shared $(ALL_LDFLAGS) -Wl,--version-script=solvers/petsc/exported.map $(filter %.o %.a,$^) -o $@ $(PETSC_LIBS) $(PKG_LIBS_SHARED)

# Runs on the processor that the rest of the program is not for.
$(call object,harness/start.c): MARCH := $(addprefix -march=,$(BASELINE))

# The whole library goes in, so that plug-ins find every public function.
$(PROGRAM): $(call object,harness/main.c harness/start.c) $(TOOLS) $(LIB)
	$(if $(V),,@echo "  LINK $@")
	$(Q)$(CC) $(ALL_LDFLAGS) $(filter %.o,$^) $(TOOLS) -Wl,--whole-archive $(LIB) -Wl,--no-whole-archive -o $@ $(PKG_LIBS)

$(BENCH): $(call object,$(BENCH_SRC) harness/start.c) $(TOOLS) $(LIB)
	$(if $(V),,@echo "  LINK $@")
	$(Q)$(CC) $(ALL_LDFLAGS) $^ -o $@ $(PKG_LIBS)

# ---- tests ----------------------------------------------------------------------------------------
# What is built on PETSc is loaded from the program's own folder alone.
$(BUILD)/tests/%: $(BUILD)/obj/tests/%.o $(call object,$(SUPPORT_SRC)) $(TOOLS) $(LIB)
	@mkdir -p $(@D)
	@ln -sfn ../../$(notdir $(ON_PETSC)) $(@D)/$(notdir $(ON_PETSC))
	$(if $(V),,@echo "  LINK $@")
	$(Q)$(CC) $(ALL_LDFLAGS) $^ -o $@ $(PKG_LIBS)

# Exact references.
$(BUILD)/tests/collision/test_continuous: PKG_LIBS += $(call flags,--libs,$(TEST_PACKAGES))

# Siconos is a reference for one test, where it is installed (Debian: libsiconos-numerics-dev). It brings a sequential stand-in for MPI, which
# must not meet the real one: that test is linked with what it needs and nothing else.
ifneq ($(wildcard /usr/include/siconos/numerics/SiconosNumerics.h),)
# The program loads it at run time, in a scope of its own, which sanitizers do not take.
$(call object,tests/fclib/test_siconos.c $(if $(SANITIZE),,harness/fclib/siconos.c)): ALL_CFLAGS += -DEB_HAVE_SICONOS -isystem /usr/include/siconos -isystem /usr/include/siconos/numerics
$(BUILD)/tests/fclib/test_siconos: $(call object,tests/fclib/test_siconos.c tests/support/block_systems.c) $(LIB)
	@mkdir -p $(@D)
	$(if $(V),,@echo "  LINK $@")
	$(Q)$(CC) $(ALL_LDFLAGS) -Wl,--as-needed $^ -o $@ -lsiconos_numerics $(PKG_LIBS)
endif

# The readers need libxxhash alone. With FUZZ=1 libFuzzer drives them instead of our driver.
FUZZ_DRIVER := $(if $(filter 1,$(FUZZ)),,$(call object,tests/fuzz/driver.c tests/support/mesh_files.c))
FUZZED := $(call object,$(filter problems/base/% problems/mesh/% problems/notation/%,$(LIB_SRC)) \
          harness/reproduce/macros.c)
$(BUILD)/tests/fuzz/%: $(BUILD)/obj/tests/fuzz/%.o $(FUZZ_DRIVER) $(FUZZED)
	@mkdir -p $(@D)
	$(if $(V),,@echo "  LINK $@")
	$(Q)$(CC) $(ALL_LDFLAGS) $(if $(FUZZ_DRIVER),,-fsanitize=fuzzer) $^ -o $@ -lxxhash -lm

# Cheats that know what is inside a scene bring what they read it with.
$(patsubst tests/plugins/%.c,$(BUILD)/tests/plugins/%.so,$(wildcard tests/plugins/cheats*.c)): \
  INSIDE := $(call object,problems/rigid/articulation.c problems/base/memory.c)
$(PLUGINS): $(call object,problems/rigid/articulation.c problems/base/memory.c)

# Plug-ins see the headers under the names that they have once installed.
HEADER_scene    := problems/scene.h
HEADER_contacts := problems/scene_contacts.h
HEADER_material := problems/elasticity/material_ops.h
$(BUILD)/include/elastobench/%.h:
	@mkdir -p $(@D)
	@printf '#include "%s"\n' $(or $(HEADER_$*),solvers/$*.h) > $@

$(BUILD)/tests/plugins/%.so: tests/plugins/%.c $(addprefix $(BUILD)/include/elastobench/,solver.h scene.h contacts.h material.h)
	@mkdir -p $(@D)
	$(if $(V),,@echo "  LINK $@")
	$(Q)$(CC) $(ALL_CFLAGS) -I$(BUILD)/include -MMD -MP -MF $@.d -shared $< $(INSIDE) -o $@

tests: $(PROGRAM) $(ON_PETSC) $(BENCH) $(TESTS) $(FUZZERS) $(PLUGINS)

# Threads that wait sleep (see bench); LLVM's do by a variable of their own. Leaks of MPI and PETSc are not ours. Archer tells ThreadSanitizer
# what OpenMP synchronizes.
TEST_ENV := OMP_WAIT_POLICY=passive KMP_BLOCKTIME=0
ifeq ($(ASAN),1)
  TEST_ENV += LSAN_OPTIONS=suppressions=$(CURDIR)/tests/support/lsan.supp:print_suppressions=0 \
              ASAN_OPTIONS=fast_unwind_on_malloc=0
endif
ifeq ($(TSAN),1)
  TEST_ENV += OMP_TOOL_LIBRARIES=$(firstword $(wildcard /usr/lib/llvm-*/lib/libarcher.so)) \
              TSAN_OPTIONS=ignore_noninstrumented_modules=1
endif

JOBS ?= 2
check-tests: tests ## run the tests but for EXCEPT, JOBS programs at a time, without installing anything
	$(TEST_ENV) BUILD=$(BUILD) prove --timer -j$(JOBS) -e '' \
	  $(filter-out $(EXCEPT:%=$(BUILD)/tests/\%/%),$(TESTS)) $(FUZZERS) $(SCRIPTS:%=./%)

test: ## install what is missing, build, run every test
	$(MAKE) --no-print-directory deps PACKAGES="$(PACKAGES) $(TEST_PACKAGES)"
	$(MAKE) --no-print-directory check-tests

.PHONY: fuzz fuzzers check-fuzz
fuzzers: $(FUZZERS)
check-fuzz: $(FUZZERS) ## run the readers of meshes and papers under noise
	$(TEST_ENV) prove -j$(JOBS) -e '' $(FUZZERS)
fuzz: ## build the fuzz targets with libFuzzer: build-fuzz/tests/fuzz/fuzz_*
	$(MAKE) --no-print-directory FUZZ=1 fuzzers

# Threads that wait sleep instead of spinning: on shared cores a spinning thread takes the core away
# from the one it waits for. Tests and the cases of `elastobench run` do the same.
bench: $(BENCH) ## kernel benchmarks beside the machine's limits, recorded in results/history
	OMP_WAIT_POLICY=passive KMP_BLOCKTIME=0 $(BENCH) $(or $(BENCH_ARGS),$(if $(filter unknown,$(COMMIT)),,--record results/history))

demo: ## install, build, run the demo suite, write report/index.html
	$(MAKE) --no-print-directory deps
	$(MAKE) --no-print-directory all
	@mkdir -p results
	$(PROGRAM) run demo -o results/demo.h5 --resume --overwrite
	$(PROGRAM) report results/demo.h5 -o report

# ---- installation -----------------------------------------------------------------------------------
# What a plug-in may include: the four public headers and what they need.
HEADERS := problems/base/error.h problems/base/option.h problems/base/plugin_abi.h problems/mesh/mesh.h \
           problems/elasticity/material.h problems/elasticity/material_ops.h \
           problems/scene.h problems/step.h solvers/solver.h solvers/stepper.h \
           problems/collision/pair.h problems/contact/friction.h problems/contact_record.h problems/scene_contacts.h
INCLUDE = $(DESTDIR)$(PREFIX)/include/elastobench
# Where $(PYTHON) looks for packages below PREFIX, or would if it were installed there.
PYTHON     ?= python3
PYTHON_DIR  = $(or $(shell $(PYTHON) -c 'import site, sys; \
  found = [d for d in site.getsitepackages() + [site.getusersitepackages()] if d.startswith(sys.argv[1] + "/lib/")]; \
  print((found + ["%s/lib/python%d.%d/site-packages" % (sys.argv[1], *sys.version_info[:2])])[0])' '$(PREFIX)' 2>/dev/null), \
  $(PREFIX)/lib/python3/site-packages)
install: all ## install program, library, headers, elastobench.pc and Python package under PREFIX (DESTDIR for packagers)
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/pkgconfig $(INCLUDE)
	install $(PROGRAM) $(DESTDIR)$(PREFIX)/bin
	install -m 644 $(LIB) $(DESTDIR)$(PREFIX)/lib
	install $(SHARED) $(DESTDIR)$(PREFIX)/lib/libelastobench.so.0
	ln -sf libelastobench.so.0 $(DESTDIR)$(PREFIX)/lib/libelastobench.so
	install $(ON_PETSC) $(DESTDIR)$(PREFIX)/lib
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/elastobench/clients/cpp solvers/external/cpp/*.*
	install -D -m 644 python/elastobench/client.py $(DESTDIR)$(PREFIX)/share/elastobench/clients/python/elastobench_client.py
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/elastobench/examples python/examples/*.py
	install -D -m 644 -t $(DESTDIR)$(PYTHON_DIR)/elastobench python/elastobench/*.py
	for header in $(HEADERS); do install -D -m 644 $$header $(INCLUDE)/$$header || exit 1; done
	printf '#include "problems/scene.h"\n' > $(INCLUDE)/scene.h
	printf '#include "solvers/solver.h"\n' > $(INCLUDE)/solver.h
	printf '#include "problems/scene_contacts.h"\n' > $(INCLUDE)/contacts.h
	printf '#include "problems/elasticity/material_ops.h"\n' > $(INCLUDE)/material.h
	printf '%s\n' 'prefix=$(PREFIX)' 'includedir=$${prefix}/include' 'libdir=$${prefix}/lib' '' \
	  'Name: elastobench' 'Description: scenes and solvers of deformable bodies' 'Version: $(VERSION)' \
	  'Cflags: -I$${includedir} -I$${includedir}/elastobench' 'Libs: -L$${libdir} -lelastobench' \
	  > $(DESTDIR)$(PREFIX)/lib/pkgconfig/elastobench.pc

# ---- housekeeping -----------------------------------------------------------------------------------
FORMATTED = $(shell git ls-files '*.c' '*.h' 2>/dev/null)
format: ## clang-format every source
	@clang-format -i $(FORMATTED)
format-check: ## fail when a source is not formatted
	@clang-format --dry-run -Werror $(FORMATTED)

clean: ## remove every build folder
	rm -rf build build-*

-include $(shell find $(BUILD)/obj $(BUILD)/tests/plugins -name '*.d' 2>/dev/null)
