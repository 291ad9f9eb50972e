//! How much memory processes may still take, as the system and the control group tell it.
//!
//! A container sees the whole host in `/proc/meminfo`; what it may use stands in its
//! control group. Where nothing is told, nothing is returned.

use std::path::Path;

/// Returns the bytes that new processes can take before something has to give.
pub fn available_memory() -> Option<u64> {
    available_below(Path::new("/"))
}

fn available_below(root: &Path) -> Option<u64> {
    let free = meminfo(&read(root, "proc/meminfo")?)?;
    let groups = read(root, "proc/self/cgroup").unwrap_or_default();
    let group = groups.lines().find_map(|line| line.strip_prefix("0::/")).unwrap_or_default();
    let limits = Path::new(group).ancestors().filter_map(|group| left_in_group(root, group));
    Some(limits.fold(free, u64::min))
}

fn meminfo(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// Returns what a control group still allows; `max` is no limit.
fn left_in_group(root: &Path, group: &Path) -> Option<u64> {
    let folder = Path::new("sys/fs/cgroup").join(group);
    let limit: u64 = read(root, folder.join("memory.max"))?.trim().parse().ok()?;
    let used: u64 = read(root, folder.join("memory.current"))?.trim().parse().ok()?;
    Some(limit.saturating_sub(used))
}

fn read(root: &Path, file: impl AsRef<Path>) -> Option<String> {
    std::fs::read_to_string(root.join(file)).ok()
}

/// Lets the allocator keep so many freed bytes for their next use, in place of handing them back to the
/// system and asking for them anew each time.
///
/// That of glibc takes a large piece that comes and goes as its measure, see M_MMAP_THRESHOLD in
/// mallopt(3): up to its size nothing goes back, up to twice of it stays at the end of the heap. A
/// second, smaller piece on another thread gets that thread its memory at once. Nothing is written
/// to the piece, so it costs no memory; other allocators are none the wiser.
pub fn keep_freed_memory(bytes: usize) {
    let mut piece: Vec<u8> = Vec::new();
    // Where there is no room for it, all is as it was.
    let _ = piece.try_reserve_exact(bytes);
    drop(std::hint::black_box(piece));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (file, text) in files {
            let file = root.path().join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
        root
    }

    #[test]
    fn without_a_limit_the_machine_s_free_memory_counts() {
        let root = machine(&[("proc/meminfo", "MemTotal: 99 kB\nMemAvailable:   2048 kB\n")]);

        assert_eq!(available_below(root.path()), Some(2048 * 1024));
    }

    #[test]
    fn a_limit_of_any_group_above_counts_too() {
        let root = machine(&[
            ("proc/meminfo", "MemAvailable: 8192 kB\n"),
            ("proc/self/cgroup", "0::/pod/box\n"),
            ("sys/fs/cgroup/pod/box/memory.max", "max\n"),
            ("sys/fs/cgroup/pod/box/memory.current", "5\n"),
            ("sys/fs/cgroup/pod/memory.max", "3000\n"),
            ("sys/fs/cgroup/pod/memory.current", "1000\n"),
        ]);

        assert_eq!(available_below(root.path()), Some(2000));
    }

    #[test]
    fn a_system_that_tells_nothing_has_no_figure() {
        assert_eq!(available_below(machine(&[]).path()), None);
        assert_eq!(available_below(machine(&[("proc/meminfo", "MemAvailable: lots\n")]).path()), None);
    }
}
