//! What a delegation prompt says of itself.

/// Whether it has a line that says why it is over its target.
pub fn reasoned(prompt: &str) -> bool {
    let reasons = prompt.lines().filter_map(|line| line.trim_start().strip_prefix("over-target:"));
    reasons.into_iter().any(|why| why.chars().any(char::is_alphanumeric))
}
