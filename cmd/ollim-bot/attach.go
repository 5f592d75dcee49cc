package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/crypto/ssh"

	client "ollimbot/cmd/internal/attach"
	"ollimbot/cmd/internal/console"
	"ollimbot/core"
	"ollimbot/core/agent"
	"ollimbot/core/safety/access"
	"ollimbot/tui/attach"
	dashboard "ollimbot/tui/settings"
)

type attachCmd struct {
	Host     string `placeholder:"USER@SERVER[:PORT]" help:"A bot on another machine, whose OLLIM_ATTACH names the port (default 2226)."`
	Identity string `short:"i" placeholder:"FILE" help:"The key to use; default: the SSH agent's and those in ~/.ssh."`
	viewFlags
	Command []string `arg:"" optional:"" passthrough:"" help:"A command to run instead of the dashboard, such as: status --json."`
}

// Run attaches to a running bot, and leaves it running when it returns.
func (c *attachCmd) Run(p *process, at console.DataDir) error {
	command := strings.TrimPrefix(strings.Join(c.Command, " "), "-- ")
	if command == "" {
		if err := (uiFlags{viewFlags: c.viewFlags}).check(p); err != nil {
			return err
		}
	} else if c.viewFlags != (viewFlags{}) {
		return console.Usagef("a command takes no --plain, --read-only or --theme")
	}
	o, err := p.client(at, c)
	if err != nil {
		return err
	}
	return p.attach(at, o, c.viewFlags, command)
}

// beside attaches to the bot that already runs in the directory, if it accepts viewers.
func (p *process) beside(at console.DataDir, f uiFlags) (attached bool, err error) {
	if _, running := at.Dir.Running(); f.Headless || !running {
		return false, nil
	}
	o, err := p.client(at, &attachCmd{})
	if err != nil {
		return true, err
	}
	conn, err := o.Dial(context.Background())
	if err != nil { // the original program's bot, or one that is stopping
		return false, nil //nolint:nilerr // the start reports why it cannot lock the directory
	}
	_ = conn.Close()
	return true, p.attach(at, o, f.viewFlags, "")
}

// attach connects the terminal to the bot.
func (p *process) attach(at console.DataDir, o client.Options, f viewFlags, command string) error {
	if err := p.UsersOnly(); err != nil {
		return err
	}
	o.Command, o.Lines = command, f.Plain || command != ""
	if command == "" {
		o.Command = viewerCommand(f)
	}
	o.Stays = command == "" && p.Terminal()
	ctx, stop := p.Context()
	defer stop()
	if !o.Lines {
		start, forget := watchForCrash(at.Dir.Root())
		start()
		defer forget()
	}
	err := client.Run(ctx, o)
	var status client.StatusError
	switch {
	case errors.As(err, &status): // the bot has printed the reason
		return console.ErrSilent
	case err != nil:
		return fmt.Errorf(textNotAttached, o.Name, err)
	}
	return nil
}

// viewerCommand is the request sent to the bot.
func viewerCommand(f viewFlags) string {
	words := []string{"dashboard"}
	if f.Plain {
		words[0] = "plain"
	}
	if f.ReadOnly {
		words = append(words, "--read-only")
	}
	if f.Theme != "" {
		words = append(words, "--theme", f.Theme)
	}
	return strings.Join(words, " ")
}

// client returns how to reach a bot: over the socket of the directory, or over the network.
func (p *process) client(at console.DataDir, c *attachCmd) (client.Options, error) {
	in, isIn := p.In.(*os.File)
	out, isOut := p.Out.(*os.File)
	if !isIn || !isOut {
		return client.Options{}, errors.New(textNoTerminal)
	}
	env := p.Environ()
	o := client.Options{In: in, Out: out, Err: p.Err, Env: env}
	if c.Host == "" {
		o.Name, o.User = at.Dir.Display(), "user"
		o.Dial = func(context.Context) (net.Conn, error) { return access.Dial(at.Dir) }
		o.HostKey = ssh.InsecureIgnoreHostKey() // only this user can have created the socket
		o.Auth = []ssh.AuthMethod{ssh.PasswordCallback(func() (string, error) {
			door, _ := openDoor(at, doorPatience)
			return door.Token, nil
		})}
		return o, nil
	}
	user, address, err := client.Place(c.Host)
	if err != nil {
		return o, console.Usagef("%v", err)
	}
	config := dashboard.Dir(env)
	if config == "" {
		return o, errors.New(textNoHome)
	}
	ask := client.Ask(in, p.Err)
	o.Name, o.User = address, user
	identity, err := client.Identity(c.Identity, p.Getenv("HOME"), p.Getenv("SSH_AUTH_SOCK"), ask)
	if err != nil {
		return o, err
	}
	o.HostKey, o.Ask, o.Auth = client.KnownHosts(filepath.Join(config, "known_hosts")), ask, []ssh.AuthMethod{identity}
	o.Dial = func(ctx context.Context) (net.Conn, error) { return (&net.Dialer{}).DialContext(ctx, "tcp", address) }
	return o, nil
}

// viewers makes the server for dashboards in other terminals and on other machines.
func (p *process) viewers(at console.DataDir, bot *core.Bot, o attach.Options) *attach.Server {
	env := p.Environ()
	o.Bot = bot
	o.Socket = func() (net.Listener, error) { return access.Listen(at.Dir) }
	o.Token = func() string {
		door, _ := openDoor(at, 0)
		return door.Token
	}
	o.Listen = at.Env.AttachAddress
	o.HostKey = func() (ssh.Signer, error) { return access.HostKey(at.Dir) }
	o.Find = func(k ssh.PublicKey) (access.Key, bool, error) { return access.Find(at.Dir, k) }
	o.Host, _ = os.Hostname() // without it, the top line shows no host
	o.Environ = append(env[:len(env):len(env)], "VISUAL="+at.Env.Editor)
	o.Settings = dashboard.Dir(env)
	o.Commands = func(ctx context.Context, args []string) agent.CommandResult { return p.carryOut(ctx, at, bot, args) }
	return attach.New(o)
}
