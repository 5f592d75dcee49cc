package settings

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core"
	"ollimbot/core/base/testkit"
	"ollimbot/routines"
	"ollimbot/tui/action"
	"ollimbot/tui/layout"
)

func write(t *testing.T, name, text string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestWhatIsSavedIsLoaded(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "ollim-bot")
	testkit.Check(t, func(t *rapid.T) {
		want := Dashboard{}
		for _, name := range Names {
			want = want.With(map[string]string{name: rapid.SampledFrom(append([]string{""}, Choices[name]...)).Draw(t, name)})
		}
		sizes := map[string]layout.Size{}
		for _, name := range layout.Presets {
			n := rapid.IntRange(0, 500).Draw(t, "rows of "+name)
			if n == 0 {
				continue
			}
			most := rapid.IntRange(-1000, 1000)
			sizes[name] = layout.Size{
				Columns: most.Draw(t, "columns of "+name), Right: most.Draw(t, "right of "+name), Rows: map[action.Pane]int{action.Forks: n, action.Chat: -n},
			}
			want = want.With(Values(sizes[name], name))
		}
		if err := Save(dir, want); err != nil {
			t.Fatal(err)
		}
		got, problems := Load(dir)
		if len(problems) > 0 {
			t.Fatalf("problems %v", problems)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("loaded (-want +got):\n%s", d)
		}
		for _, name := range layout.Presets {
			if d := cmp.Diff(Values(sizes[name], name), Values(got.Size(name), name)); d != "" {
				t.Fatalf("the sizes of %s (-want +got):\n%s", name, d)
			}
		}
	})
	testkit.Must(t, Save(dir, Dashboard{"theme": "dark", "bell": "off"}))
	text, err := os.ReadFile(filepath.Join(dir, DashboardFile))
	if want := fileHead + "bell: \"off\"\ntheme: \"dark\"\n"; err != nil || string(text) != want {
		t.Errorf("saved is %q, want %q, %v", text, want, err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("%v in the directory, %v", left, err)
	}
}

func TestTheBellIsSwitchedOffInEveryWayThatOneWritesIt(t *testing.T) {
	for _, text := range []string{"bell: off\n", "bell: 'off'\n", "bell: false\n"} {
		if d, problems := Load(write(t, DashboardFile, text)); d.Get("bell") != "off" || len(problems) > 0 {
			t.Errorf("%q gives %q, %v", text, d["bell"], problems)
		}
	}
}

func shown(p routines.Problem) string { return p.Position() + ": " + p.Message }

func TestWhatIsWrongIsReportedAndIgnored(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "",
		"# nothing\n":                       "",
		"theme: dark\nlayout: round\n":      `dashboard.yaml:2:9: "round" is invalid: choose balanced, chat, forks, schedule`,
		"theme: [dark, light]\n":            `dashboard.yaml:1:1: "theme" takes one value`,
		"theme: dark\n\ncolour: blue\n":     `dashboard.yaml:3:1: "colour" is not a known setting`,
		"theme: dark\ncolumns-chat: 9000\n": `dashboard.yaml:2:15: "9000" is invalid: enter a number from -1000 to 1000`,
		"theme: dark\nbell: maybe\n":        `dashboard.yaml:2:7: "maybe" is invalid: choose bell, notify, off`,
		"theme: dark\nrows-kitchen: 2\n":    `dashboard.yaml:2:1: "rows-kitchen" is not a known setting`,
		"columns-round: 2\n":                `dashboard.yaml:1:1: "columns-round" is not a known setting`,
		"columns-: 2\n":                     `dashboard.yaml:1:1: "columns-" is not a known setting`,
		"rows-chat-round: 2\n":              `dashboard.yaml:1:1: "rows-chat-round" is not a known setting`,
		"rows-chat-chat: [2, 3]\n":          `dashboard.yaml:1:1: "rows-chat-chat" takes one value`,
		"rows-chat-chat: much\n":            `dashboard.yaml:1:17: "much" is invalid: enter a number from -1000 to 1000`,
		"theme: dark\ntheme: light\n":       `dashboard.yaml:2:1: the key theme is already set in line 1: remove one of the two`,
		"- theme\n":                         "dashboard.yaml:1:1: the file is a list: write one `key: value` on each line",
		"theme: \"dark\nbell: {":            `dashboard.yaml:1:8: the quote that opens here is never closed: end the value with " on the same line`,
		strings.Repeat("# x\n", maxFile):    `dashboard.yaml: the file cannot be read: it is larger than 16 KiB`,
		"bell: {a: {b: \x1b[31m}}":          "dashboard.yaml:1:15: a control character that cannot be in file: remove it",
		strings.Repeat("[", maxFile-1):      "dashboard.yaml:1:1: values are nested too deeply: write them flatter",
		strings.Repeat("? ", maxFile/2-1):   "dashboard.yaml:1:1: values are nested too deeply: write them flatter",
	} {
		d, problems := Load(write(t, DashboardFile, text))
		var got []string
		for _, p := range problems {
			got = append(got, shown(p))
		}
		if strings.Join(got, "\n") != want {
			t.Errorf("%.40q gives %q, want %q", text, got, want)
		}
		if d.Get("bell") != Bells[0] || d.Get("title") != "on" || d.Size("balanced").Columns != 0 || d["layout"] != "" {
			t.Errorf("%.40q gives %+v", text, d)
		}
		for _, p := range problems {
			if strings.ContainsRune(shown(p), 0x1b) {
				t.Errorf("%q holds an escape", shown(p))
			}
		}
	}
}

func TestKeysAreReadAndWhatIsWrongIsReportedByItsPlace(t *testing.T) {
	dir := write(t, KeysFile, strings.Join([]string{
		"# my keys",
		"app.quit: ctrl+q",
		"forks/tail.wrap: [B, f5]",
		"view.zoom: x y",
		"go.home: h",
		"app.undo: [ctrl+y, shift+u]",
		"view.notices: z",
		"app.interrupt: x",
		"view.mouse: []",
		"go.logs:",
		"go.chat: 9",
	}, "\n"))
	keys, problems := Keys(dir)
	want := []string{
		`keys.yaml:4:12: "x y" is not a key: write a character, or names as in ctrl+p, alt+up, pgdown, f5`,
		`keys.yaml:5:1: no action is called "go.home"; the palette shows the name of the marked one, ollim-bot help keys lists all`,
		`keys.yaml:6:20: "U" for app.undo is taken by task/task.restore; give that one another key first`,
		`keys.yaml:7:15: "z" for view.notices is taken by view.zoom; give that one another key first`,
		`keys.yaml:8:1: the key of "app.interrupt" cannot be changed`,
		`keys.yaml:10:1: "go.logs" takes a key or a list of keys, signs in quotes; write [] to take its keys away`,
	}
	var got []string
	for _, p := range problems {
		got = append(got, shown(p))
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("problems (-want +got):\n%s", d)
	}
	if all := Problems(dir); len(all) != len(got) || all[0].File != filepath.Join(dir, KeysFile) || all[0].Message != problems[0].Message || Problems("") != nil {
		t.Errorf("of both files: %v", all)
	}
	for key, id := range map[string]action.ID{
		"ctrl+q": action.Quit, "q": "", "B": action.TailWrap, "f5": action.TailWrap, "w": "", "z": action.Zoom, "u": action.Undo,
		"!": action.Notices, "ctrl+c": action.Interrupt, "M": "", "6": action.Logs.Go(), "9": action.Chat.Go(), "5": "",
	} {
		if a, _ := keys.ByKey(action.Forks, key, core.Snapshot{}); a.ID != id {
			t.Errorf("%q is %q, want %q", key, a.ID, id)
		}
	}
}

func TestAnyFileIsRead(t *testing.T) {
	dir := t.TempDir()
	testkit.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.OneOf(
			rapid.SampledFrom([]string{"app.quit", ":", ": ", "\n", "- ", "[", "]", "{", "}", "&a ", "*a", "!!str ", "|\n", "\t", "\"", "'", "#", "? ", "---\n", "z"}),
			rapid.String())).Draw(t, "text"), "")
		for _, name := range []string{KeysFile, DashboardFile} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		Load(dir)
		keys, _ := Keys(dir)
		if a, _ := keys.ByKey(action.Chat, "ctrl+c", core.Snapshot{}); a.ID != action.Interrupt {
			t.Fatal("the way out is gone")
		}
	})
}

func TestTheDirectoryIsTheUsers(t *testing.T) {
	for _, c := range []struct {
		env  []string
		want string
	}{
		{[]string{"HOME=/home/a"}, "/home/a/.config/ollim-bot"},
		{[]string{"HOME=/home/a", "XDG_CONFIG_HOME=/etc/a"}, "/etc/a/ollim-bot"},
		{[]string{"HOME=/home/a", "XDG_CONFIG_HOME=etc"}, "/home/a/.config/ollim-bot"},
		{nil, ""},
	} {
		if got := Dir(c.env); got != c.want {
			t.Errorf("%v gives %q, want %q", c.env, got, c.want)
		}
	}
	if d, problems := Load(""); len(problems) > 0 || d.Get("bell") != Bells[0] || Save("", d) != nil || Look("") != (Stamp{}) {
		t.Error("without a directory there is something to read")
	}
}

func TestADirectoryThatCannotBeWrittenIsAnError(t *testing.T) {
	file := filepath.Join(write(t, "x", "x"), "x")
	if err := Save(filepath.Join(file, "y"), Dashboard{}); err == nil || !strings.HasPrefix(err.Error(), "make the directory of the settings: ") {
		t.Errorf("saved below a file: %v", err)
	}
	if was := Look(filepath.Dir(file)); was != (Stamp{}) {
		t.Errorf("a missing file has the stamp %v", was)
	}
	if err := os.Mkdir(filepath.Join(filepath.Dir(file), KeysFile), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, problems := Keys(filepath.Dir(file)); len(problems) != 1 || !slices.ContainsFunc(problems, func(p routines.Problem) bool { return strings.Contains(p.Message, "not a regular file") }) {
		t.Errorf("a directory in the place of the file: %v", problems)
	}
}

func TestThePageOfKeysHasEveryNameOfTheDashboard(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", "keys.md"))
	testkit.Must(t, err)
	page := string(data)
	for _, name := range Names {
		choices := Choices[name]
		if row := "\n| `" + name + "` | `" + strings.Join(choices, "`, `") + "` | `" + choices[0] + "` | "; !strings.Contains(page, row) {
			t.Errorf("docs/keys.md does not have the row%s", row)
		}
	}
	_, file, _ := strings.Cut(page, "\n`LAYOUT` is")
	dir := t.TempDir()
	text := strings.ReplaceAll(strings.Join(regexp.MustCompile("[a-z]+-[a-z-]+: -?[0-9]+").FindAllString(file, 2), "\n"), "`", "")
	testkit.Must(t, os.WriteFile(filepath.Join(dir, DashboardFile), []byte(text), 0o600))
	if d, problems := Load(dir); len(problems) > 0 || len(d) != 2 {
		t.Errorf("the sizes that docs/keys.md shows, %q: %v %v", text, d, problems)
	}
}
