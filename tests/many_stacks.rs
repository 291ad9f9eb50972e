//! Many stacks: a storm of random failures and kills; a small terminal with two hundred.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "the product's rules, not the tests'"
)]

#[path = "support/processes.rs"]
mod processes;
#[path = "support/storm.rs"]
mod storm;
mod support;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;
use storm::{Round, Target, World, trace};
use support::run::wait_until;
use support::screen::Screen;
use support::terminal::AtTerminal;
use support::{Finished, Project};

/// One run in a storm, after it: what it said, and what is left.
struct Aftermath<'a> {
    world: &'a World,
    round: &'a Round,
    events: Vec<Value>,
    trace: String,
    before: States,
    now: States,
}

type States = BTreeMap<String, Value>;

impl Aftermath<'_> {
    fn context(&self) -> String {
        format!("STORM_SEED={}, {:?}", self.world.seed, self.round)
    }

    /// Returns the report of a stack, as the events tell it; a killed run may owe it.
    fn report_of(&self, id: &str) -> Option<&Value> {
        let finished = |event: &&Value| event["type"] == "stack_finished" && event["report"]["id"] == id;
        self.events.iter().find(finished).map(|event| &event["report"])
    }

    fn result_of(&self, id: &str) -> &str {
        self.report_of(id).map_or("unknown", |report| report["result"].as_str().unwrap())
    }

    fn place_of(&self, kind: &str, id: &str, step: Option<&str>) -> Option<usize> {
        self.events.iter().position(|event| {
            let about = if kind == "stack_finished" { &event["report"]["id"] } else { &event["stack"] };
            event["type"] == kind && about == id && step.is_none_or(|step| event["step"] == step)
        })
    }

    /// Nothing is planned or made before all below it was applied.
    fn assert_order(&self) {
        let context = self.context();
        let line = |text: String| self.trace.lines().position(|line| line == text);
        for (id, earlier) in &self.world.after {
            for (earlier, step) in earlier.iter().flat_map(|earlier| [(earlier, "plan"), (earlier, "apply")])
            {
                let Some(began) = self.place_of("step_started", id, Some(step)) else { continue };
                let ended = self.place_of("stack_finished", earlier, None);
                assert!(ended < Some(began), "{context}: {step} of {id} before {earlier}");
                assert_eq!(self.result_of(earlier), "succeeded", "{context}: {id} after {earlier}");
            }
            let Some(began) = line(format!("begin {id}")) else { continue };
            for earlier in earlier {
                let ended = line(format!("end {earlier}"));
                assert!(ended.is_some_and(|ended| ended < began), "{context}: {id} before {earlier}");
            }
        }
    }

    /// What is in each state is what the run says that it applied.
    fn assert_exactness(&self) {
        for id in &self.world.ids {
            let context = format!("{}: {id} {:?}", self.context(), self.report_of(id));
            let (applied, number) = (input_of(&self.now[id], "last"), Some(self.round.number));
            let ended = self.trace.contains(&format!("end {id}\n"));
            match (self.result_of(id), self.place_of("step_started", id, Some("apply"))) {
                ("succeeded", Some(_)) => {
                    assert!(applied == number && ended, "{context}: {applied:?}");
                    let from = self.world.takes.get(id).and(number);
                    assert_eq!(input_of(&self.now[id], "first"), from, "{context}");
                }
                (_, None) => assert_eq!(self.now[id], self.before[id], "{context}: it never began"),
                // It was stopped or killed under way; how far it came stands in its trace.
                _ => assert!(applied != number || ended, "{context}: {applied:?}"),
            }
            if self.round.failing.contains(id) {
                assert_ne!(applied, number, "{context}");
            }
        }
    }

    /// Nothing fails, is skipped or stops without a reason.
    fn assert_reasons(&self) {
        let context = self.context();
        let with =
            |wanted: &'static str| self.world.ids.iter().filter(move |id| self.result_of(id) == wanted);
        let struck: Vec<&String> = with("failed").filter(|id| !self.round.failing.contains(*id)).collect();
        let hits = usize::from(self.round.strike.is_some_and(|strike| strike.target == Target::Tofu));
        assert!(struck.len() <= hits, "{context}: {struck:?} failed");
        for id in struck {
            let error = self.report_of(id).unwrap()["error"].to_string();
            assert!(error.contains("killed by signal 9"), "{context}: {id}: {error}");
        }
        for id in with("skipped") {
            let bad = |earlier: &String| matches!(self.result_of(earlier), "failed" | "skipped");
            assert!(self.world.after[id].iter().any(bad), "{context}: {id} was skipped");
        }
        assert!(with("interrupted").next().is_none() || self.round.stops_infra(), "{context}: interrupted");
        assert!(with("unknown").next().is_none() || self.round.kills_infra(), "{context}: no result");
    }
}

/// Runs everything and strikes; returns how the run ended once nothing of it is left.
fn weather(world: &World, round: &Round, project: &Project) -> Finished {
    let run = project.start("apply --all --yes --parallelism 4 --json");
    let (pid, over) = (run.pid(), AtomicBool::new(false));
    let (finished, running) = std::thread::scope(|scope| {
        let striker = scope.spawn(|| round.strike.map(|strike| strike.wait_and_hit(project, pid, &over)));
        let finished = run.wait();
        over.store(true, Ordering::SeqCst);
        (finished, striker.join().unwrap().unwrap_or_default())
    });
    let left = || {
        let known = running.iter().filter(|process| process.lives()).cloned();
        known.chain(processes::about(project.root())).map(|process| process.to_string()).collect::<Vec<_>>()
    };
    if round.kills_infra() {
        wait_until(&format!("nothing runs (STORM_SEED={}, {round:?})", world.seed), || left().is_empty());
    }
    assert!(left().is_empty(), "STORM_SEED={}, {round:?}: {:#?} is left\n{finished}", world.seed, left());
    finished
}

/// Asserts that nobody holds a lock, but for those of a dead run, which can be released.
fn clear_away(world: &World, round: &Round, project: &Project) {
    let context = format!("STORM_SEED={}, {round:?}", world.seed);
    for lock in project.locks() {
        assert!(round.kills_infra() && lock["alive"] == false, "{context}: {lock}");
        project.run(&format!("force-unlock {} --yes", lock["stack"].as_str().unwrap())).succeeds();
    }
    for id in &world.ids {
        if project.has(&format!("infrastructure/{id}/errored.tfstate")) {
            assert!(round.kills_infra(), "{context}: the state of {id} could not be saved");
            project.run(&format!("state push {id} --errored")).succeeds();
        }
    }
    assert!(project.locks().is_empty(), "{context}");
}

fn states(world: &World, project: &Project) -> States {
    let (left, right) = world.ids.split_at(world.ids.len() / 2);
    let pull = |ids: &[String]| ids.iter().map(|id| (id.clone(), state_of(id, project))).collect::<States>();
    std::thread::scope(|scope| {
        let right = scope.spawn(|| pull(right));
        let mut states = pull(left);
        states.extend(right.join().unwrap());
        states
    })
}

fn state_of(id: &str, project: &Project) -> Value {
    let pulled = project.run(&format!("state pull {id} -q"));
    match pulled.stderr.contains("has no state") {
        true => Value::Null,
        false => pulled.succeeds().json(),
    }
}

/// Returns what a whole, untainted resource was made with.
fn input_of(state: &Value, name: &str) -> Option<u64> {
    let resource = state["resources"].as_array()?.iter().find(|resource| resource["name"] == name)?;
    let instance = &resource["instances"][0];
    instance["status"].is_null().then(|| instance["attributes"]["input"]["value"].as_u64())?
}

/// Tells the seed of a storm that went wrong, wherever it did.
struct Seed(u64);

impl Drop for Seed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("repeat it: STORM_SEED={} cargo test --test many_stacks", self.0);
        }
    }
}

#[test]
fn thirty_stacks_in_a_storm_of_failures_and_kills_stay_in_order_and_come_up_in_the_end() {
    let mut world = World::new();
    let _seed = Seed(world.seed);
    let project = world.project();
    let mut before = states(&world, &project);

    for round in world.rounds() {
        round.write(&world, &project);
        let finished = weather(&world, &round, &project);
        clear_away(&world, &round, &project);
        let now = states(&world, &project);
        let events = project.newest_events();
        let events = events.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let aftermath =
            Aftermath { world: &world, round: &round, events, trace: trace(&project), before, now };
        aftermath.assert_order();
        aftermath.assert_exactness();
        aftermath.assert_reasons();
        assert_eq!(finished.code.is_none(), round.kills_infra(), "{}\n{finished}", aftermath.context());
        before = aftermath.now;
    }

    Round::calm(6).write(&world, &project);
    project.run("apply --resume --yes --parallelism 4").succeeds();
    for id in &world.ids {
        assert_eq!(input_of(&state_of(id, &project), "last"), Some(6), "STORM_SEED={}: {id}", world.seed);
    }
    project.run("plan --all --detailed-exitcode").succeeds();
    assert!(project.locks().is_empty(), "STORM_SEED={}", world.seed);
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
    assert!(screen.contains("next: fix what failed, then `infra init --resume`"), "{screen}");
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
