"""dequantise.py FROM TO: a GGUF file whose matrices are F16."""

import sys

import gguf
import numpy

reader = gguf.GGUFReader(sys.argv[1])
architecture = reader.fields["general.architecture"].contents()
writer = gguf.GGUFWriter(sys.argv[2], architecture)
for field in reader.fields.values():
    if field.name.startswith("GGUF.") or field.name == "general.architecture":
        continue
    if field.name == "general.file_type":
        writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16)
        continue
    kind = field.types[0]
    inner = field.types[-1] if kind == gguf.GGUFValueType.ARRAY else None
    writer.add_key_value(field.name, field.contents(), kind, sub_type=inner)
for tensor in reader.tensors:
    values = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
    wide = len(tensor.shape) == 1  # llama.cpp wants norms as F32.
    writer.add_tensor(tensor.name, values.astype(numpy.float32 if wide else numpy.float16))
writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()
