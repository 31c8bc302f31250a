#!/usr/bin/env bash
# `tcplab bisect` on a real history: eight commits with a merge, made from Debian's source of Linux
# 6.12. One of them does not build, and one begins connections with four segments in place of ten.
# Needs apt, git, what `tcplab kernel build` needs, 2 GB of disk, and about a quarter of an hour.
# Usage: scripts/bisect-check.sh TCPLAB [FOLDER]
set -euo pipefail
tcplab=$(realpath "$1")
example=$(realpath "$(dirname "$0")/../examples/page.toml")
folder=${2:-$(mktemp -d /var/tmp/bisect-check.XXXXXX)}
mkdir -p "$folder/linux"
cd "$folder"
echo "in $folder"

ls linux-source-6.12_*.deb > /dev/null 2>&1 || apt-get download --quiet linux-source-6.12
if [ ! -e linux/Kbuild ]; then
  # Most of what no build of user-mode Linux reads is left out.
  dpkg-deb --fsys-tarfile linux-source-6.12_*.deb | tar -xO ./usr/src/linux-source-6.12.tar.xz | xz -dc -T0 |
    tar -x --no-same-owner --strip-components=1 -C linux --wildcards \
      --exclude='*/drivers/gpu/*.[ch]' --exclude='*/drivers/media/*.[ch]' --exclude='*/drivers/net/ethernet/*.[ch]' \
      --exclude='*/drivers/net/wireless/*.[ch]' --exclude='*/sound/*.[ch]' --exclude='*/Documentation/*/*' \
      --exclude='*/tools/testing/*' --exclude='*/tools/perf/*' --exclude='*/arch/arm*/*.dts*'
fi

cd linux
day=0
as_of() { # the same dates and names each time, so the same hashes
  day=$((day + 1))
  GIT_AUTHOR_DATE="2026-01-0${day}T12:00:00Z" GIT_COMMITTER_DATE="2026-01-0${day}T12:00:00Z" \
    git -c user.name=tcplab -c user.email=tcplab@example.invalid -c commit.gpgsign=false -c gc.auto=0 "$@"
}
commit() { git add --all --force . && as_of commit --quiet --message "$1"; }
describe() { sed -i "0,/^#include/s//\/* $2 *\/\n#include/" "net/ipv4/$1"; }
if [ ! -e .git ]; then
  git init --quiet --initial-branch main .
  commit "Linux 6.12" && git tag base
  describe tcp_timer.c "Timers of TCP."
  commit "tcp: describe tcp_timer.c"
  git checkout --quiet -b vegas base
  describe tcp_vegas.c "A congestion control by delay."
  commit "tcp_vegas: describe the file"
  git checkout --quiet main
  as_of merge --quiet --no-ff --message "Merge branch 'vegas'" vegas
  echo "int" >> net/ipv4/tcp_output.c
  commit "tcp: extend tcp_output.c"
  sed -i '$d' net/ipv4/tcp_output.c
  commit "tcp: repair tcp_output.c"
  sed -i 's/^#define TCP_INIT_CWND\t.*/#define TCP_INIT_CWND 4/' include/net/tcp.h
  commit "tcp: begin with four segments"
  git tag planted
  describe tcp_cubic.c "The default congestion control."
  commit "tcp_cubic: describe the file"
fi
state() { git for-each-ref && git status --porcelain && sha256sum .git/index .git/HEAD; }
state > ../before
cd ..

found=0
time "$tcplab" bisect "$example" --source linux --good base --bad main --json=bisect.json || found=$?
(cd linux && state) | diff before - || { echo "the repository has changed"; exit 1; }
planted=$(git -C linux rev-parse 'planted^0')
test "$found" = 0 && grep -q "\"outcome\"" bisect.json &&
  [ "$(python3 -c 'import json; print(*[it["hash"] for it in json.load(open("bisect.json"))["outcome"]["commits"]])')" = "$planted" ] ||
  { echo "the planted commit $planted was not found"; exit 1; }
echo "found: $planted; remove with: rm -r $folder"
