//! Received pause frames, and pause storms.

use super::super::pause::Pause;
use super::super::train::Train;
use super::ledger::{Entry, Event};
use super::watchdog::{Happens, StormAction};
use super::{Switch, reaction_ps};

impl Switch {
    /// A pause frame arrives at a port, its first bit at `at`.
    pub(super) fn obey(&mut self, at: u64, port: u16, frame: &Train, pause: Pause) {
        let Some(rate) = self.spec.ports[usize::from(port)] else { return };
        let effect = at + reaction_ps(&self.spec, rate, port);
        let egress = self.egress[usize::from(port)].as_mut().filter(|_| self.lossless.is_some());
        let Some(egress) = egress else { return };
        let before = egress.watchdog.as_ref().map(|own| own.next());
        let obeyed = egress.watchdog.as_mut().map_or(pause, |own| own.hear(effect, pause));
        if obeyed.priorities != 0 {
            egress.gate.hear(effect, obeyed);
        }
        egress.plan(port, &mut self.starts);
        self.know_storm(port, before);
        self.ledger.add(Entry::of(Event::Heard { ends: pause.quanta == 0 }, effect, port, frame));
    }
    /// Time of the next known begin or end of a storm.
    #[inline]
    pub(super) fn next_storm(&self) -> Option<u64> {
        // mostly there are none, and nothing is to be searched
        if self.storms.is_empty() {
            return None;
        }
        self.storms.first().map(|(at, _)| *at)
    }
    /// Updates the known storms after a change of a port's watchdog; `before` is its previous next time.
    pub(super) fn know_storm(&mut self, port: u16, before: Option<u64>) {
        let egress = self.egress[usize::from(port)].as_ref();
        let Some(next) = egress.and_then(|egress| Some(egress.watchdog.as_ref()?.next())) else { return };
        if before == Some(next) {
            return;
        }
        self.storms.extend((next != u64::MAX).then_some((next, port)));
        if let Some(before) = before {
            self.storms.remove(&(before, port));
        }
    }
    /// Whether frames of this priority are dropped because of a storm at the port.
    pub(super) fn drops_in_storm(&self, port: u16, priority: u8) -> bool {
        let egress = self.egress[usize::from(port)].as_ref();
        egress.and_then(|egress| egress.watchdog.as_ref()).is_some_and(|own| own.drops(priority))
    }
    /// The storm that begins or ends next does.
    pub(super) fn storm_or_restore(&mut self) {
        let Some((at, port)) = self.storms.first().copied() else { return };
        let Some(egress) = self.egress[usize::from(port)].as_mut() else { return };
        let Some(watchdog) = egress.watchdog.as_mut() else { return };
        let (action, happens) = (watchdog.action(), watchdog.happen());
        let (Happens::Storm(priority) | Happens::Restored(priority)) = match happens {
            Some((_, happens)) => happens,
            None => return,
        };
        let over = matches!(happens, Some((_, Happens::Restored(_))));
        let pause = Pause { priorities: 1 << priority, quanta: 0 };
        self.ledger.add(Entry::of(Event::Storm { over }, at, port, &pause.frame()));
        let mut dropped = Vec::new();
        if !over && action != StormAction::Alert {
            egress.gate.open(at, priority);
            if action == StormAction::Drop {
                dropped.extend(std::iter::from_fn(|| egress.discard(priority)));
            }
            egress.plan(port, &mut self.starts);
        }
        for frame in dropped {
            self.ledger.add(Entry::of(Event::Discarded, at, port, &frame.train));
            self.release((at, 0), (frame.ingress, port), &frame.train, 1);
        }
        self.know_storm(port, Some(at));
    }
}
