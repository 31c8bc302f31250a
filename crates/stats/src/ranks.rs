//! Ranks, and the exact distribution of sums of them.

/// The rank of each value, from 1; equal ones share the middle of theirs. Doubled, so that they are
/// whole numbers.
pub(crate) fn doubled_ranks(values: &[f64]) -> Vec<u64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0; values.len()];
    let mut before = 0;
    for alike in order.chunk_by(|a, b| values[*a].total_cmp(&values[*b]).is_eq()) {
        // Ranks before + 1 to before + len: twice their mean is their first and last together.
        let doubled = (2 * before + 1 + alike.len()) as u64;
        for index in alike {
            ranks[*index] = doubled;
        }
        before += alike.len();
    }
    ranks
}

/// Σ(t³ − t) over the sizes t of the groups of equal values: what ties take from a variance.
pub(crate) fn tie_term(ranks: &[u64]) -> f64 {
    let mut sorted = ranks.to_vec();
    sorted.sort_unstable();
    sorted
        .chunk_by(|a, b| a == b)
        .map(|alike| {
            let size = alike.len() as f64;
            size * size * size - size
        })
        .sum()
}

/// How likely each sum is when each of `items` is in it or not, both as likely.
pub(crate) fn sums_of_any(items: &[u64]) -> Vec<f64> {
    let most: u64 = items.iter().sum();
    let mut shares = vec![0.0; most as usize + 1];
    shares[0] = 1.0;
    let mut reached = 0;
    for item in items {
        let item = *item as usize;
        for sum in (0..=reached).rev() {
            let half = shares[sum] / 2.0;
            shares[sum] = half;
            shares[sum + item] += half;
        }
        reached += item;
    }
    shares
}

/// How likely each sum is when `count` of `items` are drawn, each choice as likely.
pub(crate) fn sums_of_some(items: &[u64], count: usize) -> Vec<f64> {
    let most: u64 = items.iter().sum();
    let width = most as usize + 1;
    let mut shares = vec![vec![0.0; width]; count + 1];
    shares[0][0] = 1.0;
    for (seen, item) in items.iter().enumerate() {
        let item = *item as usize;
        // Numbers of choices overflow; their shares of all do not. Of `seen + 1` items, `drawn` are
        // in with as many chances.
        let now = (seen + 1) as f64;
        for drawn in (0..=count.min(seen + 1)).rev() {
            let stay = 1.0 - drawn as f64 / now;
            for share in &mut shares[drawn] {
                *share *= stay;
            }
            if drawn > 0 {
                let (fewer, more) = shares.split_at_mut(drawn);
                let come = drawn as f64 / now;
                for (sum, share) in fewer[drawn - 1][..width - item].iter().enumerate() {
                    more[0][sum + item] += share * come;
                }
            }
        }
    }
    shares.swap_remove(count)
}

/// The probability of a sum as far from the middle as `sum` or farther, on either side: twice the
/// smaller tail, as SciPy has it.
pub(crate) fn both_tails(shares: &[f64], sum: u64) -> f64 {
    let below: f64 = shares[..=sum as usize].iter().sum();
    let above: f64 = shares[sum as usize..].iter().sum();
    (2.0 * below.min(above)).min(1.0)
}

/// How many of the smallest sums are together no likelier than `tail`.
pub(crate) fn beyond(shares: &[f64], tail: f64) -> usize {
    let mut sum = 0.0;
    let rare = shares.iter().take_while(|share| {
        sum += **share;
        // Rounding must not take a sum for likelier than the bound that it meets.
        sum <= tail * (1.0 + 1e-9)
    });
    rare.count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_share_their_ranks() {
        assert_eq!(doubled_ranks(&[3.0, 1.0, 3.0, 2.0]), [7, 2, 7, 4]);
        assert!((tie_term(&[7, 2, 7, 4]) - 6.0).abs() < 1e-12);
    }

    #[test]
    fn every_choice_is_as_likely() {
        // Of 1, 2, 3, 4 two: 3, 4, 5 twice, 6, 7.
        let shares = sums_of_some(&[1, 2, 3, 4], 2);
        let expected = [0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 1.0, 1.0, 0.0, 0.0, 0.0];
        for (sum, (share, expected)) in shares.iter().zip(expected).enumerate() {
            assert!((share - expected / 6.0).abs() < 1e-12, "{sum}: {share}");
        }
        let any = sums_of_any(&[1, 2]);
        assert!(any.iter().all(|share| (share - 0.25).abs() < 1e-12), "{any:?}");
    }
}
