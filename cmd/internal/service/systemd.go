package service

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"ollimbot/core/base/clean"
)

// unit is the user unit: %[1]s is the description, %[2]s the environment, %[3]s the command
// line. It must not need mounts or forbid namespaces, because the bot makes sandboxes with
// them, nor memory that is writable and executable, because the engine compiles code. A
// panic exits with the status of wrong usage, so no status prevents a restart.
const unit = `[Unit]
Description=%[1]s
Documentation=man:ollim-bot(1)
StartLimitIntervalSec=300
StartLimitBurst=5

[Service]
Type=notify
NotifyAccess=main
Environment=%[2]s
ExecStart=%[3]s
ExecReload=/bin/kill -HUP $MAINPID
Restart=on-failure
RestartSec=5
WatchdogSec=180
TimeoutStartSec=120
TimeoutStopSec=15
KillMode=mixed
OOMPolicy=continue
UMask=0077
NoNewPrivileges=yes
LockPersonality=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
SystemCallArchitectures=native
SystemCallFilter=~@clock @cpu-emulation @module @obsolete @raw-io @reboot @swap
SystemCallErrorNumber=EPERM

[Install]
WantedBy=default.target
`

// systemd makes the user unit of the directory.
func (s *Service) systemd() manager {
	config := s.o.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(config) {
		config = filepath.Join(s.o.Home, ".config")
	}
	name := s.called() + ".service"
	line := s.line()
	for i, word := range line {
		line[i] = quoteUnit(word)
	}
	about := "ollim-bot"
	if !s.o.Main {
		about += " on " + strings.ReplaceAll(s.short(s.o.Dir), "%", "%%")
	}
	ctl := func(words ...string) command { return run(append([]string{"systemctl", "--user"}, words...)...) }
	return manager{
		name: name, kind: "a systemd user unit", path: filepath.Join(config, "systemd", "user", name),
		text:  fmt.Sprintf(unit, about, quoteUnit("PATH="+s.programs()), strings.Join(line, " ")),
		mark:  func(sum string) string { return "# written by `ollim-bot service install`, sum=" + sum },
		begin: []command{ctl("daemon-reload"), ctl("enable", name), {words: ctl("reset-failed", name).words, mayFail: true}, ctl("restart", name)},
		end:   []command{ctl("disable", "--now", name)}, forget: []command{ctl("daemon-reload")},
		state: func(ctx context.Context) State { return s.unitState(ctx, name) },
		logs: func(n int, follow bool) []string {
			return s.journal(name, n, follow)
		},
		stays: s.lingering,
	}
}

// called is the service's name without its extension.
func (s *Service) called() string {
	if s.o.Main {
		return "ollim-bot"
	}
	sum := sha256.Sum256([]byte(s.o.Dir))
	return "ollim-bot-" + hex.EncodeToString(sum[:4])
}

// line is the command line that runs the bot.
func (s *Service) line() []string {
	return append([]string{s.o.Exe, "run", "--headless", "--data-dir", s.o.Dir}, s.o.Args...)
}

// programs is the PATH of the bot: a service does not read the shell's files.
func (s *Service) programs() string {
	var list []string
	for _, dir := range filepath.SplitList(s.o.Getenv("PATH")) {
		if filepath.IsAbs(dir) && !strings.ContainsAny(dir, "\n\r") {
			list = append(list, dir)
		}
	}
	return strings.Join(list, string(filepath.ListSeparator))
}

// quoteUnit quotes a word for a unit file.
func quoteUnit(word string) string {
	word = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "$", "$$", "\t", `\t`).Replace(word)
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:@=,+%", r)
	}
	if word != "" && strings.TrimLeftFunc(word, plain) == "" {
		return word
	}
	return `"` + word + `"`
}

// systemctl asks the user's systemd.
func (s *Service) systemctl(ctx context.Context, words ...string) (string, error) {
	return s.o.Run(ctx, append([]string{"systemctl", "--user"}, words...)...)
}

// unitState asks systemd for the state of a unit.
func (s *Service) unitState(ctx context.Context, name string) State {
	out, err := s.systemctl(ctx, "show", name, "--timestamp=unix",
		"--property=ActiveState,SubState,MainPID,NRestarts,StatusText,UnitFileState,ActiveEnterTimestamp,Result")
	if err != nil {
		return State{Says: clean.FirstLine(out, maxSaid)}
	}
	f := map[string]string{}
	for line := range strings.Lines(out) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		f[key] = value
	}
	st := State{Running: f["ActiveState"] == "active" || f["ActiveState"] == "reloading", Status: f["StatusText"], AtLogin: f["UnitFileState"] == "enabled"}
	st.Says = fmt.Sprintf("%s (%s)", f["ActiveState"], f["SubState"])
	if r := f["Result"]; r != "success" && r != "" {
		st.Says += ", last result: " + r
	}
	st.PID, _ = strconv.Atoi(f["MainPID"])        // 0 if there is none
	st.Restarts, _ = strconv.Atoi(f["NRestarts"]) // 0 if unknown
	if sec, err := strconv.ParseInt(strings.TrimPrefix(f["ActiveEnterTimestamp"], "@"), 10, 64); err == nil && st.Running {
		st.Since = time.Unix(sec, 0)
	}
	return st
}

// journal returns the command that shows the unit's journal; if that is empty, the bot's
// own log.
func (s *Service) journal(name string, n int, follow bool) []string {
	words := []string{"journalctl", "--user", "--quiet", "--no-pager", "--unit", name, "--lines", strconv.Itoa(n)}
	if out, err := s.o.Run(context.Background(), append(words, "--output", "cat")...); err != nil || strings.TrimSpace(out) == "" {
		s.say("(the journal has no entries; showing %s)", s.short(s.logFile()))
		return tailOf(n, follow, s.logFile())
	}
	if follow {
		words = append(words, "--follow")
	}
	return words
}

// lingering says whether the unit survives a logout.
func (s *Service) lingering() string {
	if exists(s.at(filepath.Join("var/lib/systemd/linger", s.o.User))) {
		return textLingers
	}
	return fmt.Sprintf(textLogout, s.o.User)
}

// without says how to run the bot without a known supervisor.
func (s *Service) without() string {
	words := s.line()
	for i, w := range words {
		words[i] = quoteShell(w)
	}
	line := strings.Join(words, " ")
	text := fmt.Sprintf(textWithout, line)
	if exists(s.at(".dockerenv")) || exists(s.at("run/.containerenv")) {
		return text + textInContainer
	}
	found := len(text)
	if exists(s.at("sbin/openrc-run")) {
		text += fmt.Sprintf(textInOpenRC, words[0], strings.Join(words[1:], " "), s.o.User)
	}
	if exists(s.at("usr/bin/chpst")) {
		text += fmt.Sprintf(textInRunit, s.o.User, line)
	}
	if exists(s.at("usr/bin/crontab")) {
		text += fmt.Sprintf(textInCron, line)
	}
	if exists(s.at("usr/bin/tmux")) {
		text += fmt.Sprintf(textInTmux, quoteShell(strings.Replace(line, " --headless", "", 1)))
	}
	if len(text) == found {
		text += fmt.Sprintf(textInShell, line)
	}
	return text
}

// quoteShell quotes a text as one word of a shell.
func quoteShell(word string) string {
	if q := quoteUnit(word); q == word && !strings.ContainsAny(word, "%") {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
