#pragma once

// oneDNN as it is found at run time: 2.x or 3.x, behind one set of calls.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "abi.h"
#include "api_v2.h"
#include "api_v3.h"
#include "assay/kernel/library_family.h"
#include "assay/kernel/provider.h"
#include "assay/kernel/refusals.h"

namespace assay::onednn {

// An object of the library; it goes when the last owner does, and keeps the library's Api.
using Object = std::shared_ptr<void>;
using Descriptor = std::shared_ptr<const void>;

// What a primitive does with a result before it is stored: a function of it, or a sum or product
// with an operand, whose sizes are the result's or 1.
struct PostOp {
  enum class Kind : uint8_t { add, multiply, relu, gelu_erf, gelu_tanh, swish, clip };
  Kind kind = Kind::relu;
  float low = 0, high = 0;  // Of clip.
  Descriptor operand;       // Of add and multiply.
};

// One mapping of the library. Safe to use from several threads, but not for one plan.
class Api : public std::enable_shared_from_this<Api> {
 public:
  // What is looked for: the newer major first; settings["library"] alone where it is given.
  static std::vector<std::string> candidates(const ProviderSettings& settings);

  // The first candidate that loads and is usable; otherwise unsupported, with every reason.
  static Result<std::shared_ptr<const Api>> open(const ProviderSettings& settings);
  ~Api();

  const std::string& path() const { return library_->path(); }
  std::string version() const;  // "2.6.3".
  int major() const { return version_.major; }
  // The argument that is the operand of the post-op `index`.
  int argument_of_post_op(int index) const {
    return abi::argument_of_post_op(major() == 2 ? v2::kPostOpBase : v3::kPostOpBase, index);
  }
  Json details() const;
  LibraryFacts facts() const;  // For families and artifacts.

  // Adds a reason where sums of s8 products would not be exact: on processors without VNNI the
  // library adds products by twos in 16 bits, which saturate (oneDNN's developer guide, "Nuances of
  // int8 computations").
  void check_sums_of_bytes(Refusals& refusals) const;

  // How many threads what is created and executed from now on may use. Two reads if nothing
  // changed. libgomp's number belongs to the calling thread and to all users of libgomp.
  void use_threads(int threads) const {
    if (get_threads_ != nullptr && get_threads_() != threads) set_threads_(threads);
  }

  // Sizes and strides in elements, outermost first; without strides the layout is the library's
  // choice.
  Result<Descriptor> describe(int data_type, std::span<const abi::Dim> sizes,
                              std::span<const abi::Dim> strides) const;
  // out = a x b and what follows, its scratchpad given at execution. unsupported where there is no
  // implementation.
  Result<Object> matmul(const Descriptor& a, const Descriptor& b, const Descriptor& out,
                        std::span<const PostOp> post_ops) const;
  Result<Object> reorder(abi::ConstHandle from, abi::ConstHandle to) const;
  // Of a primitive descriptor, in whose life it lies; null if there is none.
  abi::ConstHandle query(const Object& primitive_descriptor, int what) const;
  std::string implementation(const Object& primitive_descriptor) const;
  size_t bytes(abi::ConstHandle memory_descriptor) const;

  Result<Object> primitive(const Object& primitive_descriptor) const;
  Result<Object> memory(abi::ConstHandle memory_descriptor, void* data) const;
  Result<Object> stream() const;

  abi::primitive_execute* execute = nullptr;
  abi::memory_set_data_handle* set_data = nullptr;
  abi::sgemm* sgemm = nullptr;
  abi::gemm_s8s8s32* gemm_s8s8s32 = nullptr;

 private:
  explicit Api(DynamicLibrary library)
      : library_(std::make_shared<LoadedLibrary>(std::move(library))) {}
  static Result<std::shared_ptr<const Api>> load(const std::string& path);
  Status load_version();
  Status load_functions();
  Status create_engine();
  Status check(int status, const char* call) const;
  Result<Object> attributes_with(std::span<const PostOp> post_ops) const;
  // Takes what the library made.
  Object own(abi::Handle made, int (*destroy)(abi::Handle)) const;

  std::shared_ptr<const LoadedLibrary> library_;
  abi::Version version_{};
  v2::Functions v2_;
  v3::Functions v3_;
  void (*set_threads_)(int) = nullptr;
  int (*get_threads_)() = nullptr;

  abi::engine_create* engine_create_ = nullptr;
  abi::engine_destroy* engine_destroy_ = nullptr;
  abi::stream_create* stream_create_ = nullptr;
  abi::stream_destroy* stream_destroy_ = nullptr;
  abi::primitive_attr_create* attributes_create_ = nullptr;
  abi::primitive_attr_destroy* attributes_destroy_ = nullptr;
  abi::primitive_attr_set_scratchpad_mode* set_scratchpad_mode_ = nullptr;
  abi::primitive_attr_set_post_ops* set_post_ops_ = nullptr;
  abi::post_ops_create* post_ops_create_ = nullptr;
  abi::post_ops_destroy* post_ops_destroy_ = nullptr;
  abi::post_ops_append_binary* append_binary_ = nullptr;
  abi::primitive_desc_destroy* primitive_descriptor_destroy_ = nullptr;
  abi::primitive_desc_query* query_ = nullptr;
  abi::primitive_desc_query_md* query_memory_ = nullptr;
  abi::reorder_primitive_desc_create* reorder_ = nullptr;
  abi::primitive_create* primitive_create_ = nullptr;
  abi::primitive_destroy* primitive_destroy_ = nullptr;
  abi::memory_desc_get_size* bytes_ = nullptr;
  abi::memory_create* memory_create_ = nullptr;
  abi::memory_destroy* memory_destroy_ = nullptr;

  abi::get_effective_cpu_isa* get_isa_ = nullptr;

  abi::Handle engine_ = nullptr;
};

}  // namespace assay::onednn
