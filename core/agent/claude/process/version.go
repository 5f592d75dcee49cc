package process

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"ollimbot/core/base/clean"
)

// Release is a version of the command that all tests ran with, and how it differs from other
// versions.
type Release struct {
	Version string
	// Opus is the model that "opus" selects in this version.
	Opus string
	// AlwaysThinks means that thinking cannot be switched off for models with short names.
	AlwaysThinks bool
}

// releases are the versions that all tests ran with, oldest first.
var releases = []Release{
	{Version: "2.1.197", Opus: "claude-opus-4-8"},
	{Version: "2.1.240", Opus: "claude-opus-5"},
	{Version: "2.1.330", Opus: "claude-opus-5-5", AlwaysThinks: true},
	{Version: "2.1.332", Opus: "claude-opus-5-5", AlwaysThinks: true},
}

// Oldest returns the oldest version that is supported.
func Oldest() string { return releases[0].Version }

// Newest returns the newest tested version. A newer one can be used too.
func Newest() string { return releases[len(releases)-1].Version }

// Like returns the newest release that is not newer than version, which has passed CheckVersion.
func Like(version string) Release {
	like := releases[0]
	for _, r := range releases {
		if !less(version, r.Version) {
			like = r
		}
	}
	return like
}

// String describes the release in a few words.
func (r Release) String() string {
	if r.AlwaysThinks {
		return "opus is " + r.Opus + "; thinking cannot be switched off"
	}
	return "opus is " + r.Opus
}

// Untried reports whether a version is newer than all tested ones.
func Untried(version string) bool { return less(Newest(), version) }

// Patch reports whether a version differs from the newest tested one in its last number only. Such a release deserves a
// warning only if it answers in another way.
func Patch(version string) bool {
	n, err := parseVersion(version)
	newest, _ := parseVersion(Newest()) // it is one
	return err == nil && slices.Equal(n[:2], newest[:2])
}

// less compares versions; an invalid one is older than all others.
func less(a, b string) bool {
	n, errA := parseVersion(a)
	m, errB := parseVersion(b)
	return errB == nil && (errA != nil || slices.Compare(n, m) < 0)
}

// ErrTooOld is wrapped in CheckVersion's error for a version older than Oldest.
var ErrTooOld = errors.New("is too old")

const (
	versionLimit = 10 * time.Second
	versionBytes = 4096 // largest answer; the real one has 22
	productName  = " (Claude Code)"
)

// Version asks the command for its version, such as "2.1.197". It takes at most ten seconds. An
// error is one line with the cure, or ctx's.
func Version(ctx context.Context, path string, env []string) (string, error) {
	return VersionIn(ctx, path, env, nil)
}

// VersionIn is Version in a sandbox; see Spec.Wrap.
func VersionIn(ctx context.Context, path string, env []string, wrap func(*exec.Cmd) (done func())) (string, error) {
	return askVersion(ctx, Spec{Path: path, Args: []string{"--version"}, Env: env, Wrap: wrap}, versionLimit)
}

// Script reports whether the command is a script that node does not run: it may start anything, and a sandbox shows
// nothing but the script.
func Script(path string) bool {
	by := interpreter(path)
	return by != "" && !strings.Contains(by, "node")
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

// CheckVersion returns nil for a usable version, tested or not. An error is one line with the cure
// and wraps ErrTooOld for a version that is too old.
func CheckVersion(version string) error {
	if _, err := parseVersion(version); err != nil {
		return err
	}
	if less(version, Oldest()) {
		return fmt.Errorf(msgVersionOld, version, ErrTooOld, Oldest(), Newest())
	}
	return nil
}

// parseVersion returns a version as numbers to compare: its three parts, then 1, or 0 for a
// prerelease such as "2.1.0-beta.3".
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
