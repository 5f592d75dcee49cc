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
	termMoment  = 300 * time.Millisecond // that an orphan has for an orderly end
	reaperLimit = 3 * time.Second        // until those that do not end are reported
	firstPause  = 2 * time.Millisecond   // between two looks at first
	lastPause   = 50 * time.Millisecond  // and at last
)

// maxComm is how much of a program's name the system keeps.
const maxComm = 15

// attributes are those of a command: a session of its own, and an end with us.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// collect ends what owns says is ours and returns how many that were. A command
// runs each shell in a session of its own, so that neither its group nor, once it
// is dead, a parent leads there: the mark does. It looks until two looks in a row
// find nobody, for between the two halves of an exec a process shows no
// environment. The group is for systems without marks.
func collect(_ int, owns func(mark string) bool) (int, error) {
	sent := make(map[int]syscall.Signal)
	start := time.Now()
	for pause, calm := firstPause, 0; ; pause = min(2*pause, lastPause) {
		sig := syscall.SIGTERM
		if time.Since(start) >= termMoment {
			sig = syscall.SIGKILL
		}
		var left []string
		for pid := range pids() {
			if owns(markOf(pid)) {
				left = append(left, strconv.Itoa(pid))
				if sent[pid] != sig {
					sent[pid] = sig
					signalMarked(pid, sig, owns)
				}
			}
		}
		if calm++; len(left) > 0 {
			calm = 0
		}
		switch {
		case calm == 2:
			return len(sent), nil
		case time.Since(start) >= reaperLimit:
			return len(sent), fmt.Errorf(msgLeft, strings.Join(left, ", "))
		}
		time.Sleep(pause)
	}
}

// signalMarked signals a process that is still ours once we hold on to it: its
// number may have passed to another one. A signal fails only where it is gone or
// not ours to end; the next look tells.
func signalMarked(pid int, sig os.Signal, owns func(mark string) bool) {
	p, err := os.FindProcess(pid) // by a descriptor that stands for this very process
	if err != nil {
		return
	}
	defer func() { _ = p.Release() }()
	if owns(markOf(pid)) {
		_ = p.Signal(sig)
	}
}

// pids are the numbers of all processes but our own, as far as the system
// shows them.
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

// markOf is the mark in the environment that a process was started with; empty
// when it has none, has died, or is another user's.
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

// innermost is the command that a sandbox's program runs: the first process
// below pid that runs another one. The sandbox has one process outside of its
// namespace and one in it, and the command is the child of that. A program that
// has become the command itself is that command.
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
		children := slices.Sorted(func(yield func(int) bool) {
			for other := range pids() {
				if parentOf(other) == pid && !yield(other) {
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

// parentOf reads "PID (NAME) STATE PARENT …"; the name may hold anything, brackets
// and blanks too. It is 0 for a process that is gone.
func parentOf(pid int) int {
	line, err := os.ReadFile(procFile(pid, "stat"))
	if err != nil {
		return 0
	}
	f := strings.Fields(string(line[bytes.LastIndexByte(line, ')')+1:]))
	if len(f) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(f[1])
	return parent
}

// resident is the second number of statm, counted in pages.
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
