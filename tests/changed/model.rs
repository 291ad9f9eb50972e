//! Random histories of a real repository against a slow model that knows nothing of git or infra:
//! it compares two whole trees, reads configurations with a pattern, and looks at everything.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use rand::rngs::StdRng;
use rand::seq::SliceRandom as _;
use rand::{Rng as _, SeedableRng as _};

use crate::repository::{Repository, Told};

/// How many histories are made, and how many commits each has.
const HISTORIES: (u64, usize) = (3, 40);

/// What is at a path: content, whether it may be run, or where a link leads.
#[derive(Clone, Debug, Eq, PartialEq)]
enum Entry {
    File(String, bool),
    Link(String),
}

/// A whole tree by path, hidden folders of git and infra left out.
type Tree = BTreeMap<String, Entry>;

#[test]
fn random_histories_agree_with_a_slow_model() {
    let asked = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let histories = asked("INFRA_CHANGED_HISTORIES").unwrap_or(HISTORIES.0);
    let first = asked("INFRA_CHANGED_SEED").unwrap_or(1);
    for seed in first..first + histories {
        History::new(seed).play(HISTORIES.1);
    }
}

struct History {
    seed: u64,
    dice: StdRng,
    lab: Repository,
    trees: BTreeMap<String, Tree>,
    commits: Vec<String>,
}

impl History {
    fn new(seed: u64) -> Self {
        let lab = Repository::new()
            .file("infra.yaml", "stacks:\n  '01-a/s0': { var_files: [../../shared/common.tfvars] }\n")
            .file("infrastructure/shared/common.tfvars", "a = 1\n")
            .stack("01-a/s0", &["../../modules/m0"])
            .stack("01-a/s1", &[])
            .module("m0", &[]);
        let mut history = Self {
            seed,
            dice: StdRng::seed_from_u64(seed),
            lab,
            trees: BTreeMap::new(),
            commits: Vec::new(),
        };
        history.commit();
        history
    }

    fn play(&mut self, commits: usize) {
        for round in 0..commits {
            for _ in 0..self.dice.gen_range(1..4) {
                self.act();
            }
            if self.dice.gen_bool(0.1) {
                self.merge();
            }
            self.check(round);
            if self.dice.gen_bool(0.85) {
                self.commit();
            }
        }
    }

    fn commit(&mut self) {
        let commit = self.lab.commit();
        self.trees.insert(commit.clone(), read(&self.lab.top));
        self.commits.push(commit);
    }

    /// Makes a side branch from an older commit, with a change of its own, and merges it.
    fn merge(&mut self) {
        self.commit();
        let from = self.commits.choose(&mut self.dice).unwrap().clone();
        let at = self.lab.git("rev-parse HEAD");
        self.lab.git(&format!("checkout -q -B side {from}"));
        let name = self.dice.gen_range(0..100);
        self.lab.write(&format!("infrastructure/01-a/side{name}/main.tf"), &format!("# side {name}\n"));
        self.commit();
        self.lab.git("checkout -q main");
        assert_eq!(self.lab.git("rev-parse HEAD"), at);
        self.lab.git("merge -q --no-ff -X ours -m merge side");
        self.commit();
    }

    fn check(&mut self, round: usize) {
        let named = self.commits.choose(&mut self.dice).unwrap().clone();
        let told = self.lab.changed(&named);
        let base = self.lab.git(&format!("merge-base {named} HEAD")).trim().to_owned();
        let (old, new) = (Side::of(&self.trees[&base]), read(&self.lab.top));
        let new = Side::of(&new);
        let expected = compare(&old, &new);
        let what = format!("seed {} round {round} base {base} in {}", self.seed, self.lab.top.display());
        assert_eq!(told.base, base, "{what}");
        assert_eq!(told.removed, expected.removed, "{what}");
        assert_eq!(told.reasons, expected.reasons, "{what}");
        assert_eq!(told.stacks, expected.stacks, "{what}");
    }

    /// Does one random thing to the working tree.
    fn act(&mut self) {
        let files: Vec<String> =
            read(&self.lab.top).into_keys().filter(|path| path.starts_with("infrastructure/")).collect();
        let Some(file) = files.choose(&mut self.dice).cloned() else { return };
        let folder = file.rsplit_once('/').map(|(folder, _)| folder.to_owned()).unwrap();
        let number = self.dice.gen_range(0..6);
        match self.dice.gen_range(0..15) {
            0..=2 => self.edit(&file),
            3 => self.write(&format!("{folder}/note {number}.txt"), "words\n"),
            4 => self.write(&format!("{folder}/files/-ä{number}.txt"), "words\n"),
            5 => self.write(
                &format!("infrastructure/0{}-b/s{number}/main.tf", number % 3 + 1),
                &self.sources(number),
            ),
            6 => self.write(&format!("infrastructure/modules/m{number}/main.tf"), &self.sources(number)),
            7 => self.write(&format!("{folder}/nested/main.tf"), &self.sources(number)),
            8 => drop(std::fs::remove_file(self.lab.top.join(&file))),
            9 if folder != "infrastructure" => drop(std::fs::remove_dir_all(self.lab.top.join(&folder))),
            10 => self.turn_mode(&file),
            11 => self.link(&folder, &files),
            12 => self.move_folder(&folder, number),
            13 => self.write(&format!("{folder}/secrets.sops.yaml"), &format!("a: {number}\n")),
            _ => self.write(&format!("{folder}/.hidden/x.tf"), &format!("# {number}\n")),
        }
    }

    /// Returns a configuration whose sources lead two levels up, where modules and stacks are.
    fn sources(&self, number: usize) -> String {
        let sources = [
            vec![],
            vec!["../../modules/m0"],
            vec!["../../modules/m1", "../../modules/m2"],
            vec!["../m3"],
            vec!["../../01-a/s1"],
            vec!["../m1", "../../modules/gone"],
        ];
        crate::repository::uses(&sources[number % sources.len()])
    }

    fn write(&self, path: &str, text: &str) {
        let whole = self.lab.top.join(path);
        // A file in the way of a folder, or the other way round, stays what it is.
        if std::fs::create_dir_all(whole.parent().unwrap()).is_ok() && !whole.is_dir() && !whole.is_symlink()
        {
            std::fs::write(whole, text).unwrap();
        }
    }

    fn edit(&mut self, file: &str) {
        let path = self.lab.top.join(file);
        if path.is_symlink() {
            return;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        // Small numbers, so that some edit brings back what was there before.
        let number = self.dice.gen_range(0..2);
        let kept: String =
            text.lines().filter(|line| !line.starts_with("# edit")).map(|line| format!("{line}\n")).collect();
        std::fs::write(path, format!("{kept}# edit {number}\n")).unwrap();
    }

    fn turn_mode(&self, file: &str) {
        let path = self.lab.top.join(file);
        if path.is_symlink() {
            return;
        }
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode ^ 0o111)).unwrap();
    }

    /// Links a file of another folder into one.
    fn link(&mut self, folder: &str, files: &[String]) {
        let Some(target) = files.choose(&mut self.dice) else { return };
        let up = "../".repeat(folder.split('/').count());
        let link =
            self.lab.top.join(folder).join(if target.ends_with(".tf") { "linked.tf" } else { "linked.txt" });
        if !link.exists()
            && !link.is_symlink()
            && self.lab.top.join(target) != link
            && !target.ends_with("linked.tf")
            && !target.ends_with("linked.txt")
        {
            std::os::unix::fs::symlink(format!("{up}{target}"), link).unwrap();
        }
    }

    fn move_folder(&self, folder: &str, number: usize) {
        let target = self.lab.top.join(format!("infrastructure/03-c/moved{number}"));
        if folder.contains("/0")
            && !target.exists()
            && folder != "infrastructure"
            && !target.starts_with(self.lab.top.join(folder))
        {
            std::fs::create_dir_all(target.parent().unwrap()).unwrap();
            std::fs::rename(self.lab.top.join(folder), target).unwrap();
        }
    }
}

/// Reads a whole tree, as git would hold it.
fn read(top: &Path) -> Tree {
    let mut tree = Tree::new();
    let mut open = vec![top.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            let name = path.strip_prefix(top).unwrap().to_str().unwrap().to_owned();
            if name == ".git" || name == ".infra" {
                continue;
            }
            if path.is_symlink() {
                tree.insert(
                    name,
                    Entry::Link(std::fs::read_link(&path).unwrap().to_str().unwrap().to_owned()),
                );
            } else if path.is_dir() {
                open.push(path);
            } else {
                let runs = std::fs::metadata(&path).unwrap().permissions().mode() & 0o100 != 0;
                tree.insert(name, Entry::File(std::fs::read_to_string(&path).unwrap(), runs));
            }
        }
    }
    tree
}

/// One side as the model sees it.
struct Side {
    tree: Tree,
    stacks: BTreeSet<String>,
    modules: BTreeSet<String>,
    uses: BTreeMap<String, BTreeSet<String>>,
}

impl Side {
    fn of(tree: &Tree) -> Self {
        let mut side = Self {
            tree: tree.clone(),
            stacks: BTreeSet::new(),
            modules: BTreeSet::new(),
            uses: BTreeMap::new(),
        };
        let is_listed = |folder: &str| {
            folder.starts_with("infrastructure/") && !folder.split('/').any(|part| part.starts_with('.'))
        };
        let files: Vec<(String, String)> =
            tree.keys().filter(|path| path.ends_with(".tf")).map(|path| split(path)).collect();
        let folders: BTreeSet<String> =
            files.iter().map(|(folder, _)| folder.clone()).filter(|folder| is_listed(folder)).collect();
        for folder in &folders {
            let used = side.sources(folder);
            side.uses.insert(folder.clone(), used);
        }
        let used: BTreeSet<String> = side.uses.values().flatten().cloned().collect();
        let is_module = |folder: &String| folder.split('/').any(|part| part == "modules");
        let linked: BTreeSet<String> = side.outward_targets(&folders);
        let is_snippet = |folder: &String| {
            let mut own = files.iter().filter(|(other, _)| other == folder);
            own.all(|(folder, name)| linked.contains(&format!("{folder}/{name}")))
        };
        side.stacks = folders
            .iter()
            .filter(|folder| !is_module(folder) && !used.contains(*folder) && !is_snippet(folder))
            .cloned()
            .collect();
        side.modules = folders.iter().filter(|folder| is_module(folder)).cloned().chain(used).collect();
        side
    }

    /// Returns the folders that the configuration of one uses.
    fn sources(&self, folder: &str) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for (path, _) in self.tree.iter().filter(|(path, _)| split(path).0 == folder && path.ends_with(".tf"))
        {
            let Some(text) = self.text(path) else { continue };
            for line in text.lines().filter_map(|line| line.trim().strip_prefix("source = \"")) {
                let target = normal(&format!("{folder}/{}", line.trim_end_matches('"')));
                let is_there = self.tree.keys().any(|path| path.starts_with(&format!("{target}/")));
                if is_there && target != folder {
                    found.insert(target);
                }
            }
        }
        found
    }

    /// Returns what a file holds, through links.
    fn text(&self, path: &str) -> Option<&str> {
        match self.tree.get(self.steps(path).last().map_or(path, String::as_str))? {
            Entry::File(text, _) => Some(text),
            Entry::Link(_) => None,
        }
    }

    /// Returns the places that a link leads over, the last one at the end.
    fn steps(&self, path: &str) -> Vec<String> {
        let (mut steps, mut here) = (Vec::new(), path.to_owned());
        while let Some(Entry::Link(target)) = self.tree.get(&here).filter(|_| steps.len() < 20) {
            here = normal(&format!("{}/{target}", split(&here).0));
            steps.push(here.clone());
        }
        steps
    }

    /// Returns the files that links among the files of other folders lead to.
    fn outward_targets(&self, folders: &BTreeSet<String>) -> BTreeSet<String> {
        let links = self.tree.keys().filter(|path| path.ends_with(".tf") && folders.contains(&split(path).0));
        let mut targets = BTreeSet::new();
        for link in links {
            let steps = self.steps(link);
            let ends = [steps.first(), steps.last().filter(|end| self.tree.contains_key(*end))];
            targets.extend(ends.into_iter().flatten().filter(|end| split(end).0 != split(link).0).cloned());
        }
        targets
    }

    /// Returns the stacks that a path concerns.
    fn concerned(&self, path: &str) -> BTreeSet<String> {
        let links = self.tree.keys().filter(|link| self.steps(link).iter().any(|step| step == path));
        let names: Vec<&str> = links.map(String::as_str).chain([path]).collect();
        let mut stacks = BTreeSet::new();
        for name in names {
            stacks.extend(self.owners(name));
            for stack in &self.stacks {
                if self.given(stack).contains(&name.to_owned()) {
                    stacks.insert(stack.clone());
                }
            }
        }
        stacks
    }

    /// Returns the files that a stack is given from elsewhere.
    fn given(&self, stack: &str) -> Vec<String> {
        let mut given = Vec::new();
        if stack == "infrastructure/01-a/s0" {
            given.push("infrastructure/shared/common.tfvars".to_owned());
        }
        let mut above = stack;
        while let Some((folder, _)) = above.rsplit_once('/') {
            let file = format!("{folder}/secrets.sops.yaml");
            if self.tree.contains_key(&file) {
                given.push(file);
                return given;
            }
            above = folder;
        }
        given.extend(self.tree.contains_key("secrets.sops.yaml").then(|| "secrets.sops.yaml".to_owned()));
        given
    }

    fn owners(&self, path: &str) -> BTreeSet<String> {
        let mut folder = split(path).0;
        if folder.split('/').any(|part| part.starts_with('.')) {
            return BTreeSet::new();
        }
        while !self.stacks.contains(&folder) && !self.modules.contains(&folder) {
            let Some((above, _)) = folder.rsplit_once('/') else { return BTreeSet::new() };
            folder = above.to_owned();
        }
        if self.stacks.contains(&folder) {
            return BTreeSet::from([folder]);
        }
        self.stacks.iter().filter(|stack| self.closure(stack).contains(&folder)).cloned().collect()
    }

    fn closure(&self, stack: &str) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let mut open = vec![stack.to_owned()];
        while let Some(next) = open.pop() {
            let used =
                if self.uses.contains_key(&next) { self.uses[&next].clone() } else { self.sources(&next) };
            open.extend(used.into_iter().filter(|used| found.insert(used.clone())));
        }
        found
    }
}

fn compare(old: &Side, new: &Side) -> Told {
    let paths: BTreeSet<&String> = old.tree.keys().chain(new.tree.keys()).collect();
    let changed: Vec<&String> =
        paths.into_iter().filter(|path| old.tree.get(*path) != new.tree.get(*path)).collect();
    let mut reasons: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for path in &changed {
        for side in [old, new].into_iter().filter(|side| side.tree.contains_key(*path)) {
            for stack in side.concerned(path).into_iter().filter(|stack| new.stacks.contains(stack)) {
                reasons.entry(id(&stack)).or_default().insert((*path).clone());
            }
        }
    }
    // What became a stack because nobody uses it any more: by what used it.
    for stack in new.stacks.difference(&old.stacks) {
        let users = || {
            let used_it =
                |path: &&&String| old.uses.get(&split(path).0).is_some_and(|uses| uses.contains(stack));
            let mut found: BTreeSet<String> =
                changed.iter().filter(used_it).map(|path| (*path).clone()).collect();
            if found.is_empty() {
                found.extend(changed.first().map(|path| (*path).clone()));
            }
            found
        };
        reasons.entry(id(stack)).or_insert_with(users);
    }
    let has_files =
        |stack: &String| new.tree.keys().any(|path| path.ends_with(".tf") && split(path).0 == *stack);
    let gone = old.stacks.difference(&new.stacks).filter(|stack| !has_files(stack));
    Told {
        base: String::new(),
        stacks: reasons.keys().cloned().collect(),
        removed: gone.map(|stack| id(stack)).collect(),
        reasons,
    }
}

fn id(stack: &str) -> String {
    stack.strip_prefix("infrastructure/").unwrap_or(stack).to_owned()
}

fn split(path: &str) -> (String, String) {
    path.rsplit_once('/').map_or_else(
        || (String::new(), path.to_owned()),
        |(folder, name)| (folder.to_owned(), name.to_owned()),
    )
}

/// Returns a path without dots.
fn normal(path: &str) -> String {
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part {
            "." | "" => {}
            // Out of the repository.
            ".." if parts.last().is_none_or(|last| *last == "<out>") => parts.push("<out>"),
            ".." => _ = parts.pop(),
            part => parts.push(part),
        }
    }
    parts.join("/")
}
