# The two commands of the README: `make demo` and `make test`. GNU make 3.81 (macOS) understands this file.
# Everything is installed into .venv; nothing outside this folder is changed.

SHELL := /bin/sh
LOCK := requirements/dev.lock
VENV := .venv
BIN := $(VENV)/bin
# The stamp carries the content of what was installed, so a fresh checkout's file times do not matter.
STAMP := $(VENV)/installed-$(shell cat $(LOCK) pyproject.toml | cksum | cut -d ' ' -f 1)
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input
# Options for the last command of a target: make test ARGS="-k select", make demo ARGS="--into story".
ARGS ?=
# So many processes share the tests; 0 runs them in one, for a debugger.
JOBS ?= 2

.PHONY: demo test e2e docs live lint fix bench schemas lock crash fuzz audit dogfood dist

demo: $(STAMP)
	$(BIN)/python -m touchstone demo $(ARGS)

test: $(STAMP)
	$(BIN)/python -m pytest --numprocesses $(JOBS) --dist loadfile --no-loadscope-reorder $(ARGS)

# Sees the pages in the system's Chromium, which is not installed here; .ci/run does that. Pictures of all that
# was seen lie in build/pages afterwards.
browser: $(STAMP)
	$(BIN)/python -m pytest -m browser tests/browser $(ARGS)

# Plays the demo and takes the pictures of docs/images anew. Needs Chromium too, and takes a few minutes.
pictures: $(STAMP)
	$(BIN)/python .ci/pictures.py $(ARGS)

# A second real engine beside the embedded one; its environment is kept in the cache folder. Optional.
live: $(STAMP)
	$(BIN)/python -m pytest -m live tests/live $(ARGS)

# The Action as a runner runs it, by act on this machine, against a GitHub of the tests; the hooks by pre-commit; the
# demo from the wheel.
e2e: $(STAMP)
	$(BIN)/python -m pytest -m e2e tests/action tests/test_hooks.py tests/test_package.py $(ARGS)

# The crash matrix with every way to fail at every point; make test tries each point, most of them in one way.
crash: $(STAMP)
	CRASH_MATRIX=all $(BIN)/python -m pytest -q tests/cli/test_crash_matrix.py $(ARGS)

# Fuzzing guided by coverage, RUNS inputs for each target. Atheris is brought by its own lock; it has wheels for
# Linux on x86-64. What is found lies in .fuzz/TARGET/.
RUNS ?= 100000
fuzz: $(STAMP)
	$(PIP) install --quiet --upgrade --require-hashes --requirement requirements/fuzz.lock --target .fuzz/lib
	@for target in judge stream pack baseline comment; do \
	  echo "== $$target: $(RUNS) inputs"; \
	  PYTHONPATH=.fuzz/lib $(BIN)/python -m tests.fuzz.run $$target --runs $(RUNS) || exit 1; \
	done

# Asks the package index whether a weakness of anything in the lock file is known. Needs uv on PATH.
audit:
	uv tool run --from pip-audit==2.9.0 pip-audit --require-hashes --disable-pip --requirement $(LOCK)

# The wheel and the source distribution, as the release workflow publishes them, in dist/.
dist: $(STAMP)
	@rm -rf dist
	$(BIN)/python -m hatchling build -d dist -t sdist -t wheel

# Holds this repository's own answers against its baseline. The verdict counts where engine build and chip are the
# baseline's; elsewhere it is shown.
dogfood: $(STAMP)
	$(BIN)/python .ci/dogfood.py

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/zizmor --offline --quiet --no-progress --strict-collection action.yml .github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-actions action.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --schemafile schemas/config.json touchstone.yaml
	$(BIN)/check-jsonschema --schemafile schemas/pack.json packs/*.yaml touchstone/demo/files/*.yaml
	$(BIN)/check-jsonschema --check-metaschema schemas/*.json
	$(BIN)/pre-commit validate-manifest .pre-commit-hooks.yaml
	$(BIN)/python -m pytest -q tests/test_docs.py tests/test_docs_reference.py
	$(BIN)/mkdocs build --strict --site-dir $(VENV)/site

# The documents as a site in site/, every link and anchor checked.
docs: $(STAMP)
	$(BIN)/mkdocs build --strict $(ARGS)

fix: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# One table of every figure beside its target; over one, it ends with 1. make bench ARGS="compare page" picks,
# ARGS=--quick takes each once, ARGS=--write puts it into docs/explanation/speed.md. Wants an idle machine.
bench: $(STAMP)
	$(BIN)/python -m benchmarks $(ARGS)

# Writes schemas/*.json anew from the classes that read those files; a test says when they have drifted.
schemas: $(STAMP)
	@mkdir -p schemas
	@for kind in $$($(BIN)/python -m touchstone schema); do \
	  $(BIN)/python -m touchstone schema $$kind > schemas/$$kind.json || exit 1; \
	done

# Writes the lock file anew with today's versions; needs uv on PATH (CONTRIBUTING.md).
lock:
	uv pip compile --upgrade --universal --python-version 3.11 --generate-hashes \
	  --no-header --no-annotate --no-emit-index-url --no-emit-find-links \
	  --extra dev --extra demo pyproject.toml requirements/build.in --output-file $(LOCK)
	uv pip compile --universal --python-version 3.11 --generate-hashes --constraint $(LOCK) \
	  --no-header --no-annotate --no-emit-index-url --no-emit-find-links \
	  pyproject.toml --output-file requirements/action.lock

$(STAMP):
	@.ci/venv $(VENV) $(PYTHON)
	@echo "installing what $(LOCK) lists (from the package index, once)" >&2
	$(PIP) install --quiet --require-hashes --requirement $(LOCK)
	$(PIP) install --quiet --no-deps --no-build-isolation --editable .
	@rm -f $(VENV)/installed-*
	@touch $(STAMP)
