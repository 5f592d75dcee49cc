package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode"

	"ollimbot/core/base/lazyregexp"
)

// hidden returns a text of the file with the secrets in env and headers replaced, and
// those secrets. A known secret, which the previous text also contains, is marked as
// such.
func hidden(text []byte, known map[string]bool) (shown string, secrets map[string]bool) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	secrets = map[string]bool{}
	var out strings.Builder
	var in nesting
	end := 0
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		before := int(d.InputOffset())
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil { // the text cannot be parsed, so show nothing
			return textNotShown, secrets
		}
		value, is := token.(string)
		if isValue := in.next(token); !is || !isValue || !in.secret(value) {
			continue
		}
		from := before + bytes.IndexByte(text[before:], '"')
		out.Write(text[end:from])
		if known[value] {
			out.WriteString(shownKnown)
		} else {
			out.WriteString(shownHidden)
		}
		end, secrets[value] = int(d.InputOffset()), true
	}
	out.Write(text[end:])
	return out.String(), secrets
}

// nesting is the position of a token reader.
type nesting []level

// level is an object or a list.
type level struct {
	object, valued bool // valued: the next token of an object is a value
	key            string
}

// next processes a token and reports whether it is a value, or starts one.
func (n *nesting) next(token json.Token) (value bool) {
	delim, _ := token.(json.Delim)
	if delim == '}' || delim == ']' {
		*n = (*n)[:len(*n)-1]
		return false
	}
	if len(*n) > 0 {
		top := &(*n)[len(*n)-1]
		if top.object && !top.valued {
			top.key, _ = token.(string)
			top.valued = true
			return false
		}
		top.valued = false
	}
	if delim == '{' || delim == '[' {
		*n = append(*n, level{object: delim == '{'})
	}
	return true
}

// secret reports whether a value at this position is a secret.
func (n *nesting) secret(value string) bool {
	var names []string // from env or headers on
	for _, l := range *n {
		if l.object && (names != nil || strings.EqualFold(l.key, "env") || strings.EqualFold(l.key, "headers")) {
			names = append(names, l.key)
		}
	}
	return len(names) > 1 && looksSecret(strings.Join(names[1:], " "), value)
}

var (
	// reference matches a value that only names variables.
	reference = lazyregexp.New(`^(?i:(bearer|basic|token) +)?(\$\{[A-Za-z_][A-Za-z0-9_]*\})+$`)
	// keyLike matches texts that look like keys and tokens; paths, options and sentences
	// contain other characters.
	keyLike    = lazyregexp.New(`^(?i:(bearer|basic|token) +)?[A-Za-z0-9_\-+=.~]{16,}$`)
	secretName = lazyregexp.New(`(?i)token|secret|passw|key|auth|cookie|credential`)
)

// looksSecret judges a value by its name and its form. Parts of a command line, such as
// options or a path, are always shown.
func looksSecret(name, value string) bool {
	switch {
	case value == "" || reference().MatchString(value):
		return false
	case secretName().MatchString(name):
		return true
	}
	return keyLike().MatchString(value) && strings.ContainsFunc(value, unicode.IsDigit) && strings.ContainsFunc(value, unicode.IsLetter)
}

const (
	shownHidden  = `"(hidden)"`
	shownKnown   = `"(hidden: a secret that the file has already)"`
	textNotShown = "(this text has a mistake and is not shown)"
)
