//! Concurrent histories of a store, checked against a model that knows no concurrency.
//!
//! Several clients, each with a store of its own on the same place, do random things at
//! once; every call and its answer is noted with the order of their beginnings and ends.
//! The history is right if there is one order of the calls that respects who ended before
//! whom, and in which the model gives the same answers. A call whose outcome is unknown may
//! have happened at any time after it began, or never.

#![allow(dead_code, reason = "each test file uses its own part")]

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use infra::state::{HeldLock, Locking, StateName, StateStore, Unlocking, Writing};
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};

/// How many calls each client makes.
const CALLS: usize = 7;

/// Whether calls may fail with an unknown outcome.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Faults {
    Excluded,
    Possible,
}

#[derive(Clone, Debug)]
enum Call {
    Lock(usize),
    Unlock(usize),
    ForceUnlock(usize),
    Write(Option<usize>, u64),
    Delete(Option<usize>),
    Read,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Answer {
    Granted,
    HeldBy(usize),
    Released,
    Repeated,
    NotLocked,
    Accepted,
    Stale,
    Content(Option<u64>),
}

#[derive(Debug)]
struct Event {
    call: Call,
    began: u64,
    /// When it ended and with what; nothing if that is unknown.
    ended: Option<(u64, Answer)>,
}

/// Runs one history and checks it.
pub async fn check(seed: u64, clients: usize, open: impl Fn() -> StateStore, faults: Faults) {
    let clock = Arc::new(AtomicU64::new(0));
    let running = (0..clients).map(|client| {
        let rng = StdRng::seed_from_u64(seed * 1000 + client as u64);
        tokio::spawn(act(open(), Arc::clone(&clock), rng, clients, client))
    });
    let mut events = Vec::new();
    for client in running.collect::<Vec<_>>() {
        events.extend(client.await.unwrap());
    }
    if faults == Faults::Excluded {
        assert!(events.iter().all(|event| event.ended.is_some()), "seed {seed}: {events:#?}");
    }
    assert!(is_explained(&events), "no order explains the history of seed {seed}: {events:#?}");
}

async fn act(
    store: StateStore,
    clock: Arc<AtomicU64>,
    mut rng: StdRng,
    clients: usize,
    own: usize,
) -> Vec<Event> {
    let mut events = Vec::new();
    for step in 0..CALLS {
        let call = random_call(&mut rng, clients, own, (own * 100 + step) as u64);
        let began = clock.fetch_add(1, Ordering::SeqCst);
        let answer = perform(&store, &call).await;
        let ended = answer.map(|answer| (clock.fetch_add(1, Ordering::SeqCst), answer));
        events.push(Event { call, began, ended });
    }
    events
}

fn random_call(rng: &mut StdRng, clients: usize, own: usize, value: u64) -> Call {
    let id = |rng: &mut StdRng| if rng.gen_ratio(1, 4) { None } else { Some(own) };
    match rng.gen_range(0..12) {
        0..=3 => Call::Lock(own),
        4 | 5 => Call::Unlock(own),
        6 => Call::ForceUnlock(rng.gen_range(0..clients)),
        7 | 8 => Call::Write(id(rng), value),
        9 => Call::Delete(id(rng)),
        _ => Call::Read,
    }
}

async fn perform(store: &StateStore, call: &Call) -> Option<Answer> {
    let state = StateName::parse("history").unwrap();
    let text = |id: &Option<usize>| id.map(|id| id.to_string());
    match call {
        Call::Lock(id) => match store.lock(&state, &lock(*id)).await.ok()? {
            Locking::Granted => Some(Answer::Granted),
            Locking::Held(held) | Locking::Moved(held) => Some(Answer::HeldBy(number(&held))),
        },
        Call::Unlock(id) => store.unlock(&state, &id.to_string()).await.ok().map(unlocking),
        Call::ForceUnlock(id) => store.force_unlock(&state, &id.to_string()).await.ok().map(unlocking),
        Call::Write(id, value) => {
            store.write(&state, text(id).as_deref(), value.to_string().into()).await.ok().map(writing)
        }
        Call::Delete(id) => store.delete(&state, text(id).as_deref()).await.ok().map(writing),
        Call::Read => {
            let content = store.read(&state).await.ok()?;
            Some(Answer::Content(content.map(|bytes| std::str::from_utf8(&bytes).unwrap().parse().unwrap())))
        }
    }
}

fn unlocking(answer: Unlocking) -> Answer {
    match answer {
        Unlocking::Released(_) => Answer::Released,
        Unlocking::Repeated => Answer::Repeated,
        Unlocking::NotLocked => Answer::NotLocked,
        Unlocking::Held(held) | Unlocking::OfAnother(held) | Unlocking::Moved(held) => {
            Answer::HeldBy(number(&held))
        }
    }
}

fn writing(answer: Writing) -> Answer {
    match answer {
        Writing::Accepted => Answer::Accepted,
        Writing::Stale => Answer::Stale,
        Writing::Locked(held) | Writing::OfAnother(held) | Writing::Moved(held, _) => {
            Answer::HeldBy(number(&held))
        }
    }
}

fn lock(id: usize) -> HeldLock {
    HeldLock::from_client(format!("{{\"ID\":\"{id}\"}}").as_bytes(), None).unwrap()
}

fn number(held: &HeldLock) -> usize {
    held.id().parse().unwrap()
}

/// What a state is, without any concurrency.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Model {
    lock: Option<usize>,
    released: Option<usize>,
    content: Option<u64>,
}

impl Model {
    fn apply(&mut self, call: &Call) -> Answer {
        match call {
            Call::Read => Answer::Content(self.content),
            Call::Lock(id) => self.take(*id),
            Call::Unlock(id) => self.give_back(*id, Some(*id)),
            Call::ForceUnlock(id) => self.give_back(*id, None),
            Call::Write(id, value) => self.change(*id, Some(*value)),
            Call::Delete(id) => self.change(*id, None),
        }
    }

    fn take(&mut self, id: usize) -> Answer {
        match self.lock {
            Some(held) if held != id => Answer::HeldBy(held),
            Some(_) => Answer::Granted,
            None => {
                (self.lock, self.released) = (Some(id), None);
                Answer::Granted
            }
        }
    }

    fn give_back(&mut self, id: usize, released: Option<usize>) -> Answer {
        match self.lock {
            Some(held) if held == id => {
                (self.lock, self.released) = (None, released);
                Answer::Released
            }
            Some(held) => Answer::HeldBy(held),
            None if self.released == Some(id) => Answer::Repeated,
            None => Answer::NotLocked,
        }
    }

    fn change(&mut self, id: Option<usize>, content: Option<u64>) -> Answer {
        match (self.lock, id) {
            (Some(held), id) if id != Some(held) => Answer::HeldBy(held),
            (None, Some(_)) => Answer::Stale,
            _ => {
                self.content = content;
                Answer::Accepted
            }
        }
    }
}

/// Looks for an order of the calls in which the model answers as the store did.
fn is_explained(events: &[Event]) -> bool {
    assert!(events.len() <= 64);
    let mut tried = HashSet::new();
    search(events, 0, &Model::default(), &mut tried)
}

fn search(events: &[Event], done: u64, model: &Model, tried: &mut HashSet<(u64, Model)>) -> bool {
    let is_open = |index: usize| done & (1 << index) == 0;
    let must: Vec<usize> =
        (0..events.len()).filter(|index| is_open(*index) && events[*index].ended.is_some()).collect();
    if must.is_empty() {
        return true;
    }
    if !tried.insert((done, model.clone())) {
        return false;
    }
    // Whatever comes next began before the first of the open calls ended.
    let first_end = must.iter().filter_map(|index| Some(events[*index].ended.as_ref()?.0)).min().unwrap();
    (0..events.len()).filter(|index| is_open(*index) && events[*index].began < first_end).any(|index| {
        let mut next = model.clone();
        let answer = next.apply(&events[index].call);
        let fits = events[index].ended.as_ref().is_none_or(|(_, told)| *told == answer);
        fits && search(events, done | (1 << index), &next, tried)
    })
}

#[test]
fn the_check_finds_a_history_that_no_order_explains() {
    let event = |call, began, ended, answer| Event { call, began, ended: Some((ended, answer)) };
    let both_won =
        vec![event(Call::Lock(0), 0, 2, Answer::Granted), event(Call::Lock(1), 1, 3, Answer::Granted)];
    let lost = vec![
        event(Call::Write(None, 7), 0, 1, Answer::Accepted),
        event(Call::Read, 2, 3, Answer::Content(None)),
    ];
    let overlapping = vec![
        event(Call::Write(None, 7), 0, 3, Answer::Accepted),
        event(Call::Read, 1, 2, Answer::Content(None)),
    ];

    assert!(!is_explained(&both_won));
    assert!(!is_explained(&lost));
    assert!(is_explained(&overlapping));
}
