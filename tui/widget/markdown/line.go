package markdown

import (
	"strings"

	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// maxRule is how long a rule is at most.
const maxRule = 200

// line draws a line of prose behind a head: a heading, a quote, an item of a
// list, a rule, or words.
func (p *printer) line(s string, head []widget.Span) {
	text := strings.TrimLeft(s, " ")
	if rest, ok := strings.CutPrefix(text, ">"); ok && widget.Width(head) < p.look.W/2 {
		mark := "┃ "
		if p.look.Theme.ASCII() {
			mark = "> "
		}
		p.line(strings.TrimPrefix(rest, " "), append(head[:len(head):len(head)], widget.Span{Role: theme.Think, Text: mark}))
		return
	}
	level := len(text) - len(strings.TrimLeft(text, "#"))
	rest, spaced := strings.CutPrefix(text[level:], " ")
	switch {
	case level >= 1 && level <= 6 && spaced:
		p.heading(level, strings.TrimRight(rest, "# "), head)
	case strings.HasPrefix(text, "-# "):
		p.hang(head, head, p.inline(text[3:], theme.Dim))
	case ruled(text):
		box := p.look.Theme.Box().Horizontal
		p.put(append(head[:len(head):len(head)], widget.Span{Role: theme.Border, Text: strings.Repeat(box, max(1, min(maxRule, p.look.W-widget.Width(head))))}))
	default:
		p.words(s, text, head)
	}
}

// heading stands out by its weight; where there is none, by its mark too.
func (p *printer) heading(level int, text string, head []widget.Span) {
	if p.plain() {
		head = append(head[:len(head):len(head)], widget.Span{Role: theme.Strong, Text: strings.Repeat("#", level) + " "})
	}
	p.hang(head, blanks(head), p.inline(text, theme.Strong))
}

// words draws an item of a list, or prose. Both keep their indent.
func (p *printer) words(s, text string, head []widget.Span) {
	indent := widget.Span{Text: widget.Blank(min(len(s)-len(text), p.look.W/3))}
	first := append(head[:len(head):len(head)], indent)
	rest := first
	if mark, body, ok := item(text); ok {
		first = append(first[:len(first):len(first)], p.bullet(mark))
		rest = append(rest[:len(rest):len(rest)], widget.Span{Text: widget.Blank(widget.Cells(first[len(first)-1].Text))})
		if done, open := strings.HasPrefix(body, "[x] ") || strings.HasPrefix(body, "[X] "), strings.HasPrefix(body, "[ ] "); done || open {
			role := theme.Warn
			if done {
				role = theme.Good
			}
			first = append(first, widget.Span{Role: role, Text: body[:4]})
			rest = append(rest, widget.Span{Text: widget.Blank(4)})
			body = body[4:]
		}
		text = body
	}
	if widget.Width(first) > p.look.W/2 { // no room to hang anything
		first, rest = head, head
	}
	p.hang(first, rest, p.inline(text, theme.Text))
}

// bullet is the mark of an item.
func (p *printer) bullet(mark string) widget.Span {
	if len(mark) > 1 { // a number
		return widget.Span{Role: theme.Accent, Text: mark + " "}
	}
	if p.look.Theme.ASCII() {
		return widget.Span{Role: theme.Accent, Text: "- "}
	}
	return widget.Span{Role: theme.Accent, Text: "• "}
}

// item splits an item of a list into its mark and its words.
func item(s string) (mark, body string, ok bool) {
	if s == "" {
		return "", "", false
	}
	n := 1
	if !strings.ContainsRune("-*+", rune(s[0])) {
		n = len(s) - len(strings.TrimLeft(s, "0123456789"))
		if n == 0 || n > 9 || n == len(s) || s[n] != '.' && s[n] != ')' {
			return "", "", false
		}
		n++
	}
	body, ok = strings.CutPrefix(s[n:], " ")
	return s[:n], strings.TrimLeft(body, " "), ok
}

// ruled reports a line that only divides.
func ruled(s string) bool {
	s = strings.ReplaceAll(s, " ", "")
	return len(s) >= 3 && strings.ContainsRune("-*_", rune(s[0])) && strings.Trim(s, s[:1]) == ""
}

// blanks is a head whose quotes go on and whose other marks do not.
func blanks(head []widget.Span) []widget.Span {
	out := make([]widget.Span, len(head))
	for i, s := range head {
		if out[i] = s; s.Role != theme.Think {
			out[i] = widget.Span{Text: widget.Blank(widget.Cells(s.Text))}
		}
	}
	return out
}
