package markdown

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/net/html"
)

// visible are the letters and digits of an HTML page that a reader sees, in order.
func visible(page string) string {
	var b strings.Builder
	z := html.NewTokenizer(strings.NewReader(page))
	for z.Next() != html.ErrorToken {
		if t := z.Token(); t.Type == html.TextToken {
			b.WriteString(t.Data)
		}
	}
	return lettersOf(b.String())
}

func lettersOf(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, s)
}

// inOrder reports whether a text contains the characters of another in their order.
func inOrder(part, whole string) bool {
	rest := []rune(part)
	for _, r := range whole {
		if len(rest) > 0 && rest[0] == r {
			rest = rest[1:]
		}
	}
	return len(rest) == 0
}

// The examples of CommonMark 0.31.2 (spec.commonmark.org; CC BY-SA 4.0).
func TestNoExampleOfCommonMarkLosesALetter(t *testing.T) {
	data, err := os.ReadFile("testdata/commonmark.json")
	if err != nil {
		t.Fatal(err)
	}
	var examples [][4]any // number, section, markdown, HTML
	if err := json.Unmarshal(data, &examples); err != nil {
		t.Fatal(err)
	}
	for _, e := range examples {
		source, page := e[2].(string), e[3].(string)
		var d Doc
		got := words(d.Rows(source, Look{Theme: colours(), W: 300}))
		if want := visible(page); !inOrder(want, lettersOf(got)) {
			t.Errorf("%v (%v): %q is drawn as %q, and its page reads %q", e[0], e[1], source, got, want)
		}
	}
}
