"""What export_operators.py and export_quack.py share: many SM90 GEMMs as one shared object, and the
manifest that brings them. To be imported before cutlass: it says for which GPU that compiles."""

import argparse
import os
import subprocess
import sys
import tempfile

ARCH = "sm_90a"
os.environ["CUTE_DSL_ARCH"] = ARCH  # Read when the package is imported.

import cutlass  # noqa: E402
import cutlass.cute as cute  # noqa: E402
from cutlass.cute.runtime import (  # noqa: E402
    find_runtime_libraries,
    make_fake_compact_tensor,
    make_fake_stream,
)

DTYPES = {"f16": cutlass.Float16, "bf16": cutlass.BFloat16, "f32": cutlass.Float32}


def parse_options(description, output):
    parser = argparse.ArgumentParser(description=description.split("\n", 1)[0])
    parser.add_argument("--dtype", choices=["f16", "bf16"], default="f16")
    parser.add_argument("--out", choices=["f16", "bf16", "f32"], help="default: as --dtype")
    parser.add_argument("--layout", choices=["tt", "tn", "nt", "nn"], default="tn")
    parser.add_argument("--output", default=output)
    parser.add_argument("--few", action="store_true", help="three configurations instead of all")
    parser.add_argument(
        "--multiprocessors", type=int, default=132, help="of the GPU: blocks at once"
    )
    options = parser.parse_args()
    options.out = options.out or options.dtype
    return options


def divisibility(layout):
    """Tensor maps step by 16 bytes: whichever size lies side by side is a multiple of 8."""
    eights = {"n": 8, "k" if layout[0] == "t" else "m": 8}
    if layout[1] == "n":
        eights["k"] = 8
    return eights


def operands(options):
    """a (m, k), b (k, n), out (m, n) and the stream of TVM-FFI, with sizes of run time alone."""
    eights = divisibility(options.layout)
    m, n, k = (cute.sym_int(divisibility=eights.get(size, 1)) for size in "mnk")

    def matrix(dtype, rows, columns, major):
        order = (1, 0) if major == "t" else (0, 1)
        return make_fake_compact_tensor(
            DTYPES[dtype], (rows, columns), stride_order=order, assumed_align=16
        )

    return (
        matrix(options.dtype, m, k, options.layout[0]),
        matrix(options.dtype, k, n, options.layout[1]),
        matrix(options.out, m, n, "t"),
        make_fake_stream(use_tvm_ffi_env_stream=True),
    )


def link(objects, output):
    """The object keeps the places of both libraries: an environment of Python's is nobody else's
    to know."""
    libraries = find_runtime_libraries(enable_tvm_ffi=True)
    places = [f"-Wl,-rpath,{os.path.dirname(os.path.abspath(file))}" for file in libraries]
    subprocess.run(["c++", "-shared", "-o", output, *objects, *libraries, *places], check=True)


def write_manifest(options, names):
    eights = ", ".join(f"{size}: {by}" for size, by in divisibility(options.layout).items())
    source = os.path.basename(options.output) + ".so"
    with open(options.output + ".yaml", "w", encoding="utf-8") as manifest:
        for name in names:
            manifest.write(
                f"- {{name: {name}, provider: tvm_ffi, source: {source}, entry: {name},\n"
                f"   a: {options.dtype}, b: {options.dtype}, out: {options.out}, accumulate: f32, "
                f"layout: {options.layout}t, args: [a, b, out],\n   alignment: 16, "
                f"divisibility: {{{eights}}}, targets: [{ARCH}]}}\n"
            )


def export(options, kernels):
    """kernels: by name, what makes of the operands all that cute.compile takes."""
    names = []
    with tempfile.TemporaryDirectory() as folder:
        for name, arguments in kernels.items():
            try:
                compile_one = cute.compile[cute.GPUArch(ARCH), cute.EnableTVMFFI(True)]
                compiled = compile_one(*arguments(*operands(options)))
            except Exception as error:  # One that does not compile is left out, and said.
                print(f"{name}: {type(error).__name__}: {str(error)[:200]}", file=sys.stderr)
                continue
            compiled.export_to_c(f"{folder}/{name}.o", name, export_only_tvm_ffi_symbols=True)
            names.append(name)
        if not names:
            sys.exit("nothing was compiled")
        link([f"{folder}/{name}.o" for name in names], options.output + ".so")
    write_manifest(options, names)
    print(f"{options.output}.so, {options.output}.yaml: {len(names)} kernels")
