//! Who asks a bucket: whatever tofu's own backend takes for it, infra takes too.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};

use crate::minio::{Minio, PASSWORD, USER, minio};
use crate::support::{Project, SIMPLE, tofu};

/// A folder of a person, outside of every project.
struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, path: &str, text: &str) -> String {
        let path = self.0.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    }
}

/// A stack in a bucket of MinIO, with more in its block.
fn stack_in(bucket: &str, more: &str) -> String {
    SIMPLE.replace("backend \"http\" {}", &block_in(bucket, more))
}

/// The backend block of a bucket of MinIO, with more in it.
pub fn block_in(bucket: &str, more: &str) -> String {
    let endpoint = format!("http://{}", minio().address);
    format!(
        "backend \"s3\" {{\n bucket = \"{bucket}\"\n key = \"x.tfstate\"\n use_lockfile = true\n \
         use_path_style = true\n skip_credentials_validation = true\n skip_region_validation = true\n \
         skip_requesting_account_id = true\n endpoints = {{ s3 = \"{endpoint}\", sts = \"{endpoint}\" }}\n \
         {more}\n }}"
    )
}

pub const REGION: &str = "region = \"us-east-1\"\n skip_metadata_api_check = true";

fn keys() -> String {
    format!("aws_access_key_id = {USER}\naws_secret_access_key = {PASSWORD}\n")
}

/// Prints the keys of MinIO.
fn program() -> String {
    format!(r#"echo '{{"Version": 1, "AccessKeyId": "{USER}", "SecretAccessKey": "{PASSWORD}"}}'"#)
}

/// Answers requests whose first line contains a text with a text, on a port of its own.
fn answering(answers: Vec<(&'static str, String)>) -> SocketAddr {
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in socket.incoming().flatten() {
            let mut seen = [0; 4096];
            let read = stream.read(&mut seen).unwrap_or_default();
            let head = String::from_utf8_lossy(&seen[..read]).into_owned();
            let line = head.lines().next().unwrap_or_default();
            let found = answers.iter().find(|(part, _)| line.contains(part));
            let (status, body) = found.map_or(("404 Not Found", ""), |(_, body)| ("200 OK", body.as_str()));
            let length = body.len();
            let head = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
            let _ = stream.write_all((head + body).as_bytes());
        }
    });
    address
}

fn short_lived() -> String {
    format!(
        r#"{{"Code": "Success", "AccessKeyId": "{USER}", "SecretAccessKey": "{PASSWORD}", "Token": "", "Expiration": "2999-01-01T00:00:00Z"}}"#
    )
}

/// The same project with these variables.
fn with(mut project: Project, variables: &[(&str, &str)]) -> Project {
    for (name, value) in variables {
        project = project.env(name, value);
    }
    project
}

/// tofu, and everything that infra does with a bucket by itself.
fn works(what: &str, project: &Project) {
    for args in ["apply x --yes", "locks", "state list x"] {
        let done = project.run(args);
        assert_eq!(done.code, Some(0), "{what}: {args}: {}", done.stderr);
    }
    let doctor = project.run("doctor --json").json();
    let about_state = |finding: &&serde_json::Value| {
        ["locks", "state", "states"].contains(&finding["check"].as_str().unwrap())
    };
    let failed: Vec<_> =
        doctor.as_array().unwrap().iter().filter(about_state).filter(|f| f["status"] == "fail").collect();
    assert!(failed.is_empty(), "{what}: {failed:?}");
    let moved = project.run("state migrate x --to embedded --yes");
    assert_eq!(moved.code, Some(0), "{what}: {}", moved.stderr);
    assert_eq!(project.resources("x"), ["terraform_data.thing"], "{what}");
}

#[test]
fn keys_of_the_block_and_profiles_of_files_open_a_bucket() {
    let home = Home::new();
    let credentials = home.file("credentials", &format!("[lab]\n{}", keys()));
    let config = home.file("config", &format!("[profile lab]\nregion = us-east-1\n{}", keys()));
    let project = |more: &str| Project::new().stack("x", &stack_in(&minio().bucket(), more));

    let block = format!("{REGION}\n access_key = \"{USER}\"\n secret_key = \"{PASSWORD}\"");
    works("keys of the block", &project(&block));
    let variables = [("AWS_PROFILE", "lab"), ("AWS_SHARED_CREDENTIALS_FILE", &credentials)];
    works("AWS_PROFILE", &with(project(REGION), &variables));
    let block = format!("{REGION}\n profile = \"lab\"");
    works("profile of the block", &with(project(&block), &[("AWS_CONFIG_FILE", &config)]));
}

#[test]
fn files_and_variables_that_the_project_names_open_a_bucket() {
    let block = format!("{REGION}\n profile = \"lab\"\n shared_credentials_files = [\"../keys\"]");
    let project = Project::new()
        .stack("x", &stack_in(&minio().bucket(), &block))
        .file("infrastructure/keys", &format!("[lab]\n{}", keys()));
    works("a file beside the stack", &project);

    let home = Home::new();
    let config = home.file("config", &format!("[profile lab]\n{}", keys()));
    let project = Project::new()
        .config("stacks:\n  x: { env: { AWS_PROFILE: lab } }\n")
        .stack("x", &stack_in(&minio().bucket(), REGION))
        .env("AWS_CONFIG_FILE", &config);
    works("AWS_PROFILE of infra.yaml", &project);
}

#[test]
fn a_program_of_the_person_opens_a_bucket_and_is_run_once_for_many_stacks() {
    let home = Home::new();
    let counted =
        home.file("program.sh", &format!("echo ran >> \"$(dirname \"$0\")/count\"\n{}\n", program()));
    let config = home.file("config", &format!("[default]\ncredential_process = sh \"{counted}\" --x\n"));
    let bucket = minio().bucket();
    let mut project = Project::new().env("AWS_CONFIG_FILE", &config);
    for name in ["x", "y", "z"] {
        project =
            project.stack(name, &stack_in(&bucket, REGION).replace("x.tfstate", &format!("{name}.tfstate")));
    }

    project.run("locks").succeeds();
    let count = std::fs::read_to_string(home.0.path().join("count")).unwrap();
    assert_eq!(count, "ran\n");
    works("credential_process", &project);
}

#[test]
fn a_role_is_taken_with_the_keys_of_another_profile_or_of_the_block() {
    let home = Home::new();
    let config = format!(
        "[profile top]\nrole_arn = arn:xxx:xxx:xxx:xxxx\nsource_profile = base\nrole_session_name = me\n[profile base]\n{}",
        keys()
    );
    let config = home.file("config", &config);
    let project =
        |more: &str| Project::new().stack("x", &stack_in(&minio().bucket(), &format!("{REGION}\n {more}")));

    let endpoint = format!("http://{}", minio().address);
    let variables =
        [("AWS_PROFILE", "top"), ("AWS_CONFIG_FILE", &config), ("AWS_ENDPOINT_URL_STS", &endpoint)];
    works("source_profile", &with(project(""), &variables));
    let role = "assume_role = { role_arn = \"arn:xxx:xxx:xxx:xxxx\", duration = \"15m\" }";
    works(
        "assume_role",
        &with(project(role), &[("AWS_ACCESS_KEY_ID", USER), ("AWS_SECRET_ACCESS_KEY", PASSWORD)]),
    );
}

#[test]
fn a_container_and_a_machine_give_credentials() {
    let project = |more: &str| {
        Project::new().stack("x", &stack_in(&minio().bucket(), &format!("region = \"us-east-1\"\n {more}")))
    };
    let agent = answering(vec![("GET /credentials", short_lived())]);
    let uri = format!("http://{agent}/credentials");
    works(
        "container",
        &with(project("skip_metadata_api_check = true"), &[("AWS_CONTAINER_CREDENTIALS_FULL_URI", &uri)]),
    );

    let role = "/latest/meta-data/iam/security-credentials/admin";
    let machine = answering(vec![
        ("PUT /latest/api/token", "token".into()),
        (role, short_lived()),
        ("security-credentials/", "admin".into()),
    ]);
    let endpoint = format!("http://{machine}");
    works("machine", &with(project(""), &[("AWS_EC2_METADATA_SERVICE_ENDPOINT", &endpoint)]));
}

#[test]
fn a_login_in_the_cache_gives_credentials_and_one_that_ended_says_so() {
    let home = Home::new();
    let cache = |ends: &str| {
        // The name is the SHA-1 of `corp`.
        let name = ".aws/sso/cache/ee0bfd2552fbd840c02cc48b6e823320543c450f.json";
        home.file(name, &format!(r#"{{"accessToken": "t0ken", "expiresAt": "{ends}"}}"#))
    };
    home.file(
        ".aws/config",
        "[profile lab]\nsso_session = corp\nsso_account_id = 1\nsso_role_name = admin\n[sso-session corp]\nsso_region = us-east-1\nsso_start_url = https://corp.example/start\n",
    );
    let answer = format!(
        r#"{{"roleCredentials": {{"accessKeyId": "{USER}", "secretAccessKey": "{PASSWORD}", "sessionToken": "", "expiration": 32472144000000}}}}"#
    );
    let portal = answering(vec![("GET /federation/credentials?", answer)]);
    let cached = tofu().ancestors().find(|path| path.ends_with("infra")).and_then(Path::parent).unwrap();
    let variables = [
        ("AWS_PROFILE", "lab".to_owned()),
        ("AWS_ENDPOINT_URL_SSO", format!("http://{portal}")),
        ("HOME", home.0.path().display().to_string()),
        ("XDG_CACHE_HOME", cached.display().to_string()),
    ];
    let variables: Vec<(&str, &str)> =
        variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let project = with(Project::new().stack("x", &stack_in(&minio().bucket(), REGION)), &variables);

    cache("2020-01-01T00:00:00Z");
    let ended = project.run("locks").exits(77);
    cache("2999-01-01T00:00:00Z");

    ended.stderr_has("is not logged in").stderr_has("`aws sso login --profile lab`").stderr_lacks("t0ken");
    works("sso", &project);
}

#[test]
fn without_credentials_it_is_told_what_was_tried() {
    let home = Home::new();
    let config = home.file("config", "[profile one]\nregion = x\n[profile two]\nregion = x\n");
    let none =
        Project::new().stack("x", &stack_in(&minio().bucket(), REGION)).env("AWS_CONFIG_FILE", &config);
    let none = none.env("AWS_SHARED_CREDENTIALS_FILE", "/none");

    let told = none.run("locks").exits(77);
    told.stderr_has("there are no credentials for the bucket")
        .stderr_has("tried environment: AWS_ACCESS_KEY_ID")
        .stderr_has("tried profile `default`: not in")
        .stderr_has("tried container:")
        .stderr_has("tried instance metadata: switched off")
        .stderr_has("(there are: one, two)");
    let misspelt = none.env("AWS_PROFILE", "tow").run("locks").exits(77);
    misspelt.stderr_has("there is no AWS profile `tow`").stderr_has("did you mean `two`?");
}

/// Returns a project whose own file names a program.
fn with_a_program_of_its_own(bucket: &str) -> (Project, PathBuf) {
    let block = format!("{REGION}\n profile = \"lab\"\n shared_config_files = [\"./aws\"]");
    let project = Project::new().stack("x", &stack_in(bucket, &block));
    let proof = project.path("proof");
    let text = format!("[profile lab]\ncredential_process = touch {}; {}\n", proof.display(), program());
    project.write("infrastructure/x/aws", &text);
    (project, proof)
}

#[test]
fn a_program_that_the_repository_names_is_not_run_without_a_yes() {
    let (project, proof) = with_a_program_of_its_own(&minio().bucket());

    for args in ["locks", "plan x", "state list x", "state migrate x --to embedded --yes"] {
        project.run(args).exits(77).stderr_has("infrastructure/x/aws").stderr_has("infra");
    }
    let _ = project.run("doctor");
    assert!(!proof.exists(), "it was run");

    let listed = project.run("trust --json").json();
    assert_eq!(listed[0]["kind"], "credential-file");
    project.run("trust --yes").succeeds();
    project.run("locks").succeeds();
    assert!(proof.exists());
    project.write("infrastructure/x/aws", &(project.read("infrastructure/x/aws") + "# changed\n"));
    project.run("locks").exits(77).stderr_has("changed since your yes");
    project.run("trust --yes").succeeds();
    works("trusted", &project);
}

#[test]
fn a_store_in_a_bucket_takes_a_profile_too() {
    let home = Home::new();
    let server: &Minio = minio();
    let credentials = home.file("credentials", &format!("[lab]\n{}", keys()));
    let project = Project::new()
        .config(&format!("state:\n  store: {}\n", server.fresh_url()))
        .stack("01-a/x", SIMPLE)
        .env("AWS_PROFILE", "lab")
        .env("AWS_SHARED_CREDENTIALS_FILE", &credentials);

    project.run("apply x --yes").succeeds();

    project.run("state history x").succeeds();
    project.run("state probe").succeeds();
    project.run("locks").succeeds();
    assert_eq!(project.resources("x"), ["terraform_data.thing"]);
}
