package policy

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/base/goldentest"
	"ollimbot/core/base/testkit"
	"ollimbot/routines"
)

// TestToolPolicyFilesAreRead plays testdata/policy.txt: below each file what is read from it, and its problems.
func TestToolPolicyFilesAreRead(t *testing.T) {
	goldentest.Stories(t, "policy.txt", func(t *testing.T, story string) string {
		text, _, _ := strings.Cut("\n"+story, "\n> ")
		text = strings.TrimPrefix(text, "\n")
		out := strings.TrimSpace(text)
		l := parsePolicy([]byte(text + "\n"))
		for _, list := range []struct {
			what string
			all  []string
		}{
			{"conversations have also", l.policy.MainAdditional}, {"runs have also", l.policy.BackgroundAdditional}, {"runs have only", l.policy.Override},
		} {
			if list.all != nil {
				out += fmt.Sprintf("\n> %s %q", list.what, list.all)
			}
		}
		for _, p := range l.problems {
			if p.File != FileName {
				t.Errorf("the problem is one of %s", p.File)
			}
			out += fmt.Sprintf("\n> %d:%d %s: %s", p.Line, p.Column, p.Severity, p.Message)
		}
		if !l.understood {
			out += "\n> it may take rights away, and is not understood"
		}
		return out
	})
}

func TestAFileThatIsNoYAMLNamesItsLine(t *testing.T) {
	for text, line := range map[string]int{
		"- Read\n": 1,
		"Read\n":   1,
		"bg_forks:\n  override: [Task]\n---\nmain_session: {}\n": 4,
		"bg_forks:\n  override: [Task\n":                         0,
		"bg_forks:\n  override:\n   - \"x\n":                     3,
		"a: 1\n\tb: 2\n":                                         2,
		"bg_forks: &a\n  x: *b\n":                                0,
		"bg_forks: {}\nbg_forks: {}\n":                           2,
		strings.Repeat("[", 100):                                 1,
		"a:\n" + strings.Repeat(" ", 2000) + "b: 1\n":            2,
		strings.Repeat("a: 1\n", 5000):                           2001,
		"x: " + strings.Repeat("y", 70<<10):                      0,
		"a: \x00\x01\n":                                          0,
		"? ? ? x\n" + strings.Repeat("? ", 100) + "\n":           0,
		"a: !!binary |\n  x\n" + strings.Repeat("}", 200):        0,
	} {
		l := parsePolicy([]byte(text))
		if l.understood { // text that the library accepts may contain nothing relevant, but must not change anything
			if diff := cmp.Diff(ToolPolicy{}, l.policy); diff != "" {
				t.Errorf("%.30q: %s", text, diff)
			}
		} else if len(l.problems) != 1 || l.problems[0].Severity != routines.Error || line > 0 && l.problems[0].Line != line {
			t.Errorf("%.30q: %+v, want line %d", text, l.problems, line)
		}
	}
}

func TestThePolicyExtendsAndReplacesTheLists(t *testing.T) {
	more := ToolPolicy{MainAdditional: []string{"Task", "Skill"}, BackgroundAdditional: []string{"Task"}}
	only := more
	only.Override = []string{"Read"}
	for name, c := range map[string]struct{ got, want []string }{
		"a conversation without a policy": {ToolPolicy{}.Main(), MainTools()},
		"a run without a policy":          {ToolPolicy{}.Background(), BackgroundTools()},
		"a conversation with more":        {more.Main(), append(MainTools(), "Task")},
		"a run with more":                 {more.Background(), append(BackgroundTools(), "Task")},
		"a run with only these":           {only.Background(), []string{"Read", "Task"}},
		"a run with nothing":              {ToolPolicy{Override: []string{}}.Background(), []string{}},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestAChangedFileTakesEffectAndABrokenOneDoesNot(t *testing.T) {
	g, root := newGuard(t)
	f := NewFile(g.o.Dir)
	path := filepath.Join(root, FileName)
	for _, c := range []struct {
		text     string // "" is no file
		override []string
		problem  int // its line
	}{
		{"", nil, 0},
		{"bg_forks: {override: [Read]}\n", []string{"Read"}, 0},
		{"bg_forks: {override: [Task]}\n", []string{"Task"}, 0}, // with the same size at the same moment
		{"bg_forks: {override: [Glob}\n", []string{}, 1},
		{"# nothing\n", nil, 0},
		{"bg_forks: {override: [Grep]}\n", []string{"Grep"}, 0},
		{"", nil, 0},
	} {
		if c.text != "" {
			write(t, path, c.text)
		} else if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		p, problems := f.Load()
		if diff := cmp.Diff(ToolPolicy{Override: c.override}, p); diff != "" {
			t.Errorf("%q: %s", c.text, diff)
		}
		if (len(problems) == 1) != (c.problem > 0) || c.problem > 0 && problems[0].Line != c.problem {
			t.Errorf("%q: %+v", c.text, problems)
		}
	}
	testkit.Must(t, os.Mkdir(path, 0o700))
	p, problems := f.Load()
	if diff := cmp.Diff(ToolPolicy{Override: BackgroundTools()}, p); diff != "" || len(problems) != 1 || problems[0].Severity != routines.Error {
		t.Errorf("a folder: %s%+v", diff, problems)
	}
}

// A misspelled key may be meant to take everything away (Q1).
func TestAFileThatIsNotUnderstoodGrantsOnlyWhatBothListsDo(t *testing.T) {
	const misspelled = "bg_forks:\n  overide: []\n"
	for _, tt := range []struct {
		name, before, kept string
		want               []string
		says               string
	}{
		{"nothing before", "", "", BackgroundTools(), "the built-in list applies"},
		{"in this run", "bg_forks:\n  override: [\"Read(./**.md)\", Task]\n", "", []string{"Read(./**.md)"}, "the last valid version both grant"},
		{"before the restart", "", "bg_forks:\n  override: [\"Read(./**.md)\", Task]\n", []string{"Read(./**.md)"}, "the version of 20"},
		{"none", "", "bg_forks:\n  override: []\n", []string{}, "the version of 20"},
		{"more than the built-in list", "bg_forks:\n  additional_allowed: [Task]\n", "", BackgroundTools(), "both grant"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g, root := newGuard(t)
			f := NewFile(g.o.Dir)
			if tt.kept != "" {
				testkit.Must(t, g.o.Dir.KeepValid(FileName, []byte(tt.kept)))
			}
			if tt.before != "" {
				write(t, filepath.Join(root, FileName), tt.before)
				f.Load()
			}
			write(t, filepath.Join(root, FileName), misspelled)
			p, problems := f.Load()
			if diff := cmp.Diff([][]string{tt.want, MainTools()}, [][]string{p.Background(), p.Main()}); diff != "" {
				t.Error(diff)
			}
			if len(problems) != 1 || problems[0].Severity != routines.Error || problems[0].Line != 2 || !strings.Contains(problems[0].Message, tt.says) ||
				problems[0].Kept.IsZero() == (tt.kept != "") {
				t.Errorf("%+v", problems)
			}
		})
	}
}

func TestAnUnchangedFileIsReadOnce(t *testing.T) {
	g, root := newGuard(t)
	path := filepath.Join(root, FileName)
	write(t, path, "bg_forks: {override: [Read]}\n")
	old := time.Now().Add(-time.Hour)
	testkit.Must(t, os.Chtimes(path, old, old))
	f := NewFile(g.o.Dir)
	p, _ := f.Load()
	p.Override[0] = "from memory"
	if p, _ := f.Load(); p.Override[0] != "from memory" {
		t.Error("the file was read again")
	}
	testkit.Must(t, os.Chtimes(path, old.Add(time.Second), old.Add(time.Second)))
	if p, _ := f.Load(); p.Override[0] != "Read" {
		t.Error("the changed file was not read")
	}
}

func FuzzToolPolicyNeverPanicsOrOpensEverything(f *testing.F) {
	f.Add("main_session:\n  additional_allowed: [\"Bash(*)\", Read]\nbg_forks:\n  override: []\n")
	f.Add("bg_forks: &a {override: *a}\n")
	f.Add("? {a: b}\n: - - x\n")
	f.Add("bg_forks:\n  override: !!str x\n--- \n- \x00")
	f.Fuzz(func(t *testing.T, text string) {
		l := parsePolicy([]byte(text))
		p := l.policy
		for _, list := range [][]string{p.MainAdditional, p.BackgroundAdditional, p.Override} {
			for _, pattern := range list {
				if severity, _ := routines.CheckTool(pattern); severity == routines.Error {
					t.Errorf("%q is in force", pattern)
				}
			}
		}
		for _, one := range l.problems {
			if one.Message == "" || one.File != FileName || one.Line < 0 {
				t.Errorf("%+v", one)
			}
		}
	})
}
