//! The cores of this machine: one for the door alone, if it is to have one.
//!
//! Linux likes to run a program on the core of the thread that wakes it, in the place of that thread. A door that
//! sends a reply would be interrupted by the program that gets it, and the next reply is late. On a core of its own,
//! with programs on others, it is not.

use crate::awake::Awake;
use crate::problem::Problem;
use rustix::process::getpid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// What a door does with cores.
#[derive(Debug)]
pub struct Cores {
    /// Cores that do not sleep.
    pub awake: Awake,
    own: Option<Own>,
}

/// The core of a door, and those of everything else.
#[derive(Clone, Copy, Debug)]
struct Own {
    one: CpuSet,
    others: CpuSet,
}

impl Cores {
    /// With this core for the door alone, or any.
    ///
    /// # Errors
    /// This process may not run on that core, or on no other.
    pub fn new(awake: Awake, own: Option<usize>) -> Result<Self, Problem> {
        Ok(Self { awake, own: own.map(Own::new).transpose()? })
    }
    /// Moves this thread to the door's own core.
    pub fn take_own(&self) {
        self.own.iter().for_each(|own| place(&own.one));
    }
    /// Moves this thread off it, and those that it starts.
    pub fn leave_own(&self) {
        self.own.iter().for_each(|own| place(&own.others));
    }
    /// Where a reader of the door runs: on one core with the door, or on any, which is what programs do; on others than
    /// the door's own.
    #[must_use]
    pub(crate) fn of_readers(&self) -> [Option<CpuSet>; 2] {
        match &self.own {
            Some(own) => [Some(own.others); 2],
            None => {
                let mut one = CpuSet::new();
                one.set(rustix::thread::sched_getcpu());
                let all = sched_getaffinity(None).ok();
                // where it is not known the scheduler decides
                [all.map(|_| one), all]
            }
        }
    }
}

impl Own {
    fn new(core: usize) -> Result<Self, Problem> {
        // of the first thread: this one may have left a core already
        let all = sched_getaffinity(Some(getpid())).unwrap_or_default();
        let (mut one, mut others) = (CpuSet::new(), all);
        let is_allowed = core < CpuSet::MAX_CPU && all.is_set(core);
        if !is_allowed || all.count() < 2 {
            let known = (0..CpuSet::MAX_CPU).filter(|&core| all.is_set(core)).map(|core| core.to_string());
            return Err(Problem::NoCore { core, known: known.collect::<Vec<_>>().join(", ") });
        }
        one.set(core);
        others.unset(core);
        Ok(Self { one, others })
    }
}

/// Where that is not allowed the scheduler decides.
pub(crate) fn place(cores: &CpuSet) {
    let _ = sched_setaffinity(None, cores);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_door_has_a_core_that_there_is_and_leaves_others() {
        let all = sched_getaffinity(Some(getpid())).expect("a process has cores");
        let first = (0..CpuSet::MAX_CPU).find(|&core| all.is_set(core)).expect("one at least");
        let cores = std::thread::spawn(move || {
            let cores = Cores::new(Awake::not_wanted(), Some(first));
            if let Ok(cores) = &cores {
                cores.take_own();
                assert_eq!(sched_getaffinity(None).expect("cores").count(), 1);
                cores.leave_own();
                let others = sched_getaffinity(None).expect("cores");
                assert!(!others.is_set(first) && others.count() == all.count() - 1);
                assert_eq!(cores.of_readers(), [Some(others); 2]);
            }
            cores.is_ok()
        });
        assert_eq!(cores.join().expect("no panic"), all.count() > 1);
        let none = Cores::new(Awake::not_wanted(), Some(CpuSet::MAX_CPU)).expect_err("there is none");
        assert!(matches!(none, Problem::NoCore { .. }));
    }
}
