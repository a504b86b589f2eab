#pragma once

// `assay worker`: owns one device and runs candidates. The program's own binary, executed again.

#include <functional>

#include "assay/base/json_fwd.h"
#include "assay/base/result.h"
#include "assay/kernel/catalog.h"
#include "assay/kernel/ranker.h"

namespace assay::sweep {

// Adds what a program brings in process: called in the worker before discovery.
using CatalogSetup = std::function<void(Catalog&)>;

// Serves the channel on descriptor 3 until the parent closes it. A program that races in-process
// families calls this first in its main, when argv[1] is "worker" (referee.h: or "referee").
Status worker_main(const std::vector<std::unique_ptr<Provider>>& providers,
                   const CatalogSetup& setup = {},
                   const std::vector<std::unique_ptr<Ranker>>& rankers = {});

// `assay profiled FILE`: one kernel as a race would launch it, bound to operands that are cold, a
// few times and nothing else, for a profiler that this process runs under (profile.cc, which writes
// the file). Without a parent, and without a channel, which a profiler might not pass on. Code for
// the processor that a user brought runs without rights, as in a race; a driver is opened before.
Status profile_main(const std::vector<std::unique_ptr<Provider>>& providers, const Json& script);

}  // namespace assay::sweep
