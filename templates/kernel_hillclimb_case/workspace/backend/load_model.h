#pragma once

// What a decoding step of the model multiplies.

#include <cstdint>
#include <string>
#include <vector>

struct ModelGemm {
  const char* name;
  int64_t n = 0, k = 0;
  int calls = 0;               // In a step.
  std::vector<float> weights;  // [n, k], seeded: one layer's stand for those of all layers.
};

struct Model {
  std::vector<ModelGemm> gemms;
  std::string error;  // A sentence; empty if the model is there.
};

// Reads config.json, as Hugging Face's models have it.
Model load_model(const std::string& folder);
