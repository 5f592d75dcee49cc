package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"ollimbot/core/base/clean"
)

// gitLimit is the longest that one git command may take.
const gitLimit = 10 * time.Second

// harmless are the settings under which git runs nothing but itself: whatever
// .git/config says, which somebody else may have written, these stand above it.
// Filters need no line, since no command of ours runs them.
var harmless = []string{
	"core.hooksPath=/dev/null", "core.fsmonitor=false", "core.untrackedCache=false", "core.splitIndex=false",
	"core.attributesFile=/dev/null", "core.alternateRefsCommand=false", "core.gitProxy=false",
	"core.sshCommand=false", "core.askPass=false", "core.editor=false", "core.pager=cat",
	"sequence.editor=false", "diff.external=false", "commit.gpgSign=false", "gpg.program=false",
	"credential.helper=", "protocol.allow=never",
	"gc.auto=0", "maintenance.auto=false", "gc.recentObjectsHook=",
}

// call is what a git command needs beside its arguments.
type call struct {
	index string // of the user where empty
	stdin string
	env   []string
	limit time.Duration // gitLimit where zero
	nice  bool
}

// gitError is a git that ran and failed.
type gitError struct {
	verb, said string
	err        error
}

func (e *gitError) Error() string {
	if e.said == "" {
		return fmt.Sprintf("git %s: %v", e.verb, e.err)
	}
	return fmt.Sprintf("git %s: %v: %s", e.verb, e.err, e.said)
}

func (e *gitError) Unwrap() error { return e.err }

// run runs git in the repository and returns what it printed, without the last
// line break. It asks no question and runs no other program.
func (r repo) run(ctx context.Context, c call, args ...string) (string, error) {
	if c.limit == 0 {
		c.limit = gitLimit
	}
	ctx, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()
	all := []string{"--no-pager"}
	for _, setting := range harmless {
		all = append(all, "-c", setting)
	}
	cmd := exec.CommandContext(ctx, "git", append(all, args...)...)
	cmd.Dir = r.root
	cmd.Env = append(withoutGit(os.Environ()),
		"GIT_DIR="+r.meta(""), "GIT_WORK_TREE="+r.root, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_ATTR_NOSYSTEM=1", "GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1", "GIT_NO_REPLACE_OBJECTS=1",
		"GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_EDITOR=false", "GIT_ASKPASS=false",
		"SSH_ASKPASS=false", "LC_ALL=C")
	cmd.Env = append(cmd.Env, c.env...)
	if c.index != "" {
		cmd.Env = append(cmd.Env, "GIT_INDEX_FILE="+c.index)
	}
	cmd.Stdin = strings.NewReader(c.stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.WaitDelay = time.Second // a child of git's may keep the pipe open
	OwnGroup(cmd)
	if r.git.Sandbox != nil {
		defer r.git.Sandbox(cmd)()
	}
	err := cmd.Start()
	if err == nil && c.nice {
		_ = syscall.Setpriority(syscall.PRIO_PROCESS, cmd.Process.Pid, 10) // it only takes longer otherwise
	}
	if err == nil {
		err = cmd.Wait()
	}
	if err != nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		return "", &gitError{verb: verb(args), said: clean.Cut(clean.Line(errs.String()), 300), err: err}
	}
	return strings.TrimSuffix(out.String(), "\n"), nil
}

// saidNo reports whether git answered no, which is exit status 1 without a word.
func saidNo(err error) bool {
	var failed *gitError
	var exit *exec.ExitError
	return errors.As(err, &failed) && failed.said == "" && errors.As(err, &exit) && exit.ExitCode() == 1
}

// verb is the first argument that is no setting.
func verb(args []string) string {
	for len(args) > 2 && args[0] == "-c" {
		args = args[2:]
	}
	return args[0]
}

// withoutGit is an environment without git's own variables: they would point it
// at another repository, or at other settings.
func withoutGit(environ []string) []string {
	env := make([]string, 0, len(environ)+16)
	for _, e := range environ {
		if !strings.HasPrefix(e, "GIT_") {
			env = append(env, e)
		}
	}
	return env
}

// author names whoever the user has told git to name, in the repository or for
// all of them, and the bot where that is nobody: without a name nothing would be
// recorded on a fresh machine. Reading settings runs nothing.
func (r repo) author(ctx context.Context) []string {
	name, mail := "ollim-bot", "ollim-bot@localhost"
	if ident, err := ask(ctx, "var", "GIT_AUTHOR_IDENT"); err == nil {
		if n, rest, ok := strings.Cut(ident, " <"); ok {
			name = n
			mail, _, _ = strings.Cut(rest, ">")
		}
	}
	config := filepath.Join(r.meta("config"))
	for key, value := range map[string]*string{"user.name": &name, "user.email": &mail} {
		env := map[string]string{"user.name": "GIT_AUTHOR_NAME", "user.email": "GIT_AUTHOR_EMAIL"}[key]
		if os.Getenv(env) != "" {
			continue
		}
		if own, err := ask(ctx, "config", "--file", config, "--no-includes", "--get", key); err == nil && own != "" {
			*value = own
		}
	}
	return []string{
		"GIT_AUTHOR_NAME=" + name, "GIT_AUTHOR_EMAIL=" + mail,
		"GIT_COMMITTER_NAME=" + name, "GIT_COMMITTER_EMAIL=" + mail,
	}
}

// ask asks git about settings, outside of any repository.
func ask(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, gitLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", append([]string{"--no-pager"}, args...)...)
	cmd.Dir = string(filepath.Separator)
	for _, e := range os.Environ() {
		name, _, _ := strings.Cut(e, "=")
		switch {
		case !strings.HasPrefix(name, "GIT_"), strings.HasPrefix(name, "GIT_CONFIG"), strings.HasPrefix(name, "GIT_AUTHOR_"):
			cmd.Env = append(cmd.Env, e)
		}
	}
	cmd.Env = append(cmd.Env, "GIT_CEILING_DIRECTORIES=/", "LC_ALL=C")
	out, err := cmd.Output()
	return strings.TrimSuffix(string(out), "\n"), err
}

const (
	// packAt is how many loose objects are worth a pack. Each takes a block of
	// the disk; in a pack most of them are a few dozen bytes.
	packAt = 2000
	// packPause is the least time between two packs, packLimit the longest one.
	packPause = time.Hour
	packLimit = 5 * time.Minute
)

// packFrugal keeps packing small beside everything else that runs.
var packFrugal = []string{
	"-c", "pack.threads=1", "-c", "pack.windowMemory=32m", "-c", "pack.deltaCacheSize=16m",
	"-c", "core.packedGitLimit=64m", "-c", "repack.writeBitmaps=false",
}

// maybePack packs when it pays. Nothing is ever dropped: packs are only merged,
// each at most doubling, so that a year of commits is written a few times over
// and not once a day.
func (g *Git) maybePack(ctx context.Context, r repo) {
	if time.Since(g.packed) < packPause || r.loose() < g.packAt {
		return
	}
	g.packed = time.Now()
	if err := r.pack(ctx); err != nil {
		g.warn("pack", "could not pack the history; continuing", err)
	}
}

func (r repo) pack(ctx context.Context) error {
	c := call{limit: packLimit, nice: true}
	_, err := r.run(ctx, c, append(packFrugal, "repack", "--geometric=2", "-d", "-q")...)
	if err != nil { // a git before 2.32 does not merge packs
		_, err = r.run(ctx, c, append(packFrugal, "repack", "-d", "-q")...)
	}
	return err
}

// loose estimates the number of loose objects from a sixteenth of them.
func (r repo) loose() int {
	n := 0
	for i := range 16 {
		entries, _ := os.ReadDir(r.meta(fmt.Sprintf("objects/%02x", i))) // not there: none
		n += len(entries)
	}
	return 16 * n
}

// OwnGroup gives a command a process group, so that its children end with it when its
// context does, and a session, so that none of them can reach the dashboard's
// terminal. A bubblewrap that is killed while it starts leaves its child waiting
// for good; the group takes that along.
func OwnGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error {
		err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		if errors.Is(err, syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return err
	}
}

// KillGroup ends what a command has left behind.
func KillGroup(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what is gone needs no end
}
