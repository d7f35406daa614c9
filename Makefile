# Everything runs in .venv at the project's root; the first target that needs it makes it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# The benchmark tables are not part of the project; where they lie beside it, tests and benchmarks use them.
ifneq ($(wildcard ../shared/data),)
export MICROAGG_DATA ?= $(abspath ../shared/data)
endif

.PHONY: demo test check papers quality bench screenshots clean

demo: $(VENV)/.ready
	$(BIN)/microagg demo --force

test: $(VENV)/.ready
	$(BIN)/python -m pytest -n 2

check: $(VENV)/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

papers: $(VENV)/.ready
	$(BIN)/python -m benchmarks.papers

quality: $(VENV)/.ready
	$(BIN)/python -m benchmarks.quality

bench: $(VENV)/.bench-ready
	$(BIN)/python -m benchmarks

# Needs Chromium; CHROMIUM=/path/to/it says where it is.
screenshots: $(VENV)/.ready
	$(BIN)/python docs/screenshots.py

$(VENV)/.ready: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' || \
	  { echo "microagg needs Python 3.11 to 3.13; $(PYTHON) is $$($(PYTHON) --version 2>&1). Try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

$(VENV)/.bench-ready: $(VENV)/.ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	@touch $@

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis benchmarks/results microagg-demo
