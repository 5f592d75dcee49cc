package policy

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/base/testkit"
	"ollimbot/routines"
)

func TestToolPolicyFilesAreRead(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       ToolPolicy
		problems   []string // "line:column severity part", in order
		lost       bool     // it may be meant to take rights away, and is not understood
	}{
		{"no text", "", ToolPolicy{}, nil, false},
		{"a comment", "# nothing yet\n", ToolPolicy{}, nil, false},
		{"everything", "main_session:\n  additional_allowed:\n    - \"Bash(git status)\"\n    - WebSearch\n" +
			"bg_forks:\n  additional_allowed: [ 'Bash(git log *)' ]\n  override:\n  - Read(./**.md)\n", ToolPolicy{
			MainAdditional: []string{"Bash(git status)", "WebSearch"}, BackgroundAdditional: []string{"Bash(git log *)"},
			Override: []string{"Read(./**.md)"},
		}, nil, false},
		{"keys with dashes", "main-session:\n  additional-allowed: [WebSearch]\n", ToolPolicy{MainAdditional: []string{"WebSearch"}}, nil, false},
		{"an empty override", "bg_forks:\n  override: []\n", ToolPolicy{Override: []string{}}, nil, false},
		{"an override without a value", "bg_forks:\n  override:\n", ToolPolicy{}, []string{"2:3 warning write []"}, false},
		{"a section without a value", "bg_forks:\nmain_session:\n", ToolPolicy{}, nil, false},
		{"windows line ends", "bg_forks:\r\n  override:\r\n    - Task\r\n", ToolPolicy{Override: []string{"Task"}}, nil, false},
		{"an unknown section", "main: 3\nbg_forks:\n  extra: 1\n", ToolPolicy{}, []string{"1:1 error main_session", "3:3 error override"}, true},
		{"an override of main", "main_session:\n  override: [Task]\n", ToolPolicy{}, []string{"2:3 error additional_allowed"}, true},
		{"a section that is a list", "bg_forks:\n  - Task\n", ToolPolicy{}, []string{"2:3 error bg_forks must contain keys"}, true},
		{"a word for a list", "bg_forks:\n  override: Task\n", ToolPolicy{}, []string{"2:13 error must be a list"}, true},
		{
			"items that are no texts", "bg_forks:\n  override:\n    - {a: b}\n    - [Task]\n    - Task\n",
			ToolPolicy{Override: []string{"Task"}},
			[]string{"3:7 error not text", "4:7 error not text"},
			false,
		},
		{
			"bad patterns are left out", "bg_forks:\n  additional_allowed:\n    - Bash(*)\n    - Read(*)\n    - Write(**)\n    - \"Bash(a | b)\"\n",
			ToolPolicy{BackgroundAdditional: []string{"Read(*)"}},
			[]string{"3:7 error too broad", "4:7 warning overly broad", "5:7 error the bot's own files", "6:7 error chaining"},
			false,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := parsePolicy([]byte(tt.text))
			got, problems := l.policy, l.problems
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if l.understood == tt.lost {
				t.Errorf("understood: %t", l.understood)
			}
			if len(problems) != len(tt.problems) {
				t.Fatalf("problems %+v, want %q", problems, tt.problems)
			}
			for i, p := range problems {
				place, rest, _ := strings.Cut(tt.problems[i], " ")
				severity, part, _ := strings.Cut(rest, " ")
				at := fmt.Sprintf("%d:%d", p.Line, p.Column)
				if !strings.HasPrefix(at, place) || string(p.Severity) != severity || !strings.Contains(p.Message, part) || p.File != FileName {
					t.Errorf("%+v, want %q", p, tt.problems[i])
				}
			}
		})
	}
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
		policy, problems := l.policy, l.problems
		if l.understood { // text that the library accepts may contain nothing relevant, but must not change anything
			if diff := cmp.Diff(ToolPolicy{}, policy); diff != "" {
				t.Errorf("%.30q: %s", text, diff)
			}
			continue
		}
		if len(problems) != 1 || problems[0].Severity != routines.Error || line > 0 && problems[0].Line != line {
			t.Errorf("%.30q: %+v, want line %d", text, problems, line)
		}
	}
}

func TestThePolicyExtendsAndReplacesTheLists(t *testing.T) {
	none := ToolPolicy{}
	if diff := cmp.Diff(MainTools(), none.Main()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(BackgroundTools(), none.Background()); diff != "" {
		t.Error(diff)
	}
	p := ToolPolicy{MainAdditional: []string{"Task", "Skill"}, BackgroundAdditional: []string{"Task"}}
	if diff := cmp.Diff(append(MainTools(), "Task"), p.Main()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(append(BackgroundTools(), "Task"), p.Background()); diff != "" {
		t.Error(diff)
	}
	p.Override = []string{"Read"}
	if diff := cmp.Diff([]string{"Read", "Task"}, p.Background()); diff != "" {
		t.Error(diff)
	}
	if got := (ToolPolicy{Override: []string{}}).Background(); len(got) != 0 {
		t.Errorf("an empty override leaves %v", got)
	}
}

func TestAChangedFileTakesEffectAndABrokenOneDoesNot(t *testing.T) {
	g, root := newGuard(t)
	f := NewFile(g.o.Dir)
	path := filepath.Join(root, FileName)
	load := func(want ...string) []routines.Problem {
		t.Helper()
		p, problems := f.Load()
		if diff := cmp.Diff(ToolPolicy{Override: want}, p); diff != "" {
			t.Error(diff)
		}
		return problems
	}
	load()
	write(t, path, "bg_forks: {override: [Read]}\n")
	load("Read")
	write(t, path, "bg_forks: {override: [Task]}\n") // with the same size at the same moment
	load("Task")
	write(t, path, "bg_forks: {override: [Glob}\n")
	if problems := load([]string{}...); len(problems) != 1 || problems[0].Line != 1 {
		t.Errorf("problems of a broken file: %+v", problems)
	}
	write(t, path, "# nothing\n")
	if problems := load(); len(problems) > 0 {
		t.Errorf("problems of a cured file: %+v", problems)
	}
	write(t, path, "bg_forks: {override: [Grep]}\n")
	load("Grep")
	testkit.Must(t, os.Remove(path))
	load()
	testkit.Must(t, os.Mkdir(path, 0o700))
	if problems := load(BackgroundTools()...); len(problems) != 1 || problems[0].Severity != routines.Error {
		t.Errorf("problems of a folder: %+v", problems)
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
			if diff := cmp.Diff(tt.want, p.Background()); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(MainTools(), p.Main()); diff != "" {
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
		p, problems := l.policy, l.problems
		for _, list := range [][]string{p.MainAdditional, p.BackgroundAdditional, p.Override} {
			for _, pattern := range list {
				if severity, _ := routines.CheckTool(pattern); severity == routines.Error {
					t.Errorf("%q is in force", pattern)
				}
			}
		}
		for _, one := range problems {
			if one.Message == "" || one.File != FileName || one.Line < 0 {
				t.Errorf("%+v", one)
			}
		}
	})
}
