package toolset

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"ollimbot/core/base/clean"
	"ollimbot/core/talk/post"
)

// Limits of texts in UTF-16 units, as counted by Discord. A message leaves room for a
// mark that a surface may prepend. The limits of embeds belong to the surface, which also
// reports what it left out.
const (
	maxMessage = 1995
	maxUpdate  = 4000
	maxAction  = 2000
	maxTopic   = 2000 // of a fork
	// maxPerson is the maximum length of the name of the user or the bot, in characters.
	maxPerson = 80
)

// Message makes a text a valid message: cleaned, trimmed, and shortened with an ellipsis.
func Message(s string) string { return cut(strings.TrimSpace(clean.Text(s)), maxMessage) }

// Fit is Message that leaves room for a remark of that many bytes, and reports whether it is shorter.
func Fit(s string, remark int) (text string, shorter bool) {
	whole := strings.TrimSpace(clean.Text(s))
	text = cut(whole, maxMessage-remark)
	return text, text != whole
}

// cut shortens s to at most n UTF-16 units; if it was cut, the last is an ellipsis.
func cut(s string, n int) string {
	if len(s) <= n { // a byte is at most one unit
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

// cardOf makes an embed from the agent's arguments.
func cardOf(a arguments) post.Embed {
	e := post.Embed{Title: clean.Line(a.Text("title")), Description: block(a.Text("description")), Color: colour(a.Text("color"))}
	for _, f := range a.List("fields") {
		inline, given := f["inline"].(bool)
		// Discord rejects an empty field, so it becomes a dash.
		e.Fields = append(e.Fields, post.Field{
			Name: orDash(clean.Line(f.Text("name"))), Value: orDash(block(f.Text("value"))), Inline: inline || !given,
		})
	}
	for _, b := range a.List("buttons") {
		e.Buttons = append(e.Buttons, post.Button{
			Label: orDash(clean.Line(b.Text("label"))), Style: style(b.Text("style")), Action: cut(clean.Line(b.Text("action")), maxAction),
		})
	}
	return e
}

// block cleans a multi-line text. Models often write a line break as the two characters
// "\n".
func block(s string) string {
	return strings.TrimSpace(clean.Text(strings.ReplaceAll(s, `\n`, "\n")))
}

// Blank reports whether a text shows nothing on a phone: it is empty, or has only signs of Markdown and characters
// without ink, such as the blank of Braille and the fillers of Hangul.
func Blank(s string) bool {
	return strings.Trim(s, "#>*_~|`-\u2800\u3164\u115f\u1160\uffa0\u200b\u2060\ufeff \n\t\u00a0\u3000") == ""
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

// maxFile is the maximum size of a sent file, in bytes.
const maxFile = 25 << 20

// File finds the file of send_file: absolute, below the home directory (~), or relative to
// root, the data directory. It returns the path with symbolic links resolved, or says what is
// wrong: the file is missing, not regular, empty, larger than maxFile, or may refuses it with
// a reason.
func File(root, path string, may func(full string) (refusal string)) (found, problem string) {
	full, err := filepath.EvalSymlinks(expand(root, path))
	if err != nil {
		return "", fmt.Sprintf(textNoFile, shownPath(path))
	}
	info, err := os.Stat(full)
	switch {
	case err != nil || !info.Mode().IsRegular():
		return "", fmt.Sprintf(textNoFile, shownPath(path))
	case info.Size() == 0: // this includes kernel files, which only look regular
		return "", fmt.Sprintf(textEmptyFile, shownPath(path))
	case info.Size() > maxFile:
		return "", fmt.Sprintf(textLargeFile, shownPath(path), (info.Size()+1<<20-1)>>20, maxFile>>20)
	}
	if refusal := may(full); refusal != "" {
		return "", fmt.Sprintf(textNotToSend, shownPath(path), refusal)
	}
	return full, ""
}

// FileSent is the result after it was sent.
func FileSent(found string) string {
	return fmt.Sprintf(textFileSent, clean.Line(filepath.Base(found)))
}

func expand(root, path string) string {
	if path == "~" || strings.HasPrefix(path, "~/") {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, path[1:])
		}
	}
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(root, path)
}

func shownPath(path string) string { return clean.Cut(clean.Line(path), 200) }
