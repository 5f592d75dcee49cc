// Package render turns what the bot says into messages as Discord takes them:
// pure functions from posts, approvals and texts to values of discord/rest. It
// owns the look (colours, marks, small print) and every limit of length, which
// it keeps by cutting with an ellipsis, since a message that is too long would be
// refused after its token was spent. It must not know connections, ids of
// messages or the bot's state.
//
// What it is given may come from a model or a stranger: it is cleaned here.
package render

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/bwmarrin/discordgo"

	"ollimbot/core/clean"
	"ollimbot/core/post"
	"ollimbot/discord/rest"
)

const (
	// MaxContent is the longest text of a message, in UTF-16 units as all lengths
	// here.
	MaxContent = 2000
	maxFiles   = 10

	// critical stands before what went past the ping budget.
	critical = "❗ "
	// fromBackground stands before the plain words of a background run.
	fromBackground = "[bg] "
	small          = "-# "
	// dash stands where Discord wants a word and there is none.
	dash = "–"
)

// Post is a post as a message, cut where it is too long. One that says nothing
// is empty.
func Post(p post.Post) rest.Message {
	m := rest.Message{Content: content(p), Nonce: p.Nonce}
	if p.Small { // what is left of a line that is cut has its mark already
		m.Content = Cut(m.Content, MaxContent)
	} else {
		m.Content = cutBlock(m.Content, MaxContent)
	}
	if p.Embed != nil {
		mark := ""
		if p.Critical {
			mark = critical
		}
		card, rows := embed(*p.Embed, p.Context, mark)
		m.Embeds, m.Components = []*discordgo.MessageEmbed{card}, rows
	}
	for _, path := range p.Files[:min(len(p.Files), maxFiles)] {
		m.Files = append(m.Files, rest.File{
			Name: filepath.Base(path),
			Read: func() ([]byte, error) { return os.ReadFile(path) },
		})
	}
	return m
}

// content is the text of a post with its marks.
func content(p post.Post) string {
	text := strings.TrimSpace(clean.Text(p.Text))
	if text == "" {
		return ""
	}
	if p.Embed == nil && p.Critical {
		text = critical + text
	}
	if p.Embed == nil && p.Context == "bg" {
		text = fromBackground + text
	}
	if p.Small {
		return marked(text)
	}
	return text
}

// Small is a notice of the program in small print.
func Small(text string) rest.Message {
	return rest.Message{Content: Cut(marked(strings.TrimSpace(clean.Text(text))), MaxContent)}
}

// marked begins each line that is not empty with the mark of small print.
func marked(text string) string {
	out := strings.Split(text, "\n")
	for i, line := range out {
		if strings.TrimSpace(line) != "" {
			out[i] = small + line
		}
	}
	return strings.Join(out, "\n")
}

// Ephemeral is an answer to a command or button that only its user sees.
func Ephemeral(text string) rest.Message {
	text = cutBlock(strings.TrimSpace(clean.Text(text)), MaxContent)
	if text == "" {
		text = dash
	}
	return rest.Message{Content: text, Flags: discordgo.MessageFlagsEphemeral}
}
