"""SM90 GEMMs of nvidia-cutlass-operators (TMA, wgmma) as one shared object for tvm_ffi.

    pip install nvidia-cutlass-dsl apache-tvm-ffi
    pip install --no-deps nvidia-cutlass-operators
    python export_operators.py --dtype f16 --layout tn --output operators_f16_tn
    assay race operators_f16_tn.yaml --shape m=2048,n=2048,k=2048,dtype=f16,layout=tn

Compiles every tile and cluster that the kernel takes, without a card, and writes OUTPUT.so and the
manifest OUTPUT.yaml.
"""

import argparse
import importlib.util
import os
import subprocess
import sys
import tempfile

parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
parser.add_argument("--dtype", choices=["f16", "bf16"], default="f16")
parser.add_argument("--out", choices=["f16", "bf16", "f32"], help="default: as --dtype")
parser.add_argument("--layout", choices=["tt", "tn", "nt", "nn"], default="tn")
parser.add_argument("--output", default="operators")
parser.add_argument("--few", action="store_true", help="three configurations instead of all")
parser.add_argument("--multiprocessors", type=int, default=132, help="of the card: blocks at once")
options = parser.parse_args()
options.out = options.out or options.dtype

os.environ["CUTE_DSL_ARCH"] = "sm_90a"  # Read when the package is imported.

import cutlass  # noqa: E402
import cutlass.cute as cute  # noqa: E402
from cutlass.cute.runtime import (  # noqa: E402
    find_runtime_libraries,
    make_fake_compact_tensor,
    make_fake_stream,
)

DTYPES = {"f16": cutlass.Float16, "bf16": cutlass.BFloat16, "f32": cutlass.Float32}


def load_kernel():
    """The kernel's file alone: importing the package as a whole wants torch."""
    inside = "operators/providers/cutedsl/gemm/implementations/sm90_static_persistent_impl.py"
    for folder in sys.path:
        file = os.path.join(folder, "cutlass", inside)
        if os.path.isfile(file):
            spec = importlib.util.spec_from_file_location("sm90_static_persistent_impl", file)
            module = importlib.util.module_from_spec(spec)
            sys.modules[spec.name] = module
            spec.loader.exec_module(module)
            return module.Sm90StaticPersistentGemmKernel
    sys.exit("not installed: pip install --no-deps nvidia-cutlass-operators")


def matrix(dtype, rows, columns, major):
    order = (1, 0) if major == "t" else (0, 1)
    return make_fake_compact_tensor(dtype, (rows, columns), stride_order=order, assumed_align=16)


# Tensor maps step by 16 bytes: whichever size lies side by side is a multiple of 8.
by_rows_a, by_rows_b = options.layout[0] == "t", options.layout[1] == "t"
eights = {"n": 8}
eights["k" if by_rows_a else "m"] = 8
if not by_rows_b:
    eights["k"] = 8

configurations = [
    (tile, cluster)
    for tile in [(m, n) for m in (64, 128) for n in (64, 128, 256)]
    for cluster in [(1, 1), (2, 1), (1, 2), (2, 2)]
]
if options.few:
    configurations = [((128, 128), (1, 1)), ((128, 256), (2, 1)), ((64, 128), (1, 1))]

Kernel = load_kernel()
entries = []
with tempfile.TemporaryDirectory() as folder:
    for tile, cluster in configurations:
        name = f"sm90_{tile[0]}x{tile[1]}_{cluster[0]}x{cluster[1]}"
        m, n, k = (cute.sym_int(divisibility=eights.get(size, 1)) for size in "mnk")
        try:
            compiled = cute.compile[cute.GPUArch("sm_90a"), cute.EnableTVMFFI(True)](
                Kernel(cutlass.Float32, tile, cluster),
                matrix(DTYPES[options.dtype], m, k, options.layout[0]),
                matrix(DTYPES[options.dtype], k, n, options.layout[1]),
                matrix(DTYPES[options.out], m, n, "t"),
                options.multiprocessors // (cluster[0] * cluster[1]),
                make_fake_stream(use_tvm_ffi_env_stream=True),
            )
        except Exception as error:  # One that does not compile is left out, and said.
            print(f"{name}: {type(error).__name__}: {str(error)[:200]}", file=sys.stderr)
            continue
        compiled.export_to_c(f"{folder}/{name}.o", name, export_only_tvm_ffi_symbols=True)
        entries.append(name)
    if not entries:
        sys.exit("nothing was compiled")
    libraries = find_runtime_libraries(enable_tvm_ffi=True)
    places = [f"-Wl,-rpath,{os.path.dirname(os.path.abspath(file))}" for file in libraries]
    objects = [f"{folder}/{name}.o" for name in entries]
    subprocess.run(
        ["c++", "-shared", "-o", options.output + ".so", *objects, *libraries, *places], check=True
    )

with open(options.output + ".yaml", "w", encoding="utf-8") as manifest:
    for name in entries:
        manifest.write(
            f"- {{name: {name}, provider: tvm_ffi, source: {os.path.basename(options.output)}.so, "
            f"entry: {name},\n   a: {options.dtype}, b: {options.dtype}, out: {options.out}, "
            f"accumulate: f32, layout: {options.layout}t, args: [a, b, out],\n   alignment: 16, "
            f"divisibility: {{{', '.join(f'{size}: {by}' for size, by in eights.items())}}}, "
            f"targets: [sm_90a]}}\n"
        )
print(f"{options.output}.so, {options.output}.yaml: {len(entries)} kernels")
