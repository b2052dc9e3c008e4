# Every target sets up what it needs on a machine that has Python 3.11 or newer and git.

PYTHON ?= python3
WORKERS ?= 2
STORE ?= sqlite
SEEDS ?= 2000
PAIRS ?= all
KILLS ?= 50
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet
SOAK_MARK := ^ *(@|pytestmark = )pytest\.mark\.soak

# pyright ships its own node and its own sources; this keeps it from looking for newer ones.
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1

.DEFAULT_GOAL := help
.PHONY: help demo up test soak faults faults-long mutants check format docs compare trace clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/.services $(if $(filter firestore,$(STORE)),$(VENV)/.cloud) ## Push a commit through the whole system on this machine, and watch it pass (STORE=firestore)
	$(BIN)/anvil demo --store $(STORE)

up: $(VENV)/.services ## Start the local stack and keep it running
	$(BIN)/anvil up

test: $(VENV)/.dev ## Run the tests (ARGS="-k queue" narrows them)
	$(BIN)/pytest -n $(WORKERS) --dist loadfile -m "not soak" $(ARGS)

soak: $(VENV)/.dev ## Run the tests that take minutes
	@if grep -rqE '$(SOAK_MARK)' tests; then $(BIN)/pytest -m soak $(ARGS); else echo "soak: no test is marked soak"; fi

faults: $(VENV)/.dev ## Kill every flow at every call, and let storms rage (ARGS="--seed 7" shows one again)
	$(BIN)/python -m tests.simulation --workers $(WORKERS) $(ARGS)

faults-long: $(VENV)/.dev ## The same for a night, and kill real processes (SEEDS=2000, PAIRS=all, KILLS=50)
	$(BIN)/python -m tests.simulation --workers $(WORKERS) --seeds $(SEEDS) --pairs $(PAIRS)
	ANVIL_KILLS=$(KILLS) $(BIN)/pytest tests/e2e/kills -m soak

mutants: $(VENV)/.dev ## Plant bugs in copies of the sources, and see that each is caught (ARGS=name)
	$(BIN)/python -m tests.mutants $(ARGS)

check: $(VENV)/.dev ## Lint, formatting, types (mypy and pyright, strict) and the layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports

format: $(VENV)/.dev ## Format the sources
	$(BIN)/ruff check --fix --select I .
	$(BIN)/ruff format .

docs: $(VENV)/.dev ## Write the pages that are made from the code (docs/configuration.md)
	$(BIN)/python -m tests.documents

compare: $(VENV)/.services ## Run the ledger and a peer's side by side, and write down what each did (installs the peer in a scratch folder)
	$(BIN)/python -m bench.idempotency

trace: $(VENV)/.dev ## Show which requirements are proven and by which test (RECORD=1 records new ones)
	$(BIN)/python -m tests.trace $(if $(RECORD),--record)

clean: ## Remove the environment and the caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache *.egg-info

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit("Anvil needs Python 3.11 or newer" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.services: requirements/build.txt requirements/services.txt pyproject.toml | $(BIN)/python
	$(PIP) -r requirements/build.txt -r requirements/services.txt
	$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.cloud: requirements/cloud.txt $(VENV)/.services
	$(PIP) -r requirements/cloud.txt
	@touch $@

$(VENV)/.dev: requirements/cloud.txt requirements/dev.txt $(VENV)/.services
	$(PIP) -r requirements/dev.txt
	@touch $@
