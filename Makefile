# All commands for people and CI. They need only make, bash and Python 3.11 or newer (with venv and pip).

MAKEFLAGS += --no-print-directory
# Tests start hundreds of processes, each of which would compile the packages again without bytecode.
unexport PYTHONDONTWRITEBYTECODE

# A pipe fails if any of its commands does.
SHELL := bash
.SHELLFLAGS := -o pipefail -c

PYTHON ?= python3
BIN := .venv/bin
UV := .venv/.uv
# What `make demo` and `make serve` need, and everything.
RUNS := .venv/.runs
STAMP := .venv/.installed
BENCH_STAMP := .venv/.bench
RESEARCH_STAMP := .venv/.research
SPARK_BIN := .venv-spark/bin
SPARK_STAMP := .venv-spark/.installed
SYNTH_STAMP := .venv-synth/.installed
GENERATOR_STAMP := .venv-generator/.installed
STANDARDS_STAMP := .venv-standards/.installed
AUDIT_STAMP := .venv-audit/.installed

PROJECTS := pyproject.toml advisor/pyproject.toml sdk/pyproject.toml provider/pyproject.toml distribution/VERSION constraints.txt
PINNED := --constraint constraints.txt
TO_RUN := --editable ./advisor --editable './sdk[receipts]' --editable './provider[check]' --editable '.[embedded]'
ALL := $(TO_RUN) --editable './provider[postgres,noise,independence,synth,storage]' --editable '.[telemetry,dev]'

.DEFAULT_GOAL := help
.PHONY: help install demo serve test test-long test-spark test-synth test-standards test-postgres check format openapi migration figures screenshots docs bench chaos load fuzz research evaluate evaluate-papers evaluate-synth audit sbom image-check release clean

help: ## list the commands
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 24

# uv installs what pip would, in a tenth of the time. Not every platform has a wheel of it.
$(UV): constraints.txt
	@command -v "$(PYTHON)" > /dev/null || { echo 'Aegis needs Python 3.11 or newer, but there is no $(PYTHON). Choose another: make PYTHON=python3.12 ...'; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Aegis needs Python 3.11 or newer, but this is %s. Choose another: make PYTHON=python3.12 ..." % sys.version.split()[0])'
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --only-binary uv $(PINNED) uv || true
	@touch $@

# $(call install,ENVIRONMENT,WHAT): with a line for each phase instead of one for each package.
# pip takes over where uv fails: it knows the index that pip is configured with, which uv does not.
define install
{ test -x $(BIN)/uv && $(BIN)/uv pip install --python $(1)/bin/python $(2) 2>&1 | sed '/^ [-+~] /d'; } || { \
	echo "uv is not there, or failed: pip installs the same, which takes minutes ..."; \
	$(BIN)/python -m pip --python $(1)/bin/python install --disable-pip-version-check $(2) | sed -n '/^ *Downloading /p'; }
endef

$(RUNS): $(PROJECTS) | $(UV)
	@echo "Installing what runs into .venv (only once) ..."
	@# An environment from before 0.2 has everything twice, the second time under other names.
	@rm -rf .venv/lib/python3*/site-packages/{,_editable_impl_}aegis_{advisor,sdk,provider,server}{-0.1.0.dist-info,.pth}
	@$(call install,.venv,$(PINNED) $(TO_RUN))
	@touch $@

$(STAMP): $(RUNS)
	@echo "Installing the optional libraries and the tools of tests into .venv (only once) ..."
	@$(call install,.venv,$(PINNED) $(ALL))
	@touch $@

install: $(STAMP) ## install all optional libraries, and the tools of tests, into .venv

demo: $(RUNS) ## run the whole workflow on the example: summarise, publish, ask, mask
	@$(BIN)/python -m examples.demo

serve: $(RUNS) ## run the service with its worker and database until Ctrl-C
	@mkdir -p .aegis
	@echo "Counting the example, which is public, exactly ..."
	@$(BIN)/aegis summarize examples/health/health.csv --plan examples/health/plan.yaml --name health-example --output .aegis/health.json --pairs --exact
	@$(BIN)/aegis-server serve --example .aegis/health.json

test: $(STAMP) ## run the tests (takes minutes)
	@$(BIN)/python -m pytest

# openapi-python-client needs an older typer than the product, so it has an environment of its own.
$(GENERATOR_STAMP): constraints.txt | $(UV)
	@$(PYTHON) -m venv --without-pip .venv-generator
	@grep -v '^typer==' constraints.txt > .venv-generator/constraints.txt
	@$(call install,.venv-generator,--constraint .venv-generator/constraints.txt \
		openapi-python-client==0.29.1 ruamel.yaml==0.19.1 typer==0.27.3)
	@touch $@

test-long: $(BENCH_STAMP) $(GENERATOR_STAMP) ## run the slow tests, those of bench, and property tests with ten times as many examples
	@$(BIN)/python -m pytest -m "long or hypothesis" --hypothesis-profile=long --override-ini=testpaths="tests bench/tests"

$(SPARK_STAMP): $(PROJECTS) | $(UV)
	@java -version > /dev/null 2>&1 || { echo "Spark needs Java 17 or newer, but no java is on the PATH."; exit 1; }
	@echo "Installing Spark into .venv-spark (only once, 500 MB) ..."
	@$(PYTHON) -m venv --without-pip .venv-spark
	@$(call install,.venv-spark,$(PINNED) --editable ./advisor --editable ./sdk --editable './provider[spark]' pytest)
	@touch $@

test-spark: $(SPARK_STAMP) ## test the provider's tools on Spark in local mode; needs Java 17
	@$(SPARK_BIN)/python -m pytest --override-ini=addopts=--import-mode=importlib --confcutdir=tests/spark tests/spark

# Anonymeter needs NumPy 1 and SynthEval NumPy 2, so each has an environment of its own, and Aegis is in neither.
$(SYNTH_STAMP): | $(UV)
	@echo "Installing anonymeter and SynthEval into .venv-synth (only once) ..."
	@$(PYTHON) -m venv --without-pip .venv-synth/anonymeter && $(PYTHON) -m venv --without-pip .venv-synth/syntheval
	@$(call install,.venv-synth/anonymeter,anonymeter==1.1.0)
	@$(call install,.venv-synth/syntheval,syntheval==1.7.0)
	@touch $@

test-synth: $(STAMP) $(SYNTH_STAMP) ## test the attacks on releases against anonymeter and SynthEval
	@$(BIN)/python -m pytest --override-ini=addopts=--import-mode=importlib --confcutdir=tests/synth tests/synth

# Aegis is not in them: validators judge what it writes, and have pins of their own. CKAN's contradict the others'.
$(STANDARDS_STAMP): tests/standards/requirements.txt tests/standards/constraints.txt tests/standards/ckan-constraints.txt | $(UV)
	@echo "Installing the validators of the standards into .venv-standards (only once, 300 MB) ..."
	@test -x .venv-standards/validators/bin/python || $(PYTHON) -m venv --without-pip .venv-standards/validators
	@$(call install,.venv-standards/validators,--constraint tests/standards/constraints.txt \
		--requirement tests/standards/requirements.txt)
	@test -x .venv-standards/ckan/bin/python || $(PYTHON) -m venv --without-pip .venv-standards/ckan
	@$(call install,.venv-standards/ckan,--constraint tests/standards/ckan-constraints.txt \
		'ckan[requirements]' ckanext-dcat)
	@touch $@

test-standards: $(STAMP) $(STANDARDS_STAMP) ## test what Aegis writes for exchanges, catalogues and loaders with their own validators
	@$(BIN)/python -m pytest -m "" tests/standards

# The service's tests, but for those of the embedded server and of what is drawn in browsers.
test-postgres: $(STAMP) ## test the service on another PostgreSQL: make test-postgres programs=/usr/lib/postgresql/15
	@AEGIS_TEST_POSTGRES=$(programs) $(BIN)/python -m pytest tests/app --ignore=tests/app/platform/process

check: $(STAMP) ## run ruff and mypy; check import contracts and that the OpenAPI document is up to date
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/aegis-server openapi --check

format: $(STAMP) ## format the code and fix what ruff can
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

openapi: $(STAMP) ## write openapi/openapi.json
	@$(BIN)/aegis-server openapi

migration: $(STAMP) ## draft a revision from the tables: make migration m="what changes"
	@$(BIN)/aegis-server migrate --draft "$(m)"

figures: ## draw the figures of the documents from their sources; needs Graphviz
	@command -v dot > /dev/null || { echo "No dot is on the PATH: install Graphviz."; exit 1; }
	@for text in docs/figures/*.dot; do \
		{ dot -Tsvg $$text; echo "<!-- drawn from text of git hash $$(git hash-object $$text) -->"; } > $${text%.dot}.svg; done

screenshots: $(STAMP) ## take the pictures of pages that README and docs show; needs Chromium
	@$(BIN)/python -m docs.screenshots

docs: $(STAMP) ## run the documents' commands and update their output
	@$(BIN)/python -m docs.generate --all

$(BENCH_STAMP): $(STAMP) bench/requirements.txt
	@$(call install,.venv,$(PINNED) --requirement bench/requirements.txt)
	@touch $@

bench: $(BENCH_STAMP) ## run the benchmarks and print ratios and medians
	@$(BIN)/python -m bench

chaos: $(BENCH_STAMP) ## kill, stop and cut off the parts of a service under load, 1,000 times, and check what it acknowledged
	@$(BIN)/python -m bench.chaos --faults $(or $(faults),1000)

load: $(BENCH_STAMP) ## many clients of one service (minutes=5 clients=200): what they are answered, how soon, and its memory
	@$(BIN)/python -m bench.load --minutes $(or $(minutes),5) --clients $(or $(clients),200) --rates

fuzz: $(BENCH_STAMP) ## send 100,000 mutated documents of providers and operators to a service, and check what it answers
	@$(BIN)/python -m bench.hostile --cases $(or $(cases),100000)

$(RESEARCH_STAMP): $(STAMP) research/requirements.txt research/constraints.txt
	@$(call install,.venv,$(PINNED) --constraint research/constraints.txt --requirement research/requirements.txt)
	@touch $@

research: $(RESEARCH_STAMP) ## install what the studies need; then .venv/bin/python -m research.evaluation and others run

evaluate: $(RESEARCH_STAMP) ## test the studies, run the evaluation, write research/results/evaluation.md with its plots, and what evaluate-papers does (half an hour)
	@$(BIN)/python -m pytest -m "" research/tests
	@$(BIN)/python -m research.evaluation --output research/results/evaluation.md
	@$(MAKE) evaluate-papers

evaluate-papers: $(RESEARCH_STAMP) ## measure the figures of the papers, and judge their claims (9 minutes with adult=FOLDER, without Adult less)
	@$(BIN)/python -m research.papers $(if $(adult),--adult "$(adult)")

evaluate-synth: $(RESEARCH_STAMP) ## draw the figures of generated tables (half an hour; of Adult, too, with adult=FOLDER: an hour)
	@$(BIN)/python -m research.generation --output research/results/generation_figures.md $(if $(adult),--adult "$(adult)")

# pip-audit has requirements of its own, and none of them belongs in the environment that it judges.
$(AUDIT_STAMP): | $(UV)
	@$(PYTHON) -m venv --without-pip .venv-audit
	@$(call install,.venv-audit,pip-audit==2.10.1)
	@touch $@

audit: $(AUDIT_STAMP) ## compare the pins with the advisories of the package index; needs the network
	@.venv-audit/bin/pip-audit --strict --no-deps --disable-pip --progress-spinner off \
		--requirement constraints.txt --requirement research/constraints.txt

sbom: sbom/aegis-masking-server.cdx.json sbom/aegis-masking.cdx.json sbom/aegis-masking-provider.cdx.json ## write bills of materials (CycloneDX) into sbom/

sbom/aegis-masking-server.cdx.json: installed = ./advisor ./sdk .[embedded]
sbom/aegis-masking-server.cdx.json: project = pyproject.toml
sbom/aegis-masking.cdx.json: installed = ./sdk
sbom/aegis-masking.cdx.json: project = sdk/pyproject.toml
sbom/aegis-masking-provider.cdx.json: installed = ./advisor ./sdk ./provider[postgres,noise,independence,check,synth,storage]
sbom/aegis-masking-provider.cdx.json: project = provider/pyproject.toml

# An environment with nothing else in it, not even pip, so that the bill lists what an installation brings, and no more.
sbom/%.cdx.json: $(STAMP)
	@mkdir -p sbom
	@$(BIN)/python -m venv --clear --without-pip .venv-sbom/$*
	@$(call install,.venv-sbom/$*,$(PINNED) $(patsubst %,'%',$(installed)))
	@$(BIN)/cyclonedx-py environment --pyproject $(project) --gather-license-texts --output-reproducible \
		--validate --output-format JSON --output-file $@ .venv-sbom/$*/bin/python

image-check: $(STAMP) ## try what the Dockerfile copies and installs, and as root its layers, with debootstrap (5 minutes)
	@LAYERS=1 $(BIN)/python -m pytest -n 0 -m "" tests/test_image.py tests/test_image_layers.py

release: $(STAMP) ## make sdists, wheels and what goes with them in dist, tried on PYTHONS; without a tag, a rehearsal (10 minutes)
	@$(BIN)/python -m distribution.release $(PYTHONS)

clean: ## remove all files that these commands made
	rm -rf .venv .venv-spark .venv-synth .venv-standards .venv-generator .venv-audit .venv-sbom sbom .aegis .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
