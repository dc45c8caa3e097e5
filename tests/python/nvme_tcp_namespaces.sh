# A Linux host of a subsystem with several namespaces: what test_linux_initiator.py runs in a guest of QEMU. HOST is where the target is, PORT
# its port, NQN the subsystem, SIZES what each namespace has to have [B].
fail() {
  dmesg | tail -30
  echo "FAILED $*"
  exit 1
}
modprobe nvme-tcp || fail "no nvme-tcp"
nvme connect -t tcp -a "$HOST" -s "$PORT" -n "$NQN" -q nqn.2026-01.test:guest || fail connect
for _ in $(seq 100); do
  [ -b /dev/nvme0n3 ] && break
  usleep 100000
done
sizes=$(for block in /dev/nvme0n?; do blockdev --getsize64 $block; done | tr '\n' ' ')
[ "$sizes" = "$SIZES " ] || fail "sizes are $sizes"
[ "$(nvme list-ns /dev/nvme0 | sed 's/.*://' | tr '\n' ' ')" = "0x1 0x2 0x3 " ] || fail "active namespaces"
[ "$(cat /sys/block/nvme0n?/wwid | sort -u | wc -l)" = 3 ] || fail "names of namespaces"
echo "CHECK listed"

# all three at once, each verified
fio --direct=1 --ioengine=libaio --rw=randwrite --bsrange=4k-64k --size=8m --iodepth=8 --verify=crc32c --verify_fatal=1 --minimal \
  --name=a --filename=/dev/nvme0n1 --name=b --filename=/dev/nvme0n2 --name=c --filename=/dev/nvme0n3 >/said/fio 2>&1 || { cat /said/fio; fail fio; }
echo "CHECK verified"

for number in 1 2 3; do
  /bin/mke2fs -q -F -t ext4 /dev/nvme0n$number 64M && mount -t ext4 /dev/nvme0n$number /mnt || fail "file system $number"
  head -c 1000000 /dev/urandom >/mnt/file
  (cd /mnt && sha256sum file) >/said/sum$number
  umount /mnt
done
nvme format /dev/nvme0n2 --force >/dev/null || fail format
echo 3 >/proc/sys/vm/drop_caches
mount -t ext4 /dev/nvme0n2 /mnt 2>/dev/null && fail "what was formatted is there"
for number in 1 3; do
  mount -t ext4 /dev/nvme0n$number /mnt && (cd /mnt && sha256sum -c /said/sum$number) && umount /mnt || fail "sum $number"
done
echo "CHECK apart"
nvme disconnect -n "$NQN" || fail disconnect
