package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ollimbot/core/access"
	"ollimbot/core/agent"
	"ollimbot/core/agent/choice"
	"ollimbot/core/agent/claude"
	claudeproc "ollimbot/core/agent/claude/process"
	"ollimbot/core/agent/messages/provider"
	"ollimbot/core/clean"
	"ollimbot/core/config"
	"ollimbot/core/fork"
	"ollimbot/core/guide"
	"ollimbot/core/sandbox"
	"ollimbot/core/webhook"
	"ollimbot/core/words"
	"ollimbot/discord"
	"ollimbot/routines"
	"ollimbot/routines/cron"
	"ollimbot/routines/schedule"
)

func checkEnvironment(r *report, at dataDir) {
	for _, v := range []struct{ name, value, fallback string }{
		{"OLLIM_USER_NAME", at.env.UserName, config.DefaultUserName},
		{"OLLIM_BOT_NAME", at.env.BotName, config.DefaultBotName},
	} {
		if v.value == v.fallback {
			r.add(warn, v.name, "not set, %q is used: put %s=... into the environment or into %s",
				v.fallback, v.name, filepath.Join(at.dir.Display(), config.EnvFile))
			continue
		}
		r.add(pass, v.name, "set")
	}
}

// checkDiscord asks Discord whether the token works, and nothing else; and tells
// what a running bot has found out about reaching its user.
func checkDiscord(r *report, at dataDir) {
	if at.env.DiscordToken == "" {
		r.add(pass, "DISCORD_TOKEN", "not set and not needed: the chat pane is where the bot speaks")
		return
	}
	ctx, stop := context.WithTimeout(context.Background(), 15*time.Second)
	defer stop()
	found, err := discord.Check(ctx, discord.CheckOptions{
		Token: at.env.DiscordToken, API: at.env.DiscordAPI, OwnerID: at.env.OwnerID, Version: version, Quiet: true,
	})
	if err != nil {
		r.add(bad, "DISCORD_TOKEN", "%v", err)
		return
	}
	for _, f := range found.Findings {
		level, text := pass, f.Text
		switch {
		case !f.OK && found.Unasked:
			level = warn
		case !f.OK:
			level = bad
		}
		if f.Next != "" {
			text += ": " + f.Next
		}
		r.add(level, "discord", "%s", text)
	}
	if why := discord.ShutOut(at.dir); why != "" {
		r.add(bad, "discord", "the bot could not write to you when it last tried: %s", why)
	}
}

// checkClaude looks at the engine's command: whether it is there, whether its
// version was tried, and whether somebody is logged in.
func (p *process) checkClaude(r *report, at dataDir) {
	path, err := claudeproc.Find(p.engineEnv(at))
	if err != nil {
		if p.providers(at).Ready() == nil {
			r.add(pass, "claude", "not installed and not needed: the engine messages answers")
			return
		}
		r.add(warn, "claude", "%v; until then the offline engine answers", err)
		return
	}
	ctx, stop := context.WithTimeout(context.Background(), 30*time.Second)
	defer stop()
	env := claudeproc.Environment(p.environment(at), p.claudeEnv(at))
	v, err := claudeproc.Version(ctx, path, env)
	if err != nil {
		r.add(bad, "claude", "%v", err)
		return
	}
	tried := fmt.Sprintf("tried with %s to %s", claudeproc.Oldest(), claudeproc.Newest())
	switch {
	case claudeproc.CheckVersion(v) != nil:
		r.add(bad, "claude", "%v", claudeproc.CheckVersion(v))
		return
	case claudeproc.Untried(v):
		r.add(warn, "claude", "version %s is newer than any that was tried (%s): if something is odd, install %s", v, tried, claudeproc.Newest())
	default:
		r.add(pass, "claude", "version %s (%s)", v, tried)
		r.add(pass, "claude", "%s", claudeproc.Like(v))
	}
	auth, err := claude.AuthStatus(ctx, path, env)
	switch {
	case err != nil:
		r.add(bad, "login", "%v", err)
	case !auth.LoggedIn:
		r.add(bad, "login", "nobody is logged in to Claude: run ollim-bot auth login")
	default:
		r.add(pass, "login", "logged in (%s)", clean.Line(auth.Method))
	}
}

// checkProviders asks those who speak the Messages API whether they are there and take
// their keys, and tells how much of the prompts came from a cache.
func (p *process) checkProviders(r *report, at dataDir) {
	providers := p.providers(at)
	for _, problem := range providers.Problems() {
		r.add(bad, provider.File, "line %d: %s", problem.Line, problem.Message)
	}
	list := providers.Providers()
	for _, one := range list {
		if err := one.Check(context.Background()); err != nil {
			r.add(bad, one.Name, "%v", err)
			continue
		}
		r.add(pass, one.Name, "%s answers (%s)", one.BaseURL, words.Count(len(one.Models), "model"))
	}
	settings, _, _ := config.LoadRuntime(at.dir)
	if len(list) == 0 && settings.Engine == choice.Messages {
		r.add(bad, "engine", "%v", providers.Ready())
	} else if len(list) == 0 {
		r.add(pass, "providers", "none, and none needed: the engine messages is not in use")
	}
	checkCache(r, at)
}

// cachedRuns is how many runs tell how well the cache works.
const cachedRuns = 50

// checkCache tells which part of the prompts came from the cache of late: what is read
// from it costs a tenth and less.
func checkCache(r *report, at dataDir) {
	runs, err := fork.Ledger(at.dir, cachedRuns)
	if err != nil {
		r.add(warn, "cache", "%v", err)
		return
	}
	var used agent.Usage
	counted := 0
	for _, v := range runs {
		if _, ok := v.Usage.Cached(); ok {
			used = used.Add(v.Usage)
			counted++
		}
	}
	share, ok := used.Cached()
	switch text := fmt.Sprintf("%.0f %% of the prompts of the last %s came from the cache", 100*share, words.Count(counted, "run")); {
	case !ok:
		r.add(pass, "cache", "no run tells of one yet")
	case share < 0.5:
		r.add(warn, "cache", "%s: less than half makes runs dear; tasks that name another model than the conversation's, or isolated ones, begin without it", text)
	default:
		r.add(pass, "cache", "%s", text)
	}
}

// checkSandbox says what keeps the commands of a model in.
func (p *process) checkSandbox(r *report, at dataDir) {
	state := p.sandbox(at).State()
	level := pass
	if state.Kind == sandbox.None || state.Reason != "" {
		level = warn
	}
	r.add(level, "commands", "%s", state)
}

func checkDataDir(r *report, at dataDir) {
	root := at.dir.Root()
	info, err := os.Stat(root)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.add(warn, "directory", "%s does not exist yet: it is made when the bot first runs", at.dir.Display())
		return
	case err != nil:
		r.add(bad, "directory", "%s", clean.Line(err.Error()))
		return
	case !info.IsDir():
		r.add(bad, "directory", "%s is not a directory: move the file away, or give another --data-dir", at.dir.Display())
		return
	}
	r.add(pass, "directory", "%s", at.dir.Display())
	for _, text := range at.dir.Concerns() {
		r.add(warn, "trust", "%s", clean.Line(text))
	}
	if open := info.Mode().Perm() & 0o077; open != 0 {
		r.add(warn, "privacy", "others on this machine can look in (mode %04o): chmod 700 %s", info.Mode().Perm(), at.dir.Display())
	} else {
		r.add(pass, "privacy", "nobody else can look in")
	}
	if probe, err := os.CreateTemp(root, ".doctor-*.tmp"); err != nil {
		r.add(bad, "writable", "%v: make it writable, or give another --data-dir", clean.Line(err.Error()))
	} else {
		name := probe.Name()
		if err := errors.Join(probe.Close(), os.Remove(name)); err != nil {
			r.add(warn, "writable", "%v", clean.Line(err.Error()))
		} else {
			r.add(pass, "writable", "yes")
		}
	}
	if pid, running := at.dir.Running(); running && pid != 0 {
		r.add(pass, "bot", "running (pid %d)", pid)
	} else if running {
		r.add(pass, "bot", "running")
	} else {
		r.add(pass, "bot", "not running")
	}
	checkGit(r, root)
}

func checkGit(r *report, root string) {
	path, err := exec.LookPath("git")
	if err != nil {
		r.add(warn, "git", "not installed: changes of routines are not recorded")
		return
	}
	if info, err := os.Stat(filepath.Join(root, ".git")); err != nil || !info.IsDir() {
		r.add(warn, "git", "the directory is no repository yet: the bot makes it one when it runs (%s)", path)
		return
	}
	r.add(pass, "git", "changes of routines are recorded")
}

func checkZone(r *report, at dataDir) {
	r.add(pass, "timezone", "%s, now %s", at.env.ZoneName, at.now.Format(momentLayout))
	_, end := at.now.ZoneBounds()
	if end.IsZero() {
		r.add(pass, "clock change", "none ahead in this zone")
	} else {
		r.add(pass, "clock change", "next on %s (%s)", end.In(at.env.Zone).Format("2006-01-02"), words.Distance(end.Sub(at.now)))
	}
	if at.now.Year() < 2024 {
		r.add(bad, "clock", "it is the year %d here: set the clock, or everything fires at the wrong time", at.now.Year())
	}
}

// taskFiles are the tasks as they lie on the disk, and what of them waits for the user.
type taskFiles struct {
	*routines.Set
	waiting []routines.Problem
	err     error // why it is not known what waits
}

func (p *process) taskFiles(at dataDir) taskFiles {
	t := taskFiles{Set: schedule.Files(at.dir, at.env.Zone)}
	bot, err := p.bot(at)
	if t.err = err; err == nil {
		t.waiting = bot.Waiting()
	}
	return t
}

// waits reports a task that does not fire because it waits for the user.
func (t taskFiles) waits(r *report, task routines.Task) bool {
	waits := slices.ContainsFunc(t.waiting, func(w routines.Problem) bool { return w.File == task.Path })
	if waits {
		r.add(warn, task.ID, "%s: does not fire, it waits for you; see TOOL POLICY", task.Title())
	}
	return waits
}

func (t taskFiles) checkRoutines(r *report, at dataDir) {
	corrupt(r, t.Set, "routines/")
	for _, routine := range t.Routines {
		if t.waits(r, routine.Task) {
			continue
		}
		next := routine.Schedule.Next(at.now.Add(time.Minute).Truncate(time.Minute))
		if next.IsZero() {
			r.add(bad, routine.ID, "%s: never fires", routine.Title())
			continue
		}
		r.add(pass, routine.ID, "%s: next fire %s (%s)", routine.Title(), shortTime(at.now, next), words.Distance(next.Sub(at.now)))
		for _, note := range routine.Schedule.Notes() {
			r.add(warn, routine.ID, "cron '%s' (%s): %s", routine.Cron, routine.Schedule.Words(), strings.TrimSuffix(note, "."))
		}
	}
	if len(t.Routines) == 0 {
		r.add(pass, "files", "no routines yet")
	}
}

func (t taskFiles) checkReminders(r *report, at dataDir) {
	corrupt(r, t.Set, "reminders/")
	for _, reminder := range t.Reminders {
		if t.waits(r, reminder.Task) {
			continue
		}
		level, when := pass, words.Distance(reminder.RunAt.Sub(at.now))
		if reminder.RunAt.Before(at.now) {
			level, when = warn, "due "+when+", fires late when the bot runs"
		}
		r.add(level, reminder.ID, "%s: at %s (%s)", reminder.Title(), shortTime(at.now, reminder.RunAt), when)
	}
	if len(t.Reminders) == 0 {
		r.add(pass, "files", "no pending reminders")
	}
}

// corrupt reports the files of a folder that need the user.
func corrupt(r *report, set *routines.Set, folder string) {
	found := false
	for _, pr := range set.Problems {
		if !strings.HasPrefix(pr.File, folder) {
			continue
		}
		found = true
		level := warn
		if pr.Severity == routines.Error {
			level = bad
		}
		r.add(level, place3(pr), "%s", pr.Message)
	}
	if !found {
		r.add(pass, "files", "every file in %s is in order", folder)
	}
}

func (t taskFiles) checkTools(r *report, at dataDir) {
	switch {
	case t.err != nil:
		r.add(bad, "rights", "%v", t.err)
	case len(t.waiting) == 0:
		r.add(pass, "rights", "nothing that the agent wrote waits for you")
	}
	for _, w := range t.waiting {
		r.add(warn, w.File, "%s (ollim-bot allow %s)", w.Message, shellWord(w.File))
	}
	checked := 0
	for _, task := range t.Tasks() {
		for _, tool := range slices.Concat(task.Allowed, task.Disallowed) {
			checked++
			switch severity, why := routines.CheckTool(tool); severity {
			case routines.Error:
				r.add(bad, task.ID, "%s: %s", clean.Line(tool), why)
			case routines.Warning:
				r.add(warn, task.ID, "%s: %s", clean.Line(tool), why)
			}
		}
	}
	agents, problems := guide.Subagents(at.dir)
	for _, a := range agents {
		checked += len(a.Tools)
	}
	for _, problem := range problems {
		level := warn
		if problem.Severity == routines.Error {
			level = bad
		}
		r.add(level, clean.Line(problem.File), "%s", problem.Message)
	}
	r.add(pass, "patterns", "%s looked at", words.Count(checked, "tool pattern"))
}

// checkAgentFiles tells what the agent reads in the data directory, and which of
// it has a newer version that is not put over the user's own.
func checkAgentFiles(r *report, at dataDir) {
	agents, _ := guide.Subagents(at.dir)
	r.add(pass, "subagents", "%s in .claude/agents", words.Count(len(agents), "subagent"))
	for _, o := range guide.Offers(at.dir) {
		r.add(warn, clean.Line(o.File), "%s", o.Text)
	}
	hooks := webhook.NewIndex(at.dir)
	hooks.Scan()
	if n := len(hooks.Specs(false)); n > 0 && (at.env.WebhookPort == 0 || at.env.WebhookSecret == "") {
		r.add(warn, "webhooks", "%s, but %s", words.Count(n, "webhook"), textNoWebhookServer)
	}
	if weak := webhook.WeakSecret(at.env.WebhookSecret); weak != "" {
		r.add(warn, "webhooks", "%s", weak)
	}
}

// shortTime leaves out the day where it is today.
func shortTime(now, t time.Time) string {
	return cron.Layouts{Today: "15:04", Else: "Mon 2006-01-02 15:04"}.Format(t.In(now.Location()), now)
}

// checkAttach says who may look at the bot from elsewhere, and by which key they know it.
func checkAttach(r *report, at dataDir) {
	mark, err := access.Fingerprint(at.dir)
	switch {
	case err != nil:
		r.add(bad, "host key", "%v", err)
	case mark == "":
		r.add(pass, "host key", "not made yet: it is when somebody first attaches")
	default:
		r.add(pass, "host key", "%s", mark)
	}
	port := "no port is open; viewers come over the socket of the data directory"
	if at.env.AttachAddress != "" {
		port = at.env.AttachAddress
	}
	r.add(pass, "port", "%s", port)
	keys, problems, err := access.Keys(at.dir)
	if err != nil {
		r.add(bad, access.KeysFile, "%v", err)
		return
	}
	for _, p := range problems {
		r.add(warn, access.KeysFile, "%s", p)
	}
	readOnly := 0
	for _, k := range keys {
		if k.ReadOnly {
			readOnly++
		}
	}
	r.add(pass, access.KeysFile, "%s, %d of them read-only", words.Count(len(keys), "key"), readOnly)
}
