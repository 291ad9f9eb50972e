//! Many stacks: random failures and kills, held against a model; a small terminal with two hundred.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the product's rules, not the tests'"
)]

mod support;

use std::collections::{BTreeMap, BTreeSet};

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use support::Project;
use support::screen::Screen;
use support::terminal::AtTerminal;

/// How a stack is made to end.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Fate {
    Good,
    Fails,
    /// Its tofu is killed from outside while it works.
    Killed,
}

/// Thirty stacks in three layers, each after a few of the layer below.
struct World {
    fates: BTreeMap<String, Fate>,
    after: BTreeMap<String, BTreeSet<String>>,
}

impl World {
    fn random(seed: u64) -> Self {
        let mut random = StdRng::seed_from_u64(seed);
        let (mut fates, mut after) = (BTreeMap::new(), BTreeMap::new());
        for layer in 1..=3 {
            for number in 0..10 {
                let id = format!("0{layer}-l/s{number}");
                fates.insert(
                    id.clone(),
                    [
                        Fate::Good,
                        Fate::Good,
                        Fate::Good,
                        Fate::Good,
                        Fate::Good,
                        Fate::Good,
                        Fate::Fails,
                        Fate::Killed,
                    ][random.gen_range(0..8)],
                );
                let below = (0..random.gen_range(0..3))
                    .map(|_| format!("0{}-l/s{}", layer - 1, random.gen_range(0..10)));
                after.insert(id, if layer > 1 { below.collect() } else { BTreeSet::new() });
            }
        }
        Self { fates, after }
    }

    /// Returns what must become of each stack.
    fn results(&self) -> BTreeMap<String, &'static str> {
        let mut results: BTreeMap<String, &str> = BTreeMap::new();
        for (id, fate) in &self.fates {
            let blocked = self.after[id].iter().any(|earlier| results[earlier] != "succeeded");
            let result = match fate {
                _ if blocked => "skipped",
                Fate::Good => "succeeded",
                Fate::Fails | Fate::Killed => "failed",
            };
            results.insert(id.clone(), result);
        }
        results
    }

    fn project(&self) -> Project {
        let mut config = "name: lab\nstacks:\n  layers: loose\n".to_owned();
        let mut project = Project::new();
        for (id, fate) in &self.fates {
            let after: Vec<String> = self.after[id].iter().map(|id| format!("\"{id}\"")).collect();
            config.push_str(&format!("  \"{id}\": {{ depends_on: [{}] }}\n", after.join(", ")));
            project = project.stack(id, &stack(id, *fate));
        }
        project.config(&config)
    }
}

fn stack(id: &str, fate: Fate) -> String {
    let end = match fate {
        Fate::Good => "true",
        Fate::Fails => "test -e mended",
        Fate::Killed => "test -e mended || kill -9 $PPID",
    };
    format!(
        r#"
terraform {{
  backend "http" {{}}
}}

resource "terraform_data" "thing" {{
  provisioner "local-exec" {{
    working_dir = "../../.."
    command     = "echo begin {id} >> log; {end} && echo end {id} >> log"
  }}
}}
"#
    )
}

/// Asserts that no stack began before those it waits for had ended.
fn assert_order(world: &World, log: &str) {
    for (place, line) in log.lines().enumerate() {
        let Some(id) = line.strip_prefix("begin ") else { continue };
        for earlier in &world.after[id] {
            let ended = log.lines().position(|line| line == format!("end {earlier}"));
            assert!(ended.is_some_and(|ended| ended < place), "{id} began before {earlier} ended\n{log}");
        }
    }
}

#[test]
fn thirty_stacks_with_random_failures_and_kills_end_as_the_model_says() {
    let world = World::random(7);
    let project = world.project();
    let expected = world.results();
    assert!(
        ["succeeded", "failed", "skipped"].iter().all(|word| expected.values().any(|result| result == word))
    );

    let run = project.run("apply --all --yes --parallelism 4 --json").exits(1);

    let results: BTreeMap<String, String> =
        expected.keys().map(|id| (id.clone(), run.result_of(id))).collect();
    assert_eq!(results, expected.iter().map(|(id, result)| (id.clone(), (*result).to_owned())).collect());
    assert_order(&world, &project.read("log"));
    assert!(project.locks().is_empty());

    project.write("mended", "");
    let again = project.run("apply --resume --yes --parallelism 4 --json").succeeds();
    let undone = expected.values().filter(|result| **result != "succeeded").count();
    assert_eq!(again.json()["stacks"].as_array().unwrap().len(), undone);
    assert_order(
        &world,
        &project.read("log").lines().filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n"),
    );
    assert!(project.locks().is_empty());
}

#[test]
fn two_hundred_stacks_fit_into_a_small_terminal() {
    let mut project = Project::new();
    for number in 0..200 {
        project = project.stack(&format!("01-a/s{number:03}"), "locals {\n  a = 1\n}\n");
    }
    let project = project.stack("01-a/wrong", "module \"x\" {\n  source = \"./nowhere\"\n}\n");
    let (rows, columns) = (10, 60);

    let person = AtTerminal::sized(project.command("init --all --parallelism 2"), rows, columns);
    let (code, written) = person.wait();

    assert_eq!(code, Some(1), "{written}");
    let lines = Screen::replay(&written, usize::from(columns)).lines();
    let screen = lines.join("\n");
    assert_eq!(lines[0], "  lab · 201 stacks · 2 at once · tofu 1.12.6", "{screen}");
    assert!(!screen.contains("s000") && !screen.contains("running"), "{screen}");
    assert!(screen.contains("✗ failed") && screen.contains("… and 200 more"), "{screen}");
    assert!(screen.contains("1 failed") && screen.contains("200 initialised"), "{screen}");
    assert!(screen.contains("next: mend what failed, then `infra init --resume`"), "{screen}");
    assert!(written.contains("/201 done"), "the counts were shown while it ran");
    assert!(lines.len() < 30, "{screen}");
}

#[test]
fn a_terminal_that_cannot_redraw_gets_plain_lines() {
    let project =
        Project::new().stack("a/x", "locals {\n  a = 1\n}\n").stack("a/y", "locals {\n  a = 1\n}\n");
    let mut command = project.command("init --all");
    command.env("INFRA_COLOR", "never");

    let (code, written) = AtTerminal::dumb(command).wait();

    assert_eq!(code, Some(0), "{written}");
    assert!(!written.contains('\u{1b}'), "{written:?}");
    assert!(written.contains("a/x  initialising") && written.contains("✓ a/y"), "{written}");
}
