package sandbox

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"ollimbot/core/base/lazyregexp"
	"ollimbot/core/safety/egress"
	"ollimbot/core/storage/config"
)

const (
	// runDir is the sandbox's own folder, inside the sandbox.
	runDir = "/run/ollim-bot"
	// shell runs each command of claude's Bash in the inner sandbox. Claude accepts only shells
	// with "bash" in their names.
	shell    = runDir + "/bash"
	shellVar = "CLAUDE_CODE_SHELL"
	// nobody is the user inside if the bot runs as root: a process that is root to the kernel
	// cannot create its own user namespace without a capability.
	nobody = "65534"
	// firstFile is the descriptor of the first of exec.Cmd's ExtraFiles.
	firstFile = 3
)

// bubblewrap rewrites cmd to run in bubblewrap.
func (b *Box) bubblewrap(cmd *exec.Cmd, v *view, inner bool) (done func(), err error) {
	var files []*os.File
	done = func() {
		for _, f := range files {
			_ = f.Close() // no longer needed
		}
	}
	// Bubblewrap gets the contents it copies through descriptors, so that none of it is on a disk.
	give := func(f *os.File, err error) (string, error) {
		if err != nil {
			return "", err
		}
		files = append(files, f)
		return strconv.Itoa(firstFile + len(cmd.ExtraFiles) + len(files) - 1), nil
	}
	args, err := b.flags(v, give)
	if err != nil {
		return done, err
	}
	v.env = config.With(v.env, "TMPDIR", cmp.Or(v.tmp, "/tmp"))
	if len(v.hosts) > 0 {
		fd, err := give(b.way().Pair(v.hosts))
		if err != nil {
			return done, err
		}
		v.relayBy(relay{Program: b.o.Executable, FD: fd})
	}
	if v.profile == engine && inner {
		p, err := b.innerPlan(v)
		if err != nil {
			return done, err
		}
		text, err := json.Marshal(p)
		if err != nil {
			return done, fmt.Errorf("write the plan of a sandbox: %w", err)
		}
		for name, content := range map[string][]byte{shell: []byte(p.start(b.o.Executable)), shell + planSuffix: text} {
			fd, err := give(inMemory(filepath.Base(name), content))
			if err != nil {
				return done, err
			}
			args = append(args, "--perms", "0555", "--file", fd, name)
		}
		v.env = config.With(v.env, shellVar, shell)
	}
	args = append(args, v.last(cmd.Path)...)
	cmd.Args = slices.Concat([]string{b.exe}, args, cmd.Args[1:])
	cmd.Path, cmd.Env = b.exe, v.env
	cmd.ExtraFiles = append(cmd.ExtraFiles, files...)
	return done, nil
}

// flags returns the arguments for a view. give passes a file to bubblewrap and returns its
// descriptor.
func (b *Box) flags(v *view, give func(*os.File, error) (string, error)) ([]string, error) {
	a := []string{
		"--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
		"--die-with-parent", "--new-session", "--cap-drop", "ALL", "--hostname", "sandbox",
	}
	if !v.network {
		a = append(a, "--unshare-net")
	}
	if v.profile != engine && b.seen.modern() {
		a = append(a, "--disable-userns")
	}
	if os.Getuid() == 0 {
		a = append(a, "--uid", nobody, "--gid", nobody)
		if v.profile == engine {
			// For root, bubblewrap covers parts of /proc, and the kernel then refuses a new /proc
			// to the inner sandbox unless a complete one is mounted somewhere. This one is out of
			// reach under the folder that covers it.
			a = append(a, "--bind", "/proc", runDir+"/hidden/proc", "--tmpfs", runDir+"/hidden")
		}
	}
	a = append(a, "--proc", "/proc", "--dev", "/dev", "--dir", runDir)
	a = append(a, b.tmpfs("/dev/shm")...)
	for _, m := range v.mounts {
		switch m.How {
		case readOnly, writable:
			flag := map[how]string{readOnly: "--ro-bind", writable: "--bind"}[m.How]
			if m.Optional {
				flag += "-try"
			}
			a = append(a, flag, m.From, m.To)
		case private:
			a = append(a, b.tmpfs(m.To)...)
		case link:
			a = append(a, "--symlink", m.From, m.To)
		case hidden:
			a = append(a, "--ro-bind", os.DevNull, m.To)
		case empty, copied:
			flag, from := "--ro-bind-data", os.DevNull
			if m.How == copied {
				flag, from = "--file", m.From
			}
			fd, err := give(os.Open(from))
			if err != nil {
				return nil, err
			}
			a = append(a, flag, fd, m.To)
		}
	}
	if b.seen.Filter {
		fd, err := give(inMemory("filter", filter{command: v.profile != engine}.bytes()))
		if err != nil {
			return nil, err
		}
		a = append(a, "--seccomp", fd)
	}
	return a, nil
}

// Limits of a command: generous for work, but low enough to protect the machine.
const (
	maxProcesses = 512
	maxMemory    = 4 << 30   // of one process, in bytes
	maxSeconds   = 3600      // CPU seconds of one process
	MaxTemporary = 512 << 20 // of a folder for temporary files, in bytes
)

// last returns the last arguments: paths without a mount are in memory without a limit, so they are
// closed, and then the program starts. A command's limits are set inside, where only the processes
// of this sandbox count. A shell sets them, which starts in a millisecond.
func (v *view) last(path string) []string {
	args := append([]string{"--remount-ro", "/dev", "--remount-ro", "/", "--"}, v.relay.args()...)
	if v.profile != command {
		return append(args, path)
	}
	set := fmt.Sprintf(`{ ulimit -u %[1]d || ulimit -p %[1]d; ulimit -d %[2]d; ulimit -t %[3]d; ulimit -c 0; } 2>/dev/null; exec "$0" "$@"`,
		maxProcesses, maxMemory>>10, maxSeconds)
	return append(args, "/bin/sh", "-c", set, path)
}

// tmpfs returns the arguments for an empty folder in memory.
func (b *Box) tmpfs(path string) []string {
	if !b.seen.modern() {
		return []string{"--tmpfs", path}
	}
	return []string{"--size", strconv.Itoa(MaxTemporary), "--tmpfs", path}
}

// innerPlan returns the plan of the inner sandbox, which runs in the outer one. The outer sandbox's
// covers stay in effect; the plan adds the further restrictions on commands.
func (b *Box) innerPlan(outer *view) (plan, error) {
	bash := b.find("bash")
	v, err := b.frame(command, &exec.Cmd{Path: bash, Env: outer.env})
	if err != nil {
		return plan{}, err
	}
	v.mounts = slices.DeleteFunc(v.mounts, func(m mount) bool {
		// The session's own /tmp is shared, so that files one command leaves there are visible to
		// the next. Files that only root could read are already covered outside.
		return m.How == private && m.To == "/tmp" || m.How == empty || slices.Contains(rootOnlyFolders, m.To)
	})
	first := slices.IndexFunc(v.mounts, func(m mount) bool { return m.How == private }) // the home directory, or all further mounts
	v.mounts = slices.Insert(v.mounts, max(first, 0), mount{How: writable, From: "/tmp", To: "/tmp"})
	if dir := outer.settingsOf(); dir != "" {
		snapshots := filepath.Join(resolved(dir), shellFolder)
		v.add(mount{How: private, To: resolved(dir)})
		v.add(mount{How: writable, From: snapshots, To: snapshots, Optional: true})
		v.name(dir, resolved(dir))
	}
	p := b.plan(v, bash)
	if len(v.hosts) > 0 {
		p.Executable = b.o.Executable
		p.Pass, err = b.way().Pass(v.hosts)
	}
	return p, err
}

// relay is the way to the proxy: the bot's own program, which is the first process inside, and the
// descriptor that it receives.
type relay struct{ Program, FD string }

// args returns the beginning of the command line inside.
func (r relay) args() []string {
	if r.FD == "" {
		return nil
	}
	return []string{r.Program, HelperArg, relayArg, r.FD, "--"}
}

// relayArg follows HelperArg if the bot's program is to carry connections to the proxy.
const relayArg = "relay"

// relayBy gives the view's commands a way to the proxy.
func (v *view) relayBy(r relay) {
	v.relay = r
	for _, one := range egress.Env() {
		name, value, _ := strings.Cut(one, "=")
		v.env = config.With(v.env, name, value)
	}
}

// plan returns the plan for starting commands in a view later.
func (b *Box) plan(v *view, shell string) plan {
	return plan{State: b.seen, Bwrap: b.exe, Shell: shell, Data: v.data, Home: v.home, Network: v.network, Mounts: v.mounts}
}

// plan is the sandbox of a shell that is not running yet. HelperArg builds the sandbox when a
// command starts, so that it closes what exists at that moment.
type plan struct {
	State   State
	Bwrap   string `json:",omitempty"`
	Shell   string
	Data    string
	Home    string
	Network bool
	Mounts  []mount
	// If commands may reach some hosts: how they get a link, and the bot's program.
	Pass       egress.Pass `json:",omitzero"`
	Executable string      `json:",omitempty"`
	// For Landlock: the folder of its shell, the one for temporary files, and further writable
	// paths.
	Run, Tmp string   `json:",omitempty"`
	Write    []string `json:",omitempty"`
}

// planSuffix is the suffix of the file with the plan, next to the shell.
const planSuffix = ".plan"

// start returns the text that replaces the shell: a script for the bot's own program, which reads
// the plan. The kernel accepts neither a path with a space nor a long one.
func (p plan) start(executable string) string {
	if plainWord().MatchString(executable) && len(executable) < maxInterpreter {
		return "#!" + executable + " " + HelperArg + "\n"
	}
	return "#!" + p.Shell + " -p\nexec " + quoted(executable) + " " + HelperArg + " \"$0\" \"$@\"\n"
}

// maxInterpreter is shorter than the limit of any kernel, including an argument.
const maxInterpreter = 100

var plainWord = lazyregexp.New(`^[A-Za-z0-9_./:=-]+$`)

// quoted returns a word quoted for a shell.
func quoted(word string) string {
	if plainWord().MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// standIns are the empty files and folders that replace missing closed places of the data directory
// while a process runs in a sandbox, since only existing paths can be covered. They are removed
// with the last such process. The zero value has created none.
type standIns struct {
	// order is held while they are created and removed, because it orders these operations.
	order sync.Mutex
	users int
	made  map[string]bool
}

// use counts a process for which fill has created some. leave must be called afterwards, even after
// an error.
func (s *standIns) use(fill func() (made []string, err error)) error {
	s.order.Lock()
	defer s.order.Unlock()
	s.users++
	made, err := fill()
	if s.made == nil {
		s.made = map[string]bool{}
	}
	for _, path := range made {
		s.made[path] = true
	}
	return err
}

// leave ends the use by a process. Anything that the user has filled meanwhile stays.
func (s *standIns) leave() {
	s.order.Lock()
	defer s.order.Unlock()
	if s.users--; s.users > 0 {
		return
	}
	for path := range s.made {
		if info, err := os.Lstat(path); err == nil && (info.IsDir() || isStandIn(info)) {
			_ = os.Remove(path) // a folder that is not empty stays
		}
	}
	s.made = nil
}

// standInTime is the modification time of a stand-in, which identifies those of a killed bot. An
// empty file of the user's has another time.
var standInTime = time.Unix(1, 0)

// isStandIn reports whether a file is empty and has that time.
func isStandIn(info fs.FileInfo) bool {
	return info.Mode().IsRegular() && info.Size() == 0 && info.ModTime().Equal(standInTime)
}

// makeStandIn creates one. fs.ErrExist means that the path exists now.
func makeStandIn(path string, folder bool) error {
	if folder {
		return os.Mkdir(path, 0o700)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Chtimes(path, standInTime, standInTime); err != nil {
		return fmt.Errorf("mark it: %w", err)
	}
	return nil
}
