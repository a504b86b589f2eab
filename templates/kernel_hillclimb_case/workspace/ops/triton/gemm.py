# assay: {name: triton_gemm, entry: gemm, dtype: f32, layout: tn, args: [a, b, out, m, n, k],
#         tunables: {tile_m: [16], tile_n: [32]},
#         launch: {grid: [ceil_div(n, tile_n), ceil_div(m, tile_m)]}}
import triton
import triton.language as tl


@triton.jit
def gemm(a, b, out, m, n, k, tile_m: tl.constexpr, tile_n: tl.constexpr):
    row = tl.program_id(1) * tile_m + tl.arange(0, tile_m)
    column = tl.program_id(0) * tile_n + tl.arange(0, tile_n)
    total = tl.zeros((tile_m, tile_n), dtype=tl.float32)
    for i in range(k):
        x = tl.load(a + row * k + i, mask=row < m, other=0.0)
        y = tl.load(b + column * k + i, mask=column < n, other=0.0)
        total += x[:, None] * y[None, :]
    place = out + row[:, None] * n + column[None, :]
    tl.store(place, total, mask=(row[:, None] < m) & (column[None, :] < n))
