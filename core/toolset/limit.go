package toolset

import (
	"encoding/json"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"ollimbot/core/clean"
	"ollimbot/core/post"
)

// Limits of texts, counted in UTF-16 units as Discord counts them. A message
// leaves room for the "[bg] " that a surface may put before it. What an embed may
// hold is the business of whoever draws it, which also says what it left away.
const (
	maxMessage = 2000 - len("[bg] ")
	maxUpdate  = 4000
	maxButtons = 5
	maxAction  = 2000
)

// Message is a text as a message may hold it: cleaned, trimmed, cut with an
// ellipsis.
func Message(s string) string { return cut(strings.TrimSpace(clean.Text(s)), maxMessage) }

// Update is a text as a pending update may hold it.
func Update(s string) string { return cut(strings.TrimSpace(clean.Text(s)), maxUpdate) }

// cut shortens s to at most n UTF-16 units, the last an ellipsis where
// something was cut, and never inside a character.
func cut(s string, n int) string {
	if len(s) <= n { // a byte is never more than a unit
		return s
	}
	units, end := 0, 0
	for i, r := range s {
		w := max(1, utf16.RuneLen(r))
		if units+w > n {
			return strings.TrimRight(s[:end], " \n") + "…"
		}
		units += w
		if units <= n-1 {
			end = i + utf8.RuneLen(r)
		}
	}
	return s
}

// rawEmbed is the arguments of discord_embed.
type rawEmbed struct {
	Title       string `json:"title"`
	Description string `json:"description"`
	Color       string `json:"color"`
	Fields      []struct {
		Name   string `json:"name"`
		Value  string `json:"value"`
		Inline *bool  `json:"inline"`
	} `json:"fields"`
	Buttons  []post.Button `json:"buttons"`
	Critical bool          `json:"critical"`
}

// readEmbed makes an embed of what the agent sent.
func readEmbed(args json.RawMessage) (post.Embed, bool, error) {
	var a rawEmbed
	if err := json.Unmarshal(args, &a); err != nil {
		return post.Embed{}, false, err
	}
	e := post.Embed{
		Title:       clean.Line(a.Title),
		Description: block(a.Description),
		Color:       colour(a.Color),
	}
	for _, f := range a.Fields {
		// Discord refuses a field without text, so an empty one is a dash.
		e.Fields = append(e.Fields, post.Field{
			Name: orDash(clean.Line(f.Name)), Value: orDash(block(f.Value)), Inline: f.Inline == nil || *f.Inline,
		})
	}
	for _, b := range a.Buttons[:min(len(a.Buttons), maxButtons)] {
		e.Buttons = append(e.Buttons, post.Button{
			Label: orDash(clean.Line(b.Label)), Style: style(b.Style),
			Action: cut(clean.Line(b.Action), maxAction),
		})
	}
	return e, a.Critical, nil
}

// block cleans a text of several lines; a model often writes "\n" as two
// characters where it means a line break.
func block(s string) string {
	return strings.TrimSpace(clean.Text(strings.ReplaceAll(s, `\n`, "\n")))
}

func orDash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}

func colour(s string) post.Color {
	switch c := strings.ToLower(clean.Line(s)); c {
	case "green", "red", "yellow", "purple":
		return post.Color(c)
	}
	return "blue"
}

func style(s string) string {
	switch c := strings.ToLower(clean.Line(s)); c {
	case "primary", "success", "danger":
		return c
	}
	return "secondary"
}
