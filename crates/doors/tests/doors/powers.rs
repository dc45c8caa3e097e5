//! What hosts need to authenticate takes long, and is computed beside the door: here when the test lets it.

use crate::machine::{machine, plan};
use lanetwin_doors::drive::{Choice, Drive};
use lanetwin_doors::engine::Engine;
use lanetwin_doors::fabric::front::{Front, Outward};
use lanetwin_doors::fabric::offer::Offer;
use lanetwin_doors::keys::random;
use lanetwin_doors::powers::Powers;
use lanetwin_nvme::logic::host::commands::read;
use lanetwin_nvme::spec::{Nsid, SqId};
use lanetwin_nvmeof::logic::authentication::{Group, Keys, Power, Ring, Secret, Terms};
use lanetwin_nvmeof::logic::host::{
    Controller, ControllerConfig, ControllerEffect, Failure, HostName, HostTransport, Io, QueueEffect,
    TcpHost, Transfer,
};
use lanetwin_nvmeof::logic::tcp::Stream;
use lanetwin_nvmeof::spec::authentication::Explanation;
use lanetwin_units::{Instant, Span};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::collections::{BTreeMap, VecDeque};
use std::sync::mpsc::channel;
use std::time::Duration;

const NQN: &str = "nqn.2026-01.org.lanetwin:ssd";
const HOST: &str = "nqn.2026-01.test:host";

/// Hosts of one name, and a door without sockets, in virtual time.
struct Hall {
    now: Instant,
    engine: Engine,
    front: Front,
    hosts: Vec<Controller>,
    /// Whose a connection is.
    connections: BTreeMap<u32, (usize, SqId)>,
    made: u32,
    /// Powers that connections wait for.
    powers: VecDeque<(u32, Power)>,
    /// Bytes for the door.
    on_the_way: VecDeque<(u32, Vec<u8>)>,
    /// Reads that have ended, of which host.
    ended: Vec<usize>,
    /// Hosts that have given up, and why.
    removed: Vec<(usize, Failure)>,
}

fn secret(byte: u8) -> Secret {
    Secret::new(vec![byte; 32], None).expect("a secret")
}

impl Hall {
    /// Hosts with these secrets, of which the door knows the first.
    fn new(secrets: &[u8]) -> Self {
        let plan = plan(&machine("cross-point", "depth: 1"));
        let drive = Drive::choose(&plan, &Choice::default()).expect("a drive");
        let address = "127.0.0.1:4420".parse().expect("an address");
        let mut front = Front::new(&Offer::of(&drive, vec![address])).expect("an offer");
        let keys = |byte: u8| Keys { host: secret(byte), subsystem: None };
        front.admit(Ring { terms: Terms::quick(), hosts: vec![(HOST.into(), keys(secrets[0]))] });
        let host = |(number, byte): (usize, &u8)| {
            let name = HostName { nqn: HOST.into(), id: [number as u8 + 1; 16] };
            let config = ControllerConfig::new(name, NQN, HostTransport::Tcp(TcpHost::default()));
            let loss = Some(Span::ZERO);
            Controller::new(ControllerConfig { keys: Some(keys(*byte)), controller_loss: loss, ..config })
        };
        Self {
            now: Instant::ZERO,
            engine: Engine::of(&drive, Vec::new()).started(),
            front,
            hosts: secrets.iter().enumerate().map(host).collect(),
            connections: BTreeMap::new(),
            made: 0,
            powers: VecDeque::new(),
            on_the_way: VecDeque::new(),
            ended: Vec::new(),
            removed: Vec::new(),
        }
    }
    /// Lets a host do something, and everything that follows happen, but powers.
    fn at_host(
        &mut self,
        host: usize,
        act: impl FnOnce(&mut Controller, Instant, &mut Vec<ControllerEffect>),
    ) {
        self.tell_host(host, act);
        self.settle();
    }
    fn tell_host(
        &mut self,
        host: usize,
        act: impl FnOnce(&mut Controller, Instant, &mut Vec<ControllerEffect>),
    ) {
        let mut out = Vec::new();
        act(&mut self.hosts[host], self.now, &mut out);
        let mut waiting = VecDeque::from(out);
        while let Some(effect) = waiting.pop_front() {
            let mut more = Vec::new();
            match effect {
                ControllerEffect::Open { queue } => {
                    self.made += 1;
                    self.connections.insert(self.made, (host, queue));
                    self.front.accept(self.made, 0);
                    self.hosts[host].opened(self.now, queue, &mut more);
                }
                ControllerEffect::Queue { queue, effect } => match effect {
                    QueueEffect::Send { stream } => {
                        let (&number, _) =
                            self.connections.iter().find(|(_, of)| **of == (host, queue)).expect("open");
                        self.on_the_way.push_back((number, stream.to_bytes().expect("bytes")));
                    }
                    QueueEffect::Draw => {
                        let random = random().expect("randomness");
                        self.hosts[host].drawn(self.now, queue, &random, &mut more);
                    }
                    QueueEffect::Completed { ending, .. } => {
                        assert!(ending.status.is_success());
                        self.ended.push(host);
                    }
                    _ => {}
                },
                ControllerEffect::Removed { why } => self.removed.push((host, why)),
                _ => {}
            }
            waiting.extend(more);
        }
    }
    fn settle(&mut self) {
        loop {
            if let Some((connection, bytes)) = self.on_the_way.pop_front() {
                let outward = self.front.receive(self.now, connection, bytes);
                self.carry_out(outward);
            } else if let Some((at, replies)) = self.engine.next_replies(self.now) {
                self.now = at;
                for reply in replies {
                    let outward = self.front.answered(at, reply);
                    self.carry_out(outward);
                }
            } else {
                return;
            }
        }
    }
    fn carry_out(&mut self, outward: Vec<Outward>) {
        for one in outward {
            match one {
                Outward::Send { connection, bytes } => {
                    let Some(&(host, queue)) = self.connections.get(&connection) else { continue };
                    let stream = Stream::from(bytes);
                    self.tell_host(host, |controller, now, out| controller.receive(now, queue, stream, out));
                }
                Outward::Close { connection } => {
                    let Some((host, queue)) = self.connections.remove(&connection) else { continue };
                    self.tell_host(host, |controller, now, out| controller.lost(now, queue, out));
                }
                Outward::Ask { ticket, command } => self.engine.ask(self.now, ticket, command),
                Outward::Raise { connection, power } => self.powers.push_back((connection, power)),
                Outward::Erase { .. } | Outward::Tell { .. } => {
                    panic!("nobody formats or asks for telemetry")
                }
            }
        }
    }
    /// Computes the next power.
    fn raise(&mut self) {
        let (connection, power) = self.powers.pop_front().expect("one is wanted");
        let outward = self.front.raised(self.now, connection, power.compute());
        self.carry_out(outward);
        self.settle();
    }
    /// Reads of a host; whether they have all been answered by now.
    fn reads(&mut self, host: usize) -> bool {
        let before = self.ended.len();
        for name in 0..10 {
            let (command, transfer) = (read(Nsid(1), name * 8, 8), Transfer::FromController(4096));
            let io = Io { command, name, transfer, address: 0 };
            self.at_host(host, |controller, _, out| {
                controller.submit(SqId(1), io, out).expect("room");
            });
        }
        self.ended[before..] == [host; 10]
    }
}

/// Strangers know the name of a host, and not its secret: what they make the door compute keeps nobody waiting who has
/// proved who he is, however long it takes; nor does a host that is lost meanwhile.
#[test]
fn whoever_is_connected_is_served_while_others_authenticate() {
    let mut hall = Hall::new(&[1, 9, 9, 1]);
    hall.at_host(0, |controller, _, out| controller.connect(out));
    while !hall.powers.is_empty() {
        hall.raise();
    }
    assert!(hall.reads(0));
    for stranger in [1, 2] {
        hall.at_host(stranger, |controller, _, out| controller.connect(out));
    }
    // a challenge for each of them is wanted; then the judgement of what each replies
    assert_eq!(hall.powers.len(), 2);
    assert!(hall.reads(0) && hall.removed.is_empty());
    let refused = Failure::NotAuthenticated(Explanation::FAILED);
    for left in [2, 2, 1, 0] {
        hall.raise();
        assert!(hall.reads(0) && hall.powers.len() == left);
    }
    assert_eq!(hall.removed, [(1, refused), (2, refused)]);
    // another way to the same host, whose connection is lost before the power is there
    hall.at_host(3, |controller, _, out| controller.connect(out));
    let (&connection, _) = hall.connections.iter().find(|(_, (host, _))| *host == 3).expect("it is open");
    let outward = hall.front.lost(hall.now, connection);
    hall.carry_out(outward);
    hall.raise();
    assert!(hall.reads(0) && hall.powers.is_empty());
}

const LONG: Timespec = Timespec { tv_sec: 30, tv_nsec: 0 };

fn power(exponent: u8) -> Power {
    Power::public(Group::Ffdhe2048, &[exponent])
}
fn rings(powers: &Powers, within: Timespec) -> bool {
    let mut fds = [PollFd::from_borrowed_fd(powers.bell(), PollFlags::IN)];
    poll(&mut fds, Some(&within)).expect("an event") == 1
}

/// However long one takes, whoever asks goes on; the others are begun one after another, but for those of
/// connections that are gone.
#[test]
fn who_asks_does_not_wait_and_one_is_computed_at_a_time() {
    let ((begun, has_begun), (let_go, may_go)) = (channel(), channel::<()>());
    let compute = move |power: &Power| {
        begun.send(power.clone()).expect("somebody listens");
        may_go.recv().expect("it is let go");
        power.compute()
    };
    let mut powers = Powers::new(compute).expect("a thread");
    (1..=4).for_each(|connection| powers.ask(connection, power(connection as u8)));
    powers.forget(2);
    let long = Duration::from_secs(30);
    for connection in [1, 3, 4] {
        assert_eq!(has_begun.recv_timeout(long), Ok(power(connection as u8)));
        // this thread is here, and it is not done; no other has begun
        assert!(!rings(&powers, Timespec::default()) && powers.take().is_none());
        assert!(has_begun.try_recv().is_err());
        let_go.send(()).expect("it waits");
        assert!(rings(&powers, LONG));
        assert_eq!(powers.take(), Some((connection, power(connection as u8).compute())));
    }
    assert!(!rings(&powers, Timespec::default()) && powers.take().is_none());
}
