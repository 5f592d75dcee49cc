package main

import (
	"context"
	"io"
	"log/slog"
	"strings"
)

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
