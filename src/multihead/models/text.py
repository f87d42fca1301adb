"""One text, one answer: whatever its Unicode form, text means the same in Python, in every widget and in the search.

``widgets/text.js`` does the same in the browser; a test holds the two equal.
"""

import re
import unicodedata

# Spelled out, not asked of unicodedata: Python and browsers know different versions of Unicode.
SPACE = "\t-\r\x1c- \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
# Controls; soft hyphen; Hangul fillers; joiners, marks of direction and other formatting; variation selectors; the
# byte-order mark; private use; noncharacters and lone surrogates; tags.
INVISIBLE = (
    "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ud800-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffd-\uffff\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U0010ffff"
)


def normalize_text(text: str) -> str:
    """Text as composed syllables, with one plain space wherever there was white space, and nothing that is not seen.

    An emoji that is joined from several falls into these; accents and letter case stay. What is already normal stays as
    it is.
    """
    visible = re.sub(f"[{INVISIBLE}]", "", text)
    return re.sub(f"[{SPACE}]+", " ", unicodedata.normalize("NFC", visible)).strip(" ")
