package core

import (
	"context"
	"log/slog"

	"ollimbot/core/work/webhook"
)

// webhooks are the webhook files and the server that receives their deliveries.
type webhooks struct {
	index  *webhook.Index
	server *webhook.Server // may be nil
	off    string          // why there is no server although one is configured
	log    *slog.Logger
}

// open creates the server if a port is configured. Without a secret no sender could be
// trusted, so the server stays off and the bot works without it.
func (w *webhooks) open(port int, o webhook.Options) {
	if port == 0 {
		return
	}
	s, err := webhook.New(o)
	if err != nil {
		w.off = err.Error()
		return
	}
	w.server = s
}

// run serves deliveries until ctx ends. The bot works without it.
func (w *webhooks) run(ctx context.Context) error {
	if w.off != "" {
		w.log.Error("webhooks are off", "error", w.off)
	}
	if w.server == nil {
		return nil
	}
	if err := w.server.Run(ctx); err != nil && ctx.Err() == nil {
		w.log.Error("webhooks are off", "error", err)
	}
	return nil
}

// recover processes the deliveries that an earlier run of the bot left.
func (w *webhooks) recover() {
	if w.server != nil {
		w.server.Recover()
	}
}

// deliveries returns the newest first; none without a server.
func (w *webhooks) deliveries() []webhook.Delivery {
	if w.server == nil {
		return nil
	}
	return w.server.Deliveries()
}
