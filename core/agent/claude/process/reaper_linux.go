package process

import (
	"bytes"
	"fmt"
	"iter"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	termMoment  = 300 * time.Millisecond // between SIGTERM and SIGKILL
	reaperLimit = 3 * time.Second        // until remaining processes are reported
	firstPause  = 2 * time.Millisecond   // between the first two scans
	lastPause   = 50 * time.Millisecond  // the longest pause between two scans
)

// maxComm is the number of characters of a program's name that the kernel keeps.
const maxComm = 15

// attributes gives the command its own session and ends it with the bot.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// victim is a process that collect has signalled. The start time distinguishes it
// from a later process with the same ID.
type victim struct {
	started string
	sig     syscall.Signal
}

// collect ends the processes whose mark owns accepts and returns their number. The command runs
// each shell in its own session, so its group does not lead to them, nor does a parent once it has
// died; the mark does. The group is for systems without marks.
//
// It scans until two scans in a row find nothing, because between the two halves of an exec a
// process shows no environment. A process that is exiting shows none either while it frees its
// memory and closes its files, so a victim counts until it has exited.
func collect(_ int, owns func(mark string) bool) (int, error) {
	victims := make(map[int]victim)
	start := time.Now()
	for pause, calm := firstPause, 0; ; pause = min(2*pause, lastPause) {
		sig := syscall.SIGTERM
		if time.Since(start) >= termMoment {
			sig = syscall.SIGKILL
		}
		var left []string
		for pid := range pids() {
			v, known := victims[pid]
			switch {
			case owns(markOf(pid)):
				if v.sig != sig {
					victims[pid] = victim{startedAt(pid), sig}
					signalMarked(pid, sig, owns)
				}
			case !known || !v.running(pid):
				continue
			}
			left = append(left, strconv.Itoa(pid))
		}
		if calm++; len(left) > 0 {
			calm = 0
		}
		switch {
		case calm == 2:
			return len(victims), nil
		case time.Since(start) >= reaperLimit:
			return len(victims), fmt.Errorf(msgLeft, strings.Join(left, ", "))
		}
		time.Sleep(pause)
	}
}

// running reports whether the victim still runs under its ID. A zombie does not.
func (v victim) running(pid int) bool {
	state := statField(pid, fieldState)
	return state != "" && state != "Z" && state != "X" && startedAt(pid) == v.started
}

// signalMarked signals a process after checking its mark again through a handle, because the ID may
// have been reused. A signal fails only if the process is gone or belongs to another user; the next
// scan shows which.
func signalMarked(pid int, sig os.Signal, owns func(mark string) bool) {
	p, err := os.FindProcess(pid) // a pidfd, which refers to this very process
	if err != nil {
		return
	}
	defer func() { _ = p.Release() }()
	if owns(markOf(pid)) {
		_ = p.Signal(sig)
	}
}

// pids yields the IDs of all visible processes except this one and init.
func pids() iter.Seq[int] {
	return func(yield func(int) bool) {
		dir, err := os.Open("/proc")
		if err != nil {
			return
		}
		defer dir.Close()
		names, _ := dir.Readdirnames(-1)
		for _, name := range names {
			pid, err := strconv.Atoi(name)
			if err != nil || pid == os.Getpid() || pid == 1 {
				continue
			}
			if !yield(pid) {
				return
			}
		}
	}
}

// markOf returns the mark in the environment that a process was started with. It is empty
// if the process has none, is exiting, or belongs to another user.
func markOf(pid int) string {
	env, err := os.ReadFile(procFile(pid, "environ"))
	if err != nil {
		return ""
	}
	for v := range bytes.SplitSeq(env, []byte{0}) {
		if mark, ok := bytes.CutPrefix(v, []byte(MarkName+"=")); ok {
			return string(mark)
		}
	}
	return ""
}

// innermost returns the command that a sandbox's program runs: the first descendant of pid with
// another program. The sandbox has one process outside its namespace and one inside it, whose child
// is the command. A sandbox that replaced itself with the command is the command.
func innermost(pid int, program string) (int, bool) {
	program = program[:min(len(program), maxComm)]
	for range 4 {
		name, err := os.ReadFile(procFile(pid, "comm"))
		if err != nil {
			return 0, false
		}
		if strings.TrimSpace(string(name)) != program {
			return pid, true
		}
		parent := strconv.Itoa(pid)
		children := slices.Sorted(func(yield func(int) bool) {
			for other := range pids() {
				if statField(other, fieldParent) == parent && !yield(other) {
					return
				}
			}
		})
		if len(children) == 0 {
			return 0, false
		}
		pid = children[0]
	}
	return 0, false
}

// Fields of /proc/PID/stat, counted after the name.
const (
	fieldState   = 0
	fieldParent  = 1
	fieldStarted = 19
)

// statField returns a field of "PID (NAME) STATE PARENT …", where the name may contain brackets and
// blanks. It is empty if there is no such process.
func statField(pid, field int) string {
	line, err := os.ReadFile(procFile(pid, "stat"))
	if err != nil {
		return ""
	}
	f := strings.Fields(string(line[bytes.LastIndexByte(line, ')')+1:]))
	if len(f) <= field {
		return ""
	}
	return f[field]
}

func startedAt(pid int) string { return statField(pid, fieldStarted) }

// resident returns the second number of statm, which is in pages, as bytes.
func resident(pid int) (int64, bool) {
	b, err := os.ReadFile(procFile(pid, "statm"))
	if err != nil {
		return 0, false
	}
	f := strings.Fields(string(b))
	if len(f) < 2 {
		return 0, false
	}
	pages, err := strconv.ParseInt(f[1], 10, 64)
	return pages * int64(os.Getpagesize()), err == nil && pages > 0
}

func procFile(pid int, name string) string {
	return "/proc/" + strconv.Itoa(pid) + "/" + name
}
