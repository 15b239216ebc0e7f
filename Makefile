# gradsmith: `make demo` and `make test` work from a fresh clone; `make help` lists the rest.
# Needs Python 3.10 to 3.13, a C compiler and GNU make. Everything else goes into .venv.

PYTHON ?= python3
VENV   ?= .venv
RUN    := $(VENV)/bin/python
ARGS   ?=
OPS    ?=
# A Python that has PyTorch, and NumPy as the build had it.
TORCH_PYTHON ?= $(RUN)
# A test runs make itself, and compares what it prints.
MAKEFLAGS += --no-print-directory

ifeq ($(MAKE_VERSION),)
$(error this Makefile needs GNU make; on BSD it is called gmake)
endif
ifneq ($(filter 3.7% 3.80%,$(MAKE_VERSION)),)
$(error GNU make $(MAKE_VERSION) is too old: 3.81 or newer is needed)
endif

# What generated/ follows from, besides the table: the generator, and the declarations that it reads.
CODEGEN   := $(shell find codegen -name '*.py' -o -name '*.j2') \
             $(wildcard runtime/formulas/*.pxd runtime/formulas/*/*.pxd runtime/arrays/functions/*.p* runtime/arrays/functions/*/*.p*)
GENERATED := $(wildcard generated/*)
# Written once the work it names is done, so that an interrupted run is taken up again.
VENV_DONE := $(VENV)/gradsmith-ready
GENERATE_DONE := build/generated

.PHONY: all venv generate check-generated build debug check-memory explain verify test test-all fuzz check check-python demo bench bench-compare bench-edit docs clean distclean help
.DEFAULT_GOAL := all

all: build            ## virtual environment, generated sources, compiled extensions

venv: $(VENV_DONE)    ## virtual environment with everything that building and testing needs

generate: $(GENERATE_DONE)  ## generated/ from derivatives.yaml

build: generate       ## compile what changed, on all cores
	@$(RUN) -m compiling

debug: generate       ## compile with internal checks and counters, and run the tests; `make build` goes back
	@$(RUN) -m compiling --debug
	@$(RUN) -m pytest $(ARGS)

explain: venv         ## what follows from an entry: make explain OP=tanh
	@$(RUN) -m codegen explain $(OP)

check-memory: generate  ## run tests with every access to memory watched; needs GCC or Clang with their sanitizers
	@$(RUN) .ci/check_memory $(ARGS)

verify: build         ## prove every entry numerically, write docs/reference/support.md; OPS="mul tanh" proves some
	@$(RUN) -m gradsmith.verify $(if $(OPS),$(OPS),--matrix docs/reference/support.md) $(ARGS)

test: build           ## run the tests, except the longest and those that compile packages; ARGS="-k name" picks some of all
	@$(RUN) $(if $(ARGS),-m pytest $(ARGS),.ci/test -m "not compiles and not long")

test-all: build       ## run all tests
	@$(RUN) .ci/test $(ARGS)

fuzz: build           ## random programs against PyTorch, where it is installed: make fuzz ARGS="--programs 20000 --seed 1"
	@$(TORCH_PYTHON) -m tests.differential $(ARGS)

check: check-generated check-python  ## formatting, lint, types, generated sources up to date

check-python: venv    ## formatting, lint, types
	@$(RUN) -m ruff format --check
	@$(RUN) -m ruff check
	@$(RUN) -m mypy --package gradsmith --package benchmarks --package codegen --package compiling

check-generated: venv ## fail when generated/ is not what derivatives.yaml says
	@$(RUN) -m codegen --check

demo: build           ## train a network on handwritten digits
	@$(RUN) examples/digits.py

bench: build          ## speed, as ratios to NumPy by hand and to PyTorch, JAX and HIPS autograd where TORCH_PYTHON has them
	@PYTHONPATH=. $(TORCH_PYTHON) -m benchmarks run $(ARGS)

bench-compare: build  ## speed of two commits, which it builds: make bench-compare BASE=main ARGS="elementwise"
	@$(if $(BASE),,echo "error: name the commit to compare with: make bench-compare BASE=main" >&2; exit 2;) \
	  $(RUN) -m benchmarks compare $(BASE) $(ARGS)

bench-edit: build     ## seconds from editing an entry to importing the result; ARGS="bessel" for one family
	@$(RUN) -m benchmarks run costs/edit --on-request --threads 1 --output build/benchmarks/edit $(ARGS)

docs: build           ## write the pages that are made from the op table, run the examples in all of them
	@$(RUN) docs/update.py

clean:                ## remove what was built, except the virtual environment
	rm -rf build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -path './$(VENV)' -prune -o \( -name '*.so' -o -name '*.so.new' \) -type f -exec rm -f {} +
	find . -path './$(VENV)' -prune -o -name __pycache__ -type d -exec rm -rf {} +

distclean: clean      ## remove the virtual environment too
	rm -rf $(VENV)

help:                 ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' Makefile | awk -F'|' '{ printf "  make %-16s %s\n", $$1, $$2 }'

$(VENV_DONE): pyproject.toml .ci/requirements
	@command -v $(PYTHON) >/dev/null || \
	  { echo "error: there is no '$(PYTHON)'. Install Python 3.10 to 3.13, or name one: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] < (3, 14))' || \
	  { echo "error: gradsmith needs Python 3.10 to 3.13; '$(PYTHON)' is $$($(PYTHON) -V 2>&1)." \
	         "Name another: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -m compiling --check-tools
	@test -x $(RUN) || { echo "making $(VENV)"; $(PYTHON) -m venv $(VENV); } || \
	  { rm -rf $(VENV); echo "error: '$(PYTHON) -m venv' failed (Debian: apt install python3-venv)" >&2; exit 1; }
	@echo "installing the build and test tools into $(VENV)"
	@$(RUN) .ci/requirements > $(VENV)/requirements.txt
	@$(RUN) -m pip install --quiet --disable-pip-version-check -r $(VENV)/requirements.txt
	@$(RUN) -c 'import os, sysconfig; open(sysconfig.get_path("purelib") + "/gradsmith.pth", "w").write(os.getcwd() + "\n")'
	@touch $@

$(GENERATE_DONE): $(VENV_DONE) derivatives.yaml $(CODEGEN) $(GENERATED)
	@$(RUN) -m codegen
	@mkdir -p build
	@touch $@
