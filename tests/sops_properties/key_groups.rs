//! Generated key groups in every format: what one encrypts, the other opens with as many groups
//! as are needed, whatever the order of the lines that the flat formats keep them in.

use std::path::Path;

use infra::model::Environment;
use infra::secrets::identities::Identities;
use infra::secrets::sops::Format;
use infra::secrets::sops::creation_rules::{CreationRules, rule_for};
use infra::secrets::sops::stores::Layout;
use infra::secrets::sops::{Input, SopsFile, encrypt_new};
use rand::rngs::StdRng;
use rand::seq::SliceRandom as _;
use rand::{Rng as _, SeedableRng as _};

use crate::tools::AgeKey;

/// A text for every format, and what it holds.
const FILES: [(&str, &str); 5] = [
    ("a.yaml", "a: canary\n"),
    ("a.json", "{\"a\": \"canary\"}"),
    ("a.env", "A=canary\n"),
    ("a.ini", "[a]\nb = canary\n"),
    ("a.bin", "canary"),
];

/// Positions of two digits in both lists, and the three groups of one key that sops mixes most.
const SHAPES: [(&[usize], usize); 4] =
    [(&[1, 1, 1], 2), (&[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1], 3), (&[11, 2], 0), (&[12], 0)];

/// How many shapes are made by chance beside those.
const MORE: usize = 3;

/// Key groups, and a folder in which the real sops encrypts for them.
struct Lab {
    dir: tempfile::TempDir,
    groups: Vec<Vec<AgeKey>>,
    /// How many groups are needed, as the rules say it.
    threshold: usize,
}

impl Lab {
    fn new(sizes: &[usize], threshold: usize) -> Self {
        let groups = sizes.iter().map(|size| (0..*size).map(|_| AgeKey::new()).collect());
        let lab = Self { dir: tempfile::tempdir().unwrap(), groups: groups.collect(), threshold };
        let lists = lab.groups.iter().map(|group| {
            let recipients: Vec<&str> = group.iter().map(|key| key.recipient.as_str()).collect();
            format!("      - age: [{}]\n", recipients.join(", "))
        });
        let threshold =
            if threshold == 0 { String::new() } else { format!("    shamir_threshold: {threshold}\n") };
        let rules = format!("creation_rules:\n  - key_groups:\n{}{threshold}", lists.collect::<String>());
        lab.write(".sops.yaml", rules.as_bytes());
        lab
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.dir.path().join(name), bytes).unwrap();
    }

    /// Returns one key each of as many groups as are needed, the last ones first.
    fn enough(&self) -> String {
        let needed = if self.threshold == 0 { self.groups.len() } else { self.threshold };
        let keys = self.groups.iter().rev().take(needed).filter_map(|group| group.last());
        keys.map(|key| key.secret.as_str()).collect::<Vec<_>>().join("\n")
    }

    fn sops(&self, arguments: &[&str]) -> String {
        let key = AgeKey { secret: self.enough(), recipient: String::new() };
        let output = key.run_sops(self.dir.path(), arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn theirs(&self, name: &str, plain: &str) -> String {
        self.write(name, plain.as_bytes());
        self.sops(&["-e", name])
    }

    fn ours(&self, name: &str, plain: &str) -> String {
        let rules = CreationRules::find(self.dir.path()).unwrap().unwrap();
        let rule = rule_for(Some(&rules), &self.dir.path().join(name), &Environment::default()).unwrap();
        let now = "2026-01-02T03:04:05Z".parse().unwrap();
        String::from_utf8(encrypt_new(input(name, plain), &rule, now).unwrap()).unwrap()
    }

    fn opened_by_sops(&self, name: &str, encrypted: &str) -> String {
        self.write(name, encrypted.as_bytes());
        self.sops(&["-d", name])
    }

    fn opened_here(&self, name: &str, encrypted: &str) -> SopsFile {
        let mut identities = Identities::none(&|_| None);
        identities.add("`SOPS_AGE_KEY`", self.enough().as_bytes());
        SopsFile::open(input(name, encrypted), &identities)
            .unwrap_or_else(|error| panic!("{name}: {error}\n{encrypted}"))
    }
}

fn input<'a>(name: &'a str, text: &'a str) -> Input<'a> {
    let format = Format::of_path(Path::new(name));
    Input { name, format, bytes: text.as_bytes(), layout: Layout::default() }
}

fn plaintext(file: &SopsFile) -> String {
    String::from_utf8(file.plaintext().unwrap().to_vec()).unwrap()
}

/// Returns a flat file with its lines of metadata in another order.
fn mixed(name: &str, encrypted: &str, random: &mut StdRng) -> Option<String> {
    let is_metadata: fn(&str) -> bool = match name {
        "a.env" => |line| line.starts_with("sops_"),
        "a.ini" => |line| line.contains("__list_") || line.starts_with("mac"),
        _ => return None,
    };
    let mut lines: Vec<&str> = encrypted.lines().filter(|line| is_metadata(line)).collect();
    lines.shuffle(random);
    let mut lines = lines.into_iter();
    let line = |line| if is_metadata(line) { lines.next().unwrap_or_default() } else { line };
    Some(encrypted.lines().map(line).collect::<Vec<_>>().join("\n") + "\n")
}

fn shapes() -> Vec<(Vec<usize>, usize)> {
    let mut random = StdRng::seed_from_u64(13);
    let mut shapes: Vec<_> = SHAPES.map(|(sizes, threshold)| (sizes.to_vec(), threshold)).into();
    shapes.extend((0..MORE).map(|_| {
        let sizes: Vec<usize> = (0..random.gen_range(2..6)).map(|_| random.gen_range(1..4)).collect();
        let threshold = random.gen_range(2..=sizes.len());
        (sizes, threshold)
    }));
    shapes
}

#[test]
fn both_agree_on_every_shape_of_key_groups_in_every_format() {
    let mut random = StdRng::seed_from_u64(5);
    for (sizes, threshold) in shapes() {
        let lab = Lab::new(&sizes, threshold);
        for (name, plain) in FILES {
            let (theirs, ours) = (lab.theirs(name, plain), lab.ours(name, plain));
            let expected = lab.opened_by_sops(name, &theirs);

            assert!(expected.contains("canary") && !theirs.contains("canary"), "{expected}");
            assert_eq!(plaintext(&lab.opened_here(name, &theirs)), expected, "{sizes:?} sops to us");
            assert_eq!(plaintext(&lab.opened_here(name, &ours)), expected, "{sizes:?} us to us");
            assert_eq!(lab.opened_by_sops(name, &ours), expected, "{sizes:?} us to sops");
            for encrypted in [&theirs, &ours] {
                let Some(mixed) = mixed(name, encrypted, &mut random) else { continue };
                assert_eq!(plaintext(&lab.opened_here(name, &mixed)), expected, "{sizes:?} mixed:\n{mixed}");
            }
        }
    }
}

#[test]
fn an_edit_of_mixed_lines_keeps_their_order_and_sops_opens_it() {
    let mut random = StdRng::seed_from_u64(6);
    let lab = Lab::new(&[1, 3, 11], 2);
    for (name, plain) in FILES.into_iter().filter(|(name, _)| ["a.env", "a.ini"].contains(name)) {
        let mixed = mixed(name, &lab.theirs(name, plain), &mut random).unwrap();

        let file = lab.opened_here(name, &mixed);
        let now = "2026-02-03T04:05:06Z".parse().unwrap();
        let edited =
            file.edited(plain.replace("canary", "goldfinch").as_bytes(), now).unwrap().expect("a change");

        let edited = String::from_utf8(edited).unwrap();
        let names = |text: &str| {
            text.lines().map(|line| line.split('=').next().unwrap().trim().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(names(&edited), names(&mixed));
        assert!(lab.opened_by_sops(name, &edited).contains("goldfinch"));
    }
}
