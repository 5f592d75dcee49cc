package webhook

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/routines"
	"ollimbot/routines/watch"
)

func parsed(t testing.TB, text string) Spec {
	t.Helper()
	s, problems := Parse("webhooks/x.md", []byte(text))
	if routines.HasErrors(problems) {
		t.Fatalf("the spec has errors: %+v", problems)
	}
	return s
}

// spec returns a file with these fields and body.
func spec(fields, body string) string {
	return "---\nid: x\nfields:\n" + fields + "---\n" + body + "\n"
}

func TestTheFixtureIsReadWithAllItSays(t *testing.T) {
	s, problems := Parse("webhooks/github-ci.md", []byte(ciSpec))
	if len(problems) > 0 {
		t.Fatalf("problems: %+v", problems)
	}
	want := routines.Task{
		Kind: routines.KindWebhook, ID: "github-ci", Path: "webhooks/github-ci.md", Background: true,
		Body:  "CI result for {repo}: {status}. Check if it warrants attention.",
		Model: "haiku", Thinking: true, Isolated: true, Mode: routines.OnPing, AllowPing: true,
	}
	if diff := cmp.Diff(want, s.Task); diff != "" {
		t.Errorf("the task (-want +got):\n%s", diff)
	}
	if text, err := json.Marshal(&s); err != nil ||
		string(text) != `{"id":"github-ci","file":"webhooks/github-ci.md","title":"CI result for {repo}: {status}. Check if it warrants…","fields":["branch","repo","run","status"]}` {
		t.Errorf("as JSON it is %s, %v", text, err)
	}
}

func TestBothKeyStylesAreReadAndDefaultsHold(t *testing.T) {
	s := parsed(t, "---\nid: a_b-1\nallow_ping: no\nupdate_main_session: blocked\nthinking: false\nallowed_tools: [WebFetch]\nskills: [tidy]\n"+
		"fields:\n  properties: {user_name: {type: string}}\n---\nHello {user_name}\n")
	if s.AllowPing || s.Thinking || s.Mode != routines.Blocked || len(s.Allowed) != 1 || s.Skills[0] != "tidy" {
		t.Errorf("the keys were not read: %+v", s.Task)
	}
	if diff := cmp.Diff([]string{"user_name"}, s.Fields.Declared); diff != "" {
		t.Errorf("names of fields must stay as they are (-want +got):\n%s", diff)
	}
	s = parsed(t, "---\nid: a\nfields: {type: object}\n---\nGo\n")
	if !s.AllowPing || !s.Thinking || s.Isolated || s.Mode != routines.OnPing || s.Allowed != nil || s.Model != "" {
		t.Errorf("the defaults do not hold: %+v", s.Task)
	}
}

func TestEveryProblemHasItsPlaceAndItsCure(t *testing.T) {
	const types = "type must be one of array, boolean, integer, null, number, object, string"
	for name, c := range map[string]struct{ text, want string }{
		"no front matter": {"hello", "1:1 error…"},
		"no id":           {"---\nfields: {properties: {a: {}}}\n---\nGo {a}", "1:1 error " + msgNoID},
		"bad id":          {"---\nid: a/b\nfields: {properties: {a: {}}}\n---\nGo", "2:5 error " + fmt.Sprintf(msgBadID, `"a/b"`, 64, "github-ci")},
		"a tilde":         {"---\nid: a~b\nfields: {properties: {a: {}}}\n---\nGo", "2:5 error " + fmt.Sprintf(msgBadID, `"a~b"`, 64, "github-ci")},
		"no fields":       {"---\nid: a\n---\nGo", "1:1 error " + msgNoFields},
		"fields a list":   {"---\nid: a\nfields:\n  - x\n---\nGo", "4:3 error " + msgFieldsMapping},
		"no body":         {"---\nid: a\nfields: {properties: {a: {}}}\n---\n", "5:1 error there is no prompt…"},
		"bad type":        {spec("  properties:\n    a:\n      type: text\n", "Go"), "6:7 error " + fmt.Sprintf(msgFieldsSchema, "properties.a."+types)},
		"flow bad type":   {"---\nid: x\nfields: {type: thing}\n---\nGo", "3:10 error " + fmt.Sprintf(msgFieldsSchema, types)},
		"bad pattern":     {spec("  properties:\n    a:\n      pattern: \"(?=x)\"\n", "Go"), "6:7 error " + fmt.Sprintf(msgFieldsPattern, `"(?=x)"`)},
		"pattern names":   {spec("  patternProperties:\n    \"(?=x)\": {}\n", "Go"), "5:5 error " + fmt.Sprintf(msgFieldsPattern, `"(?=x)"`)},
		"file reference":  {spec("  properties:\n    a:\n      $ref: \"file:///etc/passwd\"\n", "Go"), "6:7 error " + msgFieldsRef},
		"net reference":   {spec("  allOf:\n    - $ref: \"http://127.0.0.1:1/x\"\n", "Go"), "5:7 error " + msgFieldsRef},
		"lost reference":  {spec("  properties:\n    a:\n      $ref: \"#/definitions/b\"\n", "Go"), "3:1 error " + fmt.Sprintf(msgFieldsLost, `"#/definitions/b"`)},
		"anchor ref":      {spec("  properties:\n    a:\n      $ref: \"#b\"\n", "Go"), "6:7 error " + msgFieldsRef},
		"moving id":       {spec("  properties:\n    a:\n      $id: \"http://x/y\"\n", "Go"), "6:7 error " + msgFieldsID},
		"bad item":        {spec("  items: [5]\n", "Go"), "4:11 error fields is not a valid JSON Schema: items.0 must be boolean or object, not number"},
		"other draft":     {spec("  $schema: \"https://json-schema.org/draft/2020-12/schema\"\n", "Go"), "4:3 error " + msgFieldsDraft},
		"twice":           {spec("  type: object\n  type: object\n", "Go"), "5:3 error the key type is already set in line 4…"},
		"huge number":     {spec("  maxProperties: 1e999\n", "Go"), "4:18 error " + msgFieldsNumber},
		"anchor":          {spec("  properties: &a\n    b: {}\n", "Go"), "4:15 error anchors and aliases…"},
		"unknown key":     {"---\nid: x\nfeilds: 1\nfields: {properties: {a: {}}}\n---\nGo", "3:1 warning webhooks have no key \"feilds\"…"},
		"foreign key":     {"---\nid: x\nbackground: true\nfields: {properties: {a: {}}}\n---\nGo", "3:1 warning background has no effect here…"},
		"not a boolean":   {"---\nid: x\nisolated: maybe\nfields: {properties: {a: {}}}\n---\nGo", "3:11 error isolated is \"maybe\"…"},
		"model":           {"---\nid: x\nmodel: gpt\nfields: {properties: {a: {}}}\n---\nGo", "3:8 error model is \"gpt\"…"},
		"mode":            {"---\nid: x\nupdate-main-session: often\nfields: {properties: {a: {}}}\n---\nGo", "3:22 error update-main-session…"},
		"tool":            {"---\nid: x\nallowed-tools:\n  - \"Bash(*)\"\nfields: {properties: {a: {}}}\n---\nGo", "4:6 error…"},
		"two lists":       {"---\nid: x\nallowed-tools: [A]\ndisallowed-tools: [B]\nfields: {properties: {a: {}}}\n---\nGo", "4:1 error allowed-tools and…"},
		"placeholder":     {spec("  properties: {a: {}}\n", "\nGo\n  é {b}"), "8:5 warning " + fmt.Sprintf(msgUnfilled, `"b"`)},
		"nothing":         {spec("  type: object\n", "Go"), "3:1 warning " + msgNothingDeclared},
		"too many fields": {spec("  properties:\n"+fields(21), "Go"), "4:3 warning " + fmt.Sprintf(msgTooManyDeclared, 21, 20)},
		"too many holes":  {spec("  properties: {a: {}}\n", strings.Repeat("{a}", 51)), "6:1 error the prompt uses fields 51 times; the most is 50"},
	} {
		_, problems := Parse("webhooks/x.md", []byte(c.text))
		var got []string
		for _, p := range problems {
			got = append(got, fmt.Sprintf("%d:%d %s %s", p.Line, p.Column, p.Severity, p.Message))
		}
		begin, cut := strings.CutSuffix(c.want, "…") // the rest are words of other packages
		if len(got) != 1 || got[0] != c.want && (!cut || !strings.HasPrefix(got[0], begin)) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// fields declares n text fields.
func fields(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "    f%02d: {type: string}\n", i)
	}
	return b.String()
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{ciSpec, fixedSpec, openSpec, spec("  properties:\n    a:\n      $ref: \"#\"\n", "{a}")} {
		f.Add([]byte(text), []byte(`{"repo":"a","status":"success","a":{"a":[]}}`))
	}
	f.Fuzz(func(t *testing.T, data, payload []byte) {
		s, problems := Parse("webhooks/x.md", data)
		for _, p := range problems {
			if p.Line < 1 || p.Column < 1 || p.Message == "" || strings.Contains(p.Message, "\n") {
				t.Fatalf("a problem without place or words: %+v", p)
			}
		}
		if routines.HasErrors(problems) {
			return
		}
		if _, err := s.Check(payload); err != nil && err.Error() == "" {
			t.Fatal("a refusal without words")
		}
	})
}

func TestTheIndexFollowsTheFolder(t *testing.T) {
	d := storetest.Dir(t)
	x := NewIndex(d)
	if !x.Scan().Empty() || len(x.Specs(false)) != 0 {
		t.Fatal("a missing folder is an empty one")
	}
	put(t, d, "a.md", ciSpec)
	put(t, d, ".#a.md", "an editor's own")
	put(t, d, "notes.txt", "not a spec")
	if x.Apply(watch.Batch{Full: true}).Empty() {
		t.Fatal("the new file was not seen")
	}
	if s, ok := x.Find("github-ci"); !ok || s.Path != "webhooks/a.md" {
		t.Fatalf("%+v, %v", s.Task, ok)
	}
	put(t, d, "a.md", "---\nid: [")
	x.Refresh([]string{"webhooks/a.md"})
	if _, ok := x.Find("github-ci"); !ok {
		t.Error("a file that breaks takes its webhook away")
	}
	put(t, d, "a.md", ciSpec)
	x.Scan()
	if !x.Scan().Empty() || !x.Refresh([]string{"webhooks/a.md", "routines/a.md", "webhooks/../a.md"}).Empty() {
		t.Error("nothing has changed")
	}
	put(t, d, "a.md", strings.Replace(ciSpec, "github-ci", "gitlab-ci", 1))
	if x.Apply(watch.Batch{Names: []string{"routines/x.md", "webhooks/a.md"}}).Empty() {
		t.Error("the change was not seen")
	}
	if _, ok := x.Find("github-ci"); ok {
		t.Error("the old id is still in force")
	}
	testkit.Must(t, d.Remove("webhooks/a.md"))
	if x.Refresh([]string{"webhooks/a.md"}).Empty() || len(x.Specs(false)) != 0 {
		t.Error("the file is gone, its spec is not")
	}
}

func TestAWebhookWorksAsBeforeWhileItsEditWaits(t *testing.T) {
	d := storetest.Dir(t)
	edited := strings.Replace(ciSpec, "---\n", "---\nallowed-tools: [\"Bash(rm *)\"]\n", 1)
	if err := routines.KeepText(d, []byte(ciSpec)); err != nil {
		t.Fatal(err)
	}
	put(t, d, "a.md", edited)
	x := NewIndex(d)
	x.JudgeBy(func(task *routines.Task) string {
		if len(task.Allowed) > 0 {
			return "it may use Bash(rm *)"
		}
		return ""
	})
	x.KeepBy(func(version string) string {
		return map[string]string{routines.Digest([]byte(edited)): routines.Digest([]byte(ciSpec))}[version]
	})
	x.Scan()
	if s, ok := x.Find("github-ci"); !ok || len(s.Allowed) != 0 || len(x.Specs(false)) != 1 || len(x.Specs(true)) != 0 {
		t.Errorf("in force is %+v", s)
	}
	put(t, d, "b.md", "no front matter")
	x.Scan()
	p := x.Problems()
	if len(p) != 2 || p[0].File != "webhooks/b.md" || !strings.Contains(p[1].Proposed.Diff, "+allowed-tools") {
		t.Fatalf("problems: %+v", p)
	}
	want := routines.Problem{
		File: "webhooks/a.md", Severity: routines.Warning, Waits: true, Version: routines.Digest([]byte(edited)), Proposed: p[1].Proposed,
		Message: "an edit is waiting: it may use Bash(rm *). The old text stays in force until you decide on its card or in the schedule",
	}
	if diff := cmp.Diff(want, p[1]); diff != "" || p[1].Proposed.Version != p[1].Version {
		t.Errorf("what waits is %+v, %s", p[1], diff)
	}
}

func TestAWebhookThatWaitsForItsUserIsNotInForce(t *testing.T) {
	d := storetest.Dir(t)
	put(t, d, "a.md", ciSpec)
	x := NewIndex(d)
	why := "it may use Bash"
	x.JudgeBy(func(*routines.Task) string { return why })
	x.Scan()
	if _, ok := x.Find("github-ci"); ok || len(x.Specs(false)) != 0 || len(x.Specs(true)) != 1 {
		t.Error("it is in force")
	}
	want := []routines.Problem{{
		File: "webhooks/a.md", Severity: routines.Warning, Waits: true, Version: routines.Digest([]byte(ciSpec)),
		Message: "it is off until you approve it: it may use Bash; decide on its card or in the schedule",
	}}
	if diff := cmp.Diff(want, x.Problems()); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	why = ""
	x.Judge()
	if _, ok := x.Find("github-ci"); !ok || len(x.Problems()) != 0 {
		t.Errorf("it still waits: %+v", x.Problems())
	}
}
