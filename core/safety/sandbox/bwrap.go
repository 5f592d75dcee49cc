package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"ollimbot/core/base/lazyregexp"
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
	firstFile  = 3
	nullFile   = 9 // the descriptor of /dev/null in the script of the inner fence
	filterFile = 8 // that of the filter
	// innerFilter is the filter of the inner fence.
	innerFilter = runDir + "/filter"
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
	if v.profile == engine && inner {
		script, err := b.innerShell(v)
		if err != nil {
			return done, err
		}
		fd, err := give(inMemory("bash", []byte(script)))
		if err != nil {
			return done, err
		}
		args = append(args, "--perms", "0555", "--file", fd, shell)
		if b.seen.Filter {
			fd, err := give(inMemory("filter", filter{command: true}.bytes()))
			if err != nil {
				return done, err
			}
			args = append(args, "--perms", "0444", "--file", fd, innerFilter)
		}
		v.env = config.With(v.env, shellVar, shell)
	}
	if b.seen.Filter {
		fd, err := give(inMemory("filter", filter{command: v.profile != engine}.bytes()))
		if err != nil {
			return done, err
		}
		args = append(args, "--seccomp", fd)
	}
	args = append(args, "--", cmd.Path)
	cmd.Args = slices.Concat([]string{b.exe}, args, cmd.Args[1:])
	cmd.Path, cmd.Env = b.exe, v.env
	cmd.ExtraFiles = append(cmd.ExtraFiles, files...)
	return done, nil
}

// flags are the arguments for a view. give hands a file over and says under
// which descriptor; in a script that is a fixed one.
func (b *Box) flags(v *view, give func(*os.File, error) (string, error)) ([]string, error) {
	a := []string{
		"--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
		"--die-with-parent", "--new-session", "--cap-drop", "ALL", "--hostname", "sandbox",
	}
	if !v.network {
		a = append(a, "--unshare-net")
	}
	if v.profile != engine && b.canDisableUserns() {
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
	for _, m := range v.mounts {
		switch m.how {
		case readOnly, writable:
			flag := map[how]string{readOnly: "--ro-bind", writable: "--bind"}[m.how]
			if m.optional {
				flag += "-try"
			}
			a = append(a, flag, m.from, m.to)
		case private:
			a = append(a, "--tmpfs", m.to)
		case link:
			a = append(a, "--symlink", m.from, m.to)
		case empty, copied:
			flag, from := "--ro-bind-data", os.DevNull
			if m.how == copied {
				flag, from = "--file", m.from
			}
			fd, err := give(os.Open(from))
			if err != nil {
				return nil, err
			}
			a = append(a, flag, fd, m.to)
		}
	}
	return a, nil
}

// canDisableUserns reports whether this bubblewrap, from 0.8 on, can keep what
// it runs from making user namespaces, through which bugs of kernels are reached.
func (b *Box) canDisableUserns() bool {
	major, rest, _ := strings.Cut(b.seen.Version, ".")
	minor, _, _ := strings.Cut(rest, ".")
	n, err := strconv.Atoi(minor)
	return err == nil && (major != "0" || n >= 8)
}

// innerShell is the script that takes bash's place for claude. The inner fence
// stands in the outer one, whose covers hold on in it: it adds what commands may
// not do beyond that.
func (b *Box) innerShell(outer *view) (string, error) {
	bash := b.find("bash")
	v, err := b.view(command, &exec.Cmd{Path: bash, Env: outer.env})
	if err != nil {
		return "", err
	}
	v.mounts = slices.DeleteFunc(v.mounts, func(m mount) bool {
		// The session's own /tmp is shared: what one command leaves there the next one
		// reads. What only root could read is covered outside, and so is .env.
		return m.how == private && m.to == "/tmp" || m.how == empty || slices.Contains(rootOnlyFolders, m.to)
	})
	first := slices.IndexFunc(v.mounts, func(m mount) bool { return m.how == private }) // the home directory, or all that follows
	v.mounts = slices.Insert(v.mounts, max(first, 0), mount{how: writable, from: "/tmp", to: "/tmp"})
	if dir := outer.settingsOf(); dir != "" {
		snapshots := filepath.Join(resolved(dir), shellFolder)
		v.add(mount{how: private, to: resolved(dir)})
		v.add(mount{how: writable, from: snapshots, to: snapshots, optional: true})
		v.name(dir, resolved(dir))
	}
	args, err := b.flags(v, func(*os.File, error) (string, error) { return "", errNoFiles })
	if err != nil {
		return "", err
	}
	// A group of processes is how claude ends a command: it stays in that of its shell.
	args = slices.DeleteFunc(args, func(a string) bool { return a == "--new-session" })
	if b.seen.Filter {
		args = append(args, "--seccomp", strconv.Itoa(filterFile))
	}
	s := script{bash: bash, network: v.network, bwrap: b.exe, args: args, secret: filepath.Join(v.data, envFile), filter: b.seen.Filter}
	return s.String(), nil
}

// errNoFiles cannot come: what is copied by a descriptor was left out.
var errNoFiles = errors.New("the inner sandbox copies nothing")

// script runs a shell in the inner fence.
type script struct {
	bash, bwrap string
	network     bool
	args        []string
	secret      string
	filter      bool
}

// String is the script. It clears the environment by name before bubblewrap
// starts, whose own can be read inside. The kernel takes a cover away when the
// file under it is replaced outside, as editors do, so that a secret that shows
// is covered anew.
func (s script) String() string {
	var b strings.Builder
	b.WriteString(clearing(s.bash, s.network))
	fmt.Fprintf(&b, "cover=()\n[ -s %[1]s ] && exec %[2]d</dev/null && cover=(--ro-bind-data %[2]d %[1]s)\n", quoted(s.secret), nullFile)
	if s.filter {
		fmt.Fprintf(&b, "exec %d<%s\n", filterFile, innerFilter)
	}
	b.WriteString("exec " + quoted(s.bwrap))
	for _, a := range s.args {
		b.WriteString(" " + quoted(a))
	}
	fmt.Fprintf(&b, " \"${cover[@]}\" -- %s \"$@\"\n", quoted(s.bash))
	return b.String()
}

var plainWord = lazyregexp.New(`^[A-Za-z0-9_./:=-]+$`)

// quoted is a word as a shell takes it back.
func quoted(word string) string {
	if plainWord().MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
