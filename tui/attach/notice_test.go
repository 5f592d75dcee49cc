package attach

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"

	"ollimbot/core/base/testkit"
)

func TestTheNoticeOfAClientIsShownOnceAndNotAfterItHasReconnected(t *testing.T) {
	testkit.Alone(t)
	dir, err := os.MkdirTemp("", "attach") // a socket's path must be short
	testkit.Must(t, err)
	t.Cleanup(func() { testkit.Must(t, os.RemoveAll(dir)) })
	at := &net.UnixAddr{Name: filepath.Join(dir, "s"), Net: "unix"}
	l, err := net.ListenUnix("unix", at)
	testkit.Must(t, err)
	defer l.Close()
	in, typed, err := os.Pipe()
	testkit.Must(t, err)
	defer in.Close()
	defer typed.Close()
	out, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	testkit.Must(t, err)
	defer out.Close()
	notices := make(chan string, 2)
	go func() { // the bot: it restarts once, and then ends the viewer
		defer close(notices)
		for _, bye := range []message{{Do: doBye, Text: "the bot restarts", Ended: true}, {Do: doBye}} {
			conn, err := l.AcceptUnix()
			if err != nil {
				return
			}
			w, h, files, err := greet(conn)
			if err != nil {
				return
			}
			notices <- h.Notice
			closeAll(files)
			_ = w.send(message{Do: doAttached})
			_ = w.send(bye)
			_, _ = w.receive() // until the client has left
			_ = conn.Close()
		}
	}()
	testkit.Must(t, Run(t.Context(), ClientOptions{
		Dial: func() (*net.UnixConn, error) { return net.DialUnix("unix", nil, at) }, Token: func() string { return "x" }, Name: "the bot",
		In: in, Out: out, Err: io.Discard, Plain: true, Stays: true, Notice: "a newer version is there",
	}))
	first, again := <-notices, <-notices
	if first != "a newer version is there" || again != "" {
		t.Errorf("shown first %q, then %q", first, again)
	}
}
