//! What this machine bears: how many tofu processes at once, by cores and free memory.

use std::thread::available_parallelism;

use super::memory::available_memory;

/// What a tofu with its providers may need, in bytes.
const MEMORY_EACH: u64 = 400 << 20;

/// More at once only makes providers' interfaces refuse requests.
const MOST: usize = 10;

/// Returns how many stacks may run at once if no setting says it.
pub fn bearable_parallelism() -> usize {
    let cores = available_parallelism().map_or(2, usize::from);
    bearable(cores, available_memory())
}

fn bearable(cores: usize, memory: Option<u64>) -> usize {
    let by_memory = memory.and_then(|memory| usize::try_from(memory / MEMORY_EACH).ok()).unwrap_or(MOST);
    cores.max(2).min(by_memory).clamp(1, MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_and_memory_limit_and_at_least_one_always_runs() {
        const GIB: u64 = 1 << 30;

        assert_eq!(bearable(4, Some(16 * GIB)), 4);
        assert_eq!(bearable(4, Some(GIB)), 2);
        assert_eq!(bearable(64, Some(500 * GIB)), MOST);
        assert_eq!(bearable(1, None), 2);
        assert_eq!(bearable(8, Some(0)), 1);
    }
}
