package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"ollimbot/cmd/internal/console"
	atgoogle "ollimbot/cmd/internal/google"
	"ollimbot/core/agent"
	"ollimbot/core/agent/choice"
	"ollimbot/core/agent/claude"
	claudeproc "ollimbot/core/agent/claude/process"
	"ollimbot/core/agent/messages/provider"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/words"
	"ollimbot/core/brief/guide"
	"ollimbot/core/mcp"
	"ollimbot/core/storage/config"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/google"
	"ollimbot/core/work/webhook"
	"ollimbot/discord"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
	"ollimbot/routines/zones"
)

func (r *report) environment() {
	for _, v := range [][3]string{
		{"OLLIM_USER_NAME", r.Env.UserName, config.DefaultUserName}, {"OLLIM_BOT_NAME", r.Env.BotName, config.DefaultBotName},
	} {
		name, value, fallback := v[0], v[1], v[2]
		if value == fallback {
			r.warn(name, "not set, so %q is used: set %s=... in the environment or in %s", fallback, name, filepath.Join(r.Dir.Display(), config.EnvFile))
		} else {
			r.pass(name, "set")
		}
	}
}

// discord checks the token with Discord, and reports whether a running bot could reach
// its user.
func (r *report) discord() {
	if r.Env.DiscordToken == "" {
		r.pass("DISCORD_TOKEN", "not set and not needed: you talk to the bot in the chat pane")
		return
	}
	ctx, stop := context.WithTimeout(context.Background(), 15*time.Second)
	defer stop()
	found, err := discord.Check(ctx, discord.CheckOptions{
		Token: r.Env.DiscordToken, API: r.Env.DiscordAPI, OwnerID: r.Env.OwnerID, Version: r.p.Version, Quiet: true,
	})
	if err != nil {
		r.fail("DISCORD_TOKEN", "%v", err)
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
	r.connection()
	if why := discord.ShutOut(r.Dir); why != "" {
		r.fail("discord", "the bot could not write to you when it last tried: %s", why)
	}
}

// connection reports the running bot's connection to Discord.
func (r *report) connection() {
	now, known := discord.Recorded(r.Dir)
	if _, running := r.Dir.Running(); !known || !running {
		return
	}
	level := pass
	if !now.OK {
		level = bad
	}
	r.add(level, "connection", "%s", now.Text(r.Env.Zone))
}

// claude checks the claude command: whether it is installed, tested in this version, and
// logged in.
func (r *report) claude() {
	path, err := claudeproc.Find(r.p.EngineEnv(r.DataDir))
	if err != nil {
		if r.p.Providers(r.DataDir).Ready() == nil {
			r.pass("claude", "not installed and not needed: the engine messages answers")
			return
		}
		r.warn("claude", "%v; until then, the offline engine answers", err)
		return
	}
	ctx, stop := context.WithTimeout(context.Background(), 30*time.Second)
	defer stop()
	env := r.p.EngineEnviron(r.DataDir)
	v, err := claudeproc.Version(ctx, path, env)
	if err != nil {
		r.fail("claude", "%v", err)
		return
	}
	tried := fmt.Sprintf("tried with %s to %s", claudeproc.Oldest(), claudeproc.Newest())
	switch err := claudeproc.CheckVersion(v); {
	case err != nil:
		r.fail("claude", "%v", err)
		return
	case claudeproc.Untried(v) && !claudeproc.Patch(v):
		r.warn("claude", "version %s is newer than the versions tested (%s): if something goes wrong, install %s", v, tried, claudeproc.Newest())
	default:
		r.pass("claude", "version %s (%s)", v, tried)
		r.pass("claude", "%s", claudeproc.Like(v))
	}
	auth, err := claude.AuthStatus(ctx, path, env)
	switch {
	case err != nil:
		r.fail("login", "%v", err)
	case !auth.LoggedIn:
		r.fail("login", "not logged in to Claude: run ollim-bot auth login")
	default:
		r.pass("login", "logged in (%s)", clean.Line(auth.Method))
	}
}

// google checks the login with Google. A login is optional.
func (r *report) google() {
	g, err := atgoogle.Client(r.DataDir)
	if err != nil {
		r.fail("login", "%v", err)
		return
	}
	ctx, stop := context.WithTimeout(context.Background(), 15*time.Second)
	defer stop()
	s := g.Probe(ctx)
	if s.Kind == google.NotSetUp {
		r.pass("login", "not set up and not needed (to set it up: ollim-bot help google)")
		return
	}
	r.add(map[google.Kind]string{google.Connected: pass, google.Unreachable: warn, google.Lapsed: bad}[s.Kind], "login", "%s", s)
}

// providers checks that each provider of the Messages API answers and accepts its key, and
// reports how much of the prompts came from a cache.
func (r *report) providers() {
	providers := r.p.Providers(r.DataDir)
	list := providers.Providers()
	for _, one := range list {
		if err := one.Check(context.Background()); err != nil {
			r.fail(one.Name, "%v", err)
			continue
		}
		r.offers(one)
	}
	settings, _, _ := config.LoadRuntime(r.Dir)
	if len(list) == 0 && settings.Engine == choice.Messages {
		r.fail("engine", "%v", providers.Ready())
	} else if len(list) == 0 {
		r.pass("providers", "none, and none needed: the engine messages is not in use")
	}
	r.cache()
}

// offers lists what a server says of its models, and compares it with the file.
func (r *report) offers(p provider.Provider) {
	server, err := provider.Ask(context.Background(), p)
	if err != nil {
		r.pass(p.Name, "%s answers; it does not list its models", p.BaseURL)
		return
	}
	r.pass(p.Name, "%s answers and has %s that can chat", p.BaseURL, words.Count(len(server.Models), "model"))
	for _, o := range server.Models[:min(len(server.Models), shownModels)] {
		r.pass(p.Name, "%s: %s", o.Name, o)
	}
	for _, warning := range server.Compare(p) {
		r.warn(p.Name, "%s", warning)
	}
}

// shownModels is how many models of a server are listed.
const shownModels = 12

// cachedRuns is how many recent runs the cache check covers.
const cachedRuns = 50

// cache reports the share of recent prompts that came from the cache, which costs a tenth
// or less.
func (r *report) cache() {
	runs, err := fork.Ledger(r.Dir, cachedRuns)
	if err != nil {
		r.warn("cache", "%v", err)
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
		r.pass("cache", "no run has reported its use of the cache yet")
	case share < 0.5:
		r.warn("cache", "%s: less than half makes runs expensive; "+
			"isolated tasks, and tasks with another model than the conversation's, start without it, "+
			"and so do those that think in another way (thinking_fork, or thinking: false in a task's file)", text)
	default:
		r.pass("cache", "%s", text)
	}
}

// sandbox reports how the commands of a model are confined.
func (r *report) sandbox() {
	state := r.p.Sandbox(r.DataDir).State()
	level := pass
	if !state.Complete() {
		level = warn
	}
	r.add(level, "commands", "%s", state)
	if limits := state.Limits(); limits != "" {
		r.pass("limits", "%s", limits)
	}
}

func (r *report) servers() {
	states, problems, err := mcp.Known(r.Dir, r.p.Variables(r.DataDir))
	if err != nil {
		r.fail("servers", "%s", clean.Line(err.Error()))
		return
	}
	for _, s := range states {
		level := pass
		if s.Status == mcp.Failed || s.Waiting > 0 {
			level = warn
		}
		r.add(level, s.Name, "%s", strings.TrimPrefix(s.String(), s.Name+": "))
	}
	for _, text := range mcp.Unreached(states, r.p.Sandbox(r.DataDir).State) {
		r.warn("network", "%s", text)
	}
	waits := mcp.NewEdits(r.Dir, nil).Waits()
	if waits != "" {
		r.warn("edit", "%s", waits)
	}
	if len(states)+len(problems) == 0 && waits == "" {
		r.pass("servers", "none: .mcp.json is missing or empty")
	}
}

func (r *report) dataDir() {
	root := r.Dir.Root()
	info, err := os.Stat(root)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := r.Dir.Writable(); err != nil {
			r.fail("directory", "%s", clean.Line(err.Error()))
			return
		}
		r.warn("directory", "%s does not exist yet; the bot creates it when it first runs", r.Dir.Display())
		return
	case err != nil:
		r.fail("directory", "%s", clean.Line(err.Error()))
		return
	case !info.IsDir():
		r.fail("directory", "%s is not a directory: move the file away, or give another --data-dir", r.Dir.Display())
		return
	}
	r.pass("directory", "%s", r.Dir.Display())
	for _, text := range r.Dir.Concerns() {
		r.warn("trust", "%s", clean.Line(text))
	}
	if open := info.Mode().Perm() & 0o077; open != 0 {
		r.warn("privacy", "other users of this machine can read it (mode %04o): chmod 700 %s", info.Mode().Perm(), r.Dir.Display())
	} else {
		r.pass("privacy", "other users cannot read it")
	}
	probe, err := os.CreateTemp(root, ".doctor-*.tmp")
	if err == nil {
		_, err = probe.Write(make([]byte, 4096)) // an empty file fits on a full disk
		err = errors.Join(err, probe.Close(), os.Remove(probe.Name()))
	}
	if err != nil {
		r.fail("writable", "%v: make it writable, or give another --data-dir", clean.Line(err.Error()))
	} else {
		r.pass("writable", "yes")
	}
	r.space(root)
	r.pass("bot", "%s", r.Running())
	path, err := exec.LookPath("git")
	if err != nil {
		r.warn("git", "not installed: changes of routines are not recorded")
	} else if info, err := os.Stat(filepath.Join(root, ".git")); err != nil || !info.IsDir() {
		r.warn("git", "the directory is not a repository yet; the bot makes it one when it runs (%s)", path)
	} else {
		r.pass("git", "changes of routines are recorded")
	}
}

// leastSpace is the free space in bytes below which the disk is soon full: what the bot keeps of a busy week.
const leastSpace = 100 << 20

// space reports the free space where the data directory is.
func (r *report) space(root string) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(root, &s); err != nil {
		return // reported as not writable
	}
	free := int64(s.Bavail) * int64(s.Bsize) //nolint:gosec,unconvert // their types differ between systems
	level, more := pass, ""
	if free < leastSpace {
		level, more = warn, ": make room, or nothing more can be stored"
	}
	r.add(level, "space", "%s free%s", words.Bytes(free), more)
}

func (r *report) zone() {
	machine := ""
	if name := config.MachineZone(r.p.Getenv); r.Env.ZoneKept && name != r.Env.ZoneName {
		machine = fmt.Sprintf("; this machine is in %s, so the bot asks whether tasks follow", name)
	}
	r.pass("timezone", "%s, now %s%s", r.Env.ZoneName, r.Now.Format(console.MomentLayout), machine)
	data := zones.Default().Report(r.Now, append(routines.Zones(schedule.Files(r.Dir, r.Env.Zone).Routines), r.Env.ZoneName)...)
	r.pass("zone data", "%s", data)
	for _, warning := range data.Warnings {
		r.warn("zone data", "%s", warning)
	}
	if _, end := r.Now.ZoneBounds(); end.IsZero() {
		r.pass("clock change", "none ahead in this zone")
	} else {
		r.pass("clock change", "next on %s (%s)", end.In(r.Env.Zone).Format("2006-01-02"), words.Until(end.Sub(r.Now)))
	}
	if r.Now.Year() < 2024 {
		r.fail("clock", "it is the year %d here: set the clock, or everything fires at the wrong time", r.Now.Year())
	}
}

// agentFiles reports the files that the agent reads in the data directory, and those with
// a newer version that would overwrite the user's changes.
func (r *report) agentFiles() {
	agents, _ := guide.Subagents(r.Dir)
	r.pass("subagents", "%s in .claude/agents", words.Count(len(agents), "subagent"))
	for _, o := range guide.Offers(r.Dir) {
		r.warn(clean.Line(o.File), "%s", o.Text)
	}
	hooks := webhook.NewIndex(r.Dir)
	hooks.Scan()
	if n := len(hooks.Specs(false)); n > 0 && (r.Env.WebhookPort == 0 || r.Env.WebhookSecret == "") {
		r.warn("webhooks", "%s, but %s", words.Count(n, "webhook"), console.TextNoWebhookServer)
	}
}
