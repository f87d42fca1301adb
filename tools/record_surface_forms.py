"""Writes src/multihead/data/surface_forms.json anew: how the sentences of the grammar are written, by kiwipiepy.

    python tools/record_surface_forms.py
"""

import json

from kiwipiepy import Kiwi

from multihead.models.grammar import HONORIFIC_OF, IT, LINKS, OBJECTS, SURFACE_FILE, TIMES, VERB_OF

TAGS = {"었": [("었", "EP")], "ㄹ 것이": [("ᆯ", "ETM"), ("것", "NNB"), ("이", "VCP")], "고": [("고", "EC")], "다": [("다", "EF")]}


def kiwi_morphemes(forms: list[str]) -> list[tuple[str, str]]:
    """The morphemes and tags that kiwipiepy's ``join`` wants for a noun with its particle or a verb with its endings."""
    if forms[-1] in ("가", "를"):
        return [(forms[0], "NP" if forms[0] == IT else "NNG"), (forms[1], "JKS" if forms[1] == "가" else "JKO")]
    verb, honorific, tense, ending = forms
    return [(verb, "VV"), *([("시", "EP")] if honorific == "시" else []), *TAGS[tense], *TAGS[ending]]


def make_surface_forms() -> dict[str, str]:
    """All written forms."""
    kiwi = Kiwi()
    groups = [[noun, "가"] for noun in HONORIFIC_OF] + [[noun, "를"] for noun in (*VERB_OF, IT)]
    groups += [[v, s, t, e] for v in OBJECTS for s in ("시", "∅") for t in TIMES for e in LINKS]
    forms = {"+".join(group): kiwi.join(kiwi_morphemes(group)) for group in groups}
    return {group: form + ("." if group.endswith("+다") else "") for group, form in forms.items()}


if __name__ == "__main__":
    SURFACE_FILE.write_text(json.dumps(make_surface_forms(), ensure_ascii=False, indent=0) + "\n", "utf-8")
