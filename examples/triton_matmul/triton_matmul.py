# A matmul in Triton, in three forms. It is the provider's own baseline (`assay sweep --provider
# triton` needs no --kernels), and an example of what to write above a kernel of one's own.
#
# Through pointers, for any layout: one description for each pair of tiles, since what is fastest
# for a few rows has nothing in common with what is fastest for thousands.
#
# assay: {name: matmul, entry: matmul, dtype: [f16, bf16], accumulate: f32,
#         layout: [tt, tn, nt, nn],
#         args: [a, b, out, m, n, k, a_m, a_k, b_k, b_n, out_m, out_n],
#         tunables: {block_m: [64, 128], block_n: [64, 128, 256], block_k: [64], group_m: [8],
#                    num_warps: [4, 8], num_stages: [3, 4]},
#         constraints: [m > 32, block_m * block_n >= 8192,
#                       num_warps == 8 or block_m * block_n <= 16384,
#                       num_warps == 4 or block_m * block_n >= 16384,
#                       (block_m + block_n) * block_k * 2 * num_stages <= 229376],
#         launch: {grid: [ceil_div(m, block_m) * ceil_div(n, block_n)]}}
#
# assay: {name: matmul_few_rows, entry: matmul, dtype: [f16, bf16], accumulate: f32,
#         layout: [tt, tn],
#         args: [a, b, out, m, n, k, a_m, a_k, b_k, b_n, out_m, out_n],
#         tunables: {block_m: [16], block_n: [32, 64, 128], block_k: [64, 128, 256], group_m: [1],
#                    num_warps: [4], num_stages: [4, 6]},
#         constraints: [m <= 64, (block_m + block_n) * block_k * 2 * num_stages <= 229376,
#                       block_n * block_k >= 4096],
#         launch: {grid: [ceil_div(m, block_m) * ceil_div(n, block_n)]}}
#
# Through tensor descriptors made on the host, which the copy engine reads (Triton 3.4 and later).
#
# assay: {name: matmul_descriptors, entry: matmul_descriptors, dtype: [f16, bf16],
#         accumulate: f32, layout: tn, args: [map_a, map_b, out, m, n, k, ldout],
#         tunables: {block_m: [64, 128], block_n: [128, 256], block_k: [64], group_m: [8],
#                    num_warps: [4, 8], num_stages: [3, 4]},
#         constraints: [m > 32, num_warps == 8 or block_m * block_n <= 8192,
#                       num_warps == 4 or block_m * block_n >= 16384,
#                       (block_m + block_n) * block_k * 2 * num_stages <= 196608],
#         launch: {grid: [ceil_div(m, block_m) * ceil_div(n, block_n)],
#                  maps: {a: {box: [block_k, block_m]}, b: {box: [block_k, block_n]}}}}
import triton
import triton.language as tl


@triton.jit
def place_of(tile, m, n, block_m: tl.constexpr, block_n: tl.constexpr, group_m: tl.constexpr):
    # Bands of group_m rows of tiles, each walked column by column, so that blocks that run at the
    # same time share what is in the cache.
    rows = tl.cdiv(m, block_m)
    band = group_m * tl.cdiv(n, block_n)
    first = tile // band * group_m
    height = tl.minimum(rows - first, group_m)
    return first + tile % band % height, tile % band // height


@triton.jit
def matmul(a, b, out, m, n, k, a_m, a_k, b_k, b_n, out_m, out_n,
           block_m: tl.constexpr, block_n: tl.constexpr, block_k: tl.constexpr,
           group_m: tl.constexpr):
    row, column = place_of(tl.program_id(0), m, n, block_m, block_n, group_m)
    i = row * block_m + tl.arange(0, block_m)
    j = column * block_n + tl.arange(0, block_n)
    p = tl.arange(0, block_k)
    # Beyond the edge the first rows are read again: what comes of them is not stored.
    a_at = a + (i % m)[:, None].to(tl.int64) * a_m + p[None, :] * a_k
    b_at = b + p[:, None] * b_k + (j % n)[None, :].to(tl.int64) * b_n
    total = tl.zeros((block_m, block_n), dtype=tl.float32)
    for step in range(0, tl.cdiv(k, block_k)):
        left = k - step * block_k
        x = tl.load(a_at, mask=p[None, :] < left, other=0.0)
        y = tl.load(b_at, mask=p[:, None] < left, other=0.0)
        total = tl.dot(x, y, total)
        a_at += block_k * a_k
        b_at += block_k * b_k
    out_at = out + i[:, None].to(tl.int64) * out_m + j[None, :] * out_n
    tl.store(out_at, total.to(out.dtype.element_ty), mask=(i[:, None] < m) & (j[None, :] < n))


@triton.jit
def matmul_descriptors(a, b, out, m, n, k, ldout,
                       block_m: tl.constexpr, block_n: tl.constexpr, block_k: tl.constexpr,
                       group_m: tl.constexpr):
    row, column = place_of(tl.program_id(0), m, n, block_m, block_n, group_m)
    total = tl.zeros((block_m, block_n), dtype=tl.float32)
    for step in range(0, tl.cdiv(k, block_k)):
        # Beyond the edges the copy engine writes zeros.
        x = a.load([row * block_m, step * block_k])
        y = b.load([column * block_n, step * block_k])
        total = tl.dot(x, y.T, total)
    i = row * block_m + tl.arange(0, block_m)
    j = column * block_n + tl.arange(0, block_n)
    out_at = out + i[:, None].to(tl.int64) * ldout + j[None, :]
    tl.store(out_at, total.to(out.dtype.element_ty), mask=(i[:, None] < m) & (j[None, :] < n))
