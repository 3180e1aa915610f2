//! The file that a host's servers stand in.

use crate::diag::{Code, Diagnostic, Sink};
use crate::model::adapter::{Adapter, Borrowed};
use crate::model::user_file::UserFile;

/// The file of the output, or the one of another host that makes this host ignore its own: one that another selected
/// host's servers stand in, or that exists.
pub(super) fn file(adapter: &Adapter, output: &str, selected: &[&Adapter], user: &[UserFile]) -> Option<String> {
    let own = &adapter.outputs.get(output)?.file;
    let theirs =
        |file: &str| selected.iter().filter(|a| a.id != adapter.id).any(|a| servers_file(a).is_some_and(|f| f == file));
    let exists = |file: &str| user.iter().any(|u| u.path == file);
    let instead = adapter
        .borrows
        .iter()
        .filter(|b| b.what == Borrowed::Servers && !b.loses_to_own)
        .find(|b| theirs(&b.file) || exists(&b.file));
    Some(instead.map_or_else(|| own.clone(), |b| b.file.clone()))
}

fn servers_file(adapter: &Adapter) -> Option<&str> {
    let output = adapter.mcp.as_ref()?.output.as_ref()?;
    adapter.outputs.get(output).map(|o| o.file.as_str())
}

/// Reports a file of the user that the host will no longer read.
pub(super) fn report(adapter: &Adapter, output: &str, file: &str, user: &[UserFile], sink: &mut Sink) {
    let Some(own) = adapter.outputs.get(output).map(|o| o.file.as_str()) else { return };
    let exists = |path: &str| user.iter().any(|u| u.path == path);
    if own != file && exists(own) && !exists(file) {
        sink.push(
            Diagnostic::new(
                Code::ServersShadowed,
                format!("{} ignores `{own}` once there is a `{file}`", adapter.title),
            )
            .path(own)
            .help(format!("move your own servers from `{own}` into `{file}`")),
        );
    }
}
