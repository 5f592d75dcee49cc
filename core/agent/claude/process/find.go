package process

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"ollimbot/core/base/clean"
	"ollimbot/core/storage/store"
)

// Release is a version of the command that all tests ran with, and what is other
// there than in the rest.
type Release struct {
	Version string
	// Opus is the model that "opus" means there.
	Opus string
	// AlwaysThinks says that the models it calls by their short names cannot be
	// kept from thinking.
	AlwaysThinks bool
	// AgentGoesOn says that a subagent would outlive its call, were tasks in the
	// background not switched off.
	AgentGoesOn bool
}

// releases are the versions that all tests ran with, oldest first.
var releases = []Release{
	{Version: "2.1.197", Opus: "claude-opus-4-8"},
	{Version: "2.1.240", Opus: "claude-opus-5", AgentGoesOn: true},
	{Version: "2.1.330", Opus: "claude-opus-5-5", AlwaysThinks: true, AgentGoesOn: true},
}

// Oldest is the oldest version that is used, Newest the newest that was tried:
// one that is newer is used all the same.
func Oldest() string { return releases[0].Version }

// Newest is the newest version that was tried.
func Newest() string { return releases[len(releases)-1].Version }

// Like is the newest release that is not newer than a version: what is known of it.
// The version has passed CheckVersion.
func Like(version string) Release {
	like := releases[0]
	for _, r := range releases {
		if !less(version, r.Version) {
			like = r
		}
	}
	return like
}

// Untried reports whether a version is newer than all that were tried.
func Untried(version string) bool { return less(Newest(), version) }

// less compares versions; what is none is older than all.
func less(a, b string) bool {
	n, errA := parseVersion(a)
	m, errB := parseVersion(b)
	return errB == nil && (errA != nil || slices.Compare(n, m) < 0)
}

// String is the version in a few words for people.
func (r Release) String() string {
	if r.AlwaysThinks {
		return "opus is " + r.Opus + "; thinking cannot be switched off"
	}
	return "opus is " + r.Opus
}

// ErrTooOld is in the error of CheckVersion for a version older than Oldest.
var ErrTooOld = errors.New("is too old")

const (
	versionLimit = 10 * time.Second
	versionBytes = 4096 // of an answer; the real one has 22
	productName  = " (Claude Code)"
)

// Version asks the command for its version, "2.1.197". It takes at most ten
// seconds; an error is one line with the cure, or that of ctx.
func Version(ctx context.Context, path string, env []string) (string, error) {
	return askVersion(ctx, Spec{Path: path, Args: []string{"--version"}, Env: env}, versionLimit)
}

func askVersion(ctx context.Context, s Spec, limit time.Duration) (string, error) {
	name := clean.Line(s.Path)
	answer, err := Run(ctx, s, limit, versionBytes)
	switch {
	case ctx.Err() != nil:
		return "", fmt.Errorf("ask for the version of claude: %w", ctx.Err())
	case errors.Is(err, ErrSlow):
		return "", fmt.Errorf(msgVersionSlow, name, limit)
	case err != nil:
		return "", err
	}
	v, err := parseAnswer(name, string(answer.Stdout))
	if err != nil && answer.Err != nil && len(answer.Stdout) < versionBytes {
		return "", fmt.Errorf(msgVersionFailed, name, answer.Err)
	}
	return v, err
}

// parseAnswer reads "2.1.197 (Claude Code)".
func parseAnswer(name, answer string) (string, error) {
	line := clean.Line(answer)
	if line == "" {
		return "", fmt.Errorf(msgVersionSilent, name)
	}
	if v, ok := strings.CutSuffix(line, productName); ok {
		if _, err := parseVersion(v); err == nil {
			return v, nil
		}
	}
	return "", fmt.Errorf(msgVersionOther, name, clean.Cut(line, 80))
}

// CheckVersion is nil for a version that can be used, tried or not. Errors are
// one line with the cure; ErrTooOld is in that of an old one.
func CheckVersion(version string) error {
	if _, err := parseVersion(version); err != nil {
		return err
	}
	if less(version, Oldest()) {
		return fmt.Errorf(msgVersionOld, version, ErrTooOld, Oldest(), Newest())
	}
	return nil
}

// parseVersion is a version as it is compared: its three numbers, and behind them 0
// for one that came before the version of these: "2.1.0-beta.3".
func parseVersion(s string) ([]int, error) {
	fail := fmt.Errorf(msgVersionWord, clean.Cut(clean.Line(s), 80))
	core, _, _ := strings.Cut(s, "+")
	core, early, isEarly := strings.Cut(core, "-")
	words := strings.Split(core, ".")
	if len(words) != 3 || isEarly && early == "" || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, fail
	}
	var n []int
	for _, w := range words {
		part, err := strconv.ParseUint(w, 10, 31)
		if err != nil {
			return nil, fail
		}
		n = append(n, int(part))
	}
	if isEarly {
		return append(n, 0), nil
	}
	return append(n, 1), nil
}

// command is the name of the program on PATH.
const command = "claude"

// NotFoundError says that there is no claude command.
type NotFoundError struct {
	Path string // where it should have been; empty when PATH was searched
}

// Error says how to get it.
func (e *NotFoundError) Error() string {
	if e.Path == "" {
		return msgNotFound
	}
	return fmt.Sprintf(msgNotThere, clean.Line(e.Path))
}

// Find is the absolute path of the claude command: what OLLIM_CLAUDE names,
// else the first executable "claude" on PATH. A name in OLLIM_CLAUDE may begin
// with "~/". Errors are a *NotFoundError or one line about the file that was
// found instead.
func Find(getenv func(string) string) (string, error) {
	if path := strings.TrimSpace(getenv("OLLIM_CLAUDE")); path != "" {
		return named(path, getenv("HOME"))
	}
	refused := error(nil)
	for _, dir := range filepath.SplitList(getenv("PATH")) {
		if !filepath.IsAbs(dir) {
			continue // the folder where we stand is the assistant's to write
		}
		path := filepath.Join(dir, command)
		err := runnable(path)
		if err == nil {
			return path, nil
		}
		// A file that is no program is worth a word only if nothing better comes.
		if missing := (*NotFoundError)(nil); refused == nil && !errors.As(err, &missing) {
			refused = err
		}
	}
	if refused != nil {
		return "", refused
	}
	return "", &NotFoundError{}
}

// named is the path that the user gave.
func named(path, home string) (string, error) {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && home != "" {
		path = filepath.Join(home, rest)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("find the folder of %s: %w", clean.Line(path), err)
	}
	return path, runnable(path)
}

// ExitError says that a process ended otherwise than with exit code 0.
type ExitError struct {
	Code   int            // the exit code; -1 when a signal ended it
	Signal syscall.Signal // the signal that ended it; 0 when none did
	Stderr string         // what it said last; see Process.StderrTail
}

// Error is one sentence for people.
func (e *ExitError) Error() string {
	s := fmt.Sprintf(msgExit, e.Code)
	if e.Signal != 0 {
		name := unix.SignalName(e.Signal)
		if name == "" {
			name = e.Signal.String()
		}
		s = fmt.Sprintf(msgKilled, name)
	}
	if e.Stderr != "" {
		s += ": " + e.Stderr
	}
	return s
}

// check finds what is wrong before the system is asked: its own answer is the
// same for a missing folder as for a missing program.
func (s Spec) check() error {
	if s.Dir != "" {
		info, err := os.Stat(s.Dir)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf(msgNoFolder, clean.Line(s.Dir))
		case err != nil:
			return fmt.Errorf(msgFolder, clean.Line(s.Dir), store.Bare(err))
		case !info.IsDir():
			return fmt.Errorf(msgNotFolder, clean.Line(s.Dir))
		}
	}
	return runnable(s.Path)
}

// runnable says in words why a file cannot be a program.
func runnable(path string) error {
	name := clean.Line(path)
	info, err := os.Stat(path)
	switch {
	case path == "" || errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return &NotFoundError{Path: path}
	case err != nil:
		return fmt.Errorf(msgUnreadable, name, store.Bare(err))
	case info.IsDir():
		return fmt.Errorf(msgFolderNotFile, name)
	case !info.Mode().IsRegular():
		return fmt.Errorf(msgNoFile, name)
	case info.Mode().Perm()&0o111 == 0 || unix.Access(path, unix.X_OK) != nil:
		return fmt.Errorf(msgNotExecutable, name, name)
	}
	return nil
}

// explain puts the system's refusal to start a program into words. The
// arguments and the environment are not shown: they may hold anything.
func (s Spec) explain(err error) error {
	name := clean.Line(s.Path)
	switch {
	case errors.Is(err, syscall.ENOENT):
		if by := interpreter(s.Path); by != "" {
			return fmt.Errorf(msgNoInterpreter, name, by)
		}
		return fmt.Errorf(msgNoLoader, name)
	case errors.Is(err, syscall.ENOEXEC):
		return fmt.Errorf(msgFormat, name)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf(msgDenied, name)
	case errors.Is(err, syscall.ETXTBSY):
		return fmt.Errorf(msgBusy, name)
	case errors.Is(err, syscall.E2BIG):
		return fmt.Errorf(msgTooLong, name)
	case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.ENOMEM):
		return fmt.Errorf(msgNoRoom, name, store.Bare(err))
	}
	return fmt.Errorf(msgStart, name, store.Bare(err))
}

// interpreter is what the first line of a script asks for; empty for what is
// no script.
func interpreter(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	line, _ := bufio.NewReader(io.LimitReader(f, 256)).ReadString('\n')
	by, ok := strings.CutPrefix(line, "#!")
	if !ok {
		return ""
	}
	return clean.Line(by)
}
