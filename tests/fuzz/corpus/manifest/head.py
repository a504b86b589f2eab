# assay: {entry: entry, dtype: f16, layout: tn, args: [a, b, out, m, n, k, BLOCK], tunables: {BLOCK: [64, 128]},
#         launch: {grid: ["ceil_div(m, BLOCK)"]}}
@triton.jit
def entry(): pass
