package tui

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"

	"ollimbot/tui/theme"
)

// environment is what the environment variables say about the terminal.
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
