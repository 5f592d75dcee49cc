package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/procgroup"
	"ollimbot/core/storage/store"
)

// gitLimit is the maximum duration of a git command.
const gitLimit = 10 * time.Second

// harmless are settings that keep git from starting other programs. They override .git/config,
// which anyone may have written. None of the commands used here runs filters.
var harmless = []string{
	"core.hooksPath=/dev/null", "core.fsmonitor=false", "core.untrackedCache=false", "core.splitIndex=false",
	"core.attributesFile=/dev/null", "core.alternateRefsCommand=false", "core.gitProxy=false",
	"core.sshCommand=false", "core.askPass=false", "core.editor=false", "core.pager=cat",
	"sequence.editor=false", "diff.external=false", "commit.gpgSign=false", "gpg.program=false",
	"credential.helper=", "protocol.allow=never",
	"gc.auto=0", "maintenance.auto=false", "gc.recentObjectsHook=",
}

// repo is a repository that contains files of the data directory.
type repo struct {
	root    string // absolute
	dir     *store.Dir
	log     *slog.Logger
	sandbox func(*exec.Cmd) (done func()) // may be nil
}

func (r repo) meta(name string) string { return filepath.Join(r.root, ".git", name) }

// call is the input of a git command in addition to its arguments.
type call struct {
	index string // empty means the user's
	stdin string
	env   []string
	limit time.Duration // 0 means gitLimit
	nice  bool
}

// gitError is a failed git command.
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

// run runs git in the repository and returns its output without the last line break. Git
// asks no questions and starts no other program.
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
	cmd.WaitDelay = time.Second // a child of git may keep the pipe open
	procgroup.Own(cmd)
	if r.sandbox != nil {
		defer r.sandbox(cmd)()
	}
	err := cmd.Start()
	if err == nil && c.nice {
		_ = syscall.Setpriority(syscall.PRIO_PROCESS, cmd.Process.Pid, 10) // a failure does not matter
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

// saidNo reports whether git answered no: exit status 1 without a message.
func saidNo(err error) bool {
	var failed *gitError
	var exit *exec.ExitError
	return errors.As(err, &failed) && failed.said == "" && errors.As(err, &exit) && exit.ExitCode() == 1
}

// verb returns the first argument that is not a setting.
func verb(args []string) string {
	for len(args) > 2 && args[0] == "-c" {
		args = args[2:]
	}
	return args[0]
}

// withoutGit removes git's variables from an environment: they could select another
// repository or other settings.
func withoutGit(environ []string) []string {
	env := make([]string, 0, len(environ)+16)
	for _, e := range environ {
		if !strings.HasPrefix(e, "GIT_") {
			env = append(env, e)
		}
	}
	return env
}

// author returns the user's identity from the settings of the repository or the global
// ones, or else the bot's, because git refuses to commit without one. Reading settings
// starts no program.
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

// ask asks git for settings, outside of any repository.
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

// tip is a commit and its tree, both empty before the first commit.
type tip struct{ commit, tree string }

func (r repo) head(ctx context.Context) (tip, error) {
	out, err := r.run(ctx, call{}, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	if saidNo(err) {
		return tip{}, nil // no commit yet
	}
	if err != nil {
		return tip{}, err
	}
	tree, err := r.run(ctx, call{}, "rev-parse", "--verify", "--quiet", out+"^{tree}")
	return tip{out, tree}, err
}

const (
	// packAt is the number of loose objects that makes packing worthwhile. Each takes a block of
	// the disk; in a pack most take a few dozen bytes.
	packAt = 2000
	// packPause is the minimum time between two packs, packLimit the maximum time for one.
	packPause = time.Hour
	packLimit = 5 * time.Minute
)

// packFrugal limits the memory and processor time of packing.
var packFrugal = []string{
	"-c", "pack.threads=1", "-c", "pack.windowMemory=32m", "-c", "pack.deltaCacheSize=16m",
	"-c", "core.packedGitLimit=64m", "-c", "repack.writeBitmaps=false",
}

// pack moves loose objects into a pack. It never drops any. Packs are merged geometrically, so that
// a year of commits is rewritten a few times rather than once a day.
func (r repo) pack(ctx context.Context) error {
	c := call{limit: packLimit, nice: true}
	_, err := r.run(ctx, c, append(packFrugal, "repack", "--geometric=2", "-d", "-q")...)
	if err != nil { // git before 2.32 cannot merge packs
		_, err = r.run(ctx, c, append(packFrugal, "repack", "-d", "-q")...)
	}
	return err
}

// loose estimates the number of loose objects from a sixteenth of them.
func (r repo) loose() int {
	n := 0
	for i := range 16 {
		entries, _ := os.ReadDir(r.meta(fmt.Sprintf("objects/%02x", i))) // a missing folder has none
		n += len(entries)
	}
	return 16 * n
}
