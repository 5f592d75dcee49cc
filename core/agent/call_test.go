package agent

import (
	"encoding/json"
	"testing"
)

func TestACallIsIdentifiedByWhatItDoes(t *testing.T) {
	use := func(name, input string) ToolUse { return ToolUse{Name: name, Input: json.RawMessage(input)} }
	a := use("Bash", `{"command": "ls", "timeout": 5}`)
	for _, same := range []ToolUse{use("Bash", `{"timeout":5,"command":"ls"}`), use("Bash", `{"command":"\u006cs","timeout":5}`)} {
		if same.Digest() != a.Digest() {
			t.Errorf("%s differs", same.Input)
		}
	}
	for _, other := range []ToolUse{
		use("Bash", `{"command":"ls","timeout":6}`), use("Bas", `h{"command":"ls","timeout":5}`), use("Read", string(a.Input)), use("Bash", `{"command":"ls "}`),
		use("Bash", `{"n":9007199254740993}`), use("Bash", `{"n":9007199254740992}`), use("Bash", `{"command":"ls","timeout":5}{}`), use("Bash", ""),
		{},
	} {
		if other.Digest() == a.Digest() {
			t.Errorf("%s %s is the same", other.Name, other.Input)
		}
		if _, ok := Approve(other, a.Allowed()); ok {
			t.Errorf("%s %s runs with the approval of another call", other.Name, other.Input)
		}
	}
	if _, ok := Approve(a, Decision{Allow: true}); ok {
		t.Error("a decision about no call approves one")
	}
	if _, ok := Approve(a, Decision{Digest: a.Digest()}); ok {
		t.Error("a refused call is approved")
	}
	record, ok := Approve(a, a.Allowed())
	want := string(a.Input)
	a.Input[2] = 'X'
	if !ok || string(record.Input()) != want {
		t.Errorf("the record became %s", record.Input())
	}
}
