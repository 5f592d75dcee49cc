package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"ollimbot/cmd/internal/console"
	"ollimbot/core"
	"ollimbot/core/base/unixsocket"
	"ollimbot/core/storage/store"
	"ollimbot/tui/attach"
	dashboard "ollimbot/tui/settings"
)

// attachSocket is where the bot of a directory accepts viewers.
const attachSocket = store.StateDir + "/attach.sock"

type attachCmd struct{ viewFlags }

// Run attaches to a running bot, and leaves it running when it returns.
func (c *attachCmd) Run(p *process, at console.DataDir) error {
	if err := c.check(p, ""); err != nil {
		return err
	}
	return p.attach(at, c.viewFlags)
}

// beside attaches to the bot that already runs in the directory, if it accepts viewers.
func (p *process) beside(at console.DataDir, f uiFlags) (attached bool, err error) {
	if _, running := at.Dir.Running(); f.Headless || !running {
		return false, nil
	}
	conn, err := unixsocket.Dial(at.Dir.Path(attachSocket))
	if err != nil { // the original program's bot, or one that is stopping
		return false, nil //nolint:nilerr // the start reports why it cannot lock the directory
	}
	_ = conn.Close()
	return true, p.attach(at, f.viewFlags)
}

// attach shows the dashboard of the running bot on this terminal.
func (p *process) attach(at console.DataDir, f viewFlags) error {
	if err := p.UsersOnly(); err != nil {
		return err
	}
	in, isIn := p.In.(*os.File)
	out, isOut := p.Out.(*os.File)
	if !isIn || !isOut {
		return fmt.Errorf(textNoTerminal, "")
	}
	ctx, stop := p.Context()
	defer stop()
	name := at.Dir.Display()
	err := attach.Run(ctx, attach.ClientOptions{
		Name: name, Version: version, Editor: at.Env.Editor, In: in, Out: out, Err: p.Err, Env: p.Environ(),
		Plain: f.Plain, ReadOnly: f.ReadOnly, Theme: f.Theme, Notice: strings.Join(p.notices, "\n"), Typed: p.Typed(), Stays: p.Terminal(),
		Dial: func() (*net.UnixConn, error) { return unixsocket.Dial(at.Dir.Path(attachSocket)) },
		Token: func() string {
			door, _ := openDoor(at, doorPatience)
			return door.Token
		},
	})
	if dial := new(net.OpError); errors.As(err, &dial) && dial.Op == "dial" {
		if _, running := at.Dir.Running(); !running {
			return fmt.Errorf(textNoneRuns, name)
		}
	}
	if err != nil {
		return fmt.Errorf(textNotAttached, name, err)
	}
	return nil
}

// viewers makes the server for dashboards in other terminals.
func (p *process) viewers(at console.DataDir, bot *core.Bot, o attach.ServerOptions) *attach.Server {
	o.Bot, o.Version = bot, version
	o.Listen = func() (net.Listener, error) { return unixsocket.Listen(at.Dir.Path(attachSocket)) }
	o.Token = func() string {
		door, _ := openDoor(at, 0)
		return door.Token
	}
	o.Host, _ = os.Hostname() // without it, the top line shows no host
	o.Settings = dashboard.Dir(p.Environ())
	return attach.NewServer(o)
}
