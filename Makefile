# Everything a user or a contributor does, as verbs. `make` alone lists them.
#
#   make demo             build, install into .venv, answer a first question
#   make test             every test, lint and rule; REQUIRE="chromium fio pdftotext tshark" turns a skip for want of that tool into a failure
#
# Both work on a fresh machine with Python, Rust, a C compiler and make. Stamps in .venv remember what is up to date.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

# the first of these that is new enough makes the virtual environment
PYTHON ?= python3 python3.14 python3.13 python3.12 python3.11
FUZZ_SECONDS ?= 60
# names of fuzz targets; all if empty
FUZZ ?=
# names of benches for bench-trained; all if empty
BENCH ?=
# arguments for pytest, such as TESTS="-k report"
TESTS ?=
# a file of tests on each core, and one more, as many tests wait for what they have started; a file's own tests stay
# together, as they share what is expensive
SIDE_BY_SIDE := --numprocesses $(shell echo $$(($$(nproc) + 1))) --dist loadfile

VENV := .venv
BIN := $(VENV)/bin
# a run in CI must not change the lock file
LOCKED := $(if $(CI),--locked)
# one interpreter for every build of the binding, so that switching verbs does not rebuild it
export PYO3_PYTHON := $(CURDIR)/$(BIN)/python
export VIRTUAL_ENV := $(CURDIR)/$(VENV)

# what the installed package is made from; the Python part is installed in place and needs no rebuild
ENGINE := Cargo.toml Cargo.lock pyproject.toml $(shell find crates parts scenarios docs/errors docs/schema validation -type f \
            -not -path 'crates/xtask/*' -not -path '*/tests/*' -not -path '*/benches/*' -not -path '*/__pycache__/*' \
            2>/dev/null)
# how the binding is built: as it is shipped, or, in continuous integration, as the tests are (`checked`)
PROFILE ?= release
# how tests, and what lints them, are built: one profile, so that they share what they are made from
CHECKED := --profile checked
# benches have no tests, but a program of the whole engine each, which lints compile
TESTED := --workspace --exclude lanetwin-benches
# tests that are ignored because they take long without optimisation; those in a module `nightly` take long with it, too
UNHURRIED := --include-ignored --skip nightly::
# `make test` lints what it compiles: .ci/rustc says how. Other verbs compile as cargo does by itself
ifdef LINTED
export RUSTC_WORKSPACE_WRAPPER := $(CURDIR)/.ci/rustc
# as cargo-clippy hands them over
export CLIPPY_ARGS := -D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__
endif
# what proptest draws is the same for the same tree, so that a change is judged by what it changes; the night draws anew
test test-rust test-debug: export PROPTEST_RNG_SEED ?= 1

.PHONY: help demo demo-measure demo-measure-guest demo-exec demo-databases power-cuts install install-trained test check fmt format lint tidy build-tests test-rust binding test-python nightly test-nightly test-clusters test-debug test-drawn \
        test-release claims soak first-answer relations relations-fabric mqsim gen site studies accept bench bench-trained fuzz fuzz-import drawn-drives sweep-cost compare-builds new-model clean toolchain

help: ## list the verbs
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/.built ## build, install, run the demo scenario, print its table and where the report lies
	@$(BIN)/lanetwin run scenarios/demo.yaml

install: $(VENV)/.built ## build and install lanetwin into .venv

demo-measure: $(VENV)/.built $(VENV)/.dev ## measure a file of this machine with fio, calibrate a part on half of it, predict the other half
	@docs/measure/demo

demo-measure-guest: $(VENV)/.built $(VENV)/.dev ## the same with the NVMe drive of a guest of QEMU (Debian: qemu-system-x86, busybox-static, fio); some minutes
	@mkdir -p runs/demo-measure-guest
	@LANETWIN_GUEST_KERNEL=$${LANETWIN_GUEST_KERNEL:-$$(.ci/guest-kernel)} $(BIN)/python tests/python/measure_guest.py runs/demo-measure-guest
	@docs/measure/calibrate runs/demo-measure-guest

demo-exec: $(VENV)/.built ## fio and SQLite on a drive that does not exist, behind a retimer and without, and over NVMe/TCP
	@docs/doors/demo

demo-databases: $(VENV)/.built ## MariaDB, RocksDB and Redis on that drive, behind a retimer, a switch, a network and on a slow one: as root; QUICK=1 for a minute
	@QUICK=$(QUICK) docs/doors/databases/demo

power-cuts: $(VENV)/.built ## cut the power under a database and look for every row that was acknowledged: as root; CUTS=30 DATABASE=mariadb or rocksdb
	$(BIN)/python docs/doors/databases/power_cuts.py $(or $(CUTS),30) 1 $(or $(DATABASE),mariadb)

install-trained: $(VENV)/.tools | toolchain ## the same, built twice: the second time by what the first counted while it ran scenarios/
	benches/trained package
	@touch $(VENV)/.built

test: ## every test, lint and rule, and what each step took
	@LINTED=true .ci/steps fmt lint build-tests tidy test-rust binding test-python

check: fmt lint tidy ## the quick part of `test`: format, lints, rules

fmt: $(VENV)/.dev | toolchain
	cargo fmt --all --check
	rustfmt --edition 2024 --check $(wildcard crates/models/src/*.rs) # their modules are declared by a macro, which cargo fmt does not follow
	cargo fmt --manifest-path fuzz/Cargo.toml --check
	$(BIN)/ruff format --check .

format: $(VENV)/.dev | toolchain ## format every source file
	cargo fmt --all
	rustfmt --edition 2024 $(wildcard crates/models/src/*.rs)
	cargo fmt --manifest-path fuzz/Cargo.toml
	$(BIN)/ruff format .

lint: $(VENV)/.dev | toolchain
	$(if $(LINTED),,cargo clippy --quiet $(LOCKED) $(CHECKED) --workspace --all-targets -- -D warnings)
	$(BIN)/ruff check .
	$(BIN)/mypy

tidy: | toolchain ## hold the tree to its rules; compare generated files
	cargo run --quiet $(LOCKED) $(CHECKED) --package lanetwin-xtask -- tidy
	cargo run --quiet $(LOCKED) $(CHECKED) --package lanetwin-xtask -- gen --check

build-tests: $(VENV)/.tools | toolchain
	cargo test --quiet $(LOCKED) $(CHECKED) $(TESTED) --no-run
	$(if $(LINTED),cargo test --quiet $(LOCKED) $(CHECKED) --workspace --all-targets --no-run)

test-rust: $(VENV)/.tools | toolchain ## the Rust tests, with optimisation and assertions
	.ci/test-rust --quiet $(LOCKED) $(CHECKED) $(TESTED) -- $(UNHURRIED)

binding: $(VENV)/.built $(VENV)/.dev

# what starts the command hundreds of times reads its modules as bytecode, also where the environment forbids Python to write any
test-python: export PYTHONDONTWRITEBYTECODE :=
test-python: $(VENV)/.built $(VENV)/.dev ## the Python tests
	$(BIN)/stubtest lanetwin._core
	$(BIN)/pytest $(SIDE_BY_SIDE) --durations=30 --durations-min=4 $(TESTS)

test-clusters: $(VENV)/.built $(VENV)/.dev $(VENV)/.clusters ## sweeps on Dask and Ray, of this machine alone: every row as on threads
	$(BIN)/pytest tests/python/test_sweep.py -k "dask or ray or cluster"

nightly: ## `test`, and all that takes too long for every change
	@.ci/steps test test-debug test-drawn test-release test-nightly test-clusters claims soak site fuzz fuzz-import

test-debug: $(VENV)/.tools | toolchain ## the Rust tests without optimisation: with every digest
	cargo test --quiet $(LOCKED) $(TESTED)
	cargo test --quiet $(LOCKED) $(TESTED) --test determinism -- --ignored nightly::every_scenario_has_the_digest

test-drawn: | toolchain ## the Rust tests again, whose properties meet what was never drawn before: DRAWS=5 times
	for draw in $$(seq $(or $(DRAWS),5)); do cargo test --quiet $(LOCKED) $(CHECKED) $(TESTED) || exit; done

test-release: | toolchain ## the digests again, without assertions, as a release computes them
	cargo test --quiet $(LOCKED) --profile optimised $(TESTED) --test determinism -- $(UNHURRIED)
	cargo test --quiet $(LOCKED) --profile optimised $(TESTED) --test determinism -- --ignored nightly::every_scenario_has_the_digest

test-nightly: | toolchain ## the Rust tests that take long however they are built
	cargo test --quiet $(LOCKED) $(CHECKED) $(TESTED) --tests -- --ignored nightly::

claims: $(VENV)/.built $(VENV)/.dev ## hold the figures of claims that take minutes to what they come to now
	$(BIN)/pytest -m long tests/python/test_readme.py tests/python/test_coverage.py tests/python/test_claim_tables.py tests/python/test_drive_tables.py tests/python/test_first_answer.py tests/python/test_calibration.py

soak: $(VENV)/.built $(VENV)/.dev ## use the live view for an hour: memory, open files, answers; LANETWIN_SOAK_SECONDS=60 for less
	$(BIN)/pytest -m long -s tests/python/test_ui_soak.py

studies: $(VENV)/.built ## the studies of studies/, quick ones: make studies WHOLE=1 for whole ones, which take ten minutes of a processor
	@for study in $(notdir $(wildcard studies/*)); do \
	  $(BIN)/lanetwin study $$study $(if $(WHOLE),,--quick) --force --out runs/studies/$$study || exit $$?; \
	done

first-answer: $(VENV)/.built $(VENV)/.dev ## drawn fio jobs of default length beside runs ten times as long: OPTIONS="--seed N --jobs N", "--of networks", "--of memory"
	$(BIN)/python tests/python/first_answer.py $(OPTIONS)

relations-fabric: $(VENV)/.built $(VENV)/.dev ## drawn storage networks and CXL memories, each with a relation that must hold: OPTIONS="--seed N --count N"
	$(BIN)/python tests/python/relations_fabric.py $(OPTIONS)

relations: $(VENV)/.built $(VENV)/.dev ## relations that must hold between runs, of drawn machines and jobs: OPTIONS="--seed N --cases N"
	$(BIN)/python tests/python/relations.py $(OPTIONS)

mqsim: $(VENV)/.built $(VENV)/.dev ## drawn drives beside what MQSim says of them: make mqsim MQSIM=path/to/MQSim OPTIONS="--seed N --count N"
	@test -n "$(MQSIM)" || { echo "usage: make mqsim MQSIM=path/to/MQSim [OPTIONS=…]" >&2; exit 2; }
	$(BIN)/python tests/python/mqsim.py --mqsim $(MQSIM) $(OPTIONS)

compare-builds: $(VENV)/.built $(VENV)/.dev ## what another checkout answers differently: make compare-builds BEFORE=path OPTIONS="--claims inf"
	@test -n "$(BEFORE)" || { echo "usage: make compare-builds BEFORE=path/to/checkout [OPTIONS=…]" >&2; exit 2; }
	$(BIN)/python tests/python/compare_builds.py $(BEFORE) $(OPTIONS)

gen: | toolchain ## write every generated file
	cargo xtask gen

site: $(VENV)/.docs ## the documentation as a site with search, in target/site; a link that leads nowhere fails
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

accept: $(VENV)/.built $(VENV)/.dev ## rewrite recorded results from what the tests now give; review the difference: key rows stand beside each digest
	ACCEPT=1 cargo test --quiet $(CHECKED) $(TESTED)
	ACCEPT=1 $(BIN)/pytest $(TESTS)

bench: $(VENV)/.bench | toolchain ## speed, beside its peers, on this machine
	LANETWIN_BENCH_PYTHON=$(abspath $(BIN)/python) \
	  cargo run --quiet $(LOCKED) --release --package lanetwin-benches --features peers

bench-trained: | toolchain ## whole paths, built by what a first build has counted: BENCH="nvme memory_host hybrid cxl", all if empty
	benches/trained $(BENCH)

fuzz: | toolchain ## random inputs against promises: FUZZ_SECONDS for each target, FUZZ="names" for some
	fuzz/run $(FUZZ_SECONDS) $(FUZZ)

drawn-drives: $(VENV)/.built $(VENV)/.dev ## calibrate a part to drives drawn at random, each from eight cases, and judge it by twenty others: COUNT=50, half an hour; FIRST=20 goes on behind the first twenty
	$(BIN)/python tests/python/synthetic_drives.py $(or $(COUNT),50) 100 $(or $(FIRST),0)

sweep-cost: $(VENV)/.built $(VENV)/.dev ## CPU time of a sweep of 2 000 points of the demo machine beside that of its simulations alone
	$(BIN)/python tests/python/sweep_cost.py 125

fuzz-import: $(VENV)/.built $(VENV)/.dev ## damaged files of every format that is imported, for FUZZ_SECONDS: results or a coded error
	LANETWIN_FUZZ_SECONDS=$(FUZZ_SECONDS) $(BIN)/pytest -m long -s tests/python/test_import_abuse.py

new-model: | toolchain ## a new device: make new-model NAME=fixed-latency
	@test -n "$(NAME)" || { echo "usage: make new-model NAME=fixed-latency" >&2; exit 2; }
	cargo xtask new-model "$(NAME)"

clean: ## remove what was built; results in runs/ and the fuzzers' corpora stay
	rm -rf $(VENV) target fuzz/target fuzz/artifacts .mypy_cache .pytest_cache .ruff_cache
	find python tests -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

# --- stamps -----------------------------------------------------------------------------------------------------------

# without bytecode, which takes longer to write than all else, for modules that nothing here imports: Python writes what it imports
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile

# the requirements of a table of pyproject.toml, one a line
requirements = $(BIN)/python -c 'import tomllib; p = tomllib.load(open("pyproject.toml", "rb")); print("\n".join($(1)))'

# an interpreter and the build tool
$(VENV)/.tools: pyproject.toml | toolchain
	@for candidate in $(PYTHON); do \
	  if "$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then python=$$candidate; break; fi; \
	done; \
	test -n "$${python:-}" || { echo "make: lanetwin needs Python 3.11 or newer (Debian: apt install python3 python3-venv)," \
	  "or name one: make PYTHON=/path/to/python3" >&2; exit 1; }; \
	"$$python" -m venv $(VENV) || { echo "make: $$python cannot make a virtual environment (Debian: apt install python3-venv)" >&2; exit 1; }
	@$(call requirements,p["build-system"]["requires"]) > $(VENV)/build.txt
	$(INSTALL) --requirement $(VENV)/build.txt
	@touch $@

# what only contributors need
$(VENV)/.dev: $(VENV)/.tools
	@$(call requirements,p["project"]["dependencies"] + p["project"]["optional-dependencies"]["dev"]) > $(VENV)/dev.txt
	$(INSTALL) --requirement $(VENV)/dev.txt
	@touch $@

# what only the site needs
$(VENV)/.docs: $(VENV)/.tools
	@$(call requirements,p["project"]["optional-dependencies"]["docs"]) > $(VENV)/docs.txt
	$(INSTALL) --requirement $(VENV)/docs.txt
	@touch $@

# what only the benchmark needs: a peer
$(VENV)/.bench: $(VENV)/.tools
	@$(call requirements,p["project"]["optional-dependencies"]["bench"]) > $(VENV)/bench.txt
	$(INSTALL) --requirement $(VENV)/bench.txt
	@touch $@

# what only sweeps on clusters need
$(VENV)/.clusters: $(VENV)/.tools
	@$(call requirements,p["project"]["optional-dependencies"]["dask"] + p["project"]["optional-dependencies"]["ray"]) > $(VENV)/clusters.txt
	$(INSTALL) --requirement $(VENV)/clusters.txt
	@touch $@

# lanetwin itself
$(VENV)/.built: $(VENV)/.tools $(ENGINE) | toolchain
	$(BIN)/maturin develop --profile $(PROFILE) $(LOCKED)
	@touch $@

# a missing tool is named, with the remedy, before anything is built
toolchain:
	@command -v cc >/dev/null || { echo "make: lanetwin needs a C compiler to link with (Debian: apt install gcc libc6-dev)" >&2; exit 1; }
	@command -v cargo >/dev/null || { echo "make: lanetwin needs a Rust toolchain with cargo: https://rustup.rs" >&2; exit 1; }
	@need=$$(sed -n 's/^rust-version = "1\.\([0-9]*\).*"/\1/p' Cargo.toml); have=$$(rustc --version | cut -d. -f2); \
	test "$$have" -ge "$$need" || { echo "make: lanetwin needs Rust 1.$$need or newer, this is $$(rustc --version): rustup update" >&2; exit 1; }
