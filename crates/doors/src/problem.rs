//! Mistakes of users of doors.

use lanetwin_document::problem::Complaint;
use lanetwin_document::{Diagnostic, problems};

problems! {
    /// A variant that is not there.
    NoVariant { name: String, known: String } = "DO001", "there is no variant `{name}`", "the variants are {known}";
    /// A drive that no workload uses.
    NoDrive { name: String, known: String } = "DO002", "no workload asks a drive `{name}` for blocks", "drives that are asked: {known}";
    /// A scenario without drives that anything asks for blocks.
    NoDrives = "DO002", "no workload asks a drive for blocks, so there is none to serve", "add a workload of blocks with a drive as its `target`, as in `lanetwin new crystaldiskmark`";
    /// Several drives, and none was chosen.
    WhichDrive { known: String } = "DO003", "workloads ask several drives for blocks", "say which one: {known}";
    /// A drive that doors cannot serve.
    NotServed { name: String, why: String } = "DO004", "`{name}` cannot be served: {why}", "doors serve NVMe drives with one linked port and one way there, and the disks `null-disk` and `fixed-latency-disk`; choose another drive";
    /// A file for bytes that cannot be opened.
    DataUnusable { file: String, said: String } = "DO005", "the file `{file}` cannot hold the bytes of a drive: {said}", "give a file that you may read and write, or one that is not there yet";
    /// A file with foreign data.
    DataForeign { file: String, what: String } = "DO006", "`{file}` is {what}", "give a file that is not there yet: nothing is written to devices, or over what was not made here";
    /// A file of another drive.
    DataSize { file: String, held: u64, wanted: u64 } = "DO007", "`{file}` holds a drive of {held} B, and this one has {wanted} B", "give another file, or serve the drive that this one was made for";
    /// A file that is in use.
    DataInUse { file: String } = "DO008", "`{file}` is in use by another process", "end the other server, or give another file";
    /// A size that is none.
    BadSize { bytes: u64, block: u32 } = "DO009", "a drive of {bytes} B cannot be served in blocks of {block} B", "give a size of whole blocks, at least one";
    /// A request that is none.
    BadRequest { said: String } = "DO010", "this cannot be asked of the drive: {said}", "ask for whole blocks within the drive";
    /// A path that no socket can be at.
    SocketTaken { path: String, what: String } = "DO011", "no socket can be made at `{path}`: it {what}", "give a path where there is nothing, in a folder of yours; paths of sockets have at most 107 characters";
    /// An address that other machines reach, or none.
    NotLoopback { address: String } = "DO012", "`{address}` is not a loopback address with a port", "give 127.0.0.1 or [::1] with a port, such as 127.0.0.1:4420: whoever reaches a served drive may write to it; or let hosts authenticate with --keys, and give one address of this machine";
    /// No address, or one that is not of one machine, though hosts have to authenticate.
    NoOneAddress { address: String } = "DO020", "`{address}` is not one address with a port by which hosts reach this machine", "give one, such as 192.0.2.1:4420: hosts read it in the discovery log; --nvme-tcp twice serves at two";
    /// An address that cannot be listened at.
    AddressTaken { address: String, said: String } = "DO013", "nobody can listen at {address}: {said}", "end the other server, or give another port; port 0 is any that is free";
    /// There is no NVMe/TCP target.
    NoTarget { address: String, said: String } = "DO014", "no measurement at {address}: {said}", "start `lanetwin serve-device FILE --nvme-tcp ADDRESS`, or give the address, the NQN and the namespace of another NVMe/TCP target";
    /// A folder in which no drive can be.
    NoFolder { folder: String, why: String } = "DO015", "`{folder}` cannot hold the file of a drive: {why}", "give an empty folder of yours";
    /// The system does not mount it.
    NotMounted { folder: String, said: String } = "DO016", "the file of the drive cannot be mounted at `{folder}`: {said}", "load the kernel module `fuse` so that there is /dev/fuse, and be root or install fusermount3";
    /// Drives that cannot be served together.
    NotTogether { said: String } = "DO018", "these drives cannot be served together: {said}", "serve several drives with --nvme-tcp, as namespaces of one subsystem, name each once, and record one alone";
    /// A file of secrets that cannot be used.
    KeysUnusable { file: String, said: String } = "DO019", "the secrets in `{file}` cannot be used: {said}", "give a file of yours with mode 0600 and a line for each host: its NQN, its secret and, if the drive is to prove itself, another one; `lanetwin nvme-tcp key` writes secrets";
    /// A core that the door cannot have.
    NoCore { core: usize, known: String } = "DO023", "a door cannot have core {core} for itself: this process may run on {known}", "give one of these, if there are several: programs need another";
    /// A file that no record can be written to.
    NoRecord { file: String, said: String } = "DO017", "the record `{file}` cannot be written: {said}", "give a file that is not there yet, in a folder of yours with room";
}

impl Problem {
    /// The problem with the place that it is about: a scenario, a file, an option.
    #[must_use]
    pub fn at(&self, file: &str) -> Diagnostic {
        Diagnostic {
            file: file.into(),
            line: 0,
            column: 0,
            code: self.code(),
            severity: self.severity(),
            path: String::new(),
            message: self.message(),
            help: self.help(),
        }
    }
}
