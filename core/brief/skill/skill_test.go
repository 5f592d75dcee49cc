package skill

import (
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
	return open(t, root)
}

func open(t *testing.T, root string) *store.Dir {
	t.Helper()
	d := storetest.At(t, root)
	return d
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

func TestTheSkillsOfADataDirectoryAreReadAsTheyStand(t *testing.T) {
	skills, problems := List(open(t, "testdata"))
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
	for _, c := range []struct {
		name, text   string
		ok           bool
		line, column int
		message      string
	}{
		{"valid", file("demo", ""), true, 0, 0, ""},
		{"fields of other programs", file("demo", "model: opus\nlicense: MIT\n"), true, 0, 0, ""},
		{"no front matter", "Just text.\n", false, 1, 1, "three dashes"},
		{"bad YAML", "---\nname: \"demo\ndescription: x\n---\n", false, 2, 7, ""},
		{"a list instead of keys", "---\n- name\n- description\n---\nx\n", false, 2, 1, ""},
		{"no name", "---\ndescription: x\n---\nx\n", false, 1, 1, `name: "demo"`},
		{"an empty name", "---\ndescription: x\nname: \" \"\n---\nx\n", false, 3, 1, "there is no name"},
		{"a name that is a list", "---\ndescription: x\nname: [a]\n---\nx\n", false, 3, 1, "must be text"},
		{"no description", "---\nname: demo\n---\nx\n", false, 1, 1, "description:"},
		{"another name than the folder's", file("other", ""), true, 2, 7, "make them equal"},
		{"tools that are no list", file("demo", "allowed-tools: Read\n"), true, 4, 16, "must be a list"},
		{"an item that is no pattern", file("demo", "allowed-tools:\n  - [a]\n"), true, 5, 5, "no tool pattern"},
		{"a tool that is everything", file("demo", "allowed_tools:\n  - \"Bash(*)\"\n"), true, 5, 5, "left out"},
		{"a broad tool", file("demo", "allowed-tools:\n  - \"Read(*)\"\n"), true, 5, 5, "broad"},
		{"no text", "---\nname: demo\ndescription: x\n---\n", true, 5, 1, "no text"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, problems, ok := Parse("demo", []byte(c.text))
			if ok != c.ok || ok && s.Name == "" || !ok && s.Path != "" {
				t.Fatalf("ok is %v, skill %+v, problems %v", ok, s, problems)
			}
			if c.line == 0 {
				if len(problems) != 0 {
					t.Fatalf("problems: %v", problems)
				}
				return
			}
			if len(problems) != 1 {
				t.Fatalf("want one problem: %v", problems)
			}
			p := problems[0]
			if p.File != "skills/demo/SKILL.md" || p.Line != c.line || p.Column != c.column || !strings.Contains(p.Message, c.message) {
				t.Errorf("problem is %+v, want %d:%d with %q", p, c.line, c.column, c.message)
			}
			if (p.Severity == routines.Error) == c.ok {
				t.Errorf("severity is %s while ok is %v", p.Severity, ok)
			}
		})
	}
}

func TestAFolderThatBreaksTheRuleForNamesIsReadWithAWarning(t *testing.T) {
	_, problems, ok := Parse("Demo_1", []byte(file("Demo_1", "")))
	if !ok || len(problems) != 1 || problems[0].Message != textNameLetters {
		t.Errorf("ok %v, problems %v", ok, problems)
	}
}

func TestTextOfASkillIsCleaned(t *testing.T) {
	s, _, ok := Parse("demo", []byte("---\nname: demo\ndescription: \"a\\e[31m b\\u202e\"\n---\nOne.\x1b[2J\n\n  Two.\u202e\x07\n"))
	if !ok || s.Description != "a b" || s.Body != "One.\n\n  Two." {
		t.Errorf("ok %v, skill %q", ok, s)
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
	var told []string
	_, problems := List(d)
	for _, p := range problems {
		if p.Severity == routines.Error {
			told = append(told, p.File)
		}
	}
	want := []string{"absolute", "broken", "huge", "inner", "linked", "pipe"}
	for i, name := range want {
		want[i] = "skills/" + name + "/SKILL.md"
	}
	if diff := cmp.Diff(want, told); diff != "" {
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
	for _, c := range []struct {
		name   string
		skills []Skill
		want   []string
	}{
		{"no skills", nil, nil},
		{"a skill without tools", []Skill{{Name: "a"}}, nil},
		{
			"two skills",
			[]Skill{{Tools: []string{"Read(./b.md)", "WebFetch"}}, {}, {Tools: []string{"Read(./a.md)", "WebFetch"}}},
			[]string{"Read(./b.md)", "WebFetch", "Read(./a.md)"},
		},
		{"what would hand over everything", []Skill{{Tools: []string{"Bash(*)", "Bash(a; b)", "Write(state/**)", "Read(*)"}}}, []string{"Read(*)"}},
	} {
		if diff := cmp.Diff(c.want, Tools(c.skills)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}
