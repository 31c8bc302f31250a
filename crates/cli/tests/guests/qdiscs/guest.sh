# A source in a namespace of its own, behind a guest that forwards: what the source sends leaves an
# Ethernet device, eth1, whose queueing disciplines are the ones to be compared. Then what the guest
# itself sends, by tcplab0, which has no Ethernet header.
set -e
export PATH="$PATH:/usr/sbin:/sbin"
inside="ip netns exec source"
sysctl -qw net.ipv4.ip_forward=1
ip netns add source
ip link add veth0 type veth peer name eth1 netns source
# No packets but the source's.
$inside sysctl -qw net.ipv6.conf.all.disable_ipv6=1
sysctl -qw net.ipv6.conf.veth0.disable_ipv6=1
ip link set veth0 address 02:00:00:00:00:01 up
# A super-packet would be one packet to a queueing discipline.
ip -n source link set eth1 address 02:00:00:00:00:02 gso_max_segs 1 up
ip -n source link set lo up
ip -n source addr add 10.98.0.9/32 dev eth1
ip -n source route add default dev eth1
ip -n source neigh add 10.98.0.2 lladdr 02:00:00:00:00:01 nud permanent dev eth1
ip route add 10.98.0.9 dev veth0
ip neigh add 10.98.0.9 lladdr 02:00:00:00:00:02 nud permanent dev veth0
