//! Requests that wait for a register, a frame or a write-back.
//!
//! If hits pass, requests of one page wait together, at the position of the first: when the page has what it needs,
//! all of them continue, and the rest of the queue need not be searched. If hits do not pass, requests wait strictly
//! in order of arrival.

use super::Request;
use std::collections::{BTreeMap, VecDeque};

/// Waiting requests of one page.
#[derive(Debug)]
pub(super) struct Group {
    page: u32,
    pub(super) requests: VecDeque<Request>,
}

/// The queue of waiting requests.
#[derive(Debug)]
pub(super) struct Waiting {
    groups: VecDeque<Group>,
    /// The number of the group at the front; groups are numbered in their order.
    front: u64,
    /// Numbers of the groups, by page; empty if hits do not pass.
    by_page: BTreeMap<u32, u64>,
    requests: usize,
    hits_pass: bool,
}

impl Waiting {
    pub(super) const fn new(hits_pass: bool) -> Self {
        Self { groups: VecDeque::new(), front: 0, by_page: BTreeMap::new(), requests: 0, hits_pass }
    }
    pub(super) const fn len(&self) -> usize {
        self.requests
    }
    pub(super) const fn is_empty(&self) -> bool {
        self.requests == 0
    }
    /// Adds a request to the queue.
    pub(super) fn join(&mut self, request: Request) {
        let page = request.page();
        self.requests += 1;
        if let Some(number) = self.by_page.get(&page) {
            return self.groups[(number - self.front) as usize].requests.push_back(request);
        }
        if self.hits_pass {
            self.by_page.insert(page, self.front + self.groups.len() as u64);
        }
        self.groups.push_back(Group { page, requests: VecDeque::from([request]) });
    }
    /// Takes the first group.
    pub(super) fn take_first(&mut self) -> Option<Group> {
        loop {
            let group = self.groups.pop_front()?;
            self.front += 1;
            // a group that was taken out of turn has left an empty entry
            if !group.requests.is_empty() {
                self.by_page.remove(&group.page);
                self.requests -= group.requests.len();
                return Some(group);
            }
        }
    }
    /// Puts a group that could not continue back at the front.
    pub(super) fn put_back(&mut self, group: Group) {
        self.front -= 1;
        self.requests += group.requests.len();
        if self.hits_pass {
            self.by_page.insert(group.page, self.front);
        }
        self.groups.push_front(group);
    }
    /// Takes the requests of a page out of turn.
    pub(super) fn take(&mut self, page: u32) -> VecDeque<Request> {
        let Some(number) = self.by_page.remove(&page) else { return VecDeque::new() };
        let requests = std::mem::take(&mut self.groups[(number - self.front) as usize].requests);
        self.requests -= requests.len();
        requests
    }
}
