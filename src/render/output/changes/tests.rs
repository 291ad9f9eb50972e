//! What changes are found, and which are refused.

use super::*;

fn generated(path: &str, text: &str) -> GeneratedFile {
    let origin = format!("templates/{path}.j2");
    GeneratedFile { path: path.into(), bytes: text.into(), mode: 0o644, origin }
}

fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = root.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    }
    root
}

fn known(files: &[(&str, &str)]) -> Manifest {
    let mut manifest = Manifest::default();
    files.iter().for_each(|(path, text)| manifest.add(Path::new(path), text.as_bytes()));
    manifest
}

fn changes(root: &Path, manifest: &Manifest, files: &[GeneratedFile]) -> TreeChanges {
    let with = TreeComparison { root, manifest, overwrite: Overwrite::Never, recorded: &|_| false };
    compare_tree(&with, files).unwrap()
}

#[test]
fn new_changed_same_and_gone_are_told_apart() {
    let root = tree(&[("same", "1"), ("old", "1"), ("gone", "1")]);
    let manifest = known(&[("same", "1"), ("old", "1"), ("gone", "1")]);

    let found = changes(
        root.path(),
        &manifest,
        &[generated("same", "1"), generated("old", "2"), generated("new", "3")],
    );

    let files: Vec<_> =
        found.files.iter().map(|file| (file.path.to_str().unwrap(), file.after.is_some())).collect();
    assert_eq!(files, [("gone", false), ("new", true), ("old", true)]);
    assert_eq!((found.unchanged, found.conflicts.len()), (1, 0));
}

#[test]
fn what_a_person_did_is_a_conflict_unless_it_is_forced() {
    let root = tree(&[("edited", "mine"), ("foreign", "mine"), ("kept", "mine")]);
    let manifest = known(&[("edited", "1"), ("kept", "1")]);
    let files = [generated("edited", "2"), generated("foreign", "2")];

    let found = changes(root.path(), &manifest, &files);
    let forced = TreeComparison {
        root: root.path(),
        manifest: &manifest,
        overwrite: Overwrite::Force,
        recorded: &|_| false,
    };

    let reasons: Vec<_> = found.conflicts.iter().map(|conflict| conflict.reason).collect();
    assert_eq!(reasons, [ConflictReason::Edited, ConflictReason::Foreign, ConflictReason::Edited]);
    assert!(found.files.is_empty() && found.manifest.wrote(Path::new("edited"), b"1"));
    assert_eq!(compare_tree(&forced, &files).unwrap().files.len(), 3);
}

#[test]
fn a_file_that_version_control_has_may_be_replaced_the_first_time() {
    let root = tree(&[("main.tf", "from a colleague")]);
    let manifest = Manifest::default();
    let recorded = |_: &Path| true;
    let with = TreeComparison {
        root: root.path(),
        manifest: &manifest,
        overwrite: Overwrite::Never,
        recorded: &recorded,
    };

    let found = compare_tree(&with, &[generated("main.tf", "new")]).unwrap();

    assert_eq!((found.files.len(), found.conflicts.len()), (1, 0));
}

#[test]
fn nothing_is_generated_through_a_link_or_over_one() {
    let root = tree(&[]);
    std::os::unix::fs::symlink("/tmp", root.path().join("link")).unwrap();
    let manifest = Manifest::default();
    let with = TreeComparison {
        root: root.path(),
        manifest: &manifest,
        overwrite: Overwrite::Force,
        recorded: &|_| false,
    };

    let through = compare_tree(&with, &[generated("link/x", "1")]).unwrap_err();
    let over = compare_tree(&with, &[generated("link", "1")]).unwrap_err();

    assert!(through.to_string().contains("through the link"), "{through}");
    assert!(over.to_string().contains("a link is there"), "{over}");
}

#[test]
fn what_cannot_be_written_side_by_side_or_is_not_ours_is_refused_before_anything() {
    let root = tree(&[]);
    let manifest = Manifest::default();
    let with = TreeComparison {
        root: root.path(),
        manifest: &manifest,
        overwrite: Overwrite::Force,
        recorded: &|_| false,
    };

    let both = compare_tree(&with, &[generated("dd", "1"), generated("dd/x", "2")]).unwrap_err();
    let own = compare_tree(&with, &[generated(".infra/generated.json", "1")]).unwrap_err();
    let git = compare_tree(&with, &[generated(".git/hooks/pre-commit", "1")]).unwrap_err();

    assert!(both.to_string().contains("templates/dd.j2` and `templates/dd/x.j2"), "{both}");
    assert!(own.to_string().contains("no place") && git.to_string().contains("no place"));
}

#[test]
fn a_list_that_names_files_which_were_never_generated_removes_none_of_them() {
    let root = tree(&[(".git/HEAD", "main"), ("sub/.git/HEAD", "main"), (".infra/x", "main")]);
    let manifest = known(&[(".git/HEAD", "main"), ("sub/.git/HEAD", "main"), (".infra/x", "main")]);
    let with = TreeComparison {
        root: root.path(),
        manifest: &manifest,
        overwrite: Overwrite::Force,
        recorded: &|_| false,
    };

    let found = compare_tree(&with, &[]).unwrap();
    let outside =
        compare_tree(&TreeComparison { manifest: &known(&[("../x", "1")]), ..with }, &[]).unwrap_err();

    assert!(found.is_empty() && !found.manifest.knows(Path::new(".git/HEAD")));
    assert!(outside.to_string().contains("leaves the project"), "{outside}");
}

#[test]
fn a_folder_of_generated_files_may_become_a_file_and_the_other_way_round() {
    let root = tree(&[("q/x", "1"), ("r", "1"), ("s/mine", "1"), ("s/x", "1")]);
    let manifest = known(&[("q/x", "1"), ("r", "1"), ("s/x", "1")]);

    let found = changes(root.path(), &manifest, &[generated("q", "2"), generated("r/y", "2")]);
    let with = TreeComparison {
        root: root.path(),
        manifest: &manifest,
        overwrite: Overwrite::Never,
        recorded: &|_| false,
    };
    let refused = compare_tree(&with, &[generated("s", "2")]).unwrap_err();

    let paths: Vec<_> = found.files.iter().map(|file| file.path.to_str().unwrap()).collect();
    assert_eq!(paths, ["q", "q/x", "r", "r/y", "s/x"]);
    assert!(refused.to_string().contains("a folder is there"), "{refused}");
}

#[test]
fn a_folder_in_the_place_of_a_file_that_is_no_longer_generated_is_left_alone() {
    let root = tree(&[("dd/mine", "1")]);

    let found = changes(root.path(), &known(&[("dd", "1")]), &[]);

    assert!(found.is_empty());
}

#[test]
fn another_mode_alone_is_a_change_and_never_a_conflict() {
    let root = tree(&[("run.sh", "1")]);
    let file = GeneratedFile { mode: 0o755, ..generated("run.sh", "1") };

    let found = changes(root.path(), &Manifest::default(), &[file]);

    assert_eq!((found.files.len(), found.conflicts.len()), (1, 0));
}
