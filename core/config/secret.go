package config

import (
	"log/slog"
	"slices"
	"strings"
)

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

// shortestSecret is how long a value must be to be looked for in texts, in
// bytes: "1" would be found everywhere.
const shortestSecret = 6

// Secrets are the values that must appear in no log and no error: the tokens of
// this environment, and whatever a variable of environ ("NAME=value") that looks
// like ours holds in a name such as ANTHROPIC_API_KEY.
func (e Env) Secrets(environ []string) []string {
	list := []string{e.DiscordToken.Reveal(), e.WebhookSecret.Reveal()}
	for _, v := range e.Engine {
		environ = append(environ[:len(environ):len(environ)], v.Reveal())
	}
	for _, v := range environ {
		if name, value, ok := strings.Cut(v, "="); ok && secretVariable(name) {
			list = append(list, strings.TrimSpace(value))
		}
	}
	return slices.DeleteFunc(list, func(s string) bool { return len(s) < shortestSecret })
}

// secretWords make a variable's name that of a secret wherever they stand in it.
var secretWords = []string{"TOKEN", "KEY", "SECRET", "PASSW", "CREDENTIAL", "HEADERS"}

// secretVariable tells by its name whether a variable holds something secret.
func secretVariable(name string) bool {
	ours := slices.ContainsFunc([]string{"ANTHROPIC_", "CLAUDE_", "DISCORD_", "WEBHOOK_", "OLLIM_", "GOOGLE_", "AWS_"}, func(p string) bool {
		return strings.HasPrefix(name, p)
	})
	return ours && !strings.HasSuffix(name, "_TOKENS") && slices.ContainsFunc(secretWords, func(w string) bool {
		return strings.Contains(name, w)
	})
}
