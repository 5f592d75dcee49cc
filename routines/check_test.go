package routines

import (
	"slices"
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

func TestSayIsReadAndWhatContradictsItIsRefusedWithTheCure(t *testing.T) {
	const sound = "background: true\ncheck: ./look.sh\n"
	for _, c := range []struct{ keys, says string }{
		{sound + "say: check\n", ""},
		{sound + "say: check\nessential: true\ntrust-input: true\nmissed: run\nlate: 2 hours\nwindow: 9:00-11:00\nupdate-main-session: blocked\n", ""},
		{"background: true\ncheck: mcp__weather__alerts\nsay: check\n", ""},
		{sound + "say: model\n", "write check, or delete the line"},
		{"background: true\nsay: check\n", "there is no check; add a line check:"},
		{"check: ./look.sh\nsay: check\n", "write background: true, or delete say"},
		{sound + "say: check\nallow-ping: false\n", "allow-ping: false forbids; delete one of them"},
		{sound + "say: check\nmodel: haiku\n", "delete model, or delete say"},
		{sound + "say: check\nthinking: false\n", "delete thinking, or delete say"},
		{sound + "say: check\nisolated: true\n", "delete isolated, or delete say"},
		{sound + "say: check\nskills: [weekly-review]\n", "delete skills, or delete say"},
		{sound + "say: check\nsubagent: user-proxy\n", "delete subagent, or delete say"},
		{sound + "say: check\nallowed-tools: [\"WebFetch\"]\n", "delete allowed-tools, or delete say"},
		{sound + "say: check\ndisallowed-tools: [\"WebFetch\"]\n", "delete disallowed-tools, or delete say"},
	} {
		r, problems := ParseRoutine("routines/a.md", []byte("---\nid: a1\ncron: 0 9 * * *\n"+c.keys+"---\nThe words.\n"))
		if r.Says != (c.says == "") || HasErrors(problems) != (c.says != "") {
			t.Errorf("%sis read as %v, %+v", c.keys, r.Says, problems)
			continue
		}
		if found := slices.ContainsFunc(problems, func(p Problem) bool { return strings.Contains(p.Message, c.says) }); c.says != "" && !found {
			t.Errorf("%s: %+v", c.keys, problems)
		}
		if again, _ := ParseRoutine("routines/a.md", FormatRoutine(r)); again.Says != r.Says {
			t.Errorf("%s: written again it is %v", c.keys, again.Says)
		}
		if ours := strings.Join(r.Ours(), ""); strings.Contains(ours, "ignores say") != r.Says {
			t.Errorf("%s: ours alone is %q", c.keys, ours)
		}
	}
}

func TestAReminderSaysNothingByItself(t *testing.T) {
	r, problems := ParseReminder("reminders/a.md", []byte("---\nid: a1\nrun-at: 2030-01-01T09:00:00Z\nsay: check\n---\nCall.\n"), nil)
	if r.Says || len(problems) != 1 || !strings.Contains(problems[0].Message, "say is a key of routines") {
		t.Errorf("%v, %+v", r.Says, problems)
	}
}
