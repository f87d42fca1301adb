"""Which Chromium the browser tests use; `python tests/site/find_chromium.py --install` sees to it that there is one."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

# no traffic of the browser's own; as root (in a container) it starts only without its sandbox
FLAGS = ["--no-sandbox", "--disable-quic", "--disable-background-networking"]
# The same browser without its windows comes first: all tests together take a fifth less time.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
DEBIAN = ("chromium-headless-shell", "chromium")


def find_chromium():
    """The executable named by CHROMIUM, else one on PATH, else Playwright's own, else Debian's; None if there is none."""
    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
    installed = [path for path in (own, *(f"/usr/bin/{name}" for name in DEBIAN)) if Path(path).exists()]
    candidates = [os.environ.get("CHROMIUM"), *map(shutil.which, NAMES), *installed]
    return next(filter(None, candidates), None)


def install_chromium():
    if shutil.which("apt-get") and os.geteuid() == 0:
        apt = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(["apt-get", "update", "-qq"], env=apt, check=True)
        install = ["apt-get", "install", "-y", "-qq"]
        installed = any(subprocess.run([*install, name], env=apt, stdout=subprocess.DEVNULL).returncode == 0 for name in DEBIAN)
        if not installed:
            sys.exit(f"apt-get could install none of {DEBIAN}")
    else:
        subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=True)


if __name__ == "__main__":
    if "--install" in sys.argv and not find_chromium():
        install_chromium()
    print(find_chromium() or sys.exit("no Chromium found"))
