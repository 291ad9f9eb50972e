//! Drives the work of many stacks in one task: starts what the schedule allows, waits
//! for whichever ends first.
//!
//! Nothing is spawned, so a run that is dropped leaves nothing running, and one stack
//! alone costs no more than before.

use std::future::Future;

use futures::stream::{FuturesUnordered, StreamExt};

use super::schedule::Schedule;

/// How a turn of a stack ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum TurnEnd {
    /// It has its result.
    Ended,
    /// A person must be asked before it can go on.
    SetAside,
}

/// Works until nothing runs and nothing can start.
pub(super) async fn work_through<F>(schedule: &mut Schedule, work: impl Fn(usize) -> F)
where
    F: Future<Output = TurnEnd>,
{
    let mut running = FuturesUnordered::new();
    loop {
        while let Some(index) = schedule.start_next() {
            let turn = work(index);
            running.push(async move { (index, turn.await) });
        }
        match running.next().await {
            Some((index, TurnEnd::Ended)) => schedule.finish(index),
            Some((index, TurnEnd::SetAside)) => schedule.set_aside(index),
            None => return,
        }
    }
}
