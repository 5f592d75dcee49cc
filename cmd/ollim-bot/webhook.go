package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"ollimbot/core/webhook"
)

type webhookCmds struct {
	List webhookListCmd `cmd:""`
	Test webhookTestCmd `cmd:""`
}

type webhookListCmd struct {
	JSON bool `name:"json" help:"Answer as JSON."`
}

// webhookAnswer is the JSON answer.
type webhookAnswer struct {
	Webhooks   []webhookLine      `json:"webhooks"`
	Deliveries []webhook.Delivery `json:"deliveries"`
}

type webhookLine struct {
	ID     string   `json:"id"`
	File   string   `json:"file"`
	Title  string   `json:"title"`
	Fields []string `json:"fields"`
}

// maxDeliveries is how many deliveries the list shows.
const maxDeliveries = 20

// Run lists the webhooks that can be triggered; what is wrong with a file is
// for check to say.
func (c *webhookListCmd) Run(p *process, at dataDir) error {
	index := webhook.NewIndex(at.dir)
	index.Scan()
	answer := webhookAnswer{Webhooks: []webhookLine{}, Deliveries: []webhook.Delivery{}}
	for _, s := range index.Specs(false) {
		answer.Webhooks = append(answer.Webhooks, webhookLine{s.ID, s.Path, s.Title(), s.Fields.Declared})
	}
	past, err := webhook.Log(at.dir, maxDeliveries)
	if err != nil {
		return err
	}
	answer.Deliveries = append(answer.Deliveries, past...)
	lines := []string{textNoWebhooks}
	if len(answer.Webhooks) > 0 {
		lines = append(each(answer.Webhooks, func(w webhookLine) string {
			return fmt.Sprintf("%-16s %-28s %s", w.ID, w.File, strings.Join(w.Fields, ", "))
		}), each(answer.Deliveries, func(d webhook.Delivery) string {
			return fmt.Sprintf("  %s  %-16s %5d bytes  %s", d.At.In(at.env.Zone).Format(momentLayout), d.Webhook, d.Size, d.Outcome)
		})...)
	}
	return p.answer(c.JSON, answer, lines)
}

type webhookTestCmd struct {
	ID      string `arg:"" help:"The id of a webhook."`
	Payload string `placeholder:"FILE" default:"-" help:"The payload as JSON; - is standard input."`
}

// Run sends the payload to the bot that runs on this machine, with the secret
// of its environment.
func (c *webhookTestCmd) Run(p *process, at dataDir) error {
	if at.env.WebhookPort == 0 || at.env.WebhookSecret == "" {
		return errors.New(textNoWebhookServer)
	}
	payload, err := p.payload(c.Payload)
	if err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(context.Background(), 30*time.Second)
	defer stop()
	addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(at.env.WebhookPort))
	status, answer, err := webhook.Deliver(ctx, addr, at.env.WebhookSecret, c.ID, payload)
	if err != nil {
		return err
	}
	if err := p.lines(fmt.Sprintf("%d %s", status, answer)); err != nil {
		return err
	}
	if status >= 300 {
		return errSilent
	}
	return nil
}

// maxPayload is beyond what any webhook takes.
const maxPayload = 1 << 20

// payload reads a file, or standard input for "-".
func (p *process) payload(name string) (data []byte, err error) {
	in := p.in
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
