//! The parts of a packet by their headings.

use std::ops::Range;

use crate::model::policy::PacketPart;
use crate::text::markdown::Outline;

/// One part as written. Offsets are in the body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Which; `None` = one of the author's own, or what stands before all headings.
    pub part: Option<PacketPart>,
    /// The heading's text.
    pub title: String,
    /// Its heading.
    pub heading: Range<usize>,
    /// What stands under it, up to the next heading of the same or a higher level.
    pub text: Range<usize>,
}

const ALL: [PacketPart; 7] = [
    PacketPart::Objective,
    PacketPart::Scope,
    PacketPart::VerifiedFacts,
    PacketPart::Constraints,
    PacketPart::Capabilities,
    PacketPart::Validation,
    PacketPart::StopConditions,
];

/// The parts in the order of the text. A heading below a part's own belongs to that part.
pub fn parts(body: &str, outline: &Outline) -> Vec<Part> {
    let named: Vec<(usize, Option<PacketPart>)> =
        outline.headings.iter().enumerate().map(|(at, h)| (at, named(&h.text))).collect();
    // The level of the parts is that of the first one that is known, so that a title above them is none.
    let level = named.iter().find(|(_, p)| p.is_some()).map_or(2, |(at, _)| outline.headings[*at].level);
    let tops: Vec<usize> = named
        .iter()
        .filter(|(at, part)| outline.headings[*at].level <= level || part.is_some())
        .map(|(at, _)| *at)
        .collect();
    let mut out = Vec::new();
    for (index, at) in tops.iter().enumerate() {
        let heading = &outline.headings[*at];
        let end = tops.get(index + 1).map_or(body.len(), |next| outline.headings[*next].range.start);
        out.push(Part {
            part: named[*at].1,
            title: heading.text.trim().to_owned(),
            heading: heading.range.clone(),
            text: heading.range.end..end,
        });
    }
    out
}

fn named(title: &str) -> Option<PacketPart> {
    let words: String = title.trim().trim_end_matches(':').to_lowercase().replace(['-', '_'], " ");
    ALL.into_iter().find(|p| p.phrase() == words.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Whether anything is said: comments and blank bullets say nothing.
pub fn says(text: &str) -> bool {
    let mut rest = text;
    let mut said = String::new();
    while let Some((before, after)) = rest.split_once("<!--") {
        said.push_str(before);
        rest = after.split_once("-->").map_or("", |(_, after)| after);
    }
    said.push_str(rest);
    said.chars().any(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::markdown::outline;

    #[test]
    fn parts_are_found_by_any_spelling_and_keep_their_own_headings() {
        let body = "# Packet\n\n## Objective\nA\n### Detail\nB\n## verified-facts:\nC\n## Mine\nD\n";
        let found: Vec<(Option<PacketPart>, &str)> =
            parts(body, &outline(body)).iter().map(|p| (p.part, body[p.text.clone()].trim())).collect();
        assert_eq!(
            found,
            [
                (None, ""),
                (Some(PacketPart::Objective), "A\n### Detail\nB"),
                (Some(PacketPart::VerifiedFacts), "C"),
                (None, "D"),
            ]
        );
    }

    #[test]
    fn comments_and_empty_bullets_say_nothing() {
        for (text, says_something) in [
            ("", false),
            ("<!-- the result -->\n- \n", false),
            ("- `x`", true),
            ("<!-- a --> b", true),
            ("<!-- open", false),
        ] {
            assert_eq!(says(text), says_something, "{text}");
        }
    }
}
