package tui

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core"
	"ollimbot/core/base/testkit"
	"ollimbot/core/safety/policy"
	"ollimbot/core/talk/chat"
	"ollimbot/tui/layout"
	"ollimbot/tui/settings"
)

// config is a directory of settings with files in it: name, text.
func config(t *testing.T, files ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "ollim-bot")
	testkit.Must(t, os.MkdirAll(dir, 0o700))
	for i := 0; i < len(files); i += 2 {
		saveFile(t, dir, files[i], files[i+1])
	}
	return dir
}

func saveFile(t *testing.T, dir, name, text string) {
	t.Helper()
	testkit.Must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
}

func configured(t *testing.T, files ...string) setup {
	t.Helper()
	return setup{options: Options{Config: config(t, files...)}}
}

func TestTheUsersKeysCountAsTheirStoriesSay(t *testing.T) {
	dir := config(t)
	saved := setup{options: Options{Config: dir}, happen: happening{
		"zoom becomes f3":  func(*stage) { saveFile(t, dir, settings.KeysFile, "view.zoom: f3") },
		"the file is gone": func(*stage) { testkit.Must(t, os.Remove(filepath.Join(dir, settings.KeysFile))) },
	}}
	tell(t, []story{
		{"remapped keys work and are shown everywhere", configured(t, settings.KeysFile, "app.quit: ctrl+q\nview.palette: f2\nview.help: [f1]\nview.zoom: q\n"), `
			          => ctrl+q quit | f2 command | f1 keys
			q         => stays | zoomed
			q {\x1bOP} / "Quit" enter => ctrl+q       Quit the dashboard
			esc esc {\x1bOQ} "Quit the" => ctrl+q
			enter     => quits`},
		{"a hint follows them", configured(t, settings.KeysFile, "budget.capacity-up: f7\nbudget.capacity-down: f8\n"), `
			1               => f7/f8 capacity 5→6
			<f8 capacity>   => 3.2 / 4
			<f7/> ~100ms    => 3.2 / 5`},
		{"a title has the key of its pane", configured(t, settings.KeysFile, "go.forks: f5\n"), `5 => " f5 Runs " | !" 4 Runs"`},
		{"or none", configured(t, settings.KeysFile, "go.forks: []\n"), `5 => "─ Runs " | !" 4 Runs"`},
		{"nor one that is too long for it", configured(t, settings.KeysFile, "go.forks: ctrl+g\n"), `5 => "─ Runs " | !" 4 Runs"`},
		{"what is wrong with them is a notice and changes nothing", configured(t, settings.KeysFile, "view.zoom: 5\n"), `
			  => keys.yaml:1:12 | go.chat
			5 => i write
			z => zoomed`},
		{"a file that is saved counts at the next key, also where it is gone", saved, `
			(zoom becomes f3) {\x1bOR}  => zoomed | " keys.yaml reloaded "
			(the file is gone) ~2s z    => !zoomed, z`},
		{"an open palette takes them, though no key is pressed", saved, `
			ctrl+p z o o m         => z │
			(zoom becomes f3) ~2m  => f3 │ | Zoom or unzoom pane | !z │
			(the file is gone)     => stays`},
		{"and an open help", saved, `
			? / u n z o o m enter  => " z       "
			(zoom becomes f3) ~2m  => " f3      " | Zoom or unzoom pane | !" z       "`},
	})
}

func TestTheTerminalIsNamedAndRungAsItsStoriesSay(t *testing.T) {
	happens := happening{
		"a call waits": func(s *stage) { s.bot.change(waits); time.Sleep(time.Second) },
		"it is over":   func(s *stage) { s.bot.change(func(n *core.Snapshot) { n.Approvals = nil }); time.Sleep(time.Second) },
		"a fork asks":  func(s *stage) { s.change(func(n *core.Snapshot) { n.Fork = &chat.Banner{Asks: true} }) },
		"one bell rang": func(s *stage) {
			if s.out = s.written(); strings.Count(strings.ReplaceAll(s.out, "asks\x07", ""), "\x07") != 1 {
				s.t.Errorf("written was %q", s.out)
			}
		},
	}
	with := func(text string) setup {
		s := configured(t, settings.DashboardFile, text)
		s.happen = happens
		return s
	}
	tell(t, []story{
		{"by default", setup{happen: happens}, `
			=> wrote \x1b]2;
			(it settles) (a call waits) (one bell rang) => wrote \x1b]2;ollim-bot · The agent asks\x07
			~3s           => unwritten: \x07
			(it is over)  => wrote \x1b]2;ollim-bot\x07`},
		{"without a title and a bell", with("bell: off\ntitle: false\n"), `
			=> unwritten: \x1b]2;
			(it settles) (a call waits) => unwritten: \x07`},
		{"with a notification, once", with("bell: notify\ntitle: false\n"), `
			(it settles) (a call waits) (one bell rang) => wrote \x1b]9;ollim-bot: Run this command? ls\x07
			(a fork asks) ~3s (one bell rang) => wrote \x1b]9;ollim-bot: the agent would like to save the fork\x07`},
	})
}

func TestWhatTheUserChoseIsRememberedAsItsStoriesSay(t *testing.T) {
	const lightFocus = `38;2;11;87;164`
	themes, layouts := Options{Config: config(t)}, setup{w: 160, h: 50, options: Options{Config: config(t)}}
	dark, reader := themes, themes
	dark.Theme, reader.ReadOnly = "dark", true
	var chosen []string
	column := 0 // where the third one begins
	third := setup{w: 200, h: 60, options: Options{Config: config(t)}, happen: happening{"it is measured": func(s *stage) { column, _ = s.find("5 Chat") }}}
	for name, by := range map[string]int{"it is as wide": 0, "it is 8 narrower": 8, "it is 8 wider": -8} {
		third.happen[name] = func(s *stage) {
			if x, _ := s.find("5 Chat"); x != column+by {
				s.t.Errorf("%s: it begins at %d, first at %d", s.at, x, column)
			}
			column += by
		}
	}
	layouts.happen = happening{
		"it is noted":    func(s *stage) { chosen = s.rows()[:45] },
		"other layouts":  func(s *stage) { s.press(slices.Repeat([]string{"V"}, len(layout.Presets)-1)...) },
		"wider and more": func(s *stage) { s.press(slices.Repeat([]string{"1", ">"}, 30)...) },
		"it is as noted": func(s *stage) {
			if d := cmp.Diff(chosen, s.rows()[:45]); d != "" {
				s.t.Errorf("the layout has other sizes:\n%s", d)
			}
		},
	}
	wrong := layouts
	wrong.options.Config = config(t, settings.DashboardFile, "layout: triangular\nbell: off\n")
	tell(t, []story{
		{"the theme goes round", setup{options: themes}, `
			T   => remembers theme=dark
			T   => remembers theme=light | wrote ` + lightFocus + `
			T   => remembers theme=contrast
			(it settles) T => remembers theme=16 | unwritten: 38;2;
			T   => remembers theme=auto
			T T => remembers theme=light`},
		{"the next start has it", setup{options: themes}, `=> wrote ` + lightFocus},
		{"one of the command line is remembered", setup{options: dark}, `=> remembers theme=dark`},
		{"but no choice of a read-only dashboard", setup{options: reader}, `T => remembers theme=dark`},
		{"layouts and sizes", layouts, `
			V             => layout balanced → chat · u undoes | remembers layout=chat
			2 > > 4 ) <   => remembers columns-chat=12 | remembers rows-forks-chat=2
			(it is noted) V => remembers layout=forks | remembers columns-chat=12 | remembers columns-forks=
			(other layouts) ~10s (it is as noted) (wider and more) => Widen the pane: the border cannot
			z > => panes can be resized`},
		{"the third column is moved by the same keys", third, `(it is measured) 5 < < (it is 8 narrower)`},
		{"and has its width at the next start", third, `(it is as wide) 5 > > (it is 8 wider)`},
		{"a setting of the bot is called by its name on the page", setup{}, `
			: "settings thinking_fork" enter right => Background thinking → off · u undoes | did SetConfig Key=thinking_fork Value=off`},
		{"one of the dashboard is kept by the dashboard", setup{options: Options{Config: config(t)}}, `
			: "settings dashboard.bell" enter right => bell → notify | remembers bell=notify`},
		{"a layout that does not exist is named with its place", wrong, `=> dashboard.yaml:1:9`},
	})
}

func TestAStepBeginsAtTheSizeThatIsShown(t *testing.T) {
	for _, c := range []struct{ there, back string }{{"<", ">"}, {")", "("}} {
		play(t, setup{w: 200, h: 60, options: Options{Config: config(t)}}, func(s *stage) {
			s.press("4")
			for range 20 {
				s.press(c.there)
			}
			s.resize(100, 30)
			time.Sleep(20 * time.Second) // the toasts have ended
			before := s.rows()[:28]      // without the help line, which names what would be undone
			s.press(c.back)
			s.misses("cannot move further")
			if slices.Equal(s.rows()[:28], before) {
				t.Errorf("%s moves nothing", c.back)
			}
			s.press(c.there)
			if d := cmp.Diff(before, s.rows()[:28]); d != "" {
				t.Errorf("%s does not take %s back:\n%s", c.there, c.back, d)
			}
		})
	}
}

func waits(s *core.Snapshot) {
	s.Approvals = []policy.Approval{{ID: "a", Label: "Run this command? ls", Tool: "Bash", Asked: time.Now(), Until: time.Now().Add(time.Hour)}}
}

func TestATickOfASecondCostsTheTerminalLittle(t *testing.T) {
	busy := func(at time.Time) core.Snapshot {
		s := talkDay()
		s.At = at
		for i := range s.Forks {
			s.Forks[i].Started = at.Add(-time.Minute)
		}
		s.BusySince = at
		for i := range s.Approvals {
			s.Approvals[i].Asked, s.Approvals[i].Until = at, at.Add(time.Hour)
		}
		return s
	}
	play(t, setup{w: 200, h: 60, snap: busy}, func(s *stage) {
		time.Sleep(20 * time.Second) // the toasts have ended
		most := 0
		for range 30 {
			s.written()
			time.Sleep(time.Second)
			most = max(most, len(s.written()))
		}
		if most == 0 || most > 2048 {
			t.Errorf("a tick writes %d bytes", most)
		}
		t.Logf("at most %d bytes a tick", most)
	})
}
