//! Mirrors in a folder and on the network, as `provider_installation` names them.

use crate::THING;
use crate::registry::{Answer, Registry};
use crate::world::{HOST, World, platform};

/// Puts empty packages of versions into a mirror, in the layout that is used in place.
fn unpacked(world: &World, mirror: &str, versions: &[&str]) {
    for version in versions {
        let package = world.beside(mirror).join(THING).join(version).join(platform());
        std::fs::create_dir_all(&package).unwrap();
        std::fs::write(package.join(format!("terraform-provider-thing_v{version}")), "#!/bin/sh\n").unwrap();
    }
}

#[test]
fn a_folder_that_the_settings_name_is_read_in_place_of_the_registry() {
    let world = World::new().stack("01-a/x", THING, "~> 1.0");
    unpacked(&world, "mirror", &["1.0.0", "1.2.0"]);
    let packed = world
        .beside("mirror")
        .join(THING)
        .join(format!("terraform-provider-thing_1.10.0_{}.zip", platform()));
    std::fs::write(packed, "").unwrap();
    world.settings(&format!(
        "provider_installation {{\n  filesystem_mirror {{\n    path    = \"{}\"\n    include = [\"{HOST}/*/*\"]\n  }}\n  direct {{\n    exclude = [\"{HOST}/*/*\"]\n  }}\n}}\n",
        world.beside("mirror").display()
    ));

    let row = world.row(THING);

    assert_eq!((&row["newest"], &row["known"]), (&"1.10.0".into(), &true.into()));
    assert_eq!(world.registry.paths(), ["/tofu/api.json"]);
}

#[test]
fn a_folder_that_tofu_finds_by_itself_takes_the_place_of_the_registry_for_what_it_holds() {
    let world =
        World::new().stack("01-a/x", THING, "~> 1.0").stack("01-a/y", "registry.example/acme/other", "1.0.0");
    world.registry.provider("acme/thing", &["1.9.0"]);
    world.registry.provider("acme/other", &["1.0.0"]);
    unpacked(&world, "home/.terraform.d/plugins", &["1.2.0"]);

    let row = world.row(THING);
    let by_infra = world.registry.paths();
    world.registry.forget();
    world.tofu("01-a/x", &["init"]);

    assert_eq!(row["newest"], "1.2.0");
    assert!(
        by_infra.contains(&"/p/acme/other/versions".to_owned())
            && !by_infra.contains(&"/p/acme/thing/versions".to_owned())
    );
    assert_eq!(world.registry.paths(), [""; 0]);
    assert!(world.project.read("infrastructure/01-a/x/.terraform.lock.hcl").contains("1.2.0"));
}

#[test]
fn a_mirror_on_the_network_is_asked_with_its_own_token_as_tofu_asks_it() {
    let folder = tempfile::tempdir().unwrap();
    let mirror = Registry::tls(folder.path());
    let index = format!("/mirror/{THING}/index.json");
    mirror.answer(&index, Answer::Json(r#"{"versions":{"1.0.0":{},"1.2.0":{},"2.0.0":{}}}"#.to_owned()));
    let settings = format!(
        "provider_installation {{\n  network_mirror {{\n    url = \"{}\"\n  }}\n}}\n",
        mirror.url("/mirror/")
    );
    let token = format!("TF_TOKEN_{}", mirror.host);
    let pem = folder.path().join("tls.pem");
    let world =
        World::of(mirror, &settings).env("SSL_CERT_FILE", pem.to_str().unwrap()).env(&token, "m1rr0r");
    let world = world.stack("01-a/x", THING, "~> 1.0");

    let row = world.row(THING);
    let seen = || world.registry.seen().into_iter().filter(|seen| seen.path == index).collect::<Vec<_>>();
    let by_infra = seen();
    world.registry.forget();
    world.tofu("01-a/x", &["init"]);

    assert_eq!((&row["newest"], &row["uses"][0]["allowed"]), (&"2.0.0".into(), &"1.2.0".into()));
    assert_eq!(by_infra[0].token.as_deref(), Some("Bearer m1rr0r"));
    assert_eq!(seen(), by_infra);
    assert!(
        world.registry.paths().contains(&format!("/mirror/{THING}/1.2.0.json")),
        "{:?}",
        world.registry.paths()
    );
}

#[test]
fn what_no_method_is_for_and_what_infra_cannot_ask_is_not_known() {
    let world = World::new().stack("01-a/x", THING, "~> 1.0");
    world.registry.provider("acme/thing", &["1.0.0"]);
    for (method, why) in [
        ("direct {\n exclude = [\"registry.example/*/*\"]\n}", "no method of `provider_installation`"),
        (
            "oci_mirror {\n repository_template = \"r.example/${namespace}/${type}\"\n include = [\"registry.example/*/*\"]\n}",
            "`oci_mirror`",
        ),
        ("filesystem_mirror {\n path = \"/nowhere/at/all\"\n}", "`/nowhere/at/all` is no folder"),
    ] {
        world.settings(&format!("provider_installation {{\n{method}\n}}\n"));
        world.outdated("").exits(69).stdout_has(why);
    }
}
