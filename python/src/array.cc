#include "array.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "assay/base/text.h"
#include "assay/tensor/dlpack.h"
#include "failure.h"

namespace assay::python {
namespace {

namespace py = pybind11;
using namespace py::literals;

// What capsules hold, declared from the public specification (dmlc/dlpack 1.0).
struct Managed {
  DlpackTensor tensor;
  void* context;
  void (*deleter)(Managed*);
};
struct VersionedManaged {
  uint32_t major, minor;
  void* context;
  void (*deleter)(VersionedManaged*);
  uint64_t flags;
  DlpackTensor tensor;
};
constexpr uint64_t kReadOnlyFlag = 1;
constexpr const char* kCapsule = "dltensor";
constexpr const char* kVersionedCapsule = "dltensor_versioned";
constexpr uint8_t kUnsigned = 1, kSigned = 0, kFloat = 2, kBrainFloat = 4;

struct Bits16AsBfloat {
  bool yes = false;
};

std::string type_name(py::handle object) {
  return sanitize(std::string(Py_TYPE(object.ptr())->tp_name), 100);
}

// An array's own words for why it was not exported.
std::string words_of(const py::error_already_set& error) {
  const auto text = py::reinterpret_steal<py::object>(PyObject_Str(error.value().ptr()));
  if (!text) {
    PyErr_Clear();
    return "it cannot be exported";
  }
  return sanitize(text.cast<std::string>(), 400);
}

// A capsule's tensor is the reader's once the capsule is renamed; its deleter is then called once.
template <class M>
std::shared_ptr<const void> own(py::handle capsule, M* managed, const char* used_name) {
  if (PyCapsule_SetName(capsule.ptr(), used_name) != 0) throw py::error_already_set();
  return std::shared_ptr<const void>(managed, [](const void* pointer) {
    auto* held = static_cast<M*>(const_cast<void*>(pointer));
    if (held->deleter == nullptr) return;
    const py::gil_scoped_acquire gil;
    held->deleter(held);
  });
}

Array view_of(DlpackTensor tensor, std::shared_ptr<const void> owner, std::string_view role,
              Bits16AsBfloat bfloat) {
  if (bfloat.yes && tensor.dtype.code == kUnsigned && tensor.dtype.bits == 16)
    tensor.dtype.code = kBrainFloat;
  auto view = from_dlpack(tensor);
  if (!view) throw Failure(with_context(std::move(view).error(), role));
  const auto bytes = static_cast<uintptr_t>(size_bytes(view->dtype));
  if (reinterpret_cast<uintptr_t>(view->data) % bytes != 0)
    raise(ErrorCode::invalid_input, "{}: its elements of {} bytes lie at {}, which is no multiple",
          role, bytes, view->data);
  return {*view, std::move(owner)};
}

Array from_capsule(py::handle capsule, std::string_view role, Use use, Bits16AsBfloat bfloat) {
  if (PyCapsule_IsValid(capsule.ptr(), kVersionedCapsule) != 0) {
    auto* managed =
        static_cast<VersionedManaged*>(PyCapsule_GetPointer(capsule.ptr(), kVersionedCapsule));
    auto owner = own(capsule, managed, "used_dltensor_versioned");
    if (managed->major != 1)
      raise(ErrorCode::unsupported, "{}: DLPack {}.{}: this reads version 1, and what came before",
            role, managed->major, managed->minor);
    if (use == Use::write && (managed->flags & kReadOnlyFlag) != 0)
      raise(ErrorCode::invalid_input, "{}: the array is read-only, and {} is written", role, role);
    return view_of(managed->tensor, std::move(owner), role, bfloat);
  }
  if (PyCapsule_IsValid(capsule.ptr(), kCapsule) != 0) {
    auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule.ptr(), kCapsule));
    auto owner = own(capsule, managed, "used_dltensor");
    return view_of(managed->tensor, std::move(owner), role, bfloat);
  }
  if (PyCapsule_CheckExact(capsule.ptr()) == 0)
    throw py::type_error(
        fmt::format("{}: __dlpack__ returned {}, not a capsule", role, type_name(capsule)));
  const char* name = PyCapsule_GetName(capsule.ptr());
  throw py::type_error(
      fmt::format("{}: a capsule called '{}' is no DLPack tensor, or one that was used already",
                  role, sanitize(name == nullptr ? "" : name, 60)));
}

// Exporters from before DLPack 1.0 do not know max_version.
py::object ask_for_capsule(py::handle object) {
  const py::object exporter = object.attr("__dlpack__");
  try {
    return exporter("max_version"_a = py::make_tuple(1, 0));
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_TypeError)) throw;
  }
  return exporter();
}

void check_device(py::handle object, std::string_view role) {
  if (!py::hasattr(object, "__dlpack_device__")) return;
  const py::object device = object.attr("__dlpack_device__")();
  if (PySequence_Check(device.ptr()) == 0 || py::len(device) != 2)
    throw py::type_error(fmt::format("{}: __dlpack_device__ returned no pair", role));
  const auto first = py::reinterpret_steal<py::object>(PySequence_GetItem(device.ptr(), 0));
  if (!first) throw py::error_already_set();
  const Py_ssize_t type = PyNumber_AsSsize_t(first.ptr(), nullptr);
  if (type == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
  if (type != 1)
    raise(ErrorCode::unsupported,
          "{}: the array is on DLPack device type {}; this version runs on the CPU (1)", role,
          static_cast<int64_t>(type));
}

bool is_bfloat16_of_numpy(py::handle object) {
  const py::object dtype = py::getattr(object, "dtype", py::none());
  const py::object name = py::getattr(dtype, "name", py::none());
  return py::isinstance<py::str>(name) && name.cast<std::string>() == "bfloat16" &&
         py::hasattr(object, "view");
}

std::optional<DlpackType> type_of_format(const char* format, Py_ssize_t bytes) {
  std::string_view text = format == nullptr ? "B" : format;
  if (text.starts_with('@') || text.starts_with('=') || text.starts_with('<'))
    text.remove_prefix(1);
  const auto bits = static_cast<uint8_t>(bytes * 8);
  if (text == "d" || text == "f" || text == "e") return DlpackType{kFloat, bits, 1};
  if (text == "b" || text == "i" || (text == "l" && bytes == 4))
    return DlpackType{kSigned, bits, 1};
  if (text == "H") return DlpackType{kUnsigned, bits, 1};
  return std::nullopt;
}

// Holds a buffer until it is let go of, which needs the interpreter.
struct HeldBuffer {
  Py_buffer buffer{};
  std::vector<int64_t> shape, strides;
  ~HeldBuffer() {
    const py::gil_scoped_acquire gil;
    PyBuffer_Release(&buffer);
  }
};

std::optional<Array> read_buffer(py::handle object, std::string_view role, Bits16AsBfloat bfloat) {
  if (PyObject_CheckBuffer(object.ptr()) == 0) return std::nullopt;
  auto held = std::make_shared<HeldBuffer>();
  if (PyObject_GetBuffer(object.ptr(), &held->buffer, PyBUF_FORMAT | PyBUF_STRIDES) != 0) {
    PyErr_Clear();
    return std::nullopt;
  }
  const Py_buffer& buffer = held->buffer;
  const auto type = type_of_format(buffer.format, buffer.itemsize);
  if (!type || buffer.ndim < 0 || buffer.itemsize <= 0) return std::nullopt;
  for (int i = 0; i < buffer.ndim; ++i) {
    if (buffer.strides[i] % buffer.itemsize != 0)
      raise(ErrorCode::invalid_input, "{}: a stride of {} bytes is no multiple of its {} a element",
            role, static_cast<int64_t>(buffer.strides[i]), static_cast<int64_t>(buffer.itemsize));
    held->shape.push_back(buffer.shape[i]);
    held->strides.push_back(buffer.strides[i] / buffer.itemsize);
  }
  DlpackTensor tensor;
  tensor.data = buffer.buf;
  tensor.ndim = buffer.ndim;
  tensor.dtype = *type;
  tensor.shape = held->shape.data();
  tensor.strides = held->strides.data();
  return view_of(tensor, std::move(held), role, bfloat);
}

Array read_exporter(py::handle object, std::string_view role, Use use, Bits16AsBfloat bfloat) {
  check_device(object, role);
  std::string words;
  try {
    return from_capsule(ask_for_capsule(object), role, use, bfloat);
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_BufferError) && !error.matches(PyExc_TypeError)) throw;
    words = words_of(error);
  }
  if (!bfloat.yes && is_bfloat16_of_numpy(object)) {
    const py::object bits = object.attr("view")("u2");
    return read_exporter(bits, role, use, {.yes = true});
  }
  if (use == Use::read) {
    if (auto array = read_buffer(object, role, bfloat)) return std::move(*array);
  }
  raise(ErrorCode::invalid_input, "{}: {}", role, words);
}

}  // namespace

Array read_array(py::handle object, std::string_view role, Use use) {
  if (PyCapsule_CheckExact(object.ptr()) != 0) return from_capsule(object, role, use, {});
  if (!py::hasattr(object, "__dlpack__"))
    throw py::type_error(
        fmt::format("{}: {} is no array: it has no __dlpack__", role, type_name(object)));
  return read_exporter(object, role, use, {});
}

}  // namespace assay::python
