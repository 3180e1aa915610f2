//! "Did you mean …": the nearest of the names that would have been right.

/// The candidate nearest to `written`, when it is near enough to be a typing mistake.
pub fn nearest<'a>(written: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(&written.to_lowercase(), &name.to_lowercase()), name))
        .filter(|(distance, name)| *distance <= (written.chars().count().max(name.chars().count()) / 3).max(1))
        .min_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1.cmp(b.1)))
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_typo_finds_its_name_and_a_stranger_finds_none() {
        let names = ["repo.read", "repo.edit", "shell.run"];
        assert_eq!(nearest("repo.raed", names), Some("repo.read"));
        assert_eq!(nearest("shel.run", names), Some("shell.run"));
        assert_eq!(nearest("banana", names), None);
    }
}
