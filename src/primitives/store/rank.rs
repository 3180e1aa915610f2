//! Ranking: how well words fit, how near vectors are, and both together. Only the items that a filter let through are
//! counted, so that what others hold changes nothing.

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

/// How often each candidate has a word, in the order of the candidates.
pub(super) type Counts = Vec<i64>;

/// The best items, best first, at most so many. `counts` = for each word of the query.
///
/// Both halves lie between 0 and 1: how much of the query's words an item has, rare ones counting more, and how much
/// nearer than the average its vector is. Places in two orders would say less: the best of a bad order would count as much
/// as the best of a good one, and every `for` and `the` that a query shares with some text makes a bad order.
pub(super) fn best(candidates: &[Candidate], counts: &[Counts], most: usize) -> Vec<Found> {
    let words = by_words(candidates, counts);
    let total: f64 = candidates.iter().map(|c| f64::from(c.near)).sum();
    let mean = (total / real(candidates.len()).max(1.0)).clamp(0.0, 0.99);
    let found = candidates.iter().zip(words).filter_map(|(c, word)| {
        let near = ((f64::from(c.near) - mean) / (1.0 - mean)).max(0.0);
        let found = Found { n: c.n, score: (word + near) / 2.0, near: c.near };
        (word > 0.0 || c.near > NEAR).then_some(found)
    });
    let mut found: Vec<Found> = found.collect();
    // Equal scores are told apart by the vector, then by age: no two are equal, and so the best are the same however they
    // are found.
    let order = |a: &Found, b: &Found| b.score.total_cmp(&a.score).then(b.near.total_cmp(&a.near)).then(a.n.cmp(&b.n));
    if most < found.len() {
        found.select_nth_unstable_by(most, order);
        found.truncate(most);
    }
    found.sort_unstable_by(order);
    found
}

/// How well each item's words fit, as a share of the best possible: Okapi BM25. A word that no item has counts as the
/// rarest of all.
fn by_words(candidates: &[Candidate], counts: &[Counts]) -> Vec<f64> {
    let all = real(candidates.len());
    let mean = candidates.iter().map(|c| whole(c.words)).sum::<f64>() / all.max(1.0);
    let mut scores = vec![0.0; candidates.len()];
    let mut possible = 0.0;
    for having in counts {
        let number = real(having.iter().filter(|count| **count > 0).count());
        let rare = ((all - number + 0.5) / (number + 0.5)).ln_1p();
        possible += rare * (SATURATION + 1.0);
        for ((score, candidate), count) in scores.iter_mut().zip(candidates).zip(having) {
            if *count > 0 {
                let long = 1.0 - LENGTH + LENGTH * whole(candidate.words) / mean.max(1.0);
                *score += rare * whole(*count) * (SATURATION + 1.0) / (whole(*count) + SATURATION * long);
            }
        }
    }
    if possible > 0.0 {
        scores.iter_mut().for_each(|score| *score /= possible);
    }
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
        let counts = [vec![0, 1, 1, 0]];
        let order = |most| best(&candidates, &counts, most).into_iter().map(|f| f.n).collect::<Vec<_>>();
        assert_eq!((order(9)[0], order(9).len()), (2, 3), "{:?}", order(9));
        for most in 0..4 {
            assert_eq!(order(most), order(9)[..most.min(3)]);
        }
    }

    #[test]
    fn a_small_word_does_not_outweigh_a_meaning() {
        let candidate = |n, near| Candidate { n, words: 8, near };
        let candidates = [candidate(1, 0.5), candidate(2, 0.2), candidate(3, 0.1), candidate(4, 0.0)];
        let none = vec![0; 4];
        let counts = [vec![0, 1, 0, 0], vec![0, 1, 0, 0], none.clone(), none.clone(), none];
        assert_eq!(best(&candidates, &counts, 9)[0].n, 1);
    }

    #[test]
    fn a_rare_word_outweighs_a_common_one_and_a_short_text_a_long_one() {
        let candidates: Vec<Candidate> =
            (0..10).map(|n| Candidate { n, words: if n == 7 { 200 } else { 10 }, near: 0.0 }).collect();
        let common = (0..10).map(|n| i64::from(n < 9)).collect();
        let rare = (0..10).map(|n| i64::from(n >= 7)).collect();
        let scores = by_words(&candidates, &[common, rare]);
        assert!(scores[8] > scores[9] && scores[9] > scores[7] && scores[7] > scores[1], "{scores:?}");
    }

    #[test]
    fn nothing_is_found_where_nothing_fits() {
        assert!(best(&[Candidate { n: 1, words: 0, near: 0.0 }], &[], 9).is_empty());
        assert!(best(&[], &[Vec::new()], 9).is_empty());
    }
}
