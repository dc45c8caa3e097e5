//! What a case says in the words of Iometer: its metrics, and its results file.
//!
//! All repeats are taken together, as one test that ran as long as all of them.
//!
//! **CPU.** A driver's cores are busy while they submit and complete I/Os, and not otherwise. Utilisation is that time,
//! of all cores of all drivers, over the time that these cores had: a driver works on cores of its own, and the model
//! of a host does not count its cores.

use crate::format::{FinishedCase, Format, Writer};
use crate::measure::Measured;
use lanetwin_load::iometer::Version;
use lanetwin_load::iometer::metrics::{self, Counted, CpuTime, Reading};
use lanetwin_load::iometer::results_csv::{NO_TIME, Row, Running, Series, Settings, Test};
use lanetwin_load::{Results as Counts, Side};
use lanetwin_plan::IometerCase;
use lanetwin_stats::results::{Attachment, IometerMetric, Results};
use lanetwin_units::Span;

/// What drivers call their cores.
const CORES: &str = "cores";

pub(super) const FORMAT: Format = || Box::<IometerWriter>::default();

/// The metrics of Iometer, and its results files: one for each variant, and for each version whose configurations it
/// ran.
#[derive(Default)]
struct IometerWriter {
    metrics: Vec<IometerMetric>,
    files: Vec<(String, Series)>,
}

/// A case, as Iometer tells it.
struct IometerRun<'a> {
    ran: FinishedCase<'a>,
    iometer: &'a IometerCase,
}

impl IometerRun<'_> {
    /// The metrics of Iometer.
    fn metrics(&self) -> Vec<IometerMetric> {
        let sum = Sum::of(self.ran.repeats, |measured| &measured.load);
        let told = |metric: metrics::Metric| {
            let (value, not_modelled) = match metric.reading {
                Reading::Value(value) => (Some(value), String::new()),
                Reading::NotModelled { why } => (None, why.to_owned()),
            };
            IometerMetric {
                variant: self.ran.variant.name.clone(),
                workload: self.ran.workload.name.clone(),
                case: self.ran.case.label.clone(),
                family: metric.family.name().to_owned(),
                metric: metric.name.to_owned(),
                unit: metric.unit.to_owned(),
                value,
                not_modelled,
            }
        };
        metrics::metrics(&sum.counted(self.cpu())).into_iter().map(told).collect()
    }

    /// How busy the cores of the drivers were; none if no driver has any.
    fn cpu(&self) -> Option<CpuTime> {
        let cores = self.cores();
        let count = u32::try_from(cores.len()).expect("a machine has fewer cores");
        let busy = cores.into_iter().fold(Span::ZERO, |sum, busy| sum + busy);
        (count > 0).then_some(CpuTime { busy, cores: count })
    }
    /// How long each core of each driver was busy; what a driver with several did is shared out evenly.
    fn cores(&self) -> Vec<Span> {
        let mut all: Vec<Span> = Vec::new();
        for measured in self.ran.repeats {
            let elapsed = measured.load.time().as_ps() as f64;
            let busy = |share: f64| Span::from_ps((share * elapsed).round() as u64);
            let drivers = measured.limits.iter().filter(|used| used.name == CORES);
            let cores = drivers.flat_map(|used| (0..used.supply).map(move |_| busy(used.share)));
            for (nth, busy) in cores.enumerate() {
                match all.get_mut(nth) {
                    Some(sum) => *sum += busy,
                    None => all.push(busy),
                }
            }
        }
        all
    }

    /// The rows that Iometer would write: of all, of the manager, its processors, its worker, and the targets.
    fn test(&self) -> Test {
        let Self { ran, iometer } = self;
        let name = &iometer.spec.name;
        let (manager, worker) = iometer.from.worker.clone().unwrap_or_else(|| {
            // a library has no worker: the host does the work
            let host = ran.workload.pairs.first().map(|pair| ran.variant.machine[pair.on].name.clone());
            (host.unwrap_or_default(), "Worker 1".to_owned())
        });
        let disks = u32::try_from(ran.workload.pairs.len()).expect("a machine has fewer devices");
        let settings = Settings {
            starting_sector: iometer.disk.starting_sector,
            maximum_size: iometer.disk.maximum_size,
            outstanding: iometer.outstanding,
        };
        let running = Running { managers: 1, workers: 1, disks };
        let sum = Sum::of(ran.repeats, |measured| &measured.load);
        let counted = sum.counted(self.cpu());
        let mut rows = vec![
            Row::all(name, &counted, running, settings),
            Row::manager(&manager, name, &counted, running, settings),
        ];
        rows.extend((0..).zip(self.cores()).map(|(nth, busy)| {
            Row::processor(nth, &Counted { cpu: Some(CpuTime { busy, cores: 1 }), ..counted })
        }));
        rows.push(Row::worker(&worker, name, &counted, disks, settings));
        for (place, pair) in ran.workload.pairs.iter().enumerate() {
            let sum = Sum::of(ran.repeats, |measured| {
                measured.devices.get(place).map_or(&measured.load, |(_, own)| own)
            });
            rows.push(Row::disk(&pair.device, &sum.counted(None), settings));
        }
        Test { specs: vec![iometer.spec.clone()], rows, ended: NO_TIME.to_owned() }
    }
}

/// What was counted in several windows.
struct Sum {
    reads: Side,
    writes: Side,
    elapsed: Span,
}

impl Sum {
    /// What was counted in each repeat by some of its loads, over the run time of all of them.
    fn of(repeats: &[Measured], counted: impl Fn(&Measured) -> &Counts) -> Self {
        let mut sum = Self { reads: Side::default(), writes: Side::default(), elapsed: Span::ZERO };
        for measured in repeats {
            let results = counted(measured);
            sum.reads.merge(&results.reads);
            sum.writes.merge(&results.writes);
            sum.elapsed += measured.load.time();
        }
        sum
    }
    const fn counted(&self, cpu: Option<CpuTime>) -> Counted<'_> {
        Counted { reads: &self.reads, writes: &self.writes, elapsed: self.elapsed, cpu, interrupts: None }
    }
}

impl Writer for IometerWriter {
    fn add(&mut self, ran: &FinishedCase<'_>) {
        let Some(iometer) = ran.case.load.blocks::<IometerCase>() else { return };
        let run = IometerRun { ran: *ran, iometer };
        self.metrics.extend(run.metrics());
        let (variant, version) = (&ran.variant.name, iometer.from.version);
        let is_its = |file: &&mut (String, Series)| file.0 == *variant && file.1.version == version;
        if let Some((_, series)) = self.files.iter_mut().find(is_its) {
            series.tests.push(run.test());
            return;
        }
        let series = Series {
            version,
            test_type: iometer.from.test_type,
            description: iometer.from.description.clone(),
            began: NO_TIME.to_owned(),
            tests: vec![run.test()],
            ended: true,
        };
        self.files.push((variant.clone(), series));
    }

    /// The files are `iometer.csv`, with the variant and the version in the name if there are several.
    fn finish(self: Box<Self>, variants: usize, results: &mut Results) {
        let first = self.files.first().map(|(_, series)| series.version);
        let versions = self.files.iter().any(|(_, series)| Some(series.version) != first);
        let name = |variant: &str, version: Version| {
            let variant = if variants > 1 { format!("-{variant}") } else { String::new() };
            let version = if versions { format!("-{version}") } else { String::new() };
            format!("iometer{variant}{version}.csv")
        };
        let ended = results.complete;
        let file = |(variant, series): (String, Series)| {
            let name = name(&variant, series.version);
            Attachment { name, text: Series { ended, ..series }.to_csv() }
        };
        results.iometer.extend(self.metrics);
        results.attachments.extend(self.files.into_iter().map(file));
    }
}
