//! Comments that let a finding pass.

use crate::support::Project;
use crate::{CLEAN, found, message};

/// A stack whose module comes from elsewhere, with lines before it and behind its head.
fn commented(before: &str, behind: &str) -> Project {
    let module =
        format!("{before}module \"m\" {{ {behind}\n  source = \"git::https://example.com/x.git\"\n}}\n");
    Project::new().stack("a", &format!("{CLEAN}{module}"))
}

#[test]
fn a_comment_with_a_reason_lets_a_finding_pass() {
    for (before, behind) in [
        ("# infra:ignore module-source: vendored next week\n", ""),
        ("// infra:ignore module-source: vendored next week\n", ""),
        ("", "# infra:ignore module-source: vendored next week"),
        ("# infra:ignore variable-type, module-source : vendored next week\n", ""),
        ("# infra:ignore module-source: a\n# infra:ignore variable-type: b\n", ""),
    ] {
        let project = commented(before, behind);
        assert_eq!(found(&project), [""; 0], "{before}{behind}");
        project.run("lint").succeeds().stderr_has("1 ignored");
    }
}

#[test]
fn a_comment_elsewhere_or_for_another_rule_changes_nothing() {
    for before in [
        "# infra:ignore module-source: why\n\n",
        "# infra:ignore module-version-pin: why\n",
        "locals {} # infra:ignore module-source: why\n",
        "/*\n# infra:ignore module-source: why */\n",
        "locals {\n  x = <<E\n# infra:ignore module-source: why\nE\n}\n",
        "# see infra:ignore module-source: why\n",
    ] {
        let project = commented(before, "");
        let line = 4 + before.matches('\n').count();
        assert_eq!(found(&project), [format!("module-source infrastructure/a/main.tf:{line}")], "{before}");
    }
}

#[test]
fn without_a_reason_the_finding_stays_and_the_comment_is_one_too() {
    for comment in
        ["# infra:ignore module-source", "# infra:ignore module-source:", "// infra:ignore module-source:  "]
    {
        let project = commented(&format!("{comment}\n"), "");
        assert_eq!(
            found(&project),
            ["ignore-comment infrastructure/a/main.tf:4", "module-source infrastructure/a/main.tf:5"],
            "{comment}"
        );
        assert!(message(&project, "ignore-comment").contains("reason is missing"));
    }
}

#[test]
fn an_unknown_rule_in_a_comment_is_told_with_the_nearest() {
    let project = commented("# infra:ignore module-sorce: why\n", "");

    assert!(
        message(&project, "ignore-comment")
            .contains("`module-sorce` is no rule; did you mean `module-source`?")
    );
}

#[test]
fn comments_count_in_files_of_values_and_around_a_block() {
    let project = Project::new()
        .stack("a", CLEAN)
        .file(
            "infrastructure/a/a.tfvars",
            "# infra:ignore plaintext-secret: made up, for tests\npassword = \"hunter2-hunter2\"\n\
             token = \"hunter2-hunter2\" // infra:ignore plaintext-secret: the same\n",
        )
        .file(
            "infrastructure/a/x.tf",
            "# infra:ignore plaintext-secret: a sandbox\nresource \"terraform_data\" \"x\" {\n  input = {\n    \
             password = \"hunter2-hunter2\"\n  }\n}\n",
        );

    assert_eq!(found(&project), [""; 0]);
}

#[test]
fn a_comment_of_the_json_form_is_about_its_block() {
    let json = "{\"module\": {\n  \"m\": {\n    \"//\": \"infra:ignore module-source: vendored next week\",\n    \
                \"source\": \"git::https://example.com/x.git\"\n  },\n  \"n\": {\n    \"source\": \"git::https://example.com/x.git\"\n  }\n}}\n";
    let project = Project::new().stack("a", CLEAN).file("infrastructure/a/x.tf.json", json);

    assert_eq!(found(&project), ["module-source infrastructure/a/x.tf.json:6"]);
}
