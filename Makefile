# Every target sets up what it needs first. `make` alone lists them.
PYTHON ?= python3
PORT ?= 8000
SEED ?= 1
BIN := .venv/bin
READY := .venv/.ready
SITE := _build/html
LIVE := .venv/live
COURSE := .venv/course
# The notebooks that differ from the last commit; asked for only where it is used.
CHANGED = $(shell git diff --name-only --diff-filter=d HEAD -- '*.ipynb'; \
	git ls-files --others --exclude-standard -- '*.ipynb')
NOTEBOOKS := $(shell find book -name '*.ipynb' -not -path '*/.*')

# A processor of 2008, simulated: numbers and figures must not depend on a newer one.
OLD_PROCESSOR := OPENBLAS_CORETYPE=Nehalem ATEN_CPU_CAPABILITY=default \
	NPY_DISABLE_CPU_FEATURES="X86_V3 X86_V4 AVX512_ICL AVX512_SPR"

# Nobody's own matplotlibrc may change a figure.
export MPLCONFIGDIR := $(CURDIR)/.venv/matplotlib

.PHONY: help book engine serve test weekly check worlds mutants modules tamper axe firefox live test-portable outputs \
	kept kept-again machines bench lighthouse card lint lab conf links clean course course-variants course-report \
	course-test course-trial without-torch

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:.*##/\t/' | expand -t 16

book: $(READY) engine  ## build the site
	$(BIN)/jupyter-book build . --all -W -n --keep-going  # all: styles and docstrings are no pages
	@echo
	@echo "The book is in $(SITE). Open $(SITE)/index.html in a browser,"
	@echo "or type 'make serve' and open http://127.0.0.1:$(PORT)/."

# Python for the reader's browser, once; without a network this says so, and goes on.
engine: $(READY)
	@$(BIN)/python tools/live/engine.py $(LIVE)

serve: book  ## build the site and serve it on this machine only
	$(BIN)/python -m http.server $(PORT) --bind 127.0.0.1 --directory $(SITE)

test: $(READY) engine  ## prove the library and the book, every output of every notebook
	$(BIN)/python -m pytest

check: lint  ## the fast loop: style, the core, the book's lint, the changed notebooks
	$(BIN)/python -m pytest -q --core tests/lib tests/book \
		--ignore=tests/book/test_mutations.py pe_lib/*.py pe_lib/beyond $(CHANGED)

weekly: $(READY) engine  ## what `make test` leaves out: second proofs of the same (2 minutes)
	$(BIN)/python -m pytest --weekly tests

worlds: $(READY)  ## prove the NumPy part on other Pythons and NumPys, and on 32-bit integers
	test -e .venv/worlds/bin/nox || { $(PYTHON) -m venv .venv/worlds && \
		.venv/worlds/bin/python -m pip install --quiet --requirement tools/worlds/requirements.txt; }
	.venv/worlds/bin/nox --envdir .venv/nox

mutants: $(READY)  ## break the core on purpose, in a copy; compare with tests/lib/mutants.txt
	test -e .venv/mutants/.ready || { $(BIN)/python -m pip install --quiet \
		--target .venv/mutants --requirement tools/mutants/requirements.txt && \
		touch .venv/mutants/.ready; }
	PYTHONPATH=$(CURDIR)/.venv/mutants $(CURDIR)/$(BIN)/python tools/mutants/run.py

axe: $(READY)  ## look for barriers on whole pages, nothing thinned out (15 minutes)
	$(BIN)/python -m pytest --dist=load tests/site/whole_pages.py

firefox: $(READY)  ## open every page and play with every explorer in Firefox (3 minutes)
	$(BIN)/python -m pytest -n0 -q tests/site/firefox_pages.py

live: $(READY) engine  ## run every cell of every NumPy chapter in Chromium and in Firefox (10 minutes)
	$(BIN)/python -m pytest -n0 -s -q tests/site/live_pages.py

modules: $(READY)  ## check five hundred generated modules: a report for each, no crash
	OMP_NUM_THREADS=1 $(BIN)/python tests/lib/check_generated.py 500

tamper: $(READY)  ## change 50 operators and constants of cells; compare with tools/tamper.txt
	$(BIN)/python tools/tamper.py $(SEED)

test-portable: $(READY)  ## run the notebooks on a simulated older processor
	$(OLD_PROCESSOR) $(BIN)/python -m pytest book

outputs: $(NOTEBOOKS:book/%.ipynb=.venv/outputs/%)  ## execute the changed notebooks in place

.venv/outputs/%: book/%.ipynb $(wildcard pe_lib/*.py pe_lib/*/*) tools/execute.py $(READY)
	$(BIN)/python tools/execute.py $<
	@mkdir -p $(@D) && touch $@

kept: $(READY)  ## train the kept results that are missing or out of date (all: 50 minutes of a core)
	$(BIN)/python book/experiments/data/runs.py

kept-again: $(READY)  ## make the kept results again on two threads, and compare (needs two idle cores)
	OMP_WAIT_POLICY=PASSIVE $(BIN)/python book/experiments/data/threads.py

machines: $(READY)  ## cut a text for 2 and 4 processes, compare with one; keeps book/beyond/data
	$(BIN)/python tools/machines/start.py --ranks 2,4 --cost 512,1024,2048,4096 --own --keep

bench: $(READY)  ## measure pe_lib beside its peers; keeps benchmarks/*.txt
	test -e .venv/peers/.ready || { $(BIN)/python -m pip install --quiet --no-deps \
		--target .venv/peers --requirement benchmarks/requirements.txt && \
		touch .venv/peers/.ready; } || echo "Not all peers could be installed."
	OMP_NUM_THREADS=1 PYTHONPATH=.venv/peers $(BIN)/python benchmarks/tables.py
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/forward.py
	OMP_NUM_THREADS=1 PYTHONPATH=.venv/peers $(BIN)/python benchmarks/rotary.py
	OMP_NUM_THREADS=1 PYTHONPATH=.venv/peers $(BIN)/python benchmarks/angles.py
	OMP_NUM_THREADS=1 PYTHONPATH=.venv/peers $(BIN)/python benchmarks/biases.py
	OMP_NUM_THREADS=1 PYTHONPATH=.venv/peers $(BIN)/python benchmarks/conformance.py

lighthouse: book  ## measure pages as a phone loads them (needs Node and Chromium)
	$(BIN)/python tools/lighthouse.py

card: $(READY)  ## draw the picture that social networks show
	$(BIN)/python tools/card.py

lint: $(READY)  ## style and annotations
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/oxlint --deny-warnings

lab: $(READY)  ## open the notebooks in JupyterLab
	$(BIN)/python -m pip install --quiet --constraint constraints.txt jupyterlab jupyterlab-myst
	$(BIN)/jupyter trust $(NOTEBOOKS) >/dev/null  # JupyterLab hides what it does not trust: figures
	$(BIN)/jupyter lab --LabApp.default_url=/lab/tree/problem/order_blindness.ipynb book

course: book  ## write the course kit into course/ (CHAPTERS="counting rotary" for some)
	test -e .venv/pdf/.ready || { $(BIN)/python -m pip install --quiet --no-deps \
		--target .venv/pdf --requirement tools/course/requirements-pdf.txt && touch .venv/pdf/.ready; }
	PYTHONPATH=book/_ext:.venv/pdf $(BIN)/python tools/course/build.py $(CHAPTERS)

course-variants: $(READY)  ## numbers of their own for the students of CLASS=... (KEY=1: the key alone)
	PYTHONPATH=book/_ext $(BIN)/python tools/course/variants.py "$(CLASS)" $(CHAPTERS) \
		$(if $(TERM_NAME),--term "$(TERM_NAME)") $(if $(KEY),--key)

course-report: $(READY) $(if $(GRADER),$(COURSE)/.ready)  ## grade the notebooks in FOLDER=...; writes FOLDER/report.csv (CLASS=... for variants, GRADER=nbgrader or otter)
	PYTHONPATH=book/_ext $(if $(GRADER), \
		$(COURSE)/bin/python tools/course/large.py "$(FOLDER)" $(GRADER) $(if $(JOBS),--jobs $(JOBS)) $(CHAPTERS), \
		$(BIN)/python tools/course/report.py "$(FOLDER)" $(if $(CLASS),--class "$(CLASS)") $(CHAPTERS))

course-test: $(COURSE)/.ready  ## try the kit with nbgrader and otter-grader (four chapters: 10 minutes of a core)
	PYTHONPATH=book/_ext $(COURSE)/bin/python tools/course/prove.py $(if $(LIGHT),--light --all) $(if $(STALE),--light --all --stale) $(CHAPTERS)

course-trial: $(READY)  ## grade two hundred made-up students, broken ones too; compare every row (GRADER=nbgrader or otter: half an hour)
	rm -rf .venv/trial/student-*
	PYTHONPATH=book/_ext $(BIN)/python tools/course/crowd.py .venv/trial 200 \
		$(if $(GRADER),counting adding,counting rotation dials adding formula)
	$(MAKE) course-report FOLDER=.venv/trial GRADER=$(GRADER) JOBS=$(JOBS)
	PYTHONPATH=book/_ext $(BIN)/python tools/course/crowd.py .venv/trial --compare $(GRADER)

$(COURSE)/.ready: tools/course/requirements.txt tools/course/constraints.txt | $(READY)
	$(PYTHON) -m venv $(COURSE)
	$(COURSE)/bin/python -m pip install --quiet --requirement tools/course/requirements.txt
	$(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' > \
		"$$($(COURSE)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/book.pth"
	@touch $@

without-torch: $(READY)  ## run the NumPy chapters where only requirements-numpy.txt is installed
	test -e .venv/numpy/.ready || { $(PYTHON) -m venv .venv/numpy && \
		.venv/numpy/bin/python -m pip install --quiet --requirement requirements-numpy.txt && \
		touch .venv/numpy/.ready; }
	PYTHONPATH=book/_ext:tools/course $(BIN)/python tools/course/bare.py .venv/numpy/bin/python

links: $(READY)  ## ask every page elsewhere that the book points to (needs a network)
	$(BIN)/jupyter-book build . --all --builder linkcheck

conf: clean book  ## build the site with Sphinx alone; compare it with that of `make book`
	$(BIN)/python tools/plain_sphinx.py

clean:  ## remove the built site
	rm -rf _build

$(READY): $(wildcard requirements*.txt) constraints.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "This book needs Python 3.11 or newer: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || \
		{ echo "This Python lacks its venv module: install it (Debian, Ubuntu: apt install python3-venv)"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --requirement requirements.txt
	$(BIN)/python -c 'import matplotlib.pyplot'  # builds its font cache
	@touch $@
