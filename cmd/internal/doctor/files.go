package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ollimbot/cmd/internal/console"
	"ollimbot/core"
	"ollimbot/core/agent/messages/provider"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/words"
	"ollimbot/core/brief/guide"
	"ollimbot/core/brief/skill"
	"ollimbot/core/mcp"
	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/frontmatter"
	"ollimbot/core/storage/store"
	"ollimbot/core/work/money"
	"ollimbot/core/work/webhook"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
	dashboard "ollimbot/tui/settings"
)

// CheckCmd is the command that validates files.
type CheckCmd struct {
	Files []string `arg:"" optional:"" name:"file" help:"Files, here or in the data directory; without any, all of it and the dashboard's settings."`
	console.AsJSON
}

// Run validates files. Only errors make it fail; warnings are advice.
func (c *CheckCmd) Run(p *console.Process, at console.DataDir) error {
	problems, looked := []routines.Problem{}, words.Count(len(c.Files), "file")
	var notes []string
	for _, name := range c.Files {
		problems = append(problems, checkFile(p, at, name)...)
	}
	if len(c.Files) == 0 {
		bot, err := p.Bot(at)
		if err != nil {
			return err
		}
		found, what := checkDir(at, bot, p.Providers(at))
		notes = explained(bot.Index().Set(), at.Now)
		chosen, names := checkSettings(dashboard.Dir(p.Environ()))
		problems, looked = append(append(problems, found...), chosen...), what+names
	}
	return p.Verdict(routines.HasErrors(problems), c.JSON, problems, append(notes, problemLines(problems, looked)...))
}

// explained says when the routines fire whose schedule is more than cron, why one time of cron is
// left out, and what the original program does otherwise.
func explained(set *routines.Set, now time.Time) (lines []string) {
	for _, r := range set.Routines {
		s := &r.Schedule
		if s.Plain() {
			continue
		}
		parts := []string{s.Words()}
		if next := s.Next(now); !next.IsZero() {
			parts = append(parts, "next "+next.Format(console.MomentLayout))
		}
		for _, skip := range s.Skipped(now, now.AddDate(1, 0, 0), 1) {
			parts = append(parts, "not "+skip.At.Format(console.MomentLayout)+": "+skip.Why)
		}
		for _, more := range []string{s.EndWords(now), s.Ours()} {
			if more != "" {
				parts = append(parts, more)
			}
		}
		lines = append(lines, clean.Line(r.Path)+": note: "+strings.Join(parts, "; "))
	}
	return lines
}

// checkDir checks the data directory as the bot reads it. Only that finds duplicate IDs,
// problems of skills, and files that are waiting for approval.
func checkDir(at console.DataDir, bot *core.Bot, providers *provider.Registry) ([]routines.Problem, string) {
	set := schedule.Files(at.Dir, at.Env.Zone)
	_, skills := skill.List(at.Dir)
	hooks := webhook.NewIndex(at.Dir)
	hooks.Scan()
	_, agents := guide.Subagents(at.Dir)
	problems := slices.Concat(core.FileProblems(bot, providers), set.Problems, hooks.Problems(), skills, agents)
	if weak := webhook.WeakSecret(at.Env.WebhookSecret); weak != "" {
		problems = append(problems, routines.Problem{File: config.EnvFile, Severity: routines.Warning, Message: weak})
	}
	problems = append(problems, core.Lacking(bot, at.Now)...)
	for _, w := range bot.Review().Waiting() {
		if !slices.ContainsFunc(problems, func(p routines.Problem) bool { return p.Waits && p.File == w.File }) {
			problems = append(problems, w)
		}
	}
	looked := words.Count(len(set.Routines), "routine") + " and " + words.Count(len(set.Reminders), "reminder")
	if n := len(hooks.Specs(false)); n > 0 {
		looked = strings.Replace(looked, " and", ",", 1) + " and " + words.Count(n, "webhook")
	}
	return problems, looked + " in " + at.Dir.Display()
}

// checkSettings checks the files with the dashboard's settings, as far as they exist.
func checkSettings(dir string) (problems []routines.Problem, looked string) {
	folder, err := store.At(dir)
	if dir == "" || err != nil {
		return nil, ""
	}
	var names []string
	for _, name := range []string{dashboard.DashboardFile, dashboard.KeysFile} {
		if _, err := os.Lstat(filepath.Join(dir, name)); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		names = append(names, name)
		problems = append(problems, checkSetting(dir, name, clean.Line(filepath.Join(folder.Display(), name)))...)
	}
	if len(names) == 0 {
		return nil, ""
	}
	return problems, ", " + strings.Join(names, " and ") + " in " + folder.Display()
}

// checkSetting reads one of those files as the dashboard does. What it ignores is an error.
func checkSetting(dir, name, shown string) []routines.Problem {
	_, found := dashboard.Keys(dir)
	if name == dashboard.DashboardFile {
		_, found = dashboard.Load(dir)
	}
	return renamed(found, shown)
}

// renamed returns problems of a file under the name that the user gave.
func renamed(problems []routines.Problem, file string) []routines.Problem {
	for i := range problems {
		problems[i].File = file
	}
	return problems
}

// checkFile checks a file in any folder as what it is by its name, or by its folder.
func checkFile(p *console.Process, at console.DataDir, name string) (problems []routines.Problem) {
	shown := clean.Line(filepath.ToSlash(name))
	abs, err := filepath.Abs(name)
	if _, there := os.Lstat(abs); errors.Is(there, fs.ErrNotExist) && filepath.IsLocal(name) {
		abs = at.Dir.Path(name) // as lists and problems name it
	}
	dir, base := filepath.Split(abs)
	in := filepath.Base(dir)
	folder, wrong := at, func(line int, text string) []routines.Problem {
		return []routines.Problem{{File: shown, Line: line, Severity: routines.Error, Message: clean.Line(text)}}
	}
	if err == nil {
		folder.Dir, err = store.At(dir)
	}
	var data []byte
	if err == nil {
		data, err = folder.Dir.Read(base) // as the bot does, with its limits
	}
	rel := path.Join(in, base)
	switch {
	case err != nil:
		return wrong(0, err.Error())
	case base == dashboard.DashboardFile, base == dashboard.KeysFile:
		return checkSetting(dir, base, shown)
	case base == policy.FileName:
		_, problems = policy.NewFile(folder.Dir).Load()
	case base == money.PricesFile:
		problems = money.NewPrices(folder.Dir, nil).Problems()
	case base == provider.File:
		problems = p.Providers(folder).Problems()
	case base == mcp.File:
		_, problems, _ = mcp.Read(folder.Dir, p.Variables(at)) // it was read just now
	case base == config.EnvFile:
		if err := config.CheckEnv(data); err != nil {
			return wrong(0, err.Error())
		}
	case rel == config.RuntimeFile, rel == config.SettingsFile:
		for _, text := range config.Check(rel, data) {
			problems = append(problems, wrong(0, text)...)
		}
	case base == skill.File:
		_, problems, _ = skill.Parse(in, data)
	case filepath.Ext(base) != ".md":
		return wrong(0, textNoKind)
	case in == "agents":
		_, problems = guide.ParseSubagent(shown, data)
	case in == "webhooks":
		_, problems = webhook.Parse(shown, data)
	case isReminder(abs, data):
		_, problems = routines.ParseReminder(shown, data, at.Env.Zone)
	default:
		_, problems = routines.ParseRoutine(shown, data)
	}
	return renamed(problems, shown)
}

const textNoKind = "this is no file that the bot reads: name it as ollim-bot help data-directory.md does"

// isReminder reports whether a file is meant to be a reminder: by its folder, or else by
// the key that only reminders have.
func isReminder(path string, data []byte) bool {
	switch filepath.Base(filepath.Dir(path)) {
	case "reminders":
		return true
	case "routines":
		return false
	}
	doc, err := frontmatter.Parse(data)
	if err != nil {
		return false
	}
	_, reminder := doc.Get("run-at")
	return reminder
}

// problemLines formats problems like a compiler, so that editors can jump to them.
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
		lines = append(lines, fmt.Sprintf("%s: %s: %s", pr.Position(), pr.Severity, pr.Message))
	}
	return append(lines, fmt.Sprintf("%s: %s, %s", looked, words.Count(errs, "error"), words.Count(len(problems)-errs, "warning")))
}
