//! "Did you mean …": the nearest of the names that would have been right.

/// The candidate nearest to `written`, when it is near enough to be a typing mistake.
pub fn nearest<'a>(written: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = written.to_lowercase();
    candidates
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(&lower, &name.to_lowercase()), name))
        .filter(|(distance, name)| {
            let length = written.chars().count().max(name.chars().count());
            // One slip is forgiven in a short name, but never one that leaves nothing of it.
            *distance <= (length / 3).max(1) && *distance * 2 <= length
        })
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
        assert_eq!(nearest("Repo.Read", names), Some("repo.read"));
        assert_eq!(nearest("a", ["b"]), None, "nothing of the name is left");
        assert_eq!(nearest("", ["b"]), None);
    }
}
