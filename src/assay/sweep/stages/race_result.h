#pragma once

// What a race leaves behind, as a run that is resumed finds it in the journal.

#include "assay/sweep/stages/race.h"

namespace assay::sweep {

// Of what took part, as it stands now.
Status keep_race(Journal& journal, const std::string& problem, const Field& field,
                 const RaceResult& race);

// A finalist that was shown to be faster than the leader leads the next confirmation. The verdict
// is then of it, where it may be: it is as much chosen beforehand as the old leader was.
void put_in_front(RaceResult& race, const std::string& id, bool may_be_candidate);

// What the journal has of a race is put into the field and returned; nothing where it has none, or
// where a kernel that took part is not what it was. Errors: a line that is not ours.
Result<std::optional<RaceResult>> take_over_race(const Journal& journal, const std::string& problem,
                                                 Field& field);

}  // namespace assay::sweep
