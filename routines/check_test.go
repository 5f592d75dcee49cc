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
		{"true", "mcp__mail__unread", "mcp__mail__unread", ""},
		{"true", `mcp__weather__alerts {"area":"x"}`, `mcp__weather__alerts {"area":"x"}`, ""},
		{"true", `'mcp__weather__alerts {"area": "x y"}'`, `mcp__weather__alerts {"area": "x y"}`, ""},
		{"true", "mcp__weather__alerts area", "", "calls no tool"},
		{"true", "mcp__weather__alerts [1]", "", "calls no tool"},
		{"true", `mcp__weather__alerts {"area"`, "", "calls no tool"},
		{"true", "mcp__weather", "", "calls no tool"},
		{"true", "mcp____alerts", "", "calls no tool"},
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

func TestACheckThatCallsAToolIsReadApart(t *testing.T) {
	for check, want := range map[string][2]string{
		"mcp__mail__unread": {"mcp__mail__unread", "{}"}, `mcp__weather__alerts  {"area": "x"} `: {"mcp__weather__alerts", `{"area": "x"}`},
		"mcp__a__b__c {}": {"mcp__a__b__c", "{}"}, "./mcp__a__b": {}, "": {}, "mcp__mail__unread 7": {},
	} {
		tool, args, ok := CheckCall(check)
		if ok != (want[0] != "") || ok && (tool != want[0] || string(args) != want[1]) {
			t.Errorf("%q is %q with %s, %v", check, tool, args, ok)
		}
	}
}
