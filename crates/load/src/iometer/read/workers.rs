//! `'MANAGER LIST`: managers, their workers, and the workers' specifications and targets.

use super::super::config::{
    Connections, DiskSettings, FixedSeed, Manager, Named, NetworkSettings, Target, TargetKind, Worker,
    WorkerKind,
};
use super::super::lines::{Between, Field, Line};
use super::super::problem::Problem;
use super::super::words::{Kind, Protocol, Switch};
use super::reader::{Assigned, MANAGERS, Reader, Section, short};

const MANAGER: &str = "'Manager ID, manager name";
const ADDRESS: &str = "'Manager network address";
const WORKER: &str = "'Worker";
const TYPE: &str = "'Worker type";
const SETTINGS: &str = "'Default target settings for worker";
const ASSIGNED: &str = "'Assigned access specs";
const TARGETS: &str = "'Target assignments";
const IOS: &str = "'Number of outstanding IOs,test connection rate,transactions per connection";
const IOS_SEED: &str = "'Number of outstanding IOs,test connection rate,transactions per connection,use fixed seed,fixed seed value";
const DISK: &str = "'Disk maximum size,starting sector";
const DISK_PATTERN: &str = "'Disk maximum size,starting sector,Data pattern";
const INTERFACE: &str = "'Local network interface";
const VI: &str = "'VI outstanding IOs";
const TARGET: &str = "'Target";
const TARGET_TYPE: &str = "'Target type";
const TARGET_MANAGER: &str = "'Target manager ID, manager name";

const MANAGER_PART: Section = Section { opens: MANAGER, ends: "'End manager" };
const WORKER_PART: Section = Section { opens: WORKER, ends: "'End worker" };
const SETTINGS_PART: Section = Section { opens: SETTINGS, ends: "'End default target settings for worker" };
const TARGETS_PART: Section = Section { opens: TARGETS, ends: "'End target assignments" };
const TARGET_PART: Section = Section { opens: TARGET, ends: "'End target" };
const ASSIGNED_PART: Section = Section { opens: ASSIGNED, ends: "'End assigned access specs" };

/// The largest known number of a data pattern: fully random.
const MOST_PATTERN: u64 = 2;

impl<'a> Reader<'a> {
    pub(super) fn managers(&mut self) -> Vec<Manager> {
        let mut managers = Vec::new();
        while let Some(key) = self.key(MANAGERS) {
            if !key.is(MANAGER) {
                self.unknown(key, &[MANAGER]);
                continue;
            }
            let named = self.named(key).unwrap_or(Named { id: 1, name: String::new() });
            managers.push(self.manager(named));
        }
        managers
    }
    fn manager(&mut self, Named { id, name }: Named) -> Manager {
        let mut manager = Manager { id, name, address: String::new(), workers: Vec::new() };
        while let Some(key) = self.key(MANAGER_PART) {
            if key.is(ADDRESS) {
                manager.address = self.text();
            } else if key.is(WORKER) {
                let section = self.path.clone();
                let name = self.required(key, "a name").map(|line| line.text.to_owned()).unwrap_or_default();
                self.path = format!("{section}: {}", short(&name));
                manager.workers.push(self.worker(key, name));
                self.path = section;
            } else {
                self.unknown(key, &[ADDRESS, WORKER]);
            }
        }
        manager
    }
    fn worker(&mut self, opens: Line<'a>, name: String) -> Worker {
        let kind = self.worker_kind(opens).unwrap_or(WorkerKind::Disk(DiskSettings::default()));
        let mut worker = Worker {
            name,
            kind,
            outstanding: 1,
            connections: Connections { tested: false, transactions: 1 },
            seed: None,
            specs: Vec::new(),
            targets: Vec::new(),
        };
        while let Some(key) = self.key(WORKER_PART) {
            if key.is(SETTINGS) {
                self.settings(&mut worker);
            } else if key.is(ASSIGNED) {
                self.assigned(&mut worker);
            } else if key.is(TARGETS) {
                self.targets(&mut worker);
            } else {
                self.unknown(key, &[SETTINGS, ASSIGNED, TARGETS]);
            }
        }
        self.check_worker(&worker, opens.place);
        worker
    }
    /// Reads the type, which follows right after the name.
    fn worker_kind(&mut self, opens: Line<'a>) -> Option<WorkerKind> {
        let Some(key) = self.lines.peek().filter(|line| line.is(TYPE)) else {
            let wanted = format!("`{TYPE}`");
            self.report(&Problem::MissingValue { key: WORKER.into(), wanted }, opens.place);
            return None;
        };
        self.lines.next();
        Some(match self.kind(key)? {
            (Kind::Disk, _) => WorkerKind::Disk(DiskSettings::default()),
            (Kind::Network, protocol) => {
                let settings =
                    NetworkSettings { protocol: protocol?, interface: String::new(), vi_outstanding: None };
                WorkerKind::Network(settings)
            }
        })
    }
    /// `DISK`, `NETWORK,TCP` or `NETWORK,VI` below a key.
    fn kind(&mut self, key: Line<'a>) -> Option<(Kind, Option<Protocol>)> {
        let line = self.required(key, "`DISK`, `NETWORK,TCP` or `NETWORK,VI`")?;
        let (kind, protocol) = line.split_comma();
        let kind = self.word(kind)?;
        let protocol = match (kind, protocol) {
            (Kind::Network, None) => {
                let wanted = "a protocol".into();
                self.report(&Problem::MissingValue { key: short(key.text), wanted }, line.place);
                None
            }
            (_, protocol) => protocol.and_then(|word| self.word(word)),
        };
        Some((kind, protocol))
    }
    fn settings(&mut self, worker: &mut Worker) {
        while let Some(key) = self.key(SETTINGS_PART) {
            if key.is(IOS) {
                let wanted = "outstanding I/Os, connection rate and transactions";
                if let Some(fields) = self.fields(key, Between::Commas, wanted) {
                    self.ios(worker, fields);
                }
            } else if key.is(IOS_SEED) {
                let wanted = "outstanding I/Os, connection rate, transactions, use of the seed and seed";
                if let Some([ios, test, transactions, used, seed]) = self.fields(key, Between::Commas, wanted)
                {
                    self.ios(worker, [ios, test, transactions]);
                    let used = self.word(used).is_some_and(Switch::is_on);
                    worker.seed = Some(FixedSeed { used, value: self.number(seed, "a seed", 0, u64::MAX) });
                }
            } else if key.is(DISK) || key.is(DISK_PATTERN) {
                self.disk_settings(key, worker);
            } else if key.is(INTERFACE) || key.is(VI) {
                self.network_settings(key, worker);
            } else {
                self.unknown(key, &[IOS_SEED, IOS, DISK_PATTERN, DISK, INTERFACE, VI]);
            }
        }
    }
    fn ios(&mut self, worker: &mut Worker, [ios, test, transactions]: [Field<'a>; 3]) {
        worker.outstanding = self.number(ios, "a number of outstanding I/Os", 1, u32::MAX.into());
        worker.connections.tested = self.word(test).is_some_and(Switch::is_on);
        worker.connections.transactions = self.count(transactions, "a number of transactions");
    }
    fn disk_settings(&mut self, key: Line<'a>, worker: &mut Worker) {
        let mut fields = Vec::new();
        if key.is(DISK) {
            let wanted = "a maximum size and a starting sector, in sectors";
            fields.extend(self.fields::<2>(key, Between::Commas, wanted).into_iter().flatten());
        } else {
            let wanted = "a maximum size, a starting sector and a data pattern";
            fields.extend(self.fields::<3>(key, Between::Commas, wanted).into_iter().flatten());
        }
        let WorkerKind::Disk(_) = worker.kind else {
            self.report(&Problem::WrongKind { what: format!("`{DISK}`"), kind: "network" }, key.place);
            return;
        };
        let [size, start] = [0, 1].map(|nth| fields.get(nth).copied());
        let [maximum_size, starting_sector] = [size, start]
            .map(|field| field.map_or(0, |field| self.number(field, "a number of sectors", 0, u64::MAX)));
        let data_pattern =
            fields.get(2).map(|field| self.number(*field, "the number of a data pattern", 0, MOST_PATTERN));
        worker.kind = WorkerKind::Disk(DiskSettings { maximum_size, starting_sector, data_pattern });
    }
    fn network_settings(&mut self, key: Line<'a>, worker: &mut Worker) {
        let value = self.lines.value();
        let WorkerKind::Network(settings) = &mut worker.kind else {
            self.report(&Problem::WrongKind { what: format!("`{}`", key.text), kind: "disk" }, key.place);
            return;
        };
        if key.is(INTERFACE) {
            settings.interface = value.map(|line| line.text.to_owned()).unwrap_or_default();
        } else if settings.protocol == Protocol::Tcp {
            self.report(&Problem::WrongKind { what: format!("`{VI}`"), kind: "TCP" }, key.place);
        } else if let Some(line) = value {
            settings.vi_outstanding = Some(self.count(line.field(), "a number of outstanding sends"));
        } else {
            let wanted = "a number of outstanding sends".into();
            self.report(&Problem::MissingValue { key: VI.into(), wanted }, key.place);
        }
    }
    fn assigned(&mut self, worker: &mut Worker) {
        loop {
            while let Some(line) = self.lines.value() {
                worker.specs.push(line.text.to_owned());
                self.assigned.push(Assigned {
                    spec: line.text.to_owned(),
                    worker: worker.name.clone(),
                    is_disk: matches!(worker.kind, WorkerKind::Disk(_)),
                    path: self.path.clone(),
                    place: line.place,
                });
            }
            let Some(key) = self.key(ASSIGNED_PART) else { return };
            self.unknown(key, &[ASSIGNED_PART.ends]);
        }
    }
    fn targets(&mut self, worker: &mut Worker) {
        while let Some(key) = self.key(TARGETS_PART) {
            if !key.is(TARGET) {
                self.unknown(key, &[TARGET]);
                continue;
            }
            let name = self.required(key, "a name").map(|line| line.text.to_owned()).unwrap_or_default();
            let kind = self.target_kind(worker, key).unwrap_or(TargetKind::Disk);
            worker.targets.push(Target { name, kind });
        }
    }
    /// Reads the type of a target, up to its end.
    fn target_kind(&mut self, worker: &Worker, opens: Line<'a>) -> Option<TargetKind> {
        let (mut kind, mut manager) = (None, None);
        while let Some(key) = self.key(TARGET_PART) {
            if key.is(TARGET_TYPE) {
                kind = self.kind(key).map(|(kind, protocol)| (kind, protocol, key));
            } else if key.is(TARGET_MANAGER) {
                manager = self.named(key);
            } else {
                self.unknown(key, &[TARGET_TYPE, TARGET_MANAGER]);
            }
        }
        let Some((kind, protocol, key)) = kind else {
            let wanted = format!("`{TARGET_TYPE}`");
            self.report(&Problem::MissingValue { key: TARGET.into(), wanted }, opens.place);
            return None;
        };
        match (kind, &worker.kind) {
            (Kind::Disk, WorkerKind::Disk(_)) => Some(TargetKind::Disk),
            (Kind::Network, WorkerKind::Network(_)) => {
                let Some(manager) = manager else {
                    let wanted = format!("`{TARGET_MANAGER}`");
                    self.report(&Problem::MissingValue { key: TARGET.into(), wanted }, opens.place);
                    return None;
                };
                Some(TargetKind::Network { protocol: protocol?, manager })
            }
            (_, of) => {
                let kind = if matches!(of, WorkerKind::Disk(_)) { "disk" } else { "network" };
                self.report(&Problem::WrongKind { what: "a target of another type".into(), kind }, key.place);
                None
            }
        }
    }
}
