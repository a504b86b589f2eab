#pragma once

// `assay worker`: owns one device and runs candidates. The program's own binary, executed again.

#include <functional>

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

}  // namespace assay::sweep
