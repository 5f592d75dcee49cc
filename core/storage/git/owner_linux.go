package git

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// clockTicks is the number of ticks per second in /proc/PID/stat, which is the same on every Linux.
const clockTicks = 100

// ownerGone reports whether the process that created a lock has certainly ended: the machine was
// restarted since, or no git from that time is running and no process has the file open.
func ownerGone(lock string, made time.Time) bool {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return false
	}
	boot := time.Now().Add(-time.Duration(info.Uptime) * time.Second)
	if made.Before(boot) {
		return true
	}
	processes, err := os.ReadDir("/proc")
	if err != nil {
		return false
	}
	for _, p := range processes {
		if _, err := strconv.Atoi(p.Name()); err != nil {
			continue
		}
		proc := filepath.Join("/proc", p.Name())
		if name, err := os.ReadFile(filepath.Join(proc, "comm")); err == nil && strings.HasPrefix(string(name), "git") {
			if since, ok := startedAfter(proc); !ok || boot.Add(since).Before(made.Add(time.Second)) {
				return false
			}
		}
		files, _ := os.ReadDir(filepath.Join(proc, "fd")) // those of other users cannot be read
		for _, f := range files {
			if at, err := os.Readlink(filepath.Join(proc, "fd", f.Name())); err == nil && at == lock {
				return false
			}
		}
	}
	return true
}

// startedAfter returns how long after the machine's boot a process started.
func startedAfter(proc string) (time.Duration, bool) {
	data, err := os.ReadFile(filepath.Join(proc, "stat"))
	if err != nil {
		return 0, false
	}
	// The name, in parentheses, can contain anything; field 3 follows it.
	fields := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
	const start = 22 - 3
	if len(fields) <= start {
		return 0, false
	}
	ticks, err := strconv.ParseInt(fields[start], 10, 64)
	return time.Duration(ticks) * (time.Second / clockTicks), err == nil
}
