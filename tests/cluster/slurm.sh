#!/usr/bin/env bash
# slurm.sh COMMAND…: starts a Slurm cluster of this one machine, runs COMMAND with SLURM_CONF set, and stops the cluster. All
# that it writes is in a temporary folder. Needs slurm-wlm and munge, and root.
set -euo pipefail
folder=$(mktemp -d /tmp/tenshot-slurm-XXXXXX)
chmod 755 "$folder"
host=$(hostname -s)
mkdir "$folder/spool" "$folder/state" "$folder/munge"
chmod 700 "$folder/munge"
head -c 1024 /dev/urandom >"$folder/munge/key"
chmod 600 "$folder/munge/key"
pids=()
stop() {
  set +e
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null; done
  for pid in "${pids[@]}"; do wait "$pid" 2>/dev/null; done
  rm -rf "$folder"
}
trap stop EXIT
munged --foreground --force --num-threads=2 --key-file="$folder/munge/key" --socket="$folder/munge.socket" \
  --pid-file="$folder/munge/pid" --log-file="$folder/munge/log" --seed-file="$folder/munge/seed" 2>/dev/null &
pids+=($!)
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("", 0)); print(s.getsockname()[1])'; }
cat >"$folder/slurm.conf" <<END
ClusterName=tenshot
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket
CredType=cred/munge
SlurmctldPort=$(free_port)
SlurmdPort=$(free_port)
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=2
MailProg=/bin/true
MinJobAge=300
KillWait=5
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
END
export SLURM_CONF=$folder/slurm.conf
slurmctld -D >"$folder/slurmctld.log" 2>&1 &
pids+=($!)
slurmd -D >"$folder/slurmd.log" 2>&1 &
pids+=($!)
for _ in $(seq 60); do
  if sinfo -h -o %T 2>/dev/null | grep -qx idle; then ready=yes && break; fi
  sleep 1
done
if [ -z "${ready:-}" ]; then
  tail -n 20 "$folder"/*.log >&2
  echo "slurm.sh: the cluster does not start" >&2
  exit 1
fi
"$@"
