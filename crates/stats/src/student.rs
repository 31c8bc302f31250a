//! Student's t distribution.

use std::f64::consts::PI;

/// The value that a Student t variable with `df` degrees of freedom stays below with probability
/// `p`. Exact to about 12 digits for `df` from 1 to a million and `p` from 10⁻⁹ to 1 − 10⁻⁹.
///
/// # Panics
/// When `p` is not between 0 and 1 (both excluded) or `df` is not positive.
pub fn student_t_quantile(p: f64, df: f64) -> f64 {
    assert!(p > 0.0 && p < 1.0, "no quantile at {p}");
    assert!(df > 0.0 && df.is_finite(), "{df} degrees of freedom");
    if p < 0.5 {
        return -student_t_quantile(1.0 - p, df);
    }
    let tail = 1.0 - p;
    let (mut low, mut high) = (0.0, 1.0);
    while upper_tail(high, df) > tail {
        (low, high) = (high, high * 2.0);
    }
    // The tail falls strictly, so halving finds the place; it ends when no number lies between.
    loop {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            return middle;
        }
        if upper_tail(middle, df) > tail {
            low = middle;
        } else {
            high = middle;
        }
    }
}

/// The probability that the variable exceeds `t`, which is not negative: half the regularised
/// incomplete beta function at df / (df + t²) with parameters df/2 and 1/2 (Abramowitz and Stegun
/// 26.7.1 and 26.5.27).
fn upper_tail(t: f64, df: f64) -> f64 {
    let square = t * t;
    let (a, x, rest) = (df / 2.0, df / (df + square), square / (df + square));
    // x^a · rest^(1/2) / B(a, 1/2), the common factor of both continued fractions.
    let front = (-a * (square / df).ln_1p()).exp() * rest.sqrt() * gamma_ratio(a) / PI.sqrt();
    // Each fraction converges fast on its own side of the distribution's bulk.
    if x < (a + 1.0) / (a + 2.5) {
        0.5 * front / a * beta_fraction(a, 0.5, x)
    } else {
        0.5 - front * beta_fraction(0.5, a, rest)
    }
}

/// Γ(a + 1/2) / Γ(a). Forming it directly keeps the digits that the difference of two large
/// logarithms would lose.
fn gamma_ratio(a: f64) -> f64 {
    // Up to where the series is exact: Γ(z + 1) = z Γ(z) on both sides of the fraction.
    let (mut a, mut factor) = (a, 1.0);
    while a < 20.0 {
        factor *= a / (a + 0.5);
        a += 1.0;
    }
    // Difference of the Stirling series of ln Γ at a + 1/2 and at a.
    let inverse = 1.0 / a;
    let square = inverse * inverse;
    let series = inverse
        * (-1.0 / 8.0
            + square * (1.0 / 192.0 + square * (-1.0 / 640.0 + square * (17.0 / 14_336.0))));
    factor * a.sqrt() * series.exp()
}

/// The continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8),
/// evaluated from the front by the method of Lentz (1976) as modified by Thompson and Barnett.
#[expect(clippy::many_single_char_names, reason = "as the handbook names them")]
fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let keep_off_zero = |v: f64| if v.abs() < TINY { TINY } else { v };
    let mut c = 1.0;
    let mut d = 1.0 / keep_off_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut value = d;
    for m in 1..10_000 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut step = 1.0;
        for coefficient in [even, odd] {
            d = 1.0 / keep_off_zero(1.0 + coefficient * d);
            c = keep_off_zero(1.0 + coefficient / c);
            step *= c * d;
        }
        value *= step;
        if (step - 1.0).abs() < 1e-16 {
            break;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEVELS: [f64; 6] = [0.6, 0.75, 0.9, 0.975, 0.995, 0.9995];

    #[test]
    fn quantiles_are_those_of_scipy() {
        for (df, row) in SCIPY {
            for (level, expected) in LEVELS.iter().zip(row) {
                let ours = student_t_quantile(*level, df);
                let error = (ours - expected).abs() / expected;
                assert!(error < 1e-11, "{level} at {df}: {ours} against {expected}");
            }
        }
    }

    #[test]
    fn student_with_one_degree_of_freedom_is_cauchy() {
        for level in LEVELS {
            let exact = (PI * (level - 0.5)).tan();
            let ours = student_t_quantile(level, 1.0);
            assert!((ours / exact - 1.0).abs() < 1e-12, "{level}: {ours} against {exact}");
        }
    }

    #[test]
    fn student_is_symmetric_about_zero() {
        for df in [1.0, 4.0, 30.0] {
            assert!(student_t_quantile(0.5, df).abs() < 1e-15);
            for level in LEVELS {
                let (above, below) =
                    (student_t_quantile(level, df), student_t_quantile(1.0 - level, df));
                assert!((above + below).abs() < 1e-9, "{level} at {df}: {above} and {below}");
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn quantile_inverts_tail(p in 0.5001..0.9999f64, df in 1.0..500.0f64) {
            let tail = upper_tail(student_t_quantile(p, df), df);
            proptest::prop_assert!((tail - (1.0 - p)).abs() < 1e-12);
        }

        #[test]
        fn student_narrows_with_degrees_of_freedom(p in 0.6..0.999f64, df in 1.0..500.0f64) {
            proptest::prop_assert!(student_t_quantile(p, df) > student_t_quantile(p, df + 1.0));
        }
    }

    /// Degrees of freedom and the quantile at each of LEVELS, made by SciPy 1.10.1. Its `t.ppf` is
    /// right to 9 or 10 digits only (for df = 1 it strays from the exact tan(π (p − 1/2)), where
    /// this crate does not), so each value was refined by Newton's steps on its exact tail:
    /// `x = t.ppf(p, df)`, then four times `x += (t.sf(x, df) - (1 - p)) / t.pdf(x, df)`.
    #[rustfmt::skip]
    const SCIPY: [(f64, [f64; 6]); 30] = [
        (1.0, [0.324_919_696_232_906_3, 1.000_000_000_000_001_6, 3.077_683_537_175_254, 12.706_204_736_174_692, 63.656_741_162_871_52, 636.619_248_768_789_7]),
        (2.0, [0.288_675_134_594_812_87, 0.816_496_580_927_725_9, 1.885_618_083_164_126_7, 4.302_652_729_749_461, 9.924_843_200_918_287, 31.599_054_576_445_36]),
        (3.0, [0.276_670_662_332_689_83, 0.764_892_328_404_345_3, 1.637_744_353_696_209_7, 3.182_446_305_283_707_8, 5.840_909_309_733_355, 12.923_978_636_687_961]),
        (4.0, [0.270_722_294_707_597_46, 0.740_697_084_112_682_8, 1.533_206_274_058_943_2, 2.776_445_105_197_793_4, 4.604_094_871_349_992, 8.610_301_581_379_522]),
        (5.0, [0.267_180_865_704_145_1, 0.726_686_843_800_422_7, 1.475_884_048_824_480_2, 2.570_581_835_636_314, 4.032_142_983_555_227, 6.868_826_625_881_274]),
        (6.0, [0.264_834_532_933_573_5, 0.717_558_196_491_412_6, 1.439_755_747_265_148_8, 2.446_911_851_144_969_2, 3.707_428_021_324_779_4, 5.958_816_178_818_885]),
        (7.0, [0.263_166_861_352_022_7, 0.711_141_778_081_786_4, 1.414_923_927_650_508_6, 2.364_624_251_592_784, 3.499_483_297_350_493, 5.407_882_520_861_828]),
        (8.0, [0.261_921_096_748_832_4, 0.706_386_612_644_838_7, 1.396_815_309_743_865, 2.306_004_135_204_165_4, 3.355_387_331_333_395, 5.041_305_433_373_456]),
        (9.0, [0.260_955_336_473_911_06, 0.702_722_146_751_326_3, 1.383_028_738_396_632_7, 2.262_157_162_798_204_4, 3.249_835_541_592_125, 4.780_912_585_931_217]),
        (10.0, [0.260_184_829_492_080_2, 0.699_812_061_312_431_7, 1.372_183_641_110_335_6, 2.228_138_851_986_274, 3.169_272_672_616_95, 4.586_893_858_702_707]),
        (12.0, [0.259_032_745_676_886_94, 0.695_482_865_511_792_4, 1.356_217_334_023_206, 2.178_812_829_667_229, 3.054_539_589_392_901_3, 4.317_791_283_606_247_5]),
        (15.0, [0.257_885_300_937_261_14, 0.691_196_948_958_489_7, 1.340_605_607_850_455_8, 2.131_449_545_559_775, 2.946_712_883_475_238, 4.072_765_195_903_846]),
        (19.0, [0.256_922_819_796_154_67, 0.687_621_460_203_960_1, 1.327_728_209_026_798_6, 2.093_024_054_408_309_6, 2.860_934_606_464_978, 3.883_405_852_592_130_4]),
        (20.0, [0.256_742_753_854_501_85, 0.686_954_496_448_803_5, 1.325_340_706_985_046_7, 2.085_963_447_265_864, 2.845_339_709_786_108, 3.849_516_274_930_874_4]),
        (25.0, [0.256_059_684_827_151_36, 0.684_429_964_904_270_2, 1.316_345_072_673_870_4, 2.059_538_552_753_297_7, 2.787_435_813_676_970_6, 3.725_143_949_728_693_6]),
        (29.0, [0.255_683_634_571_256_1, 0.683_043_860_821_613_3, 1.311_433_647_301_551, 2.045_229_642_132_704, 2.756_385_903_670_605_3, 3.659_405_019_466_373_4]),
        (30.0, [0.255_605_364_951_912_83, 0.682_755_693_321_292_6, 1.310_415_025_391_395_8, 2.042_272_456_301_238, 2.749_995_653_567_225_4, 3.645_958_635_042_062_3]),
        (39.0, [0.255_082_228_169_605_9, 0.680_832_556_564_608, 1.303_638_588_621_274_2, 2.022_690_920_036_760_4, 2.707_913_183_517_661, 3.558_120_081_332_770_5]),
        (40.0, [0.255_038_686_345_814_1, 0.680_672_717_164_449, 1.303_077_052_607_195, 2.021_075_390_306_273_3, 2.704_459_267_433_162_2, 3.550_965_760_863_349_4]),
        (41.0, [0.254_997_276_130_993_4, 0.680_520_735_100_196_8, 1.302_543_358_953_382_8, 2.019_540_970_441_376, 2.701_181_303_578_522, 3.544_183_642_971_621_6]),
        (60.0, [0.254_473_394_989_531, 0.678_600_720_648_135_5, 1.295_821_093_515_730_8, 2.000_297_822_014_26, 2.660_283_028_855_036_8, 3.460_200_469_196_391]),
        (99.0, [0.254_029_012_151_806_57, 0.676_975_985_546_152_5, 1.290_161_442_034_486, 1.984_216_951_586_417_2, 2.626_405_457_280_827_5, 3.391_528_833_363_684_4]),
        (120.0, [0.253_909_523_214_928_66, 0.676_539_724_912_520_6, 1.288_646_233_656_377_8, 1.979_930_405_082_44, 2.617_421_145_106_866, 3.373_453_768_562_532_3]),
        (199.0, [0.253_686_075_381_772_2, 0.675_724_595_610_646_2, 1.285_820_209_259_408_9, 1.971_956_544_251_753, 2.600_760_216_058_515_7, 3.340_086_556_161_463_4]),
        (1_000.0, [0.253_414_515_839_498_64, 0.674_735_164_607_009_8, 1.282_398_721_460_924_7, 1.962_339_080_826_408, 2.580_754_698_065_950_6, 3.300_282_648_423_944]),
        (100_000.0, [0.253_347_777_157_179_9, 0.674_492_203_553_292, 1.281_560_031_449_361_1, 1.959_987_707_534_609_3, 2.575_878_469_908_374_8, 3.290_624_031_411_913_3]),
        (1_000_000.0, [0.253_347_170_537_842_1, 0.674_489_995_531_087_8, 1.281_552_412_129_938_4, 1.959_966_356_814_106_4, 2.575_834_220_105_333, 3.290_536_461_248_722_2]),
        (0.5, [0.397_975_426_784_790_6, 1.553_773_974_030_037_4, 10.270_324_410_234_512, 164.557_673_480_488_26, 4_113.964_588_804_177, 411_396.462_526_261_9]),
        (2.5, [0.281_459_512_748_547_6, 0.785_013_682_992_300_9, 1.730_250_928_807_176, 3.574_654_842_003_681_7, 7.163_728_138_948_781, 18.277_893_528_131_454]),
        (7.25, [0.262_822_759_426_779_9, 0.709_825_106_380_240_2, 1.409_884_895_325_902, 2.348_194_849_105_371_2, 3.458_755_962_443_808_7, 5.302_992_013_800_703]),
    ];
}
