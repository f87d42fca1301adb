// One text, one answer: what models/text.py does, for what a reader types. A test holds the two equal.

const SPACE = /[\t-\r\x1c- \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/gu;
const INVISIBLE = new RegExp("[\\x00-\\x08\\x0e-\\x1b\\x7f-\\x84\\x86-\\x9f\\xad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5"
    + "\\u180b-\\u180f\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\u3164\\u{d800}-\\u{f8ff}\\ufe00-\\ufe0f\\ufeff\\uffa0"
    + "\\ufff0-\\ufffb\\ufffd-\\uffff\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{10ffff}]", "gu");

// Composed syllables, one plain space wherever there was white space, and nothing that is not seen.
export function normalizeText(text) {
    return text.replace(INVISIBLE, "").normalize("NFC").replace(SPACE, " ").replace(/^ | $/g, "");
}
