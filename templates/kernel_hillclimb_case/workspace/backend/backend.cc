// The case's backend for `assay serve`: for each token it runs the GEMMs of the model's config.json
// through the kernel of ops/ that env.defaults names. Text is seeded: what is measured here is the
// kernels, and a kernel that wins moves tokens per second.

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "assay_backend.h"
#include "hooks.h"
#include "load_model.h"

namespace {

constexpr int kContext = 32768, kMostJobs = 256;

struct Job {
  uint64_t id;
  int32_t left;
  uint64_t state;  // Of its text.
};

struct Backend {
  Model model;
  Gemm gemm = nullptr;
  int32_t vocabulary = 0;
  std::vector<Job> jobs;
  std::vector<float> in, out;
} backend;

// One step of all jobs: a row each.
void run_gemms(int64_t rows) {
  for (const ModelGemm& gemm : backend.model.gemms) {
    backend.in.resize(static_cast<size_t>(rows * gemm.k), 0.25f);
    backend.out.resize(static_cast<size_t>(rows * gemm.n));
    for (int call = 0; call < gemm.calls; ++call)
      backend.gemm(backend.in.data(), gemm.weights.data(), backend.out.data(), rows, gemm.n,
                   gemm.k);
  }
}

// A letter or a blank: bytes are the first tokens of the vocabulary that assay has without a
// tokenizer; with one, any token will do.
int32_t next_token(Job& job) {
  job.state = job.state * 6364136223846793005u + 1442695040888963407u;
  const auto draw = static_cast<uint32_t>(job.state >> 33);
  return static_cast<int32_t>((draw % 6 == 0 ? ' ' : 'a' + draw % 26) %
                              static_cast<uint32_t>(backend.vocabulary));
}

int submit(const AssayBackendHost* host, const AssayBackendJob* job) {
  if (backend.jobs.size() == kMostJobs) {
    host->fail(host, "there are as many jobs as this backend takes");
    return 1;
  }
  const uint64_t seed = job->has_seed ? static_cast<uint64_t>(job->seed) : job->id;
  backend.jobs.push_back({job->id, job->max_tokens, seed});
  return 0;
}

void cancel(uint64_t id) {
  for (size_t i = 0; i < backend.jobs.size(); ++i)
    if (backend.jobs[i].id == id) backend.jobs.erase(backend.jobs.begin() + static_cast<long>(i));
}

int step(const AssayBackendHost*, AssayBackendEmit emit, void* to) {
  if (backend.jobs.empty()) return 0;
  run_gemms(static_cast<int64_t>(backend.jobs.size()));
  std::vector<Job> left;
  for (Job& job : backend.jobs) {
    AssayBackendEvent event{sizeof event, job.id, next_token(job), ASSAY_FINISH_NONE, 0, nullptr};
    if (--job.left == 0) event.finish = ASSAY_FINISH_LENGTH;
    emit(to, &event);
    if (event.finish == ASSAY_FINISH_NONE) left.push_back(job);
  }
  backend.jobs = std::move(left);
  return backend.jobs.empty() ? 0 : 1;
}

}  // namespace

extern "C" const AssayBackend* assay_backend_v1(const AssayBackendHost* host) {
  static const AssayBackend description = {
      sizeof(AssayBackend), "gemms", kContext, kMostJobs, submit, cancel, step};
  backend.vocabulary = host->vocabulary;
  backend.gemm = install_hooks();
  if (backend.gemm == nullptr) {
    host->fail(host,
               "HOOK_GEMM (backend/env.defaults): no kernel of backend/hooks.cc has that name");
    return nullptr;
  }
  backend.model = load_model(host->model_folder);
  if (!backend.model.error.empty()) {
    host->fail(host, backend.model.error.c_str());
    return nullptr;
  }
  return &description;
}
