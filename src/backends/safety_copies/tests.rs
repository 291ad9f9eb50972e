//! Safety copies as files: what is kept, what stays, what goes, what is not believed.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::*;

const NOW: Clock = Clock::new(|| Timestamp::UNIX_EPOCH);
const LATER: Clock = Clock::new(|| Timestamp::UNIX_EPOCH + SignedDuration::from_hours(91 * 24));
const LINEAGE: &str = "3f1c2a52-0b51-4f6e-9b0a-2f6c1f0d7a11";

struct Home {
    dir: tempfile::TempDir,
    env: Environment,
}

impl Home {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let env = Environment::default().with("XDG_STATE_HOME", dir.path());
        Self { dir, env }
    }

    fn copies(&self) -> SafetyCopies {
        self.at(NOW)
    }

    fn at(&self, clock: Clock) -> SafetyCopies {
        SafetyCopies::of(&self.env, Copies::UpTo(100), clock).expect("a home")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join("infra/copies").join(name)
    }

    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path("")).expect("a folder");
        let mut names: Vec<String> = entries.flatten().map(|entry| file_name(&entry.path())).collect();
        names.retain(|name| name != "turn");
        names.sort();
        names
    }
}

fn facts(root: &str, serial: u64) -> CopyFacts {
    CopyFacts {
        project: Some("lab".to_owned()),
        root: PathBuf::from(root),
        stack: StackId::new("01-a/x"),
        lineage: LINEAGE.to_owned(),
        serial,
        written: Timestamp::UNIX_EPOCH,
    }
}

fn of_lineage(lineage: &str) -> CopyFacts {
    CopyFacts { lineage: lineage.to_owned(), ..facts("/one", 1) }
}

#[test]
fn a_copy_is_found_by_its_lineage_and_closed_to_others() {
    let home = Home::new();
    let bytes = b"\xffas it lies\0";

    assert_eq!(home.copies().keep(&facts("/one", 7), bytes).expect("kept"), Copying::Kept);

    let copy = home.copies().find(LINEAGE).expect("a folder").expect("a copy");
    assert_eq!((&copy.facts, copy.size), (&facts("/one", 7), bytes.len() as u64));
    assert_eq!(home.copies().read(&copy).expect("bytes").as_slice(), bytes);
    assert_eq!(home.copies().all().expect("a folder"), [copy]);
    assert_eq!(home.copies().find("another").expect("a folder"), None);
    for name in home.names() {
        let mode = std::fs::metadata(home.path(&name)).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

#[test]
fn nothing_is_kept_where_it_is_not_wanted_or_has_no_home() {
    let home = Home::new();

    assert!(SafetyCopies::of(&home.env, Copies::Off, NOW).is_none());
    assert!(SafetyCopies::of(&Environment::default(), Copies::default(), NOW).is_none());
    let large = home.copies().keep(&facts("/one", 1), &[0; 101]).expect("no error");

    assert_eq!(large, Copying::TooLarge(100));
    assert!(home.copies().all().expect("no folder").is_empty() && !home.path("").exists());
}

#[test]
fn a_newer_state_takes_the_place_and_leaves_one_pair_of_files() {
    let home = Home::new();
    for (serial, text) in [(1, "one"), (2, "two"), (2, "two"), (3, "one")] {
        home.copies().keep(&facts("/one", serial), text.as_bytes()).expect("kept");
    }

    let copy = home.copies().find(LINEAGE).expect("a folder").expect("a copy");

    assert_eq!(
        (copy.facts.serial, home.copies().read(&copy).expect("bytes").as_slice()),
        (3, b"one".as_slice())
    );
    assert_eq!(home.names().len(), 2, "{:?}", home.names());
}

#[test]
fn another_checkout_takes_the_place_only_of_what_is_not_newer() {
    let home = Home::new();
    let keep = |root, serial| home.copies().keep(&facts(root, serial), b"state").expect("no error");
    assert_eq!(keep("/one", 5), Copying::Kept);

    assert!(matches!(keep("/two", 4), Copying::NewerThere(newer) if newer.facts == facts("/one", 5)));
    assert_eq!(keep("/two", 5), Copying::Kept);
    assert_eq!(keep("/two", 3), Copying::Kept, "a checkout may go back by itself");
}

#[test]
fn what_was_written_ninety_days_ago_goes() {
    let home = Home::new();
    home.copies().keep(&of_lineage("old"), b"old").expect("kept");
    std::fs::write(home.path("crashed.0123456789abcdef.state"), "bytes without a record").expect("a file");
    let young = CopyFacts { written: LATER.now(), ..of_lineage("young") };

    home.at(LATER).keep(&young, b"young").expect("kept");

    assert_eq!(
        home.copies().all().expect("a folder").iter().map(|copy| &copy.facts).collect::<Vec<_>>(),
        [&young]
    );
    assert_eq!(home.names().len(), 2, "{:?}", home.names());
}

#[test]
fn any_text_is_a_lineage_and_none_leaves_the_folder() {
    let home = Home::new();
    let long = "x".repeat(300);
    let odd =
        ["", ".", "..", "../../etc/x", "/etc/x", "A", "a", "a\0b", "ü", "-a", &long, "hashed-a", "a.state"];
    for (number, lineage) in odd.into_iter().enumerate() {
        home.copies().keep(&of_lineage(lineage), number.to_string().as_bytes()).expect("kept");
    }

    for (number, lineage) in odd.into_iter().enumerate() {
        let copy = home.copies().find(lineage).expect("a folder").expect("a copy");
        assert_eq!(home.copies().read(&copy).expect("bytes").as_slice(), number.to_string().as_bytes());
    }
    assert_eq!(home.copies().all().expect("a folder").len(), odd.len());
    assert_eq!(home.names().len(), 2 * odd.len());
    assert_eq!(std::fs::read_dir(home.dir.path()).expect("a folder").count(), 1);
}

#[test]
fn what_is_not_right_in_the_folder_is_skipped_and_hides_nothing() {
    let home = Home::new();
    home.copies().keep(&facts("/one", 1), b"state").expect("kept");
    let record = std::fs::read(home.path(&format!("{LINEAGE}.json"))).expect("the record");
    std::fs::write(home.path("broken.json"), "{").expect("a file");
    std::fs::write(home.path("elsewhere.json"), &record).expect("a record under another name");
    symlink(home.path(&format!("{LINEAGE}.json")), home.path("link.json")).expect("a link");
    symlink("/dev/zero", home.path("zero.json")).expect("a link");
    std::fs::create_dir(home.path("folder.json")).expect("a folder");
    nix::unistd::mkfifo(&home.path("pipe.json"), nix::sys::stat::Mode::S_IRWXU).expect("a pipe");
    std::fs::File::create(home.path("huge.json")).and_then(|file| file.set_len(1 << 40)).expect("a file");

    assert_eq!(home.copies().all().expect("a folder").len(), 1);
    assert_eq!(home.copies().keep(&facts("/one", 2), b"state").expect("kept"), Copying::Kept);
    assert!(home.copies().find("broken").expect("no error").is_none());
}

#[test]
fn a_record_that_cannot_be_read_does_not_cost_the_bytes_beside_it() {
    let home = Home::new();
    home.copies().keep(&facts("/one", 1), b"state").expect("kept");
    let copy = home.copies().find(LINEAGE).expect("a folder").expect("a copy");
    let record = home.path(&format!("{LINEAGE}.json"));
    let set =
        |mode| std::fs::set_permissions(&record, std::fs::Permissions::from_mode(mode)).expect("a mode");
    set(0o644);

    home.at(LATER).keep(&of_lineage("another"), b"x").expect("kept");

    assert_eq!(home.copies().find(LINEAGE).expect("a folder"), None);
    set(0o600);
    assert_eq!(home.copies().read(&copy).expect("bytes").as_slice(), b"state");
}

#[test]
fn bytes_that_are_not_those_that_were_kept_are_refused() {
    let home = Home::new();
    home.copies().keep(&facts("/one", 1), b"state").expect("kept");
    let copy = home.copies().find(LINEAGE).expect("a folder").expect("a copy");
    let path = home.copies().state_path(&copy);
    let refused = |words: &str| {
        let error = home.copies().read(&copy).expect_err("a damaged copy").to_string();
        assert!(error.contains(words), "{error}");
    };

    let write = |bytes: &[u8]| atomic_file::write(&path, bytes).expect("a file");
    write(b"other");
    refused("not those that were kept");
    write(b"far more than there was");
    refused("larger than");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).expect("a mode");
    refused("read by others");
    std::fs::remove_file(&path).expect("removed");
    refused("gone");
    symlink("/dev/zero", &path).expect("a link");
    refused("gone");
}

#[test]
fn many_that_keep_at_once_leave_whole_copies() {
    let home = Home::new();
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let copies = home.copies();
            scope.spawn(move || {
                for serial in 0..10 {
                    let text = format!("{writer} {serial}");
                    copies.keep(&facts(&format!("/{writer}"), serial), text.as_bytes()).expect("no error");
                }
            });
        }
    });

    let copy = home.copies().find(LINEAGE).expect("a folder").expect("a copy");

    assert_eq!(copy.facts.serial, 9);
    let text = home.copies().read(&copy).expect("bytes");
    assert_eq!(text.as_slice(), format!("{} 9", &copy.facts.root.display().to_string()[1..]).as_bytes());
    assert_eq!(home.names().len(), 2);
}
