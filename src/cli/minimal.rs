//! The smallest policy: the shipped rules and roles for a set of hosts. `init` writes it, and `render` where
//! there is no policy yet.

use crate::load::builtin;
use crate::system::Writer;

use super::exit::Failure;
use super::put;

/// Name of the file inside the policy folder.
pub const FILE: &str = "policy.yaml";

/// The text of the smallest policy for `hosts`, which must be ids of adapters.
pub fn text(hosts: &[String]) -> String {
    let mut text = String::from(
        "# The shipped rules and roles, for these hosts. Write sections, rules (`*.md`) and `roles/` beside this\n\
         # file to go beyond them; `rolecast schema policy` prints what may stand here.\n\
         version: 1\n\
         hosts:\n",
    );
    for host in hosts {
        text.push_str(&format!("  {host}: {{}}\n"));
    }
    text.push_str(&format!("extends: [{}]\n", builtin::NAME));
    text
}

/// Writes the smallest policy into the folder `dir`, which is made when it is missing. Returns the path.
///
/// # Errors
/// The file exists, leads out of the root, or cannot be written.
pub fn write(system: &dyn Writer, dir: &str, hosts: &[String]) -> Result<String, Failure> {
    let path = format!("{dir}/{FILE}");
    put::new_file(system, &path, text(hosts).as_bytes())
        .map_err(|e| Failure::environment(format!("cannot write `{path}`: {e}")))?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::compile;
    use crate::diag::Sink;
    use crate::load;
    use crate::system::memory::Memory;

    #[test]
    fn it_compiles_for_each_host_alone_and_for_all_together() {
        let shipped = load::load(&Memory::new(), None, &mut Sink::new());
        let all: Vec<String> = shipped.adapters.keys().cloned().collect();
        for hosts in all.iter().map(|h| vec![h.clone()]).chain([all.clone()]) {
            let system = Memory::new();
            write(&system, "shared-agent-rules", &hosts).unwrap();
            let mut sink = Sink::new();
            let made = compile(&system, Some("shared-agent-rules"), &[], &mut sink);
            let said: Vec<&str> = sink.iter().map(|d| d.message.as_str()).collect();
            assert!(made.rendered.is_some_and(|r| !r.artifacts.is_empty()), "{hosts:?}: {said:?}");
            assert_eq!(made.policy.unwrap().hosts.len(), hosts.len());
        }
    }
}
