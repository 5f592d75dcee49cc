package logs

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"ollimbot/core/clean"
)

// secretKey reports whether an attribute of this name holds something that must
// not be printed. Counts of the model's tokens are no secret.
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

// secretParts make a word of a key secret wherever they stand in it.
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

// spellings are the forms in which a secret shows up in messages: as it is,
// trimmed, cleaned, quoted, and escaped for an address.
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
