//! Turns the folders of a stack into the addresses of its managed resources, as they would stand
//! in a state without instance keys: `terraform_data.x`, `module.net.aws_vpc.main`. Of a module
//! whose content is not there (from a registry, of a source that only OpenTofu can tell, of a
//! folder that is missing) only the call is known: `module.eks.*`, which stands for whatever lies
//! below it. Begin at [`addresses_in`]; [`is_among`] compares.

use std::collections::BTreeSet;
use std::path::Path;
use std::slice::Iter;

use super::modules::{Call, Library, ReadFolder};

/// How many bytes of addresses a stack may have: modules that each call two others double with
/// every level. What lies beyond is known by its call only.
const LIMIT: usize = 4 * 1024 * 1024;

/// Returns the addresses that a folder declares, those of its modules included.
pub fn addresses_in(library: &Library, folder: &Path) -> BTreeSet<String> {
    let mut found = Found::default();
    let mut way = Vec::new();
    way.extend(found.enter(library, folder, String::new()));
    // A long chain of modules must not overflow the call stack.
    while let Some(level) = way.last_mut() {
        let Some(call) = level.rest.next() else {
            way.pop();
            continue;
        };
        let prefix = format!("{}module.{}.", level.prefix, call.name);
        // A ring of modules has no end, and so no addresses below it.
        if way.iter().any(|level| level.folder == call.target) {
            continue;
        }
        match found.enter(library, &call.target, prefix.clone()) {
            Some(level) => way.push(level),
            None => found.add(format!("{prefix}*")),
        }
    }
    found.addresses
}

/// Returns whether an address of a state is among those that a stack declares.
pub fn is_among(declared: &BTreeSet<String>, address: &str) -> bool {
    declared.contains(address) || calls_above(address).any(|call| declared.contains(&format!("{call}.*")))
}

/// Returns the calls that an address lies below: `module.a` and `module.a.module.b`.
fn calls_above(address: &str) -> impl Iterator<Item = &str> {
    let ends = address.match_indices('.').skip(1).step_by(2).map(|(end, _)| &address[..end]);
    ends.take_while(|call| call.split('.').step_by(2).all(|word| word == "module"))
}

/// A folder on the way, with the calls that are still to be followed.
struct Level<'a> {
    folder: &'a Path,
    prefix: String,
    rest: Iter<'a, Call>,
}

#[derive(Default)]
struct Found {
    addresses: BTreeSet<String>,
    bytes: usize,
}

impl Found {
    /// Adds what stands in a folder itself; none where it was not read, or there is too much already.
    fn enter<'a>(&mut self, library: &'a Library, folder: &'a Path, prefix: String) -> Option<Level<'a>> {
        let read = library.folder(folder).filter(|_| self.bytes < LIMIT)?;
        self.bytes += prefix.len();
        for name in read.facts.resources.iter() {
            self.add(format!("{prefix}{name}"));
        }
        for name in unseen(read) {
            self.add(format!("{prefix}module.{name}.*"));
        }
        Some(Level { folder, prefix, rest: read.calls.iter() })
    }

    fn add(&mut self, address: String) {
        self.bytes += address.len();
        self.addresses.insert(address);
    }
}

/// Returns the names of the modules whose content is not in a folder of the project.
fn unseen(folder: &ReadFolder) -> impl Iterator<Item = &String> {
    let followed: BTreeSet<&String> = folder.calls.iter().map(|call| &call.name).collect();
    folder.facts.modules.keys().filter(move |name| !followed.contains(name))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::stacks::files::folder::Folder;

    /// Writes files and returns the addresses that the folder `stack` declares.
    fn addresses(files: &[(&str, &str)]) -> Vec<String> {
        let temp = tempfile::tempdir().expect("a temp folder");
        let base = temp.path().canonicalize().expect("a real path");
        for (path, text) in files {
            let path = base.join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        let folder = Folder::list(&base.join("stack")).expect("a listing");
        let library = Library::follow(&crate::stacks::files::Disk, &base, &[&folder]);
        addresses_in(&library, &folder.path).into_iter().collect()
    }

    fn call(name: &str, source: &str) -> String {
        format!("module \"{name}\" {{\n  source = \"{source}\"\n}}\n")
    }

    #[test]
    fn resources_of_local_modules_are_named_through_all_their_calls() {
        let stack = [call("net", "../modules/net"), "resource \"a_b\" \"x\" {\n count = 2\n}\n".to_owned()];
        let net = format!("{}resource \"aws_vpc\" \"main\" {{}}\n", call("inner", "./inner"));
        let inner = r#"{"resource": {"t_d": {"one": {}, "two": [{}]}}, "data": {"t_d": {"three": {}}}}"#;

        let found = addresses(&[
            ("stack/main.tf", &stack.concat()),
            ("modules/net/main.tofu", &net),
            ("modules/net/inner/main.tf.json", inner),
        ]);

        let inner = "module.net.module.inner.t_d";
        let expected = ["a_b.x", "module.net.aws_vpc.main", &format!("{inner}.one"), &format!("{inner}.two")];
        assert_eq!(found, expected);
    }

    #[test]
    fn of_a_module_from_elsewhere_only_the_call_is_known() {
        let calls = [
            call("eks", "terraform-aws-modules/eks/aws"),
            call("gone", "../gone"),
            call("near", "../near"),
            call("one_of", "./${var.which}"),
        ];

        let found = addresses(&[
            ("stack/main.tf", &calls.concat()),
            ("near/main.tf", &call("far", "git::https://example.org/far")),
        ]);

        let expected = ["module.eks.*", "module.gone.*", "module.near.module.far.*", "module.one_of.*"];
        assert_eq!(found, expected);
    }

    #[test]
    fn data_sources_and_ephemeral_resources_are_nothing_of_a_state() {
        let text = "data \"a\" \"b\" {}\nephemeral \"c\" \"d\" {}\nresource e f {}\n";
        let json =
            r#"{"data": {"a": {"b": {}}}, "ephemeral": {"c": {"d": {}}}, "resource": [{"e": {"g": {}}}]}"#;

        let found = addresses(&[("stack/main.tf", text), ("stack/more.tf.json", json)]);

        assert_eq!(found, ["e.f", "e.g"]);
    }

    #[test]
    fn what_can_be_read_beside_a_broken_file_is_declared() {
        let found =
            addresses(&[("stack/a.tf", "resource \"a\" \"b\" {}\n"), ("stack/b.tf", "resource {{\n")]);

        assert_eq!(found, ["a.b"]);
    }

    #[test]
    fn a_ring_of_modules_ends() {
        let ring = format!("{}resource \"a\" \"b\" {{}}\n", call("back", "../one"));

        let found = addresses(&[
            ("stack/main.tf", &call("one", "../one")),
            ("one/main.tf", &call("two", "../two")),
            ("two/main.tf", &ring),
        ]);

        assert_eq!(found, ["module.one.module.two.a.b"]);
    }

    #[test]
    fn modules_that_double_with_every_level_end_in_their_calls() {
        let level = |next: usize| {
            let source = format!("../m{next}");
            [call("a", &source), call("b", &source), "resource \"t\" \"x\" {}\n".to_owned()].concat()
        };
        let files = (0..40).map(|n| (format!("m{n}/main.tf"), level(n + 1))).collect::<Vec<_>>();
        let mut files = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect::<Vec<_>>();
        let stack = call("top", "../m0");
        files.extend([("stack/main.tf", stack.as_str()), ("m40/main.tf", "resource \"t\" \"x\" {}\n")]);

        let found = addresses(&files);

        assert!(found.iter().map(String::len).sum::<usize>() < 2 * LIMIT);
        assert!(found.iter().any(|address| address.ends_with(".*")));
    }

    #[test]
    fn an_address_below_a_call_is_declared_by_the_call() {
        let declared = ["a.b", "module.x.a.b", "module.eks.*", "module.x.module.far.*"].map(str::to_owned);
        let declared = BTreeSet::from(declared);

        for address in ["a.b", "module.x.a.b", "module.eks.a.b", "module.x.module.far.module.z.a.b"] {
            assert!(is_among(&declared, address), "{address}");
        }
        for address in ["a.c", "module.x.a.c", "module.ek.a.b", "module.far.a.b", "eks.module", "", "."] {
            assert!(!is_among(&declared, address), "{address}");
        }
    }
}
