package dispatch

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/storage/store"
	"ollimbot/core/work/webhook"
)

const (
	// screenWithin is the time limit for the small model to check a payload.
	screenWithin = time.Minute
	screenModel  = "haiku"
)

// Screener checks the texts of deliveries before a run reads them.
type Screener struct {
	Dir    *store.Dir
	Log    *slog.Logger
	Engine agent.Engine
	// Begin notes that the request is under way, until end is called. Charge books it.
	Begin  func() (end func())
	Charge func(agent.Charge)
}

// Screen asks the small model, in a session without tools, whether texts from outside try
// to instruct their reader. An unclear answer is an error, and holds the delivery.
func (s *Screener) Screen(ctx context.Context, fields map[string]string) (safe bool, flagged []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, screenWithin)
	defer cancel()
	session, err := s.Engine.Open(ctx, agent.SessionOptions{
		Dir: s.Dir.Root(), Bare: true, SystemPrompt: webhook.ScreenSystem,
		Settings: agent.Settings{Model: screenModel, Thinking: "off", Mode: "default"},
		Hooks: agent.Hooks{Charge: s.Charge, PreTool: func(context.Context, agent.ToolUse) agent.Decision {
			return agent.Decision{Reason: textScreenNoTools}
		}},
	})
	if err != nil {
		return false, nil, fmt.Errorf("screen a payload: %w", err)
	}
	defer func() {
		if err := session.Close(); err != nil {
			s.Log.Warn("session did not close cleanly", "error", err)
		}
	}()
	defer s.Begin()()
	var text string
	for ev, err := range session.Send(ctx, agent.Message{Text: webhook.ScreenPrompt(fields)}) {
		if err != nil {
			return false, nil, fmt.Errorf("screen a payload: %w", err)
		}
		switch ev := ev.(type) {
		case agent.Text:
			text += ev.Delta
		case agent.Rewind:
			text = text[:max(0, len(text)-ev.Bytes)]
		case agent.Result:
			if ev.IsError || ev.Interrupted {
				return false, nil, fmt.Errorf("screen a payload: %s", ev.Text)
			}
		}
	}
	return webhook.ParseVerdict(text)
}
