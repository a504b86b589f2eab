#include "cli/lab/lab_standing.h"

#include "assay/base/clock.h"
#include "assay/lab/evaluate/evaluate.h"
#include "cli/lab/evaluate_setup.h"

namespace assay::cli {

Result<Standing> standing_of(const Context& context, const LabPlace& place) {
  Standing standing;
  ASSAY_TRY(standing.content, history_of(context, place));
  ASSAY_TRY(standing.tree, lab::read_tree(place.target.folder));
  ASSAY_TRY(standing.series,
            lab::series_of(place.lab, place.target, standing.tree, device_of(context)));
  standing.run_tag = context.settings.run_tag.empty() ? lab::default_run_tag(utc_now_iso8601())
                                                      : context.settings.run_tag;
  return standing;
}

}  // namespace assay::cli
