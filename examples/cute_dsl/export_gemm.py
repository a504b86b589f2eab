"""A GEMM in CuTe DSL, compiled ahead of time to a shared object with a TVM-FFI entry point.

    pip install nvidia-cutlass-dsl apache-tvm-ffi
    python export_gemm.py --output cute_gemm.so
    assay race manifest.yaml --shape m=512,n=512,k=512,dtype=f32,layout=tn

No GPU is needed here. out = a b in float32: a is row-major, b column-major (layout tn).
"""

import argparse
import os
import subprocess
import tempfile

parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
parser.add_argument("--output", default="cute_gemm.so")
parser.add_argument("--arch", default="sm_90a", help="what to compile for; it must match targets")
options = parser.parse_args()

# Read when the package is imported. Without it the code would be for another GPU, silently.
os.environ["CUTE_DSL_ARCH"] = options.arch

import cutlass  # noqa: E402
import cutlass.cute as cute  # noqa: E402
from cutlass.cute.runtime import (  # noqa: E402
    find_runtime_libraries,
    make_fake_compact_tensor,
    make_fake_stream,
)
import cuda.bindings.driver as cuda  # noqa: E402

TILE = 64  # Rows and columns of out that a block makes,
DEPTH = 16  # and steps of k that it holds in shared memory.
SIDE = 16  # Threads each way,
EACH = TILE // SIDE  # and the elements each way that each of them makes.


@cute.kernel
def gemm_kernel(a: cute.Tensor, b: cute.Tensor, out: cute.Tensor):
    thread, _, _ = cute.arch.thread_idx()
    block_n, block_m, _ = cute.arch.block_idx()
    rows, depth, columns = a.shape[0], a.shape[1], out.shape[1]
    column, row = thread % SIDE, thread // SIDE

    memory = cutlass.memory.SmemAllocator()
    # One more than needed: neighbours in k then lie in other banks.
    shared = cute.make_layout((TILE, DEPTH), stride=(DEPTH + 1, 1))
    tile_a = memory.allocate_tensor(cutlass.Float32, shared, 16)
    tile_b = memory.allocate_tensor(cutlass.Float32, shared, 16)
    sums = cute.make_rmem_tensor(cute.make_layout((EACH, EACH)), cutlass.Float32)
    sums.fill(0.0)

    for start in cutlass.range(0, depth, DEPTH):
        for i in cutlass.range_constexpr(TILE * DEPTH // (SIDE * SIDE)):
            at = i * SIDE * SIDE + thread
            line, k = at // DEPTH, at % DEPTH
            m, n = block_m * TILE + line, block_n * TILE + line
            tile_a[line, k] = cutlass.Float32(0.0)
            tile_b[line, k] = cutlass.Float32(0.0)
            if start + k < depth:
                if m < rows:
                    tile_a[line, k] = a[m, start + k]
                if n < columns:
                    tile_b[line, k] = b[start + k, n]
        cute.arch.sync_threads()
        for k in cutlass.range_constexpr(DEPTH):
            for i in cutlass.range_constexpr(EACH):
                for j in cutlass.range_constexpr(EACH):
                    sums[i, j] += tile_a[row + i * SIDE, k] * tile_b[column + j * SIDE, k]
        cute.arch.sync_threads()

    for i in cutlass.range_constexpr(EACH):
        for j in cutlass.range_constexpr(EACH):
            m, n = block_m * TILE + row + i * SIDE, block_n * TILE + column + j * SIDE
            if m < rows:
                if n < columns:
                    out[m, n] = sums[i, j]


@cute.jit
def gemm(a: cute.Tensor, b: cute.Tensor, out: cute.Tensor, stream: cuda.CUstream):
    rows, columns = out.shape
    gemm_kernel(a, b, out).launch(
        grid=[cute.ceil_div(columns, TILE), cute.ceil_div(rows, TILE), 1],
        block=[SIDE * SIDE, 1, 1],
        stream=stream,
    )


# Sizes that are known at run time alone; those that share a name are checked to be the same.
m, n, k = cute.sym_int(), cute.sym_int(), cute.sym_int()
compiled = cute.compile(
    gemm,
    make_fake_compact_tensor(cutlass.Float32, (m, k), stride_order=(1, 0)),
    make_fake_compact_tensor(cutlass.Float32, (k, n), stride_order=(0, 1)),
    make_fake_compact_tensor(cutlass.Float32, (m, n), stride_order=(1, 0)),
    make_fake_stream(use_tvm_ffi_env_stream=True),
    options="--enable-tvm-ffi",
)

with tempfile.TemporaryDirectory() as folder:
    unlinked = os.path.join(folder, "gemm.o")
    compiled.export_to_c(unlinked, "gemm", export_only_tvm_ffi_symbols=True)
    # The object keeps the places of both: an environment of Python's is nobody else's to know.
    libraries = find_runtime_libraries(enable_tvm_ffi=True)
    places = [f"-Wl,-rpath,{os.path.dirname(os.path.abspath(file))}" for file in libraries]
    subprocess.run(
        ["c++", "-shared", "-o", options.output, unlinked, *libraries, *places], check=True
    )
print(options.output)
