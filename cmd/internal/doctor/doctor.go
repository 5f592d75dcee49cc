// Package doctor is the commands that find problems: doctor checks everything that the bot
// needs, and check validates files. They change nothing and must not know how to repair anything.
package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"ollimbot/cmd/internal/console"
	sessions "ollimbot/core/agent/messages/history"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/words"
	"ollimbot/core/storage/store"
	"ollimbot/core/work/webhook"
)

// Cmd checks everything that the bot needs.
type Cmd struct{ console.AsJSON }

// The levels of a finding.
const (
	pass = "PASS"
	warn = "WARN"
	bad  = "FAIL"
)

// finding is one line of the report.
type finding struct {
	Section string `json:"section"`
	Level   string `json:"level"`
	Label   string `json:"label"`
	Message string `json:"message"`
}

// findings are the whole report, counted by level.
type findings struct {
	Checks   []finding `json:"checks"`
	Passed   int       `json:"passed"`
	Warnings int       `json:"warnings"`
	Failures int       `json:"failures"`
}

// report collects findings, section by section.
type report struct {
	console.DataDir
	p       *console.Process
	section string
	findings
}

func (r *report) pass(label, format string, args ...any) { r.add(pass, label, format, args...) }
func (r *report) warn(label, format string, args ...any) { r.add(warn, label, format, args...) }
func (r *report) fail(label, format string, args ...any) { r.add(bad, label, format, args...) }

func (r *report) add(level, label, format string, args ...any) {
	text := strings.ReplaceAll(fmt.Sprintf(format, args...), context.DeadlineExceeded.Error(), "no answer in time")
	r.Checks = append(r.Checks, finding{r.section, level, label, text})
	switch level {
	case pass:
		r.Passed++
	case warn:
		r.Warnings++
	default:
		r.Failures++
	}
}

// Run checks everything that the bot needs; a failure makes the command fail.
func (c *Cmd) Run(p *console.Process, at console.DataDir) error {
	r := &report{DataDir: at, p: p}
	tasks := r.taskFiles()
	for _, section := range []struct {
		title string
		check func()
	}{
		{"FILES", tasks.files},
		{"ENVIRONMENT", r.environment},
		{"DISCORD", r.discord},
		{"CLAUDE", r.claude},
		{"MESSAGES API", r.providers},
		{"GOOGLE", r.google},
		{"SANDBOX", r.sandbox},
		{"MCP SERVERS", r.servers},
		{"DATA DIRECTORY", r.dataDir},
		{"TIMEZONE & SCHEDULING", r.zone},
		{"ROUTINES", tasks.routines},
		{"REMINDERS", tasks.reminders},
		{"TOOL POLICY", tasks.tools},
		{"AGENT FILES", r.agentFiles},
		{"STATE FILES", r.state},
		{"DISK", r.disk},
	} {
		r.section = section.title
		section.check()
	}
	return p.Verdict(r.Failures > 0, c.JSON, r.findings, r.lines())
}

func (a findings) lines() []string {
	var lines []string
	section := ""
	for _, f := range a.Checks {
		if f.Section != section {
			if section != "" {
				lines = append(lines, "")
			}
			section = f.Section
			lines = append(lines, section)
		}
		lines = append(lines, fmt.Sprintf("  %s  %s: %s", f.Level, f.Label, strings.ReplaceAll(f.Message, "\n", " ")))
	}
	return append(lines, "", fmt.Sprintf("SUMMARY: %d passed, %s, %s",
		a.Passed, words.Count(a.Warnings, "warning"), words.Count(a.Failures, "failure")))
}

// kept are the parts of the data directory that grow, with their limits, as in the table
// of docs/data-directory.md.
var kept = []struct{ label, glob, rule string }{
	{"history", ".git", "git: packed when it pays; about 50 MB a year at 100 runs a day"},
	{"log", "state/bot.log*", "two files of 1 MB"},
	{"runs", "state/fork_runs.jsonl", "shortened to 12 MB beyond 20 MB"},
	{"output of runs", "state/forks", "the newest 200 runs, 64 MB at most"},
	{"deliveries", "state/webhooks.jsonl", "shortened beyond 1 MB"},
	{"conversation", "state/transcript.jsonl", "shortened to 0.5 MB beyond 1 MB"},
	{"pings", "state/pings.jsonl", "shortened beyond 1 MB"},
	{"sessions", "state/session_history.jsonl", "kept; about 8 MB a year at 100 runs a day"},
	{"engine sessions", sessions.Folder, "30 days without a message"},
	{"trash", "state/trash", "a day"},
	{"set aside", "state/*.corrupt-*", "30 days"},
	{"downloads", "downloads", "kept until you remove them"},
}

// disk reports the size of each part that has one. None is a failure, because the bot enforces
// the limits.
func (r *report) disk() {
	for _, k := range kept {
		// os.DirFS, because the root's name may contain the special characters of a pattern.
		paths, err := fs.Glob(os.DirFS(r.Dir.Root()), k.glob)
		if err != nil {
			continue
		}
		var size int64
		for _, path := range paths {
			size += store.Size(r.Dir.Path(path))
		}
		if size > 0 {
			r.pass(k.label, "%s; %s", words.Bytes(size), k.rule)
		}
	}
}

// stateFiles are the bot's own JSON files. A missing one is not a problem. The user's settings are among the
// FILES.
var stateFiles = []string{
	"pending_updates.json", "inquiries.json", "fork_messages.json", "ping_budget.json", "schedule.json",
	"installed.json", "holds.json", "mute.json", "usage.json", "discord.json", "discord_back.json", "waiting_messages.json", "delivery.json",
	"provenance.json", "checks.json", "engine_moves.json", "mcp.json", "mcp_edit.json", "open_fork.json",
}

func (r *report) state() {
	good, missing := 0, 0
	for _, name := range stateFiles {
		data, err := r.Dir.Read("state/" + name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			missing++
		case err != nil:
			r.fail(name, "%s", clean.Line(err.Error()))
		case !json.Valid(data):
			r.fail(name, "is not JSON: the bot will set it aside and start with defaults; repair it first to keep its contents")
		default:
			good++
		}
	}
	r.pass("state", "%s in order, %d not needed so far", words.Count(good, "file"), missing)
	if info, err := os.Stat(r.Dir.Path(webhook.LogFile)); err == nil {
		r.pass(filepath.Base(webhook.LogFile), "%d kB; %s", (info.Size()+1023)/1024, webhook.LimitsText())
	}
	if kept, err := filepath.Glob(r.Dir.Path("state/*.corrupt-*")); err == nil && len(kept) > 0 {
		r.warn("set aside", "%s in state/ (*.corrupt-*): look at them; they are removed after 30 days", words.Count(len(kept), "unreadable file"))
	}
}
