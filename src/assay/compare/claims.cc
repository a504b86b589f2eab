#include "assay/compare/claims.h"

#include <cmath>

#include "assay/base/file.h"
#include "assay/base/text.h"

namespace assay {
namespace {

std::string percent(double fraction) { return fmt::format("{:g} %", fraction * 100); }

std::string interval(double ratio, double low, double high) {
  return std::isfinite(high) ? fmt::format("{:.3f} [{:.3f}, {:.3f}]", ratio, low, high)
                             : std::string("no interval");
}

std::string shown(const Competitor& competitor) {
  if (!competitor.proven()) return fmt::format("{:.3f}, from numbers alone", competitor.speedup);
  return verdict_text(*competitor.verdict);
}

// `fails` is what an unproven claim means to the exit code.
Claim make_claim(std::string text, ClaimState state, std::string why, bool unproven_fails) {
  const bool fails =
      state == ClaimState::refuted || (state == ClaimState::unproven && unproven_fails);
  return {std::move(text), state, std::move(why), fails};
}

Claim only_numbers(std::string text, const Competitor& competitor) {
  return make_claim(std::move(text), ClaimState::unproven,
                    fmt::format("only numbers: {}", competitor.why_unproven), true);
}

ClaimState faster_state(const stats::Verdict& verdict, double margin) {
  if (verdict.word == stats::Word::faster) return ClaimState::held;
  const bool ends_below =
      (verdict.has_interval() || verdict.is_bound()) && verdict.high <= 1 + margin;
  return ends_below ? ClaimState::refuted : ClaimState::unproven;
}

ClaimState within_state(const stats::Verdict& verdict, double limit) {
  if (!verdict.has_interval() && !verdict.is_bound()) return ClaimState::unproven;
  if (verdict.low >= limit) return ClaimState::held;
  return verdict.high < limit ? ClaimState::refuted : ClaimState::unproven;
}

// The change of a speed-up between two comparisons, of which one or both have no samples.
Claim bare_speedup_claim(std::string text, double before, double now, double margin, bool proven) {
  std::string why =
      fmt::format("speed-up {:.3f} before, {:.3f} now, from numbers alone", before, now);
  if (proven) return make_claim(std::move(text), ClaimState::unproven, std::move(why), true);
  const ClaimState state = now / before < 1 / (1 + margin) ? ClaimState::refuted : ClaimState::held;
  return make_claim(std::move(text), state, std::move(why), false);
}

Claim speedup_claim(std::string text, const Previous::Entry& before, const Competitor& now,
                    double margin, bool proven) {
  const bool measured = before.low && before.high && *before.low > 0 && now.proven() &&
                        now.verdict->has_interval() && now.verdict->low > 0;
  if (!measured)
    return bare_speedup_claim(std::move(text), before.speedup, now.ratio(), margin, proven);
  stats::Verdict then;
  then.ratio = before.speedup;
  then.low = *before.low;
  then.high = *before.high;
  Claim claim = speedup_kept(std::move(text), then, *now.verdict, margin);
  if (claim.state == ClaimState::unproven) claim.fails = proven;
  return claim;
}

Claim runtime_claim(std::string text, double before_ms, double now_ms, double margin, bool proven) {
  const std::string why = fmt::format(
      "{:.4g} us before, {:.4g} us now: times of two runs, which "
      "differ by more than kernels do",
      before_ms * 1e3, now_ms * 1e3);
  if (proven) return make_claim(std::move(text), ClaimState::unproven, why, true);
  const ClaimState state =
      now_ms > before_ms * (1 + margin) ? ClaimState::refuted : ClaimState::held;
  return make_claim(std::move(text), state, why, false);
}

const ComparisonRow* find_row(const Comparison& comparison, const std::string& key) {
  for (const ComparisonRow& row : comparison.rows) {
    if (row.key == key) return &row;
  }
  for (const ComparisonRow& row : comparison.rows) {
    if (row.name == key) return &row;
  }
  return nullptr;
}

Result<Previous> previous_results(const JsonDocument& document) {
  ASSAY_TRY(const ProviderResults results, read_provider_results(document));
  Previous previous;
  previous.origin = document.origin;
  previous.environment = results.environment;
  for (const ProviderResult& result : results.results) {
    Previous::Entry entry;
    entry.key = result.name;
    entry.provider = results.provider;
    entry.runtime_ms = result.runtime_ms;
    previous.entries.push_back(std::move(entry));
  }
  return previous;
}

Result<Previous::Entry> previous_competitor(const JsonField& field, const std::string& key,
                                            const std::string& baseline) {
  constexpr double kTiny = 1e-12;
  Previous::Entry entry;
  entry.key = key;
  entry.baseline = baseline;
  ASSAY_TRY(const JsonField provider, field.at("provider"));
  ASSAY_TRY(entry.provider, provider.as_string());
  // Files of the older tools have only the second name.
  std::optional<JsonField> speedup = field.find("speedup");
  if (!speedup) speedup = field.find("speedup_vs_cutlass");
  if (!speedup) {
    ASSAY_TRY(speedup, field.at("speedup"));
  }
  ASSAY_TRY(entry.speedup, speedup->as_double(kTiny));
  const std::optional<JsonField> verdict = field.find("verdict");
  if (verdict && !verdict->is_null()) {
    ASSAY_TRY(const stats::Verdict read, read_verdict(*verdict));
    if (read.has_interval() && read.ratio > 0) {
      entry.speedup = read.ratio;
      entry.low = read.low;
      entry.high = read.high;
    }
  }
  return entry;
}

}  // namespace

Result<Previous> read_previous(const JsonDocument& document) {
  const JsonField root(document);
  ASSAY_TRY(root.expect_object());
  if (root.find("results")) return previous_results(document);
  Previous previous;
  previous.origin = document.origin;
  ASSAY_TRY(const auto members, root.members());
  for (const auto& [key, member] : members) {
    ASSAY_TRY(const JsonField baseline, member.at("baseline_provider"));
    ASSAY_TRY(const std::string provider, baseline.as_string());
    ASSAY_TRY(const JsonField competitors, member.at("competitors"));
    ASSAY_TRY(const std::vector<JsonField> items, competitors.items());
    for (const JsonField& item : items) {
      ASSAY_TRY(Previous::Entry entry, previous_competitor(item, key, provider));
      previous.entries.push_back(std::move(entry));
    }
  }
  return previous;
}

Result<Previous> load_previous(const std::string& path) {
  Result<std::string> text = read_file(path);
  if (!text && text.error().code == ErrorCode::not_found) {
    return fail(ErrorCode::missing, "{}", text.error().message);
  }
  if (!text) return fail(text.error());
  ASSAY_TRY(const JsonDocument document, parse_json_document(*text, path));
  return read_previous(document);
}

std::string verdict_text(const stats::Verdict& verdict) {
  std::string text = verdict.is_bound()
                         ? fmt::format("{} by at least {:.3g} x", stats::to_string(verdict.word),
                                       std::max(verdict.ratio, 1 / verdict.ratio))
                         : fmt::format("{}: {}", stats::to_string(verdict.word),
                                       interval(verdict.ratio, verdict.low, verdict.high));
  if (!verdict.reason.empty()) text += "; " + verdict.reason;
  return text;
}

// Half-widths add as independent errors do.
Claim speedup_kept(std::string text, const stats::Verdict& before, const stats::Verdict& now,
                   double margin) {
  std::string why = fmt::format("{} before, {} now", verdict_text(before), verdict_text(now));
  if (!before.has_interval() || !now.has_interval())
    return make_claim(std::move(text), ClaimState::unproven, std::move(why), true);
  const double half =
      std::hypot(std::log(before.high / before.low) / 2, std::log(now.high / now.low) / 2);
  const double limit = -std::log1p(margin), moved = std::log(now.ratio / before.ratio);
  const ClaimState state = moved + half < limit   ? ClaimState::refuted
                           : moved - half > limit ? ClaimState::held
                                                  : ClaimState::unproven;
  return make_claim(
      std::move(text), state,
      fmt::format("speed-up {:.3f} before, {:.3f} now: changed by {:+.1f} % +- "
                  "{:.1f} %",
                  before.ratio, now.ratio, std::expm1(moved) * 100, std::expm1(half) * 100),
      true);
}

std::vector<Claim> require_faster(const Comparison& comparison, const std::string& provider,
                                  bool proven) {
  std::vector<Claim> claims;
  for (const ComparisonRow& row : comparison.rows) {
    const Competitor* competitor = row.find(provider);
    if (competitor == nullptr) continue;  // Listed under `missing`.
    const std::string text =
        fmt::format("{} beats {} on {} by more than {}", provider, row.baseline.provider, row.key,
                    percent(comparison.margin));
    if (competitor->proven()) {
      claims.push_back(make_claim(text, faster_state(*competitor->verdict, comparison.margin),
                                  shown(*competitor), true));
    } else if (proven) {
      claims.push_back(only_numbers(text, *competitor));
    } else {
      claims.push_back(make_claim(
          text,
          competitor->speedup > 1 + comparison.margin ? ClaimState::held : ClaimState::refuted,
          shown(*competitor), true));
    }
  }
  return claims;
}

std::vector<Claim> expect_within(const Comparison& comparison, const std::string& provider,
                                 double fraction, bool proven) {
  std::vector<Claim> claims;
  for (const ComparisonRow& row : comparison.rows) {
    const Competitor* competitor = row.find(provider);
    if (competitor == nullptr) continue;
    const std::string text = fmt::format("{} is within {} of {} on {}", provider, percent(fraction),
                                         row.baseline.provider, row.key);
    const double limit = 1 - fraction;
    if (competitor->proven()) {
      claims.push_back(
          make_claim(text, within_state(*competitor->verdict, limit), shown(*competitor), proven));
    } else if (proven) {
      claims.push_back(only_numbers(text, *competitor));
    } else {
      // Files round to a few digits: a provider that is exactly as far behind as allowed passes.
      claims.push_back(make_claim(
          text, competitor->speedup >= limit * (1 - 1e-9) ? ClaimState::held : ClaimState::refuted,
          shown(*competitor), false));
    }
  }
  return claims;
}

std::vector<Claim> no_regression(const Comparison& comparison, const Previous& previous,
                                 bool proven, std::vector<std::string>& missing) {
  std::vector<Claim> claims;
  for (const Previous::Entry& before : previous.entries) {
    const bool is_baseline =
        before.baseline.empty() && before.provider == comparison.baseline_provider;
    const ComparisonRow* row = find_row(comparison, before.key);
    const Competitor* now = row == nullptr ? nullptr : row->find(before.provider);
    if (row == nullptr || (now == nullptr && !is_baseline)) {
      missing.push_back(fmt::format("{} has {} of {}, which is not there any more", previous.origin,
                                    sanitize(before.key, 120), sanitize(before.provider, 80)));
      continue;
    }
    const std::string text =
        fmt::format("{} is no slower than before on {}", before.provider, row->key);
    if (before.baseline.empty()) {
      const Side& side = now == nullptr ? row->baseline : now->side;
      claims.push_back(
          runtime_claim(text, before.runtime_ms, side.runtime_ms, comparison.margin, proven));
    } else if (before.baseline != row->baseline.provider) {
      claims.push_back(
          make_claim(text, ClaimState::unproven,
                     fmt::format("before, the baseline was {}; now it is {}",
                                 sanitize(before.baseline, 80), row->baseline.provider),
                     proven));
    } else {
      claims.push_back(speedup_claim(text, before, *now, comparison.margin, proven));
    }
  }
  return claims;
}

}  // namespace assay
