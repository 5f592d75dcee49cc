package tui

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"

	"ollimbot/routines"
	"ollimbot/tui/action"
	"ollimbot/tui/settings"
	"ollimbot/tui/theme"
)

// preferences are the user's choices about the dashboard itself: theme, layout, sizes and
// keys. All but the keys can be changed in the dashboard, and are saved.
type preferences struct {
	config string // the directory of the user's settings
	fixed  bool   // choices are not saved

	chosen settings.Dashboard
	keys   action.Keys
	stamp  settings.Stamp // of the file of keys when it was read

	look  theme.Options // of the terminal
	theme *theme.Theme  // as chosen, for the background
}

// newPreferences reads the saved choices. It returns the problems in the files.
func newPreferences(config string, fixed bool, look theme.Options) (*preferences, []routines.Problem) {
	p := &preferences{config: config, fixed: fixed, look: look}
	chosen, problems := settings.Load(config)
	p.chosen = chosen
	p.setTheme()
	return p, append(problems, p.readKeys()...)
}

// keysChanged reports whether the file of keys was saved since it was read. The file is not watched, so the caller
// must check when it matters.
func (p *preferences) keysChanged() bool { return settings.Look(p.config) != p.stamp }

// readKeys reads the file of keys and returns its problems.
func (p *preferences) readKeys() (problems []routines.Problem) {
	p.stamp = settings.Look(p.config)
	p.keys, problems = settings.Keys(p.config)
	return problems
}

// choose changes choices and saves them, unless this dashboard changes nothing.
func (p *preferences) choose(values map[string]string) error {
	p.chosen = p.chosen.With(values)
	p.setTheme()
	if p.fixed {
		return nil
	}
	return settings.Save(p.config, p.chosen)
}

// next returns the choice after the current one; after the last, the first.
func (p *preferences) next(name string) string {
	choices := settings.Choices[name]
	return choices[(max(0, slices.Index(choices, p.chosen.Get(name)))+1)%len(choices)]
}

// setDark adapts the theme to a background and reports whether it has changed.
func (p *preferences) setDark(dark bool) bool {
	if p.look.Dark == dark {
		return false
	}
	p.look.Dark = dark
	p.setTheme()
	return true
}

// setTheme builds the theme that is chosen, for the background.
func (p *preferences) setTheme() {
	look, name := p.look, p.chosen.Get("theme")
	look.Dark = name == "dark" || name != "light" && look.Dark
	look.Contrast = name == "contrast"
	if name == "16" {
		look.Profile = min(look.Profile, colorprofile.ANSI)
	}
	p.theme = theme.New(look)
}

// followsBackground reports whether the theme depends on the terminal's background.
func (p *preferences) followsBackground() bool {
	name := p.chosen.Get("theme")
	return name != "dark" && name != "light"
}

// environment is the information about the terminal from environment variables.
type environment struct {
	look  theme.Options // its background is a guess until the terminal has answered
	still bool          // NO_MOTION, REDUCE_MOTION: nothing counts seconds
	w, h  int           // where the output has no size
}

// detect reads the environment. It does not query the terminal, nor, for a remote one,
// this machine.
func detect(o Options) environment {
	env := uv.Environ(o.Env)
	t := environment{w: 80, h: 24}
	if o.Remote != nil {
		t.look.Profile = colorprofile.Env(env)
	} else {
		t.look.Profile = colorprofile.Detect(o.Output, env)
	}
	t.look.NoColor = o.NoColor || env.Getenv("NO_COLOR") != ""
	t.look.ASCII = o.ASCII || env.Getenv("TERM") == "linux" || !speaksUnicode(env)
	t.look.Dark = !lightGuess(env.Getenv("COLORFGBG"))
	t.still = env.Getenv("NO_MOTION") != "" || env.Getenv("REDUCE_MOTION") != ""
	for name, cells := range map[string]*int{"COLUMNS": &t.w, "LINES": &t.h} {
		if n, err := strconv.Atoi(env.Getenv(name)); err == nil && n > 0 {
			*cells = n
		}
	}
	return t
}

// speaksUnicode reads the locale. An unset one, as in containers, counts as
// Unicode; an explicit other one does not.
func speaksUnicode(env uv.Environ) bool {
	v := strings.ToLower(cmp.Or(env.Getenv("LC_ALL"), env.Getenv("LC_CTYPE"), env.Getenv("LANG"), "utf8"))
	return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
}

// lightGuess reads COLORFGBG, "foreground;background", which some terminals set.
func lightGuess(v string) bool {
	bg, err := strconv.Atoi(v[strings.LastIndexByte(v, ';')+1:])
	return err == nil && (bg == 7 || bg >= 9 && bg <= 15)
}
