package routines

import (
	"strings"
	"testing"
)

func TestACheckIsReadAndItsMistakesHaveALine(t *testing.T) {
	const head = "---\nid: a1\ncron: 0 9 * * *\nbackground: %\ncheck: "
	for _, c := range []struct{ background, line, check, says string }{
		{"true", "./new-mail.sh --quiet", "./new-mail.sh --quiet", ""},
		{"true", `""`, "", "check is empty"},
		{"false", "./new-mail.sh", "", "background only"},
		{"true", "mcp__mail__unread", "", "not a tool"},
	} {
		r, problems := ParseRoutine("routines/a.md", []byte(strings.Replace(head, "%", c.background, 1)+c.line+"\n---\nLook.\n"))
		if r.Check != c.check {
			t.Errorf("%q is %q", c.line, r.Check)
		}
		if (len(problems) == 0) != (c.says == "") {
			t.Errorf("%q: %+v", c.line, problems)
		} else if c.says != "" && (!strings.Contains(problems[0].Message, c.says) || problems[0].Line != 5) {
			t.Errorf("%q: %+v", c.line, problems)
		}
		if again, _ := ParseRoutine("routines/a.md", FormatRoutine(r)); again.Check != c.check {
			t.Errorf("written again, %q is %q", c.check, again.Check)
		}
	}
}
