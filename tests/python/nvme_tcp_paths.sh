# A Linux host with two paths to one drive: what test_linux_initiator.py runs in a guest of QEMU. HOST is where the target is, PORT and OTHER
# its ports, NQN the subsystem. `CHECK name` is a check that was passed, `WANT name` asks the test for something; `FAILED why` ends it.
fail() {
  dmesg | tail -30
  echo "FAILED $*"
  exit 1
}
# until a command succeeds, for 60 s
wait_for() {
  for _ in $(seq 600); do
    "$@" >/dev/null 2>&1 && return
    usleep 100000
  done
  fail "never: $*"
}
connect() {
  nvme connect -t tcp -a "$HOST" -s "$1" -n "$NQN" -q nqn.2026-01.test:guest -k 5 --reconnect-delay=1 || fail "connect $1"
}
# of the path by a port: the controller, and how the namespace is reached by it
controller_of() { basename "$(dirname "$(grep -l "trsvcid=$1" /sys/class/nvme/nvme*/address)")"; }
access_of() { cat /sys/class/nvme/"$(controller_of "$1")"/nvme*c*n1/ana_state; }
state_of() { cat /sys/class/nvme/"$(controller_of "$1")"/state; }
is_reached() { [ "$(access_of "$1")" = "$2" ]; }
is_state() { [ "$(state_of "$1")" = "$2" ]; }
# sectors that were written by the path of a port
written_by() { awk '{ print $7 }' /sys/class/nvme/"$(controller_of "$1")"/nvme*c*n1/stat; }
# which of the two ports a write of now goes by
way() {
  first=$(written_by "$PORT") second=$(written_by "$OTHER")
  dd if=/init of=/dev/nvme0n1 bs=4096 count=4 conv=sync oflag=direct seek=100000 2>/dev/null || return
  [ "$(written_by "$PORT")" -gt "$first" ] && printf first
  [ "$(written_by "$OTHER")" -gt "$second" ] && printf second
}
goes_by() { [ "$(way)" = "$1" ]; }
# a fio that writes and reads what it has written until the file /said/enough is there, in the background
begin() {
  rm -f /said/enough
  (
    round=0
    while [ ! -e /said/enough ]; do
      round=$((round + 1))
      fio --name=v --filename=/dev/nvme0n1 --direct=1 --ioengine=libaio --rw=randwrite --bs=16k --size=4m --iodepth=16 \
        --verify=crc32c --verify_fatal=1 --randseed=$round --minimal >/said/fio.said 2>&1 || { cat /said/fio.said; exit 1; }
    done
  ) &
  writer=$!
  sleep 1
}
end() {
  touch /said/enough
  wait $writer || fail "$1: a write or a read failed"
  echo "CHECK $1"
}

# as in nvme_tcp_host.sh: Linux's driver may send a SIGPIPE to the program whose request meets a closed connection
trap '' PIPE

modprobe nvme-tcp || fail "no nvme-tcp"
connect "$PORT"
connect "$OTHER"
wait_for [ -b /dev/nvme0n1 ]
[ -e /dev/nvme1n1 ] && fail "a second drive"
wait_for is_reached "$PORT" optimized
wait_for is_reached "$OTHER" optimized
[ "$(nvme list-subsys | grep -c ' live')" = 2 ] || fail "paths: $(nvme list-subsys)"
nvme list-subsys | grep -c "$NQN" | grep -qx 1 || fail "subsystems: $(nvme list-subsys)"
echo "CHECK two paths to one drive"

begin
echo "WANT first port gone"
wait_for is_state "$PORT" connecting
wait_for goes_by second
end "written while the first port is gone"
echo "WANT first port back"
wait_for is_state "$PORT" live
wait_for is_reached "$PORT" optimized
echo "CHECK both paths again"

begin
echo "WANT first port non-optimized"
wait_for is_reached "$PORT" non-optimized
wait_for goes_by second
end "written by the optimized path"
begin
echo "WANT second port inaccessible"
wait_for is_reached "$OTHER" inaccessible
wait_for goes_by first
end "written by the path that is left"
echo "WANT both ports inaccessible"
wait_for is_reached "$PORT" inaccessible
dd if=/init of=/dev/nvme0n1 bs=4096 count=1 conv=sync oflag=direct 2>/dev/null &
waits=$!
sleep 2
kill -0 $waits 2>/dev/null || fail "a write did not wait for a path"
echo "WANT second port optimized"
wait $waits || fail "a write that waited for a path failed"
wait_for goes_by second
echo "CHECK a write waits until there is a path"
echo "WANT first port persistent loss"
wait_for is_reached "$PORT" persistent-loss
wait_for goes_by second
echo "CHECK persistent loss"
nvme disconnect -n "$NQN" || fail disconnect
