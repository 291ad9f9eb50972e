//! Symbolic links of one side: under which other names a path is there as well.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use crate::model::without_dots;
use crate::stacks::files::Tree;

/// How many links a name may be made of.
const DEPTH: usize = 8;

/// From what a link leads over or to, to the link.
#[derive(Debug, Default)]
pub struct Links {
    from: HashMap<PathBuf, Vec<PathBuf>>,
}

impl Links {
    /// Follows links of a tree.
    pub fn of<'a>(tree: &dyn Tree, links: impl Iterator<Item = &'a Path>) -> Self {
        let mut found = Self::default();
        for link in links {
            let mut here = link.to_owned();
            for _ in 0..DEPTH {
                let (Some(target), Some(folder)) = (tree.link(&here), here.parent()) else { break };
                here = without_dots(&folder.join(target));
                found.add(here.clone(), link);
            }
            if here != link {
                found.add_real(tree, link);
            }
        }
        found
    }

    /// A link may lead over folders that are links themselves.
    fn add_real(&mut self, tree: &dyn Tree, link: &Path) {
        if let Some(real) = tree.real(link) {
            self.add(real, link);
        }
    }

    /// Notes that a path is there under another name.
    pub fn add(&mut self, target: PathBuf, link: &Path) {
        let known = self.from.entry(target).or_default();
        if !known.iter().any(|known| known == link) {
            known.push(link.to_owned());
        }
    }

    /// Returns the other names of a path, through links to itself and to folders above it.
    pub fn names_of(&self, path: &Path) -> BTreeSet<PathBuf> {
        let mut names = BTreeSet::new();
        let mut open = vec![(path.to_owned(), 0)];
        while let Some((path, depth)) = open.pop().filter(|_| !self.from.is_empty()) {
            for above in path.ancestors() {
                let rest = path.strip_prefix(above).unwrap_or(Path::new(""));
                for link in self.from.get(above).into_iter().flatten() {
                    let name = if rest.as_os_str().is_empty() { link.clone() } else { link.join(rest) };
                    if depth < DEPTH && names.insert(name.clone()) {
                        open.push((name, depth + 1));
                    }
                }
            }
        }
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_the_names_of_links_to_it_and_to_folders_above_it() {
        let mut links = Links::default();
        links.add("/shared".into(), Path::new("/a/s"));
        links.add("/a/s/x.tf".into(), Path::new("/b/x.tf"));
        links.add("/a".into(), Path::new("/a/loop"));

        let names = links.names_of(Path::new("/shared/x.tf"));

        assert!(names.contains(Path::new("/a/s/x.tf")) && names.contains(Path::new("/b/x.tf")));
        assert!(!names.contains(Path::new("/b/s/x.tf")));
    }
}
