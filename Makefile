# Main targets, on a machine with Python (3.11 or newer) and make:
#   make reproduce   the figures, and a gallery to open
#   make page        the live page
#   make test        lint, types, import contracts, tests
#   make test-all    the same with the tests marked full
#   make docs        the documentation site; make check-docs tests it
#   make package     the distributions, checked
# Each installs the extra of pyproject.toml that it needs into VENV, once.
PYTHON      ?= python3
VENV        ?= .venv
CONSTRAINTS ?= constraints.txt
BIN         := $(VENV)/bin
PYTEST       = $(BIN)/python -m pytest -n 2 --dist loadgroup

ifneq ($(words $(VENV) $(CONSTRAINTS))$(findstring ',$(VENV)$(CONSTRAINTS))$(findstring ",$(VENV)$(CONSTRAINTS)),2)
$(error VENV and CONSTRAINTS must be paths without spaces and quotes, got "$(VENV)" and "$(CONSTRAINTS)")
endif

.DEFAULT_GOAL := reproduce
# Two installations into one environment do not run at once.
.NOTPARALLEL:

# One BLAS thread per process, as the tests run in two processes.
export OPENBLAS_NUM_THREADS = 1
export OMP_NUM_THREADS = 1
export MPLBACKEND = Agg
# Three processes collect the tests, and many more import the package.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: reproduce page pictures setup test test-all lint types contracts pytest
.PHONY: bench conformance docs check-docs notebooks package clean foreign unknown moved old

# Every figure and out/index.html; PRESET=paper is larger. Finished simulations are not repeated.
PRESET ?= laptop
reproduce: reproduce-installed
	$(BIN)/doubletrouble reproduce --out out --preset $(PRESET)

# The pictures of the site and of the README are the figures that `make reproduce` draws.
pictures: reproduce $(VENV)/.installed-docs
	$(BIN)/python docs/hooks/figures.py out

# The live page; Ctrl-C stops it.
page: reproduce-installed
	$(BIN)/doubletrouble page

# mypy uses one core, and runs beside the tests.
test: lint contracts
	$(BIN)/mypy & mypy=$$!; $(PYTEST) -m "not full"; tests=$$?; wait $$mypy && exit $$tests

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/mypy

contracts: setup
	$(BIN)/lint-imports

pytest: setup
	$(PYTEST) -m "not full"

# All tests: every seed, curve, killed process, coverage study and page of docs.
test-all: lint types contracts $(VENV)/.installed-docs
	$(PYTEST)

bench: setup
	$(BIN)/python -m benchmarks

# Theory against simulation, point by point, for ten seeds: fifty minutes on two cores.
SEEDS ?= 10
conformance: setup
	$(BIN)/python -m conformance --seeds $(SEEDS) --out docs/conformance.md

# The documentation site, into site/; warnings are errors.
docs: $(VENV)/.installed-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# The site in a browser, and the notebooks against their stored outputs: five minutes.
check-docs: setup $(VENV)/.installed-docs
	$(PYTEST) tests/docs/test_site.py tests/docs/test_notebooks.py

# Execute the notebooks and store their outputs.
notebooks: $(VENV)/.installed-docs
	$(BIN)/python docs/hooks/notebooks.py

# The sdist and the wheel, into dist/: their metadata, their files, and the wheel on its own.
package: $(VENV)/.installed-package
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/twine check --strict dist/*
	$(BIN)/python -m tests.distributions dist

# --- environments ---------------------------------------------------------------------------------

# The tests need all that the figures need.
setup: $(VENV)/.installed-dev
reproduce-installed: $(or $(wildcard $(VENV)/.installed-dev),$(VENV)/.installed-reproduce)
.PHONY: reproduce-installed

# Bytecode is compiled at the first import, which is less work than compiling all of it.
$(VENV)/.installed-%: pyproject.toml $(CONSTRAINTS) $(VENV)/.constraints
	$(BIN)/python -m pip install --quiet --no-compile -c $(CONSTRAINTS) -e '.[$*]'
	@touch $@

# The constraints of the environment; with others, everything is installed again.
ifneq ($(shell cat $(VENV)/.constraints 2>/dev/null),$(CONSTRAINTS))
.PHONY: $(VENV)/.constraints
endif
$(VENV)/.constraints: $(VENV)/.clone
	$(BIN)/python -m pip install --quiet --no-compile --upgrade pip -c $(CONSTRAINTS)
	@echo $(CONSTRAINTS) > $@

# An environment has one editable install: the clone it is of is stored in it.
STATE := $(shell clone=$$(cat $(VENV)/.clone 2>/dev/null); \
           if [ "$$clone" = "$$(pwd -P)" ]; then :; \
           elif [ "$$clone" ]; then [ -d "$$clone/src/doubletrouble" ] && echo foreign || echo moved; \
           elif [ $(VENV) = .venv ] && [ -e .venv/.installed ]; then echo old; \
           elif [ "$$(ls -A $(VENV) 2>/dev/null)" ]; then echo unknown; fi)

$(VENV)/.clone: $(STATE)
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "doubletrouble needs Python 3.11 or newer, found " + sys.version.split()[0] + "; set PYTHON=")'
	@$(PYTHON) -m venv $(if $(STATE),--clear) $(VENV) || { rm -rf $(VENV); echo "python3 -m venv failed; on Debian: apt install python3-venv" >&2; exit 1; }
	@pwd -P > $@

foreign:
	@echo "$(VENV) is the environment of $$(cat $(VENV)/.clone), and this is $$(pwd -P): set VENV= to another folder, or delete $(VENV) first." >&2; exit 1

unknown:
	@echo "$(VENV) is not an environment that make has created: set VENV= to another folder, or delete $(VENV) first." >&2; exit 1

moved:
	@echo "$(VENV) is the environment of $$(cat $(VENV)/.clone), which no longer exists: creating it again." >&2

old:
	@echo "$(VENV) is the environment of an older Makefile: creating it again." >&2

clean: $(filter foreign unknown,$(STATE))
	rm -rf $(VENV) out site dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
