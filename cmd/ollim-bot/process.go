package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"ollimbot/core"
	"ollimbot/core/agent/script"
	"ollimbot/core/config"
	"ollimbot/core/logs"
	"ollimbot/core/policy"
	"ollimbot/core/store"
	"ollimbot/routines"
	"ollimbot/routines/cron"
)

// process is what a command may use of the world around it. Commands take it
// as an argument, so that nothing here is global.
type process struct {
	in       io.Reader
	out, err io.Writer
	getenv   func(string) string
	environ  func() []string
	now      func() time.Time

	flags  globals
	parser *kong.Kong
	helped bool // --help has printed
	// secrets of the environment appear in no error.
	secrets logs.Secrets
	served  *served
}

// served is a command that the agent has asked the running bot for; nil for one
// that the user has called.
type served struct {
	by *policy.Session // who asks
	at place           // the bot's own
}

// errSilent ends a command with status 1 after it has said everything itself.
var errSilent = errors.New("failed")

// usageError is a mistake in the arguments that the parser cannot see.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...)}
}

// place is where the commands work: the environment and its data directory.
type place struct {
	env config.Env
	dir *store.Dir
	now time.Time // in the configured zone, taken once
}

// open reads the environment. It touches nothing in the data directory;
// warnings go to standard error.
func (p *process) open() (place, error) {
	if s := p.served; s != nil {
		at := s.at
		at.now = p.now().In(at.env.Zone)
		return at, nil
	}
	env, warnings, err := config.LoadEnv(p.getenv, config.Flags{DataDir: p.flags.DataDir, Timezone: p.flags.Timezone})
	if err != nil {
		return place{}, err
	}
	for _, secret := range env.Secrets(p.environ()) {
		p.secrets.Hide(secret)
	}
	for _, w := range warnings {
		tell(p.err, "warning: %s", w)
	}
	dir, err := store.At(env.DataDir)
	if err != nil {
		return place{}, err
	}
	return place{env: env, dir: dir, now: p.now().In(env.Zone)}, nil
}

// bot makes a bot that is looked at and never run.
func (p *process) bot(at place) (*core.Bot, error) {
	return core.New(core.Options{
		Dir: at.dir, Env: at.env, Log: p.log(),
		Engine: script.New(script.Options{}), EngineName: engineScript,
	})
}

// moment reads the value of --at and --from: RFC 3339, the same without an
// offset (then in the configured zone), or a time of today. Empty means now.
func (at place) moment(flag, value string) (time.Time, error) {
	if value == "" {
		return at.now, nil
	}
	if t, err := routines.ParseTime(value, at.env.Zone); err == nil {
		return t, nil
	}
	if t, err := time.Parse("15:04", value); err == nil {
		return cron.Wall(at.now, 0, t.Hour(), t.Minute(), at.env.Zone), nil
	}
	return time.Time{}, usagef(textBadMoment, flag, value, at.now.Format(time.RFC3339))
}

// json writes a value as the command's answer.
func (p *process) json(v any) error {
	enc := json.NewEncoder(p.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	return nil
}

// lines writes lines as the command's answer.
func (p *process) lines(lines ...string) error {
	if _, err := io.WriteString(p.out, strings.Join(lines, "\n")+"\n"); err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	return nil
}

// printf writes a part of the command's answer.
func (p *process) printf(format string, args ...any) error {
	if _, err := fmt.Fprintf(p.out, format, args...); err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	return nil
}

// terminal reports whether both ends of the process are a terminal.
func (p *process) terminal() bool {
	for _, end := range []any{p.in, p.out} {
		f, ok := end.(*os.File)
		if !ok || !isTerminal(f) {
			return false
		}
	}
	return true
}
