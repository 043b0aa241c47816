# Every target does its own set-up: Debian packages, .venv, pinned Python packages, the native core.
# Stamp files under .venv make the second run start at once; delete .venv to begin anew.

PYTHON ?= python3
BIN := .venv/bin
STAMPS := .venv/stamps
NATIVE_SOURCES := CMakeLists.txt $(shell find native -type f 2>/dev/null)

# The ROM package is used for its data file only; its dependencies do not work with NumPy 2.
ROM_PACKAGE := gym-super-mario-bros==7.4.0

# The run that `make train` makes: by default a new one, named after the time. `make train MODEL=ddqn SEED=1` is one, too.
RUN ?= $(shell date +%Y-%m-%d_%H-%M-%S)
MODEL ?= ppo
LEVEL ?= 1-1
SEED ?= 0

.PHONY: help setup train test docs-check lint format bench results explore curriculum cartridge drmario selfplay distill mednafen test-native clean
.DELETE_ON_ERROR:

help:
	@echo "make train        train an agent on 1-1, evaluate it, record a video (minutes)"
	@echo "make test         lint, then all tests"
	@echo "make docs-check   run every command of the documentation, the long ones shortened (ten minutes)"
	@echo "make lint         ruff, mypy, clang-format"
	@echo "make format       rewrite the sources as the linters want them"
	@echo "make bench        measure ourselves and our peers, rewrite docs/results.md"
	@echo "make results      train ppo and ddqn with three seeds each, rewrite docs/results.md (half an hour and more)"
	@echo "make explore      find a way through all 32 levels with three seeds, rewrite docs/results.md (half an hour)"
	@echo "make curriculum   train with and without curricula on six levels, rewrite docs/results.md (hours)"
	@echo "make cartridge    assemble Antidote, our own cartridge: mario_rl/roms/antidote.nes"
	@echo "make drmario      measure the Dr. Mario engine and its bots, rewrite docs/results.md (minutes)"
	@echo "make selfplay     train agents of Dr. Mario by self-play, measure and package them, rewrite docs/results.md (an hour and more)"
	@echo "make distill      make players for inside the cartridge, let the ROMs play, rewrite docs/results.md (an hour and more)"
	@echo "make mednafen     compare our core with Mednafen, measure the server, rewrite docs/results.md (minutes)"
	@echo "make test-native  the native core's fuzz under address and undefined-behaviour sanitizers"
	@echo "make setup        only the set-up: .venv with everything installed"
	@echo "make clean        remove what was built"

# := in a rule of its own, so that every line below means the same run.
train: RUN := $(RUN)
train: setup
	$(BIN)/mario-rl train --preset laptop --model $(MODEL) --level $(LEVEL) --seed $(SEED) --name $(RUN)
	$(BIN)/mario-rl evaluate $(RUN) --episodes 100
	$(BIN)/mario-rl plot $(RUN)
	$(BIN)/mario-rl record $(RUN)
	@echo
	@echo "everything is in checkpoints/$(RUN)/:"
	@echo "the video in videos/, the curves in plots/, the figures in evaluation.json"
	@echo "see it play             $(BIN)/mario-rl watch $(RUN)"
	@echo "try it somewhere else   $(BIN)/mario-rl evaluate $(RUN) --level 1-2"
	@echo "another level or model  make train LEVEL=1-2 MODEL=ddqn"
	@echo "all that can be set     $(BIN)/mario-rl train --help"

# One process per core: most tests use one. Names and times: make test PYTEST="-v --durations=20"
test: lint
	$(BIN)/python -m pytest -n auto --maxprocesses 4 --dist worksteal $(PYTEST)

# What `make test` only reads: every command in README.md and docs/. One page: make docs-check PYTEST="-k training.md"
docs-check: setup
	$(BIN)/python -m pytest tests/docs -m docs -v -n 2 --dist load --maxschedchunk 1 $(PYTEST)

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	scripts/check_native_format.sh $(BIN)/clang-format

format: setup
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .
	scripts/check_native_format.sh $(BIN)/clang-format --fix

bench: setup
	mkdir -p benchmarks/results
	$(BIN)/mario-rl bench emulators --json benchmarks/results/emulators.json
	$(BIN)/mario-rl bench environment --json benchmarks/results/environment.json
	$(BIN)/mario-rl bench gradients --json benchmarks/results/gradients.json
	$(BIN)/mario-rl bench cluster --json benchmarks/results/cluster.json
	$(BIN)/python -m benchmarks.report

results: setup
	mkdir -p benchmarks/results
	$(BIN)/python -m benchmarks.training --json benchmarks/results/training.json
	$(BIN)/python -m benchmarks.report

explore: setup
	mkdir -p benchmarks/results
	$(BIN)/python -m benchmarks.explore --json benchmarks/results/explore.json
	$(BIN)/python -m benchmarks.report

curriculum: setup
	mkdir -p benchmarks/results
	$(BIN)/python -m benchmarks.curriculum --json benchmarks/results/curriculum.json
	$(BIN)/python -m benchmarks.report

cartridge: setup
	$(BIN)/python cartridge/build.py

drmario: setup
	mkdir -p benchmarks/results
	$(BIN)/mario-rl bench drmario --json benchmarks/results/drmario.json
	$(BIN)/python -m benchmarks.report

selfplay: RUN := $(RUN)
selfplay: setup
	mkdir -p benchmarks/results
	$(BIN)/mario-rl selfplay train --preset laptop --name $(RUN)-selfplay
	$(BIN)/mario-rl selfplay train --env frames --name $(RUN)-buttons
	$(BIN)/mario-rl selfplay train --env frames --network cnn --name $(RUN)-cnn
	$(BIN)/python -m benchmarks.selfplay --run checkpoints/$(RUN)-selfplay \
		--frames checkpoints/$(RUN)-buttons/player.pt --beside "before PPO=checkpoints/$(RUN)-buttons/imitated.pt" \
		--beside "cnn=checkpoints/$(RUN)-cnn/player.pt" --package --json benchmarks/results/selfplay.json
	$(BIN)/python -m benchmarks.report

distill: setup
	mkdir -p benchmarks/results
	$(BIN)/python -m benchmarks.distill --package --json benchmarks/results/distill.json
	$(BIN)/python -m benchmarks.report

mednafen: setup
	mkdir -p benchmarks/results
	$(BIN)/mario-rl bench emulators --reference mednafen --json benchmarks/results/reference.json
	$(BIN)/mario-rl bench server --json benchmarks/results/server.json
	$(BIN)/python -m benchmarks.report

test-native: setup
	scripts/test_native.sh

clean:
	rm -rf .venv .venv-peers build .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

setup: $(STAMPS)/native

$(STAMPS)/debian: scripts/install_debian_packages.sh
	PYTHON=$(PYTHON) scripts/install_debian_packages.sh
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	mkdir -p $(STAMPS) && touch $@

# constraints.txt pins every package, so it serves as the list of what to install, too. Its torch comes from the package
# index with CUDA; PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu gets the much smaller CPU build.
$(STAMPS)/python: $(STAMPS)/debian constraints.txt
	$(BIN)/python -m pip install --quiet --requirement constraints.txt
	$(BIN)/python -m pip install --quiet --no-deps $(ROM_PACKAGE)
	touch $@

# The project itself, editable. The build directory stays, so a change in native/ compiles only what it touches.
$(STAMPS)/native: $(STAMPS)/python pyproject.toml $(NATIVE_SOURCES)
	$(BIN)/python -m pip install --quiet --no-build-isolation --no-deps --editable .
	touch $@
