//! States and their locks in an object store, and OpenTofu's http backend in front of them.
//!
//! `store` keeps named states ([`StateStore`]), in one of its `places`; `server` speaks the protocol
//! of `backend "http"` ([`Server`]); `client` asks such servers ([`RemoteState`]); [`Embedded`] is the
//! server inside a run. Nothing here knows of stacks or of tofu.
//!
//! # Why a log
//!
//! Each state is a log of numbered entries, `<name>/@log/00000000000000000012`. Taking a
//! lock, releasing it, writing and deleting each add one entry; each entry repeats the
//! whole situation, so the newest says who holds the lock and where the current state is.
//! The only operation a store must offer is *create this key unless it exists*: a
//! rename that replaces nothing in a local folder, `If-None-Match: *` in a bucket.
//!
//! A change reads the newest entry N, decides, and creates N+1. If that number is taken,
//! somebody else changed something since the decision; it is decided again. So every
//! change happens exactly in the situation it was decided on, whatever processes, hosts
//! or crashes are between the two steps:
//! - Of many that want the lock one creates N+1, the others then read that it is held.
//! - A writer whose lock is released by force while its write is under way finds N+1
//!   taken, reads that its lock is gone and is refused. No separate fence is needed.
//! - An unlock can only remove the lock it looked at. With the lock as an object of its
//!   own that would need a conditional delete, which stores do not offer: the unlock of
//!   A could remove the lock that B took after A's had been released by force.
//! - A crash leaves either no entry or a whole one: there is no half-done change to
//!   repair. A file the local store was still filling has a name that is no entry's.
//!
//! A process that knew entry N as the newest a few minutes ago does not look for a newer one before
//! it creates N+1: that the number was free proves that it was right. Only an answer that adds no
//! entry, such as a refusal, needs the look. So a change is one access to the store, not two.
//!
//! A state and a deletion are on disk before they are acknowledged. Locking and releasing
//! are not flushed, for speed: after a power cut a lock may be gone or there again, or its
//! entry may be there empty, which no entry ever is otherwise; such a one counts as a
//! number only. A writer whose lock was lost that way is refused like any other.
//!
//! A listing that lags behind costs a retry, never a lost write.
//!
//! Over a network an answer can be lost although the entry was stored, and a repeated
//! request then meets its own entry. Each attempt to change something carries a random
//! text, so that the entry under the wanted number tells who wrote it: it is read back and
//! compared before anything is said or repeated.
//!
//! # Numbers are never reused
//!
//! Superseded entries are pruned, which would let a writer that slept since it read N
//! create N+1 a second time, long after the first N+1 came and went. Two rules exclude
//! it: an entry is pruned three hours after it was stored at the earliest, and a change
//! that took more than an hour is not acknowledged. Its entry does no harm, since the
//! newest is never pruned: it lies below the newest and no version list names it.

mod client;
mod embedded;
mod held_lock;
mod lock_holder;
mod moved;
mod name;
mod percent;
mod server;
mod store;

pub use crate::aws::{AwsSettings, AwsSource, AwsSources};
pub use client::{CopySupport, MarkOutcome, RemoteState, RemoteVersions};
pub use embedded::Embedded;
pub use held_lock::HeldLock;
pub use lock_holder::holder_is_alive;
pub use moved::Moved;
pub use name::StateName;
pub use server::{
    AuditFile, AuditSink, Credentials, Limits, Right, Rights, Server, Service, TimeLimits, Tls, Users,
    hash_password,
};
pub use store::{
    Bucket, Claim, LockedState, Locking, Mark, Probe, ProbeCheck, Retention, StateStatus, StateStore,
    StateSummary, StorePlace, Unlocking, Version, Writing, new_lock_id, open_bucket,
};
