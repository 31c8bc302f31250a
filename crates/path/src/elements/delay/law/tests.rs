#![expect(clippy::float_cmp, reason = "these results are exact, or were rounded")]

use super::*;

const SCALE: Span = Span::from_secs(1);

fn laws() -> [JitterLaw; 5] {
    let values = vec![-8192, -100, 0, 0, 4096, 32767];
    [
        JitterLaw::Uniform(SCALE),
        JitterLaw::Normal(SCALE),
        JitterLaw::Pareto(SCALE),
        JitterLaw::ParetoNormal(SCALE),
        JitterLaw::Table(TableLaw { name: "x.dist".into(), scale: SCALE, values }),
    ]
}

fn is_close(a: f64, b: f64, relative: f64) -> bool {
    (a - b).abs() <= relative * b.abs()
}

/// Reckoned with 40 digits (mpmath: a root of `ncdf`) for exactly these floating-point numbers.
#[test]
#[expect(clippy::excessive_precision, reason = "more digits than a number keeps do no harm")]
fn normal_quantiles_are_right_to_the_last_digits() {
    for (u, z) in [
        (1e-300, -37.047_096_299_361_199_237),
        (1e-100, -21.273_453_560_965_324_294),
        (1e-30, -11.464_024_688_443_615_72),
        (1e-12, -7.034_483_825_301_131_932_6),
        (1e-5, -4.264_890_793_922_824_610_2),
        (0.01, -2.326_347_874_040_841_093_1),
        (0.07, -1.475_791_028_179_170_685_6),
        (0.075, -1.439_531_470_938_455_934_9),
        (0.2, -0.841_621_233_572_914_165_52),
        (0.4, -0.253_347_103_135_799_741_32),
        (0.5, 0.0),
        (0.77, 0.738_846_849_185_213_687_82),
        (0.925, 1.439_531_470_938_456_229_1),
        (0.93, 1.475_791_028_179_171_099),
        (0.99, 2.326_347_874_040_840_767_6),
        (0.999_99, 4.264_890_793_923_840_769_9),
        (1.0 - 1e-12, 7.034_486_910_047_835_205_7),
        (0.5_f64.powi(54), -8.292_361_075_813_595_538_2),
        (1.0 - 0.5_f64.powi(53), 8.209_536_151_601_386_855_6),
    ] {
        assert!(is_close(normal::quantile(u), z, 1e-15), "{u}: {} for {z}", normal::quantile(u));
    }
    assert_eq!([0.0, 1.0].map(normal::quantile), [f64::NEG_INFINITY, f64::INFINITY]);
    for (z, u) in [
        (-3.0, 0.001_349_898_031_630_094_53),
        (-2.0, 0.022_750_131_948_179_207_2),
        (-1.0, 0.158_655_253_931_457_051),
        (0.0, 0.5),
        (0.5, 0.691_462_461_274_013_104),
        (2.0, 0.977_249_868_051_820_793),
    ] {
        assert!(is_close(normal::cdf(z), u, 4e-15), "{z}: {} for {u}", normal::cdf(z));
    }
}

/// Reckoned with 40 digits (mpmath) from the definitions.
#[test]
#[expect(clippy::excessive_precision, reason = "more digits than a number keeps do no harm")]
fn pareto_quantiles_are_those_of_their_definitions() {
    for (u, pareto, pareto_normal) in [
        (1e-6, -0.666_666_222_221_925_926, -1.688_355_743_872_169_18),
        (0.01, -0.662_192_360_202_685_638, -1.078_231_238_662_224_5),
        (0.1, -0.619_007_775_131_618_281, -0.784_643_722_734_863_828),
        (0.25, -0.532_476_778_269_054_807, -0.567_980_021_250_811_541),
        (0.5, -0.320_105_266_806_835_78, -0.240_078_950_105_126_835),
        (0.75, 0.116_534_735_957_599_3, 0.256_023_489_517_219_911),
        (0.9, 0.872_579_586_709_178_296, 0.974_822_581_418_033_839),
        (0.98, 2.912_041_998_187_182_14, 2.697_468_726_298_342_37),
        (0.99, 3.999_877_929_687_5, 3.581_495_415_775_835_28),
        (0.999, 3.999_877_929_687_5, 3.772_466_523_807_578_39),
    ] {
        for (law, value) in [
            (JitterLaw::Pareto(SCALE), pareto * 1e9),
            (JitterLaw::ParetoNormal(SCALE), pareto_normal * 1e9),
        ] {
            let quantile = law.quantile(u);
            assert!(is_close(quantile, value, 1e-14), "{law:?} at {u}: {quantile} for {value}");
        }
    }
}

/// Entries of the tables that iproute2 makes and installs: `pareto.dist`, `paretonormal.dist` and
/// `normal.dist`, 4096 entries each, of which the k-th belongs to the probability k/4096. The
/// normal ones come from a grid and are those of half a 16384th more; `paretonormal` rounds the
/// normal part, and then what it is added to towards zero.
#[test]
fn quantiles_are_those_of_the_tables_of_iproute2() {
    let entries = [0, 1, 2, 100, 1000, 2048, 3000, 4000, 4051, 4052, 4090, 4095];
    let pareto = [-5461, -5460, -5460, -5371, -4393, -2622, 566, 21783, 32750, 32767, 32767, 32767];
    let pareto_normal =
        [-12305, -11171, -10812, -8062, -4714, -1966, 1694, 20408, 29256, 29286, 30681, 31789];
    let normal =
        [-32768, -28307, -26871, -16135, -5677, 0, 5081, 16285, 18775, 18845, 24424, 28858];
    let one = Span::from_nanos(8192);
    for (i, k) in entries.into_iter().enumerate() {
        let exactly = JitterLaw::Pareto(one).quantile(f64::from(k) / 4096.0).round();
        assert_eq!(exactly, f64::from(pareto[i]), "pareto, entry {k}");
        if k == 0 {
            continue; // Minus infinity: the table ends at four standard deviations.
        }
        let z = normal::quantile((f64::from(4 * k) + 0.5) / 16384.0);
        let off = z * 8192.0 - f64::from(normal[i]);
        assert!(off.abs() <= 1.0, "normal, entry {k}: {off}");
        let off = super::pareto_normal(z, 1.0 - f64::from(k) / 4096.0) * 8192.0;
        let off = off - f64::from(pareto_normal[i]);
        assert!(off.abs() <= 1.5, "paretonormal, entry {k}: {off}");
    }
}

#[test]
fn quantile_inverts_distribution_function() {
    for law in &laws()[..4] {
        for n in 1..1000 {
            let u = f64::from(n) / 1000.0;
            let offset = law.quantile(u);
            let is_cut = offset >= 1e9 * MOST;
            let expected = if is_cut { 1.0 } else { u };
            assert!(is_close(law.cdf(offset), expected, 1e-12), "{law:?} at {u}");
        }
        let by_score = |n| law.at_score(f64::from(n) / 10.0);
        for n in -60..60 {
            let straight = law.quantile(normal::cdf(f64::from(n) / 10.0));
            assert!(is_close(by_score(n), straight, 1e-6), "{law:?} at {n}");
            assert!(by_score(n) <= by_score(n + 1));
        }
    }
}

#[test]
fn laws_end_where_they_are_cut_off() {
    let most = 1e9 * 32767.0 / 8192.0;
    for (law, upto, below, above) in [
        (JitterLaw::Uniform(SCALE), 1e9, 0.999_999, 1.0),
        (JitterLaw::Pareto(SCALE), most, 0.989_025, 1.0),
        // Three quarters are at the cut already when a quarter, the normal one, goes on.
        (JitterLaw::ParetoNormal(SCALE), most, 0.999_96, 1.0),
    ] {
        assert!(law.cdf(upto - 1000.0) >= below - 1e-6, "{law:?}: {}", law.cdf(upto - 1000.0));
        assert!(law.cdf(upto - 1000.0) < 1.0, "{law:?}");
        assert_eq!(law.cdf(upto), above, "{law:?}");
        assert!(law.quantile(1.0) <= upto, "{law:?}");
    }
    assert_eq!(JitterLaw::Pareto(SCALE).cdf(-0.667e9), 0.0);
    assert_eq!(JitterLaw::Uniform(SCALE).cdf(-1.001e9), 0.0);
}

#[test]
fn delay_table_is_a_staircase() {
    let law = &laws()[4];
    let unit = 1e9 / 8192.0;
    for (u, offset) in [(0.0, -8192.0), (0.16, -8192.0), (0.17, -100.0), (0.4, 0.0), (0.6, 0.0)] {
        assert_eq!(law.quantile(u), offset * unit);
    }
    assert_eq!([0.7, 0.99, 1.0].map(|u| law.quantile(u) / unit), [4096.0, 32767.0, 32767.0]);
    let sixth = |n: u32| f64::from(n) / 6.0;
    for (offset, upto) in
        [(-8193.0, 0), (-8192.0, 1), (-99.0, 2), (0.0, 4), (4095.0, 4), (4096.0, 5)]
    {
        assert_eq!(law.cdf(offset * unit), sixth(upto), "{offset}");
    }
    assert_eq!(law.cdf(32767.0 * unit), 1.0);
}

#[test]
fn law_without_width_is_a_step() {
    for law in [JitterLaw::Uniform(Span::ZERO), JitterLaw::Normal(Span::ZERO)] {
        assert_eq!([-1.0, 0.0, 1.0].map(|offset| law.cdf(offset)), [0.0, 1.0, 1.0]);
        assert_eq!(law.quantile(0.3), 0.0);
    }
}
