# The few commands a person needs; CMake presets do the work. On a fresh Debian 12 or Ubuntu 24.04
# each target installs what it lacks first (as root or with sudo).
JOBS ?= $(shell scripts/jobs)
release = build/release

.PHONY: help build sweep wheel test test-sanitized bench format clean

help:
	@echo 'make sweep   install what is missing, build, and run the main job on this machine'
	@echo 'make test    install what is missing, build, run all tests'
	@echo 'make test-sanitized   the unit tests with address and undefined-behaviour sanitizers'
	@echo 'make build   build/release/assay: one binary that runs anywhere glibc >= 2.36 is'
	@echo 'make wheel   build/wheel/assay-<version>-<tags>.whl: the program and its Python package'
	@echo 'make bench   measure the performance targets and print them against their bounds'
	@echo 'make format  let clang-format 14 decide'
	@echo 'make clean   remove build/'

build:
	@scripts/install-dependencies build
	cmake --preset release
	cmake --build --preset release -j $(JOBS) --target assay

sweep: build
	$(release)/assay sweep --fresh

wheel:
	@scripts/install-dependencies build python
	cmake --preset release
	cmake --build --preset release -j $(JOBS) --target assay_wheel
	@mkdir -p build/wheel && cp $(release)/wheel/assay-*.whl build/wheel/
	@ls build/wheel/assay-*.whl

test:
	@scripts/install-dependencies build python test
	cmake --preset release -D BUILD_TESTING=ON -D ASSAY_UNIT_TESTS=ON
	cmake --build --preset release -j $(JOBS)
	@scripts/largest
	ctest --preset release -j $(JOBS)

# A second build of everything: as long again as `make test`.
test-sanitized:
	@scripts/install-dependencies build test
	cmake --preset dev
	cmake --build --preset dev -j $(JOBS)
	ctest --preset dev -j $(JOBS)

bench:
	@scripts/install-dependencies build python bench
	cmake --preset release -D ASSAY_BENCH=ON
	cmake --build --preset release -j $(JOBS) --target assay assay_bench assay_python
	$(release)/assay_bench

format:
	@scripts/format

clean:
	rm -rf build
