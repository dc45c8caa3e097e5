//! An initial file system: this program, the libraries it loads, busybox, and a script that starts it. The format is
//! that of cpio, "newc" (Linux `Documentation/driver-api/early-userspace/buffer-format.rst`).

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

const START: &str = "#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /dev /mnt /var/lib
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sysfs /sys
/bin/busybox mount -t devtmpfs dev /dev
/bin/busybox mount -t securityfs securityfs /sys/kernel/security
export LANETWIN_IN_GUEST=1
/program inside_the_guest --exact --ignored --nocapture --test-threads=1
/bin/busybox poweroff -f
";

/// Writes it.
pub fn write(to: &Path, busybox: &Path) -> io::Result<()> {
    let program = std::env::current_exe()?;
    let mut out = io::BufWriter::new(std::fs::File::create(to)?);
    let mut folders = BTreeSet::new();
    let libraries = libraries(&program)?;
    let wanted = libraries.iter().map(String::as_str).chain(["/bin/busybox"]);
    for path in wanted {
        for folder in Path::new(path).ancestors().skip(1).filter(|folder| folder.parent().is_some()) {
            folders.insert(folder.display().to_string());
        }
    }
    for folder in &folders {
        entry(&mut out, folder, 0o040_755, &[])?;
    }
    for library in &libraries {
        entry(&mut out, library, 0o100_755, &std::fs::read(library)?)?;
    }
    entry(&mut out, "/bin/busybox", 0o100_755, &std::fs::read(busybox)?)?;
    entry(&mut out, "/program", 0o100_755, &std::fs::read(&program)?)?;
    entry(&mut out, "/init", 0o100_755, START.as_bytes())?;
    entry(&mut out, "/TRAILER!!!", 0, &[])?;
    out.flush()?;
    std::fs::set_permissions(to, std::fs::Permissions::from_mode(0o644))
}

/// The libraries that a program loads, by their full names.
fn libraries(program: &Path) -> io::Result<Vec<String>> {
    let said = Command::new("ldd").arg(program).output()?;
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    let full = |line: &str| line.split_whitespace().find(|word| word.starts_with('/')).map(str::to_owned);
    Ok(said.lines().filter_map(full).collect())
}

fn entry(out: &mut impl Write, name: &str, mode: u32, bytes: &[u8]) -> io::Result<()> {
    let name = name.trim_start_matches('/');
    let size = u32::try_from(bytes.len()).expect("a file below 4 GiB");
    let fields = [0, mode, 0, 0, 1, 0, size, 0, 0, 0, 0, name.len() as u32 + 1, 0];
    let header: String = fields.iter().map(|field| format!("{field:08x}")).collect();
    let head = format!("070701{header}{name}\0");
    out.write_all(head.as_bytes())?;
    pad(out, head.len())?;
    out.write_all(bytes)?;
    pad(out, bytes.len())
}

fn pad(out: &mut impl Write, length: usize) -> io::Result<()> {
    out.write_all(&[0; 3][..(4 - length % 4) % 4])
}
