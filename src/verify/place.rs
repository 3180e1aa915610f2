//! Where a role tries to write: outside of its scope, inside, and outside by ways that look like inside.

use crate::text::glob;

use super::probe::FOLDER;

/// Name of the link from a folder inside of a scope to the folder outside.
const LINK: &str = "rolecast-link";

/// A place relative to the scope of a grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Plainly outside, or there is no scope.
    Outside,
    /// Inside.
    Inside,
    /// Outside, by `..` from a folder inside.
    Climbing,
    /// Outside, through a link in a folder inside.
    Linked,
    /// Outside, by an absolute path, where a tool is given relative ones else.
    Absolute,
    /// A file that only the grant of the policy gives.
    Kept,
}

impl Place {
    /// Words in reports.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Outside => "outside of the scope",
            Self::Inside => "inside of the scope",
            Self::Climbing => "outside of the scope by `..`",
            Self::Linked => "outside of the scope through a link",
            Self::Absolute => "outside of the scope by an absolute path",
            Self::Kept => "in a file that only the policy gives",
        }
    }
}

/// A file at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spot {
    /// Where.
    pub place: Place,
    /// The path that is given to the tool, relative to the root.
    pub given: String,
    /// The file that is meant, relative to the root.
    pub real: String,
    /// A link to make: its path, and where it leads.
    pub link: Option<(String, String)>,
}

/// The spots for a file called `name`: one outside, and with a scope (globs) also those that need one. `root` is
/// given where the call itself does not make paths absolute.
pub fn spots(scope: Option<&[String]>, name: &str, root: Option<&str>) -> Vec<Spot> {
    let spot = |place, given: String, real: String| Spot { place, given, real, link: None };
    let outside = format!("{FOLDER}/{name}.txt");
    let mut spots = vec![spot(Place::Outside, outside.clone(), outside)];
    let Some(inside) = scope.and_then(|globs| inside(globs, &format!("rolecast-{name}"))) else { return spots };
    if let Some(root) = root {
        let real = format!("{FOLDER}/{name}-absolute.txt");
        spots.push(spot(Place::Absolute, format!("{root}/{real}"), real));
    }
    if let Some((folder, _)) = inside.rsplit_once('/') {
        let up = vec![".."; folder.split('/').count()].join("/");
        let real = format!("{FOLDER}/{name}-climbing.txt");
        spots.push(spot(Place::Climbing, format!("{folder}/{up}/{real}"), real));
        if cfg!(unix) {
            let mut linked = spot(
                Place::Linked,
                format!("{folder}/{LINK}/{name}-linked.txt"),
                format!("{FOLDER}/{name}-linked.txt"),
            );
            linked.link = Some((format!("{folder}/{LINK}"), format!("{up}/{FOLDER}")));
            spots.push(linked);
        }
    }
    spots.push(spot(Place::Inside, inside.clone(), inside));
    spots
}

/// A path that one of the globs takes, with `name` in the place of what is open.
pub fn inside(globs: &[String], name: &str) -> Option<String> {
    let plain = |g: &&String| g.contains('*') && !g.contains(['{', '[', '?', '!']);
    globs.iter().filter(plain).find_map(|open| {
        let last = open.split('/').count() - 1;
        let parts = open.split('/').enumerate().filter_map(|(at, part)| match part {
            "**" if at == last => Some(format!("{name}.txt")),
            "**" => None,
            _ => Some(part.replace('*', name)),
        });
        let path = parts.collect::<Vec<_>>().join("/");
        glob::matches(open, &path).then_some(path)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_inside_of_a_scope_is_found_where_something_is_open() {
        for (glob, path) in [
            ("docs/**", Some("docs/x.txt")),
            ("docs/**/*.md", Some("docs/x.md")),
            ("**/*.md", Some("x.md")),
            ("a/*/c.rs", Some("a/x/c.rs")),
            ("README.md", None),
            ("{a,b}/*.rs", None),
        ] {
            assert_eq!(inside(&[glob.to_owned()], "x").as_deref(), path, "{glob}");
        }
    }

    #[test]
    fn ways_that_look_like_inside_lead_outside() {
        let all = spots(Some(&["web/docs/**".to_owned()]), "new-1", Some("/top"));
        let given: Vec<&str> = all.iter().map(|s| s.given.as_str()).collect();
        assert!(given.contains(&"web/docs/../../rolecast-probe/new-1-climbing.txt"), "{given:?}");
        assert!(given.contains(&"/top/rolecast-probe/new-1-absolute.txt"), "{given:?}");
        let linked = all.iter().find(|s| s.place == Place::Linked).unwrap();
        assert_eq!(linked.link, Some(("web/docs/rolecast-link".into(), "../../rolecast-probe".into())));
        assert_eq!(spots(None, "new-1", None).len(), 1);
        assert_eq!(spots(Some(&["*.md".to_owned()]), "new-1", None).len(), 2);
    }
}
