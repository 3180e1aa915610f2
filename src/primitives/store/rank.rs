//! Ranking: how well words fit, how near vectors are, and both together. Only the items that a filter let through are
//! counted, so that what others hold changes nothing.

use std::collections::BTreeMap;

/// How soon more of one word counts less.
const SATURATION: f64 = 1.2;
/// How much longer texts are held back.
const LENGTH: f64 = 0.75;
/// How much the first places of one order outweigh the later ones, when two orders become one.
const FUSION: f64 = 60.0;
/// Places of each order that count.
const PLACES: usize = 200;
/// Likeness of vectors below which a place means nothing.
const NEAR: f32 = 0.05;

/// An item that may be found.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    /// Its number.
    pub(super) n: i64,
    /// Its words.
    pub(super) words: i64,
    /// How near its vector is.
    pub(super) near: f32,
}

/// An item that was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Found {
    /// Its number.
    pub(super) n: i64,
    /// By which it is ranked; only comparable within one answer.
    pub(super) score: f64,
    /// How near its vector is.
    pub(super) near: f32,
}

/// The best items, best first. `counts` = for each word of the query, how often each item has it.
pub(super) fn best(candidates: &[Candidate], counts: &[BTreeMap<i64, i64>]) -> Vec<Found> {
    let by_words = by_words(candidates, counts);
    let mut by_vector: Vec<&Candidate> = candidates.iter().filter(|c| c.near > NEAR).collect();
    by_vector.sort_by(|a, b| b.near.total_cmp(&a.near).then(a.n.cmp(&b.n)));
    let mut scores: BTreeMap<i64, f64> = BTreeMap::new();
    for order in [by_words, by_vector.into_iter().map(|c| c.n).collect::<Vec<i64>>()] {
        let mut place = FUSION;
        for n in order.into_iter().take(PLACES) {
            place += 1.0;
            *scores.entry(n).or_default() += 1.0 / place;
        }
    }
    let near = |n: i64| candidates.binary_search_by_key(&n, |c| c.n).map_or(0.0, |at| candidates[at].near);
    let mut found: Vec<Found> = scores.into_iter().map(|(n, score)| Found { n, score, near: near(n) }).collect();
    // Equal scores are told apart by the vector, then by age.
    found.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.near.total_cmp(&a.near)).then(a.n.cmp(&b.n)));
    found
}

/// Items that have words of the query, best first: Okapi BM25.
fn by_words(candidates: &[Candidate], counts: &[BTreeMap<i64, i64>]) -> Vec<i64> {
    #[expect(clippy::cast_precision_loss, reason = "counts of items and words are far below 2^52")]
    let real = |count: i64| count as f64;
    let all = real(i64::try_from(candidates.len()).unwrap_or(i64::MAX));
    let mean = candidates.iter().map(|c| real(c.words)).sum::<f64>() / all.max(1.0);
    let mut scores: BTreeMap<i64, f64> = BTreeMap::new();
    for items in counts {
        let having = real(i64::try_from(items.len()).unwrap_or(i64::MAX));
        let rare = ((all - having + 0.5) / (having + 0.5)).ln_1p();
        for (n, count) in items {
            let Ok(at) = candidates.binary_search_by_key(n, |c| c.n) else { continue };
            let long = 1.0 - LENGTH + LENGTH * real(candidates[at].words) / mean.max(1.0);
            *scores.entry(*n).or_default() +=
                rare * real(*count) * (SATURATION + 1.0) / (real(*count) + SATURATION * long);
        }
    }
    let mut order: Vec<(i64, f64)> = scores.into_iter().collect();
    order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    order.into_iter().map(|(n, _)| n).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_both_orders_name_is_before_what_one_names() {
        let candidate = |n, near| Candidate { n, words: 10, near };
        let candidates = [candidate(1, 0.9), candidate(2, 0.5), candidate(3, 0.0)];
        let counts = [BTreeMap::from([(2, 1), (3, 1)])];
        let order: Vec<i64> = best(&candidates, &counts).into_iter().map(|f| f.n).collect();
        assert_eq!(order, [2, 1, 3]);
    }

    #[test]
    fn a_rare_word_outweighs_a_common_one_and_a_short_text_a_long_one() {
        let candidates: Vec<Candidate> =
            (0..10).map(|n| Candidate { n, words: if n == 7 { 200 } else { 10 }, near: 0.0 }).collect();
        let common: BTreeMap<i64, i64> = (0..9).map(|n| (n, 1)).collect();
        let rare = BTreeMap::from([(7, 1), (8, 1), (9, 1)]);
        assert_eq!(by_words(&candidates, &[common, rare])[..2], [8, 9]);
    }

    #[test]
    fn nothing_is_found_where_nothing_fits() {
        assert!(best(&[Candidate { n: 1, words: 0, near: 0.0 }], &[]).is_empty());
        assert!(best(&[], &[BTreeMap::new()]).is_empty());
    }
}
