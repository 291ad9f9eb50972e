//! The store in a local folder, under hundreds of random concurrent histories.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the product's rules, not the tests'"
)]

#[path = "support/history.rs"]
mod history;

use history::Faults;
use infra::model::Clock;
use infra::state::StateStore;
use jiff::Timestamp;

#[tokio::test]
async fn three_hundred_concurrent_histories_are_each_explained_by_one_order() {
    for seed in 0..300 {
        let folder = tempfile::tempdir().unwrap();
        let open = || StateStore::open_local(folder.path(), Clock::new(Timestamp::now)).unwrap();

        history::check(seed, 3 + seed as usize % 3, open, Faults::Excluded).await;
    }
}
