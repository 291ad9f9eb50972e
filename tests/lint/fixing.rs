//! What `--fix` writes, and what it leaves alone.

use std::collections::BTreeMap;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use crate::support::Project;
use crate::{CLEAN, found, with_module};

const M: &str = "infrastructure/modules/vm";

fn bare() -> Project {
    let text = "variable \"size\" {\n  description = \"How large | in <GiB>.\"\n  type = object({\n    a = string\n  })\n  \
                default = { a = \"x\" }\n}\n\nvariable \"token\" {\n  description = \"Opens it.\"\n  type = string\n  default = \"short\"\n}\n\n\
                output \"id\" {\n  description = \"Which.\"\n  value = 1\n}\n";
    Project::new().stack("a", CLEAN).file(&format!("{M}/vm.tf"), text)
}

/// Every file of a folder with its content.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() {
            found.extend(
                files(&entry.path()).into_iter().map(|(below, text)| (format!("{name}/{below}"), text)),
            );
        } else {
            found.insert(name, std::fs::read_to_string(entry.path()).unwrap());
        }
    }
    found
}

#[test]
fn missing_files_are_written_once_and_formatted() {
    let project = bare();

    project.run("lint --fix").succeeds().stderr_has("4 files written");

    assert_eq!(found(&project), [""; 0]);
    let readme = project.read(&format!("{M}/README.md"));
    assert!(readme.starts_with("# vm\n"), "{readme}");
    assert!(readme.contains("| `id` | Which. |"), "{readme}");
    assert!(
        readme
            .contains("| `size` | How large \\| in &lt;GiB&gt;. | `object({ a = string })` | `{a=\"x\"}` |"),
        "{readme}"
    );
    // A default that may be a secret stays where it is.
    assert!(readme.contains("| `token` | Opens it. | `string` | not shown |"), "{readme}");
    let after = files(project.root());
    project.run("lint --fix").succeeds().stderr_has("nothing that `--fix` can write");
    assert_eq!(files(project.root()), after);
    project.write(
        "infrastructure/a/main.tf",
        &format!("{CLEAN}\nmodule \"vm\" {{\n  source = \"../modules/vm\"\n}}\n"),
    );
    project.write(&format!("{M}/vm.tf"), "locals {\n  a = 1\n}\n");
    project.run("fmt --all --check").succeeds();
}

#[test]
fn tables_are_renewed_and_the_words_around_them_stay() {
    let project = with_module(Project::new().stack("a", CLEAN), M);
    let readme = format!("{M}/README.md");
    project.write(&readme, "# vm\n\nWords before.\n");
    project.run("lint --fix").succeeds();
    let written = project.read(&readme);
    assert!(written.starts_with("# vm\n\nWords before.\n\n<!-- BEGIN"), "{written}");

    project.write(&readme, &format!("{written}\nWords  behind.\n"));
    project.write(
        &format!("{M}/variables.tf"),
        "variable \"length\" {\n  description = \"How long.\"\n  type = number\n}\n",
    );
    assert_eq!(
        found(&project),
        [format!("module-readme {readme}:5"), format!("module-readme {M}/variables.tf:1")]
    );

    project.run("lint --fix").succeeds();
    let renewed = project.read(&readme);
    assert!(
        renewed.starts_with("# vm\n\nWords before.\n\n<!-- BEGIN") && renewed.ends_with("\nWords  behind.\n"),
        "{renewed}"
    );
    assert!(
        renewed.contains("| `length` | How long. | `number` | required |") && !renewed.contains("`size`"),
        "{renewed}"
    );
    project.run("lint --fix").succeeds();
    assert_eq!(project.read(&readme), renewed);
}

#[test]
fn only_files_that_were_reported_are_written() {
    let project = with_module(bare(), "infrastructure/modules/fine")
        .config("name: lab\nlint: { rules: { module-required-files: off } }\n");
    let before = files(project.root());

    project.run("lint --fix").succeeds();

    assert_eq!(files(project.root()), before);
}

#[test]
fn nothing_is_written_through_links_or_over_what_is_closed() {
    let project = with_module(Project::new().stack("a", CLEAN), M);
    let (readme, outside) =
        (project.path(&format!("{M}/README.md")), project.root().parent().unwrap().join("outside.md"));
    std::fs::write(&outside, "# theirs\n").unwrap();
    std::fs::remove_file(&readme).unwrap();
    symlink(&outside, &readme).unwrap();

    project.run("lint --fix").exits(1).stderr_has("is not written: it is a link");
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), "# theirs\n");

    std::fs::remove_file(&readme).unwrap();
    std::fs::write(&readme, "# closed\n").unwrap();
    std::fs::set_permissions(&readme, std::fs::Permissions::from_mode(0o444)).unwrap();
    project.run("lint --fix").exits(1).stderr_has("is not written: it is read-only");
    assert_eq!(std::fs::read_to_string(&readme).unwrap(), "# closed\n");

    std::fs::remove_file(&readme).unwrap();
    symlink("nowhere.md", &readme).unwrap();
    project.run("lint --fix").exits(1).stderr_has("is not written");
    assert!(!project.has(&format!("{M}/nowhere.md")));
}

#[test]
fn a_module_outside_of_the_repository_is_not_written() {
    let project =
        Project::new().stack("a", &format!("{CLEAN}module \"x\" {{\n  source = \"../../../common\"\n}}\n"));
    let common = project.root().parent().unwrap().join("common");
    std::fs::create_dir(&common).unwrap();
    std::fs::write(common.join("main.tf"), "locals {}\n").unwrap();

    project.run("lint --fix").exits(1).stderr_has("`../common/README.md` is not written: it lies outside");

    assert_eq!(files(&common).len(), 1);
}

#[test]
fn markers_that_make_no_sense_are_told_and_left() {
    let project = with_module(Project::new().stack("a", CLEAN), M);
    let readme = format!("{M}/README.md");
    project.write(&readme, "# vm\n<!-- BEGIN_INFRA_TABLES -->\nsize id\n");

    project
        .run("lint --fix")
        .exits(1)
        .stdout_has(&format!("{readme}:2"))
        .stderr_has("`END_INFRA_TABLES` is missing");

    assert_eq!(project.read(&readme), "# vm\n<!-- BEGIN_INFRA_TABLES -->\nsize id\n");
}

#[test]
fn tables_of_terraform_docs_are_left_to_it() {
    let project = with_module(Project::new().stack("a", CLEAN), M);
    project.write(&format!("{M}/README.md"), "# vm\n<!-- BEGIN_TF_DOCS -->\n<!-- END_TF_DOCS -->\n");

    project.run("lint --fix").exits(1).stderr_has("terraform-docs");
}

#[test]
fn the_mode_of_a_file_and_its_line_ends_stay() {
    let project = with_module(Project::new().stack("a", CLEAN), M);
    let readme = project.path(&format!("{M}/README.md"));
    std::fs::write(&readme, "# vm\r\n").unwrap();
    std::fs::set_permissions(&readme, std::fs::Permissions::from_mode(0o640)).unwrap();

    project.run("lint --fix").succeeds();

    let text = std::fs::read_to_string(&readme).unwrap();
    assert!(!text.replace("\r\n", "").contains('\n'), "{text:?}");
    assert_eq!(std::fs::metadata(&readme).unwrap().permissions().mode() & 0o777, 0o640);
}
