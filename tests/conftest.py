"""The shapes in the annotations of the mathematics are enforced while testing, and only then."""

from jaxtyping import install_import_hook

_MATHEMATICS = [f"multihead.{name}" for name in ("attention", "cache", "grouped", "counting")]
install_import_hook(_MATHEMATICS, "beartype.beartype").__enter__()
