//! How hosts spell names, computed before they do it.

use crate::model::adapter::Naming;

/// Why a name cannot be used on a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NameProblem {
    /// It has a character the host does not take.
    Refused {
        /// That character.
        character: char,
    },
    /// The host would cut it; what is left could be another tool's name.
    Cut {
        /// Longest name in characters.
        max: usize,
        /// The name's length.
        length: usize,
    },
    /// The server's name has a character that the host splits names at.
    ServerSplit {
        /// That character.
        character: char,
    },
}

/// The spelling of a role's name.
///
/// # Errors
/// When the host would refuse or cut it.
pub fn role(naming: &Naming, role: &str) -> Result<String, NameProblem> {
    spell(naming, &[("{role}", role)])
}

/// The spelling of a server's tool.
///
/// # Errors
/// When the host would refuse, cut or split it.
pub fn tool(naming: &Naming, server: &str, tool: &str) -> Result<String, NameProblem> {
    if let Some(character) = naming.server_without.as_ref().and_then(|bad| server.chars().find(|c| bad.contains(*c))) {
        return Err(NameProblem::ServerSplit { character });
    }
    spell(naming, &[("{server}", server), ("{tool}", tool)])
}

fn spell(naming: &Naming, parts: &[(&str, &str)]) -> Result<String, NameProblem> {
    let class = ranges(&naming.keep);
    let mut name = naming.join.clone();
    for (placeholder, value) in parts {
        let mut spelt = String::with_capacity(value.len());
        for c in value.chars() {
            if class.iter().any(|(first, last)| (*first..=*last).contains(&c)) {
                spelt.push(c);
            } else if let Some(replacement) = &naming.replace {
                spelt.push_str(replacement);
            } else {
                return Err(NameProblem::Refused { character: c });
            }
        }
        name = name.replace(placeholder, &spelt);
    }
    let length = name.chars().count();
    match naming.max {
        Some(max) if length > max => Err(NameProblem::Cut { max, length }),
        _ => Ok(name),
    }
}

/// The ranges of a class written like `A-Za-z0-9_-` (a hyphen at either end is itself).
fn ranges(class: &str) -> Vec<(char, char)> {
    let chars: Vec<char> = class.chars().collect();
    let mut ranges = Vec::new();
    let mut i = 0;
    while i < chars.len() {
        if i + 2 < chars.len() && chars[i + 1] == '-' {
            ranges.push((chars[i], chars[i + 2]));
            i += 3;
        } else {
            ranges.push((chars[i], chars[i]));
            i += 1;
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    fn naming(join: &str, keep: &str, replace: Option<&str>, max: Option<usize>) -> Naming {
        Naming {
            join: join.into(),
            keep: keep.into(),
            replace: replace.map(str::to_owned),
            server_without: Some(".".into()),
            max,
        }
    }

    #[test]
    fn names_are_spelt_as_the_host_will() {
        let n = naming("mcp__{server}__{tool}", "A-Za-z0-9_-", Some("_"), None);
        assert_eq!(tool(&n, "my-srv", "ro.read").unwrap(), "mcp__my-srv__ro_read");
        assert_eq!(tool(&n, "my.srv", "x"), Err(NameProblem::ServerSplit { character: '.' }));
    }

    #[test]
    fn a_name_that_would_be_cut_or_refused_is_a_problem() {
        let n = naming("{server}-{tool}", "a-z", Some("-"), Some(8));
        assert_eq!(tool(&n, "abcd", "efg").unwrap(), "abcd-efg");
        assert_eq!(tool(&n, "abcd", "efgh"), Err(NameProblem::Cut { max: 8, length: 9 }));
        assert_eq!(
            role(&naming("{role}", "a-z0-9_-", None, None), "Docs"),
            Err(NameProblem::Refused { character: 'D' })
        );
    }
}
