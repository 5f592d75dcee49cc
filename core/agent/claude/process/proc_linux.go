package process

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"ollimbot/core/base/procgroup"
)

// maxComm is the number of characters of a program's name that the kernel keeps.
const maxComm = 15

// attributes gives the command its own session and ends it with the bot.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// innermost returns the command that a sandbox's program runs: the first descendant of pid with
// another program. The sandbox has one process outside its namespace and one inside it, whose child
// is the command. A sandbox that replaced itself with the command is the command.
func innermost(pid int, program string) (int, bool) {
	program = program[:min(len(program), maxComm)]
	for range 4 {
		name, err := os.ReadFile(procgroup.File(pid, "comm"))
		if err != nil {
			return 0, false
		}
		if strings.TrimSpace(string(name)) != program {
			return pid, true
		}
		parent := strconv.Itoa(pid)
		children := slices.Sorted(func(yield func(int) bool) {
			for other := range procgroup.PIDs() {
				if procgroup.Stat(other, procgroup.FieldParent) == parent && !yield(other) {
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

// resident returns the second number of statm, which is in pages, as bytes.
func resident(pid int) (int64, bool) {
	b, err := os.ReadFile(procgroup.File(pid, "statm"))
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
