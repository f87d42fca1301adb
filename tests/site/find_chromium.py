"""Which Chromium the browser tests use; `python tests/site/find_chromium.py --install` sees to it that there is one."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

# no traffic of the browser's own; as root (in a container) it starts only without its sandbox
FLAGS = ["--no-sandbox", "--disable-quic", "--disable-background-networking"]
DEBIAN = "/usr/bin/chromium"


def find_chromium():
    """The executable named by CHROMIUM, else one on PATH, else Playwright's own, else Debian's; None if there is none."""
    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
    on_path = [shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome")]
    candidates = [os.environ.get("CHROMIUM"), *on_path, *(path for path in (own, DEBIAN) if Path(path).exists())]
    return next(filter(None, candidates), None)


def install_chromium():
    if shutil.which("apt-get") and os.geteuid() == 0:
        apt = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(["apt-get", "update", "-qq"], env=apt, check=True)
        subprocess.run(["apt-get", "install", "-y", "-qq", "chromium"], env=apt, check=True, stdout=subprocess.DEVNULL)
    else:
        subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=True)


if __name__ == "__main__":
    if "--install" in sys.argv and not find_chromium():
        install_chromium()
    print(find_chromium() or sys.exit("no Chromium found"))
