//! The structure of a Markdown text with byte offsets. The only module that names the Markdown parser;
//! Markdown is read with it, never printed.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// What matters of a Markdown text, in the order of the text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outline {
    /// Headings.
    pub headings: Vec<Heading>,
    /// Links and images.
    pub links: Vec<Link>,
    /// Code: fenced and indented blocks with their fences, and code spans. What looks like markup
    /// inside is none.
    pub code: Vec<Range<usize>>,
}

/// A heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    /// 1 to 6.
    pub level: u8,
    /// Its text without markup.
    pub text: String,
    /// The whole heading.
    pub range: Range<usize>,
}

/// A link or image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Where it leads, as written; a reference is resolved.
    pub target: String,
    /// Whether it is an image.
    pub image: bool,
    /// The whole link.
    pub range: Range<usize>,
}

impl Outline {
    /// Whether a byte stands inside code.
    pub fn in_code(&self, offset: usize) -> bool {
        self.code.iter().any(|range| range.contains(&offset))
    }
}

/// Reads the structure of `text`, which has no front matter.
pub fn outline(text: &str) -> Outline {
    let mut outline = Outline::default();
    let mut heading: Option<Heading> = None;
    for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                heading = Some(Heading { level: level as u8, text: String::new(), range });
            }
            Event::End(TagEnd::Heading(_)) => outline.headings.extend(heading.take()),
            Event::Start(Tag::Link { dest_url, .. }) => {
                outline.links.push(Link { target: dest_url.into_string(), image: false, range });
            }
            Event::Start(Tag::Image { dest_url, .. }) => {
                outline.links.push(Link { target: dest_url.into_string(), image: true, range });
            }
            Event::Start(Tag::CodeBlock(_)) => outline.code.push(range),
            Event::Code(code) => {
                outline.code.push(range);
                if let Some(heading) = &mut heading {
                    heading.text.push_str(&code);
                }
            }
            Event::Text(part) => {
                if let Some(heading) = &mut heading {
                    heading.text.push_str(&part);
                }
            }
            _ => {}
        }
    }
    outline
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_links_and_code_are_found_where_they_stand() {
        let text = "# Über `x`\n\nSee [docs](../a.md#b) and ![p](p.png), [ref].\n\n```md\n[no](link.md)\n<!-- mark -->\n```\n\n    [no](indented)\n\n[ref]: https://example.org\n";
        let outline = outline(text);
        assert_eq!(outline.headings.len(), 1);
        assert_eq!((outline.headings[0].level, outline.headings[0].text.as_str()), (1, "Über x"));
        let links: Vec<(&str, &str)> =
            outline.links.iter().map(|l| (l.target.as_str(), &text[l.range.clone()])).collect();
        assert_eq!(
            links,
            [("../a.md#b", "[docs](../a.md#b)"), ("p.png", "![p](p.png)"), ("https://example.org", "[ref]")]
        );
        assert!(outline.in_code(text.find("<!-- mark").unwrap()));
        assert!(outline.in_code(text.find("[no](indented)").unwrap()));
        assert!(!outline.in_code(text.find("[docs]").unwrap()));
    }

    #[test]
    fn an_open_fence_runs_to_the_end() {
        let text = "text\n\n~~~\n<!-- mark -->\n";
        assert!(outline(text).in_code(text.find("<!--").unwrap()));
    }
}
