# Everything runs in .venv at the project's root; the first target that needs it makes it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
OLDEST := .venv-oldest
OLDEST_PYTHON ?= python3.11

# The benchmark tables are not part of the project; where they lie beside it, tests and benchmarks use them.
ifneq ($(wildcard ../shared/data),)
export MICROAGG_DATA ?= $(abspath ../shared/data)
endif

# Each of two processes takes half of the tests in order, and what the other has left when it is
# done: so they load a kernel, and make what the tests of a file share, mostly once.
PYTEST := -m pytest -n 2 --dist worksteal

# Python keeps what it compiled of the tests: to collect them takes half as long the second time.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo quick test oldest coverage check hostile killed papers quality beyond bench peers \
  docs docs-serve pictures screenshots dist clean

demo: $(VENV)/.ready
	$(BIN)/microagg demo --force

# What a developer needs at every step, in less than two minutes on two cores: a test that takes
# more than a second is marked slow and left out, and Hypothesis draws few examples. What stays is
# every promise and refusal of every method, figures of several papers, the command line, files,
# plans, releases, measures and the report; only `make test` has scikit-learn's checks of the methods.
quick: $(VENV)/.ready
	MICROAGG_CASES=90 $(BIN)/python $(PYTEST) -m 'not slow' --hypothesis-profile=quick tests

test: $(VENV)/.ready
	$(BIN)/python $(PYTEST)

# The same with the least version of every library that pyproject.toml allows. The kernels that an
# old numba compiled stay apart from those of the new one.
oldest: $(OLDEST)/.ready
	NUMBA_CACHE_DIR=$(abspath $(OLDEST))/kernels $(OLDEST)/bin/python $(PYTEST)

# Lines and branches. A compiled kernel runs unseen by Python, so the kernels' own tests, and
# others on few records, run once more uncompiled; numbers that wrap around are warned of there.
UNCOMPILED := tests/kernels tests/constraints tests/requirements tests/partitions/test_requirements.py \
  $(addprefix tests/bounds/,test_fast.py test_generation.py test_semidefinite.py) \
  $(addprefix tests/measures/risk/,test_linkage.py test_units.py) \
  $(addprefix tests/contract/test_promises.py::,test_few_records test_awkward_data) \
  --ignore=tests/kernels/test_background.py \
  --deselect=tests/bounds/test_semidefinite.py::test_squares_that_underflow_prove_nothing_and_warn_of_nothing
coverage: $(VENV)/.ready
	$(BIN)/coverage erase
	$(BIN)/coverage run $(PYTEST)
	NUMBA_DISABLE_JIT=1 $(BIN)/coverage run $(PYTEST) -m 'not slow' --hypothesis-profile=quick \
	  -W 'ignore:overflow encountered in scalar:RuntimeWarning' $(UNCOMPILED)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

check: $(VENV)/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Careless tables, damaged files, kills and races for an hour, or MINUTES=300; SEED=7 repeats a trial.
MINUTES ?= 60
PROCESSES ?= 2
hostile: $(VENV)/.ready
	$(BIN)/python -m tests.hostile --minutes $(MINUTES) --processes $(PROCESSES) $(if $(SEED),--seed $(SEED))

papers: $(VENV)/.ready
	$(BIN)/python -m benchmarks.papers

quality: $(VENV)/.ready
	$(BIN)/python -m benchmarks.quality

killed: $(VENV)/.ready
	$(BIN)/python -m tests.scale.killing 50

# Forty-four million records take an hour on two cores; MICROAGG_SPACE names a folder with 20 GB.
beyond: $(VENV)/.ready
	$(BIN)/python -m benchmarks.beyond_memory normal 1000000 3000000 10000000
	$(BIN)/python -m benchmarks.beyond_memory mixed 30000000

bench: $(VENV)/.bench-ready
	$(BIN)/python -m benchmarks

# pycanon pins its libraries, so it has an environment of its own.
peers: $(VENV)/.ready .venv-peers/.ready
	PYCANON_PYTHON=$(abspath .venv-peers)/bin/python $(BIN)/python -m benchmarks.pycanon_agreement

.venv-peers/.ready:
	$(PYTHON) -m venv --clear .venv-peers
	.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check 'pycanon==1.3.6'
	@touch $@

# The site, in site/: open site/index.html, or look at it while you write. A warning is an error.
docs: $(VENV)/.ready
	$(BIN)/python -m docs.builder

docs-serve: $(VENV)/.ready
	$(BIN)/python -m docs.builder serve

# The sdist and the wheel, in dist/.
dist: $(VENV)/.ready
	rm -rf dist
	$(BIN)/python -m build --no-isolation

# The picture of the README.
pictures: $(VENV)/.ready
	$(BIN)/python -m docs.builder.pictures

# Needs Chromium; CHROMIUM=/path/to/it says where it is.
screenshots: $(VENV)/.ready
	$(BIN)/python -m docs.builder.screenshots

$(VENV)/.ready: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' || \
	  { echo "microagg needs Python 3.11 to 3.13; $(PYTHON) is $$($(PYTHON) --version 2>&1). Try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

$(VENV)/.bench-ready: $(VENV)/.ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	@touch $@

$(OLDEST)/.ready: pyproject.toml .ci/oldest.py
	$(OLDEST_PYTHON) -m venv --clear $(OLDEST)
	$(OLDEST)/bin/python .ci/oldest.py > $(OLDEST)/constraints.txt
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check \
	  --constraint $(OLDEST)/constraints.txt --editable '.[dev]'
	@touch $@

clean:
	rm -rf $(VENV) $(OLDEST) .venv-peers .coverage .coverage.* .pytest_cache .mypy_cache .ruff_cache .hypothesis benchmarks/results hostile-results microagg-demo build dist site
