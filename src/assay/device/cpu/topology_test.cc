#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/file.h"
#include "assay/device/cpu/cpu_device.h"

namespace assay::cpu {
namespace {

using ::testing::ElementsAre;

// A made-up /proc and /sys.
class TopologyTest : public ::testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = folder_.path() + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  void core(int cpu, const std::string& siblings) {
    write("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list",
          siblings + "\n");
  }
  void cache(int cpu, int index, const std::string& level, const std::string& type,
             const std::string& size, const std::string& shared) {
    const std::string folder = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) +
                               "/cache/index" + std::to_string(index);
    write(folder + "/level", level + "\n");
    write(folder + "/type", type + "\n");
    write(folder + "/size", size + "\n");
    write(folder + "/shared_cpu_list", shared + "\n");
  }
  Topology read(std::vector<int> allowed) {
    return read_topology(
        {.root = folder_.path(), .allowed = std::move(allowed), .ask_system = false});
  }

  TemporaryDirectory folder_ = std::move(*TemporaryDirectory::create());
};

TEST_F(TopologyTest, TakesOneCpuOfEachCore) {
  write("/sys/devices/system/cpu/online", "0-7\n");
  for (int cpu = 0; cpu < 8; ++cpu) {
    core(cpu, std::to_string(cpu % 4) + "," + std::to_string(cpu % 4 + 4));
  }
  EXPECT_THAT(read({0, 1, 2, 3, 4, 5, 6, 7}).physical_cores, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(read({0, 1, 4, 5}).logical, 4);
  EXPECT_THAT(read({0, 1, 4, 5}).physical_cores, ElementsAre(0, 1));
  EXPECT_THAT(read({5, 6}).physical_cores, ElementsAre(5, 6)) << "only those allowed to us";
  EXPECT_EQ(read({5, 6}).machine_logical, 8);
}

TEST_F(TopologyTest, ReadsCpuinfoWhereSysIsHidden) {
  std::string text;
  for (int cpu = 0; cpu < 4; ++cpu) {
    text += "processor\t: " + std::to_string(cpu) + "\nvendor_id\t: GenuineIntel\n" +
            "model name\t: Some CPU @ 2.00GHz\nmicrocode\t: 0x2b\nphysical id\t: 0\ncore id\t: " +
            std::to_string(cpu / 2) + "\n\n";
  }
  write("/proc/cpuinfo", text);
  write("/proc/meminfo", "MemTotal:       1024 kB\nMemFree: 1 kB\n");
  const Topology topology = read({0, 1, 2, 3});
  EXPECT_EQ(topology.model, "Some CPU @ 2.00GHz");
  EXPECT_EQ(topology.vendor, "GenuineIntel");
  EXPECT_EQ(topology.microcode, "0x2b");
  EXPECT_EQ(topology.machine_logical, 4);
  EXPECT_THAT(topology.physical_cores, ElementsAre(0, 2));
  EXPECT_EQ(topology.memory_bytes, size_t{1} << 20);
}

TEST_F(TopologyTest, WorksWithNothingToRead) {
  const Topology topology = read({3, 9});
  EXPECT_THAT(topology.physical_cores, ElementsAre(3, 9));
  EXPECT_EQ(topology.logical, 2);
  EXPECT_EQ(topology.model, "unknown CPU");
  EXPECT_EQ(topology.l3_bytes, 0u);
  EXPECT_EQ(default_threads(topology), 1);
}

TEST_F(TopologyTest, AddsUpTheLastCachesThatTheCoresReach) {
  for (int cpu = 0; cpu < 4; ++cpu) {
    const std::string own = std::to_string(cpu), ccx = cpu < 2 ? "0-1" : "2-3";
    cache(cpu, 0, "1", "Data", "32K", own);
    cache(cpu, 1, "1", "Instruction", "64K", own);
    cache(cpu, 2, "2", "Unified", "1024K", own);
    cache(cpu, 3, "3", "Unified", "16M", ccx);
  }
  const Topology all = read({0, 1, 2, 3});
  EXPECT_EQ(all.l1d_bytes, size_t{32} << 10);
  EXPECT_EQ(all.l2_bytes, size_t{1} << 20);
  EXPECT_EQ(all.l3_bytes, size_t{32} << 20);
  EXPECT_EQ(all.l3_instance_bytes, size_t{16} << 20);
  EXPECT_EQ(read({0, 1}).l3_bytes, size_t{16} << 20);
}

TEST_F(TopologyTest, RespectsAVersion2CgroupAndThoseAboveIt) {
  write("/proc/meminfo", "MemTotal: 4194304 kB\n");
  write("/proc/self/cgroup", "0::/user/job\n");
  write("/sys/fs/cgroup/user/job/cpu.max", "max 100000\n");
  write("/sys/fs/cgroup/user/cpu.max", "250000 100000\n");
  write("/sys/fs/cgroup/user/job/memory.max", "1073741824\n");
  write("/sys/fs/cgroup/user/memory.max", "max\n");
  const Topology topology = read({0, 1, 2, 3});
  EXPECT_DOUBLE_EQ(topology.cpu_quota, 2.5);
  EXPECT_EQ(topology.logical, 2);
  EXPECT_THAT(topology.physical_cores, ElementsAre(0, 1));
  EXPECT_EQ(topology.memory_bytes, size_t{1} << 30);
}

TEST_F(TopologyTest, SeesAContainersOwnGroupAtTheMountsTop) {
  write("/proc/self/cgroup", "0::/docker/0123456789ab\n");
  write("/sys/fs/cgroup/cpu.max", "50000 100000\n");
  const Topology topology = read({0, 1});
  EXPECT_EQ(topology.logical, 1) << "less than one CPU still runs one thread";
  EXPECT_THAT(topology.physical_cores, ElementsAre(0));
}

TEST_F(TopologyTest, RespectsAVersion1Cgroup) {
  write("/proc/self/cgroup",
        "5:cpu,cpuacct:/a\n4:memory:/a\n3:cpuset:/a\n1:name=systemd:/a/../b\n");
  write("/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "300000\n");
  write("/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000\n");
  write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  write("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "9223372036854771712\n");
  write("/proc/meminfo", "MemTotal: 1024 kB\n");
  const Topology topology = read({0, 1, 2, 3, 4});
  EXPECT_EQ(topology.logical, 3);
  EXPECT_EQ(topology.memory_bytes, size_t{1} << 20) << "no limit is not a limit";
}

TEST_F(TopologyTest, NonsenseInFilesIsNoLimit) {
  write("/proc/self/cgroup", "garbage\n::\n0::relative\n");
  write("/sys/fs/cgroup/cpu.max", "many few\n");
  write("/sys/devices/system/cpu/online", "0-x,,9-3\n");
  write("/proc/cpuinfo", "processor\t: no\n:\nmodel name\n");
  const Topology topology = read({0, 1});
  EXPECT_EQ(topology.logical, 2);
  EXPECT_EQ(topology.machine_logical, 2);
}

TEST(Topology, OfThisMachineMakesSense) {
  const Topology topology = read_topology();
  EXPECT_GE(topology.logical, 1);
  EXPECT_GE(topology.machine_logical, topology.logical);
  EXPECT_GE(topology.physical_cores.size(), 1u);
  EXPECT_GT(topology.memory_bytes, 0u);
}

}  // namespace
}  // namespace assay::cpu
