package tui

import (
	"io"
	"strconv"
	"strings"

	"github.com/charmbracelet/colorprofile"

	"ollimbot/tui/theme"
)

// terminal is what the environment says about where the dashboard runs.
type terminal struct {
	profile int // colours: 0, 16, 256, 1<<24
	noColor bool
	ascii   bool
	light   bool // a guess until the terminal has answered
	still   bool // NO_MOTION, REDUCE_MOTION: nothing counts seconds
	w, h    int  // where the output has no size
}

// detect reads the environment. It asks nothing of the terminal.
func detect(out io.Writer, env []string) terminal {
	t := terminal{w: 80, h: 24}
	t.profile = colours(colorprofile.Detect(out, env))
	t.noColor = lookup(env, "NO_COLOR") != "" || t.profile == 0
	t.still = lookup(env, "NO_MOTION") != "" || lookup(env, "REDUCE_MOTION") != ""
	t.ascii = lookup(env, "TERM") == "linux" || !speaksUnicode(env)
	t.light = lightGuess(lookup(env, "COLORFGBG"))
	if n, err := strconv.Atoi(lookup(env, "COLUMNS")); err == nil && n > 0 {
		t.w = n
	}
	if n, err := strconv.Atoi(lookup(env, "LINES")); err == nil && n > 0 {
		t.h = n
	}
	return t
}

func colours(p colorprofile.Profile) int {
	switch p {
	case colorprofile.TrueColor:
		return 1 << 24
	case colorprofile.ANSI256:
		return 256
	case colorprofile.ANSI:
		return 16
	}
	return 0
}

// speaksUnicode reads the locale. An unset one, as in containers, counts as
// Unicode; an explicit other one does not.
func speaksUnicode(env []string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := lookup(env, name); v != "" {
			v = strings.ToLower(v)
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return true
}

// lightGuess reads COLORFGBG, "foreground;background", which some terminals set.
func lightGuess(v string) bool {
	i := strings.LastIndexByte(v, ';')
	if i < 0 {
		return false
	}
	bg, err := strconv.Atoi(v[i+1:])
	return err == nil && (bg == 7 || bg >= 9 && bg <= 15)
}

// lookup gives the last value of a variable, as the system does.
func lookup(env []string, name string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(env[i], name+"="); ok {
			return v
		}
	}
	return ""
}

// theme builds the theme of a name (settings.Themes) for a background.
func (t terminal) theme(o Options, name string, dark bool) *theme.Theme {
	profile := t.profile
	switch name {
	case "dark":
		dark = true
	case "light":
		dark = false
	case "16":
		profile = min(profile, 16)
	}
	return theme.New(theme.Options{
		Dark: dark, Contrast: name == "contrast", NoColor: o.NoColor || t.noColor, ASCII: o.ASCII || t.ascii, Profile: profile,
	})
}
