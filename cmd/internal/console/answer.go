package console

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/charmbracelet/x/term"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/lazyregexp"
)

// MomentLayout prints a moment for people.
const MomentLayout = "Mon 2006-01-02 15:04 MST"

// Words that several commands say.
const (
	textUsersOnly       = "only the user may run this command; explain to them what it is for"
	TextNoWebhookServer = "webhooks are off; set WEBHOOK_PORT and WEBHOOK_SECRET in the environment or in .env, then restart the bot"
	TextNoWords         = "missing search words"

	textBadMoment = "%s %q is not a time: write it as %s, as 2006-01-02T15:04, as 15:04 for today, or as \"tomorrow 9:00\""
)

// AsJSON is the flag of commands that answer either way.
type AsJSON struct {
	JSON bool `name:"json" help:"Answer as JSON."`
}

// ErrSilent ends a command with status 1 after it has said everything itself.
var ErrSilent = errors.New("failed")

// UsageError is a mistake in the arguments that the parser cannot see.
type UsageError struct {
	Text string
	Help string // the command whose help says more; empty for all of them
}

func (e *UsageError) Error() string { return e.Text }

// Usagef makes one.
func Usagef(format string, args ...any) error {
	return &UsageError{Text: fmt.Sprintf(format, args...)}
}

// Tell writes a line on standard error, cleaned: paths and arguments may hold
// anything. Where even that fails, nobody is left
// to be told.
func Tell(w io.Writer, format string, args ...any) {
	_, _ = fmt.Fprintln(w, "ollim-bot: "+clean.Text(fmt.Sprintf(format, args...)))
}

// Answer writes what a command has found: the value as JSON, or lines.
func (p *Process) Answer(asJSON bool, v any, lines []string) error {
	if asJSON {
		return p.JSON(v)
	}
	return p.Lines(lines...)
}

// Verdict is Answer for a command that fails where something is wrong.
func (p *Process) Verdict(wrong, asJSON bool, v any, lines []string) error {
	if err := p.Answer(asJSON, v, lines); err != nil || !wrong {
		return err
	}
	return ErrSilent
}

// Each makes something of every item; never nil, which JSON would tell from none.
func Each[T, A any](list []T, f func(T) A) []A {
	out := make([]A, 0, len(list))
	for _, item := range list {
		out = append(out, f(item))
	}
	return out
}

// OrNone says that there are no lines.
func OrNone(lines []string, none string) []string {
	if len(lines) == 0 {
		return []string{none}
	}
	return lines
}

// JSON writes a value as the command's answer. A time that does not exist is null.
func (p *Process) JSON(v any) error {
	var text strings.Builder
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	return p.Lines(noTime().ReplaceAllString(strings.TrimSuffix(text.String(), "\n"), `": null`))
}

// noTime is a key's value that is the zero time, in whatever zone.
var noTime = lazyregexp.Lazily(`": "000[01]-(12-31|01-01)T[-+:0-9]+Z?"`)

// Lines writes lines as the command's answer. The error is the first of all that
// were written.
func (p *Process) Lines(lines ...string) error {
	p.Print("%s\n", strings.Join(lines, "\n"))
	return p.Unwritten()
}

// Print writes a part of the command's answer. Unwritten knows whether that has failed.
func (p *Process) Print(format string, args ...any) {
	if _, err := fmt.Fprintf(p.Out, format, args...); err != nil && p.unwritten == nil {
		p.unwritten = fmt.Errorf("write the answer: %w", err)
	}
}

// Unwritten is why an answer is not whole; nil where it is.
func (p *Process) Unwritten() error { return p.unwritten }

// Secret reads a line that must not stand on the screen.
func (p *Process) Secret(in *bufio.Reader) (string, error) {
	f, ok := p.In.(*os.File)
	if !ok || !p.Terminal() {
		return p.Line(in)
	}
	data, err := term.ReadPassword(f.Fd())
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read from the terminal: %w", err)
	}
	p.Print("\n")
	return strings.TrimSpace(string(data)), nil
}

// Line reads a line; the end of the input is the answer that nothing is.
func (p *Process) Line(in *bufio.Reader) (string, error) {
	s, err := in.ReadString('\n')
	if errors.Is(err, io.EOF) || err == nil && !p.Terminal() {
		p.Print("\n") // nobody has pressed enter
		err = nil
	}
	return strings.TrimSpace(s), err
}

// Log is the log of short commands: warnings and errors as lines for people on
// standard error, so that a file that was set aside is not set aside in silence.
func (p *Process) Log() *slog.Logger { return slog.New(&plainLog{out: p.Err}) }

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
	r = r.Clone()
	r.AddAttrs(l.attrs...)
	r.Attrs(func(a slog.Attr) bool {
		facts = append(facts, strings.ReplaceAll(a.Key, "_", " ")+" "+a.Value.Resolve().String())
		return true
	})
	text := r.Message
	if len(facts) > 0 {
		text += " (" + strings.Join(facts, ", ") + ")"
	}
	level := "warning"
	if r.Level >= slog.LevelError {
		level = "error"
	}
	Tell(l.out, "%s: %s", level, strings.ReplaceAll(text, "\n", " "))
	return nil
}

// WithAttrs adds facts to every line.
func (l *plainLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &plainLog{out: l.out, attrs: append(append([]slog.Attr{}, l.attrs...), attrs...)}
}

// WithGroup is of no use to people and changes nothing.
func (l *plainLog) WithGroup(string) slog.Handler { return l }

// Word is a text as one word of a shell's command line.
func Word(text string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:@", r)
	}
	if text != "" && strings.TrimLeftFunc(text, plain) == "" {
		return text
	}
	return Quoted(text)
}

// Quoted is a text as one word of a shell's command line, in quotes.
func Quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
