//! Entries and exits, which connect a kernel to the program around it.
//!
//! ```text
//!            inject(at, entry, message)                       take_out()
//!  outside ────────────────────────────► port … port ──► outbox ────────► outside, in the order of time
//! ```
//!
//! In order and digest an entry or exit is named by the port that it leads to or from. Only entries to the same port
//! are ordered by their creation.

use crate::ids::{ComponentId, Port};
use lanetwin_units::{Instant, id};

/// Stands for the program at the other end of an entry or exit.
pub(crate) const OUTSIDE: ComponentId = ComponentId(u32::MAX);

/// A port of a component. For [`OUTSIDE`]: the number of an entry among those to the same port, and 0 for every exit.
pub(crate) type Side = (ComponentId, Port);

id! {
    /// A way into a kernel from outside, made by [`crate::Builder::entry`].
    EntryId(u32) => "in";
    /// A way out of a kernel, made by [`crate::Builder::exit`].
    ExitId(u32) => "out";
}

/// A message that has left a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Emitted<M> {
    /// Time of arrival outside.
    pub at: Instant,
    /// The exit that it left through.
    pub exit: ExitId,
    /// The message itself.
    pub message: M,
}

/// The entries and exits of a kernel, and the messages that have left it.
pub(crate) struct Outside<M> {
    /// The channel of each entry.
    entries: Vec<u32>,
    /// The channels that are exits, sorted by channel.
    exits: Vec<(u32, ExitId)>,
    /// Messages that have left and were not taken out, in the order of time.
    pub(crate) outbox: Vec<Emitted<M>>,
}

impl<M> Outside<M> {
    /// Takes the channels of the entries and those of the exits, each in the order of creation.
    pub(crate) fn new(entries: Vec<u32>, exits: Vec<u32>) -> Self {
        let mut exits: Vec<_> = exits.into_iter().zip((0..).map(ExitId)).collect();
        exits.sort_unstable();
        Self { entries, exits, outbox: Vec::new() }
    }
    /// The channel of an entry.
    pub(crate) fn channel(&self, entry: EntryId) -> u32 {
        *self.entries.get(entry.index()).expect("an entry of this kernel")
    }
    /// Stores a message that has left through a channel at `at`.
    #[inline(never)]
    pub(crate) fn keep(&mut self, at: Instant, channel: u32, message: M) {
        let place =
            self.exits.binary_search_by_key(&channel, |exit| exit.0).expect("a channel that leads out");
        self.outbox.push(Emitted { at, exit: self.exits[place].1, message });
    }
}
