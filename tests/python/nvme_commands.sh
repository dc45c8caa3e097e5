# Three NVMe drives beside each other: the door by NVMe/TCP, the guest's own nvmet by NVMe/TCP, QEMU's own by PCIe. What
# test_nvme_commands.py runs in a guest of QEMU. HOST is where the door is, PORT its port. `TOLD who structure json` is what nvme-cli prints,
# `DID who command outcome` how a command ended; `FAILED why` ends it.
fail() {
  dmesg | tail -30
  echo "FAILED $*"
  exit 1
}
wait_for() {
  for _ in $(seq 300); do
    "$@" >/dev/null 2>&1 && return
    usleep 100000
  done
  fail "never: $*"
}
controller_of() { basename "$(dirname "$(grep -l "$1" /sys/class/nvme/nvme*/model)")"; }

dmesg -n 1
modprobe -a nvme-tcp nvmet nvmet-tcp || fail "no nvmet"
modprobe null_blk nr_devices=1 gb=1 bs=512 memory_backed=1 discard=1 || fail "no null_blk"
mount -t configfs none /sys/kernel/config || fail "no configfs"
cd /sys/kernel/config/nvmet || fail "no nvmet"
mkdir subsystems/nqn.2026-01.test:nvmet ports/1
cd subsystems/nqn.2026-01.test:nvmet
echo 1 >attr_allow_any_host
echo nvmet >attr_model
mkdir namespaces/1
printf /dev/nullb0 >namespaces/1/device_path
echo 1 >namespaces/1/enable || fail "no namespace"
cd ../../ports/1
echo tcp >addr_trtype && echo ipv4 >addr_adrfam && echo 127.0.0.1 >addr_traddr && echo 4420 >addr_trsvcid
ln -s ../../subsystems/nqn.2026-01.test:nvmet subsystems/ || fail "no port"
cd /
# without an I/O that nobody has asked for: no Keep Alive while counters are looked at
nvme connect -t tcp -a "$HOST" -s "$PORT" -n nqn.2026-01.org.lanetwin:ssd -q nqn.2026-01.test:guest -i 1 || fail "connect lanetwin"
nvme connect -t tcp -a 127.0.0.1 -s 4420 -n nqn.2026-01.test:nvmet -q nqn.2026-01.test:guest -i 1 || fail "connect nvmet"
for model in lanetwin nvmet QEMU; do wait_for controller_of $model; done

told() {
  what=$1
  shift
  "$@" -o json </dev/null >/said/json 2>/said/error
  code=$?
  printf 'TOLD %s %s %s\n' "$who" "$what" "$(if [ $code = 0 ]; then tr -d '\n\t' </said/json | sed "s/${drive#/dev/}/drive/g"; else printf '{"refused": true}'; fi)"
}
# how a command ended: status, whether it must not be tried again, dword 0
did() {
  what=$1
  shift
  "$@" </dev/null >/said/out 2>/said/error
  code=$?
  status=$(sed -n 's/.*NVMe status:.*(\(0x[0-9a-f]*\)).*/\1/p' /said/error /said/out | head -1)
  result=$(sed -n 's/.*[Rr]esult: *\(0x\)\{0,1\}\([0-9a-f]*\).*/\2/p' /said/error /said/out | head -1)
  if [ $code = 0 ]; then outcome="ok ${result:-0}"; elif [ -n "$status" ]; then outcome="$status"; else outcome="? $(head -1 /said/error)"; fi
  printf 'DID %s %s: %s\n' "$who" "$what" "$outcome"
}
io() {
  name=$1 opcode=$2
  shift 2
  did "$name" nvme io-passthru "$block" --opcode="$opcode" --namespace-id=1 "$@"
}
admin() {
  name=$1 opcode=$2
  shift 2
  did "$name" nvme admin-passthru "$drive" --opcode="$opcode" "$@"
}
# what the first blocks hold
holds() {
  echo 3 >/proc/sys/vm/drop_caches
  found=$(dd if="$block" bs=4096 count=1 iflag=direct 2>/dev/null | sha256sum | cut -d' ' -f1)
  case $found in
    "$zeroes") said=zeroes ;;
    "$noise") said=data ;;
    *) said=other ;;
  esac
  printf 'DID %s %s: ok %s\n' "$who" "$1" "$said"
}
head -c 4096 /dev/zero >/said/zeroes
head -c 4096 /dev/urandom >/said/noise
zeroes=$(sha256sum /said/zeroes | cut -d' ' -f1) noise=$(sha256sum /said/noise | cut -d' ' -f1)
counter() { nvme smart-log "$drive" -o json | tr -d '\n\t' | sed "s/.*\"$1\" *: *\([0-9]*\).*/\1/"; }

compare() {
  who=$1 drive=/dev/$2 block=/dev/$2n1
  blocks=$(($(blockdev --getsize64 "$block") / 512))
  low=$((blocks & 0xffffffff))
  told id-ctrl nvme id-ctrl "$drive"
  told id-ns nvme id-ns "$drive" -n 1
  told ns-descs nvme ns-descs "$drive" -n 1
  told list-ns nvme list-ns "$drive"
  told smart-log nvme smart-log "$drive"
  told fw-log nvme fw-log "$drive"
  told ana-log nvme ana-log "$drive"
  told effects-log nvme effects-log "$drive"
  told changed-ns-list-log nvme changed-ns-list-log "$drive"
  told sanitize-log nvme sanitize-log "$drive"

  reads=$(counter host_read_commands) writes=$(counter host_write_commands)
  dd if="$block" of=/dev/null bs=4096 count=16 iflag=direct 2>/dev/null
  dd if=/said/noise of="$block" bs=4096 count=1 oflag=direct 2>/dev/null
  printf 'DID %s 16 reads are counted: ok %s\n' "$who" $(($(counter host_read_commands) - reads))
  printf 'DID %s 1 write is counted: ok %s\n' "$who" $(($(counter host_write_commands) - writes))

  holds "what was written"
  io "Read" 2 -l 4096 -r --cdw12=7
  io "Read with FUA" 2 -l 4096 -r --cdw12=0x40000007
  io "Read behind the end" 2 -l 512 -r --cdw10=$low
  io "Read across the end" 2 -l 1024 -r --cdw10=$((low - 1)) --cdw12=1
  told error-log nvme error-log "$drive" -e 1
  io "Write" 1 -l 4096 -w --cdw12=7 -i /said/noise
  io "Write with FUA" 1 -l 4096 -w --cdw12=0x40000007 -i /said/noise
  io "Write behind the end" 1 -l 4096 -w --cdw10=$low --cdw12=7 -i /said/noise
  io "Compare, equal" 5 -l 4096 -w --cdw12=7 -i /said/noise
  io "Compare, different" 5 -l 4096 -w --cdw12=7 -i /said/zeroes
  io "Flush" 0
  io "Write Zeroes" 8 --cdw12=7
  holds "after Write Zeroes"
  io "Write Zeroes with Deallocate" 8 --cdw12=0x02000007
  io "Write Zeroes behind the end" 8 --cdw10=$low --cdw12=7
  dd if=/said/noise of="$block" bs=4096 count=1 oflag=direct 2>/dev/null
  did "Dataset Management, Deallocate" nvme dsm "$block" -n 1 -d -s 0 -b 8
  holds "after Deallocate"
  did "Dataset Management, two ranges" nvme dsm "$block" -n 1 -d -s 8,64 -b 8,8
  did "Dataset Management, no attribute" nvme dsm "$block" -n 1 -r -s 0 -b 8
  did "Dataset Management behind the end" nvme dsm "$block" -n 1 -d -s "$blocks" -b 8
  io "Write Uncorrectable" 4 --cdw12=0
  io "Verify" 0xc --cdw12=0
  io "Reservation Report" 0xe -l 64 -r --cdw10=15
  io "an I/O command that there is not" 0x71

  for cns in 0x00 0x01 0x02 0x03 0x05 0x06 0x07 0x08 0x10 0x11 0x12 0x13 0x14 0x15 0x16 0x17 0x1a 0x1c; do
    admin "Identify $cns" 6 -l 4096 -r -n 1 --cdw10=$cns
  done
  for nsid in 0 2 0xffffffff; do admin "Identify 0x00 of namespace $nsid" 6 -l 4096 -r -n $nsid --cdw10=0; done
  for nsid in 0 0xfffffffe 0xffffffff; do admin "Identify 0x02 behind namespace $nsid" 6 -l 4096 -r -n $nsid --cdw10=2; done
  for log in 0x00 0x01 0x02 0x03 0x04 0x05 0x06 0x07 0x08 0x09 0x0c 0x0d 0x70 0x80 0x81 0xc0; do
    admin "Get Log Page $log" 2 -l 512 -r -n 0xffffffff --cdw10=$((log | 0x7f0000))
  done
  admin "Get Log Page 0x02 of namespace 1" 2 -l 512 -r -n 1 --cdw10=$((0x2 | 0x7f0000))
  admin "Get Log Page 0x02 from an odd offset" 2 -l 512 -r -n 0xffffffff --cdw10=$((0x2 | 0x7f0000)) --cdw12=3
  for feature in 0x01 0x02 0x04 0x05 0x06 0x07 0x08 0x09 0x0a 0x0b 0x0c 0x0e 0x0f 0x10 0x11 0x17 0x18 0x80 0x82 0x84 0xc0; do
    admin "Get Features $feature" 0xa -n 1 --cdw10=$feature
  done
  admin "Set Features 0x0b, events" 9 --cdw10=0xb --cdw11=0x900
  admin "Set Features 0x06, write cache off" 9 --cdw10=6 --cdw11=0
  admin "Set Features 0x06, write cache on" 9 --cdw10=6 --cdw11=1
  admin "Set Features 0x04, temperature" 9 --cdw10=4 --cdw11=0x160
  admin "Set Features 0xc0" 9 --cdw10=0xc0
  admin "Abort of nothing" 8 --cdw10=0x00630000
  admin "Keep Alive" 0x18
  admin "Namespace Management" 0xd -n 1 --cdw10=1
  admin "Firmware Commit" 0x10 --cdw10=8
  admin "Device Self-test" 0x14 -n 1 --cdw10=1
  admin "Namespace Attachment" 0x15 -n 1 -l 4096 -w --cdw10=0 -i /said/zeroes
  admin "Security Receive" 0x82 -l 512 -r --cdw10=0 --cdw11=512
  admin "an admin command that there is not" 0xbf
  dd if=/said/noise of="$block" bs=4096 count=1 oflag=direct 2>/dev/null
  admin "Format NVM, format 15" 0x80 -n 1 --cdw10=15
  admin "Format NVM" 0x80 -n 1 --cdw10=0
  holds "after Format NVM"
  dd if=/said/noise of="$block" bs=4096 count=1 oflag=direct 2>/dev/null
  admin "Format NVM, erase" 0x80 -n 1 --cdw10=0x200
  holds "after Format NVM, erase"
  dd if=/said/noise of="$block" bs=4096 count=1 oflag=direct 2>/dev/null
  admin "Sanitize, action 0" 0x84 --cdw10=0
  admin "Sanitize, Block Erase" 0x84 --cdw10=2
  sleep 1
  holds "after Sanitize, Block Erase"
  told "sanitize-log-after" nvme sanitize-log "$drive"
}
compare qemu "$(controller_of QEMU)"
compare nvmet "$(controller_of nvmet)"
compare lanetwin "$(controller_of lanetwin)"
