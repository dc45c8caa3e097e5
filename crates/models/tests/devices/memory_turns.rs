//! Threads of a memory host that take turns on their cores, with each other and with the driver of a drive.

use crate::rig::{Log, add_at, peer, wire};
use lanetwin_kernel::{ComponentId, Kernel, Port};
use lanetwin_load::memory::*;
use lanetwin_models::memory_host::MemoryHost;
use lanetwin_ports::{Builder, Message, Operation, RunQueue, SharedMemory, Transfer};
use lanetwin_units::{Instant, Span};

/// The time between two steps of a thread: memory is much faster, so that a thread is as fast as its core lets it be.
const STEP: Span = Span::from_ns(100);
const SLICE: Span = Span::from_us(4);
const HOST: &[(&str, &str)] = &[
    ("dram", "simple"),
    ("dram.latency", "50ns"),
    ("dram.bandwidth", "100GB/s"),
    ("l1.size", "0B"),
    ("l2.size", "0B"),
    ("llc.size", "0B"),
    ("cores", "2"),
    ("core.slice", "4us"),
];

struct World {
    kernel: Kernel<Message>,
    host: ComponentId,
    core: RunQueue,
    answers: Option<Log>,
}

fn at(us: u64) -> Instant {
    Instant::ZERO + Span::from_us(us)
}
fn host(builder: &mut Builder, more: &[(&str, &str)], core: &RunQueue) -> ComponentId {
    let said: Vec<_> = HOST.iter().chain(more).copied().collect();
    add_at(builder, "host", "memory-host", &said, |site| site.cores = vec![core.clone()])
}

impl World {
    fn alone(more: &[(&str, &str)]) -> Self {
        let (mut builder, core) = (Builder::new(), RunQueue::new(1));
        let host = host(&mut builder, more, &core);
        Self { kernel: builder.seal(), host, core, answers: None }
    }
    fn host(&mut self) -> &mut MemoryHost {
        self.kernel.component(self.host).unwrap()
    }
    /// Runs threads on these hardware threads, each of which ends after so many steps, if it does.
    fn run(&mut self, cpus: &[u32], count: Option<u64>) {
        let (threads, mix) = (cpus.len() as u32, TrafficMix::AllReads);
        let order = TrafficOrder::Sequential;
        let spec = TrafficSpec { threads, buffer: 1 << 26, mix, order, think: STEP, count };
        let program = Traffic::new(spec, 1, "traffic").unwrap();
        let placement = Placement::new("program", Policy::Bind(vec![0])).on(cpus.iter().copied());
        self.host().run(Box::new(program), placement).unwrap();
    }
    fn until(&mut self, us: u64) -> &mut Self {
        self.kernel.run_until(at(us));
        self
    }
    /// Steps taken by all threads so far.
    fn steps(&mut self) -> u64 {
        self.host().progress().0
    }
    fn busy(&mut self) -> f64 {
        let now = self.kernel.now();
        self.core.used(now).in_use_ps as f64 / now.as_ps() as f64
    }
}

/// Two threads of one core take as many steps as one, of two cores twice as many.
#[test]
fn threads_of_a_core_share_its_time_and_no_more() {
    let steps = |cpus: &[u32], slice| {
        let mut world = World::alone(&[("core.slice", slice)]);
        world.run(cpus, None);
        world.until(2_000).steps()
    };
    let one = steps(&[0], "4us");
    assert_eq!(one, 20_000, "a step every 100 ns");
    let (shared, apart, at_once) = (steps(&[0, 0], "4us"), steps(&[0, 1], "4us"), steps(&[0, 0], "0ns"));
    assert!(one.abs_diff(shared) <= 2, "{shared}: computing goes on where it was interrupted");
    assert_eq!((apart, at_once), (2 * one, 2 * one));
    let threes = steps(&[0, 0, 0], "7us");
    assert!(one.abs_diff(threes) <= 3, "{threes}");
}

/// A core is busy while a thread has it, and no longer than a slice after that; a thread that ends leaves its time to
/// the next.
#[test]
fn a_core_is_busy_for_as_long_as_there_are_threads() {
    let mut world = World::alone(&[]);
    world.run(&[0, 0], Some(400));
    world.until(1_000);
    assert_eq!(world.steps(), 800);
    // 800 steps of 100 ns; the last thread keeps the rest of its slice
    let (least, most) = (Span::from_us(80), Span::from_us(80) + SLICE);
    assert!((least..=most).contains(&world.core.busy()), "{}", world.core.busy());
    let last = world.kernel.report().into_iter().flat_map(|(_, _, report)| report.supplies);
    let told: Vec<_> = last.filter(|(name, _)| name.starts_with("core")).map(|(name, _)| name).collect();
    assert_eq!(told, ["core 0", "cores"], "cores of one thread each are not told");
}

/// Hardware threads of a core run at once.
#[test]
fn hardware_threads_do_not_take_turns() {
    let steps = |cpus: &[u32]| {
        let mut world = World::alone(&[("threads", "2")]);
        world.run(cpus, None);
        world.until(1_000).steps()
    };
    assert_eq!(steps(&[0, 2]), 2 * steps(&[0]), "two cores: 2 is the second of core 0");
}

/// What libaio costs a read: submission, interrupt and completion.
const COST: Span = Span::from_ps(2_300_000 + 1_000_000 + 1_800_000);
const READS: u64 = 150;
/// The time from one read to the next: no multiple of a slice.
const GAP: Span = Span::from_ps(13_370_000);

/// A host whose second core, or first, runs a thread, and whose first drives a drive.
fn with_drive(cpus: &[u32], slice: &str) -> World {
    let (mut builder, core, memory) = (Builder::new(), RunQueue::new(1), SharedMemory::new());
    let root = add_at(&mut builder, "root", "root-complex", &[], |site| site.memory = Some(memory.clone()));
    let drive = [("medium", "cross-point"), ("capacity", "8GiB")];
    let ssd = add_at(&mut builder, "ssd", "nvme-ssd", &drive, |site| site.behind = vec![(0, memory.clone())]);
    let promised = Span::from_ns(1);
    wire(&mut builder, Span::from_ns(100), ((root, Port(1)), promised, false), ((ssd, Port(0)), promised));
    let driver = add_at(&mut builder, "driver", "nvme-driver", &[("ports", "1")], |site| {
        (site.memory, site.cores) = (Some(memory), vec![core.clone()]);
    });
    builder.join((driver, Port(0)), (root, Port(0)));
    let read = |nth: u64| {
        let address = nth * 4096;
        let read = Transfer { operation: Operation::Read, bytes: 4096, handle: nth as u32, unit: 0, address };
        (at(1_000) + Span::from_ps(GAP.as_ps() * nth), Message::Block(read))
    };
    let answers = peer(&mut builder, (driver, Port(1)), (0..READS).map(read).collect());
    let host = host(&mut builder, &[("core.slice", slice)], &core);
    let mut world = World { kernel: builder.seal(), host, core, answers: Some(answers) };
    if !cpus.is_empty() {
        world.run(cpus, None);
    }
    world
}

/// The mean latency of the reads \[ns\]; all have been answered.
fn latency_ns(world: &World) -> f64 {
    let answers = world.answers.as_ref().unwrap().borrow();
    let done: Vec<_> = answers
        .iter()
        .filter_map(|(ps, _, message)| match message {
            Message::BlockDone(done) => Some(ps - at(1_000).as_ps() - GAP.as_ps() * u64::from(done.handle)),
            _ => None,
        })
        .collect();
    assert_eq!(done.len() as u64, READS);
    done.iter().sum::<u64>() as f64 / READS as f64 / 1e3
}

/// On one core the thread loses the CPU time of the driver, to a step, and the driver waits for the rest of a slice at
/// submission and at completion; on cores of their own neither notices the other.
#[test]
fn a_thread_and_a_driver_slow_each_other_by_what_they_use() {
    let (start, end) = (1_000, 4_000);
    let steps = |world: &mut World| {
        let before = world.until(start).steps();
        world.until(end).steps() - before
    };
    let mut alone = with_drive(&[], "4us");
    alone.until(end);
    let mut apart = with_drive(&[1], "4us");
    let undisturbed = steps(&mut apart);
    let mut shared = with_drive(&[0], "4us");
    let disturbed = steps(&mut shared);

    assert_eq!(latency_ns(&apart), latency_ns(&alone));
    let elapsed = Span::from_us(end - start);
    assert_eq!(undisturbed, elapsed.as_ps() / STEP.as_ps());
    let driver = READS * COST.as_ps();
    let expected = (elapsed.as_ps() - driver) / STEP.as_ps();
    assert!(disturbed.abs_diff(expected) <= 2, "{disturbed} of {undisturbed}, by utilisation {expected}");

    // the rest of a slice, twice: half a slice in the mean, and a read in the same slice is behind it
    let (waits, slice) = (latency_ns(&shared) - latency_ns(&alone), SLICE.as_ps() as f64 / 1e3);
    assert!((waits / slice - 1.0).abs() < 0.2, "{waits} ns for slices of {slice} ns");
    assert_eq!(shared.busy(), 1.0, "and the core is never idle nor busy for more than there is of it");
}

#[test]
fn slices_of_the_run_change_nothing() {
    let (mut whole, mut sliced) = (with_drive(&[0, 0, 1], "3us"), with_drive(&[0, 0, 1], "3us"));
    whole.until(1_500);
    let mut step = 1;
    while sliced.kernel.now() < at(1_500) {
        step = step * 5 % 10_007;
        let until = sliced.kernel.now() + Span::from_ps(step * 997);
        sliced.kernel.run_until(until.min(at(1_500)));
        let now = sliced.kernel.now();
        assert!(sliced.core.used(now).in_use_ps <= u128::from(now.as_ps()));
    }
    assert_eq!(whole.kernel.digest(), sliced.kernel.digest());
    assert_eq!((whole.steps(), whole.core.busy()), (sliced.steps(), sliced.core.busy()));
}
