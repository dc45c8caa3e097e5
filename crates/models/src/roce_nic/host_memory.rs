//! An adapter's reads and writes of host memory.

use super::inside::{Read, Reading, RoceNic};
use lanetwin_ports::{Attributes, Context, Tlps};

impl RoceNic {
    pub(super) fn read(&mut self, what: Read, address: u64, bytes: u32, cx: &mut Context<'_>) {
        let handle = self.reads.put(Reading { left: bytes, what });
        if let Some(requests) = &mut self.requests {
            requests.read(handle, address, bytes, cx);
        }
    }

    pub(super) fn completions(&mut self, tlps: &Tlps, cx: &mut Context<'_>) {
        if let Some(requests) = &mut self.requests {
            requests.completed(tlps, cx);
        }
        let Some(reading) = self.reads.get(tlps.handle) else {
            self.counts.unexpected += u64::from(tlps.count);
            return;
        };
        reading.left = reading.left.saturating_sub(u32::from(tlps.count) * u32::from(tlps.bytes));
        if reading.left > 0 {
            return;
        }
        let fetched = cx.now() + self.rules.fetch;
        match self.reads.take(tlps.handle).map(|reading| reading.what) {
            Some(Read::Work(id, work)) => self.understand(id, (work, fetched), cx),
            Some(Read::Payload { pair, lane, number }) => {
                let at = fetched + self.rules.tx_latency;
                if let Some(pair) = self.pairs.get_mut(pair) {
                    pair.lanes[lane].ready(number, at, cx.trail());
                }
                self.look_at_line(at, cx);
            }
            Some(Read::Segments(id, segments)) => self.understand_segments(id, (segments, fetched), cx),
            Some(Read::Piece(id, number)) => {
                self.piece_read(id, number, fetched + self.rules.tx_latency, cx);
            }
            Some(Read::Entry { handle, from }) => self.tell_within(handle, from, cx),
            None => {}
        }
    }

    pub(super) fn write(
        &self,
        handle: u32,
        address: u64,
        bytes: u32,
        last: Attributes,
        cx: &mut Context<'_>,
    ) {
        if let Some(requests) = &self.requests {
            requests.write(handle, address, bytes, last, cx);
        }
    }
}
