#pragma once

// All that our processes ask one another: one struct for each request, with its answer inside. How
// each field is called on the channel, and what it may be, is described once, in the source of the
// same name in messages/. There is no other table of messages.

#include "assay/process/messages/begin.h"
#include "assay/process/messages/guard.h"
#include "assay/process/messages/kernels.h"
#include "assay/process/messages/referee.h"
#include "assay/process/messages/runs.h"

namespace assay::process {

// What a worker is asked before and beside a problem,
using WorkerRequests =
    Requests<Init, Bring, Guest, Manners, Conform, MeasureTimer, MeasureCeilings, ReadGpuWindow,
             Discover, Compile, Prebuild, FindCached, Rank, FindRanker, ExportKernel>;
// and of the problem that it has loaded.
using ProblemRequests =
    Requests<Load, ShareWord, Prove, Rotate, Open, FindConstants, Round, RunBlock, Collect,
             FindTrespasses, Count, ProfileLaunches, LookAtInputs, Close, Unload>;
using RefereeRequests = Requests<OpenGpu, ViewWord, Commit, ChooseKinds, MakeInstances, Derive,
                                 PrepareChecks, CheckOutput, Reveal, Drop>;

}  // namespace assay::process
