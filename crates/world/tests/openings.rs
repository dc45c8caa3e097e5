//! A world without a load: does it answer whoever has it as it answers a load?

use crate::tree::{plan, plan_of};
use lanetwin_kernel::Tap;
use lanetwin_plan::{Cache, Case, Load, Variant, WorkloadPlan};
use lanetwin_ports::{Message, Operation, Status, Transfer};
use lanetwin_units::{Instant, Span};
use lanetwin_world::{Opening, World};
use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;

/// Long enough for a controller to be ready.
const LONG: Span = Span::from_us(150);
/// So many answers of each load are compared, at least.
const ANSWERS: usize = 3;

/// Every message: when, from where, to where.
type Heard = Rc<RefCell<Vec<(Instant, String, String, Message)>>>;

struct Listener(Heard);

impl Tap<Message> for Listener {
    fn see(&mut self, at: Instant, from: &str, to: &str, message: &Message) {
        self.0.borrow_mut().push((at, from.to_owned(), to.to_owned(), *message));
    }
}

/// What passed between a load and what answers it.
#[derive(Default)]
struct Dialogue {
    asked: Vec<(Instant, Message)>,
    answered: Vec<(Instant, Message)>,
}

/// Of each load, up to an instant at which each has had some answers; and that instant.
fn with_loads(variant: &Variant, workload: &WorkloadPlan, case: &Case) -> (Vec<Dialogue>, Instant) {
    let mut world = World::new(variant, workload, case, 1);
    let heard = Heard::default();
    world.kernel.set_tap(Some(Box::new(Listener(heard.clone()))));
    let answers = |path: &str| {
        heard.borrow().iter().filter(|(_, _, to, message)| to == path && is_answer(message)).count()
    };
    let mut end = Instant::ZERO + LONG;
    world.kernel.run_until(end);
    while world.loads.iter().any(|load| answers(&load.path) < ANSWERS) {
        end += LONG;
        assert!(end < Instant::ZERO + LONG * 1000, "nobody answers");
        world.kernel.run_until(end);
    }
    let dialogue = |path: &str| {
        let mut dialogue = Dialogue::default();
        for (at, from, to, message) in &*heard.borrow() {
            if from == path {
                dialogue.asked.push((*at, *message));
            } else if to == path {
                dialogue.answered.push((*at, *message));
            }
        }
        dialogue
    };
    (world.loads.iter().map(|load| dialogue(&load.path)).collect(), end)
}

fn is_answer(message: &Message) -> bool {
    matches!(message, Message::BlockDone(_) | Message::DmaDone(_))
}

/// The outside asks through openings what loads have asked, each thing no earlier than `lead` before it arrives; what
/// it hears, of each opening.
fn from_outside(
    variant: &Variant,
    workload: &WorkloadPlan,
    (dialogues, end): (&[Dialogue], Instant),
    lead: Span,
) -> Vec<Vec<(Instant, Message)>> {
    let mut world = World::without_load(variant, &workload.pairs, 1);
    let openings: Vec<Opening> = world.openings.clone();
    assert!(world.loads.is_empty() && openings.len() == dialogues.len());
    let asked = dialogues.iter().zip(&openings);
    let mut asked: Vec<_> = asked
        .flat_map(|(load, opening)| load.asked.iter().map(|(at, message)| (*at, opening.entry, *message)))
        .collect();
    asked.sort_by_key(|asked| asked.0);
    let mut heard = vec![Vec::new(); openings.len()];
    let mut hear = |world: &mut World| {
        for emitted in world.kernel.take_out() {
            let place = openings.iter().position(|opening| opening.exit == emitted.exit).expect("an opening");
            heard[place].push((emitted.at, emitted.message));
        }
    };
    for (at, entry, message) in asked {
        let until = Instant::from_ps(at.as_ps().saturating_sub(lead.as_ps()));
        if until > world.kernel.now() {
            world.kernel.run_until(until);
            hear(&mut world);
        }
        world.kernel.inject(at, entry, message);
    }
    world.kernel.run_until(end);
    hear(&mut world);
    heard
}

/// Everything is answered at the picosecond at which a load is answered, whenever it was injected.
fn is_answered_alike(name: &str, variant: &Variant, workload: &WorkloadPlan, case: &Case) {
    let (dialogues, end) = with_loads(variant, workload, case);
    for lead in [Span::from_ps(1), Span::from_us(10), LONG] {
        let heard = from_outside(variant, workload, (&dialogues, end), lead);
        for (load, heard) in dialogues.iter().zip(heard) {
            assert_eq!(load.answered.len(), heard.len(), "{name}");
            let differs = load.answered.iter().zip(&heard).find(|(load, outside)| load != outside);
            assert_eq!(differs, None, "{name}, {lead} before");
        }
    }
}

#[test]
fn the_outside_is_answered_when_a_load_is() {
    let mut compared = 0;
    for name in ["block", "two-cards", "two-hosts", "pm1743", "switch", "fc", "wrappers"] {
        let plan =
            plan_of(&Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../scenarios/{name}.yaml")), &[]);
        for variant in &plan.variants {
            // one load each, with caches as the machine has them
            let is_alike = |load: &Load| match load {
                Load::Blocks(blocks) => blocks.threads().is_empty(),
                Load::Dma(dma) => dma.cache == Cache::Warm,
                Load::Memory(_) => false,
            };
            let alone = |workload: &&WorkloadPlan| workload.takeover.is_none() && workload.pts().is_none();
            for workload in variant.workloads.iter().filter(alone) {
                let Some(case) = workload.cases.last().filter(|case| is_alike(&case.load)) else { continue };
                is_answered_alike(
                    &format!("{name} {} {}", variant.name, workload.name),
                    variant,
                    workload,
                    case,
                );
                compared += 1;
            }
        }
    }
    assert!(compared > 10, "{compared}");
}

/// A machine that nobody asks anything runs, too: its drivers are there for those who may ask, and nobody else.
#[test]
fn a_machine_alone_is_a_world() {
    let text = "about: Who asks?\nmachine:\n  cpu: {model: root-complex}\n  ssd: {model: nvme-ssd, medium: cross-point, capacity: 8GiB}\nlinks:\n  \
        slot: {from: cpu.slot0, to: ssd, gen: 4, width: x4}\nworkloads:\n  w: {block: {size: 4KiB, requests: 10}, on: cpu, target: ssd}\n";
    let plan = plan("alone.yaml", text, &[]);
    let variant = &plan.variants[0];
    let mut world = World::without_load(variant, &[], 1);
    world.kernel.run_until(Instant::ZERO + LONG);
    assert!(world.openings.is_empty() && world.server.is_none());
    assert_eq!(world.progress(), (0, 0));

    let mut world = World::without_load(variant, &variant.workloads[0].pairs, 1);
    let opening = world.openings[0].clone();
    let read = |n: usize, bytes| {
        let (operation, unit, address) = (Operation::Read, 0, n as u64 * 4096);
        Message::Block(Transfer { operation, bytes, handle: opening.handles.nth(n), unit, address })
    };
    // the controller is ready; blocks of 512 B can be asked for, and no others
    let at = Instant::ZERO + LONG;
    world.kernel.inject(at, opening.entry, read(0, 4096));
    world.kernel.inject(at, opening.entry, read(1, 100));
    world.kernel.run_until(at + Span::from_us(100));
    let mut answers: Vec<_> = world.kernel.take_out().collect();
    answers.sort_by_key(
        |emitted| if let Message::BlockDone(done) = emitted.message { done.handle } else { u32::MAX },
    );
    let statuses = answers.iter().map(|emitted| match emitted.message {
        Message::BlockDone(done) => done.status,
        other => panic!("{other:?}"),
    });
    assert_eq!(statuses.collect::<Vec<_>>(), [Status::Ok, Status::Aborted]);
    assert!(answers.iter().all(|emitted| emitted.exit == opening.exit && emitted.at > at));
}
