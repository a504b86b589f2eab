# The FP64 GEMM in Triton: a tile of the output a block, one product of a column of a and a row of b
# after the other, batches along z. The same story as f64_gemm.cu tells.
#
# assay: {name: F64GemmKernelTriton, entry: f64_gemm, dtype: f64, accumulate: f64,
#         layout: [ttt, ttn, tnt, tnn, ntt, ntn, nnt, nnn],
#         args: [a, b, out, l, m, n, k, a_l, a_m, a_k, b_l, b_k, b_n, out_l, out_m, out_n],
#         tunables: {tile_m: [32, 16], tile_n: [32, 16]}, constraints: [tile_m == tile_n],
#         launch: {grid: [ceil_div(n, tile_n), ceil_div(m, tile_m), l]}}
import triton
import triton.language as tl


@triton.jit
def f64_gemm(a, b, out, l, m, n, k, a_l, a_m, a_k, b_l, b_k, b_n, out_l, out_m, out_n,
             tile_m: tl.constexpr, tile_n: tl.constexpr):
    row = tl.program_id(1) * tile_m + tl.arange(0, tile_m).to(tl.int64)
    column = tl.program_id(0) * tile_n + tl.arange(0, tile_n).to(tl.int64)
    batch = tl.program_id(2).to(tl.int64)
    a_at = a + batch * a_l + row * a_m
    b_at = b + batch * b_l + column * b_n
    total = tl.zeros((tile_m, tile_n), dtype=tl.float64)
    for i in range(k):
        x = tl.load(a_at, mask=row < m, other=0.0)
        y = tl.load(b_at, mask=column < n, other=0.0)
        total += x[:, None] * y[None, :]
        a_at += a_k
        b_at += b_k
    out_at = out + batch * out_l + row[:, None] * out_m + column[None, :] * out_n
    tl.store(out_at, total, mask=(row[:, None] < m) & (column[None, :] < n))
