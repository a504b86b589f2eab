#include "assay/sweep/memory_room.h"

#include <gtest/gtest.h>

namespace assay::sweep {
namespace {

TEST(MemoryRoom, AsLongAsThereWasRoomNobodyIsLeftOut) {
  MemoryRoom room;
  room.took("one", "tiles", 100, 900);
  EXPECT_FALSE(room.is_short());
  EXPECT_TRUE(room.fits("one", "tiles", 1'000'000));
}

TEST(MemoryRoom, WhoRanOutFitsOnlyWhereMoreIsLeft) {
  MemoryRoom room;
  room.ran_out("one", "tiles", 800, 1000);
  EXPECT_TRUE(room.is_short());
  EXPECT_EQ(room.limit_bytes(), 1000);
  EXPECT_FALSE(room.fits("one", "tiles", 800));
  EXPECT_TRUE(room.fits("one", "tiles", 500));
}

TEST(MemoryRoom, OthersOfItsFamilyNeedAsMuchUntilTheyWereSeen) {
  MemoryRoom room;
  room.took("two", "tiles", 100, 110);
  room.ran_out("one", "tiles", 800, 1000);
  EXPECT_FALSE(room.fits("three", "tiles", 850)) << "never seen";
  EXPECT_TRUE(room.fits("two", "tiles", 850)) << "seen to take 10";
  EXPECT_FALSE(room.fits("two", "tiles", 995));
  EXPECT_TRUE(room.fits("four", "panels", 985)) << "nothing is known of its family";
  EXPECT_FALSE(room.fits("four", "panels", 995)) << "less is left than anybody took";
}

}  // namespace
}  // namespace assay::sweep
