package webhook

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"ollimbot/core/base/testkit"
)

// Two thousand stalled clients, in every stage of a request, leave room for working ones.
func TestSlowClientsLeaveRoomForTheHealthCheck(t *testing.T) {
	testkit.Alone(t)
	head := "POST /hook/w%d HTTP/1.1\r\nHost: x\r\n"
	for name, text := range map[string]string{
		"silent":    "",
		"headers":   head,
		"strangers": head + "Content-Length: 900\r\n\r\n{",
		"senders":   head + "Authorization: Bearer " + secret + "\r\nContent-Length: 900\r\n\r\n{",
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			for i := range 20 { // the rate of one webhook alone would refuse most
				put(t, r.dir, fmt.Sprintf("w%d.md", i), strings.Replace(fixedSpec, "id: fixed", fmt.Sprintf("id: w%d", i), 1))
			}
			r.index.Scan()
			l, err := net.Listen("tcp", "127.0.0.1:0")
			must(t, err)
			stop := r.start(t, l)
			defer stop()
			for i := range 2000 {
				c, err := net.Dial("tcp", l.Addr().String())
				must(t, err)
				defer c.Close()
				if strings.Contains(text, "%d") {
					_, _ = fmt.Fprintf(c, text, i%20) // it may already be closed
				}
			}
			client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
			answer, err := client.Get("http://" + l.Addr().String() + healthPath)
			must(t, err)
			_, _ = io.Copy(io.Discard, answer.Body)
			_ = answer.Body.Close()
			if status, text, err := Deliver(t.Context(), l.Addr().String(), secret, "fixed", []byte(`{"status":"up"}`)); status != http.StatusAccepted {
				t.Errorf("a delivery: %d %s %v", status, text, err)
			}
		})
	}
}
