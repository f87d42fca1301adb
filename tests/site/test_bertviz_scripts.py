"""The addresses in bertviz's iframes, as bertviz writes them and as an attribute holds them."""

import re
from html import escape
from pathlib import Path

import bertviz
import bertviz_scripts
import pytest


@pytest.mark.parametrize("view", ["head_view", "model_view", "neuron_view"])
@pytest.mark.parametrize("quote", [str, escape])
def test_everything_that_bertviz_loads_comes_from_the_site(view, quote):
    sources = Path(bertviz.__file__).parent.glob(f"{view}.*")
    served = "".join(bertviz_scripts.serve_from_site(quote(path.read_text("utf-8")), "../v") for path in sources)
    assert "cdnjs" not in served
    files = {name if name.endswith(".js") else f"{name}.js" for name in re.findall(r"\.\./v/vendor/([\w.]+)", served)}
    assert files == {"require.js", "d3.min.js", "jquery.min.js"}
