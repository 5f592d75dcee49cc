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
	"ollimbot/core/command"
)

// MomentLayout prints a moment for people.
const MomentLayout = "Mon 2006-01-02 15:04 MST"

// Messages of several commands.
const (
	textUsersOnly       = "only the user may run this command; explain to them what it is for"
	TextNoWebhookServer = "webhooks are off; set WEBHOOK_PORT and WEBHOOK_SECRET in the environment or in .env, then restart the bot"
	TextNoWords         = "missing search words"
)

// AsJSON is the flag of commands that answer either way.
type AsJSON struct {
	JSON bool `name:"json" help:"Answer as JSON."`
}

// ErrSilent ends a command with status 1 after it has printed everything itself.
var ErrSilent = errors.New("failed")

// UsageError is an error in the arguments that the parser cannot detect.
type UsageError struct {
	Text string
	Help string // the command whose help explains it; empty for the general help
}

func (e *UsageError) Error() string { return e.Text }

// Usagef makes one.
func Usagef(format string, args ...any) error {
	return &UsageError{Text: fmt.Sprintf(format, args...)}
}

// Tell prints a line to standard error, cleaned, because paths and arguments may contain
// anything. If that fails, no one is left to report it to.
func Tell(w io.Writer, format string, args ...any) {
	_, _ = fmt.Fprintln(w, command.NotePrefix+clean.Text(fmt.Sprintf(format, args...)))
}

// Answer prints a result: the value as JSON, or lines.
func (p *Process) Answer(asJSON bool, v any, lines []string) error {
	if asJSON {
		return p.JSON(v)
	}
	return p.Lines(lines...)
}

// Verdict is Answer for a command that fails if something is wrong.
func (p *Process) Verdict(wrong, asJSON bool, v any, lines []string) error {
	if err := p.Answer(asJSON, v, lines); err != nil || !wrong {
		return err
	}
	return ErrSilent
}

// Each maps a list. The result is never nil, because JSON distinguishes null from [].
func Each[T, A any](list []T, f func(T) A) []A {
	out := make([]A, 0, len(list))
	for _, item := range list {
		out = append(out, f(item))
	}
	return out
}

// OrNone returns the lines, or the given one if there are none.
func OrNone(lines []string, none string) []string {
	if len(lines) == 0 {
		return []string{none}
	}
	return lines
}

// JSON prints a value. A zero time is null.
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

// noTime matches a value that is the zero time, in any zone.
var noTime = lazyregexp.New(`": "000[01]-(12-31|01-01)T[-+:0-9]+Z?"`)

// Lines prints lines. The error is the first of all writes so far.
func (p *Process) Lines(lines ...string) error {
	p.Print("%s\n", strings.Join(lines, "\n"))
	return p.Unwritten()
}

// Print prints a part of the answer. Unwritten returns its error.
func (p *Process) Print(format string, args ...any) {
	if _, err := fmt.Fprintf(p.Out, format, args...); err != nil && p.unwritten == nil {
		p.unwritten = fmt.Errorf("write the answer: %w", err)
	}
}

// Unwritten is the first error of printing the answer.
func (p *Process) Unwritten() error { return p.unwritten }

// Secret reads a line without showing it on the screen.
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

// Line reads a line; at the end of the input it is empty.
func (p *Process) Line(in *bufio.Reader) (string, error) {
	s, err := in.ReadString('\n')
	if errors.Is(err, io.EOF) || err == nil && !p.Terminal() {
		p.Print("\n") // no enter key ended the line
		err = nil
	}
	return strings.TrimSpace(s), err
}

// Log is the log of short commands: warnings and errors as lines on standard error, so
// that the user learns of a damaged file that was moved aside.
func (p *Process) Log() *slog.Logger { return slog.New(&plainLog{out: p.Err}) }

// plainLog prints "ollim-bot: warning: message (key value, key value)". It
// serves one command at a time and has no lock.
type plainLog struct {
	out   io.Writer
	attrs []slog.Attr
}

// Enabled lets warnings and errors through.
func (l *plainLog) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

// Handle prints one record. It never fails, because no one is left to report an error to.
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

// WithGroup changes nothing: lines for people have no groups.
func (l *plainLog) WithGroup(string) slog.Handler { return l }

// Word formats a text as one word of a shell command.
func Word(text string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:@", r)
	}
	if text != "" && strings.TrimLeftFunc(text, plain) == "" {
		return text
	}
	return Quoted(text)
}

// Quoted formats a text as one word of a shell command, in quotes.
func Quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
