//! Asynchronous events: requests that wait for an event, events that wait for a request (Base 2.0 §5.2).
//!
//! After an event of a type has been reported, others of that type wait until the host has read the corresponding log.

use crate::spec::log::{EventResult, EventType, LogPage};

/// Events and requests of a controller.
#[derive(Clone, Debug)]
pub struct Events {
    /// Command identifiers of requests, oldest first.
    requests: Vec<u16>,
    limit: usize,
    /// Events that have not been reported, oldest first; each type and information once.
    waiting: Vec<EventResult>,
    /// Types that are masked until their log is read, with the log.
    masked: Vec<(EventType, LogPage)>,
}

impl Events {
    /// Events with room for `limit` requests.
    pub fn new(limit: u8) -> Self {
        Self { requests: Vec::new(), limit: limit.into(), waiting: Vec::new(), masked: Vec::new() }
    }
    /// Adds a request. Returns false if there are too many.
    pub fn request(&mut self, cid: u16) -> bool {
        let room = self.requests.len() < self.limit;
        if room {
            self.requests.push(cid);
        }
        room
    }
    /// Adds an event, unless the same one is already waiting.
    pub fn raise(&mut self, kind: EventType, information: u8, log: LogPage) {
        let event = EventResult::from_raw(
            u32::from(kind.0 & 7) | u32::from(information) << 8 | u32::from(log.0) << 16,
        );
        if !self.waiting.contains(&event) {
            self.waiting.push(event);
        }
    }
    /// The host has read a log without retaining its events.
    pub fn read(&mut self, log: LogPage) {
        self.masked.retain(|&(_, masking)| masking != log);
    }
    /// The next event that can be reported, with the request that it ends.
    pub fn next(&mut self) -> Option<(u16, EventResult)> {
        if self.requests.is_empty() {
            return None;
        }
        let free = |event: &EventResult| !self.masked.iter().any(|&(kind, _)| kind == event.kind());
        let event = self.waiting.iter().position(free).map(|at| self.waiting.remove(at))?;
        self.masked.push((event.kind(), event.log()));
        Some((self.requests.remove(0), event))
    }
    /// Ends the request of this command, if there is one.
    pub fn abort(&mut self, cid: u16) -> bool {
        let found = self.requests.iter().position(|&request| request == cid);
        found.map(|at| self.requests.remove(at)).is_some()
    }
    /// Removes everything, at a reset.
    pub fn clear(&mut self) {
        self.requests.clear();
        self.waiting.clear();
        self.masked.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_masked_until_its_log_was_read() {
        let mut events = Events::new(2);
        events.raise(EventType::NOTICE, 0, LogPage::CHANGED_NAMESPACES);
        assert_eq!(events.next(), None);
        assert!(events.request(7) && events.request(8) && !events.request(9));
        let (cid, event) = events.next().unwrap();
        assert_eq!((cid, event.kind(), event.log()), (7, EventType::NOTICE, LogPage::CHANGED_NAMESPACES));
        events.raise(EventType::NOTICE, 0, LogPage::CHANGED_NAMESPACES);
        assert_eq!(events.next(), None);
        events.raise(EventType::ERROR, 1, LogPage::ERROR);
        assert_eq!(events.next().unwrap().0, 8);
        assert!(events.request(9));
        events.read(LogPage::CHANGED_NAMESPACES);
        assert_eq!(events.next().unwrap().0, 9);
        assert!(!events.abort(9));
    }
}
