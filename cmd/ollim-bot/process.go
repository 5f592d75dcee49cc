package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	"github.com/charmbracelet/x/term"

	"ollimbot/core"
	"ollimbot/core/agent/choice"
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
	// live is the bot that runs, of a command that the user's shell has handed to it;
	// nil for all others.
	live *live
}

// live is the running bot, and where it is.
type live struct {
	bot *core.Bot
	at  dataDir
}

// served is a command that the agent has asked the running bot for; nil for one
// that the user has called.
type served struct {
	by *policy.Session // who asks
	at dataDir         // the bot's own
}

// errSilent ends a command with status 1 after it has said everything itself.
var errSilent = errors.New("failed")

// usageError is a mistake in the arguments that the parser cannot see.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...)}
}

// dataDir is where the commands work: the environment and its data directory.
type dataDir struct {
	env config.Env
	dir *store.Dir
	now time.Time // in the configured zone, taken once
}

// open reads the environment. It touches nothing in the data directory;
// warnings go to standard error.
func (p *process) open() (dataDir, error) {
	if s := p.served; s != nil {
		at := s.at
		at.now = p.now().In(at.env.Zone)
		return at, nil
	}
	if l := p.live; l != nil {
		at := l.at
		at.now = p.now().In(at.env.Zone)
		return at, nil
	}
	env, warnings, err := config.LoadEnv(p.getenv, config.Flags{DataDir: p.flags.DataDir, Timezone: p.flags.Timezone})
	if err != nil {
		return dataDir{}, err
	}
	for _, secret := range env.Secrets(p.environ()) {
		p.secrets.Hide(secret)
	}
	for _, w := range warnings {
		tell(p.err, "warning: %s", w)
	}
	dir, err := store.At(env.DataDir)
	if err != nil {
		return dataDir{}, err
	}
	return dataDir{env: env, dir: dir, now: p.now().In(env.Zone)}, nil
}

// bot makes a bot that is looked at and never run.
func (p *process) bot(at dataDir) (*core.Bot, error) {
	if p.live != nil {
		return p.live.bot, nil
	}
	return core.New(core.Options{
		Dir: at.dir, Env: at.env, Log: p.log(),
		Engine: script.New(script.Options{}), EngineName: choice.Script,
	})
}

// moment reads the value of --at and --from: RFC 3339, the same without an
// offset (then in the configured zone), or a time of today. Empty means now.
func (at dataDir) moment(flag, value string) (time.Time, error) {
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

// answer writes what a command has found: the value as JSON, or lines.
func (p *process) answer(asJSON bool, v any, lines []string) error {
	if asJSON {
		return p.json(v)
	}
	return p.lines(lines...)
}

// verdict is answer for a command that fails where something is wrong.
func (p *process) verdict(wrong, asJSON bool, v any, lines []string) error {
	if err := p.answer(asJSON, v, lines); err != nil || !wrong {
		return err
	}
	return errSilent
}

// each makes something of every item; never nil, which JSON would tell from none.
func each[T, A any](list []T, f func(T) A) []A {
	out := make([]A, 0, len(list))
	for _, item := range list {
		out = append(out, f(item))
	}
	return out
}

// orNone says that there are no lines.
func orNone(lines []string, none string) []string {
	if len(lines) == 0 {
		return []string{none}
	}
	return lines
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

// context ends when the user or the system wants the program to end. A lost
// terminal (SIGHUP) and SIGQUIT are treated alike, so that everything is put
// away: the runtime's own answer to SIGQUIT would leave the terminal raw.
func (p *process) context() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
}

// headlessContext is context for a bot without a terminal that could be lost: SIGHUP
// has it read its settings again (tend), and SIGQUIT ends it in order as well.
func (p *process) headlessContext() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT)
}

// isTerminal reports whether a file is a terminal.
func isTerminal(f *os.File) bool { return term.IsTerminal(f.Fd()) }

// log is the log of short commands: warnings and errors as lines for people on
// standard error, so that a file that was set aside is not set aside in silence.
func (p *process) log() *slog.Logger { return slog.New(&plainLog{out: p.err}) }

// plainLog prints "ollim-bot: warning: message (key value, key value)". It
// serves one command at a time and has no lock.
type plainLog struct {
	out   io.Writer
	attrs []slog.Attr
}

// Enabled lets warnings and errors through.
func (l *plainLog) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

// Handle prints one record. It never fails: nobody would be left to tell.
func (l *plainLog) Handle(_ context.Context, r slog.Record) error {
	var facts []string
	add := func(a slog.Attr) bool {
		facts = append(facts, strings.ReplaceAll(a.Key, "_", " ")+" "+a.Value.Resolve().String())
		return true
	}
	for _, a := range l.attrs {
		add(a)
	}
	r.Attrs(add)
	text := r.Message
	if len(facts) > 0 {
		text += " (" + strings.Join(facts, ", ") + ")"
	}
	level := "warning"
	if r.Level >= slog.LevelError {
		level = "error"
	}
	tell(l.out, "%s: %s", level, strings.ReplaceAll(text, "\n", " "))
	return nil
}

// WithAttrs adds facts to every line.
func (l *plainLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &plainLog{out: l.out, attrs: append(append([]slog.Attr{}, l.attrs...), attrs...)}
}

// WithGroup is of no use to people and changes nothing.
func (l *plainLog) WithGroup(string) slog.Handler { return l }

// shellWord is a text as one word of a shell's command line.
func shellWord(text string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:@", r)
	}
	if text != "" && strings.TrimLeftFunc(text, plain) == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
