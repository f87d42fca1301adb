"""How long `make book` takes: from nothing, with the outputs of the notebooks kept, and with nothing to do.

    make bench

Built into an empty folder, not into _build. Notebooks run side by side, one for each core, so that their times add up to
more than the build takes. Other work on the machine makes all of these longer: compare shares, not seconds.
"""

import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from jupyter_cache import get_cache

ROOT = Path(__file__).parents[1]


def build(folder, *options):
    """Seconds."""
    command = ["jupyter-book", "build", ROOT, "--path-output", folder, "-W", "--keep-going", *options]
    start = time.perf_counter()
    made = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    seconds = time.perf_counter() - start
    if made.returncode:
        sys.exit(made.stdout)
    return seconds


def main():
    with TemporaryDirectory() as folder:
        cold = build(folder)
        written = build(folder, "--all")
        nothing = build(folder)
        [cache] = Path(folder, "_build", ".jupyter_cache").iterdir()
        notebooks = {Path(record.uri).stem: record.data["execution_seconds"] for record in get_cache(cache).list_cache_records()}
    print(f"{'build':<40}{'s':>7}{'of the first':>14}")
    for name, seconds in (("from nothing", cold), ("all pages, outputs kept", written), ("nothing to do", nothing)):
        print(f"{name:<40}{seconds:>7.1f}{seconds / cold:>14.0%}")
    print(f"\n{'notebook':<40}{'s':>7}{'of all of them':>14}")
    for name, seconds in sorted(notebooks.items(), key=lambda item: -item[1]):
        print(f"{name:<40}{seconds:>7.1f}{seconds / sum(notebooks.values()):>14.0%}")


if __name__ == "__main__":
    main()
