# A program for a row, in Triton.
#   assay race rows.py --shape operation=rmsnorm,m=16,n=4096,dtype=bf16
#
# assay: {entry: triton_rows, operation: rmsnorm, dtype: [f16, bf16, f32],
#         args: [x, w, out, m, n, epsilon], alignment: 16,
#         tunables: {BLOCK: [1024, 2048, 4096, 8192, 16384], num_warps: [2, 4, 8, 16]},
#         constraints: [BLOCK >= n, BLOCK < 2 * n, BLOCK >= 256 * num_warps],
#         launch: {grid: [m]}}
import triton
import triton.language as tl


@triton.jit
def triton_rows(x_ptr, w_ptr, out_ptr, m, n, epsilon, BLOCK: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    inside = columns < n
    row = tl.program_id(0).to(tl.int64) * n
    x = tl.load(x_ptr + row + columns, mask=inside, other=0).to(tl.float32)
    w = tl.load(w_ptr + columns, mask=inside, other=0).to(tl.float32)
    root = 1 / tl.sqrt(tl.sum(x * x) / n + epsilon)
    tl.store(out_ptr + row + columns, (x * root * w).to(out_ptr.dtype.element_ty), mask=inside)
