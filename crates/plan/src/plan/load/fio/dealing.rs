//! Which job asks which drive: the names of `filename` beside the targets of the workload.

use super::{FioCase, FioJob};
use lanetwin_load::fio::{Job, Room};
use std::sync::Arc;

/// The drive that a name is of: that of `/dev/nvme0n2` is `/dev/nvme0`, whose namespaces are no drives.
fn drive_of(name: &str) -> &str {
    let device = name.rsplit('/').next().unwrap_or(name);
    let Some(numbers) = device.strip_prefix("nvme") else { return name };
    let digits = numbers.bytes().take_while(u8::is_ascii_digit).count();
    let is_namespace = digits > 0 && numbers[digits..].starts_with('n');
    if is_namespace { &name[..name.len() - numbers.len() + digits] } else { name }
}

/// The drives that a job names, each once.
fn drives(job: &Job) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for name in job.settings.files.names() {
        let drive = drive_of(&name);
        if !all.iter().any(|known| known == drive) {
            all.push(drive.to_owned());
        }
    }
    all
}

impl FioCase {
    /// The drives that jobs name, each once, in the order of the file; none if a job names none.
    #[must_use]
    pub fn drives_of<'a>(jobs: impl IntoIterator<Item = &'a Job>) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        for job in jobs {
            let own = drives(job);
            if own.is_empty() {
                return Vec::new();
            }
            let new: Vec<String> = own.into_iter().filter(|drive| !all.contains(drive)).collect();
            all.extend(new);
        }
        all
    }

    /// The indices of the pairs that each clone uses, given the host of each pair, if the file names several drives,
    /// and every host has as many: the first that is named is the first target, and so on.
    pub(super) fn places(&self, hosts: &[usize]) -> Option<Vec<Vec<usize>>> {
        let mut known = hosts.to_vec();
        known.sort_unstable();
        known.dedup();
        let of_host = |host: &usize| -> Vec<usize> {
            hosts.iter().enumerate().filter(|(_, on)| *on == host).map(|(place, _)| place).collect()
        };
        let of_hosts: Vec<Vec<usize>> = known.iter().map(of_host).collect();
        if self.drives.len() < 2 || of_hosts.iter().any(|places| places.len() != self.drives.len()) {
            return None;
        }
        let of_clone = |job: &FioJob| -> Vec<usize> {
            let own = drives(&job.job);
            let all = of_hosts.iter().flat_map(|places| self.drives.iter().zip(places));
            all.filter(|(drive, _)| own.contains(*drive)).map(|(_, place)| *place).collect()
        };
        Some(self.clones().iter().map(|(job, _, _)| of_clone(job)).collect())
    }

    /// The same jobs, those on several drives with the share of one of these; `None` if there are none.
    pub(super) fn shared(&self, hosts: &[usize]) -> Option<Self> {
        self.places(hosts)?;
        let jobs: Vec<FioJob> = self.jobs.iter().map(FioJob::share).collect();
        let is_shared = jobs.iter().any(|job| job.shares > 1);
        let case = Self { jobs, ..self.clone() };
        let fits =
            |(job, clone, _): &(&FioJob, u32, String)| job.workload(*clone, case.capacity).check().is_ok();
        let all_fit = case.clones().iter().all(fits);
        (is_shared && all_fit).then_some(case)
    }
}

impl FioJob {
    /// The job on one of its drives. `size` is of all files together (`setup_files` of fio), as are rates and numbers
    /// of I/Os; of each there is at least one.
    fn share(&self) -> Self {
        let shares = u32::try_from(drives(&self.job).len()).unwrap_or(u32::MAX);
        if shares < 2 || self.log.is_some() {
            return self.clone();
        }
        let part = |all: u64| all.div_ceil(u64::from(shares));
        let of_room =
            |room| if let Room::Bytes(all) = room { Room::Bytes(all / u64::from(shares)) } else { room };
        let mut job = Job::clone(&self.job);
        let s = &mut job.settings;
        s.iodepth = s.iodepth.div_ceil(shares);
        s.thinktime_blocks = s.thinktime_blocks.div_ceil(shares);
        (s.size, s.io_size, s.number_ios) = (of_room(s.size), of_room(s.io_size), part(s.number_ios));
        (s.rate, s.rate_iops) = (s.rate.map(part), s.rate_iops.map(part));
        Self { job: Arc::new(job), shares, ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::drive_of;

    #[test]
    fn namespaces_and_partitions_are_of_their_drive() {
        for (name, drive) in [
            ("/dev/nvme0n1", "/dev/nvme0"),
            ("/dev/nvme12n3p1", "/dev/nvme12"),
            ("nvme1n1", "nvme1"),
            ("/dev/nvme0", "/dev/nvme0"),
            ("/dev/sda", "/dev/sda"),
            ("/mnt/nvmen/file", "/mnt/nvmen/file"),
            ("/dev/nvmen1", "/dev/nvmen1"),
        ] {
            assert_eq!(drive_of(name), drive, "{name}");
        }
    }
}
