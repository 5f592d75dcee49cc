package sandbox

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"ollimbot/core/base/clean"
	"ollimbot/core/safety/egress"
	"ollimbot/core/storage/config"
)

// HelperArg makes the bot's own program confine itself and then become another program. Landlock
// applies to the process that asks for it and to its children.
const HelperArg = "__confined"

// lists contains everything that a confined process may reach.
type lists struct {
	Read    []string `json:"read"`
	Write   []string `json:"write"`
	Look    []string `json:"look"` // folders whose names may be read, including those below, but not the files' contents
	Network bool     `json:"network,omitempty"`
	Command bool     `json:"command,omitempty"` // it is for a model's commands
	Filter  bool     `json:"filter,omitempty"`  // the kernel supports a filter
}

// Devices that every program expects to be able to write.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/pts", "/dev/shm"}

// Helper implements HelperArg. Its arguments are lists as JSON, "--", the program's path and its
// arguments; or, as claude's shell, the path of the script that called it and the arguments of the
// shell. It returns only on failure, with the exit code. As the first program of a sandbox that
// reaches some hosts it gets relayArg, the descriptor of its link, "--" and the program, and
// returns the program's exit code.
func Helper(args []string) int {
	err := errors.New("usage: " + HelperArg + " LISTS -- PROGRAM ARGUMENTS")
	switch {
	case len(args) >= 4 && args[0] == relayArg && args[2] == "--":
		var status int
		if status, err = runRelay(args[1], args[3], args[4:]); err == nil {
			return status
		}
	case len(args) >= 3 && args[1] == "--":
		err = confineBy(args[0], args[2], args[3:])
	case len(args) >= 1 && filepath.IsAbs(args[0]):
		err = becomeShell(args[0], args[1:])
	}
	fmt.Fprintln(os.Stderr, "sandbox:", err)
	return noExec
}

// runRelay runs a program and carries its connections to the proxy.
func runRelay(fd, path string, args []string) (int, error) {
	n, err := strconv.Atoi(fd)
	if err != nil {
		return 0, fmt.Errorf("read the link: %w", err)
	}
	return egress.Run(os.NewFile(uintptr(n), "link"), path, args)
}

// becomeShell runs claude's shell in the sandbox of a command.
func becomeShell(script string, args []string) error {
	text, err := os.ReadFile(script + planSuffix)
	if err != nil {
		return fmt.Errorf("read the plan: %w", err)
	}
	var p plan
	if err := json.Unmarshal(text, &p); err != nil {
		return fmt.Errorf("read the plan: %w", err)
	}
	v := &view{profile: command, data: p.Data, home: p.Home, network: p.Network, mounts: p.Mounts, env: harmless(os.Environ(), p.Network)}
	if p.State.Kind == Landlock { // no name can be created at the top of the data directory, so nothing has to exist there
		if err := v.fill(v.covers); err != nil {
			return err
		}
		l, err := v.lists(p.Run, p.Tmp)
		if err != nil {
			return err
		}
		l.Write, l.Filter = append(l.Write, p.Write...), p.State.Filter
		return l.confine(p.Shell, args, v.env)
	}
	err = v.fill(func() ([]mount, error) {
		list, err := v.dataCovers()
		return slices.DeleteFunc(list, held), err
	})
	if err != nil {
		return err
	}
	b := &Box{exe: p.Bwrap, seen: p.State}
	flags, err := b.flags(v, inherited)
	if err != nil {
		return err
	}
	if p.Pass != (egress.Pass{}) {
		fd, err := inherited(egress.Join(p.Pass))
		if err != nil {
			return err
		}
		v.relayBy(relay{Program: p.Executable, FD: fd})
	}
	// claude ends a command through its process group, so the command stays in the shell's.
	flags = slices.DeleteFunc(flags, func(a string) bool { return a == "--new-session" })
	return syscall.Exec(p.Bwrap, slices.Concat([]string{p.Bwrap}, flags, v.last(p.Shell), args), v.env)
}

// inherited passes a file to the program that this process becomes.
func inherited(f *os.File, err error) (string, error) {
	if err != nil {
		return "", err
	}
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD, firstFile) // the duplicate stays open
	return strconv.Itoa(fd), errors.Join(err, f.Close())
}

// Rights on a visible folder and on a writable one, and those among them that apply to a file. No
// program needs to create devices.
const (
	reading = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	writing = reading | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR |
		unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_REFER
	device  = reading | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	ofFiles = device &^ unix.LANDLOCK_ACCESS_FS_READ_DIR
)

// restrict gives up everything that is not on the lists, as far as the kernel supports it. The
// libraries for this restrict all threads of a process through a folder of /proc, which is closed
// to a sandbox within another one.
func (l lists) restrict() error {
	version := landlockVersion()
	known := uint64(1)<<min(12+max(version, 1), 15) - 1 // version 1 has thirteen rights, 2 and 3 one more each, 5 and 9 another
	attr := unix.LandlockRulesetAttr{}
	if version >= 5 {
		known = 1<<16 - 1
	}
	if version >= 9 {
		known |= unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX
	}
	attr.Handled_access_fs = known
	if version >= 4 && !l.Network {
		attr.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if version >= 10 && !l.Network {
		attr.Handled_access_net |= unix.LANDLOCK_ACCESS_NET_BIND_UDP | unix.LANDLOCK_ACCESS_NET_CONNECT_SEND_UDP
	}
	if version >= 6 {
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	// Newer fields are zero, which older kernels accept.
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return fmt.Errorf("create the rules: %w", errno)
	}
	defer func() { _ = unix.Close(int(fd)) }()
	for _, one := range []struct {
		paths  []string
		access uint64
	}{{devices, device}, {l.Read, reading}, {l.Write, writing}, {l.Look, unix.LANDLOCK_ACCESS_FS_READ_DIR}} {
		for _, path := range one.paths {
			if err := allow(int(fd), path, one.access&known); err != nil {
				return fmt.Errorf("allow %s: %w", path, err)
			}
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("disable new privileges: %w", err)
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return fmt.Errorf("apply the rules: %w", errno)
	}
	return nil
}

// allow adds a path to the rules. A path that is missing, or that an outer sandbox does not show,
// is skipped.
func allow(rules int, path string, access uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil //nolint:nilerror // what is not there needs no rule
	}
	defer func() { _ = unix.Close(fd) }()
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return err
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFDIR {
		access &= ofFiles
	}
	attr := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(rules), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&attr)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// landlockVersion returns the kernel's version of Landlock, or 0 if it has none.
func landlockVersion() int {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(version)
}

// ofProc are the files in /proc that programs read about the machine and themselves. All of /proc
// would contain the environment of other processes.
var ofProc = []string{
	"/proc/self", "/proc/sys", "/proc/cpuinfo", "/proc/filesystems", "/proc/loadavg", "/proc/meminfo", "/proc/stat", "/proc/uptime", "/proc/version",
}

// noExec is the exit code of shells for a program that cannot be started.
const noExec = 126

func confineBy(text, path string, args []string) error {
	var l lists
	if err := json.Unmarshal([]byte(text), &l); err != nil {
		return fmt.Errorf("read the lists: %w", err)
	}
	return l.confine(path, args, os.Environ())
}

// confine gives up everything that is not on the lists and becomes a program.
func (l lists) confine(path string, args, env []string) error {
	// The thread that confines itself must be the one that becomes the program.
	runtime.LockOSThread()
	if err := l.restrict(); err != nil {
		return fmt.Errorf("confine: %w", err)
	}
	if os.Getuid() == 0 {
		none := [2]unix.CapUserData{}
		if err := unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0]); err != nil {
			return fmt.Errorf("drop root's capabilities: %w", err)
		}
	}
	if l.Command {
		// The number of processes cannot be limited, because all of the user's would count.
		for what, most := range map[int]uint64{unix.RLIMIT_DATA: maxMemory, unix.RLIMIT_CPU: maxSeconds, unix.RLIMIT_CORE: 0} {
			limit(what, most)
		}
	}
	if l.Filter {
		if err := (filter{command: l.Command, noNet: !l.Network, noMeta: l.Command}).install(); err != nil {
			return fmt.Errorf("filter calls: %w", err)
		}
	}
	return syscall.Exec(path, append([]string{path}, args...), env)
}

// limit lowers a limit of this process. A lower one is kept.
func limit(what int, most uint64) {
	var now unix.Rlimit
	if unix.Getrlimit(what, &now) == nil {
		most = min(most, now.Max)
		_ = unix.Setrlimit(what, &unix.Rlimit{Cur: most, Max: most}) // lowering is always allowed
	}
}

// install applies the filter to all later calls of this thread, permanently.
func (f filter) install() error {
	p := f.program()
	if len(p) == 0 {
		return errors.ErrUnsupported
	}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]})))
	if errno != 0 {
		return errno
	}
	return nil
}

// lookLandlock reports whether the kernel has Landlock, and what it lacks.
func (b *Box) lookLandlock(ctx context.Context) (State, bool) {
	version := landlockVersion()
	if version < 1 || !filepath.IsAbs(b.o.Executable) {
		return State{}, false
	}
	s := State{Kind: Landlock, Version: strconv.Itoa(version), Inner: b.find("bash") != ""}
	var err error
	for _, s.Filter = range []bool{true, false} {
		trial := b.trial("", s)
		err = trial.tryCommand(ctx)
		trial.Close()
		if err == nil {
			return s, true
		}
	}
	return State{Reason: clean.FirstLine(err.Error(), maxReason)}, false
}

// landlock rewrites cmd to be started by the bot's own program.
func (b *Box) landlock(cmd *exec.Cmd, v *view, inner bool) error {
	run, tmp, err := b.folders()
	if err != nil {
		return err
	}
	l, err := v.lists(run, tmp)
	if err != nil {
		return err
	}
	l.Filter = b.seen.Filter
	v.env = config.With(v.env, "TMPDIR", cmp.Or(v.tmp, tmp))
	if v.profile == engine && inner {
		name, err := b.innerLandlock(v, run, tmp)
		if err != nil {
			return err
		}
		v.env = config.With(v.env, shellVar, name)
	}
	text, err := json.Marshal(l)
	if err != nil {
		return fmt.Errorf("write the lists: %w", err)
	}
	path := cmd.Path
	if !filepath.IsAbs(path) {
		path = filepath.Join(cmd.Dir, path)
	}
	cmd.Args = slices.Concat([]string{b.o.Executable, HelperArg, string(text), "--", path}, cmd.Args[1:])
	cmd.Path, cmd.Env = b.o.Executable, v.env
	return nil
}

// lists returns a view in Landlock's terms. Landlock allows whole folders and cannot exclude
// anything in them, so the entries of a folder with something covered are allowed one by one, and
// no new name can be created in it.
func (v *view) lists(run, tmp string) (lists, error) {
	l := lists{Read: append(slices.Clone(ofProc), run), Write: []string{tmp}, Network: v.network, Command: v.profile == command}
	var shown, covered []mount
	for _, m := range v.mounts {
		switch {
		case m.How == empty, m.How == hidden, m.How == private && m.To != v.home && m.To != "/tmp" && filepath.Base(m.To) != shellFolder:
			covered = append(covered, m)
		case m.How == link && !filepath.IsAbs(m.From): // /bin and similar
			shown = append(shown, mount{How: readOnly, To: m.To})
		case m.How == copied:
			shown = append(shown, mount{How: writable, To: m.From})
		case m.How == readOnly, m.How == writable:
			shown = append(shown, m)
		}
	}
	for _, m := range shown {
		if err := l.allow(m, shown, covered); err != nil {
			return lists{}, err
		}
	}
	if door := config.Lookup(v.env, doorVar); door != "" {
		l.Write = append(l.Write, door)
	}
	return l, nil
}

// allow allows a path, or everything in it that is not covered.
func (l *lists) allow(m mount, shown, covered []mount) error {
	if slices.ContainsFunc(covered, func(c mount) bool { return c.To == m.To }) {
		return nil
	}
	inside := func(c mount) bool { return within(m.To, c.To) }
	kept := func(o mount) bool { return o.ByEntry && o.To != m.To && within(m.To, o.To) }
	if !slices.ContainsFunc(covered, inside) && (m.How != writable || !slices.ContainsFunc(shown, kept)) {
		if m.How == writable {
			l.Write = append(l.Write, m.To)
		} else {
			l.Read = append(l.Read, m.To)
		}
		return nil
	}
	entries, err := os.ReadDir(m.To)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read %s: %w", m.To, err)
	}
	l.Look = append(l.Look, m.To)
	for _, e := range entries {
		one := mount{How: m.How, To: filepath.Join(m.To, e.Name())}
		if at := slices.IndexFunc(shown, func(o mount) bool { return o.To == one.To }); at >= 0 {
			one.How = shown[at].How
		} else if e.Type()&fs.ModeSymlink != 0 && m.How == writable {
			continue // it would allow the link's target
		}
		if err := l.allow(one, shown, covered); err != nil {
			return err
		}
	}
	return nil
}

// innerLandlock writes the program that replaces bash for claude.
func (b *Box) innerLandlock(outer *view, run, tmp string) (string, error) {
	bash := b.find("bash")
	v, err := b.frame(command, &exec.Cmd{Path: bash, Env: outer.env})
	if err != nil {
		return "", err
	}
	p := b.plan(v, bash)
	p.Run, p.Tmp = run, tmp
	if dir := outer.settingsOf(); dir != "" {
		p.Write = append(p.Write, filepath.Join(resolved(dir), shellFolder))
	}
	text, err := json.Marshal(p)
	if err != nil {
		return "", fmt.Errorf("write the plan: %w", err)
	}
	sum := sha256.Sum256(text)
	name := filepath.Join(run, "bash-"+hex.EncodeToString(sum[:8]))
	return name, errors.Join(writeOnce(name+planSuffix, text), writeOnce(name, []byte(p.start(b.o.Executable))))
}

// writeOnce writes a program that other processes may be about to start.
func writeOnce(name string, text []byte) error {
	if old, err := os.ReadFile(name); err == nil && bytes.Equal(old, text) {
		return nil
	}
	f, err := os.CreateTemp(filepath.Dir(name), "new-*")
	if err != nil {
		return fmt.Errorf("write the shell: %w", err)
	}
	_, err = f.Write(text)
	if err := errors.Join(err, f.Chmod(0o700), f.Close(), os.Rename(f.Name(), name)); err != nil {
		return fmt.Errorf("write the shell: %w", err)
	}
	return nil
}
