package process

import (
	"bytes"
	"io"
	"iter"
	"os"
	"strconv"
	"strings"
)

// maxEnviron is more than the system lets an environment be (a quarter of the
// stack).
const maxEnviron = 4 << 20

// maxComm is how much of a program's name the system keeps.
const maxComm = 15

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

// markOf is the mark in the environment that a process was started with; false
// when it has none, has died, or is another user's.
func markOf(pid int) (string, bool) {
	f, err := os.Open(procFile(pid, "environ"))
	if err != nil {
		return "", false
	}
	defer f.Close()
	env, err := io.ReadAll(io.LimitReader(f, maxEnviron))
	if err != nil {
		return "", false
	}
	for len(env) > 0 {
		var v []byte
		v, env, _ = bytes.Cut(env, []byte{0})
		if mark, ok := bytes.CutPrefix(v, []byte(MarkName+"=")); ok {
			return string(mark), true
		}
	}
	return "", false
}

// stat is what the system tells about a process.
type stat struct {
	state   byte
	parent  int
	session int
	start   uint64 // when it began, in the kernel's ticks since it was booted
}

// dead reports a process that has ended and was not reaped.
func (s stat) dead() bool { return s.state == 'Z' || s.state == 'X' }

// statOf reads a process's line; false when there is none.
func statOf(pid int) (stat, bool) {
	line, err := os.ReadFile(procFile(pid, "stat"))
	if err != nil {
		return stat{}, false
	}
	return parseStat(string(line))
}

// parseStat reads "PID (NAME) STATE PARENT GROUP SESSION …"; the name may hold
// anything, brackets and blanks too.
func parseStat(line string) (stat, bool) {
	const startField = 22 - 3 // the fields are counted from the state on, the third
	at := strings.LastIndexByte(line, ')')
	if at < 0 {
		return stat{}, false
	}
	f := strings.Fields(line[at+1:])
	if len(f) <= startField {
		return stat{}, false
	}
	s := stat{state: f[0][0]}
	var errs [3]error
	s.parent, errs[0] = strconv.Atoi(f[1])
	s.session, errs[1] = strconv.Atoi(f[3])
	s.start, errs[2] = strconv.ParseUint(f[startField], 10, 64)
	return s, errs == [3]error{}
}

// innermost is the command that a sandbox's program runs: the first process
// below pid that runs another one. The sandbox has one process outside of its
// namespace and one in it, and the command is the child of that. A program that
// has become the command itself is that command.
func innermost(pid int, program string) (int, bool) {
	program = program[:min(len(program), maxComm)]
	for range 4 {
		if name := programOf(pid); name == "" {
			return 0, false
		} else if name != program {
			return pid, true
		}
		next, ok := childOf(pid)
		if !ok {
			return 0, false
		}
		pid = next
	}
	return 0, false
}

// programOf is the name by which the system knows a process's program.
func programOf(pid int) string {
	name, err := os.ReadFile(procFile(pid, "comm"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(name))
}

// childOf is the oldest child of a process.
func childOf(pid int) (int, bool) {
	if list, err := os.ReadFile(procFile(pid, "task/"+strconv.Itoa(pid)+"/children")); err == nil {
		first, _, _ := strings.Cut(string(list), " ")
		child, err := strconv.Atoi(first)
		return child, err == nil
	}
	child, found := 0, false // a kernel without that file
	for other := range pids() {
		if s, ok := statOf(other); ok && s.parent == pid && (!found || other < child) {
			child, found = other, true
		}
	}
	return child, found
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
