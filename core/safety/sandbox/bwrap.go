package sandbox

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"ollimbot/core/base/lazyregexp"
	"ollimbot/core/safety/egress"
	"ollimbot/core/storage/config"
)

const (
	// runDir is the fence's own folder, inside.
	runDir = "/run/ollim-bot"
	// shell runs each command of claude's Bash in the inner fence. Claude takes no
	// shell without "bash" in its name.
	shell    = runDir + "/bash"
	shellVar = "CLAUDE_CODE_SHELL"
	// nobody is who a bot of root is inside: a process that the kernel takes for
	// root may not make a user namespace of its own without a capability.
	nobody = "65534"
	// firstFile is the descriptor of the first of exec.Cmd's ExtraFiles.
	firstFile = 3
)

// bubblewrap rewrites cmd to run under it.
func (b *Box) bubblewrap(cmd *exec.Cmd, v *view, inner bool) (done func(), err error) {
	var files []*os.File
	done = func() {
		for _, f := range files {
			_ = f.Close() // read by nobody any more
		}
	}
	// What bubblewrap copies comes by descriptors, so that nothing of it lies on a disk.
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

// flags are the arguments for a view. give hands a file over and says under
// which descriptor.
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
			// Bubblewrap covers parts of /proc for root, and then the kernel refuses a
			// new one to the inner fence unless a whole one is mounted somewhere. This
			// is out of reach under the folder that lies over it.
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

// Limits of a command, generous for work and short of what stops a machine.
const (
	maxProcesses = 512
	maxMemory    = 4 << 30 // of one process, in bytes
	maxSeconds   = 3600    // of a processor's time, of one process
	maxTemporary = 512 << 20
)

// last are the last arguments: what no mount is for is in memory without a limit and is
// closed, and then a program starts. Limits of a command are set inside, where only the
// processes of this sandbox count, by a shell, which starts in a millisecond.
func (v *view) last(path string) []string {
	args := append([]string{"--remount-ro", "/dev", "--remount-ro", "/", "--"}, v.relay.args()...)
	if v.profile != command {
		return append(args, path)
	}
	set := fmt.Sprintf(`{ ulimit -u %[1]d || ulimit -p %[1]d; ulimit -d %[2]d; ulimit -t %[3]d; ulimit -c 0; } 2>/dev/null; exec "$0" "$@"`,
		maxProcesses, maxMemory>>10, maxSeconds)
	return append(args, "/bin/sh", "-c", set, path)
}

// tmpfs is an empty folder in memory.
func (b *Box) tmpfs(path string) []string {
	if !b.seen.modern() {
		return []string{"--tmpfs", path}
	}
	return []string{"--size", strconv.Itoa(maxTemporary), "--tmpfs", path}
}

// innerPlan is the plan of the inner fence, which stands in the outer one. The outer's
// covers hold on in it; it adds what commands may not do beyond that.
func (b *Box) innerPlan(outer *view) (plan, error) {
	bash := b.find("bash")
	v, err := b.frame(command, &exec.Cmd{Path: bash, Env: outer.env})
	if err != nil {
		return plan{}, err
	}
	v.mounts = slices.DeleteFunc(v.mounts, func(m mount) bool {
		// The session's own /tmp is shared: what one command leaves there the next one
		// reads. What only root could read is covered outside.
		return m.How == private && m.To == "/tmp" || m.How == empty || slices.Contains(rootOnlyFolders, m.To)
	})
	first := slices.IndexFunc(v.mounts, func(m mount) bool { return m.How == private }) // the home directory, or all that follows
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

// relay is the way to the proxy: our own program, which runs as the first one inside, and the
// descriptor that it takes.
type relay struct{ Program, FD string }

// args begin the command line inside.
func (r relay) args() []string {
	if r.FD == "" {
		return nil
	}
	return []string{r.Program, HelperArg, relayArg, r.FD, "--"}
}

// relayArg follows HelperArg where our program is to carry connections to the proxy.
const relayArg = "relay"

// relayBy gives the view's commands a way to the proxy.
func (v *view) relayBy(r relay) {
	v.relay = r
	for _, one := range egress.Env() {
		name, value, _ := strings.Cut(one, "=")
		v.env = config.With(v.env, name, value)
	}
}

// plan keeps a view of a command for later.
func (b *Box) plan(v *view, shell string) plan {
	return plan{State: b.seen, Bwrap: b.exe, Shell: shell, Data: v.data, Home: v.home, Network: v.network, Mounts: v.mounts}
}

// plan is the fence of a shell that does not run yet: HelperArg makes it at the start of
// each command, so that it closes what is there then.
type plan struct {
	State   State
	Bwrap   string `json:",omitempty"`
	Shell   string
	Data    string
	Home    string
	Network bool
	Mounts  []mount
	// Where commands reach some hosts: how they get a link, and our own program.
	Pass       egress.Pass `json:",omitzero"`
	Executable string      `json:",omitempty"`
	// Of Landlock: the folder of its shell and that for temporary files, and what may be
	// written beside them.
	Run, Tmp string   `json:",omitempty"`
	Write    []string `json:",omitempty"`
}

// planSuffix is that of the file with the plan, beside the shell.
const planSuffix = ".plan"

// start is what stands in the shell's place: a script for our own program, which reads the
// plan. The kernel takes no path with a space, and no long one.
func (p plan) start(executable string) string {
	if plainWord().MatchString(executable) && len(executable) < maxInterpreter {
		return "#!" + executable + " " + HelperArg + "\n"
	}
	return "#!" + p.Shell + " -p\nexec " + quoted(executable) + " " + HelperArg + " \"$0\" \"$@\"\n"
}

// maxInterpreter is less than any kernel takes, with an argument.
const maxInterpreter = 100

var plainWord = lazyregexp.New(`^[A-Za-z0-9_./:=-]+$`)

// quoted is a word as a shell takes it back.
func quoted(word string) string {
	if plainWord().MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
