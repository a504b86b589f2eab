#pragma once

namespace assay::sweep {

// Gives up what a worker does not need before candidate code runs: no new privileges, no
// capabilities, no core dumps. Returns true if all of it was done. What this leaves open is said in
// the record as the trust grade.
bool confine(bool wanted);

// The parent and the referee: other processes of the same user may not read their memory.
void hide_memory();

}  // namespace assay::sweep
