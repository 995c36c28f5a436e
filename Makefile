# The figures and the live page: make, make page. Checks: make test. The others: CONTRIBUTING.md.
PYTHON      ?= python3
VENV        ?= .venv
CONSTRAINTS ?= constraints.txt
PRESET      ?= laptop
SEEDS       ?= 10
BIN         := $(VENV)/bin
PYTEST       = $(BIN)/python -m pytest -n 2 --dist loadgroup

# One BLAS thread per process, as the tests run in two processes.
export OPENBLAS_NUM_THREADS = 1
export OMP_NUM_THREADS = 1
export MPLBACKEND = Agg
# Three processes collect the tests, and many more import the package.
unexport PYTHONDONTWRITEBYTECODE

# Two installations into one environment do not run at once.
.NOTPARALLEL:
.PHONY: reproduce pictures page setup test test-all lint types contracts pytest
.PHONY: bench conformance coverage docs check-docs notebooks package clean

# Every figure and out/index.html; PRESET=paper is larger. Finished simulations are not repeated.
reproduce: $(VENV)/.installed-reproduce
	$(BIN)/doubletrouble reproduce --out out --preset $(PRESET)
pictures: reproduce $(VENV)/.installed-docs
	$(BIN)/python docs/hooks/figures.py out
page: $(VENV)/.installed-reproduce
	$(BIN)/doubletrouble page

# mypy uses one core, and runs beside the tests.
test: lint contracts
	$(BIN)/mypy & mypy=$$!; $(PYTEST) -m "not full"; tests=$$?; wait $$mypy && exit $$tests
test-all: lint types contracts $(VENV)/.installed-docs
	$(PYTEST)
lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
types: setup
	$(BIN)/mypy
contracts: setup
	$(BIN)/lint-imports
pytest: setup
	$(PYTEST) -m "not full"
coverage: setup
	$(PYTEST) -m "not full" --cov
bench: setup $(VENV)/.installed-bench
	$(BIN)/python -m benchmarks
conformance: setup
	$(BIN)/python -m conformance --seeds $(SEEDS)

# The site, into site/; warnings are errors. Its tests need a browser.
docs: $(VENV)/.installed-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
check-docs: setup $(VENV)/.installed-docs
	$(PYTEST) tests/docs/test_site.py tests/docs/test_notebooks.py
notebooks: $(VENV)/.installed-docs
	$(BIN)/python docs/hooks/notebooks.py

# The sdist and the wheel, into dist/: their metadata, their files, and the wheel on its own.
package: $(VENV)/.installed-package
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/twine check --strict dist/*
	$(BIN)/python -m tests.distributions dist

# The environment has the groups of pyproject.toml that were needed. Bytecode is compiled at the
# first import, which is less work than compiling all of it.
setup: $(VENV)/.installed-dev
$(VENV)/.installed-%: pyproject.toml $(CONSTRAINTS) | $(BIN)/pip
	$(BIN)/python -m pip install --quiet --no-compile --upgrade pip -c $(CONSTRAINTS)
	$(BIN)/python -m pip install --quiet --no-compile -c $(CONSTRAINTS) -e . --group $*
	@touch $@
$(BIN)/pip:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "doubletrouble needs Python 3.11 or newer, found " + sys.version.split()[0] + "; set PYTHON=")'
	@$(PYTHON) -m venv $(VENV) || { echo "python3 -m venv failed; on Debian: apt install python3-venv" >&2; exit 1; }
clean:
	rm -rf $(VENV) out site dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
