//! A Linux machine as a host of PCIe functions.

use crate::host::{Address, Attribute, Counters, Host, HostError, Width};
use crate::wait::{FOR_LINK, until};
use lanetwin_units::{Instant, Span};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// A machine that runs Linux.
#[derive(Debug)]
pub struct Linux {
    root: PathBuf,
    hook: Option<String>,
    start: std::time::Instant,
    open: BTreeMap<Address, File>,
    writable: bool,
}

impl Linux {
    /// This machine, read-only.
    #[must_use]
    pub fn new() -> Self {
        Self::at(Path::new("/"))
    }
    /// The machine whose file system is in a folder.
    #[must_use]
    pub fn at(root: &Path) -> Self {
        let start = std::time::Instant::now();
        Self { root: root.to_owned(), hook: None, start, open: BTreeMap::new(), writable: false }
    }
    /// Adds a program that power cycles a device; it is called with the device's address.
    #[must_use]
    pub fn with_hook(mut self, hook: Option<String>) -> Self {
        self.hook = hook;
        self
    }
    /// Permits writes to configuration space from now on.
    pub fn allow_writes(&mut self) {
        self.open.clear();
        self.writable = true;
    }
    /// The folder that stands for `/`.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }
    /// A file of a function.
    #[must_use]
    pub fn file_of(&self, at: Address, name: &str) -> PathBuf {
        self.root.join("sys/bus/pci/devices").join(at.to_string()).join(name)
    }
    /// The release of the kernel: `6.1.0-56-cloud-amd64`.
    #[must_use]
    pub fn kernel(&self) -> String {
        let text = std::fs::read_to_string(self.root.join("proc/sys/kernel/osrelease")).unwrap_or_default();
        text.trim().to_owned()
    }

    /// Unbinds the driver from the device, so that nothing else accesses it.
    ///
    /// # Errors
    /// If the driver cannot be unbound.
    pub fn unbind(&self, at: Address) -> Result<(), HostError> {
        let driver = self.file_of(at, "driver");
        if !driver.exists() {
            return Ok(());
        }
        write(&driver.join("unbind"), &at.to_string())?;
        if driver.exists() {
            let said = "it is still bound".to_owned();
            return Err(HostError::Refused { what: format!("unbinding {at}"), said });
        }
        Ok(())
    }
    /// The settings of a device that [`unbind`](Self::unbind), [`keep_awake`](Self::keep_awake) and bus resets change,
    /// with their current values.
    #[must_use]
    pub fn attributes(&self, at: Address) -> Vec<Attribute> {
        let driver = self.file_of(at, "driver").canonicalize().ok();
        let name =
            driver.as_deref().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
        let mut found = Vec::new();
        // restored last, since it is recorded first
        if let Some(name) = name {
            let bind = self.root.join("sys/bus/pci/drivers").join(name).join("bind");
            found.push(Attribute { name: bind.display().to_string(), value: at.to_string() });
        }
        for file in ["power/control", "reset_method"] {
            let path = self.file_of(at, file);
            if let Ok(value) = std::fs::read_to_string(&path)
                && !value.trim().is_empty()
            {
                found.push(Attribute { name: path.display().to_string(), value: value.trim().to_owned() });
            }
        }
        found
    }
    /// Disables runtime power management of a device, so that the kernel does not suspend it while it has no driver.
    pub fn keep_awake(&self, at: Address) {
        // a kernel without runtime power management does not have this file
        let _ = write(&self.file_of(at, "power/control"), "on");
    }

    fn config(&mut self, at: Address) -> Result<&File, HostError> {
        if !self.open.contains_key(&at) {
            let path = self.file_of(at, "config");
            let opened = OpenOptions::new().read(true).write(self.writable).open(&path);
            let file = opened.map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => HostError::Gone(at),
                _ => refused(&path, &error),
            })?;
            self.open.insert(at, file);
        }
        Ok(&self.open[&at])
    }
}

impl Default for Linux {
    fn default() -> Self {
        Self::new()
    }
}

fn refused(path: &Path, error: &io::Error) -> HostError {
    HostError::Refused { what: path.display().to_string(), said: error.to_string() }
}

/// Writes an attribute of sysfs.
fn write(path: &Path, value: &str) -> Result<(), HostError> {
    OpenOptions::new()
        .write(true)
        .open(path)
        .and_then(|mut file| io::Write::write_all(&mut file, value.as_bytes()))
        .map_err(|error| refused(path, &error))
}

impl Host for Linux {
    fn read(&mut self, at: Address, offset: u16, width: Width) -> Result<u32, HostError> {
        let mut bytes = [0xff; 4];
        let length = usize::from(width.bytes());
        let path = self.file_of(at, "config");
        match self.config(at)?.read_at(&mut bytes[..length], u64::from(offset)) {
            Ok(read) if read == length => Ok(u32::from_le_bytes(bytes) & width.ones()),
            // for an unprivileged process the file ends after the header
            Ok(read) => {
                let said = format!("{read} of {length} bytes at {offset:#x}");
                Err(HostError::Refused { what: path.display().to_string(), said })
            }
            Err(error) if error.raw_os_error() == Some(NO_DEVICE) => {
                self.open.remove(&at);
                Err(HostError::Gone(at))
            }
            Err(error) => Err(refused(&path, &error)),
        }
    }
    fn write(&mut self, at: Address, offset: u16, width: Width, value: u32) -> Result<(), HostError> {
        let bytes = value.to_le_bytes();
        let path = self.file_of(at, "config");
        let file = self.config(at)?;
        file.write_all_at(&bytes[..usize::from(width.bytes())], u64::from(offset))
            .map_err(|error| refused(&path, &error))
    }
    fn size(&mut self, at: Address) -> Result<u16, HostError> {
        let path = self.file_of(at, "config");
        let mut space = [0; 4096];
        let read = self.config(at)?.read_at(&mut space, 0).map_err(|error| refused(&path, &error))?;
        Ok(u16::try_from(read).unwrap_or(4096))
    }
    fn now(&self) -> Instant {
        Instant::from_ps(u64::try_from(self.start.elapsed().as_nanos() * 1000).unwrap_or(u64::MAX))
    }
    fn wait(&mut self, span: Span) {
        std::thread::sleep(std::time::Duration::from_nanos(span.as_ps() / 1000));
    }
    fn name(&self) -> String {
        format!("Linux {}", self.kernel())
    }
    fn bus_reset(&mut self, _port: Address, device: Address) -> Result<(), HostError> {
        let method = self.file_of(device, "reset_method");
        let offers = std::fs::read_to_string(&method).unwrap_or_default();
        if !offers.split_whitespace().any(|method| method == "bus") && write(&method, "bus").is_err() {
            return Err(HostError::Unsupported("reset_method=bus"));
        }
        write(&method, "bus")?;
        write(&self.file_of(device, "reset"), "1")
    }
    fn power_cycle(&mut self, device: Address) -> Result<(), HostError> {
        let Some(hook) = &self.hook else {
            return Err(HostError::Unsupported("a power cycle without a hook"));
        };
        let done = std::process::Command::new(hook).arg(device.to_string()).status();
        self.open.clear();
        match done {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(HostError::Refused { what: hook.clone(), said: status.to_string() }),
            Err(error) => Err(HostError::Refused { what: hook.clone(), said: error.to_string() }),
        }
    }
    fn rescan(&mut self, device: Address) -> Result<(), HostError> {
        self.open.clear();
        let remove = self.file_of(device, "remove");
        if remove.exists() {
            write(&remove, "1")?;
        }
        write(&self.root.join("sys/bus/pci/rescan"), "1")?;
        let config = self.file_of(device, "config");
        until(self, FOR_LINK, |_| Ok(config.exists()))?;
        if !config.exists() {
            return Err(HostError::Gone(device));
        }
        // the kernel binds a driver to the device after the rescan
        self.unbind(device)?;
        self.keep_awake(device);
        Ok(())
    }
    fn counters(&mut self, at: Address) -> Option<Counters> {
        let total = |name: &str, key: &str| {
            let text = std::fs::read_to_string(self.file_of(at, name)).ok()?;
            let line = text.lines().find_map(|line| line.strip_prefix(key))?;
            line.trim().parse::<u64>().ok()
        };
        Some(Counters {
            correctable: total("aer_dev_correctable", "TOTAL_ERR_COR")?,
            nonfatal: total("aer_dev_nonfatal", "TOTAL_ERR_NONFATAL")?,
            fatal: total("aer_dev_fatal", "TOTAL_ERR_FATAL")?,
        })
    }
    fn put_back(&mut self, attribute: &Attribute) -> Result<(), HostError> {
        let path = Path::new(&attribute.name);
        // the driver is not bound again if it has the device already
        let bound = path.ends_with("bind")
            && path.parent().is_some_and(|driver| driver.join(&attribute.value).exists());
        if bound {
            return Ok(());
        }
        let held = std::fs::read_to_string(path).unwrap_or_default();
        if held.trim() == attribute.value { Ok(()) } else { write(path, &attribute.value) }
    }
}

/// `ENODEV`: the kernel has removed the function.
const NO_DEVICE: i32 = 19;
