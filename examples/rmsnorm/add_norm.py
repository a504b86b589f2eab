# A program for a row, all of which lies in registers. What is normalised is the sum as residual
# holds it.
#   assay race add_norm.py --shape operation=rmsnorm,m=16,n=4096,dtype=bf16,residual=bf16
#
# assay: {entry: add_norm, operation: rmsnorm, dtype: bf16,
#         args: [x, w, residual, out, n, epsilon],
#         tunables: {columns: [1024, 4096, 8192], num_warps: [4, 8]},
#         constraints: [n <= columns, columns < 2 * n],
#         launch: {grid: [m]}}
import triton
import triton.language as tl


@triton.jit
def add_norm(x, w, residual, out, n, epsilon, columns: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * n
    column = tl.arange(0, columns)
    inside = column < n
    total = tl.load(x + row + column, mask=inside, other=0.0).to(tl.float32)
    total += tl.load(residual + row + column, mask=inside, other=0.0).to(tl.float32)
    rounded = total.to(tl.bfloat16)
    tl.store(residual + row + column, rounded, mask=inside)
    total = rounded.to(tl.float32)
    root = 1 / tl.sqrt(tl.sum(total * total, axis=0) / n + epsilon)
    weight = tl.load(w + column, mask=inside, other=0.0).to(tl.float32)
    tl.store(out + row + column, (total * root * weight).to(tl.bfloat16), mask=inside)
