package store

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// clockTicks is how many ticks of /proc/PID/stat make a second, on every Linux.
const clockTicks = 100

// ownerGone reports whether it is certain that the process that made a lock has
// ended: the machine was started since, or no git that was there then still
// runs and nobody has the file open.
func ownerGone(lock string, made time.Time) bool {
	boot, ok := bootTime()
	if !ok {
		return false
	}
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
			if began, ok := startTime(proc, boot); !ok || began.Before(made.Add(time.Second)) {
				return false
			}
		}
		files, _ := os.ReadDir(filepath.Join(proc, "fd")) // of others: closed to us
		for _, f := range files {
			if at, err := os.Readlink(filepath.Join(proc, "fd", f.Name())); err == nil && at == lock {
				return false
			}
		}
	}
	return true
}

// bootTime is when the machine was started.
func bootTime() (time.Time, bool) {
	data, err := os.ReadFile("/proc/stat")
	if err != nil {
		return time.Time{}, false
	}
	_, rest, ok := strings.Cut(string(data), "\nbtime ")
	if !ok {
		return time.Time{}, false
	}
	line, _, _ := strings.Cut(rest, "\n")
	sec, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
	return time.Unix(sec, 0), err == nil && sec > 0
}

// startTime is when a process began.
func startTime(proc string, boot time.Time) (time.Time, bool) {
	data, err := os.ReadFile(filepath.Join(proc, "stat"))
	if err != nil {
		return time.Time{}, false
	}
	// The name, in parentheses, may hold anything; field 3 follows it.
	fields := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
	const start = 22 - 3
	if len(fields) <= start {
		return time.Time{}, false
	}
	ticks, err := strconv.ParseInt(fields[start], 10, 64)
	return boot.Add(time.Duration(ticks) * (time.Second / clockTicks)), err == nil
}
