//! Thirty stacks in three strict layers, and what may befall them: stacks that fail, tofu
//! processes that are killed, an `infra` that is stopped or killed, all at random moments.
//!
//! Every random choice comes from one seed; `STORM_SEED` repeats a storm.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rand::rngs::StdRng;
use rand::seq::{IteratorRandom as _, SliceRandom as _};
use rand::{Rng as _, SeedableRng as _};

use super::processes::{self, Process};
use crate::support::Project;

const IN_A_LAYER: usize = 10;

/// Where a storm blows.
pub struct World {
    pub seed: u64,
    pub random: StdRng,
    pub ids: Vec<String>,
    /// For each stack those that must be applied before it: all of the layers below, and what it names.
    pub after: BTreeMap<String, BTreeSet<String>>,
    /// For some stacks the one whose output they take.
    pub takes: BTreeMap<String, String>,
}

/// Whom a strike hits.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Target {
    Tofu,
    Infra(Signal),
}

/// A blow: whom, and after how many lines of the trace and a moment.
#[derive(Clone, Copy, Debug)]
pub struct Strike {
    pub target: Target,
    lines: usize,
    pause: Duration,
    choice: usize,
}

/// What befalls one run.
#[derive(Clone, Debug)]
pub struct Round {
    pub number: u64,
    pub failing: BTreeSet<String>,
    pub strike: Option<Strike>,
}

impl World {
    /// Makes a world from a seed, or from chance.
    pub fn new() -> Self {
        let given = std::env::var("STORM_SEED").ok().map(|seed| seed.parse().expect("a number"));
        let seed = given.unwrap_or_else(rand::random);
        let mut random = StdRng::seed_from_u64(seed);
        let layers: Vec<Vec<String>> = (1..=3)
            .map(|layer| (0..IN_A_LAYER).map(|number| format!("0{layer}-l/s{number}")).collect())
            .collect();
        let (mut after, mut takes) = (BTreeMap::new(), BTreeMap::new());
        for (number, layer) in layers.iter().enumerate() {
            for (place, id) in layer.iter().enumerate() {
                let mut earlier: BTreeSet<String> = layers[..number].concat().into_iter().collect();
                earlier.extend(layer[..place].choose(&mut random).filter(|_| place % 3 == 0).cloned());
                after.insert(id.clone(), earlier);
                let below = number.checked_sub(1).and_then(|below| layers[below].choose(&mut random));
                takes.extend(below.filter(|_| place % 2 == 0).map(|below| (id.clone(), below.clone())));
            }
        }
        Self { seed, random, ids: layers.concat(), after, takes }
    }

    /// Returns each kind of trouble at least once, in any order.
    pub fn rounds(&mut self) -> Vec<Round> {
        let mut targets = [
            None,
            Some(Target::Tofu),
            Some(Target::Infra(Signal::SIGINT)),
            Some(Target::Infra(Signal::SIGTERM)),
            Some(Target::Infra(Signal::SIGKILL)),
            Some(Target::Infra(Signal::SIGKILL)),
        ];
        targets.shuffle(&mut self.random);
        (1..).zip(targets).map(|(number, target)| self.round(number, target)).collect()
    }

    /// A run that is struck fails in its last layer at most, so that it lasts until the strike.
    fn round(&mut self, number: u64, target: Option<Target>) -> Round {
        let (among, failures) = match target {
            None => (&self.ids[..], self.random.gen_range(1..=3)),
            Some(_) => (&self.ids[2 * IN_A_LAYER..], self.random.gen_range(0..=1)),
        };
        let failing = among.iter().cloned().choose_multiple(&mut self.random, failures);
        let strike = target.map(|target| Strike {
            target,
            lines: self.random.gen_range(0..4 * IN_A_LAYER),
            pause: Duration::from_millis(self.random.gen_range(0..250)),
            choice: self.random.r#gen(),
        });
        Round { number, failing: failing.into_iter().collect(), strike }
    }

    pub fn project(&self) -> Project {
        let mut config = "name: lab\nstacks:\n".to_owned();
        let mut project = Project::new();
        for id in &self.ids {
            let layer = &id[..2];
            let named = self.after[id].iter().filter(|earlier| earlier.starts_with(layer));
            let named: Vec<String> = named.map(|earlier| format!("\"{earlier}\"")).collect();
            let inputs = self.takes.get(id).map(|from| format!("from: \"{from}.round\""));
            let inputs = inputs.unwrap_or_default();
            let named = named.join(", ");
            config.push_str(&format!("  \"{id}\": {{ depends_on: [{named}], inputs: {{ {inputs} }} }}\n"));
            project = project.stack(id, &configuration(id));
        }
        project.config(&config)
    }
}

impl Round {
    /// Returns a round in which nothing happens.
    pub fn calm(number: u64) -> Self {
        Self { number, failing: BTreeSet::new(), strike: None }
    }

    /// Gives every stack something to do, and some of them a reason to fail.
    pub fn write(&self, world: &World, project: &Project) {
        let _ = std::fs::remove_file(project.path("log"));
        for id in &world.ids {
            let text = format!("round = {}\nfails = {}\n", self.number, self.failing.contains(id));
            project.write(&format!("infrastructure/{id}/terraform.tfvars"), &text);
        }
    }

    /// Returns whether the run ends without a word.
    pub fn kills_infra(&self) -> bool {
        self.strike.is_some_and(|strike| strike.target == Target::Infra(Signal::SIGKILL))
    }

    /// Returns whether the run is asked to stop.
    pub fn stops_infra(&self) -> bool {
        self.strike.is_some_and(|strike| matches!(strike.target, Target::Infra(_))) && !self.kills_infra()
    }
}

impl Strike {
    /// Waits for its moment and strikes; returns what was running below `infra` just before.
    pub fn wait_and_hit(self, project: &Project, infra: Pid, over: &AtomicBool) -> Vec<Process> {
        let is_over = || over.load(Ordering::SeqCst);
        while !is_over() && trace(project).lines().count() < self.lines {
            std::thread::sleep(Duration::from_millis(3));
        }
        std::thread::sleep(self.pause);
        let running = processes::started_by(infra.as_raw());
        let tofus: Vec<&Process> = running.iter().filter(|process| process.is_called("tofu")).collect();
        let hit = match self.target {
            _ if is_over() => None,
            Target::Infra(signal) => Some((infra, signal)),
            Target::Tofu if tofus.is_empty() => None,
            Target::Tofu => Some((Pid::from_raw(tofus[self.choice % tofus.len()].pid), Signal::SIGKILL)),
        };
        if let Some((pid, signal)) = hit {
            // What is gone by now was missed.
            let _ = kill(pid, signal);
        }
        running
    }
}

/// Returns what the stacks wrote as they were applied.
pub fn trace(project: &Project) -> String {
    std::fs::read_to_string(project.path("log")).unwrap_or_default()
}

fn configuration(id: &str) -> String {
    format!(
        r#"
terraform {{
  backend "http" {{}}
}}

variable "round" {{
  type = number
}}

variable "fails" {{
  type = bool
}}

variable "from" {{
  type    = number
  default = null
}}

resource "terraform_data" "first" {{
  input            = var.from
  triggers_replace = var.round
}}

resource "terraform_data" "thing" {{
  triggers_replace = terraform_data.first.id
  provisioner "local-exec" {{
    working_dir = "../../.."
    command     = "echo begin {id} >> log; sleep 0.1; ${{var.fails ? "false" : "echo end {id} >> log"}}"
  }}
}}

resource "terraform_data" "last" {{
  input            = var.round
  triggers_replace = terraform_data.thing.id
}}

output "round" {{
  value = terraform_data.last.output
}}
"#
    )
}
