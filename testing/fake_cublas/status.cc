// What the old libraries lack.

namespace {

const char* text_of(int status) {
  switch (status) {
    case 0:
      return "success";
    case 1:
      return "the library was not initialized";
    case 3:
      return "the resource allocation failed";
    case 7:
      return "an unsupported value or parameter was passed to the function";
    case 13:
      return "the GPU program failed to execute";
    case 15:
      return "the functionality requested is not supported";
    default:
      return "an unknown status";
  }
}

}  // namespace

extern "C" {

const char* cublasGetStatusString(int status) { return text_of(status); }
const char* cublasLtGetStatusString(int status) { return text_of(status); }
}
