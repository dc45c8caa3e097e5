//! A driver that is one of several paths to a drive: detection of the loss of its path, and restart.
//!
//! ```text
//!  link down ─ driver.link-loss ─┐
//!  oldest command ─ driver.timeout ─┴─► lost: everything is answered Aborted ─► PATH_LOST
//!  link up ─ driver.link-loss ─► CC.EN 0 ─ driver.enable ─► new rings, the start once more ─► PATH_WORKS
//! ```
//!
//! Late completions in the old rings are ignored: the rings are freed when the controller is next enabled, and may be
//! reused from then on. A path lost by a time-out while its link is up is reset at once, as in Linux.

use super::path::Path;
use super::queue::{self, Queue};
use super::start::Start;
use super::{FIRST_LOAD, NvmeDriver, Place, Task};
use crate::roles::nvme::{Outage, PATH_LOST, PATH_WORKS};
use lanetwin_kernel::Port;
use lanetwin_nvme::spec::registers;
use lanetwin_ports::{Context, Done, Message, Status};
use lanetwin_units::Span;

/// A controller that is not ready after this time is disabled and enabled again. It waits for operations of its
/// medium, which take as long as a flash program, and this driver does not read CSTS.RDY.
const PATIENCE: Span = Span::from_us(5_000);

impl NvmeDriver {
    /// Makes the driver one of several paths, with these outages of its link. Must be called before the run starts.
    pub fn become_path(&mut self, outages: Vec<Outage>) {
        self.path = Some(Path { outages, lost: false, watching: false, losses: 0, retired: Vec::new() });
    }
    /// Number of losses of the path; 0 for a driver that is not one of several paths.
    #[must_use]
    pub fn losses(&self) -> u64 {
        self.path.as_ref().map_or(0, |path| path.losses)
    }

    /// Starts the controller, if it is there.
    pub(super) fn begin(&mut self, cx: &mut Context<'_>) {
        let now = cx.now();
        if !self.path.as_mut().is_none_or(|path| path.is_there(now)) {
            return;
        }
        let Some(place) = &self.place else { return };
        place.start.registers().iter().for_each(|&(offset, value)| self.write(now, offset, value, cx));
        self.agenda.put(now + self.software.enable, Task::Enabled, cx);
    }

    /// Schedules the driver's reactions to outages of its link.
    pub(super) fn await_outages(&mut self, cx: &mut Context<'_>) {
        let rules = self.software.path;
        for Outage { from, until } in self.path.iter().flat_map(|path| path.outages.clone()) {
            if rules.link_events {
                self.agenda.put(from + rules.link_loss, Task::LinkDown, cx);
            }
            self.agenda.put(until + rules.link_loss, Task::LinkUp, cx);
        }
    }

    /// Schedules a check for a time-out after a request.
    pub(super) fn watch_time(&mut self, cx: &mut Context<'_>) {
        let timeout = self.software.path.timeout;
        let Some(path) = self.path.as_mut().filter(|path| !path.watching && !path.lost) else { return };
        path.watching = true;
        self.agenda.put(cx.now() + timeout, Task::Overdue, cx);
    }
    /// Gives the path up if the oldest command has taken too long, or looks again when it could have.
    pub(super) fn overdue(&mut self, cx: &mut Context<'_>) {
        let (now, timeout) = (cx.now(), self.software.path.timeout);
        let Some(path) = self.path.as_mut() else { return };
        path.watching = false;
        match self.queues.iter().filter_map(Queue::oldest).min() {
            Some(oldest) if oldest + timeout <= now => {
                let is_down = |outage: &Outage| outage.from <= now && now < outage.until;
                let waits_for_link = path.outages.iter().any(is_down);
                self.lose(cx);
                if !waits_for_link {
                    self.reset(cx);
                }
            }
            Some(oldest) => {
                path.watching = true;
                self.agenda.put(oldest + timeout, Task::Overdue, cx);
            }
            None => {}
        }
    }

    /// Handles the loss of the path: all requests are answered, with unknown outcome.
    pub(super) fn lose(&mut self, cx: &mut Context<'_>) {
        let Some(path) = self.path.as_mut().filter(|path| !path.lost) else { return };
        path.lost = true;
        path.losses += 1;
        self.lose_scheduled();
        self.tell(PATH_LOST, cx);
        // the state of the path is known before the first answer
        let at = cx.now() + self.software.complete;
        for load in 0..self.queues.len() as u16 {
            for (handle, trail) in self.queues[usize::from(load)].give_up(cx.now()) {
                cx.resume(trail);
                cx.mark_until(at, queue::PATH);
                let done = Done { handle, status: Status::Aborted };
                cx.send_at(Port(FIRST_LOAD + load), at, Message::BlockDone(done));
            }
        }
    }

    /// Disables the controller of a lost path, to start it once more; and again, as long as that does not make it
    /// ready.
    pub(super) fn reset(&mut self, cx: &mut Context<'_>) {
        if self.path.as_ref().is_some_and(|path| path.lost) {
            self.write(cx.now(), registers::CC, 0, cx);
            self.agenda.put(cx.now() + self.software.enable, Task::Enable, cx);
            self.agenda.put(cx.now() + PATIENCE, Task::LinkUp, cx);
        }
    }
    /// Starts the controller once more, with new rings.
    pub(super) fn enable(&mut self, cx: &mut Context<'_>) {
        let (software, priorities) = (self.software, self.priorities.clone());
        let (Some(Place { memory, start, .. }), Some(path)) = (&mut self.place, &mut self.path) else {
            return;
        };
        path.retired.drain(..).for_each(|region| memory.change().free(region));
        path.retired = start.regions();
        *start = Start::new(software, priorities, memory);
        let registers = start.registers();
        for (queue, pair) in self.queues.iter_mut().zip(start.pairs()) {
            path.retired.extend(queue.renew(pair, cx.now()));
        }
        registers.iter().for_each(|&(offset, value)| self.write(cx.now(), offset, value, cx));
        self.agenda.put(cx.now() + software.enable, Task::Enabled, cx);
    }
    /// The controller is ready: so is the path.
    pub(super) fn path_works(&mut self, cx: &mut Context<'_>) {
        let Some(path) = self.path.as_mut() else { return };
        path.lost = false;
        self.tell(PATH_WORKS, cx);
    }

    fn tell(&self, what: u32, cx: &mut Context<'_>) {
        let Some(place) = &self.place else { return };
        let signal = Message::Signal { handle: what, from: place.device };
        (0..self.queues.len() as u16).for_each(|load| cx.send_at(Port(FIRST_LOAD + load), cx.now(), signal));
    }
}
