//! What an edit folder promises.

use std::os::unix::fs::PermissionsExt;

use super::*;

/// A place of its own for a test.
fn place() -> (tempfile::TempDir, EditPlace) {
    let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a folder");
    let env = Environment::default().with("XDG_RUNTIME_DIR", dir.path());
    let place = EditPlace::find(&env).expect("a place");
    (dir, place)
}

fn folder(place: &EditPlace) -> EditFolder {
    EditFolder::create(place, Path::new("/p/vault.yaml"), b"sealed", b"key: value").expect("a folder")
}

/// Looks only where the test is: a test must not discard a person's own folders.
fn found_in(base: &tempfile::TempDir) -> Vec<LeftOver> {
    left_over_in(vec![base.path().to_owned()])
}

/// Gives a folder the name of a process that is gone.
fn abandon(folder: EditFolder, id: u32) -> PathBuf {
    let dir = folder.keep();
    let dead = dir.with_file_name(format!("infra-edit-{}-{id}-00", i32::MAX));
    std::fs::rename(&dir, &dead).expect("a folder of our own");
    dead
}

#[test]
fn plaintext_lies_in_a_private_file_with_the_name_of_the_original() {
    let (base, place) = place();

    let folder = folder(&place);

    let mode = |path: &Path| std::fs::metadata(path).expect("a file").permissions().mode() & 0o777;
    assert!(folder.path().starts_with(base.path()) && folder.path().ends_with("vault.yaml"));
    assert_eq!((mode(&folder.path()), mode(folder.path().parent().expect("a folder"))), (0o600, 0o700));
    assert_eq!(mode(&folder.dir), 0o700);
    assert_eq!(&**folder.read().expect("the text"), b"key: value");
    assert!(folder.began_with(b"sealed") && !folder.began_with(b"other"));
}

#[test]
fn nothing_is_left_after_a_drop_whatever_the_editor_made() {
    let (base, place) = place();
    let folder = folder(&place);
    std::fs::write(folder.path().with_file_name(".vault.yaml.swp"), "copy").expect("a file");
    std::fs::remove_file(folder.path()).expect("an editor may replace the file");

    assert!(folder.read().is_err());
    drop(folder);

    assert_eq!(std::fs::read_dir(base.path()).expect("the place").count(), 0);
}

#[test]
fn a_folder_that_cannot_be_filled_leaves_nothing_behind() {
    let (base, place) = place();
    let too_long = PathBuf::from("/p").join("x".repeat(300));

    let error = EditFolder::create(&place, &too_long, b"sealed", b"key: value").expect_err("no such name");

    assert!(error.message().contains("cannot write"), "{error}");
    assert_eq!(std::fs::read_dir(base.path()).expect("the place").count(), 0);
}

#[test]
fn the_folder_of_a_dead_process_is_found_and_resumed_by_one() {
    let (base, place) = place();
    let _living = folder(&place);
    let dead = abandon(folder(&place), 0);

    let [first, second] = [found_in(&base), found_in(&base)].map(|mut found| found.remove(0));
    assert_eq!((first.dir(), first.original()), (&*dead, Path::new("/p/vault.yaml")));
    let resumed = first.resume().expect("the first one takes it");

    assert_eq!(&**resumed.read().expect("the text"), b"key: value");
    assert!(resumed.began_with(b"sealed"));
    assert!(second.resume().is_err_and(|error| error.message().contains("cannot take over")));
    assert!(found_in(&base).is_empty());
}

#[test]
fn a_left_over_folder_can_be_discarded() {
    let (base, place) = place();
    abandon(folder(&place), 0);

    found_in(&base).remove(0).discard().expect("a folder of our own");

    assert_eq!(std::fs::read_dir(base.path()).expect("the place").count(), 0);
}

#[test]
fn folders_that_others_can_enter_or_that_are_links_do_not_count() {
    let (base, place) = place();
    let open = abandon(folder(&place), 0);
    std::fs::set_permissions(&open, PermissionsExt::from_mode(0o755)).expect("a folder of our own");
    let link = base.path().join(format!("infra-edit-{}-0-01", i32::MAX));
    std::os::unix::fs::symlink(&open, link).expect("a link");

    assert!(found_in(&base).is_empty());
}
