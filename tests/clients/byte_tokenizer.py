"""byte_tokenizer.py FOLDER: a tokenizer whose tokens are bytes, so that no hub is asked for one."""

import json
import pathlib
import sys

from tokenizers import Tokenizer, decoders, models, pre_tokenizers

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
vocabulary = {letter: number for number, letter in enumerate(alphabet)}
vocabulary["<eos>"] = len(vocabulary)
tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
tokenizer.decoder = decoders.ByteLevel()
tokenizer.save(str(folder / "tokenizer.json"))
(folder / "tokenizer_config.json").write_text(json.dumps({
    "tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "<eos>", "bos_token": "<eos>",
    "pad_token": "<eos>", "model_max_length": 32768}))
