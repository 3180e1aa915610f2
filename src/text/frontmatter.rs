//! Placeholder until the merge.
pub struct Parts<'a> {
    pub yaml: &'a str,
    pub yaml_at: usize,
    pub body: &'a str,
    pub body_at: usize,
}
pub struct Problem {
    pub offset: usize,
    pub message: String,
}
pub fn split(text: &str) -> Result<Parts<'_>, Problem> {
    let start = 4;
    let end = text[start..].find("\n---").ok_or(Problem { offset: 0, message: "no end".into() })? + start + 1;
    let body_at = text[end..].find('\n').map_or(text.len(), |n| end + n + 1);
    Ok(Parts { yaml: &text[start..end], yaml_at: start, body: &text[body_at..], body_at })
}
