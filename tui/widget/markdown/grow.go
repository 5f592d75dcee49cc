package markdown

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
)

// settled is how many bytes at the beginning more text cannot change: up to a
// blank line behind which a line begins at the margin, outside of code. There
// every block has ended. 0 where there is no such place.
func settled(s string) int {
	mark, listed, blank := "", false, false
	for at := 0; at < len(s); {
		line, _, whole := strings.Cut(s[at:], "\n")
		margin := strings.TrimLeft(line, " ")
		indent := len(line) - len(margin)
		if blank && line != "" && strings.IndexByte(" \t\r", line[0]) < 0 {
			return at
		}
		if !whole {
			return 0
		}
		switch opens := fence(margin); {
		case mark != "":
			if indent < 4 && strings.HasPrefix(margin, mark) && strings.Trim(margin, mark[:1]+" \r") == "" {
				mark = ""
			}
		case opens != "" && (indent == 0 || indent < 4 && !listed):
			mark = opens
		default:
			listed = listed || margin != "" && strings.IndexByte("-*+0123456789", margin[0]) >= 0
		}
		blank = mark == "" && strings.TrimSpace(line) == ""
		at += len(line) + 1
	}
	return 0
}

// fence is what a code block begins with, or empty.
func fence(s string) string {
	for _, c := range []string{"`", "~"} {
		rest := strings.TrimLeft(s, c)
		if n := len(s) - len(rest); n >= 3 && (c == "~" || !strings.Contains(rest, c)) {
			return s[:n]
		}
	}
	return ""
}

// marks are what may begin or end something, so that a line of nothing else is not
// shown before more of it is known: it may become a list, a rule or a heading.
const marks = " *_~`"

// close ends what is begun on the last line of a text that grows, and leaves away
// what may be half a mark.
func (d *Doc) close(s string, root ast.Node) (string, ast.Node) {
	if last := s[strings.LastIndexByte(s, '\n')+1:]; last != "" && strings.Trim(last, marks+"-=+#>|:") == "" {
		s = s[:len(s)-len(last)]
		root = d.parse(s)
	}
	switch lastBlock(root).(type) {
	case *ast.CodeBlock, *ast.FencedCodeBlock, *extast.TableCell:
		return s, root
	}
	if strings.HasSuffix(s, "\n\n") {
		return s, root
	}
	if shorter := strings.TrimRight(s, marks+"\n"); shorter != s {
		s, root = shorter, d.parse(shorter)
	}
	at, mark := unclosed(lastBlock(root), s)
	for range maxDepth {
		if mark == "" {
			break
		}
		ended := s + mark
		after := d.parse(ended)
		still, next := unclosed(lastBlock(after), ended)
		if still >= at { // that has closed nothing
			break
		}
		s, root, at, mark = ended, after, still, next
	}
	return s, root
}

// maxDepth is how deep what is begun is ended: each takes a look at the last blocks.
const maxDepth = 3

// lastBlock is the block that holds the end of the text.
func lastBlock(n ast.Node) ast.Node {
	for n.LastChild() != nil && n.LastChild().Type() == ast.TypeBlock {
		n = n.LastChild()
	}
	return n
}

// unclosed is the innermost mark in a block that begins something which nothing
// ends, and where it stands; empty where there is none. Code holds all that comes
// behind its mark.
func unclosed(block ast.Node, s string) (at int, mark string) {
	at = -1
	_ = ast.Walk(block, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.CodeSpan, *ast.AutoLink:
			return ast.WalkSkipChildren, nil
		case *ast.Text:
			if !entering {
				break
			}
			for i := n.Segment.Start; i < n.Segment.Stop; {
				size := run(s[i:])
				if begins(s, i, size) {
					if at, mark = i, s[i:i+size]; s[i] == '`' {
						return ast.WalkStop, nil
					}
				}
				i += size
			}
		}
		return ast.WalkContinue, nil
	})
	return at, mark
}

// run is the bytes of all marks of one kind, of an escape, or of one character.
func run(s string) int {
	switch {
	case s[0] == '\\' && len(s) > 1:
		return 2
	case strings.IndexByte("*_~`", s[0]) >= 0:
		return len(s) - len(strings.TrimLeft(s, s[:1]))
	}
	return 1
}

// begins reports whether a run of marks can begin something.
func begins(s string, at, size int) bool {
	after := s[min(len(s), at+size):]
	if strings.IndexByte("*_~`", s[at]) < 0 || size > 3 || s[at] == '~' && size != 2 || after == "" || strings.IndexByte(" \t\n", after[0]) >= 0 {
		return false
	}
	return s[at] == '`' || (s[at] != '_' && size > 1) || !wordEnd(s[:at])
}

func wordEnd(s string) bool {
	c, _ := utf8.DecodeLastRuneInString(s)
	return unicode.IsLetter(c) || unicode.IsDigit(c)
}
