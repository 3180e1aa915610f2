//! Holds a packet against the policy.

use std::ops::Range;

use crate::diag::{Code, Diagnostic, Sink, SourceId, SourceMap, Span, intake};
use crate::model::packet::PacketFile;
use crate::model::policy::{ContextChoice, PacketPart};
use crate::resolve::policy::{Policy, Role};
use crate::text::frontmatter::FrontMatter;
use crate::text::markdown::{Outline, outline};
use crate::yaml::{self, Sp};

use super::parts::{Part, parts, says};
use super::pasted::{What, pasted};

/// Reports what is wrong with the packet that is the text `source`.
pub fn check(policy: &Policy, source: SourceId, sources: &SourceMap, sink: &mut Sink) {
    let Some(front) = intake::front_matter(source, sources, sink) else { return };
    let base = u32::try_from(front.yaml_start).unwrap_or(u32::MAX);
    let head: PacketFile = match yaml::parse(front.yaml, source, base) {
        Ok(head) => head,
        Err(diagnostic) => return sink.push(*diagnostic),
    };
    let Some(role) = policy.roles.iter().find(|r| r.id == *head.role) else {
        let names = policy.roles.iter().map(|r| r.id.as_str());
        sink.push(
            Diagnostic::new(Code::PacketRole, format!("unknown role `{}`", *head.role))
                .at_opt(head.role.span, "the policy has no such role")
                .suggest(&head.role, names),
        );
        return;
    };
    let outline = outline(front.body);
    let parts = parts(front.body, &outline);
    let path = &sources.get(source).path;
    let packet = Packet { policy, role, source, path, front, outline, parts, head };
    packet.history(sink);
    packet.parts(sink);
    packet.capabilities(sink);
    packet.pasted(sink);
    packet.size(sink);
}

struct Packet<'a> {
    policy: &'a Policy,
    role: &'a Role,
    source: SourceId,
    path: &'a str,
    front: FrontMatter<'a>,
    outline: Outline,
    parts: Vec<Part>,
    head: PacketFile,
}

impl Packet<'_> {
    fn span(&self, at: Range<usize>) -> Span {
        let offset = |n: usize| u32::try_from(self.front.body_start + n).unwrap_or(u32::MAX);
        Span { source: self.source, start: offset(at.start), end: offset(at.end) }
    }

    /// The whole conversation goes along only where the role says why, and the packet too.
    fn history(&self, sink: &mut Sink) {
        let Some(context) = self.head.context.as_ref().filter(|c| c.value == ContextChoice::Full) else { return };
        if self.role.context != ContextChoice::Full {
            sink.push(
                Diagnostic::new(Code::PacketHistory, format!("role `{}` is not given the full history", self.role.id))
                    .at_opt(context.span, "the role's context is minimal")
                    .help("write what matters into the packet; or give the role `context: full` and its reason"),
            );
        } else if !self.head.context_reason.as_ref().is_some_and(|r| says(r)) {
            sink.push(
                Diagnostic::new(Code::PacketHistory, "the full history goes along without a reason")
                    .at_opt(context.span, "why?")
                    .help("add `context-reason: \"why the meaning depends on all of it\"`"),
            );
        }
    }

    fn parts(&self, sink: &mut Sink) {
        let wanted = &self.policy.settings.packet;
        for part in wanted {
            let written: Vec<&Part> = self.parts.iter().filter(|p| p.part == Some(*part)).collect();
            match written[..] {
                [] => sink.push(
                    Diagnostic::new(Code::PacketPart, format!("the packet has no part `{}`", part.phrase()))
                        .at(self.end(), "the packet ends here")
                        .help(format!("add `## {}` and what belongs there", part.phrase())),
                ),
                [one] if says(&self.front.body[one.text.clone()]) => {}
                [one] => sink.push(
                    Diagnostic::new(Code::PacketPart, format!("the part `{}` is empty", part.phrase()))
                        .at(self.span(trimmed(self.front.body, one.heading.clone())), "nothing is said here")
                        .help("say it, or say `none` and why"),
                ),
                [_, second, ..] => sink.push(
                    Diagnostic::new(Code::PacketPart, format!("the part `{}` stands there twice", part.phrase()))
                        .at(self.span(trimmed(self.front.body, second.heading.clone())), "again")
                        .help("make one part of the two"),
                ),
            }
        }
        let places = self.parts.iter().filter_map(|p| Some((p, wanted.iter().position(|w| Some(*w) == p.part)?)));
        let mut latest = 0;
        for (part, place) in places {
            if place < latest {
                sink.push(
                    Diagnostic::new(Code::PacketPart, format!("the part `{}` comes late", part.title))
                        .at(self.span(trimmed(self.front.body, part.heading.clone())), "out of order")
                        .help(format!(
                            "the order is: {}",
                            wanted.iter().map(|p| p.phrase()).collect::<Vec<_>>().join(", ")
                        )),
                );
            }
            latest = latest.max(place);
        }
    }

    fn end(&self) -> Span {
        let body = self.front.body;
        let end = body.trim_end().len();
        let start = body[..end].rfind('\n').map_or(0, |n| n + 1);
        if end > start { self.span(start..end) } else { self.span(0..0) }
    }

    /// What the packet promises the role has, held against what it is granted. A line that says `not` promises nothing.
    fn capabilities(&self, sink: &mut Sink) {
        let Some(part) = self.parts.iter().find(|p| p.part == Some(PacketPart::Capabilities)) else { return };
        let text = &self.front.body[part.text.clone()];
        let mut at = part.text.start;
        for line in text.split_inclusive('\n') {
            let start = at;
            at += line.len();
            let bare = line.trim_start_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
            if ["not", "no ", "never", "without", "cannot", "must not"].iter().any(|word| bare.starts_with(word)) {
                continue;
            }
            for (offset, name) in names(line) {
                let Some(cap) = self.policy.catalogue.find(name) else { continue };
                if !self.role.grants.contains_key(&cap) {
                    let span = self.span(start + offset..start + offset + name.len());
                    sink.push(
                        Diagnostic::new(
                            Code::PacketCapability,
                            format!("role `{}` does not have `{name}`", self.role.id),
                        )
                        .at(span, "promised here")
                        .help(format!(
                            "take it out, or hand that work to a role that has it (`rolecast explain {}`)",
                            self.role.id
                        )),
                    );
                }
            }
        }
    }

    fn pasted(&self, sink: &mut Sink) {
        for found in pasted(self.front.body, &self.outline) {
            let first = self.first_line(&found.at);
            sink.push(match found.what {
                What::Media { bytes } => {
                    Diagnostic::new(Code::PacketPasted, format!("encoded media of {bytes} bytes in the packet"))
                        .at(first, "starts here")
                        .help("keep it in a file and give its path")
                }
                What::Dump { lines, bytes } => Diagnostic::new(
                    Code::PacketPasted,
                    format!("{lines} lines ({bytes} bytes) are pasted in one piece"),
                )
                .at(first, "starts here")
                .help("point to the file and its lines, or say in a sentence what it shows"),
                // Not underlined: what is shown here is seen by more people.
                What::Secret => Diagnostic::new(
                    Code::PacketPasted,
                    format!("what looks like a secret is in line {} of the packet", self.line(found.at.start)),
                )
                .path(self.path)
                .help("take it out, and replace it where it came from: it has been seen"),
            });
        }
    }

    /// The line of the file, from 1.
    fn line(&self, at: usize) -> usize {
        let head = self.front.yaml.matches('\n').count() + 2;
        head + self.front.body[..at].matches('\n').count() + 1
    }

    /// So that what is long, or a blob, is not printed whole.
    fn first_line(&self, at: &Range<usize>) -> Span {
        const SHOWN: usize = 60;
        let text = &self.front.body[at.clone()];
        let line = text.lines().next().unwrap_or_default();
        let end = line.char_indices().nth(SHOWN).map_or(line.len(), |(n, _)| n);
        self.span(at.start..at.start + end)
    }

    fn size(&self, sink: &mut Sink) {
        let Some(target) = self.policy.settings.budgets.get("delegation-packet").and_then(|b| b.figure("target"))
        else {
            return;
        };
        let bytes = self.front.body.len() as u64;
        let reason = self.head.over_target.as_ref();
        match (bytes > target, reason) {
            (true, None) => self.too_long(bytes, target, None, sink),
            (true, Some(reason)) if !says(reason) => self.too_long(bytes, target, Some(reason), sink),
            _ => {}
        }
    }

    fn too_long(&self, bytes: u64, target: u64, reason: Option<&Sp<String>>, sink: &mut Sink) {
        let mut d = Diagnostic::new(
            Code::PacketSize,
            format!("the packet has {bytes} bytes, over its target of {target}, and gives no reason"),
        );
        if let Some(largest) = self.parts.iter().max_by_key(|p| p.text.len()) {
            d = d.at(
                self.span(trimmed(self.front.body, largest.heading.clone())),
                format!("the largest part: {} bytes", largest.text.len()),
            );
        }
        if let Some(reason) = reason {
            d = d.also(reason.span, "says nothing");
        }
        sink.push(d.help("shorten it; or add `over-target: \"why it cannot be shorter\"` to its head"));
    }
}

fn trimmed(body: &str, range: Range<usize>) -> Range<usize> {
    range.start..range.start + body[range.clone()].trim_end().len()
}

/// Words with a dot in the middle, as capabilities are named, with their offsets.
fn names(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let mut rest = 0;
    std::iter::from_fn(move || {
        loop {
            let start = rest + line[rest..].find(part)?;
            let end = line[start..].find(|c| !part(c)).map_or(line.len(), |n| start + n);
            rest = end;
            let word = line[start..end].trim_end_matches('.');
            if word.contains('.') {
                return Some((start, word));
            }
        }
    })
}
