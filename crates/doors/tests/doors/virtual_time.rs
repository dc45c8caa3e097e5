//! In virtual time a door answers as a run does, to the picosecond, however much is in progress.

use crate::machine::{machine, plan};
use lanetwin_doors::command::{Command, Kind};
use lanetwin_doors::drive::{Choice, Drive};
use lanetwin_doors::engine::Engine;
use lanetwin_kernel::Tap;
use lanetwin_ports::{Message, Operation};
use lanetwin_ssd::SparseMemory;
use lanetwin_units::{Instant, Span};
use lanetwin_world::World;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// What a load asks, and how long each answer took, in the order of answers.
#[derive(Default)]
struct Heard {
    open: BTreeMap<u32, Instant>,
    asked: Vec<(Operation, u64, u32)>,
    took: Vec<Span>,
}

struct Listener(Rc<RefCell<Heard>>);

impl Tap<Message> for Listener {
    fn see(&mut self, at: Instant, from: &str, to: &str, message: &Message) {
        let heard = &mut *self.0.borrow_mut();
        match message {
            Message::Block(t) if from == "(load)" => {
                heard.open.insert(t.handle, at);
                heard.asked.push((t.operation, t.address, t.bytes));
            }
            Message::BlockDone(done) if to == "(load)" => {
                let asked = heard.open.remove(&done.handle).expect("it was asked");
                heard.took.push(at.since(asked));
            }
            _ => {}
        }
    }
}

/// A closed loop of this depth that asks what the load of a run has asked, in its order.
fn from_a_door(drive: &Drive, depth: usize, asked: &[(Operation, u64, u32)]) -> Vec<Span> {
    let mut engine = Engine::new(drive, Box::new(SparseMemory::new()));
    let mut next = asked.iter().zip(0..);
    let mut ask = |engine: &mut Engine, now| {
        let Some(((operation, first, bytes), ticket)) = next.next() else { return };
        let kind = if *operation == Operation::Read { Kind::Read } else { Kind::Write };
        let data = if kind == Kind::Write { vec![1; *bytes as usize] } else { Vec::new() };
        engine.ask(now, ticket, Command { data, ..Command::of(kind, *first, *bytes) });
    };
    (0..depth).for_each(|_| ask(&mut engine, Instant::ZERO));
    let (mut took, mut now) = (Vec::new(), Instant::ZERO);
    while let Some((at, replies)) = engine.next_replies(now) {
        now = at;
        for reply in replies {
            assert!(reply.ended.is_well());
            took.push(reply.latency);
            ask(&mut engine, now);
        }
    }
    took
}

#[test]
fn a_door_in_virtual_time_answers_as_a_run_does() {
    for (medium, depth) in
        [("cross-point", 1), ("cross-point", 8), ("nand", 1), ("nand", 7), ("nand", 32), ("nand", 256)]
    {
        let plan = plan(&machine(medium, &format!("depth: {depth}, read: 70%")));
        for variant in &plan.variants {
            let workload = &variant.workloads[0];
            let heard = Rc::new(RefCell::new(Heard::default()));
            let choice = Choice { variant: Some(variant.name.clone()), ..Choice::default() };
            let drive = Drive::choose(&plan, &choice).expect("a drive");
            let mut world = World::new(variant, workload, &workload.cases[0], drive.seed);
            world.kernel.set_tap(Some(Box::new(Listener(heard.clone()))));
            while world.progress().1 < 1000 {
                let to = world.kernel.now() + Span::from_us(50);
                world.kernel.run_until(to);
            }
            let heard = heard.borrow();
            let took = from_a_door(&drive, depth, &heard.asked);
            let compared = heard.took.len();
            assert!(compared >= 1000);
            let differs = heard.took.iter().zip(&took).position(|(run, door)| run != door);
            assert_eq!(differs, None, "{medium}, depth {depth}, {}", variant.name);
        }
    }
}

/// What moves no bytes takes time, too: a flush waits for the medium where a volatile buffer has something.
#[test]
fn commands_without_data_take_the_time_of_the_drive() {
    let took = |set: &str, before: &[Command], command: &Command| {
        let plan = plan(&machine(&format!("nand, {set}"), "depth: 1"));
        let drive = Drive::choose(&plan, &Choice::default()).expect("a drive");
        let mut engine = Engine::new(&drive, Box::new(SparseMemory::new())).started();
        let mut now = Instant::ZERO;
        let mut last = Span::ZERO;
        for command in before.iter().chain([command]) {
            engine.ask(now, 0, command.clone());
            let (at, replies) = engine.next_replies(now).expect("a reply");
            assert!(replies[0].ended.is_well(), "{:?}", replies[0]);
            (now, last) = (at, replies[0].latency);
        }
        last
    };
    let write = [Command::write(0, vec![1; 64 << 10])];
    let volatile = "buffer.protected: false, buffer.volatile: true";
    let (idle, busy) = (took(volatile, &[], &Command::flush()), took(volatile, &write, &Command::flush()));
    assert!(idle > Span::from_us(1) && idle < Span::from_us(50), "{idle}");
    assert!(busy > idle + Span::from_us(100), "a flush waits for a program: {busy}");
    let protected = took("buffer: 64MiB", &write, &Command::flush());
    assert!(protected < Span::from_us(50), "{protected}");
    for kind in [Kind::Deallocate, Kind::WriteZeroes] {
        let one = took("buffer: 64MiB", &write, &Command::of(kind, 0, 64 << 10));
        assert!(one > Span::from_us(1) && one < Span::from_us(1000), "{kind:?} {one}");
    }
    let large = took("buffer: 64MiB", &[], &Command::of(Kind::WriteZeroes, 0, 1 << 30));
    assert!(large > Span::from_us(5), "{large}");
}
