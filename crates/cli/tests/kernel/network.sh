# Left and right have an interface each; the peers here are `wa` and `wb`.
set -e
unshare --net sleep 100 > /dev/null 2>&1 & left=$!
unshare --net sleep 100 > /dev/null 2>&1 & right=$!
trap "kill $left $right" EXIT
own=$(readlink /proc/self/ns/net)
for pid in $left $right; do
  until [ "$(readlink /proc/$pid/ns/net)" != "$own" ]; do sleep 0.01; done
done
left() { nsenter --net=/proc/$left/ns/net "$@"; }
right() { nsenter --net=/proc/$right/ns/net "$@"; }
ip link add wa type veth peer name eth0 netns $left
ip link add wb type veth peer name eth0 netns $right
ip link set wa up
ip link set wb up
for side in left right; do
  $side ip link set lo up
  $side ip link set eth0 up
done
left ip addr add 10.1.0.1/24 dev eth0
right ip addr add 10.1.0.2/24 dev eth0
left ip addr add fd00::1/64 dev eth0 nodad
right ip addr add fd00::2/64 dev eth0 nodad
promiscuous() { ip -d link show wa | grep -o 'promiscuity [0-9]*'; }
