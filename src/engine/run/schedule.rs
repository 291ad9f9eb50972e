//! Which stack starts next: turns edges, pools and past durations into an order of
//! starts. Pure: it starts nothing and knows nothing of tofu, so it is tested alone.
//!
//! The longest remaining path goes first, and a worker is idle only when nothing can
//! run. Begin at [`Schedule::new`].

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// A piece of work before it runs.
#[derive(Clone, Debug, Default)]
pub struct Task {
    /// The tasks that must have ended before it, by number.
    pub after: Vec<usize>,
    /// What limits how many of its kind run at once.
    pub pool: Option<String>,
    /// How long it took the last time.
    pub seconds: f64,
}

/// How much may run at once.
#[derive(Clone, Debug)]
pub struct Limits {
    /// In all.
    pub at_once: usize,
    /// Of each pool; one that is not listed has no limit of its own.
    pub pools: BTreeMap<String, usize>,
}

/// The order of starts: an urgent task before others, by number where they are equal.
type StartOrder = (Reverse<u64>, usize);

/// What runs, what can run, and what waits.
#[derive(Debug)]
pub struct Schedule {
    entries: Vec<ScheduledTask>,
    limits: Limits,
    ready: BTreeSet<StartOrder>,
    running: usize,
    in_pool: BTreeMap<String, usize>,
}

#[derive(Debug)]
struct ScheduledTask {
    pool: Option<String>,
    urgency: u64,
    dependents: Vec<usize>,
    /// How many of those before it have not ended.
    missing: usize,
}

impl Schedule {
    /// Takes the tasks; their edges must not form a cycle.
    pub fn new(tasks: Vec<Task>, limits: Limits) -> Self {
        let mut dependents = vec![Vec::new(); tasks.len()];
        for (index, task) in tasks.iter().enumerate() {
            task.after.iter().for_each(|earlier| dependents[*earlier].push(index));
        }
        let urgencies = urgencies(&tasks, &dependents);
        let entries = tasks.into_iter().zip(dependents).zip(urgencies);
        let entries = entries.map(|((task, dependents), urgency)| ScheduledTask {
            missing: task.after.len(),
            pool: task.pool,
            urgency,
            dependents,
        });
        let (entries, pools) = (entries.collect::<Vec<_>>(), BTreeMap::new());
        let mut schedule = Self { entries, limits, ready: BTreeSet::new(), running: 0, in_pool: pools };
        let free = (0..schedule.entries.len()).filter(|index| schedule.entries[*index].missing == 0);
        schedule.ready = free.map(|index| schedule.place(index)).collect();
        schedule
    }

    /// Returns a task that may start now and counts it as running; `None` if none may.
    pub fn start_next(&mut self) -> Option<usize> {
        if self.running >= self.limits.at_once {
            return None;
        }
        let place = *self.ready.iter().find(|(_, index)| self.has_free_slot(*index))?;
        self.ready.remove(&place);
        self.running += 1;
        if let Some(pool) = &self.entries[place.1].pool {
            *self.in_pool.entry(pool.clone()).or_default() += 1;
        }
        Some(place.1)
    }

    /// Counts a running task as ended; what waited for it may start.
    pub fn finish(&mut self, index: usize) {
        self.set_aside(index);
        self.finish_set_aside(index);
    }

    /// Gives the worker of a task back while somebody thinks about it; it has not ended.
    pub fn set_aside(&mut self, index: usize) {
        self.running -= 1;
        let pool = self.entries[index].pool.as_ref();
        if let Some(running) = pool.and_then(|pool| self.in_pool.get_mut(pool)) {
            *running -= 1;
        }
    }

    /// Lets a task that was set aside start again.
    pub fn resume(&mut self, index: usize) {
        self.ready.insert(self.place(index));
    }

    /// Counts a task that was set aside as ended.
    pub fn finish_set_aside(&mut self, index: usize) {
        for dependent in self.entries[index].dependents.clone() {
            self.entries[dependent].missing -= 1;
            if self.entries[dependent].missing == 0 {
                self.ready.insert(self.place(dependent));
            }
        }
    }

    fn has_free_slot(&self, index: usize) -> bool {
        let Some(pool) = &self.entries[index].pool else { return true };
        let running = self.in_pool.get(pool).copied().unwrap_or(0);
        self.limits.pools.get(pool).is_none_or(|limit| running < *limit)
    }

    fn place(&self, index: usize) -> StartOrder {
        (Reverse(self.entries[index].urgency), index)
    }
}

/// Returns for each task the milliseconds from its start to the end of the longest path behind it.
fn urgencies(tasks: &[Task], dependents: &[Vec<usize>]) -> Vec<u64> {
    let mut urgencies = vec![0; tasks.len()];
    for index in last_first(tasks, dependents) {
        let behind = dependents[index].iter().map(|dependent| urgencies[*dependent]).max().unwrap_or(0);
        urgencies[index] = milliseconds(tasks[index].seconds).saturating_add(behind);
    }
    urgencies
}

/// Returns the tasks so that each comes after everything that waits for it.
fn last_first(tasks: &[Task], dependents: &[Vec<usize>]) -> Vec<usize> {
    let mut open: Vec<usize> = dependents.iter().map(Vec::len).collect();
    let mut order: Vec<usize> = (0..tasks.len()).filter(|index| open[*index] == 0).collect();
    let mut next = 0;
    while let Some(index) = order.get(next).copied() {
        for earlier in &tasks[index].after {
            open[*earlier] -= 1;
            if open[*earlier] == 0 {
                order.push(*earlier);
            }
        }
        next += 1;
    }
    order
}

/// Even a task that took no time makes its path longer.
fn milliseconds(seconds: f64) -> u64 {
    let duration = std::time::Duration::try_from_secs_f64(seconds).unwrap_or_default();
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX / 1_000_000).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(after: &[usize], seconds: f64) -> Task {
        Task { after: after.to_vec(), pool: None, seconds }
    }

    fn pooled(pool: &str) -> Task {
        Task { pool: Some(pool.to_owned()), ..Task::default() }
    }

    fn limits(at_once: usize) -> Limits {
        Limits { at_once, pools: BTreeMap::from([("pve1".to_owned(), 1)]) }
    }

    fn started(schedule: &mut Schedule) -> Vec<usize> {
        std::iter::from_fn(|| schedule.start_next()).collect()
    }

    #[test]
    fn what_has_the_longest_path_behind_it_starts_first() {
        let tasks = vec![task(&[], 1.0), task(&[], 2.0), task(&[0], 9.0), task(&[], 5.0)];

        let mut schedule = Schedule::new(tasks, limits(8));

        assert_eq!(started(&mut schedule), [0, 3, 1]);
    }

    #[test]
    fn nothing_starts_before_all_it_waits_for_have_ended() {
        let mut schedule = Schedule::new(vec![task(&[], 1.0), task(&[], 1.0), task(&[0, 1], 1.0)], limits(8));
        assert_eq!(started(&mut schedule), [0, 1]);

        schedule.finish(1);
        let too_early = started(&mut schedule);
        schedule.finish(0);

        assert_eq!((too_early, started(&mut schedule)), (vec![], vec![2]));
    }

    #[test]
    fn no_more_run_at_once_than_allowed() {
        let mut schedule = Schedule::new(vec![Task::default(); 3], limits(2));
        assert_eq!(started(&mut schedule), [0, 1]);

        schedule.finish(0);

        assert_eq!(started(&mut schedule), [2]);
    }

    #[test]
    fn a_full_pool_does_not_keep_others_from_starting() {
        let tasks = vec![pooled("pve1"), pooled("pve1"), Task::default(), pooled("free")];
        let mut schedule = Schedule::new(tasks, limits(3));
        assert_eq!(started(&mut schedule), [0, 2, 3]);

        schedule.finish(0);

        assert_eq!(started(&mut schedule), [1]);
    }

    #[test]
    fn a_task_that_was_set_aside_leaves_its_worker_to_others_and_still_holds_back_dependents() {
        let mut schedule = Schedule::new(vec![task(&[], 1.0), task(&[0], 1.0), Task::default()], limits(1));
        assert_eq!(started(&mut schedule), [0]);

        schedule.set_aside(0);
        let meanwhile = started(&mut schedule);
        schedule.finish(2);
        let held_back = started(&mut schedule);
        schedule.resume(0);

        assert_eq!((meanwhile, held_back, started(&mut schedule)), (vec![2], vec![], vec![0]));
    }

    #[test]
    fn durations_that_are_no_times_do_no_harm() {
        let tasks = vec![task(&[], f64::NAN), task(&[], -1.0), task(&[], 3.0)];

        let mut schedule = Schedule::new(tasks, limits(8));

        assert_eq!(started(&mut schedule), [2, 0, 1]);
    }

    #[test]
    fn whatever_the_edges_every_task_runs_once_and_in_order() {
        for seed in 0_usize..200 {
            let random = |index: usize, salt: usize| (seed * 31 + index * 17 + salt * 7) % 11;
            let edges = |index: usize| (0..index).filter(|earlier| random(index, *earlier) < 2).collect();
            let tasks: Vec<Task> =
                (0..25).map(|index| Task { after: edges(index), ..pooled("pve1") }).collect();
            let mut schedule = Schedule::new(tasks.clone(), limits(2));
            let mut done: Vec<usize> = Vec::new();

            while let Some(index) = schedule.start_next() {
                assert!(tasks[index].after.iter().all(|earlier| done.contains(earlier)));
                schedule.finish(index);
                done.push(index);
            }

            assert_eq!(done.len(), 25, "seed {seed}");
        }
    }
}
