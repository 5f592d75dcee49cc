package action

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// modifiers in the order in which a key press names them.
var modifiers = []string{"ctrl", "alt", "shift", "meta", "hyper", "super"}

// bases are the keys that have a name of more than one letter.
var bases = []string{
	"up", "down", "left", "right", "enter", "tab", "esc", "space", "backspace",
	"delete", "insert", "home", "end", "pgup", "pgdown",
}

// otherNames are what people call a key too.
var otherNames = map[string]string{
	"escape": "esc", "return": "enter", "del": "delete", "ins": "insert", "pageup": "pgup", "pagedown": "pgdown", "pgdn": "pgdown",
	"control": "ctrl", "option": "alt", "cmd": "super",
	"↑": "up", "↓": "down", "←": "left", "→": "right",
}

// functionKeys is how many function keys a terminal can tell apart.
const functionKeys = 20

// Spell gives a key as a key press names it: "Ctrl+PgDn" is "ctrl+pgdown". Not
// ok means that no key press has such a name, and better is what was perhaps
// meant, or empty.
func Spell(name string) (key, better string, ok bool) {
	if utf8.RuneCountInString(name) == 1 && name != " " {
		r, _ := utf8.DecodeRuneInString(name)
		if n := otherNames[name]; n != "" {
			return n, "", true
		}
		return name, "", unicode.IsPrint(r)
	}
	base := name
	var mods []string
	for {
		word, rest, more := strings.Cut(base, "+")
		word = plainName(word)
		if !more || rest == "" || !slices.Contains(modifiers, word) {
			break
		}
		mods, base = append(mods, word), rest
	}
	base, known := baseKey(base)
	if !known {
		return "", "", false
	}
	if slices.Equal(mods, []string{"shift"}) && utf8.RuneCountInString(base) == 1 {
		return "", strings.ToUpper(base), false // it comes as the letter
	}
	if slices.Equal(mods, []string{"alt"}) && base == "esc" {
		return "", base, false // so arrive two quick escapes, which are meant as one
	}
	if len(mods) > 0 && utf8.RuneCountInString(base) == 1 {
		base = strings.ToLower(base)
	}
	var b strings.Builder
	for _, m := range modifiers {
		if slices.Contains(mods, m) {
			b.WriteString(m + "+")
		}
	}
	return b.String() + base, "", true
}

func plainName(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	if n := otherNames[s]; n != "" {
		return n
	}
	return s
}

// baseKey is a key without modifiers.
func baseKey(s string) (string, bool) {
	if r, n := utf8.DecodeRuneInString(s); n == len(s) && n > 0 && otherNames[s] == "" {
		return s, unicode.IsPrint(r) && r != ' '
	}
	s = plainName(s)
	if slices.Contains(bases, s) {
		return s, true
	}
	n, err := strconv.Atoi(strings.TrimPrefix(s, "f"))
	return s, err == nil && s[0] == 'f' && n >= 1 && n <= functionKeys && s == "f"+strconv.Itoa(n)
}
