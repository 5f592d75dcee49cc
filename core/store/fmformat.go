package store

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Out is one key to be written. Value is a string, bool, int or []string; in
// SpliceFrontMatter nil takes the key out of the file.
type Out struct {
	Key   string
	Value any
}

// FormatFrontMatter writes a file as the original does: the fields in order,
// strings in double quotes, the body without white space at its ends.
func FormatFrontMatter(fields []Out, body string) []byte {
	var b strings.Builder
	b.WriteString("---\n")
	for _, f := range fields {
		for _, line := range formatField(f.Key, f.Value) {
			b.WriteString(line)
			b.WriteByte('\n')
		}
	}
	b.WriteString("---\n")
	if body = strings.TrimSpace(body); body != "" {
		b.WriteString(strings.ToValidUTF8(body, "\ufffd"))
		b.WriteByte('\n')
	}
	return []byte(b.String())
}

// formatField gives the lines of one field, without indentation.
func formatField(key string, value any) []string {
	switch v := value.(type) {
	case string:
		return []string{key + ": " + quote(v)}
	case bool:
		return []string{key + ": " + strconv.FormatBool(v)}
	case int:
		return []string{key + ": " + strconv.Itoa(v)}
	case []string:
		if len(v) == 0 {
			return []string{key + ": []"}
		}
		lines := make([]string, 0, len(v)+1)
		lines = append(lines, key+":")
		for _, item := range v {
			lines = append(lines, "  - "+quote(item))
		}
		return lines
	}
	return []string{key + ": " + quote(fmt.Sprint(value))}
}

// quote writes a YAML double-quoted scalar on one line. Three dashes in a row
// are broken by an escape, because the original program ends the front matter
// at the next "---", wherever it stands.
func quote(s string) string {
	var b strings.Builder
	b.Grow(len(s) + 2)
	b.WriteByte('"')
	dashes := 0
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		if r != '-' {
			dashes = 0
		} else if dashes++; dashes == 3 {
			b.WriteString(`\x2d`)
			dashes = 0
			continue
		}
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r < 0x20 || r >= 0x7f && r < 0xa0:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r == 0x2028 || r == 0x2029 || r == 0xfeff || r == 0xfffe || r == 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
