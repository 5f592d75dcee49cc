package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"ollimbot/core/clean"
)

// TriedVersion is the version of the command that everything here was tried
// with.
const TriedVersion = "2.1.197"

// OldestVersion is the oldest one that speaks as we need it.
const OldestVersion = "2.1.0"

// ErrTooOld is in the error of CheckVersion for a version that is older than
// OldestVersion.
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
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	p, err := Start(s)
	if err != nil {
		return "", err
	}
	_ = p.Stdin().Close()
	// The kill, and the collecting after it, end the reading too.
	stop := context.AfterFunc(within, func() { _ = p.Signal(os.Kill) })
	defer stop()
	answer, readErr := io.ReadAll(io.LimitReader(p.Stdout(), versionBytes))
	if len(answer) < versionBytes {
		waitFor(p.Done(), within.Done(), limit)
	}
	late := within.Err() != nil
	cancel()
	if err := p.Stop(within, 0); err != nil {
		return "", err
	}
	name := clean.Line(s.Path)
	switch {
	case ctx.Err() != nil:
		return "", fmt.Errorf("ask for the version of claude: %w", ctx.Err())
	case late:
		return "", fmt.Errorf(msgVersionSlow, name, limit)
	case readErr != nil:
		return "", fmt.Errorf(msgVersionFailed, name, readErr)
	}
	v, parseErr := parseAnswer(name, string(answer))
	if err := p.Err(); err != nil && parseErr != nil && len(answer) < versionBytes {
		return "", fmt.Errorf(msgVersionFailed, name, err)
	}
	return v, parseErr
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

// Tried reports whether this is the version that everything was tried with.
func Tried(version string) bool { return version == TriedVersion }

// CheckVersion is nil for a version that can be used, tried or not. Errors are
// one line with the cure; ErrTooOld is in that of an old one.
func CheckVersion(version string) error {
	v, err := parseVersion(version)
	if err != nil {
		return err
	}
	oldest, err := parseVersion(OldestVersion)
	if err != nil {
		return err
	}
	if v.before(oldest) {
		return fmt.Errorf(msgVersionOld, version, ErrTooOld, OldestVersion)
	}
	return nil
}

// number is a version as it is compared.
type number struct {
	parts [3]int
	early bool // it came before the version of these parts: "2.1.0-beta.3"
}

func (n number) before(o number) bool {
	for i, p := range n.parts {
		if p != o.parts[i] {
			return p < o.parts[i]
		}
	}
	return n.early && !o.early
}

func parseVersion(s string) (number, error) {
	fail := fmt.Errorf(msgVersionWord, clean.Cut(clean.Line(s), 80))
	core, _, _ := strings.Cut(s, "+")
	core, early, isEarly := strings.Cut(core, "-")
	words := strings.Split(core, ".")
	if len(words) != 3 || isEarly && early == "" || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return number{}, fail
	}
	n := number{early: isEarly}
	for i, w := range words {
		part, err := strconv.ParseUint(w, 10, 31)
		if err != nil {
			return number{}, fail
		}
		n.parts[i] = int(part)
	}
	return n, nil
}
