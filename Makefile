# The few commands a person needs; CMake presets do the work. On a fresh Debian 12 or Ubuntu 24.04
# each target installs what it lacks first (as root or with sudo).
JOBS ?= $(shell scripts/jobs)
release = build/release

.PHONY: help build sweep wheel test test-clients test-sanitized fuzz test-gpu bench bench-understood bench-native bench-regret bench-trust bench-build bench-serve bench-load bench-lab bench-gpu deb format clean

help:
	@echo 'make sweep   install what is missing, build, and run the main job on this machine'
	@echo 'make test    install what is missing, build, run all tests'
	@echo 'make test-clients   AIPerf and the client of MCP, installed here, against assay'
	@echo 'make test-sanitized   the unit tests with address and undefined-behaviour sanitizers'
	@echo 'make fuzz TIME=60   each fuzz target for so many seconds'
	@echo 'make test-gpu   the tests that need a GPU'
	@echo 'make build   build/release/assay: one binary that runs anywhere glibc >= 2.36 is'
	@echo 'make wheel   build/wheel/assay-<version>-<tags>.whl: the program and its Python package'
	@echo 'make bench   measure the performance targets and print them against their bounds'
	@echo 'make bench-understood   naive kernels get a true word, idle and under load: ten minutes'
	@echo 'make bench-regret   what a tuned table loses on shapes that are not in it: half an hour'
	@echo 'make bench-trust SEEDS=1:2   attackers caught, honest kernels flagged: 20 minutes a seed'
	@echo 'make bench-build   how long a build takes from nothing, with precompiled headers and without'
	@echo 'make bench-serve   the server against FastAPI, bare sockets and its own stamps: 14 minutes'
	@echo 'make bench-load   the load generator against its bounds: half an hour'
	@echo 'make bench-lab   what a climb keeps of nothing, and what kills leave of it: ten minutes'
	@echo 'make bench-gpu PART=same_m1   the same on a GPU, a part at a time (bench/main.cc names them)'
	@echo 'make deb     build/assay_<version>_<architecture>.deb, and assay-dev for programs'
	@echo 'make bench-native   native_cpu against the best stock kernel on more problems, on more threads, and on tiles'
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

# TIME: seconds for each target; TARGETS: some of them, or peers: what a network brings.
fuzz:
	@scripts/install-dependencies build fuzz
	scripts/fuzz $(or $(TIME),60) $(TARGETS)

# On the GPU that ASSAY_DEVICE names, or the first one. Elsewhere each test says why it is skipped.
test-gpu:
	@scripts/install-dependencies build test
	cmake --preset release -D BUILD_TESTING=ON
	cmake --build --preset release -j $(JOBS) --target assay gpu_test
	ctest --preset release -L gpu -V

bench:
	@scripts/install-dependencies build python bench
	cmake --preset release -D ASSAY_BENCH=ON
	cmake --build --preset release -j $(JOBS) --target assay assay_bench assay_python
	$(release)/assay_bench

# PARTS: some of races, share, why and lock. On a machine with nothing else at work.
bench-understood: build
	scripts/bench-understood $(if $(PARTS),--parts $(PARTS)) --output $(release)/assay_understood.json

bench-regret:
	@scripts/install-dependencies build bench
	cmake --preset release -D ASSAY_BENCH=ON
	cmake --build --preset release -j $(JOBS) --target assay_bench
	$(release)/assay_bench --only regret --output $(release)/assay_bench_regret.json

# Seeds that the log has are not raced again, and count: SEEDS=3:20 goes on where 1:2 ended.
SEEDS ?= 1:2
bench-trust:
	@scripts/install-dependencies build bench
	cmake --preset release -D ASSAY_BENCH=ON
	cmake --build --preset release -j $(JOBS) --target assay assay_bench
	$(release)/assay_bench --only trust --trust-seeds $(subst :, ,$(SEEDS)) --output $(release)/assay_bench_trust.json

bench-build:
	@scripts/install-dependencies build
	scripts/bench-build

# ONLY: some of start, compare, idle, streams, plugin, slower and mixed; the last takes ten minutes.
bench-serve:
	@scripts/install-dependencies build test
	cmake --preset release
	cmake --build --preset release -j $(JOBS) --target assay
	tests/run_locked bench/serve/requirements.txt build/bench_serve bench/serve/bench.py $(release)/assay build/bench_serve $(if $(ONLY),--only $(ONLY))

bench-load: build
	scripts/bench-load $(release)/assay

# ONLY: some of aiperf, guidellm, vllm, assay, llama and mcp. What they install stays in build/clients.
test-clients: build
	@scripts/install-dependencies test
	tests/clients/run.py $(release)/assay build/clients $(if $(ONLY),--only $(ONLY))

bench-lab:
	@scripts/install-dependencies build bench
	cmake --preset release -D ASSAY_BENCH=ON
	cmake --build --preset release -j $(JOBS) --target assay assay_lab_bench
	scripts/bench-lab $(release)/assay $(release)/assay_lab_bench

# PART: words of `assay_bench --only` without gpu_, on the GPU that ASSAY_DEVICE names: same,
# same_m1, same_m1_chain, sensitivity, decode, prefill, host ...; empty: all of them.
bench-gpu:
	@scripts/install-dependencies build bench
	cmake --preset release -D ASSAY_BENCH=ON
	cmake --build --preset release -j $(JOBS) --target assay assay_bench
	$(release)/assay_bench --only $(or $(addprefix gpu_,$(PART)),gpu) --output $(release)/assay_bench_gpu.json

deb:
	@scripts/install-dependencies build
	cmake --preset release
	cmake --build --preset release -j $(JOBS) --target assay_package
	cpack -G DEB --config $(release)/CPackConfig.cmake -B $(release)/packages
	cp $(release)/packages/assay*.deb build/
bench-native:
	@scripts/install-dependencies build bench
	cmake --preset release -D ASSAY_BENCH=ON
	cmake --build --preset release -j $(JOBS) --target assay assay_bench
	$(release)/assay_bench --only native_table native_threads native_amx --output $(release)/assay_bench_native.json

format:
	@scripts/format

clean:
	rm -rf build
