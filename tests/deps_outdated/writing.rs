//! `--write`: constraints edited in place, only where nobody else is concerned, so that tofu can go on.

use crate::THING;
use crate::world::{World, platform, wants};

fn main_tf(world: &World, stack: &str) -> String {
    world.project.read(&format!("infrastructure/{stack}/main.tf"))
}

#[test]
fn a_minor_update_is_written_everywhere_and_a_major_one_where_it_is_named() {
    let world = World::new().stack("01-a/x", THING, "~> 5.1.0").stack("01-a/y", THING, "~> 5.1.0");
    world.registry.provider("acme/thing", &["5.1.0", "5.4.2", "6.0.1"]);

    world.outdated("--write").succeeds().stdout_has("main.tf:5  ~> 5.1.0 → ~> 5.4.2");
    assert_eq!(main_tf(&world, "01-a/x"), wants(THING, "~> 5.4.2"));
    assert_eq!(main_tf(&world, "01-a/y"), wants(THING, "~> 5.4.2"));

    let run = world.outdated("--write x").succeeds();
    assert_eq!(main_tf(&world, "01-a/x"), wants(THING, "~> 6.0.1"));
    assert_eq!(main_tf(&world, "01-a/y"), wants(THING, "~> 5.4.2"));
    run.stderr_has("infra init 01-a/x -- -upgrade");
    world.outdated("--write").succeeds().stdout_lacks("→");
}

#[test]
fn comments_layout_and_form_of_a_file_stay_and_tofu_finds_nothing_to_format() {
    let world = World::new();
    world.registry.provider("acme/thing", &["5.1.0", "5.4.2"]);
    world.registry.provider("acme/other", &["1.0.0", "1.2.0"]);
    world.registry.module("acme/vm/proxmox", &["1.0.0", "1.2.0"]);
    let native = "\u{feff}# head\r\nterraform {\r\n  required_providers {\r\n    thing = { source = \"registry.example/acme/thing\", version = \"5.1.0\" } # \"5.1.0\"\r\n    other = {\r\n      version = \">= 1.0, < 1.1\" // kept\r\n      source  = \"registry.example/acme/other\"\r\n    }\r\n  }\r\n}\r\n";
    let json = "{\n  \"module\": {\n    \"vm\": {\"version\":   \"~> 1.0.0\", \"source\": \"registry.example/acme/vm/proxmox\"}\n  }\n}\n";
    let project = world.project.stack("01-a/x", native).file("infrastructure/01-a/x/vm.tf.json", json);
    let world = World { project, registry: world.registry };

    world.outdated("--write").succeeds();

    let after = native.replace("version = \"5.1.0\"", "version = \"5.4.2\"").replace("< 1.1", "< 1.3");
    assert_eq!(main_tf(&world, "01-a/x"), after);
    assert_eq!(world.project.read("infrastructure/01-a/x/vm.tf.json"), json.replace("~> 1.0.0", "~> 1.2.0"));
    let plain = World::new().stack("01-a/x", THING, "~> 5.1.0");
    plain.registry.provider("acme/thing", &["5.1.0", "5.4.2"]);
    plain.outdated("--write").succeeds();
    assert!(plain.tofu("01-a/x", &["fmt", "-check"]).status.success());
}

/// Two stacks that share a module, which has a constraint of its own.
fn sharing() -> World {
    let world = World::new();
    world.registry.provider("acme/thing", &["5.1.0", "5.4.2", "6.0.1"]);
    let stack = format!("{}module \"m\" {{\n  source = \"../../modules/m\"\n}}\n", wants(THING, "~> 5.1"));
    let project = world.project.stack("01-a/x", &stack).stack("01-a/y", &stack);
    let project = project.file("infrastructure/modules/m/main.tf", &wants(THING, "~> 5.0"));
    World { project, registry: world.registry }
}

#[test]
fn a_module_that_others_share_stays_and_holds_back_what_must_fit_it() {
    let world = sharing();
    let before = main_tf(&world, "01-a/x");

    let run = world.outdated("--write x").succeeds();

    assert_eq!(main_tf(&world, "01-a/x"), before);
    assert_eq!(main_tf(&world, "modules/m"), wants(THING, "~> 5.0"));
    let run = run.stderr_has("left: infrastructure/modules/m/main.tf:5").stderr_has("shared with 01-a/y");
    // The advice names those that share it too.
    let advice = run.advice("--write");
    world.project.run(&advice).succeeds();
    assert_eq!(main_tf(&world, "modules/m"), wants(THING, "~> 6.0"));
    assert!(main_tf(&world, "01-a/x").contains("~> 6.0") && main_tf(&world, "01-a/y").contains("~> 6.0"));
}

#[test]
fn a_file_that_is_a_link_is_edited_where_it_lies_if_all_its_readers_are_chosen() {
    let world = World::new().stack("01-a/x", THING, "5.1.0");
    world.registry.provider("acme/thing", &["5.1.0", "5.4.2"]);
    std::fs::create_dir_all(world.project.path("infrastructure/01-a/y")).unwrap();
    let link = world.project.path("infrastructure/01-a/y/main.tf");
    std::os::unix::fs::symlink("../x/main.tf", &link).unwrap();
    world.project.write("infrastructure/01-a/x/more.tf", "");
    world.project.write("infrastructure/01-a/y/more.tf", "");

    world.outdated("--write x").succeeds().stderr_has("shared with 01-a/y");
    assert_eq!(main_tf(&world, "01-a/x"), wants(THING, "5.1.0"));
    world.outdated("--write").succeeds();

    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(main_tf(&world, "01-a/x"), wants(THING, "5.4.2"));
}

#[test]
fn a_file_outside_of_the_project_is_never_edited() {
    let world = World::new();
    world.registry.provider("acme/thing", &["5.1.0", "5.4.2"]);
    std::fs::write(world.beside("shared.tf"), wants(THING, "5.1.0")).unwrap();
    world.project.write("infrastructure/01-a/x/main.tf", "");
    std::os::unix::fs::symlink(world.beside("shared.tf"), world.project.path("infrastructure/01-a/x/s.tf"))
        .unwrap();

    world
        .outdated("--write")
        .succeeds()
        .stderr_has("left: infrastructure/01-a/x/s.tf:5")
        .stderr_has("outside of the project");

    assert_eq!(std::fs::read_to_string(world.beside("shared.tf")).unwrap(), wants(THING, "5.1.0"));
}

#[test]
fn what_cannot_be_edited_is_told_and_left() {
    let world = World::new();
    world.registry.module("acme/vm/proxmox", &["1.0.0", "1.2.0", "2.0.0"]);
    world.registry.provider("acme/thing", &["1.0.0", "1.2.0"]);
    let module = "variable \"v\" {\n  default = \"1.0.0\"\n}\nmodule \"vm\" {\n  source  = \"registry.example/acme/vm/proxmox\"\n  version = var.v\n}\n";
    let fault = format!("{}\n}}\n", wants(THING, "1.0.0"));
    let project = world.project.stack("01-a/x", module).stack("01-a/y", &fault);
    let world = World { project, registry: world.registry };

    let run = world.outdated("--write").succeeds();

    run.stderr_has("main.tf:6: `var.v` is no constraint that infra can read")
        .stderr_has("line 10 makes no sense");
    assert_eq!((main_tf(&world, "01-a/x"), main_tf(&world, "01-a/y")), (module.to_owned(), fault));
}

#[test]
fn a_file_that_a_template_makes_is_left_to_the_template() {
    let world = World::new();
    world.registry.provider("acme/thing", &["5.1.0", "5.4.2"]);
    let text = wants(THING, "5.1.0");
    let project = world
        .project
        .file("cluster.yaml", "a: 1\n")
        .file("templates/config/infrastructure/01-a/x/main.tf.j2", &text);
    let world = World { project, registry: world.registry };
    world.project.run("configure --no-init").succeeds();

    world.outdated("--write").succeeds().stderr_has("templates/config/infrastructure/01-a/x/main.tf.j2");

    assert_eq!(main_tf(&world, "01-a/x"), text);
}

#[test]
fn what_is_written_can_be_initialised_with_the_advice_that_is_printed() {
    let world = World::new().stack("01-a/x", THING, "~> 1.0.0");
    let settings = format!(
        "provider_installation {{\n  filesystem_mirror {{\n    path = \"{}\"\n  }}\n}}\n",
        world.beside("mirror").display()
    );
    world.settings(&settings);
    for version in ["1.0.0", "1.2.0", "2.0.0"] {
        let package = world.beside("mirror").join(THING).join(version).join(platform());
        std::fs::create_dir_all(&package).unwrap();
        let program = package.join(format!("terraform-provider-thing_v{version}"));
        std::fs::write(&program, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    world.project.run("init x").succeeds();
    let run = world.outdated("").exits(1);
    let try_major = run.advice("--write 01-a/x");

    let run = world.project.run(&try_major).succeeds();
    world.project.run(&run.advice("init")).succeeds();

    assert!(
        world.project.read("infrastructure/01-a/x/.terraform.lock.hcl").contains("version     = \"2.0.0\"")
    );
    world.outdated("").stderr_has("1 up to date, 0 not known");
}
