"""Our tokenizer against the reference, on tokenizers that are trained here: reference.py ASSAY.

Texts go through the server (/tokenize, /detokenize), so that what is compared is what clients get.
Code points that are newer than PCRE2's Unicode (14) are counted apart: the two may know different
ones.
"""

import http.client
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import unicodedata

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers
from tokenizers import pre_tokenizers as pre
from tokenizers import processors, trainers

SEED = 20240901
LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
POSSESSIVE = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
O200K = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
# Given characters in Unicode 15 and later.
NEWER = [(0x0CF3, 0x0CF3), (0x0ECE, 0x0ECE), (0x10EFD, 0x10EFF), (0x1123F, 0x11241),
         (0x11B00, 0x11B09), (0x11F00, 0x11F59), (0x1342F, 0x1345F), (0x1B132, 0x1B132),
         (0x1B155, 0x1B155), (0x1D2C0, 0x1D2D3), (0x1DF25, 0x1DF2A), (0x1E030, 0x1E08F),
         (0x1E4D0, 0x1E4F9), (0x1F6DC, 0x1F6DC), (0x1F774, 0x1F77F), (0x1F7D9, 0x1F7D9),
         (0x1FA75, 0x1FA77), (0x1FA87, 0x1FA88), (0x1FAAD, 0x1FAAF), (0x1FABB, 0x1FABF),
         (0x1FACE, 0x1FADB), (0x1FAE8, 0x1FAF8), (0x31350, 0x323AF)]

BLANKS = ["\t", "\n", "\v", "\f", "\r", " ", "\r\n", "\x1c", "\x1f", "\x85", "\xa0", "\u1680",
          "\u180e", "\u2000", "\u200a", "\u200b", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000",
          "\ufeff"]
WORDS = ["the", "The", "THE", "don't", "DON'T", "we'll", "I'M", "they'Re", "it's", "x's", "naïve",
         "über", "straße", "ﬁne", "Ωmega", "日本語", "漢字かな", "한국어", "العربية", "हिन्दी", "ไทย",
         "עברית", "12", "2024", "3.14159", "٣٤٥", "²³", "Ⅷ", "½", "x=1;", "->", "==", "!!!", "...",
         "/usr/bin", "a_b", "\u017fs", "'\u017f", "\u212a", "'\u212a", "İ", "ı", "ǅ", "\u0149"]
MARKS = ["\u0301", "\u0308", "\u0327", "\u0345", "\u05b0", "\u0941", "\u3099", "\u20dd", "\ufe0f",
         "\u200d", "\u0300\u0323", "e\u0301", "e\u0323\u0307", "\u1100\u1161\u11a8", "\u212b",
         "\u0344", "\ufb2c", "\u2f800", "\U0001d15e"]
EMOJI = ["😀", "👩‍👩‍👧‍👦", "🇩🇪", "👍🏽", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "𝔘𝔫𝔦", "𐍈", "𠀋", "\U0010ffff", "\ufffd", "\uffff",
         "\x00", "\x7f", "\x01"]


def is_newer(text):
    return any(
        unicodedata.category(c) == "Cn" or any(a <= ord(c) <= b for a, b in NEWER) for c in text
    )


def any_character(rng):
    while True:
        point = rng.choice([rng.randrange(0x300), rng.randrange(0x3000), rng.randrange(0x20000),
                            rng.randrange(0x110000)])
        if not 0xD800 <= point <= 0xDFFF:
            return chr(point)


def any_text(rng, tokens):
    pools = [BLANKS, WORDS, MARKS, EMOJI, tokens]
    parts = []
    for _ in range(rng.randrange(1, 24)):
        kind = rng.randrange(9)
        if kind < 5:
            part = rng.choice(pools[kind])
        elif kind == 5:
            part = any_character(rng)
        elif kind == 6:
            part = rng.choice(BLANKS) * rng.randrange(1, 6)
        elif kind == 7:
            token = rng.choice(tokens)
            part = token[: rng.randrange(len(token) + 1)]
        else:
            part = " " + rng.choice(WORDS)
        parts.append(part)
    return "".join(parts)


def fixed_texts():
    yield from ["", " ", "\n", "a", " a", "'s", "\u2029", "\u0301", "\u0301\u0301 \u0301"]
    yield from ["\r\n\r\n  x", "a" * 5000, "ab" * 5000, "!" * 5000, "1" * 5000, "é" * 5000]
    yield from [" " * 1_000_000, " " * 500_000 + "x", "\n" * 100_000, "\u3000" * 100_000]
    yield from ["\u0301" * 5000, "a" + "\u0301\u0323" * 2000, "'" * 3000, " '" * 3000]
    yield from [c * n for c in BLANKS for n in (1, 2, 3)]


def corpus():
    rng = random.Random(SEED)
    common = ["kernel", "the model", "matrix", "of a token", "attention", "weights", "isn't", "über",
              "日本語の文", "données", "1234", "    return x;\n", "\n\n", "(a + b)", "http://", "😀"]
    for _ in range(4000):
        yield " ".join(rng.choice(common + WORDS) for _ in range(12))


def byte_level(**options):
    return pre.ByteLevel(**{"add_prefix_space": False, **options})


def trained(pre_tokenizer, *, normalizer=None, size=1500, added=(), post=None, patch=None):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizer
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(corpus(), trainers.BpeTrainer(
        vocab_size=size, initial_alphabet=pre.ByteLevel.alphabet(), show_progress=False,
        special_tokens=["<|im_start|>", "<|im_end|>", "<|begin_of_text|>"]))
    tokenizer.add_tokens(list(added))
    if post is not None:
        tokenizer.post_processor = post(tokenizer)
    if patch is None:
        return tokenizer
    described = json.loads(tokenizer.to_str())
    patch(described)
    return Tokenizer.from_str(json.dumps(described))


def begins(tokenizer):
    return processors.Sequence([
        processors.ByteLevel(trim_offsets=False),
        processors.TemplateProcessing(
            single="<|begin_of_text|> $A",
            special_tokens=[("<|begin_of_text|>", tokenizer.token_to_id("<|begin_of_text|>"))]),
    ])


def byte_fallback():
    alphabet = [f"<0x{b:02X}>" for b in range(256)]
    vocab = {token: i for i, token in enumerate(["<unk>"] + alphabet + list("abcdehort n'éß日"))}
    merges = []
    for left, right in [("t", "h"), ("th", "e"), (" ", "the"), ("日", "日")]:
        vocab[left + right] = len(vocab)
        merges.append((left, right))
    tokenizer = Tokenizer(models.BPE(vocab, merges, unk_token="<unk>", byte_fallback=True))
    tokenizer.pre_tokenizer = pre.Split(" ", "merged_with_next")
    tokenizer.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Fuse()])
    return tokenizer


def ignore_merges(described):
    described["model"]["ignore_merges"] = True


def pairs_as_text(described):
    described["model"]["merges"] = [" ".join(pair) for pair in described["model"]["merges"]]


ADDED = [
    AddedToken("<|im|>", normalized=False),
    AddedToken("<|im_start|>user", normalized=False),
    AddedToken("[LEFT]", lstrip=True, normalized=False),
    AddedToken("[RIGHT]", rstrip=True, normalized=False),
    AddedToken("[BOTH]", lstrip=True, rstrip=True, normalized=True),
    AddedToken("caf\u0065\u0301", normalized=True),
    AddedToken("  ", normalized=False),
    AddedToken("é", normalized=False),
]


def split(pattern, behavior="isolated", invert=False):
    return pre.Sequence([pre.Split(Regex(pattern), behavior, invert), byte_level(use_regex=False)])


CONFIGURATIONS = {
    "llama3": (10_000, lambda: trained(split(LLAMA3), normalizer=normalizers.NFC(), post=begins,
                                       added=ADDED, patch=ignore_merges)),
    "gpt2": (2000, lambda: trained(byte_level(), patch=pairs_as_text)),
    "smollm": (2000, lambda: trained(pre.Sequence([pre.Digits(True), byte_level()]))),
    "prefixed": (2000, lambda: trained(
        pre.Sequence([pre.Digits(False), byte_level(add_prefix_space=True)]), added=ADDED)),
    "possessive": (2000, lambda: trained(split(POSSESSIVE))),
    "o200k": (2000, lambda: trained(split(O200K), normalizer=normalizers.Sequence(
        [normalizers.NFC(), normalizers.NFC()]), added=ADDED)),
    "han": (1000, lambda: trained(split(r"\p{Han}+|[\p{Hiragana}\p{Katakana}]+|\s"))),
    "removed": (500, lambda: trained(split(r"\s+", "removed"))),
    "previous": (500, lambda: trained(split(r"[\s']", "merged_with_previous"))),
    "next": (500, lambda: trained(split(r"[\s']", "merged_with_next"))),
    "contiguous": (500, lambda: trained(split(r"[\s']", "contiguous", True))),
    "fallback": (1000, byte_fallback),
}


class Server:
    def __init__(self, assay, folder, tokenizer):
        path, port = os.path.join(folder, "tokenizer.json"), os.path.join(folder, "port")
        tokenizer.save(path)
        self.process = subprocess.Popen(
            [assay, "serve", "--port", "0", "--port-file", port, "--tokenizer", path, "--quiet",
             "--max-body", "64"])
        deadline = time.monotonic() + 120
        while not os.path.exists(port):
            assert self.process.poll() is None and time.monotonic() < deadline, "no server"
            time.sleep(0.01)
        with open(port) as file:
            self.connection = http.client.HTTPConnection("127.0.0.1", int(file.read()), timeout=120)

    def ask(self, path, body):
        self.connection.request("POST", path, json.dumps(body),
                                {"Content-Type": "application/json"})
        response = self.connection.getresponse()
        answer = response.read()
        assert response.status == 200, (path, response.status, answer[:400])
        return json.loads(answer)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        assert self.process.wait(60) == 0


class Comparison:
    def __init__(self, name, server, tokenizer):
        self.name, self.server, self.tokenizer = name, server, tokenizer
        self.compared = self.newer = 0
        self.failures = []

    def note(self, same, text, ours, theirs):
        self.compared += 1
        if same:
            return
        if is_newer(text):
            self.newer += 1
        else:
            self.failures.append((text[:200], ours[:40], theirs[:40]))

    def text(self, text, special):
        theirs = self.tokenizer.encode(text, add_special_tokens=special).ids
        ours = self.server.ask("/tokenize", {"prompt": text, "add_special_tokens": special})
        self.note(ours["tokens"] == theirs, text, ours["tokens"], theirs)
        self.tokens(theirs, text)

    def tokens(self, ids, text=""):
        theirs = self.tokenizer.decode(ids, skip_special_tokens=False)
        ours = self.server.ask("/detokenize", {"tokens": ids})["prompt"]
        self.note(ours == theirs, text, ours, theirs)


def compare(assay, name, count, make):
    rng = random.Random(f"{SEED} {name}")
    tokenizer = make()
    vocabulary = sorted(tokenizer.get_vocab().values())
    tokens = [token.content for token in tokenizer.get_added_tokens_decoder().values()] or ["<unk>"]
    with tempfile.TemporaryDirectory() as folder, Server(assay, folder, tokenizer) as server:
        comparison = Comparison(name, server, tokenizer)
        for text in fixed_texts():
            comparison.text(text, True)
        for i in range(count):
            comparison.text(any_text(rng, tokens), i % 2 == 0)
            # Bytes that are no text: which of them become U+FFFD depends on the decoder, so a
            # fallback's are compared as texts alone.
            if name != "fallback" and i % 4 == 0:
                comparison.tokens([rng.choice(vocabulary) for _ in range(rng.randrange(1, 12))])
    print(f"{name}: {comparison.compared} compared, {len(comparison.failures)} differ, "
          f"{comparison.newer} differ in characters newer than Unicode 14")
    for failure in comparison.failures[:5]:
        print("  text {!r}\n    ours   {}\n    theirs {}".format(*failure))
    return not comparison.failures and comparison.newer * 100 < comparison.compared


def main():
    assay, only = sys.argv[1], sys.argv[2:]
    same = [compare(assay, name, *configuration) for name, configuration in CONFIGURATIONS.items()
            if not only or name in only]
    return 0 if all(same) else 1


if __name__ == "__main__":
    sys.exit(main())
