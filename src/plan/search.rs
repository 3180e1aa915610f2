//! The exact search for the tightest set of selectors. Pure: sets in, indices out.

use crate::resolve::{CapId, CapSet};

/// One word of a list and what keeping it means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selector {
    /// As the host spells it.
    pub word: String,
    /// What one would use its tools for.
    pub covers: CapSet,
    /// All its tools make possible.
    pub confers: CapSet,
}

/// What to choose from and what for.
#[derive(Debug, Clone)]
pub struct Problem<'a> {
    /// The words.
    pub selectors: &'a [Selector],
    /// What tools cover that no word reaches.
    pub base_covers: CapSet,
    /// What those tools confer.
    pub base_confers: CapSet,
    /// What the role is granted.
    pub grants: CapSet,
    /// What no kept word may confer: the denials that this host must hold.
    pub forbidden: CapSet,
    /// The dangerous capabilities.
    pub dangerous: CapSet,
    /// The restricted capabilities.
    pub restricted: CapSet,
}

/// Excess as (dangerous, restricted): fewer dangerous ones first.
type Vector = (u32, u32);

impl Problem<'_> {
    /// The risky capabilities of `confers` beyond the grants; safe excess is free.
    fn excess(&self, confers: CapSet) -> CapSet {
        confers.and(self.dangerous.union(self.restricted)).without(self.grants)
    }

    fn vector(&self, excess: CapSet) -> Vector {
        (excess.and(self.dangerous).len(), excess.and(self.restricted).len())
    }

    /// The words that could help: they cover a grant and confer nothing that must be absent.
    fn candidates(&self) -> Vec<usize> {
        let useful = |s: &Selector| !s.covers.and(self.grants).is_empty() && s.confers.and(self.forbidden).is_empty();
        (0..self.selectors.len()).filter(|i| useful(&self.selectors[*i])).collect()
    }

    /// The words to keep, in the order given.
    ///
    /// Every denial is held (words that break one are no candidates); then as many grants as possible are
    /// covered, which all candidates together do, so that no choice between grants remains; then the
    /// excess is least; then every further word is kept that covers a grant within that excess; then the
    /// list of words is the first in the order of names.
    pub fn solve(&self) -> Vec<usize> {
        let candidates = self.candidates();
        let base = self.excess(self.base_confers);
        let options: Vec<(CapSet, CapSet)> = candidates
            .iter()
            .map(|i| {
                let s = &self.selectors[*i];
                (s.covers.and(self.grants), self.excess(s.confers).without(base))
            })
            .collect();
        let coverable = options.iter().fold(self.base_covers, |all, (covers, _)| all.union(*covers)).and(self.grants);
        let mut search = Search { problem: self, options: distinct(&options), base, coverable, best: None };
        search.descend(CapSet::EMPTY);
        let unions = search.best.map(|(_, unions)| unions).unwrap_or_default();
        unions
            .into_iter()
            .map(|union| {
                let kept =
                    candidates.iter().zip(&options).filter(|(_, (_, excess))| excess.within(union)).map(|(i, _)| *i);
                kept.collect::<Vec<_>>()
            })
            .min_by_key(|kept| {
                let mut words: Vec<&str> = kept.iter().map(|i| self.selectors[*i].word.as_str()).collect();
                words.sort_unstable();
                words
            })
            .unwrap_or_default()
    }
}

/// Equal words once; a word that another beats on both sides adds nothing to the search.
fn distinct(options: &[(CapSet, CapSet)]) -> Vec<(CapSet, CapSet)> {
    let mut sorted = options.to_vec();
    sorted.sort_by_key(|(covers, excess)| (excess.len(), excess.0, covers.0));
    sorted.dedup();
    let beaten = |i: usize, (covers, excess): (CapSet, CapSet)| {
        sorted
            .iter()
            .enumerate()
            .any(|(j, (c, e))| j != i && covers.within(*c) && e.within(excess) && (*c, *e) != (covers, excess))
    };
    sorted.iter().enumerate().filter(|(i, o)| !beaten(*i, **o)).map(|(_, o)| *o).collect()
}

/// Branch and bound over the excess that is accepted; the vector only grows on the way down.
struct Search<'p> {
    problem: &'p Problem<'p>,
    options: Vec<(CapSet, CapSet)>,
    base: CapSet,
    coverable: CapSet,
    best: Option<(Vector, Vec<CapSet>)>,
}

impl Search<'_> {
    fn descend(&mut self, union: CapSet) {
        let vector = self.problem.vector(union.union(self.base));
        if self.best.as_ref().is_some_and(|(best, _)| vector > *best) {
            return;
        }
        let covered = self
            .options
            .iter()
            .filter(|(_, excess)| excess.within(union))
            .fold(self.problem.base_covers, |all, (covers, _)| all.union(*covers));
        let Some(grant) = self.hardest(self.coverable.without(covered)) else {
            match &mut self.best {
                Some((best, unions)) if *best == vector => {
                    if !unions.contains(&union) {
                        unions.push(union);
                    }
                }
                _ => self.best = Some((vector, vec![union])),
            }
            return;
        };
        for excess in self.ways(grant) {
            self.descend(union.union(excess));
        }
    }

    /// The open grant with the fewest ways to cover it.
    fn hardest(&self, open: CapSet) -> Option<CapId> {
        open.iter().min_by_key(|grant| self.ways(*grant).len())
    }

    fn ways(&self, grant: CapId) -> Vec<CapSet> {
        let mut ways: Vec<CapSet> =
            self.options.iter().filter(|(covers, _)| covers.has(grant)).map(|(_, excess)| *excess).collect();
        ways.sort_by_key(|excess| (excess.len(), excess.0));
        ways.dedup();
        ways
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What a subset covers and costs, from the definition; `None` when a denial breaks.
    fn worth(p: &Problem<'_>, kept: &[usize]) -> Option<(i64, Vector)> {
        let mut covers = p.base_covers;
        let mut confers = p.base_confers;
        for i in kept {
            let s = &p.selectors[*i];
            if s.covers.and(p.grants).is_empty() || !s.confers.and(p.forbidden).is_empty() {
                return None;
            }
            covers = covers.union(s.covers);
            confers = confers.union(s.confers);
        }
        Some((-i64::from(covers.and(p.grants).len()), p.vector(p.excess(confers))))
    }

    fn words(p: &Problem<'_>, kept: &[usize]) -> Vec<String> {
        let mut words: Vec<String> = kept.iter().map(|i| p.selectors[*i].word.clone()).collect();
        words.sort();
        words
    }

    /// Whether no word can be added without costing anything.
    fn full(p: &Problem<'_>, kept: &[usize]) -> bool {
        let own = worth(p, kept);
        (0..p.selectors.len()).filter(|i| !kept.contains(i)).all(|i| {
            let more: Vec<usize> = kept.iter().copied().chain([i]).collect();
            worth(p, &more).is_none_or(|w| Some(w) != own)
        })
    }

    fn set() -> impl Strategy<Value = CapSet> {
        prop::collection::vec(0u8..10, 0..4).prop_map(|v| v.into_iter().map(CapId).collect())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]
        #[test]
        fn no_other_subset_is_better(
            pairs in prop::collection::vec((set(), set()), 0..9),
            base in (set(), set()), grants in set(), forbidden in set(), dangerous in set(), restricted in set(),
        ) {
            let selectors: Vec<Selector> = pairs.into_iter().enumerate()
                .map(|(i, (covers, more))| Selector { word: format!("w{}", (i * 7) % 10), covers, confers: covers.union(more) }).collect();
            let problem = Problem {
                selectors: &selectors, base_covers: base.0, base_confers: base.0.union(base.1), grants,
                forbidden: forbidden.without(grants), dangerous, restricted: restricted.without(dangerous),
            };
            let chosen = problem.solve();
            let subsets: Vec<Vec<usize>> = (0u32..1 << selectors.len())
                .map(|bits| (0..selectors.len()).filter(|i| bits & (1 << i) != 0).collect())
                .filter(|kept: &Vec<usize>| worth(&problem, kept).is_some())
                .collect();
            let best = subsets.iter().filter_map(|kept| worth(&problem, kept)).min();
            prop_assert_eq!(worth(&problem, &chosen), best);
            let first = subsets.iter()
                .filter(|kept| worth(&problem, kept) == best && full(&problem, kept))
                .map(|kept| words(&problem, kept)).min();
            prop_assert_eq!(Some(words(&problem, &chosen)), first);
        }
    }

    #[test]
    fn two_hundred_tools_of_twenty_servers_are_searched_at_once() {
        let selectors: Vec<Selector> = (0..200u32)
            .map(|i| {
                let covers = CapSet(1 << (i % 12));
                Selector { word: format!("t{i}"), covers, confers: covers.union(CapSet(1 << (12 + i * i % 23))) }
            })
            .collect();
        let all = CapSet((1 << 12) - 1);
        let problem = Problem {
            selectors: &selectors,
            base_covers: CapSet::EMPTY,
            base_confers: CapSet::EMPTY,
            grants: all,
            forbidden: CapSet(1 << 20),
            dangerous: CapSet(0b1010_1010_1010 << 12),
            restricted: CapSet(0b0101_0101_0101 << 12),
        };
        let kept = problem.solve();
        let covered = kept.iter().fold(CapSet::EMPTY, |all, i| all.union(selectors[*i].covers));
        assert_eq!(covered, all);
    }
}
