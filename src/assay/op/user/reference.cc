#include "assay/op/user/reference.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <fmt/format.h>

#include "assay/base/compiler.h"
#include "assay/base/file.h"
#include "assay/base/text.h"
#include "assay/op/user/problem.h"

namespace assay::user {
namespace {

using Seconds = std::chrono::seconds;

constexpr const char* kPath = "PATH=/usr/local/bin:/usr/bin:/bin";
constexpr int64_t kNanoseconds = 1'000'000'000;
constexpr int64_t kCompilerSeconds = 120;
constexpr size_t kPage = 4096 / sizeof(double);
constexpr int kArenaFd = 3, kTextFd = 4, kProgramFd = 5;
constexpr size_t kMostWords = 2000;  // Of an answer.
// A NaN that no arithmetic makes: what nobody has written.
constexpr uint64_t kPoison = 0xfff8a55a'a55aa55a;

std::string cpp_main(const Definition& definition, const Problem& problem,
                     std::span<const size_t> places, size_t all, int64_t seconds) {
  std::string arguments;
  const auto add = [&](const std::string& text) {
    arguments += (arguments.empty() ? "" : ", ") + text;
  };
  for (size_t i = 0; i < definition.operands.size(); ++i)
    add(fmt::format("static_cast<{}double*>(assay_arena + {})",
                    definition.operands[i].output ? "" : "const ", places[i]));
  for (const auto& [name, size] : problem.dimensions())
    add(fmt::format("static_cast<std::int64_t>({})", size));
  for (const auto& [name, unused] : definition.scalars) add(scalar_text(problem, name));
  return fmt::format(
      R"(
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <sys/mman.h>
#include <unistd.h>

int main() {{
  const int assay_reply = dup(1);
  dup2(2, 1);
  void* const assay_memory =
      mmap(nullptr, {0}, PROT_READ | PROT_WRITE, MAP_SHARED, {1}, 0);
  if (assay_memory == MAP_FAILED) return 3;
  double* const assay_arena = static_cast<double*>(assay_memory);
  char assay_word;
  while (read(0, &assay_word, 1) == 1) {{
    const char* assay_said = "";
    alarm({2});
    try {{
      ::{3}({4});
    }} catch (const std::exception& assay_thrown) {{
      assay_said = assay_thrown.what();
      if (*assay_said == 0) assay_said = "an exception";
    }} catch (...) {{
      assay_said = "an exception";
    }}
    alarm(0);
    const std::size_t assay_length = std::strlen(assay_said);
    if (write(assay_reply, assay_said, assay_length < 500 ? assay_length : 500) < 0 ||
        write(assay_reply, "\n", 1) < 0)
      return 4;
  }}
}}
)",
      all * sizeof(double), kArenaFd, seconds, definition.reference.function, arguments);
}

// Inputs come in order; sizes and scalars by name, if the function has parameters of these names.
std::string python_main(const Definition& definition, const Problem& problem,
                        std::span<const size_t> places, size_t all, int64_t seconds) {
  std::string inputs, named, out_shape;
  size_t out = 0;
  for (size_t i = 0; i < definition.operands.size(); ++i) {
    std::string shape;
    for (const int64_t size : problem.operands()[i].sizes) shape += fmt::format("{},", size);
    if (definition.operands[i].output) {
      out = places[i], out_shape = shape;
    } else {
      inputs += fmt::format("({}, ({})), ", places[i], shape);
    }
  }
  for (const auto& [name, size] : problem.dimensions())
    named += fmt::format("'{}': {}, ", name, size);
  for (const auto& [name, unused] : definition.scalars)
    named += fmt::format("'{}': {}, ", name, scalar_text(problem, name));
  return fmt::format(
      R"(import os, signal, sys
reply = os.dup(1)
os.dup2(2, 1)
def say(text):
    os.write(reply, ' '.join(str(text).split())[:500].encode('utf-8', 'replace') + b'\n')
def main():
    try:
        import inspect, mmap
        import numpy
    except ImportError as error:
        return say('%s; a reference in Python needs numpy' % error)
    arena = numpy.frombuffer(mmap.mmap({0}, {1}), dtype=numpy.float64)
    def place(at, shape):
        return arena[at:at + int(numpy.prod(shape, dtype=numpy.int64))].reshape(shape)
    try:
        text = os.pread({2}, {3}, 0).decode('utf-8')
        scope = {{'__name__': 'reference'}}
        exec(compile(text, '{4}', 'exec'), scope)
        function = scope.get('{5}')
        if not callable(function):
            return say('{4} defines no function {5}')
        known = {{{6}}}
        inputs = [{7}]
        parameters = list(inspect.signature(function).parameters.values())[len(inputs):]
        words = {{p.name: known[p.name] for p in parameters if p.name in known}}
        if any(p.kind == p.VAR_KEYWORD for p in parameters):
            words = known
    except BaseException as error:
        return say('%s: %s' % (type(error).__name__, error))
    shape = ({8})
    while os.read(0, 1):
        said = ''
        signal.alarm({9})
        try:
            made = numpy.asarray(function(*[place(*one).copy() for one in inputs], **words))
            if made.shape != shape:
                said = 'it returns an array of shape %s, and the output has %s' % (made.shape, shape)
            elif made.dtype.kind not in 'biuf':
                said = 'it returns an array of %s, which are no numbers' % made.dtype
            else:
                place({10}, shape)[...] = made
        except BaseException as error:
            said = '%s: %s' % (type(error).__name__, error) if str(error) else type(error).__name__
            import traceback
            lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__)
                     if frame.filename == '{4}']
            if lines:
                said += ' (line %d)' % lines[-1]
        signal.alarm(0)
        say(said)
main()
)",
      kArenaFd, all * sizeof(double), kTextFd, definition.reference.text.size(),
      definition.reference.file, definition.reference.function, named, inputs, out_shape, seconds,
      out);
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Behind the bracket that closes the one at `open`; npos: none does.
size_t behind_brackets(std::string_view text, size_t open) {
  int depth = 0;
  for (size_t at = open; at < text.size(); ++at) {
    depth += text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0;
    if (depth == 0) return at + 1;
  }
  return std::string_view::npos;
}

// Whether the function's name at `at` begins its definition, and is no call of it.
bool is_definition(const ReferenceText& reference, size_t at, size_t end) {
  const std::string_view text = reference.text;
  const size_t open = text.find_first_not_of(" \t\r\n", end);
  if (open == std::string_view::npos || text[open] != '(') return false;
  if (reference.language == Language::python) return text.substr(0, at).ends_with("def ");
  const size_t behind = behind_brackets(text, open);
  const size_t next = text.find_first_not_of(" \t\r\n", behind);
  return behind != std::string_view::npos && next != std::string_view::npos &&
         (text[next] == '{' || text.substr(next).starts_with("noexcept"));
}

// "softmax.cc:4", where its function is defined; the file alone where that is not seen.
std::string place_of(const ReferenceText& reference) {
  const std::string_view text = reference.text;
  const std::string_view name =
      std::string_view(reference.function).substr(reference.function.rfind(':') + 1);
  for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const size_t end = at + name.size();
    const bool whole =
        (at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end]));
    if (whole && is_definition(reference, at, end))
      return fmt::format("{}:{}", reference.file, 1 + std::ranges::count(text.substr(0, at), '\n'));
  }
  return reference.file;
}

Error no_program(const std::string& sentence, const Error& error) {
  return {error.code, fmt::format("{}: {}", sentence, error.message)};
}

}  // namespace

std::string scalar_text(const Problem& problem, const std::string& name) {
  const auto found = problem.attributes().find(name);
  const double* value =
      found == problem.attributes().end() ? nullptr : std::get_if<double>(&found->second);
  const std::string text = fmt::format("{}", value == nullptr ? 0 : *value);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

Result<std::shared_ptr<Reference>> Reference::start(const Definition& definition,
                                                    const Problem& problem,
                                                    int64_t deadline_seconds, Program program) {
  std::shared_ptr<Reference> made(new Reference(definition, problem, deadline_seconds));
  made->program_ = std::move(program);
  size_t next = kPage;  // What lies ahead of each operand, and
  for (const Operand& operand : problem.operands()) {
    const auto elements = static_cast<size_t>(elements_of(operand));
    made->places_.push_back(next);
    if (operand.access != Access::read) made->out_ = next, made->out_elements_ = elements;
    // behind it, shows whether more was written.
    next += (elements + kPage - 1) / kPage * kPage + kPage;
  }
  made->all_ = next;
  ASSAY_TRY(made->arena_file_, create_memfd("assay-reference", next * sizeof(double)));
  ASSAY_TRY(made->arena_, MappedFile::map_read_write(made->arena_file_.get()));
  ASSAY_TRY(made->begin());
  return made;
}

Status Reference::begin() {
  return definition_.reference.language == Language::cpp ? begin_cpp() : begin_python();
}

Status Reference::begin_cpp() {
  if (program_ == nullptr) ASSAY_TRY(compile());
  // Its folder is gone: there is nothing to clean up, whoever ends us.
  const FdMapping more[] = {{kProgramFd, program_->get()}};
  return start_program({.argv = {fmt::format("/proc/self/fd/{}", kProgramFd)}, .env = {kPath}},
                       more);
}

Status Reference::compile() {
  ASSAY_TRY(const TemporaryDirectory folder, TemporaryDirectory::create());
  const ReferenceText& reference = definition_.reference;
  const std::string main_text =
      cpp_main(definition_, problem_, places_, all_, deadline_seconds_ + 5);
  ASSAY_TRY(write_file_atomic(folder.file("reference.cc"),
                              fmt::format("#line 1 \"{}\"\n{}\n#line 1 \"assay_main.cc\"{}",
                                          reference.file, reference.text, main_text)));
  const std::string program = folder.file("reference");
  SubprocessOptions compiler{
      .argv = {"c++", "-std=c++20", "-O2", "-w", "-o", program, folder.file("reference.cc")},
      .env = {kPath, "LC_ALL=C", "TMPDIR=" + folder.path()},
      .working_directory = folder.path()};
  const auto output = run_command(compiler, {.timeout_ns = kCompilerSeconds * kNanoseconds});
  if (!output) return fail(no_program("the reference is compiled by c++", output.error()));
  if (!output->status.success()) {
    std::string why = first_error(output->err);
    if (output->timed_out) why = fmt::format("it takes more than {} s", kCompilerSeconds);
    if (why.starts_with("assay_main.cc"))
      why += fmt::format(
          "; it is called with each operand as double*, sizes as int64_t and scalars as double, in "
          "the order of the definition: {}",
          call_text());
    if (why.empty()) why = sanitize(first_lines(output->err), 400);
    return fail(ErrorCode::invalid_input, "reference: {} does not compile: {}", reference.function,
                why);
  }
  UniqueFd opened(::open(program.c_str(), O_RDONLY | O_CLOEXEC));
  if (!opened) return fail(ErrorCode::machine, "{}: {}", program, std::strerror(errno));
  program_ = std::make_shared<const UniqueFd>(std::move(opened));
  return {};
}

std::string Reference::call_text() const {
  std::string text;
  const auto add = [&](std::string_view type, const std::string& name) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", type, name);
  };
  for (const DefinedOperand& operand : definition_.operands)
    add(operand.output ? "double*" : "const double*", operand.role);
  for (const std::string& dimension : definition_.dimensions) add("int64_t", dimension);
  for (const auto& [name, unused] : definition_.scalars) add("double", name);
  return fmt::format("void {}({})", definition_.reference.function, text);
}

Status Reference::begin_python() {
  const ReferenceText& reference = definition_.reference;
  ASSAY_TRY(const UniqueFd text, create_memfd("assay-reference-text", reference.text.size()));
  ASSAY_TRY(MappedFile mapped, MappedFile::map_read_write(text.get()));
  std::memcpy(mapped.writable_bytes().data(), reference.text.data(), reference.text.size());
  // Without what a user's environment would add: it is the same wherever it runs.
  SubprocessOptions options{
      .argv = {reference.program.empty() ? "python3" : reference.program, "-I", "-c",
               python_main(definition_, problem_, places_, all_, deadline_seconds_ + 5)},
      .env = {kPath, "LC_ALL=C.UTF-8", "OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1"}};
  const FdMapping more[] = {{kTextFd, text.get()}};
  const Status started = start_program(std::move(options), more);
  if (started) return {};
  return fail(no_program(
      fmt::format("the reference needs Python, and {} does not start; name an interpreter by "
                  "python: /path/of/python3",
                  reference.program.empty() ? "python3" : reference.program),
      started.error()));
}

Status Reference::start_program(SubprocessOptions options, std::span<const FdMapping> more) {
  options.stdin_to = Redirect::pipe();
  options.stdout_to = Redirect::pipe();
  options.extra_fds.assign(more.begin(), more.end());
  options.extra_fds.push_back({kArenaFd, arena_file_.get()});
  // The thread that starts it may end before it. Without us it reads the end of its input.
  options.die_with_parent = false;
  ASSAY_TRY(process_, Subprocess::start(options));
  return {};
}

Result<std::vector<double>> Reference::run(std::span<const std::vector<double>> inputs) {
  const std::scoped_lock lock(mutex_);
  if (!process_) ASSAY_TRY(begin());
  const auto arena = arena_.writable_bytes();
  const auto place = [&](size_t at) { return arena.data() + at * sizeof(double); };
  for (size_t i = 0; i < inputs.size() && i < places_.size(); ++i)
    if (!inputs[i].empty())
      std::memcpy(place(places_[i]), inputs[i].data(), inputs[i].size() * sizeof(double));
  const size_t first = out_ - kPage;
  const size_t end = kPage + (out_elements_ + kPage - 1) / kPage * kPage + kPage;
  for (size_t i = 0; i < end; ++i) std::memcpy(place(first + i), &kPoison, sizeof kPoison);
  const auto begin = std::chrono::steady_clock::now();
  if (Status asked = ask(); !asked) {
    process_.reset();
    return fail(std::move(asked).error());
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  seconds_ = std::min(seconds_.load(), took.count());
  std::vector<double> out(end);
  std::memcpy(out.data(), place(first), end * sizeof(double));
  for (size_t i = 0; i < end; ++i) {
    const bool is_output = i >= kPage && i < kPage + out_elements_;
    const bool written = std::bit_cast<uint64_t>(out[i]) != kPoison;
    if (written == is_output) continue;
    if (!written)
      return fail(wrong(fmt::format("does not write element {} of its output", i - kPage)));
    return fail(wrong(fmt::format("writes {} its output of {} elements",
                                  i < kPage ? "ahead of" : "behind", out_elements_)));
  }
  out.erase(out.begin(), out.begin() + kPage);
  out.resize(out_elements_);
  return out;
}

Error Reference::wrong(const std::string& what) const {
  const ReferenceText& reference = definition_.reference;
  return {ErrorCode::invalid_input,
          fmt::format("reference: {}: {} {}", place_of(reference), reference.function, what)};
}

Status Reference::ask() {
  if (!write_all(process_->stdin_pipe().get(), "r")) return fail(ended());
  ASSAY_TRY(const std::string said, answer());
  if (said.empty()) return {};
  return fail(wrong("fails: " + sanitize(said, 600)));
}

Result<std::string> Reference::answer() {
  const auto deadline = std::chrono::steady_clock::now() + Seconds(deadline_seconds_);
  std::string said;
  while (said.size() < kMostWords) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd waited{process_->stdout_pipe().get(), POLLIN, 0};
    const int ready = left.count() <= 0 ? 0 : ::poll(&waited, 1, static_cast<int>(left.count()));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return fail(wrong(fmt::format("did not end within {} s", deadline_seconds_)));
    char letter = 0;
    const ssize_t got = ::read(waited.fd, &letter, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return fail(ended());
    if (letter == '\n') return said;
    said += letter;
  }
  return said;
}

Error Reference::ended() {
  const auto status = process_->wait(5 * kNanoseconds);
  return wrong(status ? status->describe() : "ended");
}

}  // namespace assay::user
