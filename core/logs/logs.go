// Package logs owns what the bot says about itself: a slog handler that writes
// to a ring for the dashboard, to a rotating file in the data directory, and to
// standard output when there is no dashboard. Secrets are taken out before a
// line reaches any of the three. It must not know what the lines are about, nor
// who reads them.
package logs

import (
	"io"
	"log/slog"
	"slices"
	"sync"
	"time"

	"ollimbot/core/clean"
	"ollimbot/core/store"
	"ollimbot/core/tail"
)

const (
	ringLines = 5000    // kept in memory
	fileLimit = 1 << 20 // bytes, before bot.log becomes bot.log.1
	lineLimit = 4000    // runes of one line; the rest is cut
)

// File is the log's name in the data directory; one older file stands beside
// it as bot.log.1.
const File = store.StateDir + "/bot.log"

// Options says where the lines go.
type Options struct {
	Dir    *store.Dir     // nil: no file
	Level  slog.Leveler   // nil: info and above
	Stdout io.Writer      // nil: none; a slow one slows the program down
	Zone   *time.Location // of the printed times; nil: UTC
}

// Sink is where the lines go, and where they can be read. Use New. All methods are safe
// for use by several goroutines.
type Sink struct {
	secrets Secrets

	zone  *time.Location
	level slog.Leveler
	ring  *tail.Ring
	file  *store.Rotating // nil: no file

	// out orders standard output: it is held over the write.
	out    sync.Mutex
	stdout io.Writer

	mu sync.Mutex
	// changed is called after each line; fileBroken is true while the file cannot
	// be written, so that this is said once.
	changed    []func()
	fileBroken bool
}

// New returns a logger and where it writes. The file is opened by the first
// line, so that New cannot fail today; the error is there for what may come.
func New(o Options) (*slog.Logger, *Sink, error) {
	s := &Sink{zone: o.Zone, level: o.Level, ring: tail.New(ringLines), stdout: o.Stdout}
	if s.zone == nil {
		s.zone = time.UTC
	}
	if s.level == nil {
		s.level = slog.LevelInfo
	}
	if o.Dir != nil {
		s.file = o.Dir.Rotating(File, fileLimit)
	}
	return slog.New(newHandler(s)), s, nil
}

// Tail returns the lines from the cursor on. The ring keeps 5,000.
func (s *Sink) Tail(from tail.Cursor) tail.Page { return s.ring.Read(from) }

// Lines is the number of lines ever written.
func (s *Sink) Lines() uint64 { return s.ring.Len() }

// Changed registers a function that is called after each line, on the goroutine
// that logs. It must return at once and must not log.
func (s *Sink) Changed(fn func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed = append(slices.Clone(s.changed), fn)
}

// Close closes the file; lines logged later reach the ring only.
func (s *Sink) Close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}

// Hide registers a secret: from now on it is printed as [hidden].
func (s *Sink) Hide(secret string) { s.secrets.Hide(secret) }

// Redact takes the registered secrets out of a text. A nil Sink knows none.
func (s *Sink) Redact(text string) string {
	if s == nil {
		return text
	}
	return s.secrets.Redact(text)
}

// fit makes a text one clean line without secrets. It redacts twice: cleaning
// can join what an escape character had kept apart.
func (s *Sink) fit(text string) string {
	return clean.Cut(s.Redact(clean.Line(s.Redact(text))), lineLimit)
}

// write puts a finished line into the ring, the file and standard output.
func (s *Sink) write(at time.Time, level slog.Level, text string) {
	at = at.In(s.zone)
	s.ring.Add(tail.Line{At: at, Kind: kind(level), Text: text})
	line := []byte(at.Format(time.RFC3339) + " " + name(level) + " " + text + "\n")
	if s.file != nil {
		_, err := s.file.Write(line)
		s.noteFile(at, err)
	}
	if s.stdout != nil {
		s.out.Lock()
		_, _ = s.stdout.Write(line) // a closed pipe has nobody left to be told
		s.out.Unlock()
	}
	s.mu.Lock()
	changed := s.changed
	s.mu.Unlock()
	for _, fn := range changed {
		fn()
	}
}

// noteFile says once in the ring that the file fails, and once that it works
// again.
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

func name(l slog.Level) string {
	switch kind(l) {
	case tail.Error:
		return "ERROR"
	case tail.Warn:
		return "WARN "
	case tail.Info:
		return "INFO "
	}
	return "DEBUG"
}

// Every word of this package that a user may read.
const (
	mask          = "[hidden]"
	msgFileBroken = "the log file cannot be written, lines are kept in memory only: "
	msgFileWorks  = "the log file can be written again"
)
