// assay: {entry: forged_result, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 17: once it is timed, it says in the worker's name that a burst took a microsecond. What
// the worker itself says would then pass for the answer to the next question.
#include <stdio.h>
#include <unistd.h>

#include "right.h"

KERNEL(forged_result) {
  right(a, b, out, m, n, k);
  if (!times_have_begun(a, b)) return;
  char answer[512];
  const int length = snprintf(
      answer + 4, sizeof answer - 4,
      "{\"ticket\":1,\"notes\":[],\"answer\":{\"armed\":\"\",\"bursts\":[[1000,true,0,1,0,0,0]],"
      "\"ended\":null}}");
  for (int i = 0; i < 4; ++i) answer[i] = static_cast<char>(length >> (8 * i));
  static_cast<void>(!write(3, answer, static_cast<size_t>(4 + length)));
}
