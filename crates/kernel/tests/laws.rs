//! The laws of the kernel: order is a function of time stamps and names; a run can be cut anywhere; nothing depends on
//! the order in which things were built or sent.

use lanetwin_kernel::{
    Builder, Component, ComponentId, Content, Context, EntryId, ExitId, Kernel, Port, Stage, Stream, Trail,
    mix,
};
use lanetwin_units::{Instant, Span};
use proptest::prelude::*;
use std::cell::RefCell;
use std::rc::Rc;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Token {
    value: u64,
    left: u32,
}

impl Content for Token {
    fn content(&self) -> u64 {
        mix(self.value) ^ u64::from(self.left)
    }
}

/// What happened, in the order in which it happened.
type Diary = Rc<RefCell<Vec<(u64, String)>>>;

/// Passes tokens on to one of its neighbours after a time that depends on everything it has seen so far: any change of
/// order anywhere changes everything that follows.
struct Gossip {
    name: String,
    neighbours: u16,
    state: u64,
    wakes: u64,
    random: Stream,
    diary: Diary,
}

impl Gossip {
    fn note(&self, cx: &Context<'_, Token>, what: &str) {
        self.diary.borrow_mut().push((cx.now().as_ps(), format!("{} {what}", self.name)));
    }
}

impl Component<Token> for Gossip {
    fn receive(&mut self, port: Port, token: Token, cx: &mut Context<'_, Token>) {
        self.note(cx, &format!("got {} at {port:?}", token.value));
        self.state = mix(self.state ^ token.value.rotate_left(port.0.into()));
        if self.state % 4 == 1 {
            cx.send(Port(self.neighbours), Span::from_ps(self.state % 7), token);
        }
        if token.left == 0 {
            return;
        }
        let to = Port((self.random.below(self.neighbours.into())) as u16);
        // Few different delays, zero among them: many events fall together.
        let delay = Span::from_ps(self.state % 4);
        cx.send(to, delay, Token { value: self.state % 1000, left: token.left - 1 });
        if self.state.is_multiple_of(3) {
            cx.wake_at(cx.now() + Span::from_ps(self.state % 5), (self.state % 7) as u32);
        }
    }
    fn wake(&mut self, token: u32, cx: &mut Context<'_, Token>) {
        self.note(cx, &format!("woke for {token}"));
        self.wakes += 1;
        self.state = mix(self.state ^ u64::from(token));
    }
    fn digest(&self) -> u64 {
        self.state ^ self.wakes
    }
}

const NODES: usize = 5;

/// Gossips, each of which can speak to every other and to the outside.
struct Clique {
    kernel: Kernel<Token>,
    /// By node.
    entries: [EntryId; NODES],
    exits: [ExitId; NODES],
    /// What has been taken out: when, from which node, which token.
    heard: Vec<(Instant, usize, u64)>,
}

impl Clique {
    /// `order` is the order in which everything is built.
    fn new(seed: u64, order: &[usize], diary: &Diary) -> Self {
        let mut builder = Builder::new();
        let mut ids = [ComponentId(0); NODES];
        for &i in order {
            let name = format!("node{i}");
            let random = Stream::new(seed, &name, "gossip");
            let gossip = Gossip {
                name: name.clone(),
                neighbours: NODES as u16 - 1,
                state: i as u64,
                wakes: 0,
                random,
                diary: Rc::clone(diary),
            };
            ids[i] = builder.add(name, Box::new(gossip));
        }
        let (mut entries, mut exits) = ([EntryId(0); NODES], [ExitId(0); NODES]);
        for &i in order {
            for (port, j) in (0..NODES).filter(|&j| j != i).enumerate() {
                builder.connect((ids[i], Port(port as u16)), (ids[j], Port(100 + i as u16)));
            }
            entries[i] = builder.entry((ids[i], Port(99)));
            exits[i] = builder.exit((ids[i], Port(NODES as u16 - 1)));
        }
        Self { kernel: builder.seal(), entries, exits, heard: Vec::new() }
    }
    fn in_order(seed: u64, diary: &Diary) -> Self {
        Self::new(seed, &(0..NODES).collect::<Vec<_>>(), diary)
    }
    fn start(&mut self, at_once: u64) {
        for i in 0..NODES {
            for k in 0..at_once {
                self.inject(k % 2, i, i as u64 * 10 + k);
            }
        }
    }
    fn inject(&mut self, at: u64, node: usize, value: u64) {
        self.kernel.inject(Instant::from_ps(at), self.entries[node], Token { value, left: 40 });
    }
    fn take_out(&mut self) {
        for emitted in self.kernel.take_out() {
            let node = self.exits.iter().position(|exit| *exit == emitted.exit).expect("an exit of a node");
            self.heard.push((emitted.at, node, emitted.message.value));
        }
    }
    fn run_to_end(&mut self) {
        self.kernel.run_until(Instant::NEVER);
        self.take_out();
    }
}

fn shuffled(seed: u64) -> Vec<usize> {
    let mut random = Stream::new(seed, "shuffle", "order");
    let mut order: Vec<usize> = (0..NODES).collect();
    for i in (1..NODES).rev() {
        order.swap(i, random.below(i as u64 + 1) as usize);
    }
    order
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Cutting a run into slices changes neither what happens nor when, nor what comes out.
    #[test]
    fn slicing_changes_nothing(seed in 0u64..1000, cuts in prop::collection::vec((1u64..40, any::<bool>()), 0..30)) {
        let (whole, sliced) = (Diary::default(), Diary::default());
        let mut a = Clique::in_order(seed, &whole);
        a.start(3);
        a.run_to_end();
        let mut b = Clique::in_order(seed, &sliced);
        b.start(3);
        for (cut, takes_out) in cuts {
            let to = b.kernel.now() + Span::from_ps(cut);
            b.kernel.run_until(to);
            prop_assert_eq!(b.kernel.now(), to);
            b.kernel.step();
            if takes_out {
                b.take_out();
            }
        }
        b.run_to_end();
        prop_assert_eq!(a.kernel.digest(), b.kernel.digest());
        prop_assert_eq!(a.kernel.events(), b.kernel.events());
        prop_assert_eq!(&a.heard, &b.heard);
        prop_assert!(!a.heard.is_empty() && a.heard.is_sorted_by_key(|heard| heard.0));
        prop_assert_eq!(&*whole.borrow(), &*sliced.borrow());
    }

    /// Nothing depends on the order in which components, connections, entries and exits were made.
    #[test]
    fn building_in_another_order_changes_nothing(seed in 0u64..1000, other in 0u64..1000) {
        let (one, two) = (Diary::default(), Diary::default());
        let mut a = Clique::in_order(seed, &one);
        a.start(3);
        a.run_to_end();
        let mut b = Clique::new(seed, &shuffled(other), &two);
        b.start(3);
        b.run_to_end();
        prop_assert_eq!(&*one.borrow(), &*two.borrow());
        prop_assert_eq!(a.kernel.digest(), b.kernel.digest());
        prop_assert_eq!(a.heard, b.heard);
    }

    /// Whether the outside says everything before a run or each thing later, at any instant before it arrives, changes
    /// nothing.
    #[test]
    fn it_does_not_matter_when_a_message_is_injected(
        seed in 0u64..1000,
        mut said in prop::collection::vec((1u64..300, 0..NODES, 0u64..1000, 0u64..50), 1..20),
    ) {
        said.sort_by_key(|said| said.0);
        let (before, late) = (Diary::default(), Diary::default());
        let mut a = Clique::in_order(seed, &before);
        said.iter().for_each(|&(at, node, value, _)| a.inject(at, node, value));
        a.run_to_end();
        let mut b = Clique::in_order(seed, &late);
        for &(at, node, value, lead) in &said {
            let to = b.kernel.now().as_ps().max((at - 1).saturating_sub(lead));
            b.kernel.run_until(Instant::from_ps(to));
            b.take_out();
            b.inject(at, node, value);
        }
        b.run_to_end();
        prop_assert_eq!(a.kernel.digest(), b.kernel.digest());
        prop_assert_eq!(a.kernel.events(), b.kernel.events());
        prop_assert_eq!(a.heard, b.heard);
        prop_assert_eq!(&*before.borrow(), &*late.borrow());
    }
}

/// Hears of messages when they are sent, and acts when everything else of an instant is done.
struct Foreseer {
    diary: Diary,
}

impl Component<Token> for Foreseer {
    fn receive(&mut self, _: Port, _: Token, _: &mut Context<'_, Token>) {
        unreachable!("a foreseeing component is told before");
    }
    fn expect(&mut self, at: Instant, _: Port, token: &Token, cx: &mut Context<'_, Token>) {
        let told = cx.now().as_ps();
        self.diary.borrow_mut().push((told, format!("will get {} at {at:?}", token.value)));
        cx.wake_at(at, 0);
    }
    fn wake(&mut self, _: u32, cx: &mut Context<'_, Token>) {
        self.diary.borrow_mut().push((cx.now().as_ps(), "acts".into()));
    }
}

/// Sends one token at once, to arrive later, and wakes at the instant of its arrival.
struct Sender {
    diary: Diary,
}

impl Component<Token> for Sender {
    fn start(&mut self, cx: &mut Context<'_, Token>) {
        cx.wake_at(Instant::from_ps(5), 1);
    }
    fn receive(&mut self, _: Port, _: Token, _: &mut Context<'_, Token>) {}
    fn wake(&mut self, token: u32, cx: &mut Context<'_, Token>) {
        self.diary.borrow_mut().push((cx.now().as_ps(), format!("sender wakes {token}")));
        if token == 1 {
            cx.send(Port(0), Span::from_ps(10), Token { value: 7, left: 0 });
            cx.wake_at(cx.now() + Span::from_ps(10), 2);
        }
    }
}

#[test]
fn a_foreseeing_component_is_told_when_a_message_is_sent_and_acts_last() {
    let diary = Diary::default();
    let mut builder = Builder::new();
    // "a" comes before "z" in the order of names, and acts after it all the same.
    let links = builder.add_foreseeing("a", Box::new(Foreseer { diary: Rc::clone(&diary) }));
    let sender = builder.add("z", Box::new(Sender { diary: Rc::clone(&diary) }));
    builder.connect((sender, Port(0)), (links, Port(0)));
    let mut kernel = builder.seal();
    kernel.run_until(Instant::NEVER);
    let expected = [(5, "sender wakes 1"), (5, "will get 7 at 15 ps"), (15, "sender wakes 2"), (15, "acts")];
    let expected: Vec<(u64, String)> = expected.into_iter().map(|(t, what)| (t, what.to_owned())).collect();
    assert_eq!(*diary.borrow(), expected);
}

#[test]
#[should_panic(expected = "has passed already")]
fn nothing_can_be_injected_into_what_has_been_decided() {
    let mut clique = Clique::in_order(1, &Diary::default());
    clique.start(1);
    clique.kernel.run_until(Instant::from_ps(100));
    clique.inject(100, 0, 0);
}

#[test]
#[should_panic(expected = "has passed already")]
fn time_in_which_nothing_happened_has_passed_too() {
    let mut clique = Clique::in_order(1, &Diary::default());
    clique.kernel.run_until(Instant::from_ps(100));
    clique.inject(50, 0, 0);
}

#[test]
fn after_a_slice_the_outside_may_interfere_at_the_next_instant() {
    let diary = Diary::default();
    let mut clique = Clique::in_order(1, &diary);
    clique.kernel.run_until(Instant::from_ps(100));
    clique.kernel.inject(Instant::from_ps(101), clique.entries[0], Token { value: 42, left: 0 });
    clique.run_to_end();
    assert_eq!(diary.borrow().last(), Some(&(101, "node0 got 42 at p99".to_owned())));
}

/// Says two things for the same instant, the second of which is to be heard first.
struct Herald;
impl Component<Token> for Herald {
    fn start(&mut self, cx: &mut Context<'_, Token>) {
        let at = Instant::ZERO + Span::from_ps(9);
        cx.send_at(Port(0), at, Token { value: 1, left: 0 });
        cx.send_at(Port(0), at, Token { value: 2, left: 0 });
        cx.send_first_at(Port(0), at, Token { value: 3, left: 0 });
        cx.send_first_at(Port(0), at, Token { value: 4, left: 0 });
    }
    fn receive(&mut self, _: Port, _: Token, _: &mut Context<'_, Token>) {}
}

struct Audience(Rc<RefCell<Vec<u64>>>);
impl Component<Token> for Audience {
    fn receive(&mut self, _: Port, token: Token, _: &mut Context<'_, Token>) {
        self.0.borrow_mut().push(token.value);
    }
}

#[test]
fn what_is_sent_to_be_first_arrives_first_whenever_it_was_sent() {
    let heard = Rc::new(RefCell::new(Vec::new()));
    let mut builder = Builder::new();
    let herald = builder.add("herald", Box::new(Herald));
    let audience = builder.add("audience", Box::new(Audience(Rc::clone(&heard))));
    builder.connect((herald, Port(0)), (audience, Port(0)));
    builder.seal().run_until(Instant::NEVER);
    assert_eq!(*heard.borrow(), [3, 4, 1, 2]);
}

/// Something to be said: when, out of which port, how much later it is heard, and whether before all else of that
/// instant.
type Saying = (u64, u16, u64, bool);

/// Says everything in its list at its time.
struct Speaker(Vec<Saying>);
impl Component<Token> for Speaker {
    fn start(&mut self, cx: &mut Context<'_, Token>) {
        for (i, (at, ..)) in self.0.iter().enumerate() {
            cx.wake_at(Instant::from_ps(*at), i as u32);
        }
    }
    fn receive(&mut self, _: Port, _: Token, _: &mut Context<'_, Token>) {}
    fn wake(&mut self, i: u32, cx: &mut Context<'_, Token>) {
        let (_, port, later, first) = self.0[i as usize];
        let (at, token) = (cx.now() + Span::from_ps(later), Token { value: i.into(), left: 0 });
        if first {
            cx.send_first_at(Port(port), at, token);
        } else {
            cx.send_at(Port(port), at, token);
        }
    }
}

proptest! {
    /// Against a sorted list: messages arrive by time, then by channel; of one channel those that are to be first, then
    /// the others, each in the order in which they were sent, whether they overtake others or not.
    #[test]
    fn messages_arrive_by_time_channel_turn_and_order_of_sending(
        said in prop::collection::vec((0..200_u64, 0..3_u16, prop_oneof![Just(9), 1..60_u64, Just(70_000)], any::<bool>()), 1..200),
    ) {
        let heard = Rc::new(RefCell::new(Vec::new()));
        let mut builder = Builder::new();
        let speaker = builder.add("speaker", Box::new(Speaker(said.clone())));
        let audience = builder.add("audience", Box::new(Audience(Rc::clone(&heard))));
        (0..3).for_each(|port| builder.connect((speaker, Port(port)), (audience, Port(port))));
        builder.seal().run_until(Instant::NEVER);
        let mut expected: Vec<u64> = (0..said.len() as u64).collect();
        expected.sort_by_key(|i| {
            let (at, port, later, first) = said[*i as usize];
            (at + later, port, !first, at, *i)
        });
        prop_assert_eq!(&*heard.borrow(), &expected);
    }
}

/// What an asker has heard of the way of each answer: stages from the last to the first, and when it was asked for.
type Heard = Rc<RefCell<Vec<(u64, Vec<(u32, u64)>)>>>;

/// Asks twice at once, and hears of the ways of the answers.
struct Asker {
    follows: bool,
    heard: Heard,
}

impl Component<Token> for Asker {
    fn start(&mut self, cx: &mut Context<'_, Token>) {
        for left in [0, 1] {
            if self.follows {
                cx.begin(cx.now());
            }
            cx.send(Port(0), Span::from_ns(u64::from(left)), Token { value: 0, left });
        }
    }
    fn receive(&mut self, _: Port, token: Token, cx: &mut Context<'_, Token>) {
        let mut way = Vec::new();
        cx.account(Instant::ZERO..cx.now(), |stage, ps| way.push((stage, ps)));
        assert_eq!(way.iter().map(|(_, ps)| ps).sum::<u64>(), cx.now().as_ps(), "stages sum to the whole");
        self.heard.borrow_mut().push((token.left.into(), way));
    }
}

/// Works on one after the other for 3 ns each, and looks at what is done every 4 ns.
struct Worker {
    free: Instant,
    done: Vec<(Port, Token, Trail)>,
}

const QUEUE: Stage = Stage(0);
const WORK: Stage = Stage(1);
const NOTICE: Stage = Stage(2);

impl Component<Token> for Worker {
    fn receive(&mut self, port: Port, token: Token, cx: &mut Context<'_, Token>) {
        let begun = self.free.max(cx.now());
        self.free = begun + Span::from_ns(3);
        cx.mark_until(begun, QUEUE);
        cx.mark_until(self.free, WORK);
        self.done.push((port, token, cx.trail()));
        cx.wake_at(self.free + Span::from_ns(4), 0);
    }
    fn wake(&mut self, _: u32, cx: &mut Context<'_, Token>) {
        for (port, token, trail) in self.done.drain(..) {
            cx.resume(trail);
            cx.mark(NOTICE);
            cx.send(port, Span::from_ns(2), token);
        }
    }
    fn stages(&self) -> Vec<String> {
        ["queue", "work", "notice"].map(Into::into).into()
    }
}

/// By hand: both are worked on up to 3 and 6 ns, seen at 7, and heard of 2 ns later, which nobody has marked. The
/// nanosecond in which the second was on its way is of the stage that was marked next.
#[test]
fn marks_sum_to_the_whole_and_change_nothing() {
    let run = |follows: bool| {
        let (mut builder, heard) = (Builder::new(), Heard::default());
        let asker = builder.add("asker", Box::new(Asker { follows, heard: Rc::clone(&heard) }));
        let worker = builder.add("worker", Box::new(Worker { free: Instant::ZERO, done: Vec::new() }));
        builder.join((asker, Port(0)), (worker, Port(0)));
        let mut kernel = builder.seal();
        kernel.run_until(Instant::NEVER);
        let names = kernel.stage_names();
        let named = |(stage, ps): &(u32, u64)| (names[*stage as usize].1.clone(), ps / 1000);
        let told = |(left, way): &(u64, Vec<_>)| (*left, way.iter().map(named).collect::<Vec<_>>());
        let ways: Vec<_> = heard.borrow().iter().map(told).collect();
        (ways, kernel.digest())
    };
    let way = |stages: &[(&str, u64)]| {
        stages.iter().map(|(name, ns)| ((*name).to_owned(), *ns)).collect::<Vec<_>>()
    };
    let (ways, digest) = run(true);
    let first = way(&[("unmarked", 2), ("notice", 4), ("work", 3)]);
    let second = way(&[("unmarked", 2), ("notice", 1), ("work", 3), ("queue", 3)]);
    assert_eq!(ways, [(0, first), (1, second)]);
    let (unmarked, same) = run(false);
    assert_eq!(unmarked, [(0, way(&[("unmarked", 9)])), (1, way(&[("unmarked", 9)]))]);
    assert_eq!(digest, same);
}
