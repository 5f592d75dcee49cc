package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ollimbot/cmd/internal/console"
	"ollimbot/core/clean"
	"ollimbot/core/config"
	"ollimbot/core/skill"
	"ollimbot/core/store"
	"ollimbot/core/webhook"
	"ollimbot/core/words"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
	"ollimbot/tui/layout"
	dashboard "ollimbot/tui/settings"
)

// CheckCmd is the command that validates files.
type CheckCmd struct {
	Files []string `arg:"" optional:"" name:"file" help:"Files, here or in the data directory; without any, all of it and the dashboard's settings."`
	console.AsJSON
}

// Run validates files. Only errors make it fail; warnings are advice.
func (c *CheckCmd) Run(p *console.Process, at console.DataDir) error {
	var problems []routines.Problem
	var looked string
	if len(c.Files) == 0 {
		problems, looked = checkDir(at)
		bot, err := p.Bot(at)
		if err != nil {
			return err
		}
		problems = append(problems, alsoWaiting(problems, bot.Waiting())...)
		more, chosen := checkSettings(dashboard.Dir(p.Environ()))
		problems, looked = append(problems, more...), looked+chosen
	} else {
		problems, looked = checkFiles(at, c.Files), words.Count(len(c.Files), "file")
	}
	return p.Verdict(routines.HasErrors(problems), c.JSON, append([]routines.Problem{}, problems...), problemLines(problems, looked))
}

// checkDir checks the data directory as the bot reads it: duplicate ids and
// skills show only there.
func checkDir(at console.DataDir) ([]routines.Problem, string) {
	set := schedule.Files(at.Dir, at.Env.Zone)
	looked := words.Count(len(set.Routines), "routine") + " and " + words.Count(len(set.Reminders), "reminder")
	_, skills := skill.List(at.Dir)
	hooks := webhook.NewIndex(at.Dir)
	hooks.Scan()
	if n := len(hooks.Specs(false)); n > 0 {
		looked = words.Count(len(set.Routines), "routine") + ", " + words.Count(len(set.Reminders), "reminder") + " and " + words.Count(n, "webhook")
	}
	return slices.Concat(set.Problems, hooks.Problems(), skills, checkSecret(at)), looked + " in " + at.Dir.Display()
}

// checkSecret warns of a secret of the webhooks that could be guessed.
func checkSecret(at console.DataDir) []routines.Problem {
	weak := webhook.WeakSecret(at.Env.WebhookSecret)
	if weak == "" {
		return nil
	}
	return []routines.Problem{{File: config.EnvFile, Severity: routines.Warning, Message: weak}}
}

// alsoWaiting are the files that wait for the user and are not told of already.
func alsoWaiting(told, waiting []routines.Problem) []routines.Problem {
	return slices.DeleteFunc(waiting, func(w routines.Problem) bool {
		return slices.ContainsFunc(told, func(p routines.Problem) bool { return p.Waits && p.File == w.File })
	})
}

// settingsReaders read what the user has chosen about the dashboard, by the name
// of the file, as the dashboard does.
var settingsReaders = map[string]func(dir string) []dashboard.Problem{
	dashboard.DashboardFile: func(dir string) []dashboard.Problem {
		_, problems := dashboard.Load(dir, layout.Presets)
		return problems
	},
	dashboard.KeysFile: func(dir string) []dashboard.Problem {
		_, problems := dashboard.Keys(dir)
		return problems
	},
}

// checkSettings checks the files of the configuration directory that exist.
func checkSettings(dir string) (problems []routines.Problem, looked string) {
	folder, err := store.At(dir)
	if dir == "" || err != nil {
		return nil, ""
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(settingsReaders)) {
		if _, err := os.Lstat(filepath.Join(dir, name)); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		names = append(names, name)
		problems = append(problems, settingProblems(clean.Line(filepath.Join(folder.Display(), name)), settingsReaders[name](dir))...)
	}
	if len(names) == 0 {
		return nil, ""
	}
	return problems, ", " + strings.Join(names, " and ") + " in " + folder.Display()
}

// settingProblems are errors: what the file says there does not happen.
func settingProblems(shown string, found []dashboard.Problem) []routines.Problem {
	var problems []routines.Problem
	for _, f := range found {
		problems = append(problems, routines.Problem{
			File: shown, Line: f.Line, Column: f.Column, Severity: routines.Error, Message: f.Text,
		})
	}
	return problems
}

// checkFiles checks files wherever they lie.
func checkFiles(at console.DataDir, names []string) []routines.Problem {
	var problems []routines.Problem
	for _, name := range names {
		problems = append(problems, checkFile(at, name)...)
	}
	return problems
}

func checkFile(at console.DataDir, name string) []routines.Problem {
	abs, err := filepath.Abs(name)
	if err != nil {
		return []routines.Problem{unreadable(name, err)}
	}
	if _, err := os.Lstat(abs); errors.Is(err, fs.ErrNotExist) && filepath.IsLocal(name) {
		abs = at.Dir.Path(name) // as lists and problems name it
	}
	folder, err := store.At(filepath.Dir(abs))
	if err != nil {
		return []routines.Problem{unreadable(name, err)}
	}
	data, err := folder.Read(filepath.Base(abs))
	if err != nil {
		return []routines.Problem{unreadable(name, err)}
	}
	shown := clean.Line(filepath.ToSlash(name))
	if filepath.Base(filepath.Dir(abs)) == "webhooks" {
		_, problems := webhook.Parse(shown, data)
		return problems
	}
	if read, ok := settingsReaders[filepath.Base(abs)]; ok {
		return settingProblems(shown, read(filepath.Dir(abs)))
	}
	if isReminder(abs, data) {
		_, problems := routines.ParseReminder(shown, data, at.Env.Zone)
		return problems
	}
	_, problems := routines.ParseRoutine(shown, data)
	return problems
}

// isReminder tells by the folder, and elsewhere by the key that only reminders
// have, what a file is meant to be.
func isReminder(path string, data []byte) bool {
	switch filepath.Base(filepath.Dir(path)) {
	case "reminders":
		return true
	case "routines":
		return false
	}
	doc, err := store.ParseFrontMatter(data)
	if err != nil {
		return false
	}
	_, reminder := doc.Get("run-at")
	return reminder
}

func unreadable(name string, err error) routines.Problem {
	return routines.Problem{
		File: clean.Line(filepath.ToSlash(name)), Severity: routines.Error, Message: clean.Line(err.Error()),
	}
}

// problemLines prints problems the way compilers do, so that editors can jump.
func problemLines(problems []routines.Problem, looked string) []string {
	if len(problems) == 0 {
		return []string{looked + ": in order"}
	}
	lines := make([]string, 0, len(problems)+1)
	errs := 0
	for _, pr := range problems {
		if pr.Severity == routines.Error {
			errs++
		}
		lines = append(lines, fmt.Sprintf("%s: %s: %s", position(pr), pr.Severity, pr.Message))
	}
	return append(lines, fmt.Sprintf("%s: %s, %s", looked, words.Count(errs, "error"), words.Count(len(problems)-errs, "warning")))
}

// position is file:line:column, with what is known of it.
func position(pr routines.Problem) string {
	var b strings.Builder
	b.WriteString(pr.File)
	if pr.Line > 0 {
		fmt.Fprintf(&b, ":%d", pr.Line)
		if pr.Column > 0 {
			fmt.Fprintf(&b, ":%d", pr.Column)
		}
	}
	return b.String()
}
