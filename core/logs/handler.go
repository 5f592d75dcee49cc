package logs

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"
	"unicode"

	"ollimbot/core/fault"
)

// handler turns records into lines: the message, then key=value pairs.
type handler struct {
	book *Book
	// pairs are the attributes given with With, ready to print; prefix is the
	// open groups, joined by dots; secret is true inside a group of that name.
	pairs  string
	prefix string
	secret bool
}

func (h *handler) Enabled(_ context.Context, l slog.Level) bool { return l >= h.book.level.Level() }

func (h *handler) Handle(_ context.Context, r slog.Record) error {
	at := r.Time
	if at.IsZero() {
		at = time.Now()
	}
	var b strings.Builder
	b.WriteString(h.book.fit(r.Message))
	b.WriteString(h.pairs)
	r.Attrs(func(a slog.Attr) bool {
		h.attr(&b, h.prefix, a, h.secret)
		return true
	})
	h.book.write(at, r.Level, h.book.fit(b.String()))
	return nil
}

func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	var b strings.Builder
	b.WriteString(h.pairs)
	for _, a := range attrs {
		h.attr(&b, h.prefix, a, h.secret)
	}
	out := *h
	out.pairs = b.String()
	return &out
}

func (h *handler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	out := *h
	out.prefix += name + "."
	out.secret = h.secret || secretKey(name)
	return &out
}

// attr appends " key=value", or the members of a group.
func (h *handler) attr(b *strings.Builder, prefix string, a slog.Attr, secret bool) {
	a.Value = a.Value.Resolve()
	if a.Equal(slog.Attr{}) {
		return
	}
	secret = secret || secretKey(a.Key)
	if a.Value.Kind() == slog.KindGroup {
		if a.Key != "" {
			prefix += a.Key + "."
		}
		for _, member := range a.Value.Group() {
			h.attr(b, prefix, member, secret)
		}
		return
	}
	b.WriteByte(' ')
	b.WriteString(h.book.fit(prefix + a.Key))
	b.WriteByte('=')
	if secret {
		b.WriteString(mask)
		return
	}
	b.WriteString(h.value(a.Value))
	if err, ok := a.Value.Any().(error); ok && fault.Stack(err) != "" {
		h.attr(b, prefix, slog.String("stack", fault.Stack(err)), false)
	}
}

// value prints a value, in quotes where it would run into its neighbours.
func (h *handler) value(v slog.Value) string {
	var s string
	switch v.Kind() {
	case slog.KindTime:
		return v.Time().In(h.book.zone).Format(time.RFC3339)
	case slog.KindDuration:
		return v.Duration().String()
	case slog.KindAny:
		s = fmt.Sprintf("%+v", v.Any()) // survives values that panic
	default:
		s = v.String()
	}
	s = h.book.fit(s)
	if s == "" || strings.ContainsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r == '"' || r == '=' }) {
		return strconv.Quote(s)
	}
	return s
}
