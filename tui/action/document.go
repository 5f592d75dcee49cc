package action

import (
	"strings"
)

// Document is docs/keys.md: the whole table as Markdown.
func Document() string {
	var b strings.Builder
	b.WriteString(keysIntro)
	for _, p := range append([]Pane{Everywhere}, Panes...) {
		b.WriteString("\n## " + p.Name())
		if n := p.Number(); n > 0 {
			b.WriteString(" (`" + string(rune('0'+n)) + "`)")
		}
		b.WriteString("\n\n| Keys | Action | Name |\n|---|---|---|\n")
		for _, a := range Of(p) {
			b.WriteString("| " + codes(a.Keys) + " | " + a.Title)
			if a.Writes {
				b.WriteString(" *")
			}
			b.WriteString(" | `" + string(a.ID) + "` |\n")
		}
	}
	return b.String()
}

// codes writes keys as Markdown code.
func codes(keys []string) string {
	if len(keys) == 0 {
		return keysNone
	}
	out := make([]string, len(keys))
	for i, k := range keys {
		out[i] = "`" + KeyName(k, true) + "`"
	}
	return strings.Join(out, " ")
}
