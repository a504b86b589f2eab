// wgmma for a Hopper GPU: 64 rows of a by so many rows of b (a multiple of 16, at most 256), both
// from shared memory. What the instruction is written with depends on its width: hence the tables.
// WGMMA(192) defines multiply() of that width, for the types that TYPES names.
#pragma once

#define JOIN(a, b) a##b
#define OF(name, size) JOIN(name, size)
#define WORDS(x) #x
#define TEXT(x) WORDS(x)
#define EIGHT(i)                                                                              \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), \
      "+f"(d[i + 6]), "+f"(d[i + 7])
// clang-format off
#define LIST16 "%0, %1, %2, %3, %4, %5, %6, %7"
#define LIST32 LIST16 ", " "%8, %9, %10, %11, %12, %13, %14, %15"
#define LIST48 LIST32 ", " "%16, %17, %18, %19, %20, %21, %22, %23"
#define LIST64 LIST48 ", " "%24, %25, %26, %27, %28, %29, %30, %31"
#define LIST80 LIST64 ", " "%32, %33, %34, %35, %36, %37, %38, %39"
#define LIST96 LIST80 ", " "%40, %41, %42, %43, %44, %45, %46, %47"
#define LIST112 LIST96 ", " "%48, %49, %50, %51, %52, %53, %54, %55"
#define LIST128 LIST112 ", " "%56, %57, %58, %59, %60, %61, %62, %63"
#define LIST144 LIST128 ", " "%64, %65, %66, %67, %68, %69, %70, %71"
#define LIST160 LIST144 ", " "%72, %73, %74, %75, %76, %77, %78, %79"
#define LIST176 LIST160 ", " "%80, %81, %82, %83, %84, %85, %86, %87"
#define LIST192 LIST176 ", " "%88, %89, %90, %91, %92, %93, %94, %95"
#define LIST208 LIST192 ", " "%96, %97, %98, %99, %100, %101, %102, %103"
#define LIST224 LIST208 ", " "%104, %105, %106, %107, %108, %109, %110, %111"
#define LIST240 LIST224 ", " "%112, %113, %114, %115, %116, %117, %118, %119"
#define LIST256 LIST240 ", " "%120, %121, %122, %123, %124, %125, %126, %127"
#define SUMS16 EIGHT(0)
#define SUMS32 SUMS16, EIGHT(8)
#define SUMS48 SUMS32, EIGHT(16)
#define SUMS64 SUMS48, EIGHT(24)
#define SUMS80 SUMS64, EIGHT(32)
#define SUMS96 SUMS80, EIGHT(40)
#define SUMS112 SUMS96, EIGHT(48)
#define SUMS128 SUMS112, EIGHT(56)
#define SUMS144 SUMS128, EIGHT(64)
#define SUMS160 SUMS144, EIGHT(72)
#define SUMS176 SUMS160, EIGHT(80)
#define SUMS192 SUMS176, EIGHT(88)
#define SUMS208 SUMS192, EIGHT(96)
#define SUMS224 SUMS208, EIGHT(104)
#define SUMS240 SUMS224, EIGHT(112)
#define SUMS256 SUMS240, EIGHT(120)
#define TAIL16 "}, %8, %9, "
#define TAIL32 "}, %16, %17, "
#define TAIL48 "}, %24, %25, "
#define TAIL64 "}, %32, %33, "
#define TAIL80 "}, %40, %41, "
#define TAIL96 "}, %48, %49, "
#define TAIL112 "}, %56, %57, "
#define TAIL128 "}, %64, %65, "
#define TAIL144 "}, %72, %73, "
#define TAIL160 "}, %80, %81, "
#define TAIL176 "}, %88, %89, "
#define TAIL192 "}, %96, %97, "
#define TAIL208 "}, %104, %105, "
#define TAIL224 "}, %112, %113, "
#define TAIL240 "}, %120, %121, "
#define TAIL256 "}, %128, %129, "
// clang-format on

// d (64 x width of four warps) += a (64 x 16) b^T (width x 16); multiply_anew: = instead of +=.
#define WGMMA(width)             \
  WGMMA_AS(multiply, width, "1") \
  WGMMA_AS(multiply_anew, width, "0")
#define WGMMA_AS(name, width, add)                                                         \
  [[maybe_unused]] __device__ __forceinline__ void name(                                   \
      float(&d)[width / 2], unsigned long long a, unsigned long long b) {                  \
    asm volatile("wgmma.mma_async.sync.aligned.m64n" TEXT(width) "k16.f32." TYPES " {" OF( \
                     LIST, width) OF(TAIL, width) add ", 1, 1, 0, 0;"                      \
                 : OF(SUMS, width)                                                         \
                 : "l"(a), "l"(b));                                                        \
  }
