/* assay:
 *   {entry: f, dtype: [f32, bf16], layout: [tt, tn], args: [a, b, out, m, n, k, t],
 *    tunables: {t: [1, 2], u: [true]}, constraints: [t * 2 <= n, 'min(m, n) > 1'],
 *    divisibility: {k: 8}, alignment: 64, targets: x86_64+avx2, flags: [-O3]}
 */
// assay:
//   entry: g
//   a: f32
//   b: f32
//   out: f32
//   layout: tn
//   args: [a, prepared, out, workspace, m, n, k]
//   workspace: m * 4
//   prepare: {entry: p, bytes: n * k * 4, args: [b, prepared, n, k]}
int x;
