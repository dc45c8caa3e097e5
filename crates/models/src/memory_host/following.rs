//! Choice of the followed lines of a host, and marks of their stages.
//!
//! A load that finds its line already requested continues on the trail of that request, from its own beginning on. So
//! lines are chosen, not loads: the requester and those that wait make the same choice. All lines are followed until
//! memory has served as many loads as are followed of other loads; after that the choice depends on the line and on
//! the number of rounds so far.

use super::MemoryHost;
use super::flights::{Cause, Flight};
use super::ids::FlightId;
use super::nodes::{Node, node_of};
use super::steps::{TO_SOCKET, TRANSLATION, UNCORE, UNDER_WAY};
use crate::marks;
use lanetwin_kernel::{Stage, Trail};
use lanetwin_media::dram::Done;
use lanetwin_ports::Context;
use lanetwin_units::Instant;

impl MemoryHost {
    /// Notes that a flight continues to memory for its line, or waits for another that has.
    #[inline]
    pub(super) fn follow(&mut self, name: FlightId, cx: &mut Context<'_>) {
        let Flight { cause, walking, thread, line, .. } = *self.flights.get(name);
        let program = &self.programs[self.threads[thread.index()].program as usize];
        let weight = program.counted.followed.weight(line);
        if weight > 0 && !walking && cause != Cause::Write {
            self.begin_following(name, weight, cx);
        }
    }
    #[cold]
    fn begin_following(&mut self, name: FlightId, weight: u64, cx: &mut Context<'_>) {
        let Flight { issued, translated, arrives, .. } = *self.flights.get(name);
        let begun = cx.begin(issued);
        cx.mark_until(translated, TRANSLATION);
        cx.mark_until(arrives, TO_SOCKET);
        let flight = self.flights.get(name);
        (flight.trail, flight.weight, flight.begun) = (cx.trail(), weight, begun);
    }
    /// Marks stages of a flight, if it is followed.
    #[inline]
    pub(super) fn mark(&mut self, name: FlightId, stages: &[(Instant, Stage)], cx: &mut Context<'_>) {
        let flight = self.flights.get(name);
        if flight.trail != Trail::NONE {
            cx.resume(flight.trail);
            stages.iter().for_each(|(at, stage)| cx.mark_until(*at, *stage));
            flight.trail = cx.trail();
        }
    }
    /// Marks the DRAM stages of a flight whose line has crossed the socket at `there`.
    pub(super) fn mark_read(&mut self, done: &Done, there: Instant, cx: &mut Context<'_>) {
        let flight = self.flights.get(FlightId(done.token));
        cx.resume(flight.trail);
        if let Node::Dram(dram) = &self.nodes[node_of(flight.asked_for)]
            && let Some(machine) = &dram.machine
        {
            marks::mark_read(machine, done, cx);
        }
        cx.mark_until(there, UNCORE);
        flight.trail = cx.trail();
    }
    /// Marks a flight whose line has arrived by another flight's request, with that flight's trail.
    pub(super) fn mark_join(&mut self, name: FlightId, leader: Trail, cx: &mut Context<'_>) {
        let now = self.now;
        let flight = self.flights.get(name);
        if flight.trail == Trail::NONE {
            return;
        }
        if leader != Trail::NONE && flight.translated == flight.issued {
            flight.trail = leader;
            return;
        }
        cx.resume(leader);
        cx.join(flight.trail, UNDER_WAY);
        cx.mark_until(now, UNDER_WAY);
        flight.trail = cx.trail();
    }
}
