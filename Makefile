# Main targets, on a machine with Python (3.11 or newer) and make:
#   make reproduce   the figures, and a gallery to open
#   make test        lint, types, import contracts, tests: five minutes on two cores
#   make test-all    the same with the tests marked full: twelve minutes
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

.DEFAULT_GOAL := reproduce

# One BLAS thread per process, as the tests run in two processes.
export OPENBLAS_NUM_THREADS = 1
export OMP_NUM_THREADS = 1
export MPLBACKEND = Agg
# Three processes collect the tests, and many more import the package.
unexport PYTHONDONTWRITEBYTECODE

# The README's picture is the figure that `make reproduce` draws.
.PHONY: picture
picture: reproduce
	cp out/decomposition.png docs/decomposition.png

# The live page; Ctrl-C stops it.
.PHONY: page
page: setup
	$(BIN)/doubletrouble page

.PHONY: reproduce test test-all lint types contracts pytest bench conformance docs setup clean

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "doubletrouble needs Python 3.11 or newer, found " + sys.version.split()[0] + "; set PYTHON=")'
	@$(PYTHON) -m venv $(VENV) || { echo "python3 -m venv failed; on Debian: apt install python3-venv" >&2; exit 1; }
	$(BIN)/python -m pip install --quiet --upgrade pip -c constraints.txt
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[dev]'
	@touch $(STAMP)

# Every figure and out/index.html; PRESET=paper is larger. Finished simulations are not repeated.
PRESET ?= laptop
reproduce: setup
	$(BIN)/doubletrouble reproduce --out out --preset $(PRESET)

test: lint types contracts pytest

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/mypy

contracts: setup
	$(BIN)/lint-imports

pytest: setup
	$(BIN)/python -m pytest -n 2 --dist loadgroup -m "not full"

# All tests: every seed, curve, killed process, coverage study and page of docs.
test-all: lint types contracts
	$(BIN)/python -m pytest -n 2 --dist loadgroup

bench: setup
	$(BIN)/python -m benchmarks

# Theory against simulation, point by point, for ten seeds: fifty minutes on two cores.
SEEDS ?= 10
conformance: setup
	$(BIN)/python -m conformance --seeds $(SEEDS) --out docs/conformance.md

# The documentation site, into site/; warnings are errors.
docs: setup
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

clean:
	rm -rf $(VENV) out site .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
