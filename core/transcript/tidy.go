package transcript

import (
	"strings"

	"ollimbot/core/clean"
	"ollimbot/core/post"
)

// tidy cleans a whole text and caps its length.
func tidy(s string) string {
	s = strings.TrimSpace(clean.Text(s))
	if len(s) > maxText {
		s = strings.ToValidUTF8(s[:maxText-len("…")], "") + "…"
	}
	return s
}

// tidyEmbed is a cleaned copy, so that nobody changes it behind the book's back.
func tidyEmbed(e *post.Embed) *post.Embed {
	if e == nil {
		return nil
	}
	c := post.Embed{
		Title: clean.Line(e.Title), Description: tidy(e.Description),
		Color: post.Color(clean.Line(string(e.Color))), Footer: clean.Line(e.Footer),
	}
	for _, f := range e.Fields {
		c.Fields = append(c.Fields, post.Field{Name: clean.Line(f.Name), Value: tidy(f.Value), Inline: f.Inline})
	}
	for _, b := range e.Buttons {
		c.Buttons = append(c.Buttons, post.Button{Label: clean.Line(b.Label), Style: clean.Line(b.Style), Action: clean.Line(b.Action)})
	}
	return &c
}
