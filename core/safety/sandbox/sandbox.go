package sandbox

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/hosts"
	"ollimbot/core/base/procgroup"
	"ollimbot/core/safety/egress"
)

// Kind is what the fence is made of.
type Kind string

// What a machine may offer, best first.
const (
	Bubblewrap Kind = "bubblewrap"
	Landlock   Kind = "landlock"
	Seatbelt   Kind = "sandbox-exec"
	None       Kind = ""
)

// The variables that lead a command of ours to the running bot.
const (
	doorVar    = "OLLIM_SOCKET"
	SessionVar = "OLLIM_SESSION"
)

// Settings are what the user may choose; they are read for each process.
type Settings struct {
	Off     bool // no sandbox at all
	Network bool // commands of the model and of skills may reach the whole network
	// Hosts are what of the network commands reach, where Network is false, through a proxy
	// of ours. Only bubblewrap leaves no other way; elsewhere commands then reach nothing.
	Hosts   hosts.List
	Visible []Visible // folders and files that are shown beside the data directory
}

// Visible is one path beside the data directory that commands may see.
type Visible struct {
	Path  string // absolute, or below "~/"
	Write bool   // it may be written too
}

// Options of a Box.
type Options struct {
	Dir        string          // the data directory, absolute
	Home       string          // the user's home directory; empty is none
	ConfigDir  string          // the folder of the engine's settings and login, where it is not in Home
	Executable string          // our own binary: commands may call it, and Landlock needs it
	Settings   func() Settings // nil: the zero settings
	// Search is where programs are looked for, a PATH. Empty is a usual one.
	Search string
	// Runtime is the folder with the socket of the user's systemd, $XDG_RUNTIME_DIR; empty is
	// none.
	Runtime string
	Lookup  egress.Lookup // how the proxy resolves names; nil: as the system does
}

// Box builds fences for one data directory. Its methods may be called
// concurrently; the first of them that needs to know looks at the machine, which
// takes some 50 ms.
type Box struct {
	o    Options
	once sync.Once
	seen State
	exe  string // of bubblewrap or sandbox-exec
	// scope is systemd-run, where the user's systemd limits what a sandbox uses.
	scope string

	standIns standIns

	mu      sync.Mutex // guards what follows
	scratch scratch    // of Landlock; see Close
	proxy   *egress.Server
	log     *slog.Logger
}

// New names a Box. It starts nothing and looks at nothing.
func New(o Options) *Box {
	if o.Settings == nil {
		o.Settings = func() Settings { return Settings{} }
	}
	o.Search = cmp.Or(o.Search, "/usr/local/bin:/usr/bin:/bin")
	return &Box{o: o}
}

// State is what the fence is on this machine.
type State struct {
	Kind    Kind
	Version string // of the program, "0.8.0"; empty where there is none
	Off     bool   // the user has switched it off
	// Inner says that the commands of the engine's process run in a stricter fence
	// of their own; else they run in that of the process.
	Inner bool
	// Filter says that a filter keeps processes from unix sockets and from calls of the
	// kernel that lead past files.
	Filter bool
	// Hosts says that the user has named hosts that commands reach.
	Hosts bool
	// Scope says that all processes of a sandbox together have limits too, by systemd.
	Scope bool
	// Reason says why it is not better, with the cure; empty where all is well.
	Reason string
}

// String is the state as people read it, one line.
func (s State) String() string {
	switch {
	case s.Off:
		return textOff + s.unkept()
	case s.Kind == None:
		return fmt.Sprintf(textNone, s.Reason) + s.unkept()
	}
	name := strings.TrimSpace(string(s.Kind) + " " + s.Version)
	if gaps := s.gaps(); len(gaps) > 0 {
		return fmt.Sprintf(textWeaker, name, strings.Join(gaps, "; "))
	}
	return fmt.Sprintf(textOn, name)
}

// unkept says what of the settings counts for nothing without a sandbox.
func (s State) unkept() string {
	if s.Hosts {
		return textNoHosts
	}
	return ""
}

// gaps are what this fence does not keep, and why.
func (s State) gaps() (list []string) {
	if s.Reason != "" {
		list = append(list, s.Reason)
	}
	if !s.Filter && s.Kind != Seatbelt {
		list = append(list, reasonNoFilter)
	}
	if s.Kind == Bubblewrap && !s.modern() {
		list = append(list, reasonOld)
	}
	switch {
	case s.Kind == Landlock && s.Scope:
		list = append(list, reasonNoRoom)
	case s.Kind == Landlock:
		list = append(list, reasonNoLimits)
	}
	if s.Hosts && s.Kind != Bubblewrap {
		list = append(list, reasonNoHosts)
	}
	if s.Hosts && !s.Inner {
		list = append(list, reasonHostsOneLayer)
	}
	return list
}

// modern reports whether this bubblewrap, from 0.8 on, can limit folders in memory, and
// keep what it runs from making user namespaces, through which bugs of kernels are reached.
func (s State) modern() bool {
	major, rest, _ := strings.Cut(s.Version, ".")
	minor, _, _ := strings.Cut(rest, ".")
	n, err := strconv.Atoi(minor)
	return err == nil && (major != "0" || n >= 8)
}

// Complete reports whether all is kept that a sandbox can keep.
func (s State) Complete() bool { return s.Kind != None && len(s.gaps()) == 0 }

// State says what is on. The first call looks at the machine.
func (b *Box) State() State {
	settings := b.o.Settings()
	named := !settings.Network && len(settings.Hosts) > 0
	if settings.Off {
		return State{Off: true, Hosts: named}
	}
	b.once.Do(b.look)
	s := b.seen
	s.Hosts = named
	return s
}

// look finds out what the machine offers.
func (b *Box) look() {
	b.seen, b.exe = b.probe()
	if b.seen.Kind == None {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), scopeLimit)
	defer cancel()
	b.scope = b.tryScope(ctx)
	b.seen.Scope = b.scope != ""
}

// LogTo says where the proxy writes which hosts it refused. Call it before anything starts.
func (b *Box) LogTo(log *slog.Logger) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.log = log
}

// way is the proxy, which starts with the first command that needs it.
func (b *Box) way() *egress.Server {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.proxy == nil {
		b.proxy = egress.New(egress.Options{Log: b.log, Lookup: b.o.Lookup})
	}
	return b.proxy
}

// Close ends what commands still do with the network, and gives the Box's folder for
// temporary files back: it is removed unless another Box uses it. A command that is started
// later makes a fresh one.
func (b *Box) Close() {
	b.mu.Lock()
	proxy := b.proxy
	b.proxy = nil
	b.closeScratch()
	b.mu.Unlock()
	if proxy != nil {
		proxy.Close()
	}
}

// Engine puts the engine's process into its fence: the network is open, the
// folder of its own settings is there, and its commands run in a fence of their
// own where the machine can do that. done lets go of what the process needs; call it
// when the process has ended, or was not started. An error stands in cmd.Err, so that the
// start fails.
func (b *Box) Engine(cmd *exec.Cmd) (done func()) { return b.wrap(cmd, engine, "") }

// Command puts a command of a model, or of a skill's text, into the strictest
// fence. It is as Engine else.
func (b *Box) Command(cmd *exec.Cmd) (done func()) { return b.wrap(cmd, command, "") }

// CommandIn is Command with a folder for temporary files that is there for the next
// command too: tmp, a real path below os.TempDir, which the command finds in TMPDIR.
func (b *Box) CommandIn(tmp string, cmd *exec.Cmd) (done func()) { return b.wrap(cmd, command, tmp) }

// Git puts a git command on the data directory into a fence in which nothing but
// the repository's own folder can be written. It is as Engine else.
func (b *Box) Git(cmd *exec.Cmd) (done func()) { return b.wrap(cmd, git, "") }

// profile is what kind of process a fence is for.
type profile int

const (
	engine profile = iota
	command
	git
	server
)

func (b *Box) wrap(cmd *exec.Cmd, p profile, tmp string) (done func()) {
	if cmd.Err != nil {
		return func() {}
	}
	s := b.State()
	if s.Kind == None {
		return func() {}
	}
	v, err := b.view(p, cmd)
	release := func() {}
	if err == nil {
		release, err = b.rewrite(cmd, v, s, tmp)
	}
	if err != nil {
		cmd.Err = err
	}
	return func() {
		release()
		b.standIns.leave()
	}
}

// rewrite lets cmd start with what it sees.
func (b *Box) rewrite(cmd *exec.Cmd, v *view, s State, tmp string) (release func(), err error) {
	release = func() {}
	if tmp != "" {
		v.tmp = tmp
		v.add(mount{How: writable, From: tmp, To: tmp})
	}
	switch s.Kind {
	case Bubblewrap:
		release, err = b.bubblewrap(cmd, v, s.Inner)
	case Landlock:
		err = b.landlock(cmd, v, s.Inner)
	default:
		seatbelt(cmd, b.exe, v)
	}
	if err == nil && v.profile != git {
		b.scoped(cmd)
	}
	return release, err
}

// nowhere is the data directory of a trial: looking changes nothing, no empty files
// are made.
const nowhere = "/nonexistent"

// trial is a Box of that state, to find out whether it works.
func (b *Box) trial(exe string, s State) *Box {
	t := &Box{o: b.o, exe: exe, seen: s}
	t.o.Dir = nowhere
	t.o.Settings = func() Settings {
		s := b.o.Settings()
		s.Hosts = nil // no way out is needed to find out
		return s
	}
	t.once.Do(func() {})
	return t
}

// tryCommand runs nothing in the strictest fence.
func (b *Box) tryCommand(ctx context.Context) error {
	return try(ctx, b.Command, "/", b.find("true"))
}

// find is a program's absolute path; empty where there is none.
func (b *Box) find(name string) string {
	for _, dir := range filepath.SplitList(b.o.Search) {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && filepath.IsAbs(path) && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
			return path
		}
	}
	return ""
}

// try runs a command in a fence; the error has what it said.
func try(ctx context.Context, wrap func(*exec.Cmd) func(), dir, path string, args ...string) error {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir, cmd.Env = dir, []string{"PATH=/usr/bin:/bin"}
	procgroup.Own(cmd)
	done := wrap(cmd)
	out, err := cmd.CombinedOutput()
	done()
	if err != nil {
		return fmt.Errorf("%w: %s", err, clean.FirstLine(string(out), maxReason))
	}
	return nil
}

// What a state says.
const (
	textOn      = "sandbox: %s"
	textWeaker  = "sandbox: %s (%s)"
	textNone    = "no sandbox: %s; until then only the tool rules keep the model's commands in"
	textNoHosts = "; the hosts in sandbox_network are not enforced"
	textOff     = "no sandbox: it is switched off; /config sandbox auto switches it on"
)

// Why the fence is not better.
const (
	reasonInstall    = "install bubblewrap (apt install bubblewrap, dnf install bubblewrap)"
	reasonBroken     = "bubblewrap is there and cannot work (%s): allow unprivileged user namespaces (ollim-bot help security)"
	reasonForeign    = "the bot runs as root and its data directory belongs to somebody else: run the bot as that user, or chown -R root the directory"
	reasonSystem     = "this system has none that the bot knows"
	reasonSeatbelt   = "sandbox-exec cannot work (%s)"
	reasonOneLayer   = "one layer: a sandbox within a sandbox is refused here (%s), so commands share that of claude"
	reasonNoBash     = "one layer: there is no bash, so commands share the sandbox of claude"
	reasonSeatbelt1  = "one layer: commands share the sandbox of claude"
	reasonLandlock   = "files only: %s"
	reasonNoLandlock = "Landlock cannot work (%s)"
	reasonOld        = "before bubblewrap 0.8 commands can fill the memory with temporary files, and make namespaces"
	reasonNoLimits   = "commands have no limit of processes and temporary space, and can write settings such as .git/config in folders of the data directory"
	reasonNoRoom     = "commands have no limit of temporary space, and can write settings such as .git/config in folders of the data directory"
	reasonNoHosts    = "hosts in sandbox_network need bubblewrap: until then commands have no network at all"
	// With one layer commands have what claude has.
	reasonHostsOneLayer = "the hosts in sandbox_network do not hold commands of claude, which share its open network"
	reasonNoFilter      = "no seccomp here: commands can connect to unix sockets such as tmux, ssh-agent and docker, which may lead out"
)

// What keeps a process from being started in its fence.
const (
	errLink        = "%s is a symbolic link, which a sandbox cannot protect: put the file or folder itself there, or switch it off with /config sandbox off"
	errTooMany     = "%d closed files are in %s, and a sandbox covers %d of them: move some out, such as those in %s"
	errPlaceholder = "make the empty %s that keeps commands from making one: %w"
	errScratch     = "%s is not a folder of the bot's own: remove it"
	errSettings    = "the folder of the engine's sessions, %s, is missing: create it"
	errNoScratch   = "make a folder for commands: %w: make the temporary directory writable, or set TMPDIR to another one"
	errVisible     = "show %s to commands: %w"
)

// maxReason is how much of a reason of the system's stands in a sentence, in characters.
const maxReason = 160
