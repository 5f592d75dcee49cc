package skill

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/routines"
)

// at returns a data directory with files.
func at(t *testing.T, files map[string]string) *store.Dir {
	t.Helper()
	root := t.TempDir()
	for rel, text := range files {
		path := filepath.Join(root, rel)
		testkit.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		testkit.Must(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return storetest.At(t, root)
}

func file(name, rest string) string {
	return "---\nname: \"" + name + "\"\ndescription: \"What it is for.\"\n" + rest + "---\nDo it.\n"
}

func names(skills []Skill) []string {
	list := make([]string, 0, len(skills))
	for _, s := range skills {
		list = append(list, s.Name)
	}
	return list
}

func TestTheSkillsOfADataDirectoryAreReadAsTheyAre(t *testing.T) {
	skills, problems := List(storetest.At(t, "testdata"))
	want := []Skill{
		{
			Name: "email-triage", Description: "Sort email by what needs an answer, an action, or nothing.",
			Body: "Sort every unread message into one of three: answer today, act this week, ignore.\n" +
				"The rules for priority are in `skills/email-triage/references/priority-rules.md`.\n\nToday is !`date +%A`.",
			Tools: []string{"Bash(ollim-bot gmail *)"}, Path: "skills/email-triage/SKILL.md",
		},
		{
			Name: "focus-coach", Description: "Help the user start one small thing.",
			Body: "Offer one first step that takes less than two minutes. Wait for an answer.", Path: "skills/focus-coach/SKILL.md",
		},
	}
	for i := range skills {
		if len(skills[i].Digest) != 64 {
			t.Errorf("%s has the digest %q", skills[i].Name, skills[i].Digest)
		}
		skills[i].Digest = ""
	}
	if diff := cmp.Diff(want, skills); diff != "" || len(problems) != 0 {
		t.Errorf("problems %v, skills (-want +got):\n%s", problems, diff)
	}
}

func TestAFileIsParsedOrSaysWhereItIsWrong(t *testing.T) {
	for _, c := range []struct{ name, text, want, says string }{
		{"valid", file("demo", ""), "a skill", ""},
		{"fields of other programs", file("demo", "model: opus\nlicense: MIT\n"), "a skill", ""},
		{"no front matter", "Just text.\n", "1:1 error", "three dashes"},
		{"bad YAML", "---\nname: \"demo\ndescription: x\n---\n", "2:7 error", ""},
		{"a list instead of keys", "---\n- name\n- description\n---\nx\n", "2:1 error", ""},
		{"no name", "---\ndescription: x\n---\nx\n", "1:1 error", `name: "demo"`},
		{"an empty name", "---\ndescription: x\nname: \" \"\n---\nx\n", "3:1 error", "there is no name"},
		{"a name that is a list", "---\ndescription: x\nname: [a]\n---\nx\n", "3:1 error", "must be text"},
		{"no description", "---\nname: demo\n---\nx\n", "1:1 error", "description:"},
		{"another name than the folder's", file("other", ""), "a skill 2:7 warning", "make them equal"},
		{"a name that breaks the rule", file("Demo_1", ""), "a skill 2:7 warning", textNameLetters},
		{"tools that are no list", file("demo", "allowed-tools: Read\n"), "a skill 4:16 warning", "must be a list"},
		{"an item that is no pattern", file("demo", "allowed-tools:\n  - [a]\n"), "a skill 5:5 warning", "no tool pattern"},
		{"a tool that is everything", file("demo", "allowed_tools:\n  - \"Bash(*)\"\n"), "a skill 5:5 warning", "left out"},
		{"a broad tool", file("demo", "allowed-tools:\n  - \"Read(*)\"\n"), "a skill 5:5 warning", "broad"},
		{"no text", "---\nname: demo\ndescription: x\n---\n", "a skill 5:1 warning", "no text"},
	} {
		folder := "demo"
		if strings.Contains(c.text, "Demo_1") {
			folder = "Demo_1"
		}
		s, problems, ok := Parse(folder, []byte(c.text))
		got, says := map[bool]string{true: "a skill"}[ok && s.Name != "" && s.Path == "skills/"+folder+"/SKILL.md"], ""
		for _, p := range problems {
			got, says = got+fmt.Sprintf(" %d:%d %s", p.Line, p.Column, p.Severity), says+p.Message
			if p.File != "skills/"+folder+"/SKILL.md" {
				t.Errorf("%s: the problem is in %s", c.name, p.File)
			}
		}
		if strings.TrimSpace(got) != c.want || !strings.Contains(says, c.says) || !ok && s.Path != "" {
			t.Errorf("%s: %s %q, want %s %q", c.name, got, says, c.want, c.says)
		}
	}
	s, _, ok := Parse("demo", []byte("---\nname: demo\ndescription: \"a\\e[31m b\\u202e\"\n---\nOne.\x1b[2J\n\n  Two.\u202e\x07\n"))
	if !ok || s.Description != "a b" || s.Body != "One.\n\n  Two." {
		t.Errorf("a text that is not clean: %v, skill %q", ok, s)
	}
}

func TestListReadsFoldersWithAFileSortedByName(t *testing.T) {
	if skills, problems := List(at(t, nil)); len(skills)+len(problems) != 0 {
		t.Errorf("without a folder: %v, %v", skills, problems)
	}
	d := at(t, map[string]string{
		"skills/zeta/SKILL.md": file("zeta", ""), "skills/alpha/SKILL.md": file("alpha", ""),
		"skills/broken/SKILL.md": "no front matter", "skills/empty/notes.md": "x", "skills/README.md": "x",
	})
	skills, problems := List(d)
	if diff := cmp.Diff([]string{"alpha", "zeta"}, names(skills)); diff != "" {
		t.Error(diff)
	}
	if len(problems) != 1 || problems[0].File != "skills/broken/SKILL.md" || problems[0].Line != 1 || problems[0].Column != 1 {
		t.Errorf("problems are %+v", problems)
	}
	if skills, problems := List(at(t, map[string]string{"skills": "a file"})); len(skills) != 0 || len(problems) != 1 {
		t.Errorf("a file in the folder's place: %v, %v", skills, problems)
	}
	none := at(t, map[string]string{"skills/x": ""})
	testkit.Must(t, os.Remove(none.Path("skills/x")))
	if skills, problems := List(none); len(skills)+len(problems) != 0 {
		t.Errorf("an empty folder: %v, %v", skills, problems)
	}
}

func TestReadFindsOnlyWhatLiesInTheSkillsFolder(t *testing.T) {
	d := at(t, map[string]string{
		"skills/good/SKILL.md": file("good", ""), "skills/broken/SKILL.md": "x", "skills/deep/er/SKILL.md": file("er", ""),
		"outside/SKILL.md": file("outside", ""), "SKILL.md": file("top", ""), "skills/SKILL.md": file("here", ""),
		"skills/huge/SKILL.md": file("huge", "") + strings.Repeat("x", maxFile),
	})
	link := func(target, rel string) {
		t.Helper()
		testkit.Must(t, os.MkdirAll(filepath.Dir(d.Path(rel)), 0o700))
		testkit.Must(t, os.Symlink(target, d.Path(rel)))
	}
	link("../outside", "skills/linked")
	link(d.Path("outside"), "skills/absolute")
	link("../../outside/SKILL.md", "skills/inner/SKILL.md")
	link("good", "skills/alias")
	link("nowhere", "skills/dangling")
	testkit.Must(t, os.MkdirAll(d.Path("skills/pipe"), 0o700))
	testkit.Must(t, syscall.Mkfifo(d.Path("skills/pipe/SKILL.md"), 0o600))
	for _, name := range []string{
		"", ".", "..", "../..", "../outside", "good/../../outside", "deep/er", "/", d.Path("outside"), `..\outside`, "good\x00", "good\n",
		"broken", "missing", "huge", "linked", "absolute", "inner", "dangling", "pipe", "good/",
	} {
		if s, ok := Read(d, name); ok {
			t.Errorf("Read(%q) found %+v", name, s)
		}
	}
	for _, name := range []string{"good", "alias"} {
		if s, ok := Read(d, name); !ok || s.Name != "good" {
			t.Errorf("Read(%q) is %+v, %v", name, s, ok)
		}
	}
	var wrong []string
	_, problems := List(d)
	for _, p := range problems {
		if p.Severity == routines.Error {
			wrong = append(wrong, p.File)
		}
	}
	want := []string{"absolute", "broken", "huge", "inner", "linked", "pipe"}
	for i, name := range want {
		want[i] = "skills/" + name + "/SKILL.md"
	}
	if diff := cmp.Diff(want, wrong); diff != "" {
		t.Errorf("errors (-want +got):\n%s\n%v", diff, problems)
	}
}

func TestLoadKeepsTheOrderAndDropsWhatIsMissing(t *testing.T) {
	d := at(t, map[string]string{
		"skills/a/SKILL.md": file("a", ""), "skills/b/SKILL.md": file("b", ""), "skills/broken/SKILL.md": "x",
	})
	got := names(Load(d, []string{"b", "missing", "../a", "broken", "a", "b"}))
	if diff := cmp.Diff([]string{"b", "a"}, got); diff != "" {
		t.Error(diff)
	}
	if got := Load(d, nil); got != nil {
		t.Errorf("nothing asked for, got %v", got)
	}
}

func TestToolsAreCollectedOnceAndInOrderWithoutTheDangerousOnes(t *testing.T) {
	list := []Skill{
		{Tools: []string{"Read(./b.md)", "WebFetch"}},
		{},
		{Tools: []string{"Read(./a.md)", "WebFetch"}},
		{Tools: []string{"Bash(*)", "Bash(a; b)", "Write(state/**)", "Read(*)"}},
	}
	if diff := cmp.Diff([]string{"Read(./b.md)", "WebFetch", "Read(./a.md)", "Read(*)"}, Tools(list)); diff != "" || Tools([]Skill{{}}) != nil {
		t.Errorf("-want +got:\n%s", diff)
	}
}
