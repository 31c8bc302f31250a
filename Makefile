# What people type. `make` alone lists it. The work itself is done by cargo and `cargo xtask`.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
# One after another, but for what `$(call beside,…)` is given.
ifndef BESIDE
.NOTPARALLEL:
endif
.DELETE_ON_ERROR:

# What `make run` hands to tcplab: `make run ARGS="run interruption --world sim"`.
ARGS ?= run interruption
# `INSTALL=no`: name missing system packages, do not install them.
INSTALL ?= yes
export INSTALL

# Test tools, pinned and built once; one already on PATH is taken as it is.
TOOLS := target/tools
TARGET := $(or $(CARGO_TARGET_DIR),target)
NEXTEST := 0.9.148
DENY := 0.20.2
FUZZER := 0.13.1
MDBOOK := 0.5.4
export PATH := $(CURDIR)/$(TOOLS)/bin:$(PATH)

# What Python compiles is kept, outside the sources and the packages: uv installs these as they are.
export PYTHONPYCACHEPREFIX := $(CURDIR)/$(TOOLS)/compiled
unexport PYTHONDONTWRITEBYTECODE

# Backtraces are for those who ask: they bury the message.
export RUST_BACKTRACE ?= 0

.PHONY: help
help: ## list what can be made
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile

# For those who want to use it.

.PHONY: run
run: toolchain ## build tcplab and repeat the interruption experiment (other commands: ARGS="…")
	cargo build --locked --release --package tcplab
	target/release/tcplab $(ARGS)

.PHONY: doctor
doctor: toolchain ## say what this machine can do
	cargo run --locked --release --package tcplab -- doctor

# For those who change it.

.PHONY: check
check: toolchain ## compile and tidy, in seconds
	cargo check --locked --workspace --all-targets
	cargo xtask tidy

.PHONY: test
test: system-packages format tidy licences others tests ## install what the tests need and run every check

# Two at once: what waits for the network, a browser or other processes, beside what computes. Those
# that measure time are `tests`, with nothing beside them.
.PHONY: others
others: toolchain
	@$(call beside,kernel tools page-tests python-tests lint doctests)

# Then each begins when nothing is left that it would wait for, and what computes goes last.
ifdef BESIDE
lint doctests: built
python-tests: kernel tools
kernel lint doctests: NICE := nice
# Of this make's jobs no other program knows.
unexport MAKEFLAGS
endif

.PHONY: format
format: toolchain
	cargo fmt --all --check

.PHONY: tidy
tidy: toolchain
	cargo xtask tidy

.PHONY: lint
lint: toolchain
	$(NICE) cargo clippy --locked --workspace --all-targets -- --deny warnings

.PHONY: licences
licences: toolchain
	cargo xtask licences

# All that the tests run, by one command: asked for one after another, crates that they share would be
# compiled again, with other features of their dependencies.
.PHONY: built
built: toolchain
	cargo build --locked --workspace --lib --bins --tests

# Of Debian's present release: its source stays where it is. Built once for each configuration.
KERNEL := 6.12

.PHONY: kernel
kernel: system-packages built ## build the kernel in virtual time that tests run on, once
	@TCPLAB_KERNELS=$(CURDIR)/target/kernels $(NICE) $(TARGET)/debug/tcplab kernel build $(KERNEL) || \
	  echo "There is no kernel $(KERNEL): the tests that run on it are skipped."

# More tests at once than processors: many wait, for packets or for processes.
.PHONY: tests
tests: tools
	@rm -f target/nextest/default/junit.xml
	@result=0; \
	  cargo nextest run --locked --workspace --no-tests fail \
	    --test-threads $$(( $$(nproc) * 3 / 2 )) || result=$$?; \
	  scripts/skipped.sh target/nextest/default/junit.xml; \
	  exit $$result

# With the Python tools comes a nextest that is built already, where there is one for this machine.
.PHONY: tools
tools: toolchain
	@$(call python_tools,test)
	@if [ -x $(PYTHON)/bin/cargo-nextest ] && ! command -v cargo-nextest > /dev/null; then \
	  mkdir -p $(TOOLS)/bin && ln -sf ../python/bin/cargo-nextest $(TOOLS)/bin/cargo-nextest; fi
	@$(call tool,cargo-nextest,$(NEXTEST),--no-default-features --features default-no-update)
	@rm -rf $(TOOLS)/build

.PHONY: doctests
doctests: toolchain
	$(NICE) cargo test --locked --workspace --doc --quiet

# The compiled part, beside the package's sources, as the tests import it.
.PHONY: python
python: toolchain ## build the Python package in place: PYTHONPATH=python python3
	cargo build --locked --package tcplab --package tcplab-python
	@cp $(TARGET)/debug/lib_core.so python/tcplab/_core.abi3.so

.PHONY: python-tests
python-tests: built ## test the Python package: types, style, tests, doctests, notebooks
	@cp $(TARGET)/debug/lib_core.so python/tcplab/_core.abi3.so
	@$(call python_tools,test)
	@if [ -x $(PYTHON)/bin/python ]; then \
	  TCPLAB_KERNELS=$(CURDIR)/target/kernels scripts/python-tests.sh $(PYTHON); \
	else echo "skipped: tcplab-python: there are no Python tools"; fi

.PHONY: page-tests
page-tests: built ## test the page of `tcplab ui`: the types of its scripts, and the page in a browser
	@scripts/page-tests.sh $(TARGET)/debug/tcplab

# A nightly compiler with the standard library's source: rustup toolchain install nightly -c rust-src
.PHONY: thread-sanitizer
thread-sanitizer: toolchain ## eight threads under ThreadSanitizer (needs a nightly compiler with rust-src)
	RUSTFLAGS=-Zsanitizer=thread cargo +nightly test --locked -Zbuild-std --target-dir target/sanitizer \
	  --target $$(rustc -vV | sed -n 's/^host: //p') --package tcplab-actions --test threads

.PHONY: wheel
wheel: toolchain ## build the Python package for others, in target/wheels: any Linux from glibc 2.17 on
	@$(call python_tools,wheels)
	PATH="$(CURDIR)/$(PYTHON)/bin:$$PATH" scripts/wheel.sh $(PYTHON)

.PHONY: bench-python
bench-python: wheel ## the Python package side by side with pyshark, scapy, dpkt and tshark (options: BENCH="packets --packets 300000")
	@scripts/system-package.sh /usr/bin/tshark tshark "the comparison with tshark"
	@$(call python_tools,test)
	$(PYTHON)/bin/pip install --quiet dpkt scapy pyshark
	$(PYTHON)/bin/pip install --quiet --no-deps --force-reinstall $$(ls -t target/wheels/*.whl | head -1)
	TCPLAB=$(PYTHON)/bin/tcplab $(PYTHON)/bin/python python/benches/bench.py $(BENCH)
	@$(PYTHON)/bin/pip uninstall --quiet --yes tcplab

# Some systems alone: make dist SYSTEMS="x86_64-linux"; twice, and compared: make dist SYSTEMS=--check.
SYSTEMS ?=

.PHONY: dist
dist: toolchain ## programs, packages, symbols, contents and checksums for Linux, Windows and macOS, in target/packages (docs/install.md)
	@$(call python_tools,wheels)
	@scripts/system-package.sh rpmbuild rpm "packages for Fedora and openSUSE"
	@scripts/system-package.sh zip zip "the archive for Windows"
	@scripts/system-package.sh x86_64-w64-mingw32-gcc gcc-mingw-w64-x86-64 "linking for Windows"
	PATH="$(CURDIR)/$(PYTHON)/bin:$$PATH" cargo xtask dist $(SYSTEMS)

.PHONY: book
book: toolchain ## build the documentation as a book with search, in target/book
	@$(call tool,mdbook,$(MDBOOK),--no-default-features --features search)
	mdbook build

.PHONY: documents
documents: toolchain ## measure the pages of the founding documents again (docs/documents)
	cargo build --locked --release --package tcplab
	cargo xtask documents

.PHONY: soak-shell
soak-shell: toolchain system-packages ## carry 200 MB through a rough path with iperf3, nc and curl
	TCPLAB_SHELL_BYTES=200000000 cargo test --locked --package tcplab --test kernel -- \
	  --test-threads 1 --nocapture shell_transfers

.PHONY: soak
soak: toolchain system-packages ## an hour in virtual time and ten minutes in real time: flat memory, no packet uncounted
	cargo test --locked --package tcplab --test soak -- --ignored --test-threads 1 --nocapture

# How long each reader is shown made-up bytes, and which: `make fuzz FUZZ_SECONDS=600 FUZZ="wire trace"`.
FUZZ_SECONDS ?= 60
FUZZ ?= $(basename $(notdir $(wildcard fuzz/fuzz_targets/*.rs)))
FUZZ_OPTIONS := --fuzz-dir fuzz --target-dir target/fuzz --sanitizer none

.PHONY: fuzz
fuzz: toolchain ## show every reader of files a minute of made-up bytes (fuzz/README.md)
	@$(call tool,cargo-fuzz,$(FUZZER))
	cargo fuzz build $(FUZZ_OPTIONS)
	@failed=; for target in $(FUZZ); do \
	  echo "fuzz: $$target, $(FUZZ_SECONDS) s"; \
	  mkdir -p target/fuzz/corpus/$$target; \
	  cargo fuzz run $(FUZZ_OPTIONS) $$target target/fuzz/corpus/$$target fuzz/corpus/$$target -- \
	    -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=1024 -verbosity=0 -print_final_stats=1 \
	    || failed="$$failed $$target"; \
	done; \
	[ -z "$$failed" ] || { echo "fuzz: failed:$$failed; the inputs are in fuzz/artifacts"; exit 1; }

.PHONY: bench
bench: toolchain ## run the benchmarks the crates carry
	cargo bench --locked --workspace --benches

# Such as `make bench-path BENCH="--json path.json --rounds 9"`; with MAHIMAHI=/path/to/mm-delay, it takes part.
BENCH ?=

.PHONY: bench-path
bench-path: toolchain ## the data plane side by side with veth pairs (options: BENCH="…")
	cargo bench --locked --package tcplab-testbed --bench path -- $(BENCH)

.PHONY: bench-trace
bench-trace: toolchain ## the trace engine side by side with tcptrace, tshark and tcpdump (options: BENCH="…")
	cargo build --locked --release --package tcplab
	cargo bench --locked --package tcplab-trace --bench trace -- $(BENCH)

.PHONY: bench-sim
bench-sim: toolchain ## virtual time side by side with ns-3, on one flow (options: BENCH="--rounds 5")
	@scripts/system-package.sh /usr/include/ns3/core-module.h libns3-dev "the comparison with ns-3"
	cargo bench --locked --package tcplab-sim --bench sim -- $(BENCH)

.PHONY: bench-load
bench-load: toolchain ## load and servers side by side with wrk, ab, nginx and iperf3 (options: BENCH="--only bulk")
	@scripts/system-package.sh /usr/sbin/nginx nginx-light "the comparison with nginx"
	@scripts/system-package.sh wrk wrk "the comparison with wrk"
	@scripts/system-package.sh ab apache2-utils "the comparison with ab"
	@scripts/system-package.sh iperf3 iperf3 "the comparison with iperf3"
	cargo build --locked --release --package tcplab
	cargo bench --locked --package tcplab-load --bench load -- $(BENCH)

.PHONY: bench-ui
bench-ui: toolchain ## what it costs a trial to be watched by one page and by three, frames a second, memory, packet to pixel (options: ROUNDS=5 ONLY=real)
	@cargo build --release --locked --package tcplab
	@scripts/page-tests.sh $(TARGET)/release/tcplab bench

.PHONY: bench-trials
bench-trials: toolchain ## ten thousand trials of 10 MB in virtual time: their time, and whether memory stays flat
	cargo bench --locked --package tcplab --bench trials -- $(BENCH)

.PHONY: bench-virtual-kernel
bench-virtual-kernel: toolchain ## a kernel in virtual time beside ns-3, a model and this machine's kernel: packets a second, and where the time goes (rates: BENCH="10 100")
	@scripts/system-package.sh /usr/include/ns3/core-module.h libns3-dev "the comparison with ns-3"
	@scripts/system-package.sh /usr/bin/iperf3 iperf3 "the trial of iperf3"
	cargo bench --locked --package tcplab --bench virtual_kernel -- $(BENCH)

.PHONY: accuracy
accuracy: toolchain ## what the analyser finds beside kernel counters, simulated senders, tshark and tcptrace (cases: ARGS="no SACK")
	cargo bench --locked --profile dev --package tcplab-sim --bench accuracy -- $(if $(filter-out file default,$(origin ARGS)),$(ARGS))
	cargo bench --locked --package tcplab --bench accuracy -- $(if $(filter-out file default,$(origin ARGS)),$(ARGS))

.PHONY: path-accuracy
path-accuracy: toolchain ## the path's elements beside the queueing disciplines of a kernel in virtual time (elements, kernel: BENCH="loss --kernel 6.12")
	cargo bench --locked --profile dev --package tcplab --bench path_accuracy -- $(BENCH)

.PHONY: oracle
oracle: toolchain ## captures below a folder read by tcplab, tshark and tcptrace: where they differ, and why (DIR=FOLDER)
	@scripts/system-package.sh /usr/bin/tshark tshark "the comparison with tshark"
	cargo bench --locked --profile dev --package tcplab-trace --bench oracle -- $(if $(DIR),"$(abspath $(DIR))") $(ORACLE)

.PHONY: stats-honesty
stats-honesty: toolchain ## whether `tcplab compare` keeps its promises: A/A a thousand times, and 3 % planted
	cargo bench --locked --package tcplab --bench honesty

# What their names begin with; `make catalogue CATALOGUE="socket-options/linger --trials 3"`.
CATALOGUE ?= socket-options/ sockets-course/

.PHONY: catalogue
catalogue: toolchain ## the socket scenarios ten times on the kernel and in virtual time, claim by claim (an hour)
	cargo bench --locked --package tcplab --bench catalogue -- $(CATALOGUE)

.PHONY: same-packets
same-packets: toolchain ## whether the catalogue in virtual time still sends the same packets (some: BENCH="flows/")
	cargo bench --locked --package tcplab --bench packets -- $(BENCH)

# Suites of packetdrill scripts, such as those of Linux: `make conformance SCRIPTS=linux/tools/testing/selftests/net/packetdrill`.
# Other stacks: STACK=model:haiku-2017-after; a model beside its kernel: STACK="model:linux-7.2 linux-7.2".
SCRIPTS ?=
STACK ?= model:linux-6.18

.PHONY: attack
attack: toolchain ## attack tcplab with hostile scenarios, captures and scripts: tries and failures (some: ATTACKS="trace matrix")
	cargo build --locked --release --package tcplab
	@scripts/attack.py target/release/tcplab $(ATTACKS)

.PHONY: conformance
conformance: toolchain ## pass, fail and unsupported by topic: packetdrill scripts on models and kernels (SCRIPTS=DIR, STACK="...")
	@test -n "$(SCRIPTS)" || { echo "say where the scripts are: make conformance SCRIPTS=DIR"; exit 2; }
	@test -e $(SCRIPTS) || { echo "there is no $(SCRIPTS)"; exit 2; }
	cargo build --locked --release --package tcplab
	@target/release/tcplab packetdrill --topics $(foreach stack,$(STACK),--stack $(stack)) $(SCRIPTS) \
	  || echo "not all passed: exit code $$?, see \`tcplab packetdrill --help\`"

# Not part of `make test`: it builds a kernel, and compiles parts of it a few times more.
.PHONY: bisect-check
bisect-check: toolchain ## find a planted commit among eight of a real history of Linux (a quarter of an hour)
	cargo build --locked --release --package tcplab
	@scripts/bisect-check.sh $(TARGET)/release/tcplab $(FOLDER)

.PHONY: advisories
advisories: toolchain ## look up known faults of our dependencies with cargo-deny (needs the network)
	@$(call tool,cargo-deny,$(DENY))
	cargo deny check --hide-inclusion-graph

.PHONY: clean
clean: toolchain ## delete all that was built; recorded runs stay
	cargo clean

# What has to be there first.

.PHONY: toolchain
toolchain:
	@scripts/toolchain.sh

.PHONY: system-packages
system-packages: toolchain
	@scripts/system-package.sh tshark tshark "the tests that compare our reading of packets with Wireshark's"
	@scripts/system-package.sh iperf3 iperf3 "the tests that carry data through a path with iperf3"
	@scripts/system-package.sh nc netcat-openbsd "the tests that carry data through a path with nc"
	@scripts/system-package.sh curl curl "the tests that carry data through a path with curl"
	@scripts/system-package.sh ping iputils-ping "the tests that measure a path with ping"
	@scripts/system-package.sh ip iproute2 "the tests of \`tcplab bridge\`"
	@scripts/system-package.sh chromium chromium "the tests that open the report in a browser"
	@scripts/system-package.sh npm "nodejs npm" "the tests of the page of \`tcplab ui\`"
	@scripts/system-package.sh rsvg-convert librsvg2-bin "the test that writes figures as PNG and PDF"
	@scripts/system-package.sh tcptrace tcptrace "the test that compares our sums with tcptrace's"
	@scripts/system-package.sh xplot.org "xplot-xplot.org xvfb xauth" "the test that shows our graphs to xplot"
	@scripts/system-package.sh /usr/sbin/apache2 apache2-bin "the test that tests Apache with the load tester"
	@scripts/system-package.sh flex flex "the kernel that tests of virtual time run on"
	@scripts/system-package.sh bison bison "the kernel that tests of virtual time run on"
	@scripts/system-package.sh bc bc "the kernel that tests of virtual time run on"
	@scripts/system-package.sh patch patch "the kernel that tests of virtual time run on"
	@scripts/system-package.sh zsh zsh "the test that shows our completions to zsh"
	@scripts/system-package.sh fish fish "the test that shows our completions to fish"
	@scripts/system-package.sh mandoc mandoc "the test that checks our manual pages"

# $(call tool,<program>,<version>,<features>): quick to build matters more than quick to run.
define tool
if ! command -v $(1) > /dev/null; then \
  echo "building $(1) $(2), once"; \
  CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=0 CARGO_TARGET_DIR=$(TOOLS)/build \
    cargo install --quiet --locked --debug --root $(TOOLS) --version $(2) $(3) $(1); \
fi
endef

# $(call python_tools,<list>): what python/requirements-<list>.txt names, all in one environment. Without
# it, tests of the Python package and of tables say that they were skipped.
PYTHON := $(TOOLS)/python
UV := 0.13.9
define python_tools
if [ "$(INSTALL)" != no ] && ! cmp -s python/requirements-$(1).txt $(PYTHON)/installed-$(1); then \
  echo "installing the Python tools of $(1), once"; \
  [ ! -e $(PYTHON)/installed-$(1) ] || rm -rf $(PYTHON); \
  { [ -x $(PYTHON)/bin/uv ] || { python3 -m venv --clear $(PYTHON) && $(PYTHON)/bin/pip install --quiet uv==$(UV); }; } && \
    $(PYTHON)/bin/uv pip install --quiet --python $(PYTHON)/bin/python --requirement python/requirements-$(1).txt && \
    cp python/requirements-$(1).txt $(PYTHON)/installed-$(1) \
    || { rm -rf $(PYTHON); echo "the Python tools cannot be installed"; }; \
fi
endef

# $(call beside,<targets>): two of them at a time, the output of each in one piece.
beside = +$(MAKE) --no-print-directory --jobs 2 --output-sync=target BESIDE=yes $(1)
