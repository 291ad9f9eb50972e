//! The state store through its own interface: locks, fences and versions.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the product's rules, not the tests'"
)]

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use infra::model::Clock;
use infra::state::{
    Claim, HeldLock, Locking, Mark, Retention, StateName, StateStatus, StateStore, Unlocking, Writing,
};
use jiff::{SignedDuration, Timestamp};
use object_store::memory::InMemory;

const CLOCK: Clock = Clock::new(Timestamp::now);

fn open(folder: &Path) -> StateStore {
    StateStore::open_local(folder, CLOCK).unwrap()
}

fn name(text: &str) -> StateName {
    StateName::parse(text).unwrap()
}

fn lock(id: &str) -> HeldLock {
    HeldLock::from_client(format!("{{\"ID\":\"{id}\"}}").as_bytes(), None).unwrap()
}

async fn write(store: &StateStore, name: &StateName, lock: Option<&str>, text: &str) -> Writing {
    store.write(name, lock, text.to_owned().into()).await.unwrap()
}

async fn text_of(store: &StateStore, name: &StateName) -> Option<String> {
    store.read(name).await.unwrap().map(|bytes| String::from_utf8(bytes.to_vec()).unwrap())
}

#[tokio::test]
async fn a_state_is_there_for_the_next_process() {
    let folder = tempfile::tempdir().unwrap();
    let name = name("01-größe/k8s prod");
    assert_eq!(text_of(&open(folder.path()), &name).await, None);

    write(&open(folder.path()), &name, None, "one").await;
    open(folder.path()).lock(&name, &lock("L")).await.unwrap();

    assert_eq!(text_of(&open(folder.path()), &name).await.as_deref(), Some("one"));
    assert_eq!(open(folder.path()).lock_of(&name).await.unwrap(), Some(lock("L")));
    assert_eq!(open(folder.path()).list().await.unwrap(), [name]);
}

#[tokio::test]
async fn of_many_lockers_in_two_stores_on_one_folder_exactly_one_wins() {
    let folder = tempfile::tempdir().unwrap();
    let stores = [open(folder.path()), open(folder.path())];

    let attempts = (0..32).map(|number: usize| {
        let store = stores[number % 2].clone();
        tokio::spawn(async move { store.lock(&name("a"), &lock(&number.to_string())).await.unwrap() })
    });
    let answers = futures::future::join_all(attempts.collect::<Vec<_>>()).await;

    let winner = stores[0].lock_of(&name("a")).await.unwrap().unwrap();
    let granted = answers.iter().filter(|answer| *answer.as_ref().unwrap() == Locking::Granted).count();
    let told =
        answers.iter().filter(|answer| *answer.as_ref().unwrap() == Locking::Held(winner.clone())).count();
    assert_eq!((granted, told), (1, 31));
}

#[tokio::test]
async fn writers_without_a_lock_on_one_folder_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let stores = [open(folder.path()), open(folder.path())];

    let writers = (0..16).map(|number: usize| {
        let store = stores[number % 2].clone();
        tokio::spawn(async move { write(&store, &name("a"), None, &number.to_string()).await })
    });
    let answers = futures::future::join_all(writers.collect::<Vec<_>>()).await;

    assert!(answers.iter().all(|answer| *answer.as_ref().unwrap() == Writing::Accepted));
    let mut seen = Vec::new();
    for version in stores[0].versions(&name("a")).await.unwrap() {
        seen.push(stores[1].read_version(&name("a"), version.number).await.unwrap().unwrap());
    }
    seen.sort_by_key(|text| String::from_utf8_lossy(text).parse::<usize>().unwrap());
    assert_eq!(seen, (0..16).map(|number| number.to_string()).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_write_needs_the_lock_that_is_held() {
    let store = StateStore::new(Arc::new(InMemory::new()), CLOCK);
    let name = name("a");
    store.lock(&name, &lock("A")).await.unwrap();

    assert_eq!(write(&store, &name, None, "x").await, Writing::Locked(lock("A")));
    assert_eq!(write(&store, &name, Some("B"), "x").await, Writing::Locked(lock("A")));
    assert_eq!(store.delete(&name, None).await.unwrap(), Writing::Locked(lock("A")));
    assert_eq!(write(&store, &name, Some("A"), "x").await, Writing::Accepted);
    assert_eq!(text_of(&store, &name).await.as_deref(), Some("x"));
}

#[tokio::test]
async fn after_a_forced_unlock_the_old_writer_is_refused() {
    let store = StateStore::new(Arc::new(InMemory::new()), CLOCK);
    let name = name("a");
    store.lock(&name, &lock("A")).await.unwrap();
    write(&store, &name, Some("A"), "before").await;

    assert_eq!(store.force_unlock(&name, "A").await.unwrap(), Unlocking::Released(lock("A")));

    assert_eq!(write(&store, &name, Some("A"), "after").await, Writing::Stale);
    assert_eq!(store.delete(&name, Some("A")).await.unwrap(), Writing::Stale);
    assert_eq!(store.unlock(&name, "A").await.unwrap(), Unlocking::NotLocked);
    assert_eq!(text_of(&store, &name).await.as_deref(), Some("before"));
}

#[tokio::test]
async fn nothing_is_accepted_from_a_writer_that_raced_a_forced_unlock() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    for round in 0..40 {
        let name = name(&format!("round-{round}"));
        store.lock(&name, &lock("A")).await.unwrap();
        let writer = tokio::spawn({
            let (store, name) = (store.clone(), name.clone());
            async move {
                for _ in 0..1000 {
                    if write(&store, &name, Some("A"), "mine").await != Writing::Accepted {
                        break;
                    }
                }
            }
        });

        store.force_unlock(&name, "A").await.unwrap();
        let versions = store.versions(&name).await.unwrap();
        writer.await.unwrap();

        assert_eq!(store.versions(&name).await.unwrap(), versions);
    }
}

#[tokio::test]
async fn a_late_unlock_never_takes_the_lock_of_the_next_holder() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let name = name("a");
    for _ in 0..40 {
        store.lock(&name, &lock("A")).await.unwrap();
        let late = tokio::spawn({
            let (store, name) = (store.clone(), name.clone());
            async move { store.unlock(&name, "A").await.unwrap() }
        });

        store.force_unlock(&name, "A").await.unwrap();
        assert_eq!(store.lock(&name, &lock("B")).await.unwrap(), Locking::Granted);
        late.await.unwrap();

        assert_eq!(store.unlock(&name, "B").await.unwrap(), Unlocking::Released(lock("B")));
    }
}

#[tokio::test]
async fn repeating_a_lock_or_an_unlock_changes_nothing() {
    let store = StateStore::new(Arc::new(InMemory::new()), CLOCK);
    let name = name("a");

    assert_eq!(store.unlock(&name, "A").await.unwrap(), Unlocking::NotLocked);
    assert_eq!(store.lock(&name, &lock("A")).await.unwrap(), Locking::Granted);
    assert_eq!(store.lock(&name, &lock("A")).await.unwrap(), Locking::Granted);
    assert_eq!(store.unlock(&name, "B").await.unwrap(), Unlocking::Held(lock("A")));
    assert_eq!(store.unlock(&name, "A").await.unwrap(), Unlocking::Released(lock("A")));
    assert_eq!(store.unlock(&name, "A").await.unwrap(), Unlocking::Repeated);
}

#[tokio::test]
async fn a_deleted_state_keeps_its_lock_and_its_versions() {
    let store = StateStore::new(Arc::new(InMemory::new()), CLOCK);
    let name = name("a");
    store.lock(&name, &lock("A")).await.unwrap();
    write(&store, &name, Some("A"), "one").await;

    assert_eq!(store.delete(&name, Some("A")).await.unwrap(), Writing::Accepted);

    let versions = store.versions(&name).await.unwrap();
    assert_eq!(text_of(&store, &name).await, None);
    assert_eq!(store.list().await.unwrap(), []);
    assert_eq!(store.locks().await.unwrap()[0].lock, lock("A"));
    assert_eq!(store.read_version(&name, versions[0].number).await.unwrap().unwrap(), "one");
    assert_eq!(store.read_version(&name, versions[0].number - 1).await.unwrap(), None);
}

#[tokio::test]
async fn names_that_lie_within_each_other_are_apart() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let names = ["a", "a/@log", "a/b", "a/lock", "a/log", "lock"].map(name);

    for name in &names {
        write(&store, name, None, name.as_str()).await;
    }

    assert_eq!(store.list().await.unwrap(), names);
    for name in &names {
        assert_eq!(text_of(&store, name).await.as_deref(), Some(name.as_str()));
    }
}

#[tokio::test]
async fn a_lock_without_an_owner_is_anybodys_who_knows_its_id() {
    let store = StateStore::new(Arc::new(InMemory::new()), CLOCK);
    let (name, user) = (name("a"), |user: &str| Some(user.to_owned()));
    let claim = |owner| Claim { lock_id: Some("A".to_owned()), user: user(owner) };
    store.lock(&name, &lock("A")).await.unwrap();

    let written = store.write_as(&name, &claim("kim"), "one".into()).await.unwrap();
    let released = store.unlock_as(&name, &claim("kim")).await.unwrap();

    assert_eq!((written, released), (Writing::Accepted, Unlocking::Released(lock("A"))));
    let owned = lock("A").owned_by(user("dana"));
    assert_eq!(store.lock(&name, &owned).await.unwrap(), Locking::Granted);
    assert_eq!(store.unlock_as(&name, &claim("kim")).await.unwrap(), Unlocking::OfAnother(owned.clone()));
    assert_eq!(store.unlock(&name, "A").await.unwrap(), Unlocking::Released(owned));
}

#[tokio::test]
async fn states_in_a_folder_that_was_open_are_closed_to_others() {
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let root = tempfile::tempdir().unwrap();
    std::fs::set_permissions(root.path(), Permissions::from_mode(0o755)).unwrap();
    std::fs::create_dir(root.path().join("01-a")).unwrap();
    std::fs::set_permissions(root.path().join("01-a"), Permissions::from_mode(0o755)).unwrap();
    let store = open(root.path());

    store.lock(&name("01-a/x"), &lock("A")).await.unwrap();
    write(&store, &name("01-a/x"), Some("A"), "one").await;
    store.keep_copy(&name("01-a/x"), "copy".into()).await.unwrap();

    let log = root.path().join("01-a/x/@log");
    assert_eq!(mode(root.path()), 0o755);
    for folder in [root.path().join("01-a"), root.path().join("01-a/x"), log.clone()] {
        assert_eq!(mode(&folder), 0o700, "{}", folder.display());
    }
    let entries: Vec<_> = std::fs::read_dir(log).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(entries.len(), 2, "{entries:?}");
    for file in entries.iter().chain([&root.path().join("@applied/01-a/x/@copy")]) {
        assert_eq!(mode(file), 0o600, "{}", file.display());
    }
}

/// Returns every file and folder below a folder, with its mode.
fn modes_below(folder: &Path) -> Vec<(std::path::PathBuf, u32)> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut found = Vec::new();
    for path in entries {
        let facts = std::fs::metadata(&path).unwrap();
        found.push((path.clone(), facts.permissions().mode() & 0o7777));
        if facts.is_dir() {
            found.extend(modes_below(&path));
        }
    }
    found
}

#[tokio::test]
async fn a_folder_that_a_group_shares_keeps_its_mode_and_the_group_can_use_what_is_in_it() {
    let root = tempfile::tempdir().unwrap();
    let set = |path: &Path, mode| std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    let made = root.path().join("01-a");
    std::fs::create_dir(&made).unwrap();
    [root.path(), &made].into_iter().for_each(|path| set(path, 0o2775));
    let store = open(root.path());

    store.lock(&name("01-a/x"), &lock("A")).await.unwrap();
    write(&store, &name("01-a/x"), Some("A"), "one").await;
    write(&store, &name("02-b/y"), None, "two").await;
    store.keep_copy(&name("01-a/x"), "copy".into()).await.unwrap();

    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    assert_eq!((mode(root.path()), mode(&made)), (0o2775, 0o2775));
    let found = modes_below(root.path());
    assert!(found.len() > 8, "{found:?}");
    for (path, mode) in found.iter().filter(|(path, _)| *path != made) {
        let expected = if path.is_dir() { 0o2770 } else { 0o660 };
        assert_eq!(*mode, expected, "{}: {mode:o}", path.display());
    }
}

#[tokio::test]
async fn a_folder_that_is_shared_in_another_way_keeps_its_mode_and_what_is_made_in_it_is_private() {
    for mode in [0o775, 0o2755, 0o2750, 0o770] {
        let root = tempfile::tempdir().unwrap();
        let made = root.path().join("01-a");
        std::fs::create_dir(&made).unwrap();
        std::fs::set_permissions(&made, Permissions::from_mode(mode)).unwrap();

        write(&open(root.path()), &name("01-a/x"), None, "one").await;

        let found = modes_below(root.path());
        for (path, found) in &found {
            let expected = match path.is_dir() {
                _ if *path == made => mode,
                // A folder in a setgid one has that bit from the system.
                true => 0o700 | mode & 0o2000,
                false => 0o600,
            };
            assert_eq!(*found, expected, "{}: {found:o}", path.display());
        }
    }
}

#[tokio::test]
async fn old_versions_go_and_the_newest_stay() {
    static HOURS: AtomicI64 = AtomicI64::new(0);
    let clock = Clock::new(|| Timestamp::now() + SignedDuration::from_hours(HOURS.load(Ordering::SeqCst)));
    let folder = tempfile::tempdir().unwrap();
    let retention = Retention { count: 2, age: SignedDuration::from_hours(24), most: 100 };
    let store = StateStore::open_local(folder.path(), clock).unwrap().with_retention(retention);
    let name = name("a");
    for text in ["1", "2", "3", "4"] {
        store.lock(&name, &lock("A")).await.unwrap();
        write(&store, &name, Some("A"), text).await;
        store.unlock(&name, "A").await.unwrap();
    }
    let files = || std::fs::read_dir(folder.path().join("a/@log")).unwrap().count();
    assert_eq!((store.versions(&name).await.unwrap().len(), files()), (4, 12));

    HOURS.store(48, Ordering::SeqCst);
    write(&store, &name, None, "5").await;

    let kept: Vec<u64> = store.versions(&name).await.unwrap().iter().map(|version| version.number).collect();
    assert_eq!((kept, files()), (vec![11, 13], 2));
    assert_eq!(store.read_version(&name, 11).await.unwrap().unwrap(), "4");
    assert_eq!(text_of(&store, &name).await.as_deref(), Some("5"));
}

#[tokio::test]
async fn a_change_that_slept_too_long_is_not_acknowledged() {
    static ASLEEP: AtomicBool = AtomicBool::new(false);
    static CALLS: AtomicI64 = AtomicI64::new(0);
    let clock = Clock::new(|| {
        let hours = if ASLEEP.load(Ordering::SeqCst) { CALLS.fetch_add(2, Ordering::SeqCst) } else { 0 };
        Timestamp::UNIX_EPOCH + SignedDuration::from_hours(hours)
    });
    let store = StateStore::new(Arc::new(InMemory::new()), clock);
    let name = name("a");
    store.lock(&name, &lock("A")).await.unwrap();

    ASLEEP.store(true, Ordering::SeqCst);
    let outcome = store.write(&name, Some("A"), "late".into()).await;

    assert!(outcome.unwrap_err().message().contains("took too long"));
}

#[tokio::test]
async fn a_damaged_entry_is_reported_and_never_served() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    write(&store, &name("a"), None, "one").await;
    std::fs::write(folder.path().join("a/@log/00000000000000000002"), "infra-state-1 {").unwrap();

    let error = store.read(&name("a")).await.unwrap_err();
    let shown = error.to_string();
    std::fs::remove_file(folder.path().join("a/@log/00000000000000000002")).unwrap();

    assert!(shown.starts_with("entry 2 of the state `a` cannot be read\n"), "{shown}");
    for part in ["it is cut off", "at `a/@log/00000000000000000002` in the store", "move that entry"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert_eq!(text_of(&store, &name("a")).await.as_deref(), Some("one"));
}

#[tokio::test]
async fn an_entry_that_a_power_cut_emptied_leaves_things_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    store.lock(&name("a"), &lock("A")).await.unwrap();
    write(&store, &name("a"), Some("A"), "one").await;
    std::fs::write(folder.path().join("a/@log/00000000000000000003"), "").unwrap();

    assert_eq!(store.lock_of(&name("a")).await.unwrap(), Some(lock("A")));
    assert_eq!(text_of(&store, &name("a")).await.as_deref(), Some("one"));
    assert_eq!(store.force_unlock(&name("a"), "A").await.unwrap(), Unlocking::Released(lock("A")));
    assert_eq!(write(&store, &name("a"), None, "two").await, Writing::Accepted);
    assert_eq!(text_of(&store, &name("a")).await.as_deref(), Some("two"));
}

fn under(id: &str) -> Claim {
    Claim { lock_id: Some(id.to_owned()), user: None }
}

fn moved_to(place: &str) -> Mark {
    Mark::Moved { to: place.to_owned() }
}

async fn mark(store: &StateStore, name: &StateName, claim: &Claim, mark: Mark) -> Writing {
    store.mark(name, claim, mark).await.unwrap()
}

#[tokio::test]
async fn a_moved_state_keeps_its_bytes_and_lets_nobody_write_lock_or_unlock() {
    let folder = tempfile::tempdir().unwrap();
    let (store, name) = (open(folder.path()), name("a"));
    write(&store, &name, None, "one").await;
    let held = HeldLock::from_client(br#"{"ID":"A","Who":"dana@laptop"}"#, None).unwrap();
    store.lock(&name, &held).await.unwrap();
    assert_eq!(mark(&store, &name, &Claim::default(), moved_to("x")).await, Writing::Locked(held.clone()));
    assert_eq!(mark(&store, &name, &under("B"), moved_to("x")).await, Writing::Locked(held));

    assert_eq!(mark(&store, &name, &under("A"), moved_to("s3://new")).await, Writing::Accepted);

    // Another process: nothing of it lives in memory alone.
    let store = open(folder.path());
    let status = store.status(&name).await.unwrap();
    let (lock, moved) = (status.lock.clone().unwrap(), status.moved.clone().unwrap());
    let info = lock.to_state_lock().info;
    assert_eq!((moved.to.as_str(), lock.moved_to().as_deref()), ("s3://new", Some("s3://new")));
    assert_eq!((info.who.as_str(), info.created_at()), ("dana@laptop", Some(moved.at)));
    assert_eq!((status.current, status.versions), (Some(1), 1));
    assert_eq!(text_of(&store, &name).await.as_deref(), Some("one"));
    for id in [Some("A"), Some(lock.id()), None] {
        assert_eq!(write(&store, &name, id, "two").await, Writing::Moved(lock.clone(), moved.clone()));
        assert_eq!(store.delete(&name, id).await.unwrap(), Writing::Moved(lock.clone(), moved.clone()));
    }
    for id in ["A", lock.id()] {
        assert_eq!(store.unlock(&name, id).await.unwrap(), Unlocking::Moved(lock.clone()));
        assert_eq!(store.force_unlock(&name, id).await.unwrap(), Unlocking::Moved(lock.clone()));
    }
    assert_eq!(store.lock(&name, &lock).await.unwrap(), Locking::Moved(lock.clone()));
    assert!(matches!(
        mark(&store, &name, &Claim::default(), Mark::OfProject("p".to_owned())).await,
        Writing::Moved(..)
    ));
    assert!(matches!(mark(&store, &name, &under("A"), moved_to("elsewhere")).await, Writing::Moved(..)));
    // The answer may have been lost: the same mark again is as good as the first.
    assert_eq!(mark(&store, &name, &under("A"), moved_to("s3://new")).await, Writing::Accepted);
    assert_eq!(store.status(&name).await.unwrap(), status);
    assert!(store.locks().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_moved_state_that_comes_back_is_as_it_was_and_free() {
    let store = StateStore::new(Arc::new(InMemory::new()), CLOCK);
    let name = name("a");
    write(&store, &name, None, "one").await;
    let before = store.status(&name).await.unwrap();
    assert_eq!(mark(&store, &name, &Claim::default(), Mark::Lifted).await, Writing::Accepted);
    mark(&store, &name, &Claim::default(), moved_to("x")).await;

    assert_eq!(mark(&store, &name, &Claim::default(), Mark::Lifted).await, Writing::Accepted);

    assert_eq!(store.status(&name).await.unwrap(), before);
    assert_eq!(write(&store, &name, None, "two").await, Writing::Accepted);
    store.lock(&name, &lock("A")).await.unwrap();
    mark(&store, &name, &Claim::default(), Mark::Lifted).await;
    assert_eq!(store.lock_of(&name).await.unwrap(), Some(lock("A")), "the lock of somebody was lifted");
}

#[tokio::test]
async fn a_state_left_behind_makes_room_for_a_new_one_and_keeps_its_versions() {
    let store = StateStore::new(Arc::new(InMemory::new()), CLOCK);
    let (one, two) = (name("a"), name("b"));
    write(&store, &one, None, "one").await;
    write(&store, &two, None, "one").await;
    mark(&store, &one, &Claim::default(), moved_to("x")).await;
    store.lock(&two, &lock("A")).await.unwrap();

    let held = mark(&store, &two, &Claim::default(), Mark::LeftBehind).await;
    let left = mark(&store, &one, &Claim::default(), Mark::LeftBehind).await;

    assert_eq!((held, left), (Writing::Locked(lock("A")), Writing::Accepted));
    let status = store.status(&one).await.unwrap();
    assert_eq!(status, StateStatus { versions: 1, left_behind: true, ..StateStatus::default() });
    assert_eq!(store.read_version(&one, 1).await.unwrap().unwrap(), "one");
    assert_eq!(text_of(&store, &one).await, None);
    write(&store, &one, None, "anew").await;
    assert!(!store.status(&one).await.unwrap().left_behind);
    assert_eq!(mark(&store, &two, &under("A"), Mark::LeftBehind).await, Writing::Accepted);
    assert_eq!(store.lock_of(&two).await.unwrap(), Some(lock("A")));
}

#[tokio::test]
async fn a_state_remembers_the_project_that_wrote_it() {
    let store = StateStore::new(Arc::new(InMemory::new()), CLOCK);
    let lab = store.clone().of_project(Some("lab".to_owned()));
    let name = name("a");
    let project = async || store.status(&name).await.unwrap().project;

    write(&store, &name, None, "one").await;
    assert_eq!(project().await, None);
    write(&lab, &name, None, "two").await;
    write(&store, &name, None, "three").await;
    assert_eq!(project().await.as_deref(), Some("lab"));
    mark(&store, &name, &Claim::default(), Mark::OfProject("home".to_owned())).await;
    assert_eq!(project().await.as_deref(), Some("home"));
    for broken in ["", " ", "a\nb", "\u{202e}x", &"x".repeat(5000)] {
        let refused = store.mark(&name, &Claim::default(), Mark::OfProject(broken.to_owned())).await;
        assert!(refused.is_err(), "{broken:?}");
    }
}

#[tokio::test]
async fn a_version_from_elsewhere_keeps_its_time_and_the_next_number() {
    let store = StateStore::new(Arc::new(InMemory::new()), CLOCK);
    let (name, at) = (name("a"), Timestamp::from_second(1_000_000_000).unwrap());
    write(&store, &name, None, "one").await;

    let written = store.write_version(&name, &Claim::default(), "older".into(), at).await.unwrap();

    let versions = store.versions(&name).await.unwrap();
    assert_eq!(written, Writing::Accepted);
    assert_eq!(versions.iter().map(|version| version.number).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(versions[1].at, at);
    assert_eq!(text_of(&store, &name).await.as_deref(), Some("older"));
    store.lock(&name, &lock("A")).await.unwrap();
    let refused = store.write_version(&name, &under("B"), "x".into(), at).await.unwrap();
    assert_eq!(refused, Writing::Locked(lock("A")));
}

#[tokio::test]
async fn of_marks_and_writes_that_race_one_place_wins_and_no_write_comes_after_it() {
    let folder = tempfile::tempdir().unwrap();
    let name = name("a");
    write(&open(folder.path()), &name, None, "start").await;
    let marks = (0..8).map(|number| {
        let (store, name) = (open(folder.path()), name.clone());
        tokio::spawn(async move {
            mark(&store, &name, &Claim::default(), moved_to(&format!("place-{number}"))).await
        })
    });
    let writes = (0..8).map(|number| {
        let (store, name) = (open(folder.path()), name.clone());
        tokio::spawn(async move { write(&store, &name, None, &format!("w{number}")).await })
    });
    let (marks, writes) = (marks.collect::<Vec<_>>(), writes.collect::<Vec<_>>());

    let marked = futures::future::join_all(marks).await;
    let written = futures::future::join_all(writes).await;

    let count = |answers: &[Result<Writing, _>]| {
        answers.iter().filter(|answer| *answer.as_ref().unwrap() == Writing::Accepted).count()
    };
    let status = open(folder.path()).status(&name).await.unwrap();
    assert_eq!(count(&marked), 1, "{marked:?}");
    assert_eq!(status.versions, 1 + count(&written));
    assert!(status.moved.is_some());
}
