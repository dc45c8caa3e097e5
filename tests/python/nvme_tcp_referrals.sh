# A Linux host that is referred from one discovery service to another: what test_linux_initiator.py runs in a guest of QEMU. HOST is where the
# targets are, PORT and OTHER their ports, NQN and OTHER_NQN what they offer. `CHECK name` is a check that was passed, `WANT name` asks the test
# for something; `FAILED why` ends it.
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
log_of() { nvme discover -t tcp -a "$HOST" -s "$1" >/said/log || { cat /said/log; return 1; }; }
# what the log says of an entry whose subtype begins like this
entry() { awk -v of="subtype: *$1" 'BEGIN { RS = "=====" } $0 ~ of' /said/log; }
says() { entry "$1" | grep -q "^$2: *$3$"; }
alone() { log_of "$PORT" && [ "$(grep -c '^subtype:' /said/log)" = 1 ] && says nvme subnqn "$NQN"; }
referred() {
  log_of "$PORT" && [ "$(grep -c '^subtype:' /said/log)" = 2 ] && says nvme subnqn "$NQN" &&
    says 'discovery subsystem referral' trsvcid "$OTHER" && says 'discovery subsystem referral' traddr "$HOST" &&
    says 'discovery subsystem referral' trtype tcp || { cat /said/log; return 1; }
}
# the log of the other service, which the entry names
followed() { log_of "$(entry 'discovery subsystem referral' | sed -n 's/^trsvcid: *//p')" && says nvme subnqn "$OTHER_NQN"; }
drives() { cat /sys/class/nvme/nvme*/subsysnqn 2>/dev/null | sort; }
both() { [ "$(drives)" = "$(printf '%s\n%s\n' "$NQN" "$OTHER_NQN" | sort)" ]; }
sizes() { cat /sys/block/nvme?n1/size 2>/dev/null | sort -n | tr '\n' ' '; }
sized() { [ "$(sizes)" = "$SIZES " ]; }
connected() { both && sized; }
written() {
  for drive in /dev/nvme?n1; do
    dd if=/init of="$drive" bs=4096 count=1 conv=sync oflag=direct 2>/dev/null || return
  done
}

modprobe nvme-tcp || fail "no nvme-tcp"
check "no referral" alone
echo "WANT referral"
wait_for referred
check referred referred
check followed followed
# the targets call themselves what they are called on their own machine, whose loopback the guest has under another name
for port in "$PORT" "$OTHER"; do
  nc -ll -p "$port" -e nc "$HOST" "$port" &
done
nvme connect-all -t tcp -a "$HOST" -s "$PORT" -q nqn.2026-01.test:guest || fail connect-all

wait_for connected
check "connected to all" connected
check "written to all" written
nvme disconnect-all || fail disconnect-all
echo "WANT none"
wait_for alone
check "no referral any more" alone
