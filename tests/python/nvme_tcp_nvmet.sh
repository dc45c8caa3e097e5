# A target of Linux (nvmet) that wants to know who connects, in a guest of QEMU: what test_linux_authentication.py runs there. It listens at
# port 4420, has the secrets SECRET and CONTROL, and takes the hashes and groups of TERMS, one after the other: `READY hash group` asks the test to
# connect, and it goes on when that has left. `FAILED why` ends it.
NQN=nqn.2026-01.test:nvmet
GUEST=nqn.2026-01.org.lanetwin:host
config=/sys/kernel/config/nvmet

fail() {
  dmesg | tail -30
  echo "FAILED $*"
  exit 1
}
modprobe -a nvmet nvmet-tcp || fail "no nvmet"
modprobe null_blk nr_devices=1 gb=1 bs=512 memory_backed=1 || fail "no null_blk"
modprobe configfs 2>/dev/null
mount -t configfs none /sys/kernel/config || fail "no configfs"
mkdir -p $config/subsystems/$NQN/namespaces/1 $config/hosts/$GUEST $config/ports/1 || fail configfs
echo /dev/nullb0 >$config/subsystems/$NQN/namespaces/1/device_path
echo 1 >$config/subsystems/$NQN/namespaces/1/enable || fail namespace
echo "$SECRET" >$config/hosts/$GUEST/dhchap_key || fail key
echo "$CONTROL" >$config/hosts/$GUEST/dhchap_ctrl_key || fail "key of the subsystem"
ln -s $config/hosts/$GUEST $config/subsystems/$NQN/allowed_hosts/$GUEST
for pair in "addr_trtype tcp" "addr_adrfam ipv4" "addr_traddr 10.0.2.15" "addr_trsvcid 4420"; do
  set -- $pair
  echo "$2" >$config/ports/1/$1 || fail "$pair"
done
ln -s $config/subsystems/$NQN $config/ports/1/subsystems/$NQN || fail port
uname -r
for terms in $TERMS; do
  hash=${terms%/*} group=${terms#*/}
  echo "hmac($hash)" >$config/hosts/$GUEST/dhchap_hash || fail "$hash"
  echo "$group" >$config/hosts/$GUEST/dhchap_dhgroup || fail "$group"
  before=$(dmesg | grep -c 'creating nvm controller')
  echo "READY $hash $group"
  for _ in $(seq 600); do
    [ "$(dmesg | grep -c 'creating nvm controller')" -gt "$before" ] && break
    usleep 100000
  done
  while grep -q ':1144 [0-9A-F:]* 01 ' /proc/net/tcp; do usleep 100000; done
done
