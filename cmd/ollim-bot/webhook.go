package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"ollimbot/cmd/internal/console"
	"ollimbot/core/storage/config"
	"ollimbot/core/work/webhook"
)

type webhookCmds struct {
	List webhookListCmd `cmd:""`
	Test webhookTestCmd `cmd:""`
}

type webhookListCmd struct {
	console.AsJSON
}

// maxDeliveries is how many deliveries the list shows.
const maxDeliveries = 20

// Run lists the valid webhooks. Errors in files are reported by check.
func (c *webhookListCmd) Run(p *process, at console.DataDir) error {
	index := webhook.NewIndex(at.Dir)
	index.Scan()
	list := index.Specs(false)
	past, err := webhook.Log(at.Dir, maxDeliveries)
	if err != nil {
		return err
	}
	lines := []string{textNoWebhooks}
	if len(list) > 0 {
		lines = append(console.Each(list, func(w *webhook.Spec) string {
			return fmt.Sprintf("%-16s %-28s %s", w.ID, w.Path, strings.Join(w.Fields.Declared, ", "))
		}), console.Each(past, func(d webhook.Delivery) string {
			return fmt.Sprintf("  %s  %-16s %5d bytes  %s", d.At.In(at.Env.Zone).Format(console.MomentLayout), d.Webhook, d.Size, d.Outcome)
		})...)
	}
	return p.Answer(c.JSON, map[string]any{"webhooks": append([]*webhook.Spec{}, list...), "deliveries": append([]webhook.Delivery{}, past...)}, lines)
}

type webhookTestCmd struct {
	ID      string `arg:"" complete:"webhook" help:"The id of a webhook."`
	Payload string `placeholder:"FILE" default:"-" help:"The payload as JSON; - is standard input."`
}

// Run sends the payload to the bot that runs on this machine, with the secret
// of its environment, or signed as its sender would do.
func (c *webhookTestCmd) Run(p *process, at console.DataDir) error {
	if at.Env.WebhookPort == 0 || at.Env.WebhookSecret == "" {
		return errors.New(console.TextNoWebhookServer)
	}
	payload, err := p.payload(c.Payload)
	if err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(context.Background(), 30*time.Second)
	defer stop()
	addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(at.Env.WebhookPort))
	proof, err := c.proof(p, at, payload)
	if err != nil {
		return err
	}
	status, answer, err := webhook.Deliver(ctx, addr, c.ID, payload, proof)
	if err != nil {
		return err
	}
	if err := p.Lines(fmt.Sprintf("%d %s", status, answer)); err != nil {
		return err
	}
	if status >= 300 {
		return console.ErrSilent
	}
	return nil
}

// proof returns the headers that prove the sender.
func (c *webhookTestCmd) proof(p *process, at console.DataDir, payload []byte) (http.Header, error) {
	index := webhook.NewIndex(at.Dir)
	index.Scan()
	spec, _ := index.Find(c.ID) // the bot says if there is none
	secret := at.Env.WebhookSecret
	if spec.Verify != "" {
		value, _ := p.Variables(at)(spec.SecretEnv)
		if secret = config.Secret(strings.TrimSpace(value)); value == "" {
			return nil, errors.New(spec.Lacks(secret))
		}
	}
	return spec.Sign(secret, payload, at.Now), nil
}

// maxPayload is more than any webhook accepts, in bytes.
const maxPayload = webhook.MaxSigned + 1

// payload reads a file, or standard input for "-".
func (p *process) payload(name string) (data []byte, err error) {
	in := p.In
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("read the payload: %w", err)
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		in = f
	}
	data, err = io.ReadAll(io.LimitReader(in, maxPayload))
	if err != nil {
		return nil, fmt.Errorf("read the payload: %w", err)
	}
	return data, nil
}
