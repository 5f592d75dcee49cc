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
	others := []ToolUse{
		a, use("Bash", `{"command":"ls","timeout":6}`), use("Bas", `h{"command":"ls","timeout":5}`), use("Read", string(a.Input)), use("Bash", `{"command":"ls "}`),
		use("Bash", `{"n":9007199254740993}`), use("Bash", `{"n":9007199254740992}`), use("Bash", `{"command":"ls","timeout":5}{}`), use("Bash", ""), use("Bash", "{"), use("Bash", "null"),
		{},
	}
	for i, one := range others {
		for _, other := range others[:i] {
			if _, ok := Approve(other, one.Allowed()); ok || other.Digest() == one.Digest() {
				t.Errorf("%s %s runs with the approval of %s %s", other.Name, other.Input, one.Name, one.Input)
			}
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

func TestAUsageIsSummedUpAndKnowsWhatACacheGave(t *testing.T) {
	a := Usage{InputTokens: 1, OutputTokens: 20, CacheRead: 300, CacheWrite: 4_000, CacheHour: 50_000, CostUSD: 0.5, Free: true}
	b := Usage{InputTokens: 2, OutputTokens: 30, CacheRead: 400, CacheWrite: 5_000, CacheHour: 60_000, CostUSD: 0.25}
	if got, want := a.Add(b), (Usage{3, 50, 700, 9_000, 110_000, 0.75, false}); got != want {
		t.Errorf("the sum is %+v, want %+v", got, want)
	}
	if a.Tokens() != 4_321 || a.Prompt() != 4_301 {
		t.Errorf("%d tokens, %d of them read", a.Tokens(), a.Prompt())
	}
	for _, c := range []struct {
		u     Usage
		share float64
		ok    bool
	}{{a, 300.0 / 4_301, true}, {Usage{CacheWrite: 1}, 0, true}, {Usage{CacheRead: 1}, 1, true}, {Usage{InputTokens: 5}, 0, false}} {
		if share, ok := c.u.Cached(); share != c.share || ok != c.ok {
			t.Errorf("of %+v %v is from a cache (known: %t), want %v (%t)", c.u, share, ok, c.share, c.ok)
		}
	}
}

func TestAModelIsFoundByEachOfItsNames(t *testing.T) {
	s := Status{Models: func() []Model {
		return []Model{{Names: []string{"", "opus"}}, {Names: []string{"haiku", "small"}, AlwaysThinks: true}}
	}}
	for name, always := range map[string]bool{"": false, "opus": false, "haiku": true, "small": true} {
		if m, ok := s.Model(name); !ok || m.AlwaysThinks != always {
			t.Errorf("%q is %+v, %v", name, m, ok)
		}
	}
	if m, ok := s.Model("large"); ok {
		t.Errorf("an unknown one is %+v", m)
	}
	if m, ok := (Status{}).Model("opus"); ok {
		t.Errorf("without a list it is %+v", m)
	}
}
