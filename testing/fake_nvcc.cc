#include "testing/fake_nvcc.h"

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include <fmt/format.h>

#include "testing/fake_gpu.h"

namespace assay::testing {
namespace {

constexpr const char* kScript = R"(#!/bin/sh
here={}
case "$*" in *--version*) echo "Cuda compilation tools, release 13.0, V13.0.99"; exit 0 ;; esac
orders=$(cat "$here/orders")
while [ $# -gt 1 ]; do [ "$1" != -o ] || out=$2; shift; done
echo "$1" >> "$here/compiled"
case "$orders" in *fail*)
  echo "$1(7): error: the fake compiler was told to fail" >&2; exit 2 ;; esac
case "$orders" in
  *hang*) sleep 1000; exit 1 ;;
  *pipe*) mkfifo "$out"; exit 0 ;;
  *link*) ln -s "$here/object.so" "$out"; exit 0 ;;
  *text*) echo text > "$out"; exit 0 ;;
  *object*) cp "$here/object.so" "$out"; exit 0 ;;
  *nothing*) exit 0 ;;
esac
defines() {{ grep -q "^#define ASSAY_$1\$" "$in"; }}
in=$1 a=f16 d=f32 spilled=0
defines "A cutlass::bfloat16_t" && a=bf16
defines "D cutlass::half_t" && d=f16
defines "D cutlass::bfloat16_t" && d=bf16
defines "TILE_M 256" && defines "TILE_N 256" && spilled=1024
cp "{}_${{a}}_$d.so" "$out" || exit 1
case "$orders" in *serialise*)
  echo "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are \
serialized due to insufficient register resources" >&2 ;; esac
echo "ptxas info    : Compiling entry function 'kernel' for 'sm_90a'" >&2
echo "    16 bytes stack frame, $spilled bytes spill stores, $spilled bytes spill loads" >&2
echo "ptxas info    : Used 168 registers, used 6 barriers" >&2
)";

void write(const std::string& path, const std::string& text) {
  if (const Status written = write_file_atomic(path, text); !written)
    throw std::runtime_error(written.error().message);
}

}  // namespace

FakeNvcc::FakeNvcc(const std::string& folder) : folder_(folder) {
  namespace fs = std::filesystem;
  const fs::path include = fs::path(directory()) / "include/cutlass";
  fs::create_directories(include);
  write((include / "cutlass.h").string(), "");
  write((include / "version.h").string(),
        "#define CUTLASS_MAJOR 4\n#define CUTLASS_MINOR 2\n#define CUTLASS_PATCH 0\n");
  std::string library = fake_library("fake_cutlass");
  library.resize(library.size() - 3);  // ".so"
  write(nvcc(), fmt::format(kScript, folder_, library));
  fs::permissions(nvcc(), fs::perms::owner_all);
  order("");
}

void FakeNvcc::order(const std::string& words) const { write(folder_ + "/orders", words); }

int FakeNvcc::compiled() const {
  const auto text = read_file(folder_ + "/compiled");
  return text ? static_cast<int>(std::count(text->begin(), text->end(), '\n')) : 0;
}

}  // namespace assay::testing
