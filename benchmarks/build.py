"""How long `make book` takes: from nothing, with the outputs of the notebooks kept, and with nothing to do.

    make bench

Built into an empty folder, not into _build. A notebook's time is the one that myst-nb logs; its share is that of the
build from nothing. Other work on the machine makes all of these longer: compare shares, not seconds.
"""

import re
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
EXECUTED = re.compile(r"(\S+): Executed notebook in ([\d.]+) seconds")


def build(folder, *options):
    """Seconds, and what the build printed."""
    command = ["jupyter-book", "build", ROOT, "--path-output", folder, "-W", "--keep-going", *options]
    start = time.perf_counter()
    made = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    seconds = time.perf_counter() - start
    if made.returncode:
        sys.exit(made.stdout)
    return seconds, re.sub(r"\x1b\[[\d;]*m", "", made.stdout)


def main():
    with TemporaryDirectory() as folder:
        cold, printed = build(folder)
        written, _ = build(folder, "--all")
        nothing, _ = build(folder)
    notebooks = {Path(name).stem: float(seconds) for name, seconds in EXECUTED.findall(printed)}
    notebooks |= {"everything else": cold - sum(notebooks.values())}
    print(f"{'build':<40}{'s':>7}{'of the first':>14}")
    for name, seconds in (("from nothing", cold), ("all pages, outputs kept", written), ("nothing to do", nothing)):
        print(f"{name:<40}{seconds:>7.1f}{seconds / cold:>14.0%}")
    print(f"\n{'in the build from nothing':<40}{'s':>7}{'share':>14}")
    for name, seconds in sorted(notebooks.items(), key=lambda item: -item[1]):
        print(f"{name:<40}{seconds:>7.1f}{seconds / cold:>14.0%}")


if __name__ == "__main__":
    main()
