// assay: {entry: headed, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
