package core

import (
	"context"
	"log/slog"

	"ollimbot/core/agent"
	"ollimbot/core/command"
	"ollimbot/core/safety/control"
	"ollimbot/core/storage/store"
)

// door lets the program's commands reach the running bot.
type door struct {
	dir    *store.Dir
	log    *slog.Logger
	server *control.Server // may be nil
	user   control.Command
}

// open opens the doors before the first session gets its own, and returns the function
// that serves it until ctx ends. The bot works without it.
func (d door) open(ctx context.Context) func() error {
	if d.server == nil {
		return func() error { return nil }
	}
	if err := d.server.Open(); err != nil {
		d.log.Error("commands of the agent cannot reach the bot", "error", err)
		return func() error { return nil }
	}
	leave := d.letUserIn()
	return func() error {
		defer leave()
		return d.server.Serve(ctx)
	}
}

// userDoor lets the user's shell use a Shell; nil lets it in nowhere.
func userDoor(run command.Shell) control.Command {
	if run == nil {
		return nil
	}
	return func(ctx context.Context, args []string) agent.CommandResult {
		r, _ := run(ctx, args)
		return r
	}
}

// DoorFile is where the user's commands find the running bot. Only the user can read
// files in state/.
const DoorFile = store.StateDir + "/control.json"

// Door is the content of DoorFile.
type Door struct {
	Socket string `json:"socket"`
	Token  string `json:"token"`
}

// letUserIn opens the door for the user's commands, and returns a function that closes
// it.
func (d door) letUserIn() (leave func()) {
	if d.user == nil {
		return func() {}
	}
	token := d.server.Issue(d.user)
	path, value := token.Door()
	if err := d.dir.WriteJSON(DoorFile, Door{path, value}); err != nil {
		d.log.Error("commands beside the bot cannot reach it", "error", err)
	}
	return func() {
		token.Revoke()
		d.forget()
	}
}

// forget removes DoorFile, which a bot that was killed has left: its token opens nothing, and
// a command that read it would be refused by the bot that has started since.
func (d door) forget() {
	if err := d.dir.Remove(DoorFile); err != nil {
		d.log.Warn("the door for commands beside the bot was not removed", "error", err)
	}
}
