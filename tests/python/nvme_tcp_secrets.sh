# A Linux host of NVMe/TCP that has to prove who it is, in a guest of QEMU: what test_linux_authentication.py runs there. `CHECK name` is a check
# that was passed; `FAILED why` ends it. HOST is where targets are; PORTS are those of three of them, each with another hash and group; SECRETS are
# those of the hosts `guest0` to `guest3`, and CONTROL is that of the subsystem.
NQN=nqn.2026-01.org.lanetwin:ssd

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
connected() { [ "$(cat /sys/class/nvme/nvme0/state)" = live ] && [ -b /dev/nvme0n1 ]; }
gone() { [ ! -e /sys/class/nvme/nvme0 ] && [ ! -e /dev/nvme0n1 ]; }
connect() { # port, number of the host, what else
  port=$1 host=$2
  shift 2
  nvme connect -t tcp -a "$HOST" -s "$port" -n $NQN -q "nqn.2026-01.test:guest$host" -I "8a3c5cde-0000-4000-8000-00000000000$host" -k 5 --reconnect-delay=1 "$@" >/said/connect 2>&1
}
is_admitted() {
  connect "$@" || { cat /said/connect; fail "connect $*"; }
  wait_for connected
}
leave() {
  nvme disconnect -n $NQN >/dev/null || fail disconnect
  wait_for gone
}
is_refused() {
  if connect "$@"; then fail "admitted: $*"; fi
  wait_for gone
}
# bytes go in and come out
used() {
  head -c 1048576 /dev/urandom >/said/block
  dd if=/said/block of=/dev/nvme0n1 bs=64k seek=7 oflag=direct 2>/dev/null && echo 3 >/proc/sys/vm/drop_caches &&
    dd if=/dev/nvme0n1 of=/said/back bs=64k skip=7 count=16 iflag=direct 2>/dev/null && cmp /said/block /said/back || fail "other bytes"
}
# what the kernel says it has used, for the admin queue
said() { dmesg | grep 'authenticated with hash' | tail -1 | sed 's/.*authenticated with hash //'; }

modprobe nvme-tcp || fail "no nvme-tcp"
uname -r
set -- $SECRETS
first=$1
number=0
for secret in "$@"; do
  set -- $PORTS
  is_admitted "$1" $number --dhchap-secret="$secret"
  used
  leave
  number=$((number + 1))
done
echo "CHECK the host by secrets of every hash"
for port in $PORTS; do
  is_admitted "$port" 0 --dhchap-secret="$first" --dhchap-ctrl-secret="$CONTROL"
  used
  echo "USED $(said)"
  leave
done
echo "CHECK both by every hash and three groups"
set -- $PORTS
is_refused "$1" 0
echo "CHECK no secret"
is_refused "$1" 0 --dhchap-secret="$CONTROL"
echo "CHECK another secret"
is_refused "$1" 0 --dhchap-secret="$first" --dhchap-ctrl-secret="$first"
echo "CHECK another subsystem"
is_refused "$1" 9 --dhchap-secret="$first"
echo "CHECK another host"
is_admitted "$1" 0 --dhchap-secret="$first" --dhchap-ctrl-secret="$CONTROL"
nvme reset /dev/nvme0 || fail reset
wait_for connected
used
echo "CHECK again after a reset by the host"
echo "$first" >/sys/class/nvme/nvme0/dhchap_secret || fail "no authentication while it is used"
usleep 500000
connected && used
echo "CHECK again while it is used"
leave
