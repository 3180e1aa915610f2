//! A distribution of sizes in constant memory: sixteen steps to each doubling, so a quantile is at most 6 % too large.

/// Steps to a doubling.
const STEPS: u32 = 16;

/// A distribution.
#[derive(Debug, Clone, Default)]
pub struct Spread {
    /// Counts by bucket; as long as the largest needs.
    counts: Vec<u32>,
    count: u64,
    total: u64,
    max: u64,
}

impl Spread {
    /// Adds a size.
    pub fn add(&mut self, size: u64) {
        let at = bucket(size);
        if self.counts.len() <= at {
            self.counts.resize(at + 1, 0);
        }
        if let Some(count) = self.counts.get_mut(at) {
            *count = count.saturating_add(1);
        }
        self.count += 1;
        self.total = self.total.saturating_add(size);
        self.max = self.max.max(size);
    }

    /// Adds another distribution.
    pub fn join(&mut self, other: &Self) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (own, more) in self.counts.iter_mut().zip(&other.counts) {
            *own = own.saturating_add(*more);
        }
        self.count += other.count;
        self.total = self.total.saturating_add(other.total);
        self.max = self.max.max(other.max);
    }

    /// How many.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// All together.
    pub const fn total(&self) -> u64 {
        self.total
    }

    /// The largest.
    pub const fn max(&self) -> u64 {
        self.max
    }

    /// The size that `percent` of all do not pass; `None` of nothing.
    pub fn quantile(&self, percent: u64) -> Option<u64> {
        let rank = (self.count * percent).div_ceil(100).max(1);
        let mut passed = 0;
        let at = self.counts.iter().position(|count| {
            passed += u64::from(*count);
            passed >= rank
        })?;
        Some(top(at).min(self.max))
    }
}

/// The bucket of a size.
fn bucket(size: u64) -> usize {
    if size < u64::from(STEPS) {
        return size as usize;
    }
    let doubling = 63 - size.leading_zeros();
    let step = (size >> (doubling - 4)) & 15;
    ((doubling - 3) * STEPS) as usize + step as usize
}

/// The largest size of a bucket.
fn top(bucket: usize) -> u64 {
    let (doubling, step) = (bucket as u32 / STEPS, bucket as u64 % u64::from(STEPS));
    match doubling {
        0 => step,
        _ => ((16 + step + 1) << (doubling - 1)) - 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn quantiles_of_nothing_are_none_and_of_one_are_it() {
        let mut spread = Spread::default();
        assert_eq!(spread.quantile(50), None);
        spread.add(70_001);
        assert_eq!((spread.quantile(1), spread.quantile(99)), (Some(70_001), Some(70_001)));
    }

    proptest! {
        #[test]
        fn a_quantile_is_never_too_small_and_little_too_large(mut sizes in prop::collection::vec(0u64..1 << 40, 1..200), percent in 1u64..100) {
            let mut spread = Spread::default();
            sizes.iter().for_each(|s| spread.add(*s));
            sizes.sort_unstable();
            let rank = (sizes.len() as u64 * percent).div_ceil(100).max(1);
            let exact = sizes[rank as usize - 1];
            let got = spread.quantile(percent).unwrap();
            prop_assert!(got >= exact && got as f64 <= exact as f64 * 1.0625 + 1.0, "{got} for {exact}");
        }
    }
}
