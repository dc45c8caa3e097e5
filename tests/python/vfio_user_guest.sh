# A Linux guest whose PCIe drive is served by vfio-user: what test_vfio_user.py runs in a guest of QEMU. CAPABLE and TRAINED are what lspci has to say of
# its link.
fail() {
  dmesg | tail -30
  lspci -vv
  echo "FAILED $*"
  exit 1
}
for _ in $(seq 200); do
  [ -b /dev/nvme0n1 ] && break
  usleep 50000
done
[ -b /dev/nvme0n1 ] || fail "no drive"
device=$(basename "$(readlink -f /sys/class/nvme/nvme0/device)")
[ "$(basename "$(readlink -f /sys/bus/pci/devices/$device/driver)")" = nvme ] || fail "no driver"
echo "CHECK bound"

lspci -vv -s "$device" >/said/lspci
grep -q "LnkCap:.*$CAPABLE" /said/lspci || fail "capable of"
grep -q "LnkSta:.*$TRAINED" /said/lspci || fail "trained to"
grep -q "Advanced Error Reporting" /said/lspci || fail "no AER"
grep -q "MSI-X: Enable+ Count=65" /said/lspci || fail "no MSI-X"
grep -q "FLReset+" /said/lspci || fail "no FLR"
sed -n 's/^.*\(LnkCap:\|LnkSta:\)/SAID \1/p' /said/lspci
dmesg | sed -n 's/^.* \([0-9.]* Gb.s available PCIe bandwidth\)/SAID \1/p'
echo "CHECK link"

sectors=$(blockdev --getsz /dev/nvme0n1)
[ "$sectors" = 2097152 ] || fail "$sectors sectors"
grep -q "nvme0q1" /proc/interrupts || fail "no interrupt of a queue"
nvme id-ctrl /dev/nvme0 | grep -q "lanetwin emulated drive" || fail "id-ctrl"
nvme smart-log /dev/nvme0 >/dev/null || fail "smart-log"
nvme telemetry-log /dev/nvme0 --host-generate=1 --output-file=/said/telemetry >/said/out 2>&1 || { cat /said/out; fail telemetry-log; }
[ "$(head -c 1 /said/telemetry | od -An -tu1 | tr -d ' ')" = 7 ] || fail "no Telemetry Host-Initiated log"
tail -c +513 /said/telemetry | grep -q "^time_ps = [1-9]" || fail "no telemetry of the drive"
nvme get-feature /dev/nvme0 -f 7 >/dev/null || fail "get-feature"
echo "CHECK identified"

fio --name=v --filename=/dev/nvme0n1 --direct=1 --ioengine=libaio --rw=randwrite --bsrange=512-512k --size=16m --iodepth=16 --verify=crc32c \
  --verify_fatal=1 --minimal >/said/fio 2>&1 || { cat /said/fio; fail fio; }
fio --name=r --filename=/dev/nvme0n1 --direct=1 --ioengine=libaio --rw=randread --bs=4k --number_ios=300 --size=16m --minimal >/said/fio 2>&1 || fail reads
awk -F';' '/^3;/ { printf "SAID mean of reads %.0f us\n", $40 }' /said/fio
echo "CHECK verified"

/bin/mke2fs -q -F -t ext4 /dev/nvme0n1 256M && mount -t ext4 /dev/nvme0n1 /mnt || fail "file system"
head -c 20000000 /dev/urandom >/mnt/file && (cd /mnt && sha256sum file) >/said/sum && umount /mnt || fail "written"
echo 3 >/proc/sys/vm/drop_caches
mount -t ext4 /dev/nvme0n1 /mnt && (cd /mnt && sha256sum -c /said/sum) || fail "what was written is not there"
echo "CHECK intact after mount"

# a Function Level Reset, between writes
[ "$(cat /sys/bus/pci/devices/$device/reset_method | cut -d' ' -f1)" = flr ] || fail "reset_method"
echo flr >/sys/bus/pci/devices/$device/reset_method
echo 1 >/sys/bus/pci/devices/$device/reset || fail "no reset"
echo 3 >/proc/sys/vm/drop_caches
(cd /mnt && sha256sum -c /said/sum) && umount /mnt || fail "after a reset"
nvme reset /dev/nvme0 || fail "controller reset"
dd if=/dev/nvme0n1 of=/dev/null bs=4k count=16 iflag=direct 2>/dev/null || fail "read after a reset"
echo "CHECK intact after resets"

# the link goes down while it is used
fio --name=d --filename=/dev/nvme0n1 --offset=512m --direct=1 --ioengine=libaio --rw=randwrite --bs=4k --size=8m --iodepth=4 --rate_iops=300 --verify=crc32c \
  --verify_fatal=1 --minimal >/said/fio 2>&1 &
sleep 2
echo "WANT link down"
wait $! || { cat /said/fio; fail "fio over a link that was down"; }
dmesg | grep -q "nvme.*\(timeout\|controller is down\)" || fail "nobody has seen that the link was down"
mount -t ext4 /dev/nvme0n1 /mnt && (cd /mnt && sha256sum -c /said/sum) && umount /mnt || fail "after the link was down"
echo "CHECK intact after the link was down"
