//! Budgets in things: lists and logs lose entries at their end.

use super::cut;
use crate::text::entries::list_in;

/// Texts with fewer entries.
#[derive(Debug, PartialEq)]
pub(super) struct Counted {
    /// What is left.
    pub(super) texts: Vec<String>,
    /// Entries left.
    pub(super) shown: usize,
    /// Entries there were.
    pub(super) total: usize,
}

/// Cuts to `most` entries; nothing when there are no more. With `lines`, those of plain text are entries, too.
pub(super) fn cut(texts: &[String], most: u64, lines: bool) -> Option<Counted> {
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    // Several blocks that are each one entry.
    if texts.len() > most && texts.len() > 1 {
        return Some(Counted { texts: texts[..most].to_vec(), shown: most, total: texts.len() });
    }
    let [text] = texts else { return None };
    match cut::parse(text) {
        Some(mut value) => {
            let list = list_in(&mut value)?;
            let total = list.len();
            if total <= most {
                return None;
            }
            list.truncate(most);
            Some(Counted { texts: vec![value.to_string()], shown: most, total })
        }
        None if lines => {
            let total = text.lines().count();
            if total <= most {
                return None;
            }
            let kept: Vec<&str> = text.lines().take(most).collect();
            Some(Counted { texts: vec![kept.join("\n")], shown: most, total })
        }
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_logs_are_cut_by_their_entries() {
        let one = |text: &str, lines| cut(&[text.to_owned()], 2, lines).map(|c| (c.texts.concat(), c.shown, c.total));
        assert_eq!(one("[1,2,3]", false), Some(("[1,2]".into(), 2, 3)));
        assert_eq!(one(r#"{"n":3,"r":[1,2,3]}"#, false), Some((r#"{"n":3,"r":[1,2]}"#.into(), 2, 3)));
        assert_eq!(one("a\nb\nc\n", true), Some(("a\nb".into(), 2, 3)));
        assert_eq!(one("a\nb\nc\n", false), None);
        assert_eq!(one("[1,2]", false), None);
        assert_eq!(one(r#"{"a":[1,2,3],"b":[4]}"#, false), None, "which of the lists is meant is not known");
        let blocks: Vec<String> = ["a", "b", "c"].map(str::to_owned).to_vec();
        assert_eq!(cut(&blocks, 2, false).map(|c| c.texts), Some(blocks[..2].to_vec()));
    }
}
