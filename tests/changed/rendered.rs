//! Stacks that templates and data render: both sides are compared, whoever holds what.

use crate::repository::{Repository, reasons};

/// Two rendered stacks and one that is written by hand. git holds the data, not the rendered tree.
fn lab() -> Repository {
    let lab = Repository::new()
        .file(".gitignore", "/infrastructure/rendered\n.infra\n")
        .file("cluster.yaml", "# the lab\ncount: 3\nzone: eu\n")
        .file("templates/config/infrastructure/rendered/01-a/main.tf.j2", "#{ zone }#\n")
        .file(
            "templates/config/infrastructure/rendered/02-b/main.tf.j2",
            "#% include 'head.partial.j2' %#\n# zone: #{ zone }#\n",
        )
        .file("templates/config/head.partial.j2", "# head\n")
        .file("infra.yaml", "configure: { exclude: ['*.partial.*'] }\n")
        .stack("hand", &[]);
    lab.write("templates/config/infrastructure/rendered/01-a/main.tf.j2", "# count: #{ count }#\n");
    lab.publish();
    lab.run(&["configure", "--no-init"]).succeeds();
    assert!(lab.root.join("infrastructure/rendered/01-a/main.tf").is_file());
    lab
}

#[test]
fn a_comment_in_the_data_affects_nothing_and_a_value_those_that_it_renders_into() {
    let lab = lab();
    lab.append("cluster.yaml", "# a comment\n");
    assert!(lab.affected().is_empty());

    lab.write("cluster.yaml", "count: 4\nzone: eu\n");
    let told = lab.changed("");
    assert_eq!(told.stacks.iter().collect::<Vec<_>>(), ["rendered/01-a"]);
    assert_eq!(reasons(&told, "rendered/01-a"), ["cluster.yaml"]);
    lab.commit();
    assert_eq!(lab.changed("").stacks.len(), 1, "before and after the commit alike");
    lab.run(&["configure", "--no-init"]).succeeds();
    assert_eq!(lab.changed("").stacks.len(), 1, "before and after `configure` alike");
    lab.run(&["changed", "--why", "01-a"])
        .succeeds()
        .stdout_has("renders into infrastructure/rendered/01-a/main.tf");
}

#[test]
fn a_template_and_what_it_includes_affect_what_they_render() {
    let lab = lab();
    lab.write(
        "templates/config/infrastructure/rendered/01-a/main.tf.j2",
        "#| another way |#\n# count: #{ count }#\n",
    );
    lab.write(
        "templates/config/infrastructure/rendered/01-a/main.tf.j2",
        "#% set n = count %#\n# count: #{ n }#\n",
    );
    assert!(lab.affected().is_empty(), "it renders the same");

    lab.write("templates/config/head.partial.j2", "# another head\n");
    let told = lab.changed("");
    assert_eq!(told.stacks.iter().collect::<Vec<_>>(), ["rendered/02-b"]);
    assert_eq!(reasons(&told, "rendered/02-b"), ["templates/config/head.partial.j2"]);
}

#[test]
fn settings_of_rendering_and_a_template_that_is_gone_count() {
    let lab = lab();
    lab.write("infra.yaml", "configure: { exclude: ['*.partial.*', '*02-b*'] }\n");
    let told = lab.changed("");
    assert_eq!(reasons(&told, "rendered/02-b"), Vec::<String>::new(), "the pattern is one of a file's name");
    lab.write("infra.yaml", "configure: { exclude: ['*.partial.*'] }\n");

    lab.remove("templates/config/infrastructure/rendered/02-b");
    assert_eq!(lab.affected(), ["rendered/02-b"], "still on the disk");
    lab.run(&["configure", "--no-init", "--force"]).succeeds();
    let told = lab.changed("");
    assert!(told.stacks.is_empty(), "{told:?}");
    assert_eq!(told.removed.iter().collect::<Vec<_>>(), ["rendered/02-b"]);
}

/// The same with data that git ignores, as the first seed has it.
fn lab_with_own_data() -> Repository {
    let lab = lab();
    lab.git("rm -q --cached cluster.yaml");
    lab.append(".gitignore", "/cluster.yaml\n");
    lab.publish();
    lab
}

#[test]
fn data_that_git_ignores_is_taken_as_it_is_today() {
    let lab = lab_with_own_data();
    lab.write("cluster.yaml", "count: 9\nzone: eu\n");
    assert!(lab.affected().is_empty(), "nothing that git holds changed");

    lab.append("templates/config/infrastructure/rendered/01-a/main.tf.j2", "# more\n");
    assert_eq!(lab.affected(), ["rendered/01-a"]);
    lab.remove("cluster.yaml");
    let told = lab.run(&["changed", "--json"]).succeeds().stderr_has("every rendered stack counts");
    assert_eq!(crate::repository::told(&told).stacks.len(), 2, "without data nothing can be compared");
}

#[test]
fn data_that_was_ignored_and_is_held_now_is_compared_with_itself() {
    let lab = lab_with_own_data();
    lab.write(".gitignore", "/infrastructure/rendered\n.infra\n");
    lab.commit();

    assert!(lab.changed("").stacks.is_empty());
}

#[test]
fn data_that_is_new_and_was_not_ignored_affects_every_rendered_stack() {
    let lab = lab();
    lab.write("nodes.yaml", "extra: 1\n");

    let told = lab.run(&["changed", "--json"]).succeeds().stderr_has("`nodes.yaml` is new");
    let told = crate::repository::told(&told);

    assert_eq!(told.stacks.iter().collect::<Vec<_>>(), ["rendered/01-a", "rendered/02-b"]);
    assert_eq!(reasons(&told, "rendered/01-a"), ["nodes.yaml"]);
}

#[test]
fn a_plugin_is_not_run_and_its_files_affect_every_rendered_stack() {
    let lab = lab();
    let mark = lab.beside("ran");
    let toml = "[makejinja]\ninputs = ['templates/config']\noutput = '.'\ndata = ['cluster.yaml']\njinja_suffix = '.j2'\n\
        import_paths = ['scripts']\nplugins = ['plugin:Plugin']\n\
        [makejinja.delimiter]\nblock_start = '#%'\nblock_end = '%#'\nvariable_start = '#{'\nvariable_end = '}#'\n\
        comment_start = '#|'\ncomment_end = '#|'\n";
    lab.write("makejinja.toml", toml);
    lab.write(
        "scripts/plugin.py",
        &format!(
            "open({:?}, 'w')\nclass Plugin:\n    def data(self):\n        return {{}}\n",
            mark.display().to_string()
        ),
    );
    lab.publish();
    assert!(lab.affected().is_empty());

    lab.append("scripts/plugin.py", "# edited\n");
    let told = lab.run(&["--trust", "changed", "--json"]).succeeds().stderr_has("plugin");
    assert_eq!(crate::repository::told(&told).stacks.len(), 2);
    lab.commit();
    lab.append("infrastructure/hand/main.tf", "# edited\n");
    assert_eq!(lab.affected(), ["hand"]);
    assert!(!mark.exists(), "the plugin ran");
}

#[test]
fn secrets_are_compared_as_they_are_rendered_and_never_shown() {
    let lab = lab();
    lab.write("templates/config/infrastructure/rendered/secrets.sops.yaml.j2", "token: #{ token }#\n");
    lab.write("cluster.yaml", "count: 3\nzone: eu\ntoken: canary-one\n");
    lab.publish();
    assert!(lab.changed("").stacks.is_empty());
    lab.write("cluster.yaml", "count: 3\nzone: eu\ntoken: canary-two\n");

    for args in [&["changed", "--json"][..], &["changed", "-vvv", "--why", "01-a"]] {
        let shown = lab.run(args).succeeds().stdout_lacks("canary").stderr_lacks("canary");
        assert!(shown.stdout.contains("cluster.yaml"), "{shown}");
    }
    assert_eq!(lab.affected(), ["rendered/01-a", "rendered/02-b"], "the file of secrets above both");
}

#[test]
fn a_stack_that_is_not_rendered_yet_is_named_in_a_hint() {
    let lab = lab();
    lab.remove("infrastructure/rendered");
    lab.write("cluster.yaml", "count: 4\nzone: eu\n");

    let told = lab.run(&["changed", "--json"]).succeeds().stderr_has("`infra configure` makes it");

    assert!(crate::repository::told(&told).stacks.is_empty(), "{told}");
    lab.run(&["configure", "--no-init"]).succeeds();
    assert_eq!(lab.affected(), ["rendered/01-a"]);
}
