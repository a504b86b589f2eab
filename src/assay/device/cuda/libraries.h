#pragma once

// Where NVIDIA's libraries and tools lie on machines with a toolkit, with Python's packages alone,
// or with the system's.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace assay::cuda {

// Folders in which Python's packages lie, of the system and of usual environments, the newest
// Python first. Those that exist.
std::vector<std::filesystem::path> python_package_folders();

// Files that may be tried in this order: the toolkit's folders, Python's packages (`package` is the
// folder under nvidia/ of those before CUDA 13: cublas, cuda_nvrtc), and the plain names, which the
// loader looks for. Those with a path exist.
std::vector<std::string> library_candidates(const std::vector<std::string>& names,
                                            std::string_view package);

// Of "bin/nvcc": such files in the toolkit's folders and in Python's packages of it, newest first.
std::vector<std::string> toolkit_files(const std::string& path);

// Of "cutlass_library/generator.py": such files among Python's packages.
std::vector<std::string> python_files(const std::string& path);

}  // namespace assay::cuda
