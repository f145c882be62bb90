# Needs only make and Python 3.11 or newer; everything else goes into .venv.
PYTHON ?= python3
JOBS ?= 2
VENV := .venv

# Many tests start Python anew, which has to find its compiled files then.
export PYTHONDONTWRITEBYTECODE :=

# The tested version of each library, by the version of Python.
LISTS := $(wildcard .ci/constraints/*.txt)

BIN := $(VENV)/bin
VERSIONS := $(VENV)/constraints.txt
PIP := PIP_CONSTRAINT=$(VERSIONS) PIP_BUILD_CONSTRAINT=$(VERSIONS) \
	$(BIN)/python -m pip --disable-pip-version-check --no-input -qq
# One process more than JOBS: many tests wait for a browser or for processes of their own.
# A process that crashes ends the run: pytest-xdist would try the same test again, and wait for ever.
PYTEST := $(BIN)/python -m pytest -n $(shell expr $(JOBS) + 1) --dist loadgroup --max-worker-restart 0
SITE := $(BIN)/python -m sphinx -b html -W --keep-going -q -E
REFERENCE := tests/engines/test_events_against_reference.py
RANDOM := $(shell grep -l "import draws" tests/*/test_*.py)

export MPLBACKEND := Agg

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help verify docs course nbgrader axe tsc quick quick-style quick-types quick-tests test test-types test-tests test-newest constraints test-pythons bare test-long test-programs kills mutate mutate-claims fuzz gpu ledger proofs metal planted numba notebooks bench clean

help: ## print this list
	@echo "make TARGET [PYTHON=python3.12] [JOBS=2]"
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 17

verify: $(VENV)/.installed ## check every claim; the reports go to build/verify.json and .html
	@mkdir -p build
	$(BIN)/mmsim verify --json build/verify.json --html build/verify.html

docs: $(VENV)/.documented ## make the documentation site in build/site
	$(SITE) -d build/doctrees docs build/site
	@echo "Open build/site/index.html"

# What the notebooks ask, without an answer in what students get; see docs/how-to/course.md.
COURSE := build/course
course: $(VENV)/.taught ## make site, slides, worksheets and notebooks to be graded in build/course; minutes
	$(SITE) -d build/course-doctrees -D notebook_answers=0 docs $(COURSE)/student/site
	rm -rf $(COURSE)/student/jupyter_execute
	cd notebooks && ../$(BIN)/python -m course ../$(COURSE)

# Grades right, wrong and empty answers with nbgrader, in an environment of its own.
nbgrader: $(VENV)/.testable ## let nbgrader make and grade the notebooks of build/course; minutes
	$(BIN)/python -m tests.kit.tools.nbgrader_grades $(COURSE)

AXE := 4.14.1
AXE_DIGEST := sha512-FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ==
axe: build/axe/$(AXE).js ## fetch axe-core by npm, with which the tests look for barriers on the pages
build/axe/$(AXE).js:
	@mkdir -p build/axe
	cd build/axe && npm pack --silent axe-core@$(AXE)
	cd build/axe && echo "$(AXE_DIGEST)" | cut -d- -f2 | base64 -d | od -An -vtx1 | tr -d ' \n' \
		| sed 's|$$|  axe-core-$(AXE).tgz|' | sha512sum --check --quiet
	cd build/axe && tar -xzf axe-core-$(AXE).tgz package/axe.min.js && mv package/axe.min.js $(AXE).js

TSC := 5.9.3
TSC_DIGEST := sha512-jl1vZzPDinLr9eUt3J/t7V6FgNEw9QjvBPdysz9KfQDD41fQrC2Y4vKQdiaUpFT4bXlb1RHhLpp8wtm6M5TgSw==
tsc: build/tsc/$(TSC)/_tsc.js ## check the engine in JavaScript by TypeScript's compiler, fetched by npm
	node $< --project tests/javascript
build/tsc/$(TSC)/_tsc.js:
	@mkdir -p build/tsc
	cd build/tsc && npm pack --silent typescript@$(TSC)
	cd build/tsc && echo "$(TSC_DIGEST)" | cut -d- -f2 | base64 -d | od -An -vtx1 | tr -d ' \n' \
		| sed 's|$$|  typescript-$(TSC).tgz|' | sha512sum --check --quiet
	cd build/tsc && tar -xmzf typescript-$(TSC).tgz package/lib && rm -rf $(TSC) && mv package/lib $(TSC) && rmdir package

test: $(VENV)/.testable ## check format and style, then types while the tests and doctests run
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	@$(MAKE) --no-print-directory --jobs 2 test-types test-tests
test-types: $(VENV)/.testable
	$(BIN)/mypy --strict
test-tests: $(VENV)/.testable
	$(PYTEST) --doctest-modules mmsim .venv/names benchmarks/laboratory tests notebooks/classroom.py notebooks/sealed.py notebooks/course

# The core of each room, and what holds the house together; tests/house/test_quick.py reads the list.
QUICK := $(addprefix tests/, \
	claims/test_claims.py cli/test_conflicts_command.py cuda/test_dispatcher.py cuda/test_types.py \
	cudart/test_raw_kernel.py \
	docs/test_abbreviations.py \
	engines/test_timing_rules.py engines/test_schedules.py engines/test_units.py \
	frontend/test_language_meaning.py frontend/test_dialects.py frontend/test_remedies.py \
	gpu/test_cuda_writer.py host/test_owned.py \
	house/test_house.py house/test_quick.py house/test_startup.py \
	ir/test_needs.py ir/test_liveness.py ir/test_representation.py \
	javascript/test_js_types.py kernels/test_reductions.py meaning/test_launches_again.py \
	model/test_conflicts.py model/test_turns.py model/test_layouts.py model/test_machines.py \
	model/test_threads.py model/test_cache_rule.py \
	monitors/test_races.py monitors/test_listener.py papers/test_permutations.py \
	proof/test_launches.py \
	results/test_difference.py sweeps/test_machine_columns.py \
	verifier/test_verified_proofs.py view/test_tabular.py)
quick: $(VENV)/.testable ## check style, types and the core of each room, in a minute; for a first change
	@$(MAKE) --no-print-directory --jobs $(JOBS) quick-style quick-types quick-tests
quick-style: $(VENV)/.testable
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
quick-types: $(VENV)/.testable
	$(BIN)/mypy --strict --package mmsim
quick-tests: $(VENV)/.testable
	$(BIN)/python -m pytest -q -n $(JOBS) --dist loadgroup $(QUICK)

test-newest: ## as test, with the newest version of each library, in build/newest
	rm -rf build/newest
	$(MAKE) VENV=build/newest LISTS= test

# After an edit of the dependencies, or for newer versions; then run the tests on each Python.
MINORS := $(shell sed -n 's/.*Python :: \(3\.[0-9]*\)".*/\1/p' pyproject.toml)
constraints: $(VERSIONS) ## list the newest version of each library in .ci/constraints, to be tested
	$(PIP) install uv
	for minor in $(MINORS); do \
		$(BIN)/uv pip compile --quiet --upgrade --python-platform linux --python-version $$minor --no-annotate \
			--custom-compile-command "make constraints" --group test --extra cuda-c --extra cuda-programs --extra notebook \
			--output-file .ci/constraints/$$minor.txt pyproject.toml || exit; \
	done

test-pythons: $(VENV)/.testable ## run the fast tests on every Python found, with the oldest libraries and the newest
	$(BIN)/python -m tests.kit.tools.pythons --jobs $(JOBS) $(CHOICE)

bare: $(VERSIONS) ## run the first program and the commands as an unknown user without a home; needs root
	PYTHONPATH=notebooks $(BIN)/python -m tests.kit.tools.bare_container

# Pytest exits with status 5 when no test is marked long; that is not a failure here.
test-long: $(VENV)/.testable ## compare the engines and the reference at length, and run the long tests
	$(PYTEST) -m long --ignore=$(REFERENCE) tests || test $$? -eq 5
	MMSIM_EXAMPLES=2000 $(PYTEST) -m "long or not long" $(REFERENCE)
	MMSIM_EXAMPLES=500 $(PYTEST) $(filter-out $(REFERENCE),$(RANDOM))
	$(BIN)/python -m tests.kit.tools.agreement --count 20000 --jobs $(JOBS)

# nvcc's wheels are large, so they have an environment of their own, on top of .venv.
PROGRAMS := build/programs
test-programs: $(PROGRAMS)/.made ## compile and run whole programs of CUDA C++; fetches nvcc's wheels, needs g++
	CUDA_HOME=$$(echo $(CURDIR)/$(PROGRAMS)/lib/python*/site-packages/nvidia/cu*) \
		$(BIN)/python -m pytest -q -m long -rs tests/cudart/test_programs.py
$(PROGRAMS)/.made: $(VENV)/.testable pyproject.toml
	$(BIN)/python -m venv --clear $(PROGRAMS)
	PIP_CONSTRAINT=$(VERSIONS) $(PROGRAMS)/bin/python -m pip --no-input -qq install $(CUDA_WHEELS)
	@touch $@
CUDA_WHEELS := $(addprefix nvidia-,cuda-cccl cuda-crt cuda-nvcc cuda-profiler-api cuda-runtime nvvm)

kills: $(VENV)/.testable ## kill a sweep 50 times and count what its file lost; takes minutes
	$(BIN)/python -m tests.kit.tools.kill_sweeps --kills 50 --seed 1

MUTATION := benchmarks/results/mutation.json
mutate: $(VENV)/.testable ## change the rooms that hold rules bit by bit and see whether a test, and each claim, notices
	$(BIN)/python -m tests.kit.mutation.mutate --jobs $(JOBS) --save $(MUTATION)
	$(BIN)/python -m tests.kit.mutation.page $(MUTATION) docs/mutation.md
	$(MAKE) mutate-claims

# The kept run names the commit of the sources: commit them before.
CLAIMS_MUTATION := benchmarks/results/claims-mutation.json
mutate-claims: $(VENV)/.testable ## change the rules of the model and see which claims still hold; takes minutes
	$(BIN)/python -m tests.kit.mutation.mutate_claims --jobs $(JOBS) --save $(CLAIMS_MUTATION)
	$(BIN)/python -m tests.kit.mutation.claims_page $(CLAIMS_MUTATION) > docs/mutation-claims.md

gpu: $(VENV)/.testable ## run 300 random programs on a GPU and compare the arrays with the simulator's; CuPy must be in .venv
	@mkdir -p build
	$(BIN)/python -m tests.kit.cards.gpu_programs --json build/gpu.json

fuzz: $(VENV)/.testable ## try 100,000 mutated programs and 20,000 damaged files; takes minutes
	$(BIN)/python -m tests.kit.tools.fuzz --jobs $(JOBS)

# The kept verdicts name the commit of the sources: commit them before.
ledger: verify ## check every claim, keep the verdicts in docs/verdicts.json, make docs/ledger.md of them
	cp build/verify.json docs/verdicts.json
	$(BIN)/python -m mmsim_algorithms.reports.ledger docs/verdicts.json > docs/ledger.md

proofs: $(VENV)/.installed ## prove the exact claims, keep the outcomes in algorithms/proofs.json, make docs/proofs.md of them; minutes
	$(BIN)/mmsim prove --jobs $(JOBS) --json algorithms/proofs.json
	$(BIN)/python -m mmsim_algorithms.reports.proofs algorithms/proofs.json > docs/proofs.md

metal: $(VENV)/.documented ## make docs/metal.md, docs/metal-counters.md and the figures from the results kept of a GPU
	$(BIN)/python -m benchmarks.laboratory.page docs

planted: $(VENV)/.installed ## check the planted bugs, print what is found, and make docs/planted.md of it
	$(BIN)/python -m tests.kit.tools.planted_bugs docs

NUMBA_SUITE := benchmarks/results/numba-suite.json
numba: $(VENV)/.testable ## run numba-cuda's own tests on mmsim and make docs/numba-suite.md of the outcomes; takes minutes
	$(BIN)/python -m tests.kit.numba_suite.run --jobs $(JOBS) --json $(NUMBA_SUITE)
	$(BIN)/python -m tests.kit.numba_suite.page $(NUMBA_SUITE) > docs/numba-suite.md

notebooks: $(VENV)/.testable ## execute the notebooks and save what they show
	$(BIN)/python notebooks/execute.py

bench: $(VENV)/.installed ## measure the speed; takes minutes, Ctrl-C prints what there is
	@mkdir -p build
	$(BIN)/mmsim bench --json build/bench.json

clean: ## remove all that make has made, .venv too
	rm -rf .venv build dist docs/notebooks docs/gallery docs/algorithms/pictures *.egg-info .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Set-up, by stamps: the environment, the versions that pip may take, the library, what the site and
# the tests need on top. These add to the environment and leave the library alone, so
# `make -j verify test` is safe.
#
# The first stamp names the version of Python. If no PYTHON is asked for, that of .venv stays;
# if another is asked for, .venv is made anew.
MINOR := $(shell $(PYTHON) -c "import sys; v = sys.version_info; print('3.%d' % v[1] if v >= (3, 11) else '')" 2>/dev/null)
MADE := $(VENV)/.made-$(MINOR)
ifeq ($(origin PYTHON),file)
MADE := $(firstword $(wildcard $(VENV)/.made-*) $(MADE))
endif
LIST := $(filter %/$(MADE:$(VENV)/.made-%=%).txt,$(LISTS))

$(MADE):
	$(if $(MINOR),,$(error mmsim needs Python 3.11 or newer and \
	"$(PYTHON)" is not: try "make PYTHON=python3.12"))
	@echo "Making $(VENV) with $(PYTHON)"
	@$(PYTHON) -m venv --clear $(VENV)
	@touch $@

$(VERSIONS): $(MADE) $(LIST)
	@echo "Taking the $(if $(LIST),versions of $(LIST),newest version of each library)"
	@cat $(LIST) /dev/null > $@
	@$(PIP) install --upgrade pip

$(VENV)/.installed: $(VERSIONS) pyproject.toml
	@echo "Installing mmsim into $(VENV) (the first time takes a minute)"
	@$(PIP) install --editable .
	@mkdir -p .venv/names && ln -sfn ../../algorithms .venv/names/mmsim_algorithms
	@touch $@

$(VENV)/.documented: $(VENV)/.installed
	@echo "Installing what the site needs into $(VENV)"
	@$(PIP) install --group docs
	@touch $@

$(VENV)/.taught: $(VENV)/.documented
	@echo "Installing what the course needs into $(VENV)"
	@$(PIP) install --group course
	@touch $@

$(VENV)/.testable: $(VENV)/.taught
	@echo "Installing what the tests need into $(VENV)"
	@$(PIP) install --group test
	@touch $@
