package webhook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"ollimbot/core/clean"
	"ollimbot/core/config"
)

// maxAnswer is how much of an answer is read, in bytes.
const maxAnswer = 64 << 10

// Deliver sends a payload to a running bot, as `ollim-bot webhook test` does,
// and returns the status of HTTP and the answer, cleaned. An error means that
// there was no answer; it never holds the secret.
func Deliver(ctx context.Context, addr string, secret config.Secret, id string, payload []byte) (status int, answer string, err error) {
	if err := checkLoopback(addr); err != nil {
		return 0, "", err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+addr+hookPath+url.PathEscape(id), bytes.NewReader(payload))
	if err != nil {
		return 0, "", fmt.Errorf("make the delivery: %w", err)
	}
	r.Header.Set("Authorization", bearer+secret.Reveal())
	r.Header.Set("Content-Type", "application/json")
	client := http.Client{
		// No proxy and no redirect: the secret goes to this machine only.
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       readTimeout + writeTimeout,
	}
	begun := time.Now()
	response, err := client.Do(r)
	if err != nil {
		var where *url.Error
		if errors.As(err, &where) {
			err = where.Err
		}
		return 0, "", fmt.Errorf("deliver to %s: %w (after %s); is the bot running, with this WEBHOOK_PORT?", addr, err, time.Since(begun).Round(time.Millisecond))
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return response.StatusCode, "", fmt.Errorf("read the answer: %w", err)
	}
	return response.StatusCode, clean.Text(string(bytes.TrimSpace(body))), nil
}
