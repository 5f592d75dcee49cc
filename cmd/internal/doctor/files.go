package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
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
	"ollimbot/routines/daysoff"
	"ollimbot/routines/when"
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
		problems, looked = append(problems, bot.Problems(at.Now)...), lookedAt(at, bot)+settingsIn(dashboard.Dir(p.Environ()))
		notes = append(explained(bot.Index().Set(), at.Now), verified(at)...)
	}
	return p.Verdict(routines.HasErrors(problems), c.JSON, problems, append(notes, problemLines(problems, looked)...))
}

// explained says when the routines fire whose schedule is more than cron, why one time of cron is
// left out, and what the original program does otherwise.
func explained(set *routines.Set, now time.Time) (lines []string) {
	for _, r := range set.Routines {
		s := &r.Schedule
		if s.Plain() && !r.Says {
			continue
		}
		parts := []string{s.Words()}
		if next := s.Next(now); !next.IsZero() {
			parts = append(parts, "next "+next.Format(console.MomentLayout))
		}
		for _, skip := range s.Skipped(now, now.AddDate(1, 0, 0), 1) {
			parts = append(parts, "not "+skip.At.Format(console.MomentLayout)+": "+skip.Why)
		}
		for _, more := range append([]string{s.EndWords(now)}, r.Ours()...) {
			if more != "" {
				parts = append(parts, more)
			}
		}
		lines = append(lines, note(r.Task, parts))
	}
	for _, r := range set.Reminders {
		if len(r.Ahead) == 0 {
			continue
		}
		var at []string
		for _, e := range r.Early() {
			at = append(at, e.At.In(now.Location()).Format(console.MomentLayout))
		}
		lines = append(lines, note(r.Task, []string{when.AheadWords(r.Ahead), strings.Join(at, ", "), r.Ours()}))
	}
	return lines
}

// verified says what the webhooks with verify need from their senders.
func verified(at console.DataDir) (lines []string) {
	hooks := webhook.NewIndex(at.Dir)
	hooks.Scan()
	for _, s := range hooks.Specs(false) {
		if needs := s.Needs(); needs != "" {
			lines = append(lines, clean.Line(s.Path)+": note: "+needs)
		}
	}
	return lines
}

func note(t routines.Task, parts []string) string {
	return clean.Line(t.Path) + ": note: " + strings.Join(parts, "; ")
}

// lookedAt says what the data directory contains.
func lookedAt(at console.DataDir, bot *core.Bot) string {
	set := bot.Index().Set()
	looked := words.Count(len(set.Routines), "routine") + " and " + words.Count(len(set.Reminders), "reminder")
	hooks := webhook.NewIndex(at.Dir)
	hooks.Scan()
	if n := len(hooks.Specs(false)); n > 0 {
		looked = strings.Replace(looked, " and", ",", 1) + " and " + words.Count(n, "webhook")
	}
	return looked + " in " + at.Dir.Display()
}

// settingsIn names the files with the dashboard's settings, as far as they exist.
func settingsIn(dir string) string {
	folder, err := store.At(dir)
	if dir == "" || err != nil {
		return ""
	}
	var names []string
	for _, name := range []string{dashboard.DashboardFile, dashboard.KeysFile} {
		if _, err := os.Lstat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return ", " + words.And(names) + " in " + folder.Display()
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
	folder, wrong := at, func(text string) []routines.Problem {
		return []routines.Problem{{File: shown, Severity: routines.Error, Message: clean.Line(text)}}
	}
	if err == nil {
		folder.Dir, err = store.At(dir)
	}
	var data []byte
	if info, there := os.Stat(abs); there == nil && info.IsDir() {
		return wrong(textFolder)
	}
	if err == nil {
		data, err = folder.Dir.Read(base) // as the bot does, with its limits
	}
	rel := path.Join(in, base)
	switch {
	case err != nil:
		return wrong(err.Error())
	case base == dashboard.DashboardFile, base == dashboard.KeysFile:
		return checkSetting(dir, base, shown)
	case base == policy.FileName:
		problems = policy.Check(data)
	case base == money.PricesFile:
		problems = money.CheckPrices(data)
	case base == provider.File:
		problems = p.Providers(folder).Problems() // with its keys
	case base == mcp.File:
		problems = mcp.Check(data, p.Variables(at))
	case base == config.EnvFile:
		problems = config.CheckEnv(data)
	case rel == config.RuntimeFile, rel == config.SettingsFile:
		problems = config.Check(rel, data)
	case base == skill.File:
		_, problems, _ = skill.Parse(in, data)
	case filepath.Ext(base) != ".md":
		return wrong(textNoKind)
	case in == "agents":
		_, problems = guide.ParseSubagent(shown, data)
	case in == "webhooks":
		_, problems = webhook.Parse(shown, data)
	case isReminder(abs, data):
		_, problems = routines.ParseReminder(shown, data, at.Env.Zone)
	default:
		var r routines.Routine
		r, problems = routines.ParseRoutine(shown, data)
		problems = append(problems, routines.CalendarProblems(&r, daysoff.NewShelf(at.Dir))...)
	}
	return renamed(problems, shown)
}

const textFolder = "this is a folder: name files in it, or give it as --data-dir if it is a data directory"

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
