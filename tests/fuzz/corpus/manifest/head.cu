// assay: {entry: entry, dtype: f16, layout: any, args: [a, a_m, a_k, b, out, m, n, k], launch: {grid: [m], block: [32, 1, 1]}}
