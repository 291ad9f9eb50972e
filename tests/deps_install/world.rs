//! A machine for one test: an empty home, a PATH of its own, programs that write down their calls.

use std::cell::RefCell;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use infra::error::{Error, Result};
use infra::model::TofuSettings;
use infra::model::{Clock, Environment};
use infra::process::{self, Interrupts, Invocation};
use infra::tofu::{self, LocateRequest, Progress, ReleaseSource, Search, Tofu};
use tempfile::TempDir;

use crate::release::Release;
use crate::release_server::ReleaseServer;

/// What tells the program about its world; all of it below one temporary folder.
pub struct World {
    folder: TempDir,
    pub env: Environment,
    pub settings: TofuSettings,
    pub source: ReleaseSource,
    interrupts: Interrupts,
    pub progress: RefCell<Vec<Progress>>,
}

impl World {
    /// Makes a world in which nothing is installed and no release can be reached.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for name in ["bin", "project"] {
            std::fs::create_dir(folder.path().join(name)).expect("a temporary folder");
        }
        let env = Environment::default()
            .with("PATH", folder.path().join("bin"))
            .with("XDG_CACHE_HOME", folder.path().join("cache"));
        let source = ReleaseSource::at(&format!("http://{}", closed_port()), "");
        let interrupts = Interrupts::listen().expect("signals can be heard");
        Self {
            folder,
            env,
            settings: TofuSettings::default(),
            source,
            interrupts,
            progress: RefCell::default(),
        }
    }

    /// Makes a world in which a release can be fetched.
    pub async fn with_release(release: &Release) -> (Self, ReleaseServer) {
        let server = release.serve().await;
        let source = ReleaseSource::at(&server.url, release.armored_key());
        (Self { source, ..Self::new() }, server)
    }

    /// Returns a path in this world.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a program.
    ///
    /// The last copy is made by another process: were the file open for writing here, a child
    /// that a neighbouring test forks at that moment would keep it busy.
    pub async fn program(&self, name: &str, script: &str) -> PathBuf {
        let (draft, path) = (self.path("draft"), self.path(name));
        std::fs::write(&draft, script).expect("a temporary folder");
        std::fs::set_permissions(&draft, PermissionsExt::from_mode(0o755)).expect("its own file");
        let copy =
            Invocation::new("/bin/cp", self.folder.path(), Environment::default()).args([&draft, &path]);
        let copied = process::capture(copy, &self.interrupts).await.expect("every system copies files");
        assert!(copied.status.success());
        path
    }

    /// Returns the text of a tofu of a version that writes down each call.
    pub fn tofu(&self, version: &str) -> String {
        let log = self.path("tofu.log");
        format!(
            "#!/bin/sh\necho \"$*\" >> {}\necho '{{\"terraform_version\":\"{version}\"}}'\n",
            log.display()
        )
    }

    /// Returns what was written down by programs under this name.
    pub fn calls(&self, log: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.path(log)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    pub fn request(&self) -> LocateRequest<'_> {
        LocateRequest {
            root: self.folder.path(),
            settings: &self.settings,
            env: &self.env,
            source: &self.source,
            clock: Clock::new(|| jiff::Timestamp::UNIX_EPOCH),
            interrupts: &self.interrupts,
        }
    }

    pub async fn locate(&self) -> Result<Tofu> {
        tofu::locate(&self.request(), &|step| self.progress.borrow_mut().push(step)).await
    }

    pub async fn search(&self) -> Result<Search> {
        tofu::search(&self.request()).await
    }

    /// Locates and returns the error that must come.
    pub async fn refuses(&self) -> Error {
        self.locate().await.expect_err("nothing can be found or installed here")
    }

    /// Returns all files and folders of the cache, relative and sorted.
    pub fn cache(&self) -> Vec<String> {
        let root = self.path("cache/infra/tofu");
        let mut found = Vec::new();
        let mut folders = vec![root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path();
                found.push(path.strip_prefix(&root).expect("below the root").display().to_string());
                folders.extend(path.is_dir().then_some(path));
            }
        }
        found.sort();
        found
    }
}

/// Returns an address at which nobody listens.
pub fn closed_port() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("it is bound").to_string()
}
