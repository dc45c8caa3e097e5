//! How far each command has come: what its trail was when everything that it needs had arrived, and when the medium was
//! done with it.

use crate::requests;
use lanetwin_kernel::Trail;

lanetwin_kernel::stages! {
    after requests::STAGES;
    FETCH = "queue for a fetch",
    ENGINE_QUEUE = "queue for a firmware engine",
    ENGINE = "firmware engine",
    FIRMWARE = "firmware, without an engine",
    MEDIUM = "medium",
    ANSWER = "answer",
    CMB = "memory of the drive",
    HOST_WRITE = "queue for a host write",
}

/// The stages of requests and front together, before those of a device that has more of its own.
pub(crate) const FRONT_STAGES: [&str; requests::STAGES.len() + STAGES.len()] = {
    let (mut all, mut place) = ([""; requests::STAGES.len() + STAGES.len()], 0);
    while place < all.len() {
        let own = place >= requests::STAGES.len();
        all[place] = if own { STAGES[place - requests::STAGES.len()] } else { requests::STAGES[place] };
        place += 1;
    }
    all
};

/// A command that is known: the trails of what it waited for.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Command {
    /// Its entry, its lists, its data: of what came last.
    pub(crate) arrived: Trail,
    /// The medium; none before that is done with a part of it.
    pub(crate) done: Trail,
}

/// The commands and doorbells of controllers, by the name of a command on the link and by queue.
#[derive(Default)]
pub(crate) struct Known {
    /// By controller and queue, then by identifier.
    commands: Vec<Vec<Command>>,
    /// By controller and queue: that of the first doorbell since the last fetch.
    rung: Vec<Trail>,
}

/// The place of a queue, by the upper half of the names of its commands: the upper bit is the controller's.
const fn place(name: u32) -> usize {
    ((name >> 16 & 0x7fff) << 1 | name >> 31) as usize
}

impl Known {
    /// What is known of a command of this name.
    #[inline]
    pub(crate) fn command(&mut self, name: u32) -> &mut Command {
        let (queue, command) = (place(name), (name & 0xffff) as usize);
        if self.commands.len() <= queue {
            self.commands.resize(queue + 1, Vec::new());
        }
        let commands = &mut self.commands[queue];
        if commands.len() <= command {
            commands.resize(command + 1, Command::default());
        }
        &mut commands[command]
    }
    /// The doorbell of the queue of such commands; none if none came since the last fetch.
    #[inline]
    pub(crate) fn doorbell(&mut self, name: u32) -> &mut Trail {
        let queue = place(name);
        if self.rung.len() <= queue {
            self.rung.resize(queue + 1, Trail::NONE);
        }
        &mut self.rung[queue]
    }
}
