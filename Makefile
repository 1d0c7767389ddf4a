# Everything runs in .venv, made on first use from the pinned requirements/dev.txt. Needs Python 3.11-3.14 (PyTorch and
# Ray have no builds for a later one; engine, bots and search alone run on 3.15 too) and make.
#   make demo        install, a start-player study, then a bot that trains itself, plays, and is studied
#   make test        ruff, mypy and the quick tests        make test-all   ... and the long proof
#   make lint        ruff and mypy                         make bench      speed of the engine on this machine
#   make lock        pins the newest dependencies          make clean      removes .venv and caches
# Another Python: make venv PYTHON=python3.13

PYTHON ?= python3
JOBS ?= auto
VENV := .venv
BIN := $(VENV)/bin
DEMO := results/demo
PYTEST := $(BIN)/python -m pytest -n $(JOBS) --dist worksteal

.PHONY: venv demo test test-all lint bench lock clean
.DELETE_ON_ERROR:

venv: $(VENV)/.installed

# The stamp is written last: an install that was broken off is finished by the next call.
$(VENV)/.installed: requirements/dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 15))' || \
	  { echo "make: $(PYTHON) is not Python 3.11-3.14; say which one to use: make $(or $(MAKECMDGOALS),venv) PYTHON=/path/to/python3.12" >&2; exit 2; }
	@rm -f $@
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $@

demo: venv
	$(BIN)/luna seats --players 2 3 4 --agents greedy --deals 500 --seed 1 --out $(DEMO)/greedy
	$(BIN)/luna train --config configs/train/quick.yaml --workers 2 --out $(DEMO)/training
	$(BIN)/luna evaluate $(DEMO)/training --deals 20
	$(BIN)/luna seats --players 2 3 4 --agents net:$(DEMO)/training/checkpoints/latest,sims=8 --deals 60 --seed 1 --out $(DEMO)/bot
	@echo
	@echo "How it learned, and who won from which seat on the way: $(BIN)/tensorboard --logdir $(DEMO)/training/tensorboard"
	@echo "then open http://localhost:6006, page Custom Scalars; docs/METRICS.md explains every curve."

lint: venv
	$(BIN)/ruff check
	$(BIN)/mypy

test: lint
	$(PYTEST) -m "not slow"

test-all: lint
	$(PYTEST)

bench: venv
	$(BIN)/luna bench engine

# What only the CUDA builds of PyTorch need is not pinned: they bring it themselves, and the CPU build does without.
lock:
	$(PYTHON) -m venv $(VENV)-lock
	$(VENV)-lock/bin/python -m pip install --quiet uv
	for extra in "" dev; do \
	  $(VENV)-lock/bin/uv pip compile --quiet --universal --upgrade --no-annotate --python-version 3.11 $${extra:+--extra $$extra} \
	    --constraint constraints/cpu.txt \
	    --custom-compile-command "make lock" --output-file requirements/$${extra:-base}.txt pyproject.toml || exit 1; \
	done
	sed -i.bak -E '/^(nvidia|cuda|triton)/d' requirements/dev.txt && rm -f requirements/dev.txt.bak
	rm -rf $(VENV)-lock

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis dist build
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
