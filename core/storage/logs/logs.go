// Package logs is the bot's log: a slog handler that writes to a ring for the dashboard, to a
// rotating file in the data directory, and without a dashboard to standard output. It redacts
// secrets in all three. It must not know what the lines mean, nor who reads them.
package logs

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/fault"
	"ollimbot/core/base/tail"
	"ollimbot/core/storage/store"
)

const (
	ringLines = 5000    // kept in memory
	fileLimit = 1 << 20 // bytes of bot.log before it becomes bot.log.1
	lineLimit = 4000    // runes per line; the rest is cut
)

// File is the log's name in the data directory; the previous one is bot.log.1.
const File = store.StateDir + "/bot.log"

// Options configure a Sink.
type Options struct {
	Dir    *store.Dir     // nil means no file
	Level  slog.Leveler   // nil means info and above
	Stdout io.Writer      // may be nil; should not block
	Zone   *time.Location // of the printed times; nil means UTC
}

// Sink stores the lines and returns them. Use New. Its methods are safe for concurrent use.
type Sink struct {
	secrets Secrets

	zone  *time.Location
	level slog.Leveler
	ring  *tail.Ring
	file  *rotating // nil if there is no file

	// out serializes writes to standard output, and is held during them.
	out    sync.Mutex
	stdout io.Writer

	mu sync.Mutex
	// changed is called after each line. fileBroken is true while the file cannot be written, so
	// that this is reported only once.
	changed    []func()
	fileBroken bool
}

// New returns a logger and its sink. The first line opens the file.
func New(o Options) (*slog.Logger, *Sink) {
	s := &Sink{zone: o.Zone, level: o.Level, ring: tail.New(ringLines), stdout: o.Stdout}
	if s.zone == nil {
		s.zone = time.UTC
	}
	if s.level == nil {
		s.level = slog.LevelInfo
	}
	if o.Dir != nil {
		s.file = newRotating(o.Dir, File, fileLimit)
	}
	p := &pairs{}
	text := slog.NewTextHandler(&p.out, &slog.HandlerOptions{Level: s.level, ReplaceAttr: s.harmless})
	return slog.New(&handler{text, s, p}), s
}

// Tail returns the lines from the cursor on. The ring keeps 5,000.
func (s *Sink) Tail(from tail.Cursor) tail.Page { return s.ring.Read(from) }

// Lines returns the number of lines ever written.
func (s *Sink) Lines() uint64 { return s.ring.Len() }

// Changed registers a function that is called after each line, on the goroutine
// that logs. It must return at once and must not log.
func (s *Sink) Changed(fn func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed = append(slices.Clone(s.changed), fn)
}

// Close closes the file. Lines logged later reach only the ring.
func (s *Sink) Close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}

// Hide registers a secret, which is then printed as [hidden].
func (s *Sink) Hide(secret string) { s.secrets.Hide(secret) }

// Redact replaces the registered secrets in a text. A nil Sink has none.
func (s *Sink) Redact(text string) string {
	if s == nil {
		return text
	}
	return s.secrets.Redact(text)
}

// fit returns a text as one clean line without secrets. It redacts twice, because cleaning can join
// parts of a secret that an escape character had separated.
func (s *Sink) fit(text string) string {
	return clean.Cut(s.Redact(clean.Line(s.Redact(text))), lineLimit)
}

// write adds a formatted line to the ring, the file and standard output.
func (s *Sink) write(at time.Time, level slog.Level, text string) {
	at = at.In(s.zone)
	s.ring.Add(tail.Line{At: at, Kind: kind(level), Text: text})
	line := []byte(at.Format(time.RFC3339) + " " + fmt.Sprintf("%-5s ", strings.ToUpper(string(kind(level)))) + text + "\n")
	if s.file != nil {
		_, err := s.file.Write(line)
		s.noteFile(at, err)
	}
	if s.stdout != nil {
		s.out.Lock()
		_, _ = s.stdout.Write(line) // an error could not be reported anywhere
		s.out.Unlock()
	}
	s.mu.Lock()
	changed := s.changed
	s.mu.Unlock()
	for _, fn := range changed {
		fn()
	}
}

// noteFile reports once in the ring that the file cannot be written, and once that it can again.
func (s *Sink) noteFile(at time.Time, err error) {
	s.mu.Lock()
	was := s.fileBroken
	s.fileBroken = err != nil
	s.mu.Unlock()
	switch {
	case err != nil && !was:
		s.ring.Add(tail.Line{At: at, Kind: tail.Warn, Text: s.fit(msgFileBroken + err.Error())})
	case err == nil && was:
		s.ring.Add(tail.Line{At: at, Kind: tail.Info, Text: msgFileWorks})
	}
}

func kind(l slog.Level) tail.Kind {
	switch {
	case l >= slog.LevelError:
		return tail.Error
	case l >= slog.LevelWarn:
		return tail.Warn
	case l >= slog.LevelInfo:
		return tail.Info
	}
	return tail.Debug
}

// User-visible texts.
const (
	mask          = "[hidden]"
	msgFileBroken = "the log file cannot be written; lines are kept in memory only: "
	msgFileWorks  = "the log file can be written again"
)

// handler turns records into lines: the message, then key=value pairs, which slog's own
// handler formats after harmless has cleaned them.
type handler struct {
	slog.Handler // formats only the pairs, into the buffer pairs
	sink         *Sink
	pairs        *pairs
}

// pairs is the buffer for the attributes of one record at a time.
type pairs struct {
	mu  sync.Mutex
	out bytes.Buffer
}

func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	at, message := r.Time, r.Message
	if at.IsZero() {
		at = time.Now()
	}
	r.Time, r.Message = time.Time{}, "" // write adds them
	h.pairs.mu.Lock()
	h.pairs.out.Reset()
	err := h.Handler.Handle(ctx, r)
	text := h.pairs.out.String()
	h.pairs.mu.Unlock()
	h.sink.write(at, r.Level, h.sink.fit(h.sink.fit(message)+" "+text))
	return err
}

func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &handler{h.Handler.WithAttrs(attrs), h.sink, h.pairs}
}

func (h *handler) WithGroup(name string) slog.Handler {
	return &handler{h.Handler.WithGroup(name), h.sink, h.pairs}
}

// harmless cleans an attribute, hides it if its name is that of a secret, and appends the stack of
// a panic. It drops the record's level and message, which write adds.
func (s *Sink) harmless(groups []string, a slog.Attr) slog.Attr {
	v := a.Value.Resolve()
	if _, own := v.Any().(slog.Level); own && a.Key == slog.LevelKey || a.Key == slog.MessageKey && v.String() == "" {
		return slog.Attr{}
	}
	if v.Kind() == slog.KindGroup {
		return a
	}
	key := s.fit(a.Key)
	if secretKey(a.Key) || slices.ContainsFunc(groups, secretKey) {
		return slog.String(key, mask)
	}
	switch v.Kind() {
	case slog.KindTime:
		return slog.String(key, v.Time().In(s.zone).Format(time.RFC3339))
	case slog.KindAny, slog.KindString:
		text := slog.String(key, s.fit(strings.TrimSuffix(v.String(), "\n")))
		if err, ok := v.Any().(error); ok && fault.Stack(err) != "" {
			return slog.Group("", text, slog.String("stack", fault.Stack(err)))
		}
		return text
	}
	return slog.Attr{Key: key, Value: v}
}
