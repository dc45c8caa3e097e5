# A Linux host of NVMe/TCP, in a guest of QEMU: what test_linux_initiator.py runs there. `CHECK name` is a check that was passed, `WANT name`
# asks the test for something; `FAILED why` ends it. HOST is where the target is, PORT its port.
NQN=nqn.2026-01.org.lanetwin:ssd
KEEP_ALIVE=2

fail() {
  dmesg | tail -30
  echo "FAILED $*"
  exit 1
}
check() {
  name=$1
  shift
  "$@" || fail "$name: $*"
  echo "CHECK $name"
}
# until a command succeeds, for 30 s
wait_for() {
  for _ in $(seq 300); do
    "$@" >/dev/null 2>&1 && return
    usleep 100000
  done
  fail "never: $*"
}
state_is() { [ "$(cat /sys/class/nvme/nvme0/state)" = "$1" ]; }
connected() { state_is live && [ -b /dev/nvme0n1 ]; }
gone() { [ ! -e /sys/class/nvme/nvme0 ] && [ ! -e /dev/nvme0n1 ]; }
connect() {
  nvme connect -t tcp -a "$HOST" -s "$PORT" -n $NQN -q nqn.2026-01.test:guest -k $KEEP_ALIVE --reconnect-delay=1 "$@" || fail connect
  wait_for connected
}
disconnect() {
  nvme disconnect -n $NQN || fail disconnect
  wait_for gone
}
# all of it is written, then read, by many requests at once
verify() {
  fio --name=v --filename=/dev/nvme0n1 --direct=1 --ioengine=libaio --verify=crc32c --verify_fatal=1 --randrepeat=1 \
    --minimal "$@" >/said/fio.said 2>&1 || { cat /said/fio.said; return 1; }
}
sum_of() { dd if=/dev/nvme0n1 bs=1M skip=$1 count=$2 2>/dev/null | sha256sum | cut -d' ' -f1; }
forget() { echo 3 >/proc/sys/vm/drop_caches; }

discovered() {
  nvme discover -t tcp -a "$HOST" -s "$PORT" >/said/log || return
  [ "$(grep -c '^subnqn' /said/log)" = 1 ] && grep -q "^subnqn: *$NQN$" /said/log && grep -q "^trsvcid: *$PORT$" /said/log
}
identified() {
  [ "$(blockdev --getsize64 /dev/nvme0n1)" = 1073741824 ] && [ "$(cat /sys/block/nvme0n1/queue/logical_block_size)" = 512 ] &&
    nvme list-ns /dev/nvme0 | grep -q '^\[ *0\]:0x1$' && [ "$(nvme list-ns /dev/nvme0 | wc -l)" = 1 ] &&
    nvme smart-log /dev/nvme0 | grep -q '^critical_warning[^1-9]*$'
}
# by the capsule, by R2T, in commands that Linux has split, several queues; writes of every size, and holes
verified() {
  verify --rw=randwrite --bs=4k --size=4m --iodepth=32 &&
    verify --rw=randwrite --bsrange=512-256k --blockalign=512 --size=16m --offset=32m --iodepth=16 &&
    verify --rw=write --bs=1m --size=32m --offset=64m --iodepth=4 &&
    verify --rw=randwrite --bs=8k --size=2m --offset=160m --offset_increment=8m --numjobs=4 --iodepth=8 --group_reporting &&
    verify --rw=trimwrite --bs=64k --size=8m --offset=256m --iodepth=8
}
zeroed() {
  head -c 1048576 /dev/urandom | dd of=/dev/nvme0n1 bs=1M seek=300 oflag=direct 2>/dev/null
  blkdiscard -o $((300 << 20)) -l 524288 /dev/nvme0n1 && nvme write-zeroes /dev/nvme0n1 -s $((601 << 10)) -c 1023 >/dev/null || return
  forget
  [ "$(sum_of 300 1)" = "$(head -c 1048576 /dev/zero | sha256sum | cut -d' ' -f1)" ]
}
# files with random bytes in the first 400 MiB, their sums kept in the memory of the guest
filled() {
  /bin/mke2fs -q -F -t ext4 /dev/nvme0n1 400M && mount -t ext4 /dev/nvme0n1 /mnt || return
  mkdir /mnt/many
  for n in $(seq 100); do head -c $((n * 997)) /dev/urandom >/mnt/many/$n; done
  head -c 33554432 /dev/urandom >/mnt/large
  (cd /mnt && find . -type f -exec sha256sum {} +) >/said/sums
  umount /mnt && [ "$(wc -l </said/sums)" = 101 ]
}
intact() {
  forget
  mount -t ext4 /dev/nvme0n1 /mnt || return
  (cd /mnt && sha256sum -c /said/sums) >/said/checked 2>&1 || { grep -v OK /said/checked; return 1; }
  umount /mnt
}
reconnections() { dmesg | grep -c 'nvme0: Successfully reconnected'; }
# the association of before is gone, and another one there
reconnected() { [ "$(reconnections)" -gt "$before" ] && connected; }
# a fio that writes and reads for some seconds in the background, whatever happens to the target meanwhile
begin() {
  before=$(reconnections)
  verify --rw=randwrite --bs=16k --size=32m --offset=768m --iodepth=16 --rate_iops=600 --verify_backlog=64 &
  writer=$!
  sleep 1
}
ended_well() { wait $writer && reconnected; }
read_block() { dd if=/dev/nvme0n1 of=/said/block bs=4096 skip=$1 count=1 iflag=direct 2>/dev/null; }
unreadable() { ! read_block 180224 && read_block 180225; }
mended() { dd if=/init of=/dev/nvme0n1 bs=4096 seek=180224 count=1 oflag=direct conv=sync 2>/dev/null && read_block 180224; }
formatted() {
  nvme format /dev/nvme0n1 --ses=1 --force >/dev/null && connected || return
  forget
  [ "$(sum_of 0 128)" = "$(head -c 134217728 /dev/zero | sha256sum | cut -d' ' -f1)" ]
}

# Linux's NVMe/TCP driver sends without MSG_NOSIGNAL, sometimes in the context of the program whose request it is: where a connection has just been
# closed, that program gets a SIGPIPE, which ends a fio that does not ignore it
trap '' PIPE

modprobe nvme-tcp || fail "no nvme-tcp"
uname -r
check discovered discovered
connect
check identified identified
check verified verified
check zeroed zeroed
check filled filled
check "intact after mount" intact
disconnect
check gone gone
connect --hdr-digest --data-digest
check "intact after connect, with digests" intact
check "verified with digests" verify --rw=randwrite --bsrange=4k-128k --size=16m --offset=512m --iodepth=16
nvme reset /dev/nvme0 || fail reset
wait_for connected
check "intact after a reset by the host" intact

echo "WANT unreadable"
wait_for unreadable
check unreadable unreadable
check "readable when written" mended

begin
echo "WANT killed"
check "written through a kill" ended_well
check "intact after a kill" intact

begin
echo "WANT suspended"
check "written through a silence of the target" ended_well
check "intact after a silence of the target" intact

begin
echo "WANT removed"
check "written while it was pulled out" ended_well
check "intact after it was pulled out" intact

before=$(reconnections)
echo "WANT frozen"
wait_for reconnected
check "intact after its own silence" intact
check formatted formatted
disconnect
check disconnected gone
