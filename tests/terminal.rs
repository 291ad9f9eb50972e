//! What a person at a terminal is shown and asked.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the product's rules, not the tests'"
)]

mod support;

use nix::sys::signal::{Signal, kill};
use support::screen::Screen;
use support::terminal::AtTerminal;
use support::{Project, SIMPLE};

fn project() -> Project {
    Project::new().stack("01-a/x", SIMPLE)
}

fn at_terminal(project: &Project, args: &str) -> AtTerminal {
    AtTerminal::start(project.command(args))
}

#[test]
fn apply_shows_the_plan_asks_and_applies_on_a_yes() {
    let project = project();
    let mut person = at_terminal(&project, "apply");

    person.sees("terraform_data.thing will be created").sees("Apply these changes? [y/N]");
    person.types("y");

    let (code, screen) = person.wait();
    assert_eq!(code, Some(0), "{screen}");
    assert_eq!(project.resources("x"), ["terraform_data.thing"]);
}

#[test]
fn anything_but_a_yes_changes_nothing() {
    let project = project();
    let mut person = at_terminal(&project, "apply");

    person.sees("[y/N]");
    person.types("maybe");

    let (code, screen) = person.wait();
    assert_eq!(code, Some(1), "{screen}");
    let said = screen.rsplit_once("attribute)").expect("a question").1;
    assert_eq!(said.split_whitespace().collect::<Vec<_>>(), ["maybe", "nothing", "was", "done"], "{screen}");
    assert!(project.resources("x").is_empty());
    assert!(!project.has(".infra/plans/01-a/x.tfplan"));
}

#[test]
fn a_no_to_saved_plans_of_many_stacks_says_only_that_nothing_was_done() {
    let project = project().stack("01-a/y", SIMPLE).stack("02-b/z", SIMPLE);
    project.run("apply y --yes").succeeds();
    project.run("plan --all").succeeds();
    for answer in ["n", "", "\u{4}"] {
        let mut person = at_terminal(&project, "apply --all");

        person.sees("02-b/z  +1 ~0 -0 · saved ").sees("Apply these changes to 2 stacks? [y/N]");
        person.types(answer);

        let (code, screen) = person.wait();
        let said = screen.rsplit_once("attribute)").expect("a question").1;
        assert_eq!(code, Some(1), "{screen}");
        assert!(!screen.contains("planned again"), "nothing that it was made from changes: {screen}");
        assert_eq!(
            said.trim_start_matches(['n', '^', 'D', '\u{8}', ' ']).trim(),
            "nothing was done",
            "{screen}"
        );
    }
    assert!(project.has(".infra/plans/01-a/x.tfplan"), "what was saved stays");
    let stacks = project.newest_events();
    assert!(stacks.contains("\"nothing_done\"") && stacks.contains("\"not approved\""), "{stacks}");
    project.run("runs").succeeds().stdout_has("declined").stdout_lacks("failed");
    // What had nothing to do still has a plan that says so.
    project.run("apply --all --saved").succeeds().stderr_lacks("no saved plan");
}

#[test]
fn a_saved_plan_is_shown_with_its_age_and_asked_about() {
    let project = project();
    project.run("apply --yes").succeeds();
    project.write("infrastructure/01-a/x/main.tf", "terraform {\n  backend \"http\" {}\n}\n");
    project.run("plan").succeeds();
    let mut person = at_terminal(&project, "apply");

    person.sees("terraform_data.thing will be destroyed").sees("takes the plan that was saved 0.");
    person.sees("Apply these changes? [y/N]");
    assert_eq!(project.resources("x"), ["terraform_data.thing"]);
    person.types("y");

    let (code, screen) = person.wait();
    assert_eq!((code, screen.matches("[y/N]").count()), (Some(0), 1), "{screen}");
    assert!(project.resources("x").is_empty());
}

#[test]
fn a_saved_plan_that_no_longer_fits_is_planned_again_and_asked_about() {
    let project = project();
    project.run("plan").succeeds();
    project.write("infrastructure/01-a/x/main.tf", &SIMPLE.replace("one", "two"));
    let mut person = at_terminal(&project, "apply");

    person.sees("planned again").sees("changed since").sees("\"two\"").sees("Apply these changes? [y/N]");
    person.types("y");

    assert_eq!(person.wait().0, Some(0));
    project.run("output x thing --raw").succeeds().stdout_has("two");
}

#[test]
fn a_stack_whose_outputs_alone_change_is_in_the_question() {
    let project = project().stack("01-a/y", SIMPLE);
    project.run("apply --all --yes").succeeds();
    let more = format!("{SIMPLE}\noutput \"more\" {{\n  value = 1\n}}\n");
    project.write("infrastructure/01-a/x/main.tf", &more);
    project.write("infrastructure/01-a/y/main.tf", &SIMPLE.replace("one", "two"));
    for _ in ["planned now", "saved before"] {
        let mut person = at_terminal(&project, "apply --all");

        person.sees("01-a/x  outputs only").sees("Apply these changes to 2 stacks? [y/N]");
        person.types("n");

        assert_eq!(person.wait().0, Some(1));
        project.run("plan --all").succeeds();
    }
}

#[test]
fn a_d_shows_every_attribute_by_stack_and_asks_again() {
    let secret = SIMPLE.replace("\"one\"", "sensitive(\"c4n4ry\")");
    let secret = secret.replace("value = ", "sensitive = true\n  value = ");
    let project = project().stack("02-b/y", &secret);
    project.run("plan x").succeeds();
    let mut person = at_terminal(&project, "apply --all");
    person.sees("Apply these changes to 2 stacks? [y/N] (d shows every attribute)");
    let before = person.screen();
    assert!(!before.contains("+ input"), "{before}");
    person.types("d");
    person.sees("(sensitive value)").sees("+ input  = \"one\"");
    assert!(project.resources("x").is_empty());
    person.types("y");

    let (code, screen) = person.wait();
    assert_eq!((code, screen.matches("[y/N]").count()), (Some(0), 2), "{screen}");
    assert!(!screen.contains("c4n4ry"), "{screen}");
}

#[test]
fn saved_plans_are_applied_without_a_question_where_that_is_asked_for() {
    let project = project().stack("01-a/y", SIMPLE);
    project.run("plan --all --out-dir kept").succeeds();

    let (code, screen) = at_terminal(&project, "apply x --plan-dir kept").wait();

    assert_eq!((code, screen.contains("[y/N]")), (Some(0), false), "{screen}");
    project.write("infrastructure/01-a/y/main.tf", &SIMPLE.replace("one", "two"));
    let (code, screen) = at_terminal(&project, "apply y --plan-dir kept --yes").wait();
    assert_eq!((code, screen.contains("[y/N]")), (Some(1), false), "{screen}");
    assert!(screen.contains("error[stale-plan]"), "{screen}");
}

#[test]
fn no_lock_is_held_while_a_person_thinks() {
    let project = project();
    let mut person = at_terminal(&project, "apply");
    person.sees("[y/N]");

    assert!(project.locks().is_empty());

    person.types("n");
    person.wait();
}

#[test]
fn ctrl_c_at_the_question_ends_the_run_without_a_change() {
    let project = project();
    let person = at_terminal(&project, "apply");
    person.sees("[y/N]");

    kill(person.pid(), Signal::SIGINT).expect("a running process");

    let (code, screen) = person.wait();
    assert_eq!(code, Some(130), "{screen}");
    let said = screen.rsplit_once("attribute)").expect("a question").1;
    assert_eq!(said.lines().next().map(str::trim), Some(""), "{screen}");
    assert!(project.resources("x").is_empty());
}

#[test]
fn ctrl_c_at_the_question_of_a_destruction_begins_a_line_and_repeats_no_value() {
    let project = Project::new().stack("01-a/x", &format!("{SIMPLE}\nvariable \"token\" {{}}\n"));
    project.run("apply --yes -- -var token=s3cr3t").succeeds();
    let mut command = project.command("destroy");
    command.args(["--", "-var", "token=s3cr3t"]);
    let person = AtTerminal::start(command);
    person.sees("Type the project's name to go on:");

    kill(person.pid(), Signal::SIGINT).expect("a running process");

    let (code, screen) = person.wait();
    let said = screen.rsplit_once("to go on:").expect("a question").1;
    assert_eq!((code, said.lines().next().map(str::trim)), (Some(130), Some("")), "{screen}");
    assert!(
        said.contains("next: go on where it stopped: the same command, with what followed `--`"),
        "{screen}"
    );
    assert!(!screen.contains("s3cr3t"), "{screen}");
}

#[test]
fn a_plan_that_nobody_approved_is_not_taken_for_reviewed() {
    let project = project();
    let person = at_terminal(&project, "apply");
    person.sees("[y/N]");

    project.run("apply").exits(64).stderr_has("there is no terminal");
    kill(person.pid(), Signal::SIGINT).expect("a running process");
    person.wait();

    project.run("apply").exits(64).stderr_has("there is no terminal");
    assert!(project.files_containing("tfplan").iter().all(|file| !file.ends_with(".tfplan")));
}

#[test]
fn destroy_shows_everything_before_its_one_question() {
    let project = project().stack("02-b/y", SIMPLE);
    project.run("apply --all --yes").succeeds();
    let mut person = at_terminal(&project, "destroy --all");

    person.sees("This destroys 2 stacks of `lab`");
    person.types("lab");

    let (code, screen) = person.wait();
    assert_eq!((code, screen.matches("Type the project's name").count()), (Some(0), 1), "{screen}");
    assert!(project.resources("x").is_empty() && project.resources("y").is_empty());
}

#[test]
fn destroy_asks_for_the_projects_name() {
    let project = project();
    project.run("apply --yes").succeeds();
    let mut hesitant = at_terminal(&project, "destroy");
    hesitant.sees("Type the project's name");
    hesitant.types("yes");
    let (code, screen) = hesitant.wait();
    assert_eq!((code, screen.contains("nothing was done")), (Some(1), true), "{screen}");
    assert_eq!(project.resources("x"), ["terraform_data.thing"]);

    let mut person = at_terminal(&project, "destroy");
    person.sees("Type the project's name");
    person.types("lab");

    let (code, screen) = person.wait();
    assert_eq!(code, Some(0), "{screen}");
    assert!(project.resources("x").is_empty());
}

#[test]
fn no_input_forbids_the_question() {
    let project = project();

    let (code, screen) = at_terminal(&project, "apply --no-input").wait();

    assert_eq!(code, Some(64), "{screen}");
    assert!(screen.contains("`--no-input` was given"), "{screen}");
}

#[test]
fn tofu_itself_gets_the_terminal_and_its_own_exit_code() {
    let project = project();
    project.run("apply --yes").succeeds();
    let mut person = at_terminal(&project, "tofu --stack x -- console");
    person.sees("> ");

    person.types("terraform_data.thing.output");
    person.sees("\"one\"");
    person.types("exit");

    assert_eq!(person.wait().0, Some(0));
    project.run("tofu --stack x -- plan -detailed-exitcode -destroy").exits(2);
    project.run("tofu nonsense").exits(1);
}

#[test]
fn colour_is_used_on_a_terminal_and_can_be_switched_off() {
    let project = project();
    let mut colored = project.command("plan");
    colored.env_remove("NO_COLOR");

    let (_, colored) = AtTerminal::start(colored).wait();
    let (_, plain) = at_terminal(&project, "plan --color never").wait();

    assert!(colored.contains("\u{1b}[32m"), "{colored:?}");
    assert!(!plain.contains("\u{1b}[32m"), "{plain:?}");
    assert!(plain.contains('✓') && plain.contains("+1 ~0 -0"), "{plain}");
}

#[test]
fn the_question_about_a_protected_stack_names_it() {
    let project = project().config("name: lab\nstacks:\n  \"01-a/x\":\n    protect: true\n");
    project.run("apply --yes").succeeds();
    project.write("infrastructure/01-a/x/main.tf", "terraform {\n  backend \"http\" {}\n}\n");
    let mut person = at_terminal(&project, "apply");

    person.sees("`01-a/x` is protected and loses resources. Apply these changes? [y/N]");
    person.types("n");

    assert_eq!(person.wait().0, Some(1));
}

#[test]
fn a_narrow_screen_breaks_lines_at_spaces_and_shortens_long_ids() {
    let long = format!("01-a/{}-end", "long-name".repeat(9));
    let project = Project::new()
        .stack(&long, SIMPLE)
        .stack("02-b/y", SIMPLE)
        .config(&format!("name: lab\nstacks:\n  \"02-b/y\":\n    depends_on: [\"{long}\"]\n"));

    let (code, written) = AtTerminal::sized(project.command("plan --all"), 40, 80).wait();

    let lines = Screen::replay(&written, 80).lines();
    let start = lines.iter().position(|line| line.contains("stack  ")).expect("a table");
    let table = &lines[start..start + 3];
    assert_eq!(code, Some(0), "{lines:#?}");
    assert!(
        table[1].contains("01-a/long") && table[1].contains("…") && table[1].contains("-end"),
        "{table:#?}"
    );
    assert!(table[2].contains("02-b/y") && table[2].contains("provisional"), "{table:#?}");
    let provisional = lines.iter().position(|line| line.contains("provisional: uses")).expect("a line");
    assert!(
        lines[provisional + 1..]
            .iter()
            .any(|line| line.trim_start().starts_with("which will change")
                || line.contains(" which will change")),
        "{lines:#?}"
    );
}

/// Starts a server that keeps everybody waiting for a state until it is told to answer.
fn hesitant_server() -> (std::net::SocketAddr, std::sync::mpsc::Sender<()>) {
    use std::io::{Read as _, Write as _};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (answer, answers) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 4096]);
        let _ = answers.recv();
        let state = r#"{"version":4,"terraform_version":"1.12.6","serial":1,"lineage":"a","outputs":{},"resources":[]}"#;
        let _ = write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{state}", state.len());
    });
    (address, answer)
}

#[test]
fn a_plan_that_takes_long_tells_of_how_many_resources_it_knows() {
    let many = "resource \"terraform_data\" \"a\" {\n  count = 41\n}\n";
    let project = Project::new().stack("a/x", many);
    project.run("apply --yes").succeeds();
    let (address, answer) = hesitant_server();
    let slow = format!(
        "data \"terraform_remote_state\" \"slow\" {{\n  backend = \"http\"\n  config  = {{ address = \"http://{address}\" }}\n}}\n"
    );
    project.write("infrastructure/a/x/slow.tf", &slow);

    let person = AtTerminal::start(project.command("plan"));
    person.sees("a/x  refreshed 41 resources");
    answer.send(()).unwrap();
    let (code, screen) = person.wait();

    assert_eq!(code, Some(0), "{screen}");
    assert!(!project.newest_events().contains("refreshed"));
}
