package logs

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"ollimbot/core/base/clean"
)

// Secrets are texts that must not be printed. The zero value has none. Its methods are safe for
// concurrent use.
type Secrets struct {
	mu sync.Mutex
	// hidden are the secrets in all their encodings, longest first.
	hidden []string
	hide   *strings.Replacer
}

// Hide registers a secret. It is also recognized if it is quoted or escaped for a URL.
func (k *Secrets) Hide(secret string) {
	if strings.TrimSpace(secret) == "" {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, s := range spellings(secret) {
		if !slices.Contains(k.hidden, s) {
			k.hidden = append(k.hidden, s)
		}
	}
	slices.SortFunc(k.hidden, func(x, y string) int { return len(y) - len(x) })
	pairs := make([]string, 0, 2*len(k.hidden))
	for _, s := range k.hidden {
		pairs = append(pairs, s, mask)
	}
	k.hide = strings.NewReplacer(pairs...)
}

// Redact replaces the secrets in a text.
func (k *Secrets) Redact(s string) string {
	k.mu.Lock()
	hide := k.hide
	k.mu.Unlock()
	if hide == nil {
		return s
	}
	return hide.Replace(s)
}

// secretKey reports whether an attribute with this name is secret. Counts of the model's tokens are
// not.
func secretKey(key string) bool {
	for _, word := range words(key) {
		if word == "tokens" {
			continue
		}
		for _, part := range secretParts {
			if strings.Contains(word, part) {
				return true
			}
		}
		if strings.HasSuffix(word, "key") || word == "keys" {
			return true
		}
	}
	return false
}

// secretParts mark a word of a key as secret if it contains one.
var secretParts = []string{"token", "secret", "passw", "authorization", "credential", "cookie", "bearer"}

// words splits snake_case, kebab-case, dotted and camelCase names.
func words(key string) []string {
	var b strings.Builder
	lower := false
	for _, r := range key {
		if unicode.IsUpper(r) && lower {
			b.WriteByte(' ')
		}
		lower = unicode.IsLower(r)
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			r = ' '
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.Fields(b.String())
}

// spellings returns the forms of a secret in messages: unchanged, trimmed, cleaned, quoted, and
// escaped for a URL.
func spellings(secret string) []string {
	quoted := strconv.Quote(secret)
	out := []string{
		secret, strings.TrimSpace(secret), clean.Line(secret), quoted[1 : len(quoted)-1],
		url.QueryEscape(secret), url.PathEscape(secret),
	}
	if j, err := json.Marshal(secret); err == nil {
		out = append(out, string(j[1:len(j)-1]))
	}
	return out
}
