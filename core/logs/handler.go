package logs

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"ollimbot/core/fault"
)

// handler turns records into lines: the message, then key=value pairs, which
// slog's own handler spells once they are harmless.
type handler struct {
	slog.Handler // of the pairs alone; it writes into pairs
	sink         *Sink
	pairs        *pairs
}

// pairs is where the attributes of one record after the other are spelled.
type pairs struct {
	mu  sync.Mutex
	out bytes.Buffer
}

func newHandler(s *Sink) *handler {
	p := &pairs{}
	return &handler{slog.NewTextHandler(&p.out, &slog.HandlerOptions{Level: s.level, ReplaceAttr: s.harmless}), s, p}
}

func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	at, message := r.Time, r.Message
	if at.IsZero() {
		at = time.Now()
	}
	r.Time, r.Message = time.Time{}, "" // the line begins with them
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

// harmless cleans an attribute, hides what its name says is secret, and puts the
// place of a fault behind it. The record's own level and message go: they are
// told already.
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
