"""Sphinx extension: a section's anchor is its heading, ``#헤드-나누기``.

docutils keeps only ASCII, so a Korean heading becomes ``id2``, a number that moves when a heading is added above it.
The new ids are set right after parsing, before Sphinx and MyST look at them: the table of contents, permalinks and
links such as ``[..](#헤드-나누기)`` or ``[..](03_split_heads.ipynb#헤드-나누기)`` all see the same anchor.
"""

import re

from docutils import nodes
from sphinx.transforms import SphinxTransform


def slugify(title: str) -> str:
    """Lower-case letters (any script) and digits; every run of anything else is one hyphen."""
    return re.sub(r"[\W_]+", "-", title.lower()).strip("-")


def unique(slug: str, taken: set[str]) -> str:
    """``slug``, or the first of ``slug-2``, ``slug-3``, ... that nothing else on the page has."""
    candidate, number = slug, 1
    while candidate in taken:
        number += 1
        candidate = f"{slug}-{number}"
    return candidate


class KoreanAnchors(SphinxTransform):
    default_priority = 845  # before SphinxDomains (850), which reads the ids

    def apply(self, **kwargs) -> None:
        document = self.document
        sections = list(document.findall(nodes.section))
        automatic = {id(section): section["ids"][0] for section in sections}
        taken = set(document.ids) - set(automatic.values())
        slugs = {}
        for section in sections:
            old = automatic[id(section)]
            title = section[0].astext()
            new = unique(slugify(title) or old, taken)
            taken.add(new)
            section["ids"][0] = new
            document.ids.pop(old, None)
            document.ids[new] = section
            for name in section["names"]:
                if document.nameids.get(name) == old:
                    document.nameids[name] = new
            slugs[new] = (section.line, new, title)
        # What MyST resolves "#..." links with, on this page and from other pages.
        document.myst_slugs = self.env.metadata[self.env.docname]["myst_slugs"] = slugs


def setup(app):
    app.add_transform(KoreanAnchors)
    return {"parallel_read_safe": True, "parallel_write_safe": True, "version": "1"}
