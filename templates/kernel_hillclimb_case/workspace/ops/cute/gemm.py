# assay: {name: cute_gemm, provider: tvm_ffi, entry: gemm, dtype: f32, layout: tn,
#         args: [a, b, out],
#         targets: [sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a]}
"""A GEMM in CuTe DSL, an output element a thread.

assay runs this file to compile the kernel, and no GPU is needed for that. It writes a shared object
with a TVM-FFI entry point: gemm.py --output FILE --arch sm_90a.
"""

import argparse
import os
import subprocess

parser = argparse.ArgumentParser()
parser.add_argument("--output", required=True)
parser.add_argument("--arch", required=True)
options = parser.parse_args()
# Read when the package is imported: without it the code would be for another GPU, silently.
os.environ["CUTE_DSL_ARCH"] = options.arch

import cuda.bindings.driver as cuda  # noqa: E402
import cutlass  # noqa: E402
import cutlass.cute as cute  # noqa: E402
from cutlass.cute.runtime import (  # noqa: E402
    find_runtime_libraries,
    make_fake_compact_tensor,
    make_fake_stream,
)

TILE = 16  # Rows and columns of a block.


@cute.kernel
def gemm_kernel(a: cute.Tensor, b: cute.Tensor, out: cute.Tensor):
    column, row, _ = cute.arch.thread_idx()
    block_n, block_m, _ = cute.arch.block_idx()
    m, n = block_m * TILE + row, block_n * TILE + column
    if m < out.shape[0]:
        if n < out.shape[1]:
            total = cutlass.Float32(0.0)
            for k in cutlass.range(a.shape[1]):
                total += a[m, k] * b[k, n]
            out[m, n] = total


@cute.jit
def gemm(a: cute.Tensor, b: cute.Tensor, out: cute.Tensor, stream: cuda.CUstream):
    rows, columns = out.shape
    gemm_kernel(a, b, out).launch(
        grid=[cute.ceil_div(columns, TILE), cute.ceil_div(rows, TILE), 1],
        block=[TILE, TILE, 1],
        stream=stream,
    )


# Sizes of run time; a size's name says which of them have to agree. b lies by columns (layout tn).
m, n, k = cute.sym_int(), cute.sym_int(), cute.sym_int()
compiled = cute.compile(
    gemm,
    make_fake_compact_tensor(cutlass.Float32, (m, k), stride_order=(1, 0)),
    make_fake_compact_tensor(cutlass.Float32, (k, n), stride_order=(0, 1)),
    make_fake_compact_tensor(cutlass.Float32, (m, n), stride_order=(1, 0)),
    make_fake_stream(use_tvm_ffi_env_stream=True),
    options="--enable-tvm-ffi",
)
compiled.export_to_c("gemm.o", "gemm", export_only_tvm_ffi_symbols=True)
libraries = find_runtime_libraries(enable_tvm_ffi=True)
places = [f"-Wl,-rpath,{os.path.dirname(os.path.abspath(file))}" for file in libraries]
subprocess.run(["c++", "-shared", "-o", options.output, "gemm.o", *libraries, *places], check=True)
