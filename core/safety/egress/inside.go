package egress

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/hashicorp/yamux"
	"golang.org/x/sync/errgroup"

	"ollimbot/core/base/fault"
)

// inside is the proxy's address in a sandbox. Each sandbox has its own network, so the port is
// always free.
const inside = "127.0.0.1:41080"

// Env returns the variables that direct the programs of a sandbox to the proxy. There is no other
// route, so no host is excepted.
func Env() []string {
	const web, socks = "http://" + inside, "socks5h://" + inside
	return []string{
		"HTTP_PROXY=" + web, "HTTPS_PROXY=" + web, "ALL_PROXY=" + socks, "NO_PROXY=",
		"http_proxy=" + web, "https_proxy=" + web, "all_proxy=" + socks, "no_proxy=",
		"NODE_USE_ENV_PROXY=1", // otherwise node ignores all of them
	}
}

// passed is the bot's answer to a valid pass.
const passed = '+'

// Join opens a link with a pass, for a sandbox that is about to start.
func Join(p Pass) (*os.File, error) {
	conn, err := net.DialTimeout("tcp4", p.Address, passTime)
	if err != nil {
		return nil, fmt.Errorf(errNoPass, err)
	}
	defer conn.Close()
	err = conn.SetDeadline(time.Now().Add(passTime))
	if err == nil {
		_, err = io.WriteString(conn, p.Line+"\n")
	}
	if err == nil {
		_, err = io.ReadFull(conn, make([]byte, 1))
	}
	if err != nil {
		return nil, fmt.Errorf(errNoPass, err)
	}
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return nil, fmt.Errorf(errNoPass, errors.ErrUnsupported)
	}
	return tcp.File()
}

// Run is the end inside a sandbox: it runs a program, and carries connections to the proxy's
// address over the link until the program has ended. The status is the program's, or, as in shells,
// 128 plus the signal that ended it.
func Run(link *os.File, path string, args []string) (status int, err error) {
	conn, err := net.FileConn(link)
	if err := errors.Join(err, link.Close()); err != nil {
		return 0, fmt.Errorf(errNoProxy, err)
	}
	session, err := yamux.Client(conn, muxed())
	if err != nil {
		return 0, fmt.Errorf(errNoProxy, err)
	}
	defer session.Close()
	l, err := net.Listen("tcp4", inside)
	if err != nil {
		return 0, fmt.Errorf(errNoProxy, err)
	}
	defer l.Close()
	// The program handles signals to the group; this process ends when it does.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM)
	cmd := &exec.Cmd{Path: path, Args: append([]string{path}, args...), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	var group errgroup.Group // it ends with the process
	group.Go(fault.Guard("the way to the proxy", func() error { return carry(l, session) }))
	err = cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		if s, ok := exit.Sys().(syscall.WaitStatus); ok && s.Signaled() {
			return 128 + int(s.Signal()), nil
		}
		return exit.ExitCode(), nil
	}
	return 0, err
}

// carry accepts connections and makes each a stream of the link.
func carry(l net.Listener, session *yamux.Session) error {
	var group errgroup.Group
	for {
		client, err := l.Accept()
		if err != nil {
			return err
		}
		group.Go(fault.Guard("the way to the proxy", func() error {
			stream, err := session.OpenStream()
			if err != nil {
				return errors.Join(err, client.Close())
			}
			splice(context.Background(), client, stream) // streams end with their link
			return nil
		}))
	}
}
