#include "api.h"

#include "assay/base/json.h"
#include "assay/base/text.h"

namespace assay::onednn {
namespace {

std::string_view status_name(int status) {
  switch (status) {
    case abi::kOutOfMemory:
      return "out of memory";
    case abi::kInvalidArguments:
      return "invalid arguments";
    case abi::kUnimplemented:
      return "unimplemented";
    default:
      return "an error";
  }
}

std::string_view runtime_name(unsigned runtime) {
  switch (runtime) {
    case abi::kRuntimeSequential:
      return "serial";
    case abi::kRuntimeOpenMp:
      return "openmp";
    default:
      return "other";
  }
}

}  // namespace

std::vector<std::string> Api::candidates(const ProviderSettings& settings) {
  if (const auto given = settings.find("library"); given != settings.end()) return {given->second};
  return {"libdnnl.so.3", "libdnnl.so.2"};
}

Result<std::shared_ptr<const Api>> Api::open(const ProviderSettings& settings) {
  return first_that_loads(candidates(settings), &Api::load);
}

Result<std::shared_ptr<const Api>> Api::load(const std::string& path) {
  ASSAY_TRY(DynamicLibrary library, DynamicLibrary::open(path));
  const std::shared_ptr<Api> api(new Api(std::move(library)));
  ASSAY_TRY(api->load_version());
  ASSAY_TRY(api->load_functions());
  ASSAY_TRY(api->create_engine());
  return api;
}

Status Api::load_version() {
  abi::version* get_version = nullptr;
  if (!library_->load("dnnl_version", get_version) || get_version() == nullptr)
    return fail(ErrorCode::unsupported, "'{}' is no oneDNN", sanitize(path(), 1000));
  version_ = *get_version();
  if (version_.major != 2 && version_.major != 3)
    return fail(ErrorCode::unsupported,
                "'{}' is oneDNN {}; this provider knows the C interfaces of 2.x and 3.x",
                sanitize(path(), 1000), version());
  if (version_.cpu_runtime == abi::kRuntimeSequential) return {};
  // A look-up by handle also finds what the library itself depends on: the libgomp that it uses.
  if (version_.cpu_runtime != abi::kRuntimeOpenMp ||
      !library_->load("omp_set_num_threads", set_threads_) ||
      !library_->load("omp_get_max_threads", get_threads_))
    return fail(ErrorCode::unsupported,
                "'{}' is built for another threading than OpenMP, so its threads cannot be limited",
                sanitize(path(), 1000));
  return {};
}

Status Api::load_functions() {
  const auto load = [&](const char* name, auto*& function) -> Status {
    auto loaded = library_->load(std::string("dnnl_") + name, function);
    if (loaded) return {};
    return fail(ErrorCode::unsupported, "{} of oneDNN {}", loaded.error().message, version());
  };
  ASSAY_TRY(load("engine_create", engine_create_));
  ASSAY_TRY(load("engine_destroy", engine_destroy_));
  ASSAY_TRY(load("stream_create", stream_create_));
  ASSAY_TRY(load("stream_destroy", stream_destroy_));
  ASSAY_TRY(load("primitive_attr_create", attributes_create_));
  ASSAY_TRY(load("primitive_attr_destroy", attributes_destroy_));
  ASSAY_TRY(load("primitive_attr_set_scratchpad_mode", set_scratchpad_mode_));
  ASSAY_TRY(load("primitive_attr_set_post_ops", set_post_ops_));
  ASSAY_TRY(load("post_ops_create", post_ops_create_));
  ASSAY_TRY(load("post_ops_destroy", post_ops_destroy_));
  ASSAY_TRY(load("post_ops_append_binary", append_binary_));
  ASSAY_TRY(load("primitive_desc_destroy", primitive_descriptor_destroy_));
  ASSAY_TRY(load("primitive_desc_query", query_));
  ASSAY_TRY(load("primitive_desc_query_md", query_memory_));
  ASSAY_TRY(load("reorder_primitive_desc_create", reorder_));
  ASSAY_TRY(load("primitive_create", primitive_create_));
  ASSAY_TRY(load("primitive_destroy", primitive_destroy_));
  ASSAY_TRY(load("primitive_execute", execute));
  ASSAY_TRY(load("memory_desc_get_size", bytes_));
  ASSAY_TRY(load("memory_create", memory_create_));
  ASSAY_TRY(load("memory_destroy", memory_destroy_));
  ASSAY_TRY(load("memory_set_data_handle", set_data));
  ASSAY_TRY(load("get_effective_cpu_isa", get_isa_));
  ASSAY_TRY(load("sgemm", sgemm));
  ASSAY_TRY(load("gemm_s8s8s32", gemm_s8s8s32));
  if (major() == 2) {
    ASSAY_TRY(load("memory_desc_init_by_strides", v2_.strided));
    ASSAY_TRY(load("memory_desc_init_by_tag", v2_.tagged));
    ASSAY_TRY(load("matmul_desc_init", v2_.matmul));
    ASSAY_TRY(load("primitive_desc_create", v2_.create));
    ASSAY_TRY(load("post_ops_append_eltwise", v2_.append));
  } else {
    ASSAY_TRY(load("memory_desc_create_with_strides", v3_.strided));
    ASSAY_TRY(load("memory_desc_create_with_tag", v3_.tagged));
    ASSAY_TRY(load("memory_desc_destroy", v3_.destroy));
    ASSAY_TRY(load("matmul_primitive_desc_create", v3_.matmul));
    ASSAY_TRY(load("post_ops_append_eltwise", v3_.append));
  }
  return {};
}

Status Api::create_engine() {
  return check(engine_create_(&engine_, abi::kCpu, 0), "dnnl_engine_create");
}

Api::~Api() {
  if (engine_ != nullptr) engine_destroy_(engine_);
}

Result<Object> Api::attributes_with(std::span<const PostOp> post_ops) const {
  abi::Handle made = nullptr;
  ASSAY_TRY(check(attributes_create_(&made), "dnnl_primitive_attr_create"));
  Object attributes = own(made, attributes_destroy_);
  // Where the scratchpad lies is then the harness's affair, and no two plans share one.
  ASSAY_TRY(check(set_scratchpad_mode_(attributes.get(), abi::kScratchpadOfUser),
                  "dnnl_primitive_attr_set_scratchpad_mode"));
  if (post_ops.empty()) return attributes;
  ASSAY_TRY(check(post_ops_create_(&made), "dnnl_post_ops_create"));
  const Object list = own(made, post_ops_destroy_);
  for (const PostOp& post_op : post_ops) {
    using Kind = PostOp::Kind;
    if (post_op.operand) {
      const int algorithm = post_op.kind == Kind::add ? abi::kBinaryAdd : abi::kBinaryMultiply;
      ASSAY_TRY(check(append_binary_(list.get(), algorithm, post_op.operand.get()),
                      "dnnl_post_ops_append_binary"));
      continue;
    }
    const auto algorithm = [&](int relu, int erf, int tanh, int swish, int clip) {
      return post_op.kind == Kind::gelu_erf    ? erf
             : post_op.kind == Kind::gelu_tanh ? tanh
             : post_op.kind == Kind::swish     ? swish
             : post_op.kind == Kind::clip      ? clip
                                               : relu;
    };
    const float alpha = post_op.kind == Kind::swish ? 1 : post_op.low, beta = post_op.high;
    const int status =
        major() == 2
            ? v2_.append(list.get(), 1,
                         algorithm(v2::kRelu, v2::kGeluErf, v2::kGeluTanh, v2::kSwish, v2::kClip),
                         alpha, beta)
            : v3_.append(list.get(),
                         algorithm(v3::kRelu, v3::kGeluErf, v3::kGeluTanh, v3::kSwish, v3::kClip),
                         alpha, beta);
    ASSAY_TRY(check(status, "dnnl_post_ops_append_eltwise"));
  }
  ASSAY_TRY(check(set_post_ops_(attributes.get(), list.get()), "dnnl_primitive_attr_set_post_ops"));
  return attributes;
}

std::string Api::version() const {
  return fmt::format("{}.{}.{}", version_.major, version_.minor, version_.patch);
}

Json Api::details() const {
  return {{"threading", runtime_name(version_.cpu_runtime)},
          {"commit", version_.hash != nullptr ? sanitize(version_.hash, 100) : ""}};
}

LibraryFacts Api::facts() const {
  Json facts = details();
  facts["version"] = version();
  return {"onednn", std::move(facts), library_};
}

void Api::check_sums_of_bytes(Refusals& refusals) const {
  const int vnni = abi::kIsaAvx512Vnni | (major() == 2 ? 0 : v3::kIsaAvx2Vnni);
  if ((get_isa_() & vnni) == 0)
    refusals.add(Reason::target,
                 fmt::format("oneDNN {} adds products of s8 by twos in 16 bits here, and they "
                             "saturate: exact sums need a processor with VNNI",
                             version()));
}

Status Api::check(int status, const char* call) const {
  if (status == abi::kSuccess) return {};
  return fail(status == abi::kUnimplemented ? ErrorCode::unsupported
              : status == abi::kOutOfMemory ? ErrorCode::machine
                                            : ErrorCode::failed,
              "{} of oneDNN {} returned {} ({})", call, version(), status, status_name(status));
}

Object Api::own(abi::Handle made, int (*destroy)(abi::Handle)) const {
  return Object(made,
                [self = shared_from_this(), destroy](abi::Handle object) { destroy(object); });
}

Result<Descriptor> Api::describe(int data_type, std::span<const abi::Dim> sizes,
                                 std::span<const abi::Dim> strides) const {
  const int count = static_cast<int>(sizes.size());
  if (count > abi::kMostDims || (!strides.empty() && strides.size() != sizes.size()))
    return fail(ErrorCode::internal, "a tensor of {} dimensions", count);
  if (major() == 2) {
    auto made = std::make_shared<v2::MemoryDescriptor>();
    ASSAY_TRY(check(strides.empty()
                        ? v2_.tagged(made.get(), count, sizes.data(), data_type, abi::kTagAny)
                        : v2_.strided(made.get(), count, sizes.data(), data_type, strides.data()),
                    "dnnl_memory_desc_init"));
    return Descriptor(std::move(made));
  }
  abi::Handle made = nullptr;
  ASSAY_TRY(check(strides.empty()
                      ? v3_.tagged(&made, count, sizes.data(), data_type, abi::kTagAny)
                      : v3_.strided(&made, count, sizes.data(), data_type, strides.data()),
                  "dnnl_memory_desc_create"));
  return Descriptor(own(made, v3_.destroy));
}

Result<Object> Api::matmul(const Descriptor& a, const Descriptor& b, const Descriptor& out,
                           std::span<const PostOp> post_ops) const {
  ASSAY_TRY(const Object attributes, attributes_with(post_ops));
  abi::Handle made = nullptr;
  if (major() == 2) {
    const auto operation = std::make_unique<v2::MatmulDescriptor>();
    ASSAY_TRY(check(v2_.matmul(operation.get(), a.get(), b.get(), nullptr, out.get()),
                    "dnnl_matmul_desc_init"));
    ASSAY_TRY(check(v2_.create(&made, operation.get(), attributes.get(), engine_, nullptr),
                    "dnnl_primitive_desc_create"));
  } else {
    ASSAY_TRY(
        check(v3_.matmul(&made, engine_, a.get(), b.get(), nullptr, out.get(), attributes.get()),
              "dnnl_matmul_primitive_desc_create"));
  }
  return own(made, primitive_descriptor_destroy_);
}

Result<Object> Api::reorder(abi::ConstHandle from, abi::ConstHandle to) const {
  abi::Handle made = nullptr;
  // Without our attributes: it runs once, and its scratchpad may be the library's own.
  ASSAY_TRY(check(reorder_(&made, from, engine_, to, engine_, nullptr),
                  "dnnl_reorder_primitive_desc_create"));
  return own(made, primitive_descriptor_destroy_);
}

abi::ConstHandle Api::query(const Object& primitive_descriptor, int what) const {
  return query_memory_(primitive_descriptor.get(), what, 0);
}

std::string Api::implementation(const Object& primitive_descriptor) const {
  const char* text = nullptr;
  if (query_(primitive_descriptor.get(), abi::kQueryImplementation, 0, &text) != abi::kSuccess)
    return "unknown";
  return text != nullptr ? sanitize(text, 100) : "unknown";
}

size_t Api::bytes(abi::ConstHandle memory_descriptor) const {
  return memory_descriptor != nullptr ? bytes_(memory_descriptor) : 0;
}

Result<Object> Api::primitive(const Object& primitive_descriptor) const {
  abi::Handle made = nullptr;
  ASSAY_TRY(check(primitive_create_(&made, primitive_descriptor.get()), "dnnl_primitive_create"));
  return own(made, primitive_destroy_);
}

Result<Object> Api::memory(abi::ConstHandle memory_descriptor, void* data) const {
  abi::Handle made = nullptr;
  ASSAY_TRY(check(memory_create_(&made, memory_descriptor, engine_, data), "dnnl_memory_create"));
  return own(made, memory_destroy_);
}

Result<Object> Api::stream() const {
  abi::Handle made = nullptr;
  ASSAY_TRY(check(stream_create_(&made, engine_, abi::kInOrder), "dnnl_stream_create"));
  return own(made, stream_destroy_);
}

}  // namespace assay::onednn
