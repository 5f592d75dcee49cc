package config

import "log/slog"

// Secret is a text that must not be printed: every way of formatting it gives
// "[hidden]". Reveal gives the text to the one place that needs it.
type Secret string

const hidden = "[hidden]"

// Reveal returns the secret itself.
func (s Secret) Reveal() string { return string(s) }

// String hides the secret from fmt, and from people.
func (s Secret) String() string { return hidden }

// GoString hides it from %#v.
func (s Secret) GoString() string { return hidden }

// MarshalText hides it from JSON and its like.
func (s Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// LogValue hides it from slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(hidden) }
