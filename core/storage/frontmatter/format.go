package frontmatter

import (
	"fmt"
	"strings"
)

// Entry is one key to be written. Value is a string, bool, int or []string. nil leaves the key out;
// Splice then removes it from the file.
type Entry struct {
	Key   string
	Value any
}

// Format writes a file as the original does: the fields in order, strings in double quotes, the
// body without leading and trailing white space.
func Format(fields []Entry, body string) []byte {
	var b strings.Builder
	b.WriteString("---\n")
	for _, f := range fields {
		if f.Value != nil {
			b.WriteString(strings.Join(formatField(f.Key, f.Value), "\n") + "\n")
		}
	}
	b.WriteString("---\n")
	if body = strings.TrimSpace(body); body != "" {
		b.WriteString(strings.ToValidUTF8(body, "\ufffd"))
		b.WriteByte('\n')
	}
	return []byte(b.String())
}

// formatField returns the lines of one field, without indentation.
func formatField(key string, value any) []string {
	switch v := value.(type) {
	case string:
		return []string{key + ": " + quote(v)}
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
	return []string{fmt.Sprintf("%s: %v", key, value)}
}

// quote writes a YAML double-quoted scalar on one line.
func quote(s string) string {
	return `"` + escapes.Replace(strings.ToValidUTF8(s, "\ufffd")) + `"`
}

// escapes are the characters that a double-quoted scalar must not contain literally. Three dashes
// in a row are broken up, because the original program ends the front matter at the next "---",
// wherever it is.
var escapes = newEscapes()

func newEscapes() *strings.Replacer {
	pairs := []string{
		`"`, `\"`, `\`, `\\`, "\n", `\n`, "\t", `\t`, "\r", `\r`, "---", `--\x2d`,
		"\u2028", `\u2028`, "\u2029", `\u2029`, "\ufeff", `\ufeff`, "\ufffe", `\ufffe`, "\uffff", `\uffff`,
	}
	for r := range rune(0xa0) { // if a character has two pairs, the first counts
		if r < 0x20 || r >= 0x7f {
			pairs = append(pairs, string(r), fmt.Sprintf(`\x%02x`, r))
		}
	}
	return strings.NewReplacer(pairs...)
}
