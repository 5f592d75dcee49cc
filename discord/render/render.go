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
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

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

// Post is a post as one message, cut where it is too long: for an edit, which
// has only the one message.
func Post(p post.Post) rest.Message {
	m := rest.Message{Content: cutBlock(content(p), MaxContent), Nonce: p.Nonce}
	if p.Small {
		// The mark of small print begins each line; what is left of a line that is
		// cut has it already.
		m.Content = Cut(content(p), MaxContent)
	}
	files := attach(&m, p)
	m.Files = files[:min(len(files), maxFiles)]
	return m
}

// Posts is a post as as many messages as it needs, none of them empty. The
// embed, its buttons and the files come last. The first has the post's nonce,
// the others one derived from it; a post that says nothing gives no message.
func Posts(p post.Post) []rest.Message {
	var out []rest.Message
	texts := Split(content(p), MaxContent)
	if p.Small {
		texts = packed(lines(content(p)), MaxContent)
	}
	for _, text := range texts {
		if strings.TrimSpace(text) != "" {
			out = append(out, rest.Message{Content: text})
		}
	}
	var last rest.Message
	files := attach(&last, p)
	if len(out) == 0 {
		out = append(out, rest.Message{})
	}
	end := &out[len(out)-1]
	end.Embeds, end.Components, end.Files = last.Embeds, last.Components, files[:min(len(files), maxFiles)]
	for len(files) > maxFiles {
		files = files[maxFiles:]
		out = append(out, rest.Message{Files: files[:min(len(files), maxFiles)]})
	}
	if first := out[0]; first.Content == "" && len(first.Embeds) == 0 && len(first.Files) == 0 {
		return nil
	}
	number(out, p.Nonce)
	return out
}

// number gives each message a nonce of its own, so that repeating the post
// repeats none of them.
func number(list []rest.Message, nonce string) {
	if nonce == "" {
		return
	}
	list[0].Nonce = nonce
	for i := range list[1:] {
		list[i+1].Nonce = nonce + "/" + strconv.Itoa(i+2)
	}
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

// attach adds what is no text, and gives the files.
func attach(m *rest.Message, p post.Post) []rest.File {
	if p.Embed != nil {
		mark := ""
		if p.Critical {
			mark = critical
		}
		card, rows := embed(*p.Embed, p.Context, mark)
		m.Embeds, m.Components = []rest.Embed{card}, rows
	}
	var files []rest.File
	for _, path := range p.Files {
		files = append(files, rest.File{
			Name: filepath.Base(path),
			Open: func() (io.ReadCloser, error) { return os.Open(path) },
		})
	}
	return files
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

// lines are the lines of small print, each short enough for a message: a piece
// of a longer one is small as well.
func lines(text string) []string {
	var out []string
	for _, line := range strings.SplitAfter(text, "\n") {
		body, isSmall := strings.CutPrefix(line, small)
		if !isSmall {
			out = append(out, line)
			continue
		}
		body, end := strings.TrimSuffix(body, "\n"), line[len(strings.TrimSuffix(line, "\n")):]
		for _, part := range parts(body, MaxContent-len(small)-1, nil) {
			out = append(out, small+part.Text)
		}
		out[len(out)-1] += end
	}
	return out
}

// packed joins lines for as long as they fit together.
func packed(list []string, limit int) []string {
	var out []string
	for _, line := range list {
		if n := len(out) - 1; n >= 0 && strings.HasSuffix(out[n], "\n") && Length(out[n])+Length(line) <= limit {
			out[n] += line
			continue
		}
		out = append(out, line)
	}
	return out
}

// Ephemeral is an answer to a command or button that only its user sees.
func Ephemeral(text string) rest.Message {
	text = cutBlock(strings.TrimSpace(clean.Text(text)), MaxContent)
	if text == "" {
		text = dash
	}
	return rest.Message{Content: text, Flags: rest.Ephemeral}
}
