#include "assay/timing/memory_room.h"

#include <gtest/gtest.h>

namespace assay::sweep {
namespace {

TEST(MemoryRoom, AsLongAsThereWasRoomNobodyIsLeftOut) {
  MemoryRoom room;
  room.took("one", "tiles", 100, 900);
  EXPECT_FALSE(room.is_short());
  EXPECT_TRUE(room.fits("one", "tiles", true, 1'000'000));
}

TEST(MemoryRoom, WhoRanOutFitsOnlyWhereMoreIsLeft) {
  MemoryRoom room;
  room.ran_out("one", "tiles", 800, 1000);
  EXPECT_TRUE(room.is_short());
  EXPECT_EQ(room.limit_bytes(), 1000);
  EXPECT_FALSE(room.fits("one", "tiles", true, 800));
  EXPECT_TRUE(room.fits("one", "tiles", true, 500));
}

TEST(MemoryRoom, OthersOfItsFamilyNeedAsMuchUntilTheyWereSeen) {
  MemoryRoom room;
  room.took("two", "tiles", 100, 110);
  room.ran_out("one", "tiles", 800, 1000);
  EXPECT_FALSE(room.fits("three", "tiles", true, 850)) << "never seen";
  EXPECT_TRUE(room.fits("two", "tiles", true, 850)) << "seen to take 10";
  EXPECT_FALSE(room.fits("two", "tiles", true, 995));
  EXPECT_TRUE(room.fits("four", "panels", true, 985)) << "nothing is known of its family";
  EXPECT_FALSE(room.fits("four", "panels", true, 995)) << "less is left than anybody took";
  EXPECT_TRUE(room.fits("four", "panels", false, 995)) << "it packs nothing";
}

}  // namespace
}  // namespace assay::sweep
