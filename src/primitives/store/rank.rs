//! Ranking: how well words fit, how near vectors are, and both together. Only the items that a filter let through are
//! counted, so that what others hold changes nothing.

use std::collections::BTreeMap;

/// How soon more of one word counts less.
const SATURATION: f64 = 1.2;
/// How much longer texts are held back.
const LENGTH: f64 = 0.75;
/// Likeness of vectors below which it means nothing.
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
///
/// Both halves lie between 0 and 1: how much of the query's words an item has, rare ones counting more, and how much
/// nearer than the average its vector is. Places in two orders would say less: the best of a bad order would count as much
/// as the best of a good one, and every `for` and `the` that a query shares with some text makes a bad order.
pub(super) fn best(candidates: &[Candidate], counts: &[BTreeMap<i64, i64>]) -> Vec<Found> {
    let words = by_words(candidates, counts);
    let total: f64 = candidates.iter().map(|c| f64::from(c.near)).sum();
    let mean = (total / real(candidates.len()).max(1.0)).clamp(0.0, 0.99);
    let found = candidates.iter().filter_map(|c| {
        let word = words.get(&c.n).copied().unwrap_or(0.0);
        let near = ((f64::from(c.near) - mean) / (1.0 - mean)).max(0.0);
        let found = Found { n: c.n, score: (word + near) / 2.0, near: c.near };
        (word > 0.0 || c.near > NEAR).then_some(found)
    });
    let mut found: Vec<Found> = found.collect();
    // Equal scores are told apart by the vector, then by age.
    found.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.near.total_cmp(&a.near)).then(a.n.cmp(&b.n)));
    found
}

/// How well each item's words fit, as a share of the best possible: Okapi BM25. A word that no item has counts as the
/// rarest of all.
fn by_words(candidates: &[Candidate], counts: &[BTreeMap<i64, i64>]) -> BTreeMap<i64, f64> {
    let all = real(candidates.len());
    let mean = candidates.iter().map(|c| whole(c.words)).sum::<f64>() / all.max(1.0);
    let mut scores: BTreeMap<i64, f64> = BTreeMap::new();
    let mut possible = 0.0;
    for items in counts {
        let having = real(items.len());
        let rare = ((all - having + 0.5) / (having + 0.5)).ln_1p();
        possible += rare * (SATURATION + 1.0);
        for (n, count) in items {
            let Ok(at) = candidates.binary_search_by_key(n, |c| c.n) else { continue };
            let long = 1.0 - LENGTH + LENGTH * whole(candidates[at].words) / mean.max(1.0);
            let fits = rare * whole(*count) * (SATURATION + 1.0) / (whole(*count) + SATURATION * long);
            *scores.entry(*n).or_default() += fits;
        }
    }
    scores.values_mut().for_each(|score| *score /= possible);
    scores
}

#[expect(clippy::cast_precision_loss, reason = "counts of words are far below 2^52")]
const fn whole(count: i64) -> f64 {
    count as f64
}

#[expect(clippy::cast_precision_loss, reason = "counts of items are far below 2^52")]
const fn real(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_words_and_vector_name_is_before_what_one_of_them_names() {
        let candidate = |n, near| Candidate { n, words: 10, near };
        let candidates = [candidate(1, 0.5), candidate(2, 0.5), candidate(3, 0.0), candidate(4, 0.0)];
        let counts = [BTreeMap::from([(2, 1), (3, 1)])];
        let order: Vec<i64> = best(&candidates, &counts).into_iter().map(|f| f.n).collect();
        assert_eq!((order[0], order.len()), (2, 3), "{order:?}");
    }

    #[test]
    fn a_small_word_does_not_outweigh_a_meaning() {
        let candidate = |n, near| Candidate { n, words: 8, near };
        let candidates = [candidate(1, 0.5), candidate(2, 0.2), candidate(3, 0.1), candidate(4, 0.0)];
        let none = BTreeMap::new();
        let counts = [BTreeMap::from([(2, 1)]), BTreeMap::from([(2, 1)]), none.clone(), none.clone(), none];
        assert_eq!(best(&candidates, &counts)[0].n, 1);
    }

    #[test]
    fn a_rare_word_outweighs_a_common_one_and_a_short_text_a_long_one() {
        let candidates: Vec<Candidate> =
            (0..10).map(|n| Candidate { n, words: if n == 7 { 200 } else { 10 }, near: 0.0 }).collect();
        let common: BTreeMap<i64, i64> = (0..9).map(|n| (n, 1)).collect();
        let rare = BTreeMap::from([(7, 1), (8, 1), (9, 1)]);
        let scores = by_words(&candidates, &[common, rare]);
        assert!(scores[&8] > scores[&9] && scores[&9] > scores[&7] && scores[&7] > scores[&1], "{scores:?}");
    }

    #[test]
    fn nothing_is_found_where_nothing_fits() {
        assert!(best(&[Candidate { n: 1, words: 0, near: 0.0 }], &[]).is_empty());
        assert!(best(&[], &[BTreeMap::new()]).is_empty());
    }
}
