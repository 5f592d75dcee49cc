package main

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
)

// A bot without a dashboard says on its supervisor's socket how it is, and obeys its signals.
func TestABotWithoutADashboardObeysItsSupervisor(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	path := filepath.Join(shortDir(t), "s")
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	testkit.Must(t, err)
	t.Cleanup(func() { _ = socket.Close() })
	reports := func(part string) {
		t.Helper()
		testkit.Must(t, socket.SetReadDeadline(time.Now().Add(patience)))
		for buf, size := make([]byte, 4096), 0; !strings.Contains(string(buf[:size]), part); {
			if size, err = socket.Read(buf); err != nil {
				t.Fatalf("no %q: %v", part, err)
			}
		}
	}
	w := newWorld(t, "NOTIFY_SOCKET="+path, "WATCHDOG_USEC=2000000")
	w.file("reminders/long.md", "---\nid: \"aaaa0001\"\nrun-at: \""+time.Now().Add(time.Second).Format(time.RFC3339)+
		"\"\nbackground: true\n---\n```script\nwait 1h\n```\n")
	w.launch("run", "--headless", "--engine", "script")
	reports("READY=1")
	reports("WATCHDOG=1\nSTATUS=0 routines, 1 reminder")
	w.file(".env", "OLLIM_USER_NAME=Ada\n")
	testkit.Must(t, w.cmd.Process.Signal(syscall.SIGHUP))
	reports("RELOADING=1")
	reports("READY=1")
	for w.read("state/fork_runs.jsonl") == "" { // until the long run is under way
		reports("WATCHDOG=1")
	}
	testkit.Must(t, w.cmd.Process.Signal(syscall.SIGTERM))
	reports("STOPPING=1")
	w.ends()
	w.gets("state/bot.log", "settings reloaded", ".env has changed", "bot stopped")
}

// userSystemd runs the rest of a script beside a systemd user instance of its own: with its own mounts, processes and control
// group, so that nothing of the machine's is touched. $OLLIM is the program, $HOME a folder of the test's.
const userSystemd = `set -u
root=$(awk '$3 == "cgroup2" {print $2; exit}' /proc/mounts)
[ -n "$root" ] || exit 77
cg=$root/ollim-test-$$
mkdir "$cg" || exit 77
trap 'for i in 1 2 3 4 5; do find "$cg" -depth -type d -exec rmdir {} + 2>/dev/null && break; sleep 0.2; done' EXIT
(echo $BASHPID >"$cg/cgroup.procs" && grep -q ollim-test- /proc/self/cgroup || exit 77
exec unshare -m -p -f -C --kill-child bash -c "$INSIDE") || exit $?
`

const insideSystemd = `set -u
mount -t proc proc /proc && mount -t tmpfs tmpfs /sys/fs/cgroup && mount -t cgroup2 cgroup2 /sys/fs/cgroup && mount -t tmpfs tmpfs /run || exit 77
mkdir -p /run/systemd/system /run/user/0 /run/tmp && chmod 700 /run/user/0
export XDG_RUNTIME_DIR=/run/user/0 TMPDIR=/run/tmp
systemd=/usr/lib/systemd/systemd; [ -x "$systemd" ] || systemd=/lib/systemd/systemd
"$systemd" --user --log-target=console </dev/null >"$HOME/systemd.log" 2>&1 &
for i in $(seq 300); do systemctl --user is-system-running >/dev/null 2>&1 && break; sleep 0.1; done
systemctl --user is-system-running >/dev/null 2>&1 || exit 77
pid() { systemctl --user show ollim-bot -p MainPID --value; }
unit=$HOME/.config/systemd/user/ollim-bot.service
echo "== install"; "$OLLIM" service install -- --engine script; echo "exit $?"
echo "== status"; "$OLLIM" service status; echo "exit $?"
echo "== again"; "$OLLIM" service install -- --engine script; echo "exit $?"
echo "== logs"; "$OLLIM" service logs -n 5; echo "exit $?"
echo "== reload"; systemctl --user reload ollim-bot; echo "exit $?"
for i in $(seq 600); do grep -q "settings reloaded" "$HOME/.ollim-bot/state/bot.log" && break; sleep 0.1; done
grep -c "settings reloaded" "$HOME/.ollim-bot/state/bot.log"
echo "== rival"; "$OLLIM" run --headless --engine script; echo "exit $?"
echo "== restart"; before=$(pid); "$OLLIM" restart
for i in $(seq 600); do [ "$(grep -c "bot started" "$HOME/.ollim-bot/state/bot.log")" -ge 2 ] && break; sleep 0.1; done
for i in $(seq 600); do [ "$(systemctl --user is-active ollim-bot)" = active ] && break; sleep 0.1; done
[ "$(pid)" = "$before" ] && systemctl --user is-active ollim-bot
echo "== watchdog"; before=$(pid); kill -STOP "$before"
for i in $(seq 400); do after=$(pid); [ "$after" != "$before" ] && [ "$after" != 0 ] && break; sleep 0.1; done
[ "$after" != "$before" ] && echo "a fresh process"; "$OLLIM" service status
echo "== sandbox"
args=(); while IFS= read -r line; do args+=(-p "$line"); done < <(grep -E '^(NoNew|Lock|Restrict|SystemCall|UMask)' "$unit")
systemd-run --user --quiet --wait --pipe "${args[@]}" bwrap --unshare-all --ro-bind / / --proc /proc --dev /dev echo "bubblewrap works"
echo "== stop"; SECONDS=0; systemctl --user stop ollim-bot; [ $SECONDS -le 10 ] && echo "in time"; "$OLLIM" service status; echo "exit $?"
echo "== uninstall"; "$OLLIM" service uninstall; echo "exit $?"; [ -e "$unit" ] || echo "no unit"; "$OLLIM" service status; echo "exit $?"
kill %1; wait %1
`

func TestTheServiceLivesInARealSystemd(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	testkit.Campaign(t, "systemd")
	home := t.TempDir()
	// A watchdog that one can wait for; a drop-in is the way of a user's own changes.
	put(t, filepath.Join(home, ".config/systemd/user/ollim-bot.service.d/quick.conf"), "[Service]\nWatchdogSec=10\nRestartSec=0\n")
	cmd := exec.CommandContext(t.Context(), "bash", "-c", userSystemd)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "OLLIM=" + built(t), "INSIDE=" + insideSystemd, "LANG=C.UTF-8"}
	out, err := cmd.CombinedOutput()
	if exit := cmd.ProcessState.ExitCode(); exit == 77 || exit == 127 || os.Getuid() != 0 {
		t.Skipf("needs root, unshare and a systemd that can start a user instance: %v\n%s", err, out)
	}
	parts := map[string]string{}
	for part := range strings.SplitSeq(string(out), "== ") {
		name, rest, _ := strings.Cut(part, "\n")
		parts[name] = rest
	}
	for name, wants := range map[string][]string{
		"install":   {"writes ~/.config/systemd/user/ollim-bot.service", "ollim-bot.service is running (process ", "enable-linger root", "exit 0"},
		"status":    {"active (running), process ", "says     0 routines, 0 reminders", "exit 0"},
		"again":     {"nothing to do", "exit 0"},
		"logs":      {"bot started", "exit 0"},
		"reload":    {"exit 0\n1\n"},
		"rival":     {"exit 1"},
		"restart":   {"\nactive\n"},
		"watchdog":  {"a fresh process", "restarted 1 time"},
		"sandbox":   {"bubblewrap works"},
		"stop":      {"in time", "inactive (dead)", "exit 1"},
		"uninstall": {"was removed; your data is still in ~/.ollim-bot", "no unit", "is not installed", "exit 1"},
	} {
		for _, want := range wants {
			if !strings.Contains(parts[name], want) {
				t.Errorf("%s does not say %q:\n%s", name, want, parts[name])
			}
		}
	}
	if t.Failed() {
		t.Logf("%v\n%s", err, out)
	}
}
