//! How much one call can answer, and which files it can name.

use super::Subject;
use crate::audit::contract::Tool;
use crate::audit::finding::Finding;
use crate::audit::schema;
use crate::diag::Code;

pub(super) fn check(subject: &Subject<'_>, tool: &Tool, found: &mut Vec<Finding>) {
    if schema::unbounded_list(tool) {
        let finding =
            subject.finding(Code::ListUnbounded, tool, "it lists or searches, and takes no limit, page or cursor");
        found.push(finding.fix("prefer a tool with a limit; a gateway can bound what comes back"));
    }
    if schema::unbounded_text(tool) {
        let finding = subject.finding(Code::TextUnbounded, tool, "it reads a text, and no part of it can be asked for");
        found.push(finding.fix("prefer a tool that takes a range of lines"));
    }
    if schema::media_without_choice(tool) {
        let message = "it answers with media, and no parameter lets one have a file instead";
        let finding = subject.finding(Code::MediaInline, tool, message);
        found.push(finding.fix("prefer a tool that writes a file; a gateway can turn media into files"));
    }
}

/// Tools that take paths, as one remark about the server.
pub(super) fn paths(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let takes = |tool: &&Tool| !schema::paths(tool).is_empty();
    let names: Vec<String> =
        subject.contract.tools.iter().filter(takes).map(|tool| format!("`{}`", tool.name)).collect();
    if !names.is_empty() {
        let message =
            format!("only the server itself keeps the paths that these take inside of the root: {}", names.join(", "));
        found.push(Finding::new(Code::ToolTakesPath, subject.name(), message).at(subject.span()));
    }
}
