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
	"ollimbot/tui/action"
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

func remembered(t *testing.T, dir string) settings.Dashboard {
	t.Helper()
	d, problems := settings.Load(dir)
	if len(problems) > 0 {
		t.Errorf("the dashboard wrote what it cannot read: %v", problems)
	}
	return d
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
		{"what is wrong with them is a notice and changes nothing", configured(t, settings.KeysFile, "view.zoom: 5\n"), `
			  => keys.yaml:1:12 | go.chat
			5 => i write
			z => zoomed`},
		{"a file that is saved counts at the next key, also where it is gone", saved, `
			(zoom becomes f3) {\x1bOR}  => zoomed | keys.yaml reloaded
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
		"it settles":   func(s *stage) { s.written() },
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

// The third column is as wide as its user makes it, also at the next start.
func TestTheThirdColumnIsMovedByTheSameKeys(t *testing.T) {
	dir := config(t)
	wide := func(s *stage) int {
		x, _ := s.find("5 Chat")
		return 200 - x
	}
	before := 0
	play(t, setup{w: 200, h: 60, options: Options{Config: dir}}, func(s *stage) {
		before = wide(s)
		s.press("5", "<", "<")
		if got := wide(s); got != before-2*4 {
			t.Errorf("%d cells after %d", got, before)
		}
	})
	play(t, setup{w: 200, h: 60, options: Options{Config: dir}}, func(s *stage) {
		if got := wide(s); got != before-2*4 {
			t.Errorf("%d cells at the next start, %d at first", got, before)
		}
		s.press("5", ">", ">")
		if got := wide(s); got != before {
			t.Errorf("%d cells, %d at first", got, before)
		}
	})
}

func TestTheThemeGoesRoundAndIsRemembered(t *testing.T) {
	dir := config(t)
	play(t, setup{options: Options{Config: dir}}, func(s *stage) {
		seen := map[string]bool{}
		for _, want := range []string{"dark", "light", "contrast", "16", "auto"} {
			s.written()
			s.press("T")
			if got := remembered(t, dir)["theme"]; got != want {
				t.Errorf("remembered %q, want %q", got, want)
			}
			out := s.written()
			if want == "16" && strings.Contains(out, "38;2;") {
				t.Error("sixteen colours are more than sixteen")
			}
			seen[out] = true
		}
		s.press("T", "T")
	})
	play(t, setup{options: Options{Config: dir}}, func(s *stage) {
		if out := s.written(); !strings.Contains(out, "38;2;11;87;164") { // the light palette's blue
			t.Error("the light theme was not remembered")
		}
	})
	play(t, setup{options: Options{Config: dir, Theme: "dark"}}, func(*stage) {})
	play(t, setup{options: Options{Config: dir, ReadOnly: true}}, func(s *stage) { s.press("T") })
	if got := remembered(t, dir)["theme"]; got != "dark" {
		t.Errorf("--theme dark, and then a choice of a read-only dashboard, is remembered as %q", got)
	}
}

func TestLayoutsAndSizesAreRemembered(t *testing.T) {
	dir := config(t)
	play(t, setup{w: 160, h: 50, options: Options{Config: dir}}, func(s *stage) {
		before := s.screen()
		s.press("V")
		s.sees("layout balanced → chat · u undoes")
		if s.screen() == before {
			t.Error("nothing has moved")
		}
		s.press("2", ">", ">", "4", ")", "<")
		d := remembered(t, dir)
		if size := d.Size("chat"); d["layout"] != "chat" || size.Columns != 3*4 || size.Rows[action.Forks] != 2 {
			t.Errorf("remembered %+v", d)
		}
		sized := s.rows()[:45]
		s.press("V")
		if d = remembered(t, dir); d["layout"] != "forks" || d.Size("forks").Columns != 0 || d.Size("chat").Columns != 3*4 {
			t.Errorf("remembered after another layout: %+v", d)
		}
		for range len(layout.Presets) - 1 {
			s.press("V")
		}
		time.Sleep(10 * time.Second) // the toasts have ended
		if d := cmp.Diff(sized, s.rows()[:45]); d != "" {
			t.Errorf("the layout comes back in other sizes:\n%s", d)
		}
		for range 30 {
			s.press("1", ">")
		}
		s.sees("Widen the pane: the border cannot")
		s.press("z", ">")
		s.sees("panes can be resized")
	})
	saveFile(t, dir, settings.DashboardFile, "layout: triangular\nbell: off\n")
	play(t, setup{w: 160, h: 50, options: Options{Config: dir}}, func(s *stage) {
		s.sees("dashboard.yaml:1:9")
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

func TestWithReducedMotionNothingCountsSeconds(t *testing.T) {
	for _, s := range []setup{
		{env: []string{"REDUCE_MOTION=1"}},
		{options: Options{Config: config(t, settings.DashboardFile, "motion: false")}},
	} {
		s.snap = busyForks
		play(t, s, func(s *stage) {
			time.Sleep(15 * time.Second) // the toasts have ended
			s.written()
			at := time.Now()
			time.Sleep(at.Truncate(time.Minute).Add(59 * time.Second).Sub(at))
			if out := s.written(); out != "" {
				t.Errorf("wrote %q within a minute", out)
			}
		})
	}
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
