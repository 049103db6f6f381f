#include <gtest/gtest.h>

#include "tests/unit/trainer/fixtures.h"
#include "trainer/predictors/structured/library_fit.h"

namespace tenshot::trainer::structured {
namespace {

TEST(OwnFits, OfDevicesThatAreSumsOfCosts_SayThatTheyAreKnownWell) {
  const datasets::Pool pool = test::synthetic_pool(60);
  const OwnFits fits = own_fits(nasbench::structures_of(*pool.space), pool, {});
  ASSERT_EQ(fits.devices.size(), 3U);
  for (const OwnFit& fit : fits.devices) EXPECT_GE(fit.within_10, 0.95);
}

}  // namespace
}  // namespace tenshot::trainer::structured
