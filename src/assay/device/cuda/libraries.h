#pragma once

// Where NVIDIA's libraries and tools lie on machines with a toolkit, with Python's packages alone,
// or with the system's.

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace assay::cuda {

// What a provider or a ranker was told. Of it `pythons` are the Pythons along the user's PATH,
// parted by colons: an environment that was activated is first among them.
using Settings = std::map<std::string, std::string>;

// The Pythons in whose packages to look: those of `settings`, then the usual ones. They need not be
// there.
std::vector<std::string> python_programs(const Settings& settings);

// Folders that hold the packages of one, whose path is that by which it is called (a virtual
// environment's packages lie beside it, not beside what it links to). Those that exist; nothing
// runs.
std::vector<std::filesystem::path> package_folders_of(const std::string& python);

// Those of all of them, and of usual environments without a Python of their own.
std::vector<std::filesystem::path> python_package_folders(const Settings& settings);

// Files that may be tried in this order: the toolkit's folders, Python's packages (`package` is the
// folder under nvidia/ of those before CUDA 13: cublas, cuda_nvrtc), and the plain names, which the
// loader looks for. Those with a path exist.
std::vector<std::string> library_candidates(const std::vector<std::string>& names,
                                            std::string_view package, const Settings& settings);

// Of "bin/nvcc": such files in the toolkit's folders and in Python's packages of it, newest first.
std::vector<std::string> toolkit_files(const std::string& path, const Settings& settings);

// Of "cutlass_library/generator.py": such files among Python's packages.
std::vector<std::string> python_files(const std::string& path, const Settings& settings);

}  // namespace assay::cuda
