package core

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
	"ollimbot/core/command"
	"ollimbot/core/safety/audit"
	"ollimbot/core/safety/policy"
	"ollimbot/core/safety/sandbox"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/store"
	"ollimbot/core/talk/notice"
	"ollimbot/core/talk/transcript"
)

// EngineStatus is the model's side of the top line.
type EngineStatus struct {
	Name  string // "script", "claude"
	Model string
	State string // "ready", "working", "waiting for the rate limit until 15:00"
	OK    bool
	// Version is that of the program behind the engine, Warning something about
	// it that works but may not; empty where there is nothing to say.
	Version, Warning string
	// Offline says that no model is connected: scripted replies answer. In the demo that
	// is how it should be, and it is false.
	Offline bool
	// LoginNeeded says that nobody is logged in, LoginURL where the user goes on
	// with a login that has begun.
	LoginNeeded bool
	LoginURL    string
	Processes   []agent.Process
	// Today is what all turns since midnight have used.
	Today agent.Usage
}

// offlineEngine is the name of the engine without a model.
const offlineEngine = "script"

func (b *Bot) engineStatus() EngineStatus {
	s := EngineStatus{
		Name: b.o.EngineName, Model: b.runtime.Load().ModelMain, OK: true, State: "ready",
		Today: b.purse.Today(b.now()).Usage,
	}
	if r, ok := b.o.Engine.(agent.Reporter); ok {
		status := r.Status()
		s.Name = cmp.Or(status.Name, s.Name)
		s.Version, s.Warning, s.Processes = status.Version, status.Warning, status.Processes
		s.LoginNeeded, s.LoginURL = status.LoginNeeded, status.LoginURL
		if status.Problem != "" {
			s.State, s.OK = status.Problem, false
		}
	}
	s.Offline = s.Name == offlineEngine && !b.o.Demo
	if busy, _ := b.chat.Busy(); busy {
		s.State, s.OK = "answering", true
	}
	if state := b.chat.Status(); state != "" {
		s.State, s.OK = state, false
	}
	return s
}

// engineChanged shows how the engine stands; what it warns of is said once.
func (b *Bot) engineChanged(r agent.Reporter) func() {
	var said atomic.Value
	return func() {
		if w := r.Status().Warning; said.Swap(w) != w && w != "" {
			b.notices.Add(notice.Warn, w)
		}
		b.notify()
	}
}

// Runtime is the configuration in force, for parts beside the bot that read it
// live.
func (b *Bot) Runtime() config.Runtime { return *b.runtime.Load() }

// checkModel says why nobody has a model of that name.
func (b *Bot) checkModel(name string) error {
	if b.o.Providers == nil {
		return nil
	}
	_, _, err := b.o.Providers.Find(name)
	return err
}

// MainSession is the id of the main session, or empty.
func (b *Bot) MainSession() string { return b.sessions.Main() }

// maxRecent is how much of the conversation Recent tells, in characters.
const maxRecent = 6000

// Recent are the newest words of the user and the bot, for an engine that takes over
// from one that cannot be asked.
func (b *Bot) Recent() string {
	var lines []string
	size := 0
	for _, e := range slices.Backward(b.book.Entries()) {
		who := map[transcript.Role]string{transcript.User: "The user", transcript.Bot: "You"}[e.Role]
		if who == "" || len(lines) == 0 && e.Role == transcript.User {
			continue // the message that is about to be sent
		}
		line := who + ": " + clean.Cut(e.Text, 2000)
		if size += len(line); size > maxRecent {
			break
		}
		lines = append(lines, line)
	}
	slices.Reverse(lines)
	return strings.Join(lines, "\n\n")
}

// Tell gives the user a notice.
func (b *Bot) Tell(text string) { b.notices.Add(notice.Info, text) }

// runEngine does an engine's work in the background, where it has any.
func (b *Bot) runEngine(ctx context.Context) error {
	r, ok := b.o.Engine.(agent.Runner)
	if !ok {
		return nil
	}
	return r.Run(ctx)
}

// openControl opens the socket for the agent's own commands, before the first
// session is told of it, and gives what serves it. The bot works without it.
func (b *Bot) openControl(ctx context.Context) func() error {
	c := b.o.Control
	if c == nil {
		return func() error { return nil }
	}
	if err := c.Open(); err != nil {
		b.log.Error("commands of the agent cannot reach the bot", "error", err)
		return func() error { return nil }
	}
	leave := b.openDoor()
	return func() error {
		defer leave()
		return c.Serve(ctx)
	}
}

// DoorFile says where the user's own commands find the running bot. Nobody but the
// user reads what lies in state/.
const DoorFile = store.StateDir + "/control.json"

// Door is what stands in the file.
type Door struct {
	Socket string `json:"socket"`
	Token  string `json:"token"`
}

// openDoor lets the user's commands in, and gives what shuts them out again. The bot
// works without it.
func (b *Bot) openDoor() (leave func()) {
	if b.o.UserCommands == nil {
		return func() {}
	}
	token := b.o.Control.Issue(b.o.UserCommands)
	path, value := token.Door()
	if err := b.dir.WriteJSON(DoorFile, Door{path, value}); err != nil {
		b.log.Error("commands beside the bot cannot reach it", "error", err)
	}
	return func() {
		token.Revoke()
		if err := b.dir.Remove(DoorFile); err != nil {
			b.log.Warn("the door for commands beside the bot was not removed", "error", err)
		}
	}
}

// spent counts what a turn of the conversation has used.
func (b *Bot) spent(model string, u agent.Usage) {
	if err := b.purse.Add(b.now(), "", b.purse.Prices().Priced(model, u)); err != nil {
		b.log.Error("what a turn has used could not be written down", "error", err)
	}
}

// approvalChanged shows a tool call that waits, or how it was settled.
func (b *Bot) approvalChanged(a policy.Approval) {
	b.recordApproval(a)
	b.notify()
	if b.o.Remote != nil {
		b.o.Remote.Approval(a)
	}
}

// login begins or ends a login of the engine's account.
func (b *Bot) login(ctx context.Context, c command.Login) (command.Outcome, error) {
	account, ok := b.o.Engine.(agent.Account)
	if !ok {
		return command.Outcome{}, errors.New(textNoLogin)
	}
	if c.Code != "" {
		if err := account.Finish(ctx, c.Code); err != nil {
			return command.Outcome{}, err
		}
		if b.o.Remote != nil {
			b.o.Remote.Small(textLoggedIn)
		}
		return command.Outcome{Message: textLoggedIn, Decision: audit.Entry{Action: audit.LoginChanged}}, nil
	}
	url, err := account.Login(ctx)
	return command.Outcome{Message: textOpenLogin, Body: url, Decision: audit.Entry{Action: audit.LoginChanged}}, err
}

// tellSandbox logs what commands run in: those of a model, of skills and of git. The user
// is warned where a model's commands run in nothing.
func (b *Bot) tellSandbox() error {
	if b.o.Sandbox == nil {
		return nil
	}
	state := b.o.Sandbox.State()
	b.log.Info("sandbox", "state", state.String())
	if _, runs := b.o.Engine.(agent.Runner); runs && state.Kind == sandbox.None {
		b.notices.Add(notice.Warn, state.String())
	}
	return nil
}
